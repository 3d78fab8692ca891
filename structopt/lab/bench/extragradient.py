r"""What each ingredient of the extragradient solver gains: all of them, then all but one.

Every programme is solved from nothing by every recipe, in turns, to a relative residual and gap of
``tol``, recomputed from the programme as given (:mod:`.certificate`), within a CPU limit. The
programmes are those of the folder ``public_programmes`` in ``STRUCTOPT_DATA``: ``lp`` and ``qp``
with an ``.npz`` each, of the arrays q, lower, upper, lb, ub and the CSR parts ``Ad Ai Ap`` and
``Pd Pi Pp`` of A and P. Without that folder a few small ones are generated.

>>> from structopt.lab.harness.runner import run
>>> bench = ExtragradientBench(quick=True, ingredients=["polish"])
>>> rows = run(bench, bench.cells()[:2]).rows
>>> [row["recipe"] for row in rows], all(row["verified"] for row in rows)
(['everything', 'without polish'], True)
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats
from structopt.backends.extragradient.certificate import Residuals
from structopt.backends.extragradient.recipe import ingredients as every_ingredient
from structopt.backends.extragradient.solver import solve
from structopt.datasets.home import data_home
from structopt.lab.harness import arguments
from structopt.lab.harness.bench import Bench
from structopt.lab.harness.study import TURN, Cell, Row, every, known, turns, where
from structopt.lab.harness.table import Table
from structopt.master.program import Program

EVERYTHING, KORPELEVICH = "everything", "Korpelevich's step"
SHIFT_SECONDS, SHIFT_PRODUCTS = 1.0, 1000.0
"""Shifts of the geometric means, as in the field's benchmarks."""


@dataclass
class ExtragradientBench(Bench):
    """Programmes by the solver with everything, and without one ingredient each, in turns.

    Parameters
    ----------
    quick : bool
        The generated programmes only.
    tol : float
        Largest relative residual and gap.
    time_limit : float
        CPU seconds a programme and recipe.
    kinds : sequence of str
        Folders of the public programmes.
    ingredients : sequence of str
        Which to leave out, one at a time; all of them by default.
    repeats : int
        Turns; of each number the table has the median and, behind it, the range over them.
    """

    name = "bench-extragradient"

    quick: bool = arguments.quick("a few generated programmes: seconds")
    tol: float = arguments.argument(1e-6, "relative residuals and gap to reach")
    time_limit: float = arguments.argument(10.0, "CPU seconds a programme", flag="--limit")
    kinds: Sequence[str] = arguments.argument(("lp", "qp"), "lp, qp", nargs="+", metavar="KIND")
    ingredients: Sequence[str] = arguments.argument(
        (), f"leave out only these, of {', '.join(every_ingredient())}", nargs="+", metavar="NAME"
    )
    repeats: int = arguments.repeats(1, "1")

    @cached_property
    def programmes(self) -> dict[str, Program]:
        """The programmes, by name."""
        found = {} if self.quick else public(data_home())
        chosen = {name: p for name, p in found.items() if name.split("/")[0] in self.kinds}
        return chosen or generated()

    @cached_property
    def recipes(self) -> dict[str, dict[str, Any]]:
        """Arguments of the solver, by what the table calls them."""
        left_out = known(self.ingredients or every_ingredient(), every_ingredient(), "ingredient")
        recipes: dict[str, dict[str, Any]] = {EVERYTHING: {}}
        recipes |= {f"without {name}": {"without": [name]} for name in left_out}
        if not self.ingredients:
            recipes[KORPELEVICH] = {"variant": "korpelevich"}
        return recipes

    def cells(self) -> list[Cell]:
        """Return a cell a turn, programme and recipe."""
        return [
            {"programme": name, "recipe": recipe, TURN: turn}
            for turn in range(self.repeats)
            for place, name in enumerate(self.programmes)
            for recipe in turns(list(self.recipes), place + turn)
        ]

    def warm_up(self, cell: Cell) -> None:
        """Compile, with and without P."""
        for p in generated().values():
            for recipe in self.recipes.values():
                solve(p, max_iter=80, **recipe)

    def run(self, cell: Cell) -> dict[str, Any]:
        """Solve one programme."""
        p, began = self.programmes[cell["programme"]], time.process_time()
        found = solve(
            p, tolerance=self.tol, **self.recipes[cell["recipe"]],
            callback=lambda _: time.process_time() - began > self.time_limit,
        )  # fmt: skip
        cpu = time.process_time() - began
        error = Residuals(p).assess(found.x, found.y).error
        return {
            "cpu": cpu, "products": found.products, "error": error, "status": found.status,
            "verified": error <= self.tol, "wrong": found.status == "optimal" and error > self.tol,
        }  # fmt: skip

    def tables(self, rows: Sequence[Row], left_out: Sequence[str]) -> list[Table]:
        """Return one row a recipe for each kind of programme."""
        kinds = every([{"kind": name.split("/")[0]} for name in self.programmes], "kind")
        return [self._table(rows, kind) for kind in kinds]

    def _table(self, rows: Sequence[Row], kind: str) -> Table:
        mine = [row for row in rows if row["programme"].split("/")[0] == kind]
        done = every(mine, TURN)
        base = [self._means(where(mine, recipe=EVERYTHING, turn=turn)) for turn in done]
        lines = []
        for recipe in every(mine, "recipe"):
            of = [where(mine, recipe=recipe, turn=turn) for turn in done]
            means = [self._means(rows) for rows in of]
            ratios = [m / b for m, b in zip(means, base, strict=True)]
            lines.append(
                (
                    recipe,
                    f"{middle([sum(r['verified'] for r in rows) for rows in of], '.0f')} "
                    f"of {len(of[0])}",
                    f"{sum(r['wrong'] for rows in of for r in rows)}",
                    middle([m[0] for m in means], ".3f"),
                    middle([r[0] for r in ratios], ".2f"),
                    middle([m[1] for m in means], ",.0f"),
                    middle([r[1] for r in ratios], ".2f"),
                )
            )
        return Table(
            f"Ingredients, {kind}, to {self.tol:g}",
            ("recipe", "verified", "claims not so", "mean CPU s", "of everything's",
             "mean products", "of everything's"),
            tuple(lines),
            (
                f"Shifted geometric means (1 s, 1,000 products); a failure costs "
                f"{self.time_limit:g} CPU s. {self.repeats} in turns: median, and the range.",
            ),
        )  # fmt: skip

    def _means(self, rows: Sequence[Row]) -> Floats:
        """Return the means of CPU seconds and products."""
        cpu = [r["cpu"] if r["verified"] else self.time_limit for r in rows]
        products = [r["products"] for r in rows]
        return np.array([shifted(np.array(cpu), SHIFT_SECONDS),
                         shifted(np.array(products, dtype=float), SHIFT_PRODUCTS)])  # fmt: skip


