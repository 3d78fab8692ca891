"""Along C: the same optima as separate runs, for fewer rounds."""

import numpy as np
import pytest

import structopt as so
from structopt.errors import InvalidInputError
from structopt.formulations.scaled_m3n import ScaledM3N
from structopt.learn import training
from structopt.learn.path import follow


@pytest.fixture(scope="module")
def words():
    X, Y = so.datasets.load_digit_words(90, seed=0)
    return X[:60], Y[:60], X[60:], Y[60:]


def model_of(formulation=None, structure=None, **options):
    aim = so.M3N() if formulation is None else formulation
    return so.StructuredClassifier(so.Chain() if structure is None else structure, aim, **options)


VALUES = np.logspace(-3, 0, 7)


SHARES = {"cutting-plane": 0.6, "block-ascent": 0.9}


@pytest.mark.parametrize("values", [VALUES, VALUES[::-1]], ids=["up", "down"])
@pytest.mark.parametrize("method", SHARES)
def test_path_finds_the_optima_of_separate_runs_in_fewer_rounds(words, values, method):
    X, Y, _, _ = words
    found = so.fit_path(model_of(method=method), X, Y, values)
    assert found.values == tuple(values)
    alone = [model_of(so.M3N(C=C), method=method).fit(X, Y).result_ for C in values]
    for joint, single in zip(found.results, alone, strict=True):
        assert joint.certificate.certified
        # each optimum lies between the bounds of either run
        assert joint.certificate.dual <= single.certificate.primal * (1 + 1e-9)
        assert single.certificate.dual <= joint.certificate.primal * (1 + 1e-9)
    rounds = sum(len(r.history) for r in found.results)
    assert rounds < SHARES[method] * sum(len(r.history) for r in alone)


@pytest.mark.parametrize(
    "formulation", [so.StructSVM(), so.LPStruct(nonnegative=False), so.M3N(slacks="one")],
    ids=["svm", "lp", "one slack"],
)  # fmt: skip
def test_other_formulations(formulation):
    X, Y = so.datasets.make_chain_crf(n_examples=30, n_features=10, n_relevant=4, seed=1)
    found = so.fit_path(model_of(formulation, tol=1e-3), X, Y, [0.1, 0.3, 1.0])
    for value, result in zip(found.values, found.results, strict=True):
        alone = model_of(formulation, tol=1e-3).set_params(formulation__C=value).fit(X, Y).result_
        assert result.certificate.dual <= alone.certificate.primal * (1 + 1e-9)
        assert alone.certificate.dual <= result.certificate.primal * (1 + 1e-9)


@pytest.mark.parametrize("values", [[1.0, 0.6, 0.3], [0.3, 0.6, 1.0]], ids=["tighter", "looser"])
def test_along_the_bound_of_relative_margins(values):
    X, Y = so.datasets.make_chain_crf(n_examples=25, n_features=8, n_relevant=4, seed=3)
    aim = so.StructRMM(C=20.0)
    found = so.fit_path(model_of(aim), X, Y, np.array(values), parameter="formulation__B")
    for B, result in zip(values, found.results, strict=True):
        alone = model_of(so.StructRMM(C=20.0, B=B)).fit(X, Y).result_
        assert result.certificate.certified
        assert result.certificate.dual <= alone.certificate.primal * (1 + 1e-9)
        assert alone.certificate.dual <= result.certificate.primal * (1 + 1e-9)


def test_along_the_radius_of_a_ball():
    X, Y = so.datasets.make_chain_crf(n_examples=20, n_features=8, n_relevant=4, seed=3)
    found = so.fit_path(
        model_of(so.L1BallM3N()), X, Y, [0.5, 1.0, 2.0], parameter="formulation__radius"
    )
    for radius, result in zip(found.values, found.results, strict=True):
        assert result.certificate.certified
        assert np.abs(result.weights).sum() <= radius * (1 + 1e-6)
        alone = model_of(so.L1BallM3N(radius=radius)).fit(X, Y).result_
        assert result.certificate.primal == pytest.approx(alone.certificate.primal, rel=2e-3)


def test_small_linear_masters_hand_over_soon_and_go_on_exactly(words):
    X, Y, _, _ = words
    found = so.fit_path(model_of(so.L1M3N()), X[:40], Y[:40], [0.5, 0.7, 1.0])
    first, *rest = found.results
    assert all(result.certificate.certified for result in found.results)
    assert [(r.backend, r.finisher) for r in rest] == [("proximal", "highs"), ("highs", None)]
    assert "(proximal, then highs)" in str(rest[0])
    soon, exact = (len(result.history) / len(first.history) for result in rest)
    assert soon < 0.9
    assert exact < 0.3


