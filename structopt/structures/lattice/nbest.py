r"""An n-best list as a lattice: parallel paths that share their first words.

Hypothesis h is the path of its words, followed by one edge of its own, which carries its features.
Words are the keys of their edges, so that a path can be read without its graph.

>>> x, paths = nbest_lattice(["a b", "a c", "a b"], [[1.0], [2.0], [3.0]])
>>> paths[1]
((0, 2, 'a'), (2, 4, 'c'), (4, 1, 1))
>>> nbest_index(paths[2]), nbest_words(paths[2])
(2, ['a', 'b'])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import networkx as nx

from structopt.errors import InvalidInputError

SOURCE, SINK = 0, 1


def nbest_lattice(
    hypotheses: Sequence[Any], features: Sequence[Any], *, ngrams: int = 0
) -> tuple[Any, list[Any]]:
    """Return the lattice of an n-best list, and the path of each hypothesis in it.

    Parameters
    ----------
    hypotheses : sequence of str or of sequences of words
        Strings are split at blanks. Repeats are paths of their own.
    features : sequence
        What each hypothesis has for features: vectors, sparse rows or mappings.
    ngrams : int
        Give the edges of words features as well: the n-grams that end in the word, up to this
        length, by names like ``"2-gram the house"``. Features must then be mappings.

    Returns
    -------
    graph : networkx.MultiDiGraph
        With source and sink. Edges of words have the word as key and as ``label``.
    paths : list of paths
        ``paths[h]`` is hypothesis h; its last edge has the key h.

    Raises
    ------
    InvalidInputError
        The list is empty, or there are not as many features as hypotheses.
    """
    n_features = features.shape[0] if hasattr(features, "shape") else len(features)
    if len(hypotheses) == 0 or n_features != len(hypotheses):
        raise InvalidInputError(
            f"{len(hypotheses)} hypotheses with {n_features} rows of features: give at least one "
            "hypothesis, and one row for each."
        )
    graph = nx.MultiDiGraph(source=SOURCE, sink=SINK)
    graph.add_nodes_from([SOURCE, SINK])
    after: dict[tuple[int, str], int] = {}
    paths = []
    for h, hypothesis in enumerate(hypotheses):
        node = SOURCE
        path: list[Any] = []
        for word in hypothesis.split() if isinstance(hypothesis, str) else hypothesis:
            if not isinstance(word, str):
                raise InvalidInputError(f"Hypothesis {h} holds {word!r}: words are strings.")
            following = after.setdefault((node, word), len(graph))
            if following == len(graph):
                graph.add_edge(node, following, key=word, label=word)
                if ngrams:
                    before = [*(edge[2] for edge in path), word]
                    longest = min(ngrams, len(before))
                    named = {_ngram(before[-n:]): 1.0 for n in range(1, longest + 1)}
                    graph.edges[node, following, word]["features"] = named
            path.append((node, following, word))
            node = following
        graph.add_edge(node, SINK, key=h, features=features[h])
        paths.append((*path, (node, SINK, h)))
    return graph, paths


def _ngram(words: list[str]) -> str:
    return f"{len(words)}-gram {' '.join(words)}"


def nbest_index(path: Any) -> int:
    """Return which hypothesis a path of an n-best lattice is."""
    return int(path[-1][2])


def nbest_words(path: Any) -> list[str]:
    """Return the words of a path of an n-best lattice."""
    if not isinstance(path, Sequence) or not all(
        isinstance(edge, tuple) and len(edge) == 3 for edge in path
    ):
        raise InvalidInputError(f"A path is a list of edges (tail, head, key); got {path!r}.")
    return [edge[2] for edge in path[:-1]]
