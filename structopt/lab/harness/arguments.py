"""Commands are dataclasses: their fields are their arguments, declared once, beside what they do.

>>> @dataclasses.dataclass
... class Greet(Command):
...     name: str = argument("world", "whom to greet")
...     loud: bool = argument(False, "in capitals")
...     def execute(self, command):
...         print(f"Hello {self.name.upper() if self.loud else self.name}")
...         return 0
>>> parser = argparse.ArgumentParser()
>>> declare(Greet, parser)
>>> made(Greet, parser.parse_args(["--loud"])).execute("greet --loud")
Hello WORLD
0
"""

from __future__ import annotations

import argparse
import dataclasses
from abc import ABC, abstractmethod
from typing import Any, TypeVar


class Command(ABC):
    """A dataclass that the command line fills and executes."""

    @abstractmethod
    def execute(self, command: str) -> int:
        """Do it, and return the exit code; ``command`` is what the user wrote."""


C = TypeVar("C", bound=Command)


def argument(
    default: Any, help: str, *, flag: str = "", one_of: str = "", last: bool = False, **how: Any
) -> Any:
    """Return a field that is an argument of the command line too.

    Parameters
    ----------
    default : Any
        Says the type as well, unless ``how`` does; False makes a switch.
    help : str
        The default stands behind it, if it is a number.
    flag : str
        If it is not ``--`` and the field's name; a name without dashes is a position.
    one_of : str
        Arguments of the same name exclude one another.
    last : bool
        By keyword only in Python.
    how : dict
        What else ``add_argument`` takes.
    """
    if default is False:
        how["action"] = "store_true"
    elif isinstance(default, int | float):
        help += f" ({default:g})"
        how.setdefault("metavar", "N" if isinstance(default, int) else "X")
        how["type"] = type(default)
    metadata = {"flag": flag, "one_of": one_of, "how": {"default": default, "help": help, **how}}
    return dataclasses.field(default=default, metadata=metadata, kw_only=last)


def out(default: str | None = None, help: str = "also write Markdown and CSV there") -> Any:
    """Return ``--out``."""
    shown = f"{help} ({default})" if default else help
    return argument(default, shown, metavar="DIR", last=True)


def quick(help: str, **how: Any) -> Any:
    """Return ``--quick``."""
    return argument(False, help, **how)


def limit(default: float | None, usual: str = "") -> Any:
    """Return ``--limit``, in CPU seconds; ``usual`` says what None stands for."""
    said = "CPU seconds that a run may take" + (f" ({usual})" if usual else "")
    return argument(default, said, flag="--limit", metavar="S", type=float)


def repeats(default: int | None, usual: str = "") -> Any:
    """Return ``--repeats``."""
    said = "repetitions, of which the median counts" + (f" ({usual})" if usual else "")
    return argument(default, said, metavar="N", type=int)


def declare(command: type[Command], parser: argparse.ArgumentParser) -> None:
    """Give a parser the arguments of a command."""
    groups: dict[str, Any] = {"": parser}
    for field in dataclasses.fields(command):  # type: ignore[arg-type]
        if "how" not in field.metadata:
            continue
        flag, one_of, how = (field.metadata[key] for key in ("flag", "one_of", "how"))
        if one_of not in groups:
            groups[one_of] = parser.add_mutually_exclusive_group()
        name = field.name.replace("_", "-")
        if flag and not flag.startswith("-"):
            groups[one_of].add_argument(field.name, **how | {"metavar": flag})
        else:
            groups[one_of].add_argument(flag or f"--{name}", dest=field.name, **how)


def made(command: type[C], options: argparse.Namespace) -> C:
    """Return the command that the options ask for."""
    fields = dataclasses.fields(command)  # type: ignore[arg-type]
    return command(**{f.name: getattr(options, f.name) for f in fields if hasattr(options, f.name)})