def optimum(run):
    result = run.solve()
    assert result.certificate.certified
    return result.certificate.primal


def test_a_run_goes_on_with_its_live_backend(words):
    X, Y = words[0][:40], words[1][:40]
    structure = so.Chain().fitted(X, Y)
    data = so.DataSet.of(structure, X, Y)

    def run(formulation, **options):
        return so.CuttingPlane(structure, formulation, data, tol=1e-5, **options)

    cases = [
        ("ascent", so.M3N(C=0.1), so.M3N(C=0.2), True),
        ("ascent", so.M3N(C=0.2), so.M3N(C=0.1), True),
        ("ascent", so.StructSVM(C=1.0), so.StructSVM(C=2.0), True),
        ("highs", so.L1M3N(C=0.5), so.L1M3N(C=1.0), True),
        ("highs", so.L1M3N(C=1.0), so.L1M3N(C=0.5), True),
        ("highs", so.LPStruct(C=1.0), so.LPStruct(C=2.0), True),
        ("highs", so.LPStruct(C=1.0), so.LPStruct(C=1.0, nonnegative=False), False),
        ("clarabel", so.M3N(C=0.1), so.M3N(C=0.2), False),
    ]
    for backend, first, second, live in cases:
        before = run(first, backend=backend)
        optimum(before)
        kept = before.backend
        after = run(second, backend=backend, warm_start=before.state)
        assert (after.backend is kept) == live
        assert optimum(after) == pytest.approx(optimum(run(second, backend=backend)), rel=3e-5)
        assert after.backend.name == backend


def test_a_live_ascent_follows_a_curvature_of_another_shape():
    X, Y = so.datasets.make_chain_crf(n_examples=20, n_features=6, n_relevant=3, seed=5)
    structure = so.Chain().fitted(X, Y)
    data = so.DataSet.of(structure, X, Y)
    scales = np.random.default_rng(0).uniform(0.2, 2.0, (2, structure.n_features_))
    first, second = (ScaledM3N(2.0, each) for each in scales)
    before = so.CuttingPlane(structure, first, data, backend="ascent")
    before.solve()
    after = so.CuttingPlane(
        structure, second, data, backend="ascent", warm_start=before.state, tol=1e-6
    )
    assert after.backend is before.backend
    fresh = so.CuttingPlane(structure, second, data, tol=1e-6)
    assert optimum(after) == pytest.approx(optimum(fresh), rel=3e-6)


def test_a_run_without_cuts_and_one_of_other_data():
    X, Y = so.datasets.make_classes(20, seed=0)
    structure = so.Multiclass().fitted(X, Y)
    data = so.DataSet.of(structure, X, Y)
    idle = so.CuttingPlane(structure, so.M3N(), data)
    run = so.CuttingPlane(structure, so.M3N(C=2.0), data, warm_start=idle.state)
    assert optimum(run) == pytest.approx(
        optimum(so.CuttingPlane(structure, so.M3N(C=2.0), data)), rel=2e-3
    )
    another = so.CuttingPlane(structure, so.M3N(C=2.0), data, backend="osqp", warm_start=run.state)
    assert another.backend.name == "osqp"
    other = so.DataSet.of(structure, X[:10], Y[:10])
    with pytest.raises(InvalidInputError, match="other data"):
        so.CuttingPlane(structure, so.M3N(), other, warm_start=another.state)


def test_table_and_best(words):
    X, Y, X_val, Y_val = words
    found = so.fit_path(model_of(tol=1e-2), X, Y, [1e-4, 1e-2, 0.1])
    plain, scored = found.table(), found.table(X_val, Y_val)
    assert plain.dtype.names == ("C", "objective", "gap", "nonzeros", "rounds", "seconds")
    np.testing.assert_array_equal(plain.C, [1e-4, 1e-2, 0.1])
    np.testing.assert_array_equal(plain.objective, [r.certificate.primal for r in found.results])
    np.testing.assert_array_equal(plain.gap, [r.certificate.relative_gap for r in found.results])
    np.testing.assert_array_equal(
        plain.nonzeros, [np.count_nonzero(r.weights) for r in found.results]
    )
    np.testing.assert_array_equal(plain.seconds, [r.seconds for r in found.results])
    np.testing.assert_array_equal(scored.score, [m.score(X_val, Y_val) for m in found.models])
    assert found.best(X_val, Y_val) is found.models[int(scored.score.argmax())]
    assert len(found) == 3


