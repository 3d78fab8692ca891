"""Validation sets: choosing parameters, and stopping early."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import structopt as so
from structopt.errors import InvalidInputError
from structopt.master.form import HingeForm


@pytest.fixture(scope="module")
def words():
    X, Y = so.datasets.make_chain_crf(n_examples=90, n_features=30, n_relevant=5, seed=2)
    return X[:50], Y[:50], X[50:], Y[50:]


def model_of(formulation=None, **options):
    aim = so.M3N() if formulation is None else formulation
    return so.StructuredClassifier(so.Chain(), aim, **({"tol": 1e-2} | options))


# ---------------------------------------------------------------------- selection
def test_the_highest_score_of_the_table_is_chosen(words):
    model = model_of()
    chosen = so.grid_select(
        model,
        *words,
        grid={"formulation__C": [1e-4, 1e-2, 1.0], "structure__boundaries": [True, False]},
    )
    table = chosen.table
    assert table.dtype.names == (
        "C",
        "boundaries",
        "objective",
        "gap",
        "nonzeros",
        "rounds",
        "seconds",
        "score",
    )
    assert sorted(zip(table.C.tolist(), table.boundaries.tolist(), strict=True)) == [
        (C, b) for C in (1e-4, 1e-2, 1.0) for b in (False, True)
    ]
    best = int(np.argmax(table.score))
    assert chosen.best_score == table.score[best]
    assert chosen.best_params == {
        "formulation__C": table.C[best],
        "structure__boundaries": table.boundaries[best],
    }
    assert list(chosen.best_params) == ["formulation__C", "structure__boundaries"]
    assert chosen.best_model.score(*words[2:]) == chosen.best_score
    assert table.C[best] == chosen.best_model.formulation.C
    for row in table:  # every row is what a run of its own would give
        alone = (
            model_of(so.M3N(C=row.C))
            .set_params(structure__boundaries=bool(row.boundaries))
            .fit(*words[:2])
        )
        assert alone.result_.certificate.dual <= row.objective * (1 + 1e-9)
        assert row.objective * (1 - row.gap) <= alone.result_.certificate.primal * (1 + 1e-9)
    assert not hasattr(model, "result_")


def test_a_part_is_held_out_by_seed(words):
    X, Y, _, _ = words
    grid = {"formulation__C": [1e-3, 0.1]}
    first, same, other = (
        so.grid_select(model_of(), X, Y, grid=grid, random_state=s) for s in (1, 1, 2)
    )
    np.testing.assert_array_equal(first.table.score, same.table.score)
    assert not np.array_equal(first.table.score, other.table.score)
    # 40 of 50 examples are learned from: the loss of w = 0 counts their labels
    one = so.grid_select(model_of(), X, Y, grid={"formulation__C": [1e-9]})
    assert one.table.objective[0] == pytest.approx(40 * len(X[0]), rel=1e-3)


def test_refit_learns_from_everything(words):
    grid = {"formulation__C": np.array([1e-3, 0.1])}
    chosen = so.grid_select(model_of(tol=1e-3), *words, grid=grid, refit=True)
    both = ([*words[0], *words[2]], [*words[1], *words[3]])
    alone = model_of(so.M3N(C=chosen.best_params["formulation__C"]), tol=1e-3).fit(*both)
    assert chosen.best_model.result_.certificate.primal == pytest.approx(
        alone.result_.certificate.primal
    )
    rounds = []

    def interrupt(record):
        rounds.append(record)
        raise KeyboardInterrupt

    cut = so.grid_select(model_of(callbacks=[interrupt]), *words, grid=grid, refit=True)
    assert len(rounds) == 1  # nothing was started after it
    assert cut.best_model.result_.status == "interrupted"
    held = so.grid_select(model_of(), *words[:2], grid=grid, refit=True)
    assert len(held.best_model.predict(words[0])) == 50


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_matrices_are_split_and_joined_too(kind):
    X, y = so.datasets.make_classes(60, seed=0)
    model = so.StructuredClassifier(
        so.Multiclass(labels=sorted(set(y.tolist()))), so.M3N(), tol=1e-2
    )
    chosen = so.grid_select(model, kind(X), y, grid={"formulation__C": [0.01, 1.0]}, refit=True)
    assert chosen.best_model.score(kind(X), y) > 0.7
    chosen = so.grid_select(
        model, kind(X), y, kind(X), y, grid={"formulation__C": [0.01]}, refit=True
    )
    twice = so.StructuredClassifier(model.structure, so.M3N(C=0.02), tol=1e-4).fit(
        X, y
    )  # 2 n examples
    halved = chosen.best_model.result_.certificate.primal / 2
    assert halved == pytest.approx(twice.result_.certificate.primal, rel=2e-2)


def test_parameters_that_are_no_numbers(words):
    grid = {"formulation__rescale": ["unit", "margin"], "formulation__C": [1.0, 10.0]}
    chosen = so.grid_select(model_of(so.StructSVM()), *words, grid=grid)
    assert chosen.table.rescale.tolist() == ["unit", "unit", "margin", "margin"]
    along = so.grid_select(
        model_of(so.StructSVM()), *words, grid=grid, along="formulation__rescale"
    )
    assert along.table.rescale.tolist() == ["unit", "margin", "unit", "margin"]
    equals = so.grid_select(model_of(so.M3N(C=0.01)), *words, grid={"random_state": [3, 3]})
    assert equals.table.score[0] == equals.table.score[1]
    assert equals.best_model.result_.seconds == equals.table.seconds[0]  # the first of equals


def test_what_cannot_be_selected(words):
    X, Y, X_val, _ = words
    with pytest.raises(InvalidInputError, match="grid is empty"):
        so.grid_select(model_of(), X, Y, grid={})
    with pytest.raises(InvalidInputError, match="grid is empty"):
        so.grid_select(model_of(), X, Y, grid={"formulation__C": []})
    with pytest.raises(InvalidInputError, match="does not have"):
        so.grid_select(model_of(), X, Y, grid={"formulation__C": [1.0]}, along="tol")
    with pytest.raises(InvalidInputError, match="both"):
        so.grid_select(model_of(), X, Y, X_val, grid={"formulation__C": [1.0]})
    with pytest.raises(InvalidInputError, match="holds out 0"):
        so.grid_select(model_of(), X, Y, grid={"formulation__C": [1.0]}, validation_fraction=0.001)


# ---------------------------------------------------------------------- early stopping
class Spy:
    """Takes down the weights of every round."""

    def start(self, method):
        self.method, self.iterates = method, []

    def __call__(self, record):
        here = self.method.iterate()
        assert here.value == record.value
        self.iterates.append(here.weights.copy())

    def kept(self):
        return None


def test_early_stopping_returns_the_best_weights_so_far(words):
    X, Y, X_val, Y_val = words
    stop, spy = so.EarlyStopping(X_val, Y_val, patience=4), Spy()
    model = model_of(so.M3N(C=10.0), tol=1e-8, callbacks=[spy, stop]).fit(X, Y)
    result = model.result_
    scores = []
    for weights in spy.iterates:
        predicted = model.structure_.predict(X_val, weights)
        scores.append(
            np.mean(
                [
                    a == b
                    for y, p in zip(Y_val, predicted, strict=True)
                    for a, b in zip(y, p, strict=True)
                ]
            )
        )
    np.testing.assert_allclose(stop.scores, scores)
    best = int(np.argmax(scores))
    assert result.status == "early_stopping"
    assert len(scores) == len(result.history) == best + 1 + 4 == stop.best_round + 4
    np.testing.assert_array_equal(result.weights, spy.iterates[best])
    assert model.score(X_val, Y_val) == pytest.approx(max(scores))
    # the certificate is that of these weights
    data = so.DataSet.of(model.structure_, X, Y)
    form = HingeForm.of(
        so.CuttingPlane(model.structure_, so.M3N(C=10.0), data).master, data, "test"
    )
    assert result.certificate.primal == pytest.approx(form.value(result.weights, data))
    optimum = model_of(so.M3N(C=10.0), tol=1e-6).fit(X, Y).result_.certificate
    assert result.certificate.dual <= optimum.primal
    assert optimum.dual <= result.certificate.primal
    assert not result.certificate.certified
    assert f"round {best + 1}" in result.certificate.note


def test_a_run_that_converges_first_returns_the_optimum(words):
    X, Y, X_val, Y_val = words
    stop = so.EarlyStopping(X_val, Y_val, patience=1000)
    # block ascent looks at every round for a watcher, and may end earlier
    model = model_of(so.M3N(C=0.1), callbacks=[stop], backend="ascent").fit(X, Y)
    alone = model_of(so.M3N(C=0.1), backend="ascent").fit(X, Y)
    assert model.result_.status == "optimal"
    np.testing.assert_array_equal(model.result_.weights, alone.result_.weights)
    assert model.result_.certificate.note == ""
    first = list(stop.scores)
    model.fit(X, Y)  # a second run begins afresh
    assert stop.scores == first


def test_another_callback_that_stops_keeps_the_best_objective(words):
    X, Y, X_val, Y_val = words
    stop = so.EarlyStopping(X_val, Y_val, patience=1000)
    model = model_of(so.M3N(C=1.0), tol=1e-8, callbacks=[stop, lambda r: r.round == 6]).fit(X, Y)
    assert model.result_.status == "callback"
    assert model.result_.certificate.primal == min(r.value for r in model.result_.history)


@pytest.mark.parametrize("method", ["perceptron", "frank-wolfe"])
def test_other_methods_can_be_stopped(words, method):
    X, Y, X_val, Y_val = words
    stop = so.EarlyStopping(X_val, Y_val, patience=2)
    model = model_of(so.M3N(C=10.0), tol=1e-9, method=method, callbacks=[stop]).fit(X, Y)
    assert model.result_.status == "early_stopping"
    assert model.score(X_val, Y_val) == stop.best_score == max(stop.scores)


def test_early_stopping_in_a_selection(words):
    _, _, X_val, Y_val = words
    stop = so.EarlyStopping(X_val, Y_val, patience=3)
    model = model_of(tol=1e-6, callbacks=[stop])
    chosen = so.grid_select(model, *words, grid={"formulation__C": [0.1, 10.0]})
    assert chosen.best_score >= stop.best_score


def test_small_improvements_do_not_count(words):
    X, Y, X_val, Y_val = words
    stop = so.EarlyStopping(X_val, Y_val, patience=2, min_improvement=1.0)
    model_of(so.M3N(C=10.0), tol=1e-9, callbacks=[stop]).fit(X, Y)
    assert (stop.best_round, len(stop.scores)) == (1, 3)


def test_early_stopping_says_how_it_is_used(words):
    _, _, X_val, Y_val = words
    with pytest.raises(InvalidInputError, match="patience"):
        so.EarlyStopping(X_val, Y_val, patience=0)
    record = model_of().fit(X_val, Y_val).result_.history[0]
    with pytest.raises(InvalidInputError, match="before the run began"):
        so.EarlyStopping(X_val, Y_val)(record)


@pytest.mark.parametrize("method", ["perceptron", "subgradient", "cutting-plane"])
def test_a_run_that_is_only_looked_at_returns_its_best_round(method):
    """The regime of the saddle-point paper: both learners run on, validation data choose."""
    X, Y = so.datasets.make_chain_crf(n_examples=60, seed=0)
    look = so.EarlyStopping(X[40:], Y[40:], patience=None)
    model = so.StructuredClassifier(
        so.Chain(), so.M3N(C=10.0), method=method, max_iter=12, tol=1e-9, callbacks=[look]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", so.ConvergenceWarning)
        result = model.fit(X[:40], Y[:40]).result_
    assert result.status in ("max_iter", "separated")
    assert len(look.scores) == len(result.history)
    assert model.score(X[40:], Y[40:]) == look.best_score == max(look.scores)
    assert f"round {look.best_round}" in result.certificate.note
