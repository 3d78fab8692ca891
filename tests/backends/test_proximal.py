"""The proximal point method: bounds of its averages, its step, its moves."""

from types import SimpleNamespace

import numpy as np
import pytest
from small_masters import build

import structopt as so
from structopt.backends.proximal import Proximal
from structopt.master.lagrangian import Averages, Lagrangian, Priced


@pytest.mark.parametrize("static", ["none", "sign"])
@pytest.mark.parametrize("size", [0.01, 1.0, 100.0])
def test_the_short_way_to_a_bound_is_the_long_one(static, size):
    rng, m, optimum = build(3, "l1", static)
    lagrangian = Lagrangian(m.program)
    assert lagrangian._plain
    priced = lagrangian.price(m.pool.cuts, size * rng.random(8), None)
    short = lagrangian.value(priced, np.zeros(m.size))
    lagrangian._plain = False
    assert short == pytest.approx(lagrangian.value(priced, np.zeros(m.size)), rel=1e-12)
    assert short <= optimum + 1e-6


@pytest.mark.parametrize("static", ["box", "sum", "ball"])
def test_bounds_and_rows_take_the_long_way(static):
    _, m, _ = build(3, "l1", static)
    assert not Lagrangian(m.program)._plain


def test_windows_are_weighted_means():
    rng = np.random.default_rng(0)
    rounds = [(Priced(rng.normal(size=3), rng.normal(), rng.normal(size=2)), 0.5 + rng.random())
              for _ in range(40)]  # fmt: skip
    averages = Averages()
    for priced, weight in rounds:
        averages.add(priced, weight)
    starts = [0]
    while starts[-1] < 40:
        starts.append(max(starts[-1] + 1, int(Averages.GROWTH * starts[-1])))
    wanted = starts[:-1][-Averages.KEPT :]
    means = list(averages.means())
    assert len(means) == len(wanted)
    for start, mean in zip(wanted, means, strict=True):
        weights = [weight for _, weight in rounds[start:]]
        pulls = [priced.pull for priced, _ in rounds[start:]]
        gains = [priced.gain for priced, _ in rounds[start:]]
        assert mean.pull == pytest.approx(np.average(pulls, axis=0, weights=weights))
        assert mean.gain == pytest.approx(np.average(gains, weights=weights))


def started(**options):
    _, m, _ = build(3, "l1", "sign")
    backend = Proximal(**options)
    backend.start(SimpleNamespace(program=m.program))
    backend.append(m.pool.cuts)
    return backend


def test_the_step_goes_to_where_the_gap_is():
    backend = started()
    before = backend._t
    backend.told(value=2.0, dual=0.0, middle=1.0)
    assert backend._t == before
    backend.told(value=2.0, dual=-1e9, middle=1.0)
    assert backend._t == pytest.approx(1.5 * before)
    backend.told(value=1e9, dual=0.0, middle=1.0)
    backend.told(value=np.inf, dual=0.0, middle=1.0)
    assert backend._t == pytest.approx(before)
    fixed = started(step=0.3)
    fixed.told(value=2.0, dual=-1e9, middle=1.0)
    assert fixed._t == 0.3


def test_a_solve_without_new_cuts_moves_several_times(monkeypatch):
    several, single = started(step=0.3), started(step=0.3)
    once = single.solve(tolerance=0.0)
    assert several.solve(tolerance=0.0).weight == once.weight  # new cuts: one move
    seen = [single.solve(tolerance=0.0).cut_duals for _ in range(8)]  # few examples: one move
    monkeypatch.setattr("structopt.backends.proximal._SHARE", 0.01)
    together = several.solve(tolerance=0.0)
    assert together.weight == pytest.approx(8 * once.weight)
    assert together.cut_duals == pytest.approx(np.mean(seen, axis=0))


def test_a_run_is_certified():
    X, Y = so.datasets.make_chain_crf(n_examples=20, n_features=10, n_relevant=6, seed=0)
    model = so.StructuredClassifier(so.Chain(), so.LPStruct(10.0), backend="proximal", tol=1e-2)
    assert model.fit(X, Y).result_.certificate.certified
