"""What one pass says of a point, against every output written out."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from enumeration import small_chain, small_classes

import structopt as so
from structopt.master.separation import separate

C, B = 20.0, 0.9


def written(problem):
    """(example, delta, loss) of every output, gold's too."""
    X, Y, structure, outputs = problem
    found = [
        (i, (structure.joint_features(x, gold) - structure.joint_features(x, y)).toarray()[0],
         structure.loss(gold, y))
        for i, (x, gold) in enumerate(zip(X, Y, strict=True)) for y in outputs[i]
    ]  # fmt: skip
    return [np.array(column) for column in zip(*found, strict=True)]


def hinges(problem, w, loss_of=lambda loss: 1.0 + 0 * loss):
    who, delta, loss = written(problem)
    short, most = loss_of(loss) - delta @ w, np.zeros(len(problem[0]))
    np.maximum.at(most, who[loss > 0], short[loss > 0])
    return most


def run_of(problem, formulation, **options):
    data = so.DataSet.of(problem[2], *problem[:2], **options)
    return so.CuttingPlane(problem[2], formulation, data).master, data


def at(master, w, slack=0.0):
    x = np.zeros(master.size)
    x[master.weight_columns], x[master.slack_columns] = w, slack
    return x


@pytest.mark.parametrize("make", [small_chain, small_classes])
@pytest.mark.parametrize("seed", range(3))
def test_hard_and_soft_rows_are_those_that_are_written_out(make, seed):
    rng = np.random.default_rng(seed)
    problem = make(rng)
    master, data = run_of(problem, so.StructRMM(C, B))
    who, delta, loss = written(problem)
    calm = separate(master, data, np.zeros(master.size))
    assert calm.inside is not None
    assert calm.violation == pytest.approx(1.0)  # the margin; at w = 0 every bound has room
    seen = set()
    for size in (0.0, 0.05, 0.2, 1.0, 5.0):
        w = size * rng.normal(size=delta.shape[1])
        slack = rng.uniform(0, 1, len(problem[0]))
        x = at(master, w, slack)
        short = np.where(loss > 0, 1.0 - delta @ w - slack[who], -np.inf)
        beyond = np.abs(delta @ w).max() - B
        found = separate(master, data, x)
        assert found.violation == pytest.approx(max(short.max(), beyond, 0.0), abs=1e-12)
        assert found.exact
        assert found.rounding == 0.0
        value = w @ w / 2 + C / len(problem[0]) * hinges(problem, w).sum()
        if beyond <= 0:
            assert found.value == pytest.approx(value, rel=1e-12)
            np.testing.assert_allclose(found.point[master.weight_columns], w)
            np.testing.assert_allclose(found.point[master.slack_columns], hinges(problem, w))
            assert (found.inside is not None) == (beyond < 0)
            assert max(found.inside.violations.values()) == pytest.approx(beyond)
        else:
            assert (found.value, found.inside) == (np.inf, None)
            assert found.residual == pytest.approx(beyond)
            moved = separate(master, data, x, calm.inside)
            u = moved.point[master.weight_columns]
            assert np.abs(delta @ u).max() <= B * (1 + 1e-12)
            assert np.abs(delta @ u).max() >= B * (1 - 1e-9)  # just far enough
            np.testing.assert_allclose(u, w * (B / (B + beyond)), rtol=1e-9)
            worth = u @ u / 2 + C / len(problem[0]) * hinges(problem, u).sum()
            assert moved.value == pytest.approx(worth, rel=1e-12)
            assert moved.violation == found.violation
        violated = {
            (int(f), int(i)) for cuts in found.found
            for f, i in zip(cuts.family, cuts.example, strict=True)
        }  # fmt: skip
        margin = {int(i) for i in who[short > 1e-9]}
        over = {int(i) for i in who[delta @ w - B > 1e-9]}
        under = {int(i) for i in who[-delta @ w - B > 1e-9]}
        assert {i for f, i in violated if f == 0} == margin
        assert {i for f, i in violated if f} == over | under
        for cuts in found.found:
            rows = cuts.deltas(delta.shape[1]).toarray()
            np.testing.assert_allclose(rows @ w, cuts.score, atol=1e-12)
            given = np.maximum(cuts.lower - cuts.matrix(master.program) @ x,
                               cuts.matrix(master.program) @ x - cuts.upper)  # fmt: skip
            assert np.all(given > 1e-9)
        seen.add(beyond > 0)
    assert seen == {True, False}


