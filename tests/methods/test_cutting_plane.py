"""The driver: rounds, budgets, failures, interruption, warm starts, checkpoints."""

import os
import signal
import subprocess
import sys
import textwrap

import cvxpy as cp
import numpy as np
import pytest
from enumeration import FORMULATIONS, small_chain, small_classes, solve
from joblib import parallel_config

import structopt as so
from structopt.backends.base import MasterSolution
from structopt.backends.clarabel import Clarabel
from structopt.backends.highs import HiGHS
from structopt.errors import (
    BackendError,
    FileFormatError,
    IncompatibleError,
    InfeasibleError,
    InvalidInputError,
    UnboundedError,
)


@pytest.fixture(scope="module")
def words():
    return so.datasets.make_chain_crf(n_examples=25, n_features=12, n_relevant=6, seed=3)


def run_of(words, formulation, **kwargs):
    X, Y = words
    structure = so.Chain().fitted(X, Y)
    return so.CuttingPlane(structure, formulation, so.DataSet.of(structure, X, Y), **kwargs)


def test_bounds_close_monotonically_and_records_add_up(words):
    seen = []
    result = run_of(words, so.M3N(0.5), tol=1e-4, callbacks=[seen.append]).solve()
    assert [r.round for r in result.history] == list(range(1, len(result.history) + 1))
    assert all(
        b.primal <= a.primal and b.dual >= a.dual
        for a, b in zip(result.history, result.history[1:], strict=False)
    )
    assert seen == list(result.history)
    total = sum(r.cuts_added - r.cuts_dropped for r in result.history)
    assert total == result.history[-1].cuts == len(result.cuts)
    spent = sum(r.oracle_seconds + r.lift_seconds + r.solve_seconds for r in result.history)
    assert 0 < spent <= result.seconds
    assert result.history[-1].relative_gap == result.certificate.relative_gap <= 1e-4


def test_objective_is_recomputed_from_the_data(words):
    X, Y = words
    result = run_of(words, so.M3N(0.5), tol=1e-4).solve()
    structure = so.Chain().fitted(X, Y)
    hinge = 0.0
    for x, y in zip(X, Y, strict=True):
        other = structure.argmax(x, result.weights, gold=y)
        delta = structure.joint_features(x, y) - structure.joint_features(x, other)
        hinge += structure.loss(y, other) - float((delta @ result.weights)[0])
    value = result.weights @ result.weights / (2 * 0.5) + hinge
    assert result.certificate.primal == pytest.approx(value, rel=1e-10)


def test_budgets_stop_the_run_with_a_true_certificate(words):
    full = run_of(words, so.M3N(0.5), tol=1e-5).solve()
    short = run_of(words, so.M3N(0.5), tol=1e-5, max_iter=4).solve()
    assert (short.status, len(short.history)) == ("max_iter", 4)
    assert short.certificate.dual <= full.certificate.primal
    assert short.certificate.primal >= full.certificate.dual
    assert not short.certificate.certified
    late = run_of(words, so.M3N(0.5), tol=1e-9, time_limit=1e-6).solve()
    assert (late.status, len(late.history)) == ("time_limit", 1)  # a round there always is
    assert np.isfinite(late.certificate.primal)
    stopped = run_of(words, so.M3N(0.5), callbacks=[lambda r: np.bool_(r.round == 2)]).solve()
    assert (stopped.status, len(stopped.history)) == ("callback", 2)
    by_gap = run_of(words, so.M3N(0.5), tol=0.0, abs_tol=1.0).solve()
    assert by_gap.status == "optimal"
    assert by_gap.certificate.gap <= 1.0
    assert by_gap.certificate.certified


def test_ctrl_c_returns_the_best_model(words):
    def interrupt(record):
        if record.round == 3:
            raise KeyboardInterrupt

    result = run_of(words, so.M3N(0.5), tol=1e-8, callbacks=[interrupt]).solve()
    assert result.status == "interrupted"
    assert np.isfinite(result.certificate.primal)
    again = run_of(words, so.M3N(0.5), tol=1e-8, max_iter=1, warm_start=result).solve()
    assert again.certificate.primal <= result.certificate.primal * (1 + 1e-12)


