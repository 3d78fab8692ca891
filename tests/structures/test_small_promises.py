"""What decoders promise beside the best value: order of ties, numbers in messages, restrictions."""

import itertools

import numpy as np
import pytest

import structopt as so
from structopt.errors import InvalidInputError
from structopt.structures.base.oracles import nearest_reference
from structopt.structures.cut.search import two_sides
from structopt.structures.cut.small import small as small_cut
from structopt.structures.hierarchy.small import small as small_tree
from structopt.structures.lattice.small import small as small_lattice
from structopt.structures.matching.reference import ReferenceSearch
from structopt.structures.matching.search import PairSearch
from structopt.structures.matching.small import small as small_matching


def score(structure, x, y, w):
    return float((structure.joint_features(x, y) @ w)[0])


def test_of_equal_vectors_the_legal_one_that_stands_first_wins():
    legal = [(1, 0), (0, 1), (1, 1), (0, 0)]
    X, Y = [np.ones((2, 1))], [(1, 1)]
    structure = so.LabelVector(legal=legal).fitted(X, Y)
    assert structure.predict(X, np.zeros(4)) == [(1, 0)]
    with pytest.raises(InvalidInputError, match="weights"):
        structure.encode(X, Y).argmax(np.zeros(3))


def test_sides_begin_with_0():
    assert two_sides(4, np.array([[0, 1], [2, 3]])).tolist() == [0, 1, 0, 1]
    assert two_sides(3, np.array([[0, 1], [1, 2], [0, 2]])) is None


@pytest.mark.parametrize("decoder", ["compiled", "networkx"])
def test_matchings_are_decoded_by_whom_one_asked(decoder):
    given = small_matching(np.random.default_rng(0))
    structure = so.Matching(decoder=decoder).fitted(given.X, given.Y)
    expected = ReferenceSearch if decoder == "networkx" else PairSearch
    assert type(structure.encode(given.X, given.Y).searches[0]) is expected


def test_hierarchies_that_allow_less_are_other_data():
    given = small_tree(np.random.default_rng(0))
    labels = list(given.structure.fitted(given.X, given.Y).labels_)
    named = []
    for allowed in (None, {None: labels}):
        structure = so.Hierarchy(labels=labels, allowed=allowed).fitted(given.X, given.Y)
        named.append(so.DataSet.of(structure, given.X, given.Y).fingerprint(""))
    assert named[0] != named[1]


@pytest.mark.parametrize("own", [False, True])
def test_nearest_references_in_lattices_by_enumeration(own):
    rng, asked = np.random.default_rng(3), 0
    for seed in range(12):
        given = small_lattice(np.random.default_rng(seed))
        inner = given.structure.fitted(given.X, given.Y)
        Y = []
        for x, y in zip(given.X, given.Y, strict=True):
            others = [o for o in given.outputs(x) if inner.loss(y, o) > 0]
            more = rng.permutation(len(others))[: 1 + seed % 2]
            Y.append([y, *(others[k] for k in more)])

        def apart(good, bad, inner=inner):
            return inner.loss(good, bad) + 0.1 * (len(str(good)) % 7)

        structure = so.References(given.structure, apart if own else None).fitted(given.X, Y)
        distance = apart if own else inner.loss
        for _ in range(4):
            w = rng.normal(size=structure.n_features_)
            answers = structure.encode(given.X, Y).ask(nearest_reference, w)
            assert answers.exact  # few enough outputs to prove
            for i, (x, good) in enumerate(zip(given.X, Y, strict=True)):
                bad = [o for o in given.outputs(x) if all(inner.loss(g, o) > 0 for g in good)]
                if not bad:
                    assert np.isinf(answers.score[i])
                    continue
                least = []
                for o in bad:
                    far = np.array([distance(g, o) for g in good])
                    near = [g for g, d in zip(good, far, strict=True) if d <= far.min() + 1e-9]
                    deltas = [score(inner, x, g, w) - score(inner, x, o, w) for g in near]
                    least.append((min(deltas), max(deltas)))
                low, high = min(a for a, _ in least), min(b for _, b in least)
                assert low - 1e-9 <= answers.score[i] <= high + 1e-9
                asked += 1
    assert asked > 50


def test_cuts_within_what_is_known_by_enumeration():
    rng = np.random.default_rng(4)
    for seed in range(15):
        given = small_cut(np.random.default_rng(seed))
        structure = given.structure.fitted(given.X, given.Y)
        shard = structure.encode(given.X, given.Y)
        weights = rng.normal(size=structure.n_features_)
        weights[structure.nonnegative_weights()] = rng.uniform(
            0, 3, len(structure.nonnegative_weights())
        )
        n = int(shard.offsets[-1])
        known = rng.integers(-1, 2, n)
        allowed = (known[:, None] < 0) | (known[:, None] == np.arange(2))
        found = shard._within(weights, allowed)
        scores, costs = shard._scores(weights)
        for i in range(shard.n_examples):
            a, b = shard.offsets[i], shard.offsets[i + 1]
            c, d = shard.arcs[i], shard.arcs[i + 1]
            edges = shard.edges[c:d] - a
            every = np.array(list(itertools.product((0, 1), repeat=int(b - a))))
            cut = every[:, edges[:, 0]] != every[:, edges[:, 1]]
            value = every @ scores[a:b] - cut @ costs[c:d]
            fits = np.all(allowed[a:b][np.arange(b - a), every], axis=1)
            own = value[np.all(every == found[a:b], axis=1)][0]
            assert np.all(allowed[np.arange(a, b), found[a:b]])
            assert own == pytest.approx(value[fits].max(), abs=1e-7)


def test_the_k_best_matchings_by_enumeration():
    rng = np.random.default_rng(0)
    for _ in range(25):
        edges = np.array([e for e in itertools.product(range(3), repeat=2) if rng.random() < 0.8])
        fertile = rng.random() < 0.5
        limits = tuple(rng.integers(1, 3, 3) if fertile else np.ones(3, int) for _ in range(2))
        scores = rng.normal(size=len(edges))
        every = np.array(list(itertools.product((False, True), repeat=len(edges))))
        used = [every @ (edges[:, [side]] == np.arange(3)).astype(int) for side in range(2)]
        fits = np.all(used[0] <= limits[0], axis=1) & np.all(used[1] <= limits[1], axis=1)
        truth = np.sort(every[fits] @ scores)[::-1]
        for k in (1, 2, 3, 7):
            found = np.array(PairSearch(edges, limits).k_best(scores, k))
            assert len(np.unique(found, axis=0)) == len(found) == min(k, len(truth))
            for side in range(2):
                assert np.all(
                    found @ (edges[:, [side]] == np.arange(3)).astype(int) <= limits[side]
                )
            np.testing.assert_allclose(found @ scores, truth[: len(found)])
