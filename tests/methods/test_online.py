"""Learning one example at a time: perceptron, MIRA, and the single shards they visit."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from enumeration import constraints, small_chain, small_classes
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import structopt as so
from structopt.errors import IncompatibleError, InvalidInputError, OracleError
from structopt.methods import registry
from structopt.methods.online.base import Deltas, Online
from structopt.methods.online.mira import MIRA, step
from structopt.methods.online.perceptron import Perceptron
from structopt.structures.base.shard import Shard

SEEDS = st.integers(0, 10**6)


class Sign(so.Structure):
    """y is -1 or +1, phi(x, y) = y * x / 2: what a user would write."""

    def joint_features(self, x, y):
        return 0.5 * y * np.asarray(x)

    def loss(self, y, other):
        return float(y != other)

    def argmax(self, x, weights, *, gold=None):
        def value(y):
            extra = 0.0 if gold is None else self.loss(gold, y)
            return self.joint_features(x, y) @ weights + extra

        return max((-1, 1), key=value)


def points(n=30, seed=0, *, margin=0.3):
    """Points in the plane on either side of a line, and the side."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    side = np.where(X @ [1.0, -2.0] > 0, 1, -1)
    return list(X + margin * side[:, None] * np.array([1.0, -2.0])), side.tolist()


def run_of(
    method, structure, X, Y, *, formulation=None, sample_weight=None, n_jobs=None, **options
):
    data = so.DataSet.of(structure, X, Y, sample_weight=sample_weight, n_jobs=n_jobs)
    return method(structure, formulation or so.M3N(), data, **options)


def delta(structure, x, gold, y):
    row = structure.joint_features(x, gold) - structure.joint_features(x, y)
    return row.toarray().ravel() if sp.issparse(row) else np.asarray(row)


# ---------------------------------------------------------------------- the mistake bound
def labelled_chain(rng):
    """Random words, labelled by random weights: separable by construction."""
    X, _, structure, outputs = small_chain(rng, n=6, length=3, n_labels=2, n_inputs=3)
    truth = rng.normal(size=structure.n_features_)
    return X, structure.predict(X, truth), structure, outputs


def far_classes(rng):
    seed = int(rng.integers(10**6))
    X, Y = so.datasets.make_classes(12, 4, 3, separation=8.0, seed=seed)
    structure = so.Multiclass(labels=range(3)).fitted(X, Y)
    return X, Y.tolist(), structure, [list(range(3))] * 12


def hard_margin(problem):
    """Return R^2 / gamma^2; gamma is the margin of the solver's v, so a loose v is no lie."""
    deltas = np.array([d for _, d, _ in constraints(*problem)])
    v = cp.Variable(deltas.shape[1])
    full = cp.Problem(cp.Minimize(cp.sum_squares(v)), [deltas @ v >= 1])
    full.solve(solver=cp.CLARABEL)
    if full.status not in ("optimal", "optimal_inaccurate"):
        return np.inf
    gamma = (deltas @ v.value).min() / np.linalg.norm(v.value)
    return (np.linalg.norm(deltas, axis=1).max() / gamma) ** 2 if gamma > 0 else np.inf


@pytest.mark.parametrize("kind", [labelled_chain, far_classes])
@settings(max_examples=60)
@given(seed=SEEDS)
def test_mistakes_stay_within_novikoff_s_bound(kind, seed):
    problem = kind(np.random.default_rng(seed))
    bound = hard_margin(problem)
    assume(bound < 3000)
    X, Y, structure, _ = problem
    run = run_of(Perceptron, structure, X, Y, average=False, max_iter=5000, random_state=seed)
    result = run.solve()
    assert result.status == "separated"
    assert sum(r.violation for r in result.history) <= bound
    assert result.history[-1].violation == result.history[-1].iterations == 0
    assert [list(np.atleast_1d(y)) for y in structure.predict(X, result.weights)] == [
        list(np.atleast_1d(y)) for y in Y
    ]