def middle(values: Sequence[float], form: str) -> str:
    """Return the median, and the range behind it where there is one.

    >>> middle([3.0, 1.0, 2.0], ".1f"), middle([2.0, 2.0], ".1f")
    ('2.0 (1.0-3.0)', '2.0')
    """
    low, high, half = (format(f(values), form) for f in (min, max, np.median))
    return half if low == high else f"{half} ({low}-{high})"


def shifted(values: Floats, shift: float) -> float:
    """Return the shifted geometric mean.

    >>> round(shifted(np.array([0.0, 3.0]), 1.0), 9)
    1.0
    """
    return float(np.exp(np.mean(np.log(values + shift))) - shift)


def public(folder: Path) -> dict[str, Program]:
    """Return the programmes of a folder of data, by kind and name; none if it has none."""
    files = sorted(Path(folder, "public_programmes").glob("[lq]p/*.npz"))
    return {f"{file.parent.name}/{file.stem}": _read(file) for file in files}


def _read(file: Path) -> Program:
    with np.load(file) as arrays:
        given = {name: np.asarray(arrays[name]) for name in arrays.files}
    n, m = len(given["q"]), len(given["lower"])

    def csr(letter: str, shape: tuple[int, int]) -> Any:
        data, indices, indptr = (given[letter + part] for part in "dip")
        return sp.csr_array((data.astype(np.float64), indices, indptr), shape=shape)

    ends: dict[str, Any] = {
        name: given[name].astype(np.float64) for name in ("q", "lower", "upper", "lb", "ub")
    }
    return Program(P=csr("P", (n, n)), A=csr("A", (m, n)), l1=np.zeros(n), **ends)


def generated() -> dict[str, Program]:
    """Return a few programmes for where there are no others.

    >>> list(generated())
    ['generated/assignment', 'generated/sparse', 'generated/quadratic']
    """
    rng, k = np.random.default_rng(0), 12
    ones = np.ones((1, k))
    A = sp.csr_array(sp.vstack([sp.kron(sp.eye_array(k), ones), sp.kron(ones, sp.eye_array(k))]))
    cost = rng.integers(1, 50, k * k).astype(float)
    found = {"generated/assignment": _programme(cost, A, np.ones(2 * k), np.ones(2 * k))}
    A = sp.random_array((60, 90), density=0.08, rng=rng, format="csr")
    inside = rng.uniform(0.0, 1.0, 90)
    found["generated/sparse"] = _programme(
        A.T @ rng.uniform(0.0, 1.0, 60) + rng.choice([0.0, 1.0], 90), A, A @ inside, None
    )
    root = rng.normal(size=(20, 90))
    found["generated/quadratic"] = _programme(
        rng.uniform(-0.1, 1.0, 90) + root.T @ rng.normal(size=20),
        A,
        A @ inside,
        None,
        P=sp.csr_array(root.T @ root + 0.1 * np.eye(90)),
    )
    return found


def _programme(q: Floats, A: Any, lower: Floats, upper: Floats | None, P: Any = None) -> Program:
    m, n = A.shape
    return Program(
        P=sp.csr_array((n, n)) if P is None else P, q=q, l1=np.zeros(n), A=A, lower=lower,
        upper=np.full(m, np.inf) if upper is None else upper, lb=np.zeros(n),
        ub=np.full(n, np.inf),
    )  # fmt: skip
