"""Matchings in any graph: bad input, exact ties, and who refuses."""

import networkx as nx
import numpy as np
import pytest

import structopt as so
from structopt.errors import IncompatibleError, InvalidInputError


def triangle(*values):
    graph = nx.Graph()
    for edge, value in zip([(0, 1), (1, 2), (0, 2)], values, strict=True):
        graph.add_edge(*edge, features=[value])
    return graph


def test_scores_that_floats_cannot_tell_apart_are_told_apart():
    x = triangle(1.0, np.nextafter(1.0, 2.0), 1.0)
    structure = so.GraphMatching().fitted([x], [[(0, 1)]])
    assert structure.argmax(x, np.ones(1)) == {(1, 2)}


def test_an_odd_circle_is_where_the_bipartite_relaxation_errs():
    # half of every edge of the triangle has the value 1.5; the best matching has 1
    x = triangle(1.0, 1.0, 1.0)
    structure = so.GraphMatching().fitted([x], [[(0, 1)]])
    assert len(structure.argmax(x, np.ones(1))) == 1
    for method in ("extragradient", "dual-extragradient", "compact"):
        model = so.StructuredClassifier(so.GraphMatching(), so.M3N(), method=method)
        with pytest.raises(IncompatibleError, match="odd set"):
            model.fit([x], [[(1, 0)]])
    found = so.StructuredClassifier(so.GraphMatching(), so.M3N(), tol=1e-6).fit([x], [[(1, 0)]])
    assert found.result_.certificate.certified


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (nx.DiGraph([(0, 1)]), [(0, 1)], "undirected"),
        ("graph", [(0, 1)], "undirected"),
        (nx.Graph([(0, 1)]), [(0, 1)], "features"),
        (nx.Graph([(0, 0, {"features": [1.0]})]), [], "loop"),
        (triangle(1.0, np.nan, 1.0), [(0, 1)], "finite"),
        (triangle(1.0, 1.0, 1.0), [(0, 7)], "no edge"),
        (triangle(1.0, 1.0, 1.0), [3], "no edge"),
        (triangle(1.0, 1.0, 1.0), [(0, 1), (1, 2)], "two edges"),
        (nx.Graph(), [], "nothing to learn"),
    ],
)
def test_what_is_no_matching_is_refused(x, y, message):
    with pytest.raises(InvalidInputError, match=message):
        so.StructuredClassifier(so.GraphMatching(), so.M3N()).fit([x], [y])


def test_edges_with_other_features_are_refused():
    x = triangle(1.0, 2.0, 3.0)
    x.edges[0, 2]["features"] = [1.0, 2.0]
    with pytest.raises(InvalidInputError, match="features"):
        so.StructuredClassifier(so.GraphMatching(), so.M3N()).fit([x], [[(0, 1)]])