def test_mira_separates_with_every_margin_met():
    X, Y = so.datasets.make_classes(60, separation=9.0, seed=1)
    structure = so.Multiclass().fitted(X, Y)
    run = run_of(MIRA, structure, X, Y, average=False, max_iter=500, C=100.0)
    result = run.solve()
    assert result.status == "separated"
    (answers,) = run.data.ask(so.loss_augmented, result.weights)
    assert np.all(answers.loss - answers.score <= 1e-8)


def test_inseparable_data_runs_out_of_epochs():
    X, Y = [np.array([1.0]), np.array([1.0])], [1, -1]
    run = run_of(Perceptron, Sign().fitted(X, Y), X, Y, max_iter=7)
    result = run.solve()
    assert (result.status, len(result.history)) == ("max_iter", 7)
    assert len(run_of(Perceptron, Sign().fitted(X, Y), X, Y, max_iter=3).solve().history) == 3


# ---------------------------------------------------------------------- the perceptron by hand
def by_hand(structure, X, Y, *, epochs, seed=0, weights=None, rate=1.0):
    """Return last and averaged weights of a perceptron that stores every visit's weights."""
    scale = np.ones(len(Y)) if weights is None else np.asarray(weights)
    rng, w, path = np.random.default_rng(seed), np.zeros(structure.n_features_), []
    for _ in range(epochs):
        for i in rng.permutation(np.flatnonzero(scale > 0)):
            y = structure.argmax(X[i], w)
            if structure.loss(Y[i], y) > 0:
                w = w + rate * scale[i] * delta(structure, X[i], Y[i], y)
            path.append(w)
    return w, np.mean(path, axis=0)


def problems():
    rng = np.random.default_rng(5)
    words, tags, *_ = small_chain(rng, n=9, length=4, n_labels=3, n_inputs=5)
    sparse = [sp.csr_array(np.where(np.abs(x) > 0.8, x, 0.0)) for x in words]
    points_, classes, *_ = small_classes(rng, n=15, n_labels=4, n_inputs=3)
    bits = [(a, b) for a in (0, 1) for b in (0, 1)]
    pairs = so.Enumerated(bits, lambda x, y: np.asarray(x) * y)
    chosen = [bits[i] for i in rng.integers(4, size=9)]
    mix = rng.normal(size=(9, 2))
    yield "chain", so.Chain(), words, tags
    yield "boundaries", so.Chain(boundaries=True, loss=so.losses.Hamming("balanced")), words, tags
    yield "sparse chain", so.Chain(boundaries=True), sparse, tags
    yield "reference chain", so.Chain(decoder="networkx"), words, tags
    yield "classes", so.Multiclass(), points_, classes
    yield (
        "sparse classes",
        so.Multiclass(),
        sp.csr_array(np.where(points_ > 0, points_, 0)),
        classes,
    )
    yield "enumerated", pairs, list(mix), chosen
    yield "user's", Sign(), *points(9, margin=0.0)


PROBLEMS = {name: rest for name, *rest in problems()}


@pytest.fixture(params=PROBLEMS)
def problem(request):
    structure, X, Y = PROBLEMS[request.param]
    return structure.fitted(X, Y), X, Y


def rows_of(X):
    return [X[[i]] for i in range(X.shape[0])] if sp.issparse(X) else list(X)


def test_averaged_weights_are_the_average_of_all_visits(problem):
    structure, X, Y = problem
    last, average = by_hand(structure, rows_of(X), Y, epochs=3, seed=4, rate=0.5)
    options = {"max_iter": 3, "random_state": 4, "learning_rate": 0.5}
    run = run_of(Perceptron, structure, X, Y, **options)
    result = run.solve()
    if result.status == "max_iter":  # else the average is over fewer epochs
        np.testing.assert_allclose(result.weights, average, atol=1e-12)
    np.testing.assert_allclose(run.current, last, atol=1e-12)
    plain = run_of(Perceptron, structure, X, Y, average=False, **options).solve()
    np.testing.assert_allclose(plain.weights, last, atol=1e-12)


