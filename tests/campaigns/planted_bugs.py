"""Plausible bugs, planted one at a time: for each a test must fail.

    python tests/campaigns/planted_bugs.py [words]

The first twenty are those that tests of an earlier version did not see. As in the mutation campaign
no file is touched; a bug whose place has changed is reported, to be planted anew.
"""

import argparse
import ast
import importlib
import os
import shlex
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import mutant_run
from mutant_run import PRELOADED, ROOT, preload, run


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
FW, BLOCKS = "structopt/methods/frank_wolfe/", "tests/methods/test_frank_wolfe_blocks.py"
KERNEL = "structopt/methods/kernel_dual/method.py"
DESCENT = "structopt/methods/subgradient/descent.py"
DESCENTS = "tests/methods/test_descent_bounds.py"
VERDICT = "structopt/methods/verdict.py"
CHECK = "structopt/backends/extragradient/certificate_kernels.py"

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
        "excess=total(everyone * (most - np.maximum(hinge, 0.0)), group[each.example])",
        "excess=np.zeros(n_groups)", ERR,
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
        "            self._layout = None\n        self._joint.forget()",
        "            self._layout = None",
        "tests/learn/test_path.py::test_products_of_planes_are_not_kept_from_another_c",
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
    # beyond those: their kin in what came later
    Bug(
        "the squares are dropped from Frank-Wolfe's bound", FW + "blocks.py",
        "self._alpha, self._margin)) - half_square", "self._alpha, self._margin))", BLOCKS,
    ),
    Bug(
        "a merged plane keeps the larger margin", FW + "kernels.py",
        "margin[i, a] = share_a * margin[i, a] + share_b * margin[i, b]",
        "margin[i, a] = max(margin[i, a], margin[i, b])", BLOCKS,
    ),
    Bug(
        "a block may carry more than it costs", FW + "kernels.py",
        "rest -= alpha[i, k]", "rest -= 0.0", BLOCKS,
    ),
    Bug(
        "a plane is not scaled under slack rescaling", FW + "planes.py",
        "Planes(self._examples[i : i + 1], margin, scaled(found, scale))",
        "Planes(self._examples[i : i + 1], margin, found)", BLOCKS,
    ),
    Bug(
        "bounds on projections cost nothing in the kernel's dual", KERNEL,
        "float(self._form.cost @ gains) - spent - paid", "float(self._form.cost @ gains) - paid",
        "tests/methods/test_kernel_dual.py",
    ),
    Bug(
        "weights moved into bounds are paid by their length", KERNEL,
        "t * t * paid", "t * paid", "tests/methods/test_kernel_dual.py",
    ),
    Bug(
        "weights with kernels are not moved into their bounds", KERNEL,
        "return min(1.0, self._bound / largest) if largest > 0 else 1.0", "return 1.0",
        "tests/methods/test_kernel_dual.py",
    ),
    Bug(
        "averaged answers are blown up in a ridge's bound", DESCENT,
        "t = min(1.0, margin / square)", "t = margin / square", DESCENTS,
    ),
    Bug(
        "a ball's bound takes all but a hundredth of the radius", DESCENT,
        "margin - self._radius * steepest", "margin - 0.99 * self._radius * steepest", DESCENTS,
    ),
    Bug(
        "ceilings and floors of weights are taken for each other", DESCENT,
        "np.where(pull > 0, self._needs_ceiling, self._needs_floor)",
        "np.where(pull > 0, self._needs_floor, self._needs_ceiling)", DESCENTS,
    ),
    Bug(
        "sample weights are forgotten in the saddle form", "structopt/methods/saddle/form.py",
        "rate * data.sample_weight", "rate * np.ones(data.n_examples)",
        "tests/methods/test_saddle_form.py",
    ),
    Bug(
        "a relaxation with fractional vertices is certified", "structopt/methods/saddle/method.py",
        "return self._proven and self._integral", "return self._proven",
        "tests/methods/test_saddle.py",
    ),
    Bug(
        "a retreat ends at the first bound that holds", SEPARATION,
        "t = min(inside.violations[k]", "t = max(inside.violations[k]",
        "tests/master/test_separation.py",
    ),
    Bug(
        "a violation counts from 1e-3 on", SEPARATION,
        "violation > 1e-9 * np.maximum", "violation > 1e-3 * np.maximum",
        "tests/master/test_separation.py",
    ),
    Bug(
        "rows with other variables are asked for with the wrong sign", "structopt/master/inner.py",
        "return rows.lower - given + spread, rows.upper - given - spread",
        "return rows.lower + given + spread, rows.upper + given - spread",
        "tests/master/test_separation.py",
    ),
    Bug(
        "any multipliers prove that there is no point", VERDICT,
        "proven = np.isfinite(summed) and gain.sum() - reach.sum() > _ROUNDING * summed",
        "proven = np.isfinite(summed)", "tests/methods/test_verdicts.py",
    ),
    Bug(
        "a direction may leave a row", VERDICT,
        "leads_out = bool(np.any(beyond > room)) or", "leads_out =",
        "tests/methods/test_verdicts.py",
    ),
    Bug(
        "multipliers outside the dual cone prove something", VERDICT,
        "if cones.contain_dual(inside := z + share * size * cones.dual_centre):",
        "if (inside := z) is not None:", "tests/methods/test_verdicts.py",
    ),
    Bug(
        "unproven oracles are certified", "structopt/run/certificate.py",
        "sound = self.exact and not", "sound = not", "tests/run/test_certificate_fields.py",
    ),
    Bug(
        "weights outside the constraints are certified", "structopt/run/certificate.py",
        "return sound and small and self.residual <= FEASIBLE", "return sound and small",
        "tests/run/test_certificate_fields.py",
    ),
    Bug(
        "what is outside a cone is no residual", "structopt/master/program.py",
        "return max(0.0, outside, *(_share", "return max(0.0, *(_share",
        "tests/master/test_cones.py",
    ),
    Bug(
        "gains of rounds are summed without their weights", LAGRANGIAN,
        "before.gain + weight * priced.gain", "before.gain + priced.gain",
        "tests/methods/test_lower_bound.py",
    ),
    Bug(
        "columns with a bound of 1 add nothing", LAGRANGIAN,
        "np.all((program.ub <= 0) |", "np.all((program.ub <= 1) |",
        "tests/master/test_lagrangian.py",
    ),
    Bug(
        "columns with one value only are left to the anchor", LAGRANGIAN,
        "static, reduced = self._repair.restored(static, reduced, level=True)", "", TRUE,
    ),
    Bug(
        "pulls beyond the dual ball are not scaled back", "structopt/master/terms.py",
        "return 1.0 if size <= self.price else", "return 1.0 if True else",
        "tests/master/test_terms.py",
    ),
    Bug(
        "the gain is not scaled with the pull of a norm", "structopt/master/term_bound.py",
        "gain=t * priced.gain", "gain=priced.gain", "tests/master/test_terms.py",
    ),
    Bug(
        "the dual of the exponential cone has no factor e", "structopt/master/cones.py",
        "[0.0, 0.0, np.e]", "[0.0, 0.0, 1.0]", "tests/master/test_cones.py",
    ),
    Bug(
        "a margin even of gold is learned as the hinge", "structopt/master/question.py",
        "oracle in (best_other, worst) or bool(np.all(fit.shift <= 0))", "True",
        "tests/master/test_question.py",
    ),
    Bug(
        "an answer below a known cut is not looked for", "structopt/methods/doubts.py",
        "if not (self._data.exact and separation.exact):", "if True:",
        "tests/methods/test_lying_oracles.py tests/run",
    ),
    Bug(
        "working sets end a tolerance late", "structopt/methods/working_sets.py",
        "beyond = violations(cuts, x) - eps", "beyond = violations(cuts, x) - 3 * eps",
        "tests/methods/test_working_sets.py",
    ),
    Bug(
        "block ascent certifies unproven answers", "structopt/methods/block_ascent/method.py",
        "self._proven = self._proven and found.exact", "self._proven = self._proven",
        "tests/methods/test_block_ascent_rounds.py",
    ),
    Bug(
        "block ascent's best value is that of other weights",
        "structopt/methods/block_ascent/method.py",
        "self._primal, self._best = found.value, weights", "self._primal = found.value",
        "tests/methods/test_block_ascent_rounds.py",
    ),
    Bug(
        "the ridge is dropped from block ascent's bound",
        "structopt/methods/block_ascent/method.py",
        "(gain - weights.ridge())", "gain", "tests/methods/test_block_ascent_rounds.py",
    ),
    Bug(
        "what an oracle leaves open lowers a row of factor -1", "structopt/master/value.py",
        "np.abs(factor) * excess", "factor * excess", "tests/master/test_value.py",
    ),
    Bug(
        "a mean of rounds that have no weight is a bound", "structopt/methods/lower_bound.py",
        "if moving and solution.weight > 0.0:", "if solution.weight > 0.0:",
        "tests/methods/test_lower_bound.py",
    ),
    Bug(
        "a ray that a far point contradicts is a proof", "structopt/backends/extragradient/rays.py",
        "self.residual * BEYOND <= self.value", "self.residual <= self.value",
        "tests/backends/test_residuals.py",
    ),
    Bug(
        "a bound that a column is far from adds to the dual", CHECK,
        "                far_less += over * at\n", "                far_less += 0.0\n",
        "tests/backends/test_residuals.py",
    ),
    Bug(
        "a lower bound above a small upper one closes the gap", "structopt/run/certificate.py",
        "small = small and not (below and abs(self.primal) > _NOTHING)", "",
        "tests/run/test_certificate_fields.py",
    ),
    Bug(
        "hard rows from above are not asked", "structopt/master/value.py",
        "np.maximum(below, above)[tight]", "below[tight]", "tests/master/test_value.py",
    ),
    Bug(
        "a ray takes the nearer end of a column for the one that holds it",
        "structopt/backends/extragradient/rays.py",
        "at = np.where(slope > 0, p.lb, p.ub)", "at = np.where(slope > 0, p.ub, p.lb)",
        "tests/backends/test_residuals.py",
    ),
    Bug(
        "the step towards multipliers inside goes too far", "structopt/master/repair.py",
        "t = min(t, float((a[wrong] / (a[wrong] - b[wrong])).min()))", "pass",
        "tests/master/test_repair.py",
    ),
]  # fmt: skip