def test_violations_count_from_roundings_on():
    problem = small_chain(np.random.default_rng(1))
    master, data = run_of(problem, so.StructSVM(C))
    w = 0.1 * np.random.default_rng(2).normal(size=problem[2].n_features_)
    enough = hinges(problem, w)
    for short, expected in ((0.0, 0), (1e-12, 0), (1e-8, 4), (1e-5, 4), (1e-3, 4)):
        found = separate(master, data, at(master, w, enough - short))
        assert sum(len(cuts) for cuts in found.found) == expected
        assert found.violation == pytest.approx(short, abs=1e-13)


@pytest.mark.parametrize("seed", range(4))
def test_a_retreat_goes_to_any_point_inside_just_far_enough(seed):
    rng = np.random.default_rng(seed)
    problem = small_chain(rng)
    master, data = run_of(problem, so.StructRMM(C, B))
    _, delta, _ = written(problem)
    start = rng.normal(size=delta.shape[1])
    start *= 0.5 * B / np.abs(delta @ start).max()
    inside = separate(master, data, at(master, start)).inside
    far = start + 3.0 * rng.normal(size=len(start))
    moved = separate(master, data, at(master, far), inside)
    shares = []
    for sign in (1.0, -1.0):
        room, over = B - (sign * delta @ start).max(), (sign * delta @ far).max() - B
        shares.append(room / (room + over) if over > 0 else 1.0)
    u = moved.point[master.weight_columns]
    np.testing.assert_allclose(u, start + min(shares) * (far - start), rtol=1e-9)
    assert np.abs(delta @ u).max() <= B * (1 + 1e-12)
    worth = u @ u / 2 + C / len(problem[0]) * hinges(problem, u).sum()
    assert moved.value == pytest.approx(worth, rel=1e-12)


def test_what_oracles_leave_open_is_told():
    problem = small_chain(np.random.default_rng(0))
    master, data = run_of(problem, so.StructSVM(C))
    excess = np.array([0.3, 0.0, 0.05, 1.1])
    ask = data.ask
    data.ask = lambda *a: [replace(ask(*a)[0], excess=excess)]
    found = separate(master, data, np.zeros(master.size))
    assert found.rounding == pytest.approx(C / 4 * excess.sum())
    assert found.value == pytest.approx(C / 4 * (4 + excess.sum()))


class NuSVM(so.Formulation):
    """1/2 |w|^2 - nu rho + mean slack: rho is solved for at every w."""

    def master(self, m):
        w, xi, rho = m.weights(), m.slacks(), cp.Variable(name="rho", nonneg=True)
        m.minimize(cp.sum_squares(w) / 2 - 0.8 * rho + cp.sum(xi) / m.n_examples)
        m.cuts(lambda cut: cut.delta @ w >= rho - cut.of(xi))


@pytest.mark.parametrize("seed", range(3))
def test_other_columns_are_at_their_best(seed):
    rng = np.random.default_rng(seed)
    problem = small_classes(rng)
    master, data = run_of(problem, NuSVM())
    who, delta, loss = written(problem)
    for size in (0.0, 0.3, 2.0):
        w, rho = size * rng.normal(size=delta.shape[1]), float(rng.uniform(0, 1))
        least = np.array([(delta @ w)[(who == i) & (loss > 0)].min() for i in range(6)])
        worth = min(
            w @ w / 2 - 0.8 * r + np.maximum(r - least, 0).mean() for r in (0.0, *least) if r >= 0
        )
        x = at(master, w, 0.2)
        taken = master.weight_columns.start, master.slack_columns[0]
        x[[start for start in master.columns.values() if start not in taken]] = rho
        found = separate(master, data, x)
        assert worth - 1e-9 <= found.value <= worth + 1e-6
        assert found.violation == pytest.approx(max(0.0, (rho - least - 0.2).max()), abs=1e-12)
        assert found.rounding == 0.0
        assert found.residual <= 1e-9
        assert {int(i) for cuts in found.found for i in cuts.example} == set(
            np.flatnonzero(rho - least - 0.2 > 1e-9).tolist()
        )