class Broken(Clarabel):
    """Fails in its third solve, or in every one from then on."""

    name = "broken"

    def start(self, master):
        super().start(master)
        self.count = 0

    def solve(self, **kwargs):
        self.count += 1
        if self.count == 3:
            zeros = np.zeros(0)
            return MasterSolution("failed", zeros, zeros, None, 0, "out of luck")
        return super().solve(**kwargs)


def test_a_named_backend_that_fails_is_not_replaced(words):
    with pytest.raises(
        BackendError, match=r"'broken' failed in round 3: out of luck.*fallback"
    ) as e:
        run_of(words, so.M3N(0.5), backend=Broken()).solve()
    assert len(e.value.result.history) == 2


def test_a_failing_solver_is_retried_on_the_reference_where_that_is_allowed(words, caplog):
    result = run_of(words, so.M3N(0.5), backend=Broken(), fallback=True).solve()
    assert result.certificate.certified
    assert "round 3 by cvxpy: broken failed" in str(result)
    assert "out of luck" in caplog.text
    assert "reference" in caplog.text
    assert result.rescued == ((3, "broken", "cvxpy", "out of luck"),)


def test_when_others_fail_too_the_error_carries_the_last_model(words, monkeypatch):
    from structopt.backends.osqp import OSQP
    from structopt.backends.reference import CVXPY
    from structopt.methods import rescue

    monkeypatch.setattr(rescue, "_RESCUERS", ("cvxpy",))

    def fail(self, **kwargs):
        return MasterSolution("failed", np.zeros(0), np.zeros(0), None, 0, "no solver left")

    for rescuer in (CVXPY, OSQP):
        monkeypatch.setattr(rescuer, "solve", fail)
    with pytest.raises(BackendError, match="no solver left") as caught:
        run_of(words, so.M3N(0.5), backend=Broken(), fallback=True).solve()
    assert len(caught.value.result.history) == 2
    assert np.isfinite(caught.value.result.certificate.primal)


@pytest.mark.parametrize("kind", ["m3n", "lp-free", "svm-slack"])
def test_warm_start_reaches_the_same_optimum_at_another_C(words, kind):
    first = run_of(words, FORMULATIONS[kind](0.2), tol=1e-5).solve()
    cold = run_of(words, FORMULATIONS[kind](0.4), tol=1e-5).solve()
    warm = run_of(words, FORMULATIONS[kind](0.4), tol=1e-5, warm_start=first).solve()
    assert warm.certificate.primal == pytest.approx(cold.certificate.primal, rel=2e-5)
    assert len(warm.history) < len(cold.history)


def test_warm_start_works_for_joint_cuts_and_explicit_rows(words):
    first = run_of(words, so.M3N(0.2, slacks="one"), tol=1e-4).solve()
    warm = run_of(words, so.M3N(0.2, slacks="one"), tol=1e-4, warm_start=first).solve()
    assert len(warm.history) <= 3
    assert warm.certificate.certified


class SomeExamples(so.Formulation):
    """A hinge, of some examples only; its loss has a factor."""

    def __init__(self, first=0, kappa=1.0):
        self.first, self.kappa = first, kappa

    def master(self, m):
        w, xi = m.weights(), m.slacks()
        m.minimize(cp.sum_squares(w) / 2 + cp.sum(xi))
        where = np.arange(m.n_examples) >= self.first
        m.cuts(lambda cut: cut.delta @ w >= self.kappa * cut.loss - cut.of(xi), where=where)


def test_cuts_of_other_examples_are_refused(words):
    first = run_of(words, SomeExamples(0)).solve()
    with pytest.raises(InvalidInputError, match="another kind of formulation"):
        run_of(words, SomeExamples(3), warm_start=first)
    assert run_of(words, SomeExamples(0), warm_start=first).solve().certificate.certified


@pytest.mark.parametrize("options", [{"first": 3}, {"kappa": 2.0}])
def test_a_live_run_that_asked_something_else_hands_on_its_weights(words, options):
    cold = run_of(words, SomeExamples(**options), tol=1e-5).solve()
    first = run_of(words, SomeExamples(), tol=1e-5)
    first.solve()
    run = run_of(words, SomeExamples(**options), tol=1e-5, warm_start=first.state)
    assert len(run.master.pool) == 0
    assert run.solve().certificate.primal == pytest.approx(cold.certificate.primal, rel=2e-5)


