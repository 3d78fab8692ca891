"""Plausible bugs, planted one at a time: for each a test must fail.

    python tests/campaigns/planted_bugs.py [words]

They are those that tests of an earlier version did not see. As in the mutation campaign no file is
touched; a bug whose place has changed is reported, to be planted anew.
"""

import argparse
import ast
import importlib
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from mutation import PRELOADED, ROOT, run


@dataclass(frozen=True)
class Bug:
    """What goes wrong: in which file, which text, what stands there then, and who must notice."""

    name: str
    file: str
    before: str
    after: str
    tests: str


TRUE, ERR = "tests/master/test_true_bounds.py", "tests/methods/test_erring_oracles.py"
LAGRANGIAN = "structopt/master/lagrangian.py"
SEPARATION = "structopt/master/separation.py"

BUGS = [
    Bug(
        "the gain is not scaled with its multipliers", LAGRANGIAN,
        "gain = (1 - t) * a.gain + t * gain", "gain = 1.0 * gain", TRUE,
    ),
    Bug(
        "a column without a minimum counts as 0", LAGRANGIAN,
        "if self._anchor is None:\n                return -np.inf\n            a = self._anchor",
        "a = self._anchor or Anchor(static, reduced, gain)", TRUE,
    ),
    Bug(
        "the conjugate's domain is not kept in the coupled block", LAGRANGIAN,
        "z = np.where(np.isposinf(ub), np.minimum(z, l1), z)", "", TRUE,
    ),
    Bug(
        "a plain LP bound 1e-4 too high", LAGRANGIAN,
        "return float(t * gain + p.offset)", "return float(1.0001 * t * gain + p.offset)", TRUE,
    ),
    Bug(
        "the rest tolerance 1000 times looser", "structopt/master/program.py",
        "ROUNDING = 1e-12", "ROUNDING = 1e-9", TRUE,
    ),
    Bug(
        "exact is that of the last pass", "structopt/methods/cutting_plane.py",
        "self._proven = self._proven and separation.exact", "self._proven = separation.exact", ERR,
    ),
    Bug(
        "exact is not that of a retreat's second pass", SEPARATION,
        "exact = exact and proven", "exact = exact", ERR,
    ),
    Bug(
        "unproven answers are certified by Frank-Wolfe", "structopt/methods/frank_wolfe/method.py",
        "self._proven = self._proven and found.exact", "", ERR,
    ),
    Bug(
        "the excess is dropped in the 1-slack cut", SEPARATION,
        "excess=np.array([everyone @ (most - np.maximum(hinge, 0.0))])", "excess=np.zeros(1)", ERR,
    ),
    Bug(
        "the excess is dropped in the saddle value", "structopt/methods/saddle/form.py",
        "self.data.ask(loss_augmented, weights), paid)",
        "[replace(a, excess=None) for a in self.data.ask(loss_augmented, weights)], paid)", ERR,
    ),
    Bug(
        "the excess is not scaled under slack rescaling", "structopt/master/value.py",
        "np.abs(factor) * excess", "excess", ERR,
    ),
    Bug(
        "the proof tolerance of constrained decoding 10^7 times looser",
        "structopt/structures/constrain/multipliers.py",
        "enough = 1e-10 * max(size, 1e-300)", "enough = 1e-3 * max(size, 1e-300)",
        "tests/structures/test_close_ties.py",
    ),
    Bug(
        "a net's gap is not told", "structopt/structures/markov_net/search.py",
        "return labels, 0.0 if over <= noise else over", "return labels, 0.0",
        "tests/structures/test_markov_net.py",
    ),
    Bug(
        "the lower bound of a cut's second best is too high", "structopt/structures/cut/search.py",
        "return np.where(labels == 1, source_side, sink_side)",
        "return 1.5 * np.where(labels == 1, source_side, sink_side)",
        "tests/structures/test_cut.py",
    ),
    Bug(
        "EM's value is taken before zeros are set", "structopt/methods/em.py",
        "few, self._primal = count, worth", "few = count", ERR,
    ),
    Bug(
        "Newton products are kept from another C", "structopt/backends/ascent/backend.py",
        "            self._layout = None\n        self._products = Products()",
        "            self._layout = None",
        "tests/learn/test_path.py tests/backends/test_backends.py",
    ),
    Bug(
        "equal directions of two examples are one cut", "structopt/master/pool.py",
        "return signatures ^ (owner + which)", "return signatures ^ (0 * owner + which)",
        "tests/master",
    ),
    Bug(
        "violations scaled down in the extragradient judge",
        "structopt/backends/extragradient/judge.py",
        "primal_residual = float(np.max(violation, initial=0.0))",
        "primal_residual = 1e-3 * float(np.max(violation, initial=0.0))",
        "tests/backends/test_judge.py",
    ),
    Bug(
        "NaN weights are taken from a model file", "structopt/learn/model_file.py",
        " or not np.all(np.isfinite(weights))", "", "tests/learn/test_file_fields.py",
    ),
    Bug(
        "multipliers of a wrong length are taken from a checkpoint", "structopt/master/cuts.py",
        "if any(values.shape != (len(parts),) for values in said.values()):", "if False:",
        "tests/learn/test_file_fields.py",
    ),
]  # fmt: skip


def main() -> int:
    """Plant the bugs; 1 if one is not seen."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="only bugs whose name or file holds one of these")
    words = parser.parse_args().words
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
    for name in PRELOADED:
        importlib.import_module(name)
    unseen = 0
    with tempfile.TemporaryDirectory() as folder:
        for bug in BUGS:
            if words and not any(word in bug.name + bug.file for word in words):
                continue
            source = (ROOT / bug.file).read_text()
            if source.count(bug.before) != 1:
                print(f"NO PLACE  {bug.name}: {bug.file} has changed", flush=True)
                unseen += 1
                continue
            tree = ast.parse(source.replace(bug.before, bug.after))
            killed, spent, how = run(bug.file, tree, bug.tests.split(), 300.0, Path(folder))
            unseen += not killed
            print(
                f"{'seen' if killed else 'UNSEEN'}  {bug.name}: {how} ({spent:.0f} s)", flush=True
            )
    return int(unseen > 0)


if __name__ == "__main__":
    sys.exit(main())