class Widest(so.Formulation):
    """The largest margin rho that all examples have, of weights of length 1; rho is at least r."""

    def __init__(self, least=0.0):
        self.least = least

    def master(self, m):
        w, rho = m.weights(lambda w: [cp.norm2(w) <= 1]), cp.Variable(name="rho")
        m.minimize(-rho)
        m.subject_to(rho >= self.least)
        m.cuts(lambda cut: cut.delta @ w >= rho)


def test_a_point_without_a_completion_moves_to_one_that_has_one():
    X, Y = np.eye(3), [0, 1, 2]
    structure = so.Multiclass(labels=range(3)).fitted(X, Y)
    problem = X, Y, structure, [[0, 1, 2]] * 3
    master, data = run_of(problem, Widest(0.2))
    _, delta, loss = written(problem)
    good = structure.joint_features(X[0], 0).toarray()[0]
    for x, y in zip(X[1:], Y[1:], strict=True):
        good = good + structure.joint_features(x, y).toarray()[0]
    good = good / np.linalg.norm(good) * 0.9
    fine = separate(master, data, at(master, good))
    least = (delta @ good)[loss > 0].min()
    assert fine.value == pytest.approx(-least, abs=1e-6)
    assert fine.inside is not None
    bad = at(master, 0.1 * np.random.default_rng(0).normal(size=len(good)))
    alone = separate(master, data, bad)
    assert (alone.value, alone.inside, alone.rounding) == (np.inf, None, 0.0)
    moved = separate(master, data, bad, fine.inside)
    w = moved.point[master.weight_columns]
    least = (delta @ w)[loss > 0].min()
    assert least >= 0.2 - 1e-9
    assert moved.value >= -least - 1e-9
    assert moved.value == pytest.approx(-least, abs=1e-6)
    assert moved.residual <= 1e-9
    assert moved.violation == alone.violation > 0


def told_by(data, unproven):
    """Let one pass over the data set, by its number, be unproven; count them."""
    ask, count = data.ask, [0]

    def asked(*args):
        count[0] += 1
        return [replace(a, exact=count[0] != unproven) for a in ask(*args)]

    data.ask = asked
    return count


class Budget(so.Formulation):
    """Slacks sum up to less than at w = 0, so that room must be looked for."""

    def master(self, m):
        w, xi = m.weights(), m.slacks()
        m.minimize(cp.sum_squares(w))
        m.subject_to(cp.sum(xi) <= 2.0)
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


@pytest.mark.parametrize("kind", ["a point inside is given", "room is looked for"])
def test_every_pass_where_other_columns_are_solved_for_must_be_proven(kind):
    X, Y = np.eye(3), [0, 1, 2]
    problem = X, Y, so.Multiclass(labels=range(3)).fitted(X, Y), [[0, 1, 2]] * 3
    master, data = run_of(problem, Widest(0.2) if "given" in kind else Budget())
    size = problem[2].n_features_
    if "given" in kind:
        good = np.eye(3).ravel() / np.sqrt(3) * 0.9
        inside, x = separate(master, data, at(master, good)).inside, at(master, np.zeros(size))
    else:
        first = separate(master, data, at(master, np.zeros(size)))
        for cuts in first.found:
            master.add(cuts)
        inside, x = None, at(master, 0.32 * np.eye(3).ravel() - 0.16, 0.66)
    plain = data.ask
    count = told_by(data, 0)
    assert separate(master, data, x, inside).exact
    passes = count[0]
    assert passes >= 2
    for unproven in range(1, passes + 1):
        data.ask = plain
        told_by(data, unproven)
        assert not separate(master, data, x, inside).exact