def test_sample_weights_scale_the_update():
    structure, X, Y = PROBLEMS["chain"]
    structure = structure.fitted(X, Y)
    weight = np.array([1.0, 0.0, 2.0, 0.5, 1.0, 0.0, 3.0, 1.0, 0.25])
    run = run_of(Perceptron, structure, X, Y, sample_weight=weight, max_iter=2)
    result = run.solve()
    last, average = by_hand(structure, X, Y, epochs=2, weights=weight)
    np.testing.assert_allclose(run.current, last, atol=1e-12)
    np.testing.assert_allclose(result.weights, average, atol=1e-12)
    there = np.flatnonzero(weight)
    short = run_of(
        Perceptron, structure, [X[i] for i in there], [Y[i] for i in there],
        sample_weight=weight[there], max_iter=1,
    )  # fmt: skip
    assert short.step().violation <= len(there)


class OneByOne(Perceptron):
    """Asks every structure example by example."""

    def _declare(self):
        self._plain = self._walk = self._found = None
        return Online._declare(self)

    def _begin(self):
        super()._begin()
        self._vectors = None


@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("formulation", [so.M3N(C=0.3), so.L1M3N()])
@pytest.mark.parametrize("name", ["boundaries", "sparse chain", "classes", "sparse classes"])
def test_a_compiled_epoch_is_the_visits_one_by_one(name, formulation, average):
    structure, X, Y = PROBLEMS[name]
    structure = structure.fitted(X, Y)
    options = {"formulation": formulation, "average": average, "max_iter": 4}
    compiled, plain = (run_of(m, structure, X, Y, **options) for m in (Perceptron, OneByOne))
    assert compiled._walk is not None
    for ours, theirs in zip(compiled, plain, strict=True):
        assert (ours.violation, ours.nonzeros) == (theirs.violation, theirs.nonzeros)
        assert ours.value == pytest.approx(theirs.value, rel=1e-12)
        np.testing.assert_allclose(ours.weights, theirs.weights, atol=1e-12)
    np.testing.assert_allclose(compiled.current, plain.current, atol=1e-12)
    again, other = (run_of(m, structure, X, Y, **options) for m in (Perceptron, OneByOne))
    again.go_on(plain.passed())
    other.go_on(compiled.passed())
    again.step(), other.step()
    np.testing.assert_allclose(again.model(), other.model(), atol=1e-12)


def test_forbidden_steps_stay_out_of_a_compiled_epoch():
    tags = ["B-x", "I-x", "O"]
    X = [np.random.default_rng(t).normal(size=(4, 3)) for t in range(6)]
    Y = [[tags[0], tags[1 + t % 2], tags[2], tags[2 * (t % 2)]] for t in range(6)]
    structure = so.Chain(labels=tags, transitions="bio", boundaries=True).fitted(X, Y)
    runs = [run_of(m, structure, X, Y, max_iter=3) for m in (Perceptron, OneByOne)]
    for run in runs:
        run.solve()
    assert np.any(runs[0].current)
    np.testing.assert_allclose(runs[0].current, runs[1].current, atol=1e-12)


@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("loss", [None, so.losses.Confusion([[0.0, 2.0], [0.5, 0.0]])])
@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_compiled_epoch_of_label_vectors_is_the_visits_one_by_one(tied, loss, average, n_jobs):
    data = so.datasets.make_constrained_labels(40, n_inputs=4, kappa=0.5, seed=1)
    structure = so.LabelVector(data.legal if tied else None, loss=loss).fitted(data.X, data.Y)
    weight = np.random.default_rng(0).integers(0, 3, size=40).astype(float)
    options = {"sample_weight": weight, "average": average, "max_iter": 4, "n_jobs": n_jobs}
    compiled, plain = (
        run_of(m, structure, data.X, data.Y, **options) for m in (Perceptron, OneByOne)
    )
    assert compiled._vectors is not None
    assert plain._vectors is None
    for ours, theirs in zip(compiled, plain, strict=True):
        assert (ours.violation, ours.nonzeros) == (theirs.violation, theirs.nonzeros)
        np.testing.assert_allclose(ours.weights, theirs.weights, atol=1e-12)
    assert np.any(compiled.current)
    assert compiled.visits == plain.visits
    np.testing.assert_array_equal(compiled.current, plain.current)