def test_cuts_of_other_data_are_refused(words):
    X, Y = words
    first = run_of(words, so.M3N(0.2)).solve()
    with pytest.raises(InvalidInputError, match="other data"):
        run_of((X[1:], Y[1:]), so.M3N(0.2), warm_start=first)
    with pytest.raises(InvalidInputError, match="other data"):
        run_of(words, so.StructSVM(0.2), warm_start=first)


def test_checkpoint_resumes(words, tmp_path):
    path = tmp_path / "run.ckpt"
    whole = run_of(words, so.M3N(0.5), tol=1e-5).solve()
    run_of(words, so.M3N(0.5), tol=1e-5, max_iter=10, checkpoint=path).solve()
    rest = run_of(words, so.M3N(0.5), tol=1e-5, checkpoint=path).solve()
    assert rest.certificate.primal == pytest.approx(whole.certificate.primal, rel=2e-5)
    assert len(rest.history) < len(whole.history)
    assert list(tmp_path.iterdir()) == [path]


def test_a_killed_run_resumes_to_the_same_optimum(tmp_path):
    """SIGKILL at a random moment of a slow run leaves a file from which it goes on."""
    script = textwrap.dedent(
        """
        import sys, time
        import structopt as so
        X, Y = so.datasets.make_chain_crf(n_examples=25, n_features=12, n_relevant=6, seed=3)
        structure = so.Chain().fitted(X, Y)
        run = so.CuttingPlane(structure, so.M3N(0.5), so.DataSet.of(structure, X, Y), tol=1e-5,
                              checkpoint=sys.argv[1])
        while True:
            run.step()
            sys.stdout.write("round\\n"); sys.stdout.flush()
            time.sleep(0.05)
        """
    )
    path = tmp_path / "run.ckpt"
    with subprocess.Popen(
        [sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE
    ) as worker:
        for _ in range(4):
            assert worker.stdout.readline()
        os.kill(worker.pid, signal.SIGKILL)
    words = so.datasets.make_chain_crf(n_examples=25, n_features=12, n_relevant=6, seed=3)
    resumed = run_of(words, so.M3N(0.5), tol=1e-5, checkpoint=path)
    assert len(resumed.master.pool) > 0
    whole = run_of(words, so.M3N(0.5), tol=1e-5).solve()
    assert resumed.solve().certificate.primal == pytest.approx(whole.certificate.primal, rel=2e-5)


def test_damaged_checkpoints_give_a_typed_error(words, tmp_path):
    path = tmp_path / "run.ckpt"
    run_of(words, so.M3N(0.5), max_iter=3, checkpoint=path).solve()
    whole = path.read_bytes()
    for content in (b"", b"hello", whole[: len(whole) // 2], whole[:-7]):
        path.write_bytes(content)
        with pytest.raises(FileFormatError):
            run_of(words, so.M3N(0.5), checkpoint=path)


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_parallel_passes_change_nothing(words, n_jobs):
    X, Y = words
    structure = so.Chain().fitted(X, Y)
    one = solve(structure, so.M3N(0.5), X, Y, tol=1e-5)
    many = solve(structure, so.M3N(0.5), X, Y, tol=1e-5, n_jobs=n_jobs)
    assert len(one.history) == len(many.history)
    np.testing.assert_allclose(one.weights, many.weights)


def test_the_active_joblib_backend_is_used(words):
    X, Y = small_classes(np.random.default_rng(0))[:2]
    structure = so.Enumerated([0, 1, 2], classes_features).fitted(X, Y)
    one = solve(structure, so.M3N(0.5), X, Y, tol=1e-5)
    with parallel_config(backend="threading", n_jobs=2):
        two = solve(structure, so.M3N(0.5), X, Y, tol=1e-5)
    np.testing.assert_allclose(one.weights, two.weights)
    processes = solve(structure, so.M3N(0.5), X, Y, tol=1e-5, n_jobs=2)
    np.testing.assert_allclose(one.weights, processes.weights)


def classes_features(x, y):
    out = np.zeros(3 * len(x))
    out[y * len(x) : (y + 1) * len(x)] = x
    return out


class Dying(so.Enumerated):
    """Kills its process once the weights have moved."""

    def argmax(self, x, weights, *, gold=None):
        if np.any(weights):
            os._exit(1)
        return super().argmax(x, weights, gold=gold)


def test_a_killed_worker_gives_a_typed_error_with_the_last_model():
    X, Y, _, _ = small_classes(np.random.default_rng(0))
    structure = Dying([0, 1, 2], classes_features).fitted(X, Y)
    with pytest.raises(so.errors.OracleError, match="n_jobs=1") as caught:
        solve(structure, so.M3N(0.5), X, Y, n_jobs=2)
    assert len(caught.value.result.history) == 1


class Free(so.Formulation):
    """No regulariser at all, and a cost that falls without limit."""

    def __init__(self, direction=-1.0):
        self.direction = direction

    def master(self, m):
        w, xi = m.weights(), m.slacks()
        m.minimize(self.direction * cp.sum(w) + cp.sum(xi))
        m.cuts(so.loss_augmented, lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


@pytest.mark.parametrize("backend", ["highs", "clarabel", "cvxpy"])
def test_unbounded_and_infeasible_masters_are_told_apart(words, backend):
    with pytest.raises(UnboundedError, match="regulariser"):
        run_of(words, Free(), backend=backend).solve()
    contradictory = so.LPStruct(1.0, constraints=lambda w: [cp.sum(w) <= 1, w[0] + w[1] >= 2])
    with pytest.raises(InfeasibleError, match="Relax"):
        run_of(words, contradictory, backend=backend).solve()


def test_abilities_are_checked_before_any_work():
    class Sign(so.Structure):
        def joint_features(self, x, y):
            return 0.5 * y * np.asarray(x)

        def loss(self, y, other):
            return float(y != other)

        def argmax(self, x, weights, *, gold=None):
            return max(
                (-1, 1),
                key=lambda y: (
                    self.joint_features(x, y) @ weights
                    + (0.0 if gold is None else self.loss(gold, y))
                ),
            )

    X, Y = [[1.0, 0.2], [-0.4, 1.0], [0.3, -1.0]], [1, -1, 1]
    structure = Sign().fitted(X, Y)
    result = solve(structure, so.M3N(1.0), X, Y, tol=1e-6)
    assert result.certificate.certified
    with pytest.raises(IncompatibleError, match=r"needs 'second_best'; Sign offers \['argmax'\]"):
        solve(structure, so.LPStruct(1.0), X, Y)
    with pytest.raises(IncompatibleError, match="slack_rescaled"):
        solve(structure, so.StructSVM(1.0, rescale="slack"), X, Y)


def test_untouched_features_cost_nothing_in_l1_masters():
    X, Y, _, _ = small_classes(np.random.default_rng(1), n_inputs=2)
    wide = np.zeros((len(Y), 5000))
    wide[:, [17, 3000]] = X
    structure = so.Multiclass(labels=range(3)).fitted(wide, Y)
    data = so.DataSet.of(structure, wide, Y)
    run = so.CuttingPlane(structure, so.LPStruct(1.0), data, backend=HiGHS())
    result = run.solve()
    assert result.certificate.certified
    assert run.backend._model.getNumCol() < 50


def test_idle_cuts_are_dropped():
    X, Y = so.datasets.make_chain_crf(n_examples=60, seed=0)
    structure = so.Chain().fitted(X, Y)
    result = solve(structure, so.M3N(0.1), X, Y, tol=1e-4)
    assert sum(r.cuts_dropped for r in result.history) > 0
    assert result.certificate.certified


@pytest.mark.parametrize(
    "options",
    [{"tol": -1}, {"tol": np.nan}, {"max_iter": 0}, {"time_limit": 0}, {"backend": "gurob"}],
)
def test_bad_options_are_refused(words, options):
    with pytest.raises(InvalidInputError):
        run_of(words, so.M3N(1.0), **options)


def test_small_problems_without_contest_end_at_zero():
    X, Y, structure, _ = small_chain(np.random.default_rng(0), n=1, length=1)
    result = solve(structure, so.M3N(1e-6), X, Y)
    assert result.certificate.certified


def test_without_a_regulariser_a_machine_is_a_linear_programme(words):
    assert run_of(words, so.M3N(np.inf)).solve().certificate.certified
