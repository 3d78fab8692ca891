"""Slacks that groups of examples share: the optimum of n slacks, by every road that takes them."""

import cvxpy as cp
import numpy as np
import pytest

import structopt as so
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.formulations import slack_groups
from structopt.formulations.slack_groups import group_of
from structopt.master.declare import RestrictedMaster
from structopt.testing.full_problem import FullProblem
from structopt.testing.problems import small_chain, small_classes

WEIGHTS = np.array([2.0, 0.0, 1.0, 0.5, 1.0])


class Own(so.Formulation):
    """A formulation of a user's own: an l1 term, bounds and groups."""

    def __init__(self, C=1.0, groups="n"):
        self.C, self.groups = C, groups

    def master(self, m):
        w, xi = m.weights(lambda w: [w <= 1.0]), m.slacks(self.groups)
        m.minimize(0.1 * cp.norm1(w) + cp.sum_squares(w) / 2 + self.C * cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi), joint=self.groups)


FORMULATIONS = {
    "M3N": lambda k: so.M3N(2.0, slacks=k),
    "unit": lambda k: so.StructSVM(8.0, slacks=k),
    "slack": lambda k: so.StructSVM(8.0, rescale="slack", slacks=k),
    "RMM": lambda k: so.StructRMM(8.0, 0.7, rescale="margin", slacks=k),
    "own": lambda k: Own(2.0, k),
}


def data_of(case, n_jobs=1, sample_weight=None):
    return so.DataSet.of(case.structure, case.X, case.Y, n_jobs=n_jobs, sample_weight=sample_weight)


def close(result, optimum, tol=1e-5):
    bounds = result.certificate
    assert bounds.certified
    slack = 1e-6 * (1 + abs(optimum))  # of the solver behind `optimum`
    assert bounds.dual - slack <= optimum <= bounds.primal + slack
    assert bounds.primal - bounds.dual <= 2 * tol * (1 + abs(optimum))


@pytest.mark.parametrize("weight", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("made", FORMULATIONS.values(), ids=FORMULATIONS)
def test_groups_have_the_optimum_of_n_slacks(made, weight):
    case = small_classes(3, n=5)
    optimum = FullProblem(case, made("n"), weight).optimum()
    for groups in (1, 2, 3, 5, "shards"):
        # every sum over a group written out is the same problem
        if isinstance(groups, int) and groups > 1:
            assert FullProblem(case, made(groups), weight).optimum() == pytest.approx(optimum, 1e-5)
        run = so.CuttingPlane(case.structure, made(groups), data_of(case, 2, weight), tol=1e-5)
        close(run.solve(), optimum)


@pytest.mark.parametrize(
    "backend", ["ascent", "highs", "osqp", "clarabel", "splitting", "extragradient", "cvxpy"]
)
def test_every_backend_takes_groups(backend):
    case = small_chain(2, n=4, length=2)
    tol = {"splitting": 1e-4, "extragradient": 1e-3}.get(backend, 1e-5)
    if backend == "highs":

        def made(k):
            return Linear(2.0, k)
    else:

        def made(k):
            return so.M3N(2.0, slacks=k)

    optimum = FullProblem(case, made("n")).optimum()
    run = so.CuttingPlane(case.structure, made(2), data_of(case), backend=backend, tol=tol)
    close(run.solve(), optimum, tol)


class Linear(so.Formulation):
    """An l1 term and nothing else, which a linear programme is."""

    def __init__(self, C=1.0, groups="n"):
        self.C, self.groups = C, groups

    def master(self, m):
        w, xi = m.weights(), m.slacks(self.groups)
        m.minimize(cp.norm1(w) + self.C * cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi), joint=self.groups)


@pytest.mark.parametrize("method", ["extragradient", "compact"])
def test_saddle_point_methods_take_groups(method):
    case, weight = small_chain(4, n=4, length=2), np.array([1.0, 2.0, 0.0, 1.0])
    optimum = FullProblem(case, so.M3N(1.0), weight).optimum()
    model = so.StructuredClassifier(
        so.Chain(), so.M3N(1.0, slacks=2), method=method, tol=1e-3, max_iter=4000
    )
    model.fit(case.X, case.Y, sample_weight=weight)
    close(model.result_, optimum, 1e-3)


@pytest.mark.parametrize("method", ["block-ascent", "frank-wolfe", "subgradient"])
def test_methods_that_visit_one_example_refuse_groups(method):
    case = small_chain(4, n=4, length=2)
    model = so.StructuredClassifier(so.Chain(), so.M3N(1.0, slacks=2), method=method)
    with pytest.raises(IncompatibleError, match=r"example|several"):
        model.fit(case.X, case.Y)


