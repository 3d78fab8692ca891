"""Pictures of runs and of outputs: what they show is what the library computes."""

import networkx as nx
import numpy as np
import pytest

import structopt as so
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.master.separation import separate
from structopt.report.draw.chain_trellis import _scores, path, viterbi
from structopt.report.draw.landscape import landscape

LIMITS = (-3.0, 3.0, -2.0, 4.0)


def a_run(formulation, **options):
    X, Y = so.datasets.make_alignments(4, n_features=3, mean_edges=9, seed=0)
    X = [x[:, :, 1:] for x in X]
    structure = so.Matching().fitted(X, Y)
    return so.CuttingPlane(structure, formulation, so.DataSet.of(structure, X, Y), **options)


def saved(ax, path):
    ax.figure.savefig(path)
    return path.stat().st_size


@pytest.mark.parametrize(
    "formulation",
    [so.M3N(C=1.0), so.L1M3N(C=0.5), so.LPStruct(C=1.0), so.StructRMM(C=5.0, B=1.5)],
    ids=lambda f: type(f).__name__,
)
def test_the_plane_shows_the_objective(formulation, tmp_path):
    run = a_run(formulation)
    run.solve()
    u, v, values, outside = landscape(run, LIMITS, whole=True)
    rng = np.random.default_rng(0)
    for i, j in rng.integers(0, len(u), size=(20, 2)):
        x = np.zeros(run.master.size)
        x[run.master.weight_columns] = u[j], v[i]
        truth = separate(run.master, run.data, x)
        forbidden = not np.isfinite(truth.value) or truth.residual > 1e-7
        assert forbidden == (outside[i, j] > 1e-7)
        if not forbidden:
            assert values[i, j] <= truth.value + 1e-9
            assert values[i, j] >= truth.value - 0.02 * abs(truth.value)
    restricted = landscape(run, LIMITS, whole=False)[2]
    assert np.all(restricted <= values + 1e-9)
    assert saved(so.draw.plane(run), tmp_path / "plane.png") > 5_000


def test_the_plane_of_a_run_that_has_not_begun_and_of_other_methods(tmp_path):
    run = a_run(so.M3N())
    saved(so.draw.plane(run, levels=None), tmp_path / "a.png")
    fw = so.FrankWolfe(run.structure, so.M3N(), run.data)
    fw.step()
    ax = so.draw.plane(fw, limits=LIMITS)
    assert ax.get_xlim() == LIMITS[:2]
    saved(ax, tmp_path / "b.png")


def test_the_plane_names_new_cuts_and_draws_slacks_that_are_solved_for(tmp_path):
    import cvxpy as cp

    class Worst(so.Formulation):
        def master(self, m):
            w, xi, t = m.weights(), m.slacks(), cp.Variable()
            m.subject_to(t >= xi)
            m.minimize(cp.sum_squares(w) / 2 + t)
            m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))

    run = a_run(Worst())
    run.step()
    ax = so.draw.plane(run, limits=LIMITS, name=lambda cut: f"<{cut.example}>")
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == [f"<{cut.example}>" for cut in run.history[-1].found]
    with pytest.raises(IncompatibleError, match="solved for"):
        so.draw.plane(run, levels="master")


def test_what_cannot_be_drawn_says_so():
    X, y = so.datasets.make_classes(10, seed=0)
    structure = so.Multiclass().fitted(X, y)
    run = so.CuttingPlane(structure, so.M3N(), so.DataSet.of(structure, X, y))
    with pytest.raises(InvalidInputError, match="two weights; this one has 30"):
        so.draw.plane(run)
    with pytest.raises(InvalidInputError, match="a run such as"):
        so.draw.plane(run.result)
    with pytest.raises(InvalidInputError, match="levels is 'all'"):
        so.draw.plane(a_run(so.M3N()), levels="all")
    with pytest.raises(InvalidInputError, match="structure must be a Chain; got Multiclass"):
        so.draw.trellis(structure, X, run.state.weights)
    with pytest.raises(InvalidInputError, match="no history"):
        so.draw.bounds([1, 2])
    with pytest.raises(InvalidInputError, match="could belong to several"):
        so.draw.structure("x", "y")
    with pytest.raises(InvalidInputError, match="no picture of a Multiclass's"):
        so.draw.structure(X, y, of=structure)
    with pytest.raises(InvalidInputError, match="as many"):
        so.draw.structure(np.eye(2), "ab", "abc")
    with pytest.raises(AttributeError, match="'plane', 'trellis', 'bounds', 'structure'"):
        _ = so.draw.circles


@pytest.mark.parametrize("boundaries", [False, True])
@pytest.mark.parametrize(
    "transitions", [None, {"a": ["a", "b"], "b": ["c", "a"], "c": ["c", None]}]
)
def test_the_trellis_reads_weights_as_the_chain_does(boundaries, transitions, tmp_path):
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(4, 2)) for _ in range(3)]
    Y = [list("abcc"), list("aabc"), list("abcc")]
    chain = so.Chain(boundaries=boundaries, transitions=transitions).fitted(X, Y)
    for x, y in zip(X, Y, strict=True):
        weights = rng.normal(size=chain.n_features_)
        local, step, labels = _scores(chain, x, weights)
        best = [labels[k] for k in path(*viterbi(local, step))]
        assert best == chain.argmax(x, weights)
        saved(so.draw.trellis(chain, x, weights, gold=y, augmented=True), tmp_path / "t.png")
    with pytest.raises(InvalidInputError, match="4 of the labels"):
        so.draw.trellis(chain, x, weights, gold="ab")


def test_bounds_of_several_runs_and_of_none(tmp_path):
    run = a_run(so.M3N())
    saved(so.draw.bounds(run), tmp_path / "none.png")
    result = run.solve()
    ax = so.draw.bounds({"$a$": run, "b": result}, against="seconds")
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels[0] == r"\$a\$: upper bound"
    saved(ax, tmp_path / "two.png")
    with pytest.raises(InvalidInputError, match="against"):
        so.draw.bounds(run, against="time")


def lattice():
    x = nx.DiGraph(source="s", sink="t")
    for u, v in ("sa", "sb", "at", "bt", "st"):
        x.add_edge(u, v, label=f"{u}$<{v}>", features=[1.0])
    return x


PICTURES = {
    "Chain": (np.eye(3), ["a", "b", "$x$"], ["a", "b", "<script>"]),
    "Arborescence": (np.zeros((4, 3, 1)), [0, 1, 1], [2, 0, 1]),
    "Matching": (np.zeros((2, 3, 1)), {(0, 1)}, {(0, 1), (1, 2)}),
    "GraphCut": (([(0, 1), (1, 2)], np.ones((3, 1))), [0, 1, 1], [0, 0, 1]),
    "Hierarchy": ((np.ones((3, 1)), [-1, 0, 0]), list("aab"), list("abb")),
    "Lattice": (lattice(), (("s", "a"), ("a", "t")), (("s", "t"),)),
}


@pytest.mark.parametrize("kind", PICTURES)
def test_every_kind_of_output_is_drawn_with_and_without_a_prediction(kind, tmp_path):
    x, y, found = PICTURES[kind]
    of = getattr(so, kind)()
    for each in (None, found):
        for given in (None, of):
            size = saved(so.draw.structure(x, y, each, of=given), tmp_path / "o.png")
            assert size > 2_000