def test_label_vectors_of_a_beam_are_asked_one_by_one():
    data = so.datasets.make_constrained_labels(10, n_inputs=3, kappa=0.5, seed=1)
    structure = so.BeamSearch(data.legal, width=1).fitted(data.X, data.Y)
    assert run_of(Perceptron, structure, data.X, data.Y)._vectors is None


# ---------------------------------------------------------------------- MIRA by hand
@pytest.mark.parametrize(
    ("C", "weight", "tau"), [(1.0, 1.0, 0.02), (0.01, 1.0, 0.01), (0.01, 0.5, 0.005)]
)
@pytest.mark.parametrize("augmented", [True, False])
def test_one_best_step_is_the_closed_form(C, weight, tau, augmented):
    # x = (3, 4), gold b, w = 0: the answer is a (the first label), loss 1, w . delta = 0,
    # delta = (-x, x), |delta|^2 = 50, so tau = min(C s, 1 / 50)
    X, Y = np.array([[3.0, 4.0]]), ["b"]
    structure = so.Multiclass(labels="ab").fitted(X, Y)
    options = {"sample_weight": [weight], "average": False, "augmented": augmented}
    run = run_of(MIRA, structure, X, Y, C=C, **options)
    run.step()
    np.testing.assert_allclose(run.current, tau * np.array([-3.0, -4.0, 3.0, 4.0]), rtol=1e-14)


def nearest(w, D, loss, C):
    """Solve a step's quadratic programme; return the objective and the new weights."""
    v, slack = cp.Variable(len(w)), cp.Variable(len(loss), nonneg=True)
    objective = cp.sum_squares(v - w) / 2 + C * cp.sum(slack)
    full = cp.Problem(cp.Minimize(objective), [D @ v >= loss - slack])
    full.solve(solver=cp.CLARABEL)
    return full.value, v.value


@settings(max_examples=100)
@given(
    seed=SEEDS,
    k=st.integers(1, 6),
    size=st.integers(1, 8),
    C=st.sampled_from([0.01, 0.3, 1.0, 1000.0]),
)
def test_a_step_solves_its_quadratic_programme(seed, k, size, C):
    rng = np.random.default_rng(seed)
    D, w, loss = rng.normal(size=(k, size)), rng.normal(size=size), rng.uniform(0.5, 3.0, size=k)
    tau = step(D @ D.T, loss - D @ w, C)
    assert np.all((tau >= 0) & (tau <= C))
    value, _ = nearest(w, D, loss, C)
    v = w + tau @ D
    mine = 0.5 * (v - w) @ (v - w) + C * np.maximum(loss - D @ v, 0).sum()
    assert mine == pytest.approx(value, rel=1e-6, abs=1e-6)


@settings(max_examples=50)
@given(seed=SEEDS, k=st.integers(2, 5), augmented=st.booleans(), C=st.sampled_from([0.05, 10.0]))
def test_k_best_visit_solves_the_programme_of_its_outputs(seed, k, augmented, C):
    X, Y, structure, _ = small_chain(np.random.default_rng(seed), n=1, n_labels=2, n_inputs=3)
    run = run_of(MIRA, structure, X, Y, k=k, C=C, augmented=augmented, average=False)
    run.step()
    w = run.current.copy()
    best = structure.k_best(X[0], w, k - augmented)
    if augmented:
        worst = structure.argmax(X[0], w, gold=Y[0])
        best = [worst, *(y for y in best if list(y) != list(worst))]
    wrong = [y for y in best if structure.loss(Y[0], y) > 0]
    record = run.step()
    if not wrong:
        assert record.violation == 0
        return
    D = np.array([delta(structure, X[0], Y[0], y) for y in wrong])
    loss = np.array([structure.loss(Y[0], y) for y in wrong])
    _, v = nearest(w, D, loss, C)
    np.testing.assert_allclose(run.current, v, atol=2e-4)


def test_a_direction_that_comes_twice_is_used_once_and_zero_never():
    G = np.array([[4.0, 4.0, 0.0], [4.0, 4.0, 0.0], [0.0, 0.0, 0.0]])
    np.testing.assert_array_equal(step(G, np.array([9.0, 9.0, 1.0]), 1.0), [1.0, 0.0, 0.0])
    np.testing.assert_array_equal(step(np.zeros((1, 1)), np.ones(1), 1.0), [0.0])


