"""The dual variables of Frank-Wolfe against the same written out with vectors in feature space."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

import structopt as so
from structopt.arrays import base_matrix
from structopt.master.form import HingeForm
from structopt.methods.frank_wolfe.blocks import Blocks
from structopt.methods.frank_wolfe.planes import PlaneFinder, Planes
from structopt.structures.base.oracles import best_other, loss_augmented, slack_rescaled
from structopt.structures.base.parts import Directions

N, ROWS, WIDTH, OFFSETS = 3, 5, 3, 3
SIZE = WIDTH * OFFSETS
COST = np.array([1.0, 0.3, 2.5])
CURVATURE = np.linspace(0.5, 2.0, SIZE)
BASE = base_matrix(
    sp.csr_array(np.random.default_rng(7).normal(size=(ROWS, WIDTH)).round(2) * [[1, 0, 2]])
)


def drawn(rng, count, examples=N):
    """Planes of a few parts each, some of which an earlier plane has too."""
    lengths = rng.integers(1, 4, count)
    ptr = np.concatenate([[0], np.cumsum(lengths)])
    parts = rng.integers(ROWS, size=ptr[-1]), WIDTH * rng.integers(OFFSETS, size=ptr[-1])
    coef = rng.choice([-1.0, 1.0, 0.5], ptr[-1])
    margins = rng.integers(1, 4, count).astype(float)
    return Planes(rng.integers(examples, size=count), margins, Directions(ptr, *parts, coef))


def dense(planes):
    return planes.directions.tocsr(BASE, SIZE).toarray()


class Written:
    """What blocks should hold."""

    def __init__(self, blocks):
        there = np.arange(blocks._alpha.shape[1]) < blocks._count[:, None]
        self.planes = blocks.standing()
        self.d, self.m, self.who = dense(self.planes), self.planes.margins, self.planes.examples
        self.alpha = blocks._alpha[there]
        self.free = COST - np.bincount(self.who, self.alpha, minlength=N)
        self.w = self.alpha @ self.d / CURVATURE
        self.value = self.alpha @ self.m - 0.5 * CURVATURE @ self.w**2
        slope = self.m - self.d @ self.w
        most = np.zeros(N)
        np.maximum.at(most, self.who, slope)
        self.gaps = COST * most - np.bincount(self.who, self.alpha * slope, minlength=N)


def check(blocks, given):
    """Return what is written out, and check that blocks hold that and nothing that is untrue."""
    truth = Written(blocks)
    np.testing.assert_allclose(blocks.weights, truth.w, atol=1e-12)
    assert np.all(truth.alpha >= 0)
    assert np.all(truth.free >= -1e-12)
    assert len(blocks) == len(truth.alpha)
    for i in range(N):
        mine = np.flatnonzero(truth.who == i)
        gram = truth.d[mine] @ np.diag(1 / CURVATURE) @ truth.d[mine].T
        count = len(mine)
        np.testing.assert_allclose(blocks._gram[i, :count, :count], gram, atol=1e-10)
    rng, (who, m, d) = np.random.default_rng(0), given
    for w in (*rng.normal(size=(5, SIZE)), truth.w):  # no plane exceeds what oracles said
        hinges = np.zeros(N)
        np.maximum.at(hinges, who, m - d @ w)
        assert np.all(truth.m - truth.d @ w <= hinges[truth.who] + 1e-9)
        assert truth.value <= 0.5 * CURVATURE @ w**2 + COST @ hinges + 1e-9
    return truth


@pytest.mark.parametrize(("kept", "steps"), [(2, 10), (3, 1), (4, 10), (12, 3)])
@pytest.mark.parametrize("seed", range(3))
def test_blocks_are_what_is_written_out(seed, kept, steps):
    rng = np.random.default_rng(seed)
    blocks = Blocks(BASE, COST, CURVATURE, planes=kept, steps=steps)
    who, m, d = np.zeros(0, int), np.zeros(0), np.zeros((0, SIZE))
    before = 0.0
    for _ in range(8):
        planes = drawn(rng, int(rng.integers(1, 5)))
        who, m = np.r_[who, planes.examples], np.r_[m, planes.margins]
        d = np.vstack([d, dense(planes)])
        blocks.absorb(planes)
        truth = check(blocks, (who, m, d))
        assert truth.value >= before - 1e-12
        for i in rng.permutation(N):
            before = check(blocks, (who, m, d))
            blocks.sweep(np.array([i]))
            assert blocks.gaps[i] == pytest.approx(before.gaps[i], abs=1e-10)
            assert Written(blocks).value >= before.value - 1e-12
        truth = check(blocks, (who, m, d))
        before = blocks.value()
        assert before == pytest.approx(truth.value, abs=1e-12)
    assert np.max(blocks._count) <= kept
    for _ in range(3000 // steps):
        blocks.sweep(rng.permutation(N))
    end = check(blocks, (who, m, d))
    assert end.gaps.sum() <= 1e-4 * max(1.0, end.value)


def written(example, margin, *parts):
    source, offset, coef = (np.array(column) for column in zip(*parts, strict=True))
    ptr = np.array([0, len(parts)])
    return Planes(np.array([example]), np.array([margin]), Directions(ptr, source, offset, coef))


def test_a_plane_is_known_again():
    one = (0, 2.0, (1, 0, 1.0), (2, 3, -1.0))
    others = [
        (1, 2.0, (1, 0, 1.0), (2, 3, -1.0)),
        (0, 3.0, (1, 0, 1.0), (2, 3, -1.0)),
        (0, 2.0, (3, 0, 1.0), (2, 3, -1.0)),
        (0, 2.0, (1, 6, 1.0), (2, 3, -1.0)),
        (0, 2.0, (1, 0, 1.0), (2, 6, -1.0)),
        (0, 2.0, (1, 0, 1.0), (2, 3, -0.5)),
        (0, 2.0, (1, 0, 1.0)),
        (0, 2.0, (1, 0, 1.0), (2, 3, -1.0), (4, 6, 1.0)),
    ]
    for other in others:
        blocks = Blocks(BASE, COST, CURVATURE, planes=12)
        for count, plane in ((1, one), (1, one), (2, other), (2, one), (2, other)):
            blocks.absorb(written(*plane))
            assert blocks.added == len(blocks) == count


def test_planes_that_carry_nothing_go_and_those_that_carry_stay():
    blocks = Blocks(BASE, COST, CURVATURE, planes=12)
    strong = written(0, 3.0, (1, 0, 1.0))
    blocks.absorb(strong)
    for k in range(4):
        blocks.absorb(written(0, -1.0, (k, 3, 1.0)))  # below gold's plane at all times
    held = []
    for _ in range(20):
        blocks.sweep(np.array([0]))
        blocks.absorb(strong)  # room is made where a plane comes
        held.append(len(blocks))
        assert Written(blocks).alpha.max() > 0
    assert held[0] == 5
    assert held[-1] == 1


def test_a_full_block_lets_the_idle_go_before_it_merges():
    blocks = Blocks(BASE, COST, CURVATURE, planes=3)
    for plane in ((0, 3.0, (0, 0, 1.0)), (0, -1.0, (1, 3, 1.0)), (0, -2.0, (2, 3, 1.0))):
        blocks.absorb(written(*plane))
    before = Written(blocks)
    assert sorted(before.m) == [-2.0, -1.0, 3.0]
    blocks.absorb(written(0, 2.5, (3, 6, 1.0)))
    assert {-2.0, 2.5, 3.0} == set(Written(blocks).m)  # the one that was idle longest


@pytest.mark.parametrize("oracle", [loss_augmented, slack_rescaled, best_other])
def test_planes_lie_below_the_hinges_that_they_come_from(oracle):
    X, Y = so.datasets.make_chain_crf(4, n_features=4, n_relevant=3, length=3, seed=1)
    structure = so.Chain().fitted(X, Y)
    shards = [structure.encode(X[a:b], Y[a:b], start=a) for a, b in ((0, 1), (1, 4))]
    data = so.DataSet(shards, structure.n_features_)
    size, rng = structure.n_features_, np.random.default_rng(0)
    cost = np.array([1.0, 0.0, 2.0, 0.5])
    zero, one = np.zeros(size), np.ones(size)
    finder = PlaneFinder(data, HingeForm(oracle, cost, one, zero, -np.inf * one, np.inf * one))
    w = 0.1 * rng.normal(size=size)
    answers = data.ask(oracle, w)
    loss, score = (np.concatenate([getattr(a, k) for a in answers]) for k in ("loss", "score"))
    hinge = np.maximum(oracle.margin(loss) - oracle.scale(loss) * score, 0.0)
    every = finder.all(answers)
    np.testing.assert_array_equal(every.examples, np.flatnonzero((hinge > 0) & (cost > 0)))
    rows = every.directions.tocsr(data.base, size).toarray()
    np.testing.assert_allclose(every.margins - rows @ w, hinge[every.examples])
    np.testing.assert_allclose(finder.pull(every), cost[every.examples] @ rows)
    out = one.copy()
    assert finder.pull(every, out) is out
    np.testing.assert_allclose(out, 1 + cost[every.examples] @ rows)
    for i in range(4):
        found = finder.one(i, w)
        assert (found is not None) == (hinge[i] > 0)
        if found is not None:
            assert found.examples.tolist() == [i]
            row = found.directions.tocsr(data.base, size).toarray()[0]
            assert found.margins[0] - row @ w == pytest.approx(hinge[i])
    far = 100 * structure.joint_features(X[0], Y[0]).toarray()[0]
    calm = finder.one(0, far)
    gold, short = structure.joint_features(X[0], Y[0]), []
    for y in product(structure.labels_, repeat=3):
        loss = np.array([structure.loss(Y[0], list(y))])
        if loss > 0 or oracle is not best_other:
            score = float(((gold - structure.joint_features(X[0], list(y))) @ far)[0])
            short.append(float((oracle.margin(loss) - oracle.scale(loss) * score)[0]))
    assert (calm is None) == (max(short) <= 0)


def test_no_planes_pull_nowhere():
    X, y = so.datasets.make_classes(4, seed=0)
    structure = so.Multiclass().fitted(X, y)
    data = so.DataSet.of(structure, X, y)
    size = structure.n_features_
    one = np.ones(size)
    form = HingeForm(loss_augmented, np.zeros(4), one, 0 * one, -np.inf * one, np.inf * one)
    finder = PlaneFinder(data, form)
    none = finder.all(data.ask(loss_augmented, 0 * one))
    assert len(none) == 0
    np.testing.assert_array_equal(finder.pull(none), 0 * one)