def test_data_are_encoded_once_and_the_model_is_left_alone(words, monkeypatch):
    X, Y, _, _ = words
    calls = []
    encode = so.Chain.encode
    monkeypatch.setattr(so.Chain, "encode", lambda *a, **k: calls.append(1) or encode(*a, **k))
    seen = []
    model = model_of(tol=1e-2, callbacks=[seen.append])
    found = so.fit_path(model, X, Y, [0.01, 0.02, 0.04])
    assert len(calls) == 1
    assert len(seen) == sum(len(r.history) for r in found.results)
    assert not hasattr(model, "result_")
    assert model.formulation.C == 1.0
    assert [m.formulation.C for m in found.models] == [0.01, 0.02, 0.04]


def test_any_parameter(words):
    X, Y, _, _ = words
    found = so.fit_path(
        model_of(so.M3N(C=0.01), tol=1e-2), X, Y, [False, True], parameter="structure__boundaries"
    )
    assert [m.structure_.n_features_ for m in found.models] == [740, 760]
    assert found.table().dtype.names[0] == "boundaries"
    rescaled = so.fit_path(
        model_of(so.StructSVM(), tol=1e-2),
        X[:20],
        Y[:20],
        ["unit", "margin"],
        parameter="formulation__rescale",
    )
    assert rescaled.table().rescale.tolist() == ["unit", "margin"]
    assert all(r.certificate.certified for r in rescaled.results)
    tolerances = so.fit_path(model_of(so.M3N(C=0.01)), X, Y, [0.1, 0.01], parameter="tol")
    assert tolerances.results[1].certificate.relative_gap <= 0.01


def test_along_numbers_that_change_what_a_cut_is(words):
    """One slack, two groups, three groups: every value is certified, none takes others' cuts."""
    X, Y, _, _ = words
    model, sizes = model_of(so.M3N(0.01), tol=1e-2), [1, 2, 3]
    found = so.fit_path(model, X, Y, sizes, parameter="formulation__slacks")
    bounds = [result.certificate for result in found.results]
    assert all(bound.certified for bound in bounds)
    assert max(bound.dual for bound in bounds) <= min(bound.primal for bound in bounds)


def test_methods_without_a_warm_start_start_afresh(words):
    X, Y, _, _ = words
    found = so.fit_path(model_of(method="perceptron", max_iter=2), X, Y, [0.1, 1.0])
    np.testing.assert_array_equal(found.results[0].weights, found.results[1].weights)


def test_follow_does_one_value_at_a_time(words):
    X, Y, _, _ = words
    rounds = []
    steps = follow(model_of(tol=1e-2, callbacks=[rounds.append]), X, Y, [0.01, 0.1])
    first = next(steps)
    assert first.formulation.C == 0.01
    assert len(rounds) == len(first.result_.history)


def test_ctrl_c_keeps_what_there_is(words):
    X, Y, _, _ = words
    rounds = []

    def interrupt(record):
        rounds.append(record.round)
        if rounds.count(1) == 2 and record.round == 2:
            raise KeyboardInterrupt

    found = so.fit_path(model_of(callbacks=[interrupt]), X, Y, [0.01, 0.1, 1.0])
    assert found.values == (0.01, 0.1)
    assert [r.status for r in found.results] == ["optimal", "interrupted"]


def test_progress_names_the_value(words, monkeypatch):
    X, Y, _, _ = words
    shown = []
    progress = training.Progress
    monkeypatch.setattr(training, "Progress", lambda *a: shown.append(a[0]) or progress(*a))
    so.fit_path(model_of(tol=1e-2), X[:10], Y[:10], [0.01])
    assert shown == []
    so.fit_path(model_of(tol=1e-2, verbose=True), X[:10], Y[:10], [0.01, 0.02])
    assert shown == ["C = 0.01 (1 of 2)", "C = 0.02 (2 of 2)"]


def test_nothing_to_follow(words):
    X, Y, _, _ = words
    with pytest.raises(InvalidInputError, match="no value of 'formulation__C'"):
        so.fit_path(model_of(), X, Y, [])
    with pytest.raises(InvalidInputError, match="has no parameter 'formulation__D'"):
        so.fit_path(model_of(), X, Y, [1.0], parameter="formulation__D")


def test_products_of_planes_are_not_kept_from_another_c():
    X, Y = so.datasets.make_chain_crf(n_examples=8, length=4, n_features=6, n_relevant=3, seed=0)
    structure = so.Chain().fitted(X, Y)
    data = so.DataSet.of(structure, X, Y)
    first = so.CuttingPlane(structure, so.M3N(0.2), data, backend="ascent", tol=1e-6)
    first.solve()
    assert len(first.backend._joint.products._planes)
    second = so.CuttingPlane(
        structure, so.M3N(2.0), data, backend="ascent", warm_start=first.state, tol=1e-6
    )
    assert second.backend is first.backend
    assert not len(second.backend._joint.products._planes)