# ---------------------------------------------------------------------- on data
def test_accuracy_is_near_that_of_m3n_on_digit_words():
    X, Y = so.datasets.load_digit_words(150, seed=0)
    X_test, Y_test = so.datasets.load_digit_words(150, split="test", seed=0)
    model = so.StructuredClassifier(so.Chain(), so.M3N(C=0.1), tol=1e-2).fit(X, Y)
    wanted = model.score(X_test, Y_test)
    gold = np.concatenate(Y_test)
    for method, options in [(Perceptron, {}), (MIRA, {}), (MIRA, {"k": 3})]:
        result = run_of(method, model.structure_, X, Y, max_iter=10, **options).solve()
        predicted = np.concatenate(model.structure_.predict(X_test, result.weights))
        assert np.mean(predicted == gold) >= wanted - 0.03, method


# ---------------------------------------------------------------------- what a run says
@pytest.fixture(scope="module")
def words():
    X, Y = so.datasets.make_chain_crf(n_examples=25, n_features=12, n_relevant=6, seed=3)
    return so.Chain().fitted(X, Y), X, Y


@pytest.mark.parametrize("method", [Perceptron, MIRA])
def test_the_seed_decides(words, method):
    runs = [run_of(method, *words, max_iter=3, random_state=s).solve() for s in (0, 0, None, 1)]
    same, again, default, other = (r.weights for r in runs)
    np.testing.assert_array_equal(same, again)
    np.testing.assert_array_equal(same, default)
    assert not np.array_equal(same, other)


@pytest.mark.parametrize(
    ("method", "said"), [(Perceptron, "the perceptron minimises no objective"), (MIRA, "MIRA")]
)
def test_there_is_no_certificate_and_primal_is_the_objective_of_the_model(
    words, method, said, tmp_path
):
    structure, X, Y = words
    result = run_of(method, *words, formulation=so.M3N(0.5), max_iter=6).solve()
    hinge = 0.0
    for x, y in zip(X, Y, strict=True):
        other = structure.argmax(x, result.weights, gold=y)
        hinge += structure.loss(y, other) - delta(structure, x, y, other) @ result.weights
    c = result.certificate
    assert c.primal == pytest.approx(result.weights @ result.weights + hinge)
    assert c.primal == result.history[-1].value
    assert (c.dual, c.exact, c.certified) == (-np.inf, False, False)
    assert said in c.note
    assert "no certificate exists" in str(result)
    values = [r.value for r in result.history]
    assert [r.primal for r in result.history] == np.minimum.accumulate(values).tolist()
    for r in result.history:
        assert (r.cuts, r.cuts_added, r.cuts_dropped, r.lift_seconds) == (0, 0, 0, 0.0)
        assert 0 <= r.violation == r.iterations <= len(Y)
    spent = sum(r.oracle_seconds + r.solve_seconds for r in result.history)
    assert 0 < spent <= result.seconds
    assert (result.method, result.backend, result.cuts) == (method.name, None, None)
    assert f"({method.name})" in str(result)
    result.report(tmp_path / "run.html")


def test_objectives_that_do_not_apply_are_infinite(words):
    joint = run_of(Perceptron, *words, formulation=so.M3N(slacks="one"), max_iter=2).solve()
    assert joint.certificate.primal == np.inf
    assert np.any(joint.weights)
    negative = run_of(Perceptron, *words, formulation=so.LPStruct(), max_iter=2).solve()
    assert negative.certificate.primal == np.inf
    assert negative.certificate.residual > 0


@pytest.mark.parametrize("method", [Perceptron, MIRA])
def test_without_objectives_the_model_is_the_same(words, method):
    plain, silent = (
        run_of(method, *words, max_iter=3, evaluate=evaluate).solve() for evaluate in (True, False)
    )
    assert np.array_equal(plain.weights, silent.weights)
    assert np.isfinite(plain.certificate.primal)
    assert np.isinf(silent.certificate.primal)
    assert all(np.isinf(record.value) for record in silent.history)