def test_auto_learns_groups_by_cutting_planes():
    case = small_chain(4, n=4, length=2)
    model = so.StructuredClassifier(so.Chain(), so.M3N(1.0, slacks=2)).fit(case.X, case.Y)
    assert model.result_.method == "cutting-plane"
    assert model.result_.certificate.certified


def test_a_group_of_one_example_each_is_n_slacks_to_the_last_digit():
    case = small_classes(3, n=5)
    n, five = (
        so.CuttingPlane(case.structure, so.M3N(2.0, slacks=k), data_of(case)).solve()
        for k in ("n", 5)
    )
    assert np.array_equal(n.weights, five.weights)
    assert len(n.history) == len(five.history)


def test_cuts_of_other_groups_are_not_taken_over():
    case = small_classes(3, n=5)
    first = so.CuttingPlane(case.structure, so.M3N(2.0, slacks=2), data_of(case)).solve()
    again = so.CuttingPlane(case.structure, so.M3N(2.0, slacks=2), data_of(case), warm_start=first)
    assert len(again.master.pool)
    for other in (3, "one", "n"):
        with pytest.raises(InvalidInputError):
            so.CuttingPlane(
                case.structure, so.M3N(2.0, slacks=other), data_of(case), warm_start=first
            )


def test_records_name_the_outputs_that_a_group_sums_up():
    case = small_classes(3, n=5)
    run = so.CuttingPlane(case.structure, so.M3N(2.0, slacks=2), data_of(case))
    found = run.step().found
    assert [cut.example for cut in found] == [None, None]
    assert sorted(i for cut in found for i in cut.output) == list(range(5))
    for cut, members in zip(found, ({0, 1}, {2, 3, 4}), strict=True):
        assert set(cut.output) <= members
        losses = [case.structure.loss(case.Y[i], y) for i, y in cut.output.items()]
        assert cut.loss == pytest.approx(sum(losses))


def test_describe_counts_groups():
    case = small_classes(3, n=5)
    text = str(so.describe(so.M3N(2.0, slacks=2), case.structure, case.X, case.Y))
    assert "one a group of examples (2)" in text


def test_slacks_and_cuts_must_have_the_same_groups():
    class Mixed(Own):
        def master(self, m):
            w, xi = m.weights(), m.slacks(2)
            m.minimize(cp.sum_squares(w) + cp.sum(xi))
            m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi), joint=self.groups)

    case = small_classes(3, n=5)
    for groups in ("n", "one", 3):
        with pytest.raises(IncompatibleError, match="size 2"):
            so.CuttingPlane(case.structure, Mixed(groups=groups), data_of(case))


@pytest.mark.parametrize("groups", [0, -1, 1.5, "two", None, np.nan])
def test_groups_that_are_none_are_refused(groups):
    case = small_classes(3, n=5)
    with pytest.raises(InvalidInputError):
        so.CuttingPlane(case.structure, so.M3N(slacks=groups), data_of(case))
    with pytest.raises(InvalidInputError):
        group_of(groups, 5)


def test_auto_is_n_slacks_in_this_process_and_groups_elsewhere():
    declared = {}
    for elsewhere in (False, True):
        auto = (lambda: 12) if elsewhere else None
        master = RestrictedMaster(100, 10, starts=np.array([0, 50, 100]), auto=auto)
        so.M3N().master(master)
        master.compile()
        declared[elsewhere] = master.families[0].group
    assert declared[False] is None
    np.testing.assert_array_equal(declared[True], group_of(12, 100))


def test_auto_follows_how_long_cuts_are(monkeypatch):
    X, y = so.datasets.make_classes(64, n_features=6, seed=0)
    structure = so.Multiclass().fitted(X, y)
    with so.DataSet.of(structure, X, y, engine=so.Disk(n_shards=4)) as data:
        assert data.nonzeros == X.size
        assert 0 < data.cut_entries <= 2 * X.shape[1]  # gold's block and another one
        short = so.CuttingPlane(structure, so.M3N(), data, tol=1e-3)
        assert short.master.asks == [("loss_augmented", False)]  # a slack an example
        monkeypatch.setattr(slack_groups, "_ALL", 0)
        for nonzeros, groups in ((X.size, 4), (10**9, 8)):
            monkeypatch.setattr(type(data), "nonzeros", nonzeros)
            run = so.CuttingPlane(structure, so.M3N(), data, tol=1e-3)
            assert len(run.master.slack_columns) == groups
            values = [each.solve().certificate.primal for each in (short, run)]
            assert values[0] == pytest.approx(values[1], rel=2e-3)


def test_groups_cover_all_examples():
    for n in range(1, 12):
        for k in range(1, 14):
            group = group_of(k, n)
            if group is None:
                assert k >= max(n, 2)
                continue
            assert len(group) == n
            assert np.array_equal(np.unique(group), np.arange(k))
