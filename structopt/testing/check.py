"""A check is a function of one case, named after what it asserts; this is how they are run.

>>> def numbers_are_small(case):
...     '''No number is above 9.'''
...     if max(case) > 9:
...         fail(f"{max(case)} is above 9")
>>> run([numbers_are_small], [1, 2], "a list")
('numbers_are_small',)
>>> run([numbers_are_small], [12], "a list", exclude={"numbers_are_small": "large by design"})
()
>>> run([numbers_are_small], [12], "a list")
Traceback (most recent call last):
structopt.testing.check.CheckError: a list fails numbers_are_small: 12 is above 9
What it checks: No number is above 9.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from structopt.errors import InvalidInputError, StructoptError

Check = Callable[[Any], None]


class CheckError(StructoptError, AssertionError):
    """A class does not keep its contract; ``check`` is the name of what failed."""

    check: str = ""


def fail(message: str) -> NoReturn:
    """Let the check that is running fail."""
    raise CheckError(message)


def run(
    checks: Sequence[Check], case: Any, subject: str, *, exclude: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """Run checks on a case and return the names of those that passed.

    Parameters
    ----------
    checks : list of functions
        Each takes the case and raises :class:`CheckError` (see :func:`fail`) or anything else.
    case : object
    subject : str
        What is being checked, for messages.
    exclude : mapping of name to reason, optional
        Checks to leave out; a reason is asked for, so that it stands beside the name.
    """
    left_out = dict(exclude or {})
    unknown = set(left_out) - {check.__name__ for check in checks}
    if unknown or not all(left_out.values()):
        raise InvalidInputError(
            f"exclude must map names of checks to reasons; {sorted(unknown)} are no checks of "
            f"{subject}, which has {[check.__name__ for check in checks]}."
        )
    passed = [check for check in checks if check.__name__ not in left_out]
    for check in passed:
        try:
            check(case)
        except Exception as error:
            said = str(error)
            if not isinstance(error, CheckError):
                said = f"{type(error).__name__}: {error}"
            failure = CheckError(
                f"{subject} fails {check.__name__}: {said}\nWhat it checks: {inspect.getdoc(check)}"
            )
            failure.check = check.__name__
            raise failure from error
    return tuple(check.__name__ for check in passed)
