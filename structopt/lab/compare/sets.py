r"""Where problems come from: sets by name, folders, functions. A new set is one entry here.

* ``training``: formulations on data sets, trained to a certified gap (:mod:`.cases`);
* ``masters``: sequences of masters, recorded from such runs;
* ``public``: linear, quadratic and infeasible programmes below ``public_programmes`` in
  ``STRUCTOPT_DATA``, also one by one as ``public/lp``, ``public/qp``, ``public/infeas``;
* a folder of MPS, LP, QPS or npz files, or one such file;
* ``file.py:function``, or a function: called without arguments, it yields CVXPY problems or
  (name, problem) pairs; a problem may be a `Program` too.

>>> found = gathered([lambda: [("tiny", _tiny())]])
>>> [(problem.name, problem.facts()["kind"]) for problem in found.problems]
[('tiny', 'LP')]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from structopt.datasets.home import data_home
from structopt.errors import InvalidInputError, MissingDataError, StructoptError
from structopt.formulations.base import Formulation
from structopt.lab.compare.cases import DATA, DEFAULT, FORMULATIONS, MASTERS, Data
from structopt.lab.compare.problems import Masters, Problem, Single, Training
from structopt.lab.compare.programmes import SUFFIXES, of_cvxpy, read, sound
from structopt.lab.compare.solvers import from_file
from structopt.lab.harness.isolated import isolated
from structopt.master.program import Program
from structopt.master.separation import separate
from structopt.methods.cutting_plane import CuttingPlane

PUBLIC = ("lp", "qp", "infeas")


@dataclass
class Gathered:
    """Problems, and those that are not there, with the reason."""

    problems: list[Problem] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def gathered(sources: Sequence[Any] | None, *, quick: bool = False) -> Gathered:
    """Return the problems of some sources; a source that cannot be read loses no other's."""
    if isinstance(sources, str) or not isinstance(sources, Iterable | None):
        raise InvalidInputError(f"problems is a list of sources, not {sources!r}.")
    found = Gathered()
    for source in ("training", "masters") if sources is None else sources:
        named = isinstance(source, str)
        if isinstance(source, Problem):
            found.problems.append(source)
        elif named and source in SETS:
            _collect(found, SETS[source](quick))
        elif named and source.partition("/")[0] == "public":
            _collect(found, _public([source.partition("/")[2]]))
        elif named and ":" in source and not Path(source).exists():
            _collect(found, _of_function(from_file(source), source.rpartition(":")[2]))
        elif named or isinstance(source, Path):
            _collect(found, _of_path(Path(source)))
        elif callable(source):
            _collect(found, _of_function(source, getattr(source, "__name__", "own")))
        else:
            raise InvalidInputError(
                f"{source!r} is no source of problems: name one of {', '.join(SETS)}, a folder, a "
                "file, file.py:function, or give a function."
            )
    if not found.problems:
        why = "; ".join(reason.rstrip(".") for reason in found.left_out)
        raise InvalidInputError(f"There is nothing to compare: {why}.")
    seen: Counter[tuple[str, str]] = Counter()
    for problem in found.problems:
        seen[problem.group, problem.name] += 1
        if (number := seen[problem.group, problem.name]) > 1:
            object.__setattr__(problem, "name", f"{problem.name} #{number}")
    return found


Made = Callable[[], Problem]


def _collect(found: Gathered, made: Iterable[tuple[str, Made]]) -> None:
    for name, make in made:
        try:
            found.problems.append(make())
        except StructoptError as error:
            found.left_out.append(f"{name}: {error}".removeprefix(": "))
        except Exception as error:  # of whoever wrote the problem
            found.left_out.append(f"{name}: {type(error).__name__}: {error}")


# ---------------------------------------------------------------------- training and masters
def training(
    formulations: Sequence[str] | Mapping[str, Formulation] | None = None,
    data: Sequence[str] | Mapping[str, tuple[Any, Any, Any]] | None = None,
    *,
    quick: bool = False,
) -> list[Problem]:
    """Return training problems; names, or mappings of names to objects of one's own.

    A structure need not be fitted.
    """
    if not isinstance(formulations, Mapping):
        names = DEFAULT if formulations is None else formulations
        formulations = {name: _known(name, FORMULATIONS, "formulation")() for name in names}
    chosen: Mapping[str, Any]
    if isinstance(data, Mapping):
        chosen = {name: Data(*given) for name, given in data.items()}
    else:
        names = [d for d in DATA if d != "letters"] if data is None else data
        chosen = {name: _known(name, DATA, "data set")(quick) for name in names}
    return [
        Training(f"{name}, {where}", "training", formulation, given)
        for where, given in chosen.items()
        for name, formulation in formulations.items()
    ]