def planted(bug: Bug, folder: Path) -> dict | None:
    """Run the tests of a bug with the bug; None if its place has changed."""
    source = (ROOT / bug.file).read_text()
    if source.count(bug.before) != 1:
        return None
    tree = ast.parse(source.replace(bug.before, bug.after))
    # at the end of the module: so it is imported anew, whatever stands where the bug is
    tree.body.append(ast.parse("_mark_reached()").body[0])
    return run(bug.file, tree, bug.tests.split(), folder)


def main() -> int:
    """Plant the bugs; 1 if one is not seen, or a test that saw one fails without it too."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="only bugs whose name or file holds one of these")
    words = parser.parse_args().words
    mutant_run.TEST_SECONDS = 120.0  # unchanged, tests run to their end, in plain Python
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
    for name in PRELOADED:
        importlib.import_module(name)
    seen, killers, wrong = 0, set(), 0
    wanted = [b for b in BUGS if not words or any(word in b.name + b.file for word in words)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        preload(folder, [], ["tests/contracts/test_names.py"], compiled=False)
        for bug in wanted:
            found = planted(bug, folder)
            if found is None:
                print(f"NO PLACE  {bug.name}: {bug.file} has changed", flush=True)
                continue
            word = "seen" if found["killed"] else "UNSEEN"
            seen += found["killed"]
            killers |= {found["by"]} if "::" in found["by"] else set()
            said = f"{found['by']} ({found['seconds']:.0f} s)"
            print(f"{word}  {bug.name}: {said}", flush=True)
        if killers and run("", None, [shlex.join(sorted(killers))], folder)["killed"]:
            wrong = 1
            tail = (folder / "log").read_text(errors="replace").splitlines()[-8:]
            print("FAILS UNCHANGED", *tail, sep="\n", flush=True)
    print(f"{len(wanted)} planted, {seen} seen, by {len(killers)} tests")
    return int(seen < len(wanted) or wrong)


if __name__ == "__main__":
    sys.exit(main())
