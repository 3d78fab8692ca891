"""Random lattices: their references are the best paths by the quality that was drawn."""

import networkx as nx
import numpy as np
import pytest

import structopt as so
from structopt.datasets import make_chain_crf, make_lattices
from structopt.errors import InvalidInputError


def paths(graph):
    ends = graph.graph["source"], graph.graph["sink"]
    return [tuple(path) for path in nx.all_simple_edge_paths(graph, *ends)]


@pytest.mark.parametrize("seed", range(5))
def test_without_noise_references_are_the_best_paths_by_enumeration(seed):
    data = make_lattices(4, n_columns=3, width=2, n_references=3, noise=0.0, seed=seed)
    for graph, references in zip(data.X, data.Y, strict=True):
        assert nx.is_directed_acyclic_graph(graph)
        scores = {
            path: sum(float(data.weights @ graph.edges[e]["features"]) for e in path)
            for path in paths(graph)
        }
        assert len(scores) >= 8
        assert references == sorted(scores, key=lambda path: -scores[path])[:3]


def test_noise_misleads_and_seeds_decide_everything():
    clean, noisy = (make_lattices(30, noise=noise, n_references=1, seed=2) for noise in (0, 2))
    assert np.linalg.norm(clean.weights) == pytest.approx(1.0)
    np.testing.assert_array_equal(clean.weights, noisy.weights)
    same = sum(a == b for a, b in zip(clean.Y, noisy.Y, strict=True))
    assert 0 < same < 15
    more = make_lattices(31, noise=2, n_references=1, seed=2)
    assert more.Y[:30] == noisy.Y
    assert len({len(path) for (path,) in more.Y}) > 1  # some skip columns
    np.testing.assert_array_equal(more.X[7].edges[0, 1]["features"],
                                  noisy.X[7].edges[0, 1]["features"])  # fmt: skip
    assert clean.Y[:3] != make_lattices(3, n_references=1, seed=3).Y


@pytest.mark.parametrize("references", ["nearest", "worst"])
def test_learning_recovers_the_direction_of_the_truth(references):
    data = make_lattices(60, n_columns=3, n_features=5, noise=0.1, n_references=2, seed=0)
    program = so.LPStruct(C=10.0, references=references, nonnegative=False)
    structure = so.References(so.Lattice())
    model = so.StructuredClassifier(structure, program, tol=1e-2).fit(data.X, data.Y)
    found = model.result_.weights
    assert found @ data.weights / np.linalg.norm(found) > 0.9


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"n_examples": -1}, "n_examples must be an integer >= 0"),
        ({"width": 0}, "width"),
        ({"n_references": 0}, "n_references must be an integer >= 1"),
        ({"n_references": 81}, "1 <= n_references < 81"),
        ({"noise": -1.0}, "noise must be a finite number >= 0"),
        ({"noise": float("nan")}, "noise must be a finite number >= 0"),
    ],
)
def test_lattices_refuse_nonsense(arguments, reason):
    with pytest.raises(InvalidInputError, match=reason):
        make_lattices(**arguments)


def test_independent_inputs_have_no_groups():
    X, Y = make_chain_crf(300, correlated=False, seed=1)
    correlation = np.corrcoef(np.concatenate(X).T)
    # 2400 positions: a standard error is 0.02
    assert np.abs(correlation - np.eye(100)).max() < 0.1
    assert {int(k) for y in Y for k in y} == {0, 1}