def _training(quick: bool) -> Iterator[tuple[str, Made]]:
    for name in DATA:
        for formulation in DEFAULT:
            yield (
                f"{formulation}, {name}",
                lambda f=formulation, d=name: training([f], [d], quick=quick)[0],  # type: ignore[misc]
            )


def _masters(quick: bool) -> Iterator[tuple[str, Made]]:
    for name, (formulation, data) in MASTERS.items():
        yield name, lambda n=name, f=formulation, d=data: recorded(n, f(), d(quick))  # type: ignore[misc]


def recorded(name: str, formulation: Formulation, data: Data, *, masters: int = 8) -> Masters:
    """Record a run's masters, nothing dropped; in a process of its own."""
    ended = isolated(lambda: _record(name, formulation, data, masters), seconds=300.0)
    if ended.how != "done":
        raise StructoptError(f"its masters were not recorded: {ended.message}")
    found: Masters = ended.value
    return found


def _record(name: str, formulation: Formulation, data: Data, masters: int) -> Masters:
    run = CuttingPlane(data.fitted, formulation, data.encoded, backend="clarabel", tol=1e-6)
    static = run.master.program
    if static is None:
        raise InvalidInputError(f"{name} is no linear or quadratic programme.")
    batches: list[list[Any]] = []
    inside = None
    while len(batches) < masters:
        separation = separate(run.master, run.data, run.backend.solve(tolerance=1e-4).x, inside)
        inside = inside or separation.inside
        batch = [run.master.add(found) for found in separation.found]
        batch = [rows for rows in batch if len(rows)]
        for rows in batch:
            run.backend.append(rows)
        if not batch:
            break
        batches.append(batch)
    return Masters(name, "masters", static, batches)


# ---------------------------------------------------------------------- files and functions
def _public(kinds: Sequence[str]) -> Iterator[tuple[str, Made]]:
    for kind in kinds:
        if kind not in PUBLIC:
            raise InvalidInputError(f"There is no set 'public/{kind}'; there are {PUBLIC}.")
        folder = data_home() / "public_programmes" / kind
        if not folder.is_dir():
            raise MissingDataError(
                f"There are no public programmes in {folder}: put them there, or set "
                "STRUCTOPT_DATA; `structopt compare --problems FOLDER` takes your own."
            )
        yield from _of_path(folder, f"public/{kind}")


def _of_path(path: Path, group: str = "") -> Iterator[tuple[str, Made]]:
    if not path.exists():
        raise InvalidInputError(
            f"There is no set, folder or file {str(path)!r}; the sets are {', '.join(SETS)}."
        )
    files = [path] if path.is_file() else sorted(path.iterdir())
    files = [f for f in files if f.name.lower().endswith(SUFFIXES) or f == path]
    if not files:
        raise InvalidInputError(f"{path} holds no programme: no file ends in {SUFFIXES}.")
    group = group or (path.parent if path.is_file() else path).name
    for file in files:
        ends = [s for s in SUFFIXES if file.name.lower().endswith(s)]
        name = file.name[: -max(map(len, ends))] if ends else file.name  # pilot.ja is a name
        yield "", lambda f=file, n=name: Single(n, group, read(f))  # type: ignore[misc]


def _of_function(function: Any, group: str) -> Iterator[tuple[str, Made]]:
    number = 0
    try:
        for number, given in enumerate(function(), start=1):
            name, problem = f"{group} {number}", given
            if isinstance(given, tuple) and len(given) == 2:
                name, problem = " ".join(str(given[0]).split()) or name, given[1]
            yield name, lambda n=name, p=problem: _of_object(n, group, p)  # type: ignore[misc]
    except Exception as error:  # of whoever wrote the function
        failed = InvalidInputError(
            f"it failed after {number} problems: {type(error).__name__}: {error}"
        )
        yield group, partial(_fail, failed)


def _fail(error: Exception) -> Problem:
    raise error


def _of_object(name: str, group: str, problem: Any) -> Problem:
    if isinstance(problem, Problem):
        return problem
    found = problem if isinstance(problem, Program) else of_cvxpy(problem)
    return Single(name, group, sound(found))


def _known(name: str, table: Mapping[str, Any], what: str) -> Any:
    if name not in table:
        raise InvalidInputError(f"Unknown {what} {name!r}; choose from {list(table)}.")
    return table[name]


def _tiny() -> Any:
    import cvxpy as cp

    x = cp.Variable(2)
    return cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1])


SETS: dict[str, Callable[[bool], Iterator[tuple[str, Made]]]] = {
    "training": _training,
    "masters": _masters,
    "public": lambda quick: _public(PUBLIC),
}
"""By name; told whether small ones are wanted."""