def test_ctrl_c_returns_the_model_of_the_last_whole_epoch(words):
    def interrupt(record):
        if record.round == 2:
            raise KeyboardInterrupt

    result = run_of(Perceptron, *words, callbacks=[interrupt]).solve()
    assert result.status == "interrupted"
    two = run_of(Perceptron, *words, max_iter=2).solve()
    np.testing.assert_array_equal(result.weights, two.weights)


class Failing(Sign):
    """Fails in the call after so many."""

    def __init__(self, calls, error=KeyboardInterrupt):
        self.calls, self.error = calls, error

    def argmax(self, x, weights, *, gold=None):
        if gold is None:  # a visit, not the evaluation of an epoch
            self.calls -= 1
            if self.calls < 0:
                raise self.error
        return super().argmax(x, weights, gold=gold)


def test_ctrl_c_inside_an_epoch():
    X, Y = points(30, margin=0.0)
    early = run_of(Perceptron, Failing(20).fitted(X, Y), X, Y).solve()
    assert (early.status, early.history) == ("interrupted", ())
    assert np.any(early.weights)
    late = run_of(Perceptron, Failing(40).fitted(X, Y), X, Y).solve()
    one = run_of(Perceptron, Sign().fitted(X, Y), X, Y, max_iter=1).solve()
    assert (late.status, len(late.history)) == ("interrupted", 1)
    np.testing.assert_array_equal(late.weights, one.weights)


def test_a_failing_oracle_is_named_and_the_error_carries_the_model():
    X, Y = points(30, margin=0.0)
    run = run_of(Perceptron, Failing(40, RuntimeError("no luck")).fitted(X, Y), X, Y)
    with pytest.raises(
        OracleError, match=r"'argmax' on example \d+: RuntimeError: no luck"
    ) as caught:
        run.solve()
    assert len(caught.value.result.history) == 1
    assert np.any(caught.value.result.weights)
    assert 0 <= caught.value.example < 30


def test_overflow_is_told():
    X, Y = [np.array([1e308, 1e308]), np.array([1e308, -1e308])], [1, -1]
    with pytest.raises(InvalidInputError, match="overflowed in epoch 1"):
        run_of(Perceptron, Sign().fitted(X, Y), X, Y, learning_rate=1e5).solve()


# ---------------------------------------------------------------------- abilities and options
def test_three_methods_of_a_user_suffice():
    X, Y = points()
    structure = Sign().fitted(X, Y)
    for method in (Perceptron, MIRA):
        result = run_of(method, structure, X, Y, max_iter=200).solve()
        assert result.status == "separated"
        assert structure.predict(X, result.weights) == Y


def test_k_best_is_refused_where_there_is_none():
    X, Y = points()
    with pytest.raises(IncompatibleError, match=r"k = 2 needs 'k_best'; Sign offers \['argmax'\]"):
        run_of(MIRA, Sign().fitted(X, Y), X, Y, k=2)


class Whole(Shard):
    """A shard that knows only what every shard must."""

    def __init__(self, inner):
        self.inner, self.n_examples, self.base = inner, inner.n_examples, inner.base

    def ask(self, oracle, weights):
        return self.inner.ask(oracle, weights)

    def directions(self, outputs, which):
        return self.inner.directions(outputs, which)


def test_a_shard_without_singles_is_refused(words):
    structure, X, Y = words
    whole = Whole(structure.encode(X, Y))
    with pytest.raises(IncompatibleError, match="Whole has no 'single'"):  # before any work
        Perceptron(structure, so.M3N(), so.DataSet([whole], structure.n_features_))
    for question in (lambda: whole.argmax(np.zeros(1)), lambda: whole.k_best(np.zeros(1), 2)):
        with pytest.raises(IncompatibleError, match="Whole has no"):
            question()


@pytest.mark.parametrize(
    ("method", "options", "said"),
    [
        (Perceptron, {"max_iter": 0}, "max_iter must be an integer >= 1 or None; got 0"),
        (Perceptron, {"learning_rate": 0.0}, "learning_rate must be a finite number > 0"),
        (Perceptron, {"learning_rate": float("nan")}, "learning_rate"),
        (Perceptron, {"time_limit": -1.0}, "time_limit"),
        (MIRA, {"C": 0.0}, "C must be a finite number > 0"),
        (MIRA, {"C": float("inf")}, "C must be a finite number > 0"),
        (MIRA, {"k": 0}, "k must be an integer >= 1; got 0"),
    ],
)
def test_bad_options_are_refused(words, method, options, said):
    with pytest.raises(InvalidInputError, match=said):
        run_of(method, *words, **options)


def test_epochs_are_rounds(words):
    with pytest.raises(IncompatibleError, match="no 'epochs'; that is 'max_iter' now"):
        run_of(Perceptron, *words, epochs=3)
    model = so.StructuredClassifier(so.Chain(), so.M3N(), method="mira", max_iter=2)
    assert len(model.fit(*words[1:]).result_.history) <= 2
    assert Perceptron.rounds == 20


def test_methods_by_name():
    assert registry.make("auto") is registry.make("cutting-plane") is so.CuttingPlane
    assert registry.make("perceptron") is Perceptron
    assert registry.make("mira") is MIRA
    assert all(registry.make(name).name == name for name in registry.names())
    with pytest.raises(InvalidInputError, match=r"Unknown method 'sgd'; choose from \['auto', "):
        registry.make("sgd")


# ---------------------------------------------------------------------- single shards
def test_single_shards_answer_as_the_whole_does(problem):
    structure, X, Y = problem
    data = so.DataSet.of(structure, X, Y, n_jobs=2)
    weights = np.random.default_rng(0).normal(size=data.n_features)
    best = [shard.argmax(weights) for shard in data.shards]
    worst = data.ask(so.loss_augmented, weights)
    listed = structure.abilities() >= {"k_best"}
    scratch = np.zeros(data.n_features)
    for i, (x, gold) in enumerate(zip(rows_of(X), Y, strict=True)):
        single = data.single(i)
        assert data.single(i) is single
        assert single.single(0).n_examples == single.n_examples == 1
        found = [single.argmax(weights), single.ask(so.loss_augmented, weights)]
        of = int(np.searchsorted(data.starts, i, side="right")) - 1
        for mine, pass_ in zip(found, (best, worst), strict=True):
            there = i - data.starts[of]
            assert mine.loss[0] == pass_[of].loss[there]
            assert mine.score[0] == pytest.approx(pass_[of].score[there], abs=1e-12)
        outputs = [structure.argmax(x, weights), structure.argmax(x, weights, gold=gold)]
        if listed:
            found += single.k_best(weights, 3)
            outputs += structure.k_best(x, weights, 3)
        rows = [delta(structure, x, gold, y) for y in outputs]
        assert [a.loss[0] for a in found[: len(rows)]] == [structure.loss(gold, y) for y in outputs]
        assert all(np.isinf(a.score[0]) for a in found[len(rows) :])  # there are no more outputs
        deltas, D = Deltas.of(single, found[: len(rows)]), np.array(rows)
        np.testing.assert_allclose(deltas.products(scratch), D @ D.T, atol=1e-12)
        assert not scratch.any()
        moved, steps = weights.copy(), np.arange(1.0, len(rows) + 1)
        deltas.add_to(moved, steps)
        np.testing.assert_allclose(moved, weights + steps @ D, atol=1e-12)


def test_k_best_lists_say_where_they_end():
    X, Y = [np.ones((1, 1)), np.ones((2, 1))], [[0], [0, 1]]
    structure = so.Chain(labels=[0, 1]).fitted(X, Y)
    shard = structure.encode(X, Y)
    lists = shard.k_best(np.arange(6.0), 3)
    assert [np.isfinite(a.score).tolist() for a in lists] == [
        [True, True],
        [True, True],
        [False, True],
    ]
    few = so.DataSet.of(structure, X, Y).single(0).k_best(np.arange(6.0), 3)
    assert [bool(np.isfinite(a.score[0])) for a in few] == [True, True]  # the longest list of all
