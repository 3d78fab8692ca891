r"""A zoo of margin formulations, ten lines each.

Every one is right and certified on any structure: ``tests/contracts/test_zoo.py`` compares each
with plain CVXPY, all outputs written out. Copy one, change a term, and it still is.

>>> import structopt as so
>>> X, y = so.datasets.make_classes(30, seed=0)
>>> model = so.StructuredClassifier(so.Multiclass(), ZOO["huber"](C=2.0)).fit(X, y)
>>> model.result_.certificate.certified
True
"""

import cvxpy as cp
import numpy as np

import structopt as so

ZOO = {}


def zoo(name):
    """Enter a formulation under a name."""

    def entered(cls):
        ZOO[name] = cls
        return cls

    return entered


class Hinges(so.Formulation):
    """min R(w) + C S(xi)  s.t.  w . delta_i(y) >= loss_i(y) - xi_i: a subclass says R and S."""

    def __init__(self, C=1.0):
        self.C = C

    def regulariser(self, w, m):
        """Return R(w)."""
        return cp.sum_squares(w) / 2

    def risk(self, xi, m):
        """Return S(xi)."""
        return cp.sum(xi)

    def master(self, m):
        w, xi = m.weights(), m.slacks()
        m.minimize(self.regulariser(w, m) + self.C * self.risk(xi, m))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


# ---------------------------------------------------------------------- what slacks cost
@zoo("squared")
class Squared(Hinges):
    """Squared hinges (Tsochantaridis et al. 2005): large violations weigh more."""

    def risk(self, xi, m):
        return cp.sum_squares(xi)


@zoo("huber")
class Huber(Hinges):
    """Huberised hinges: squared near 0, linear far out."""

    def risk(self, xi, m):
        return cp.sum(cp.huber(xi, 0.5))


@zoo("k-largest")
class KLargest(Hinges):
    """The sum of the k largest hinges (Fan et al. 2017): the bulk is left alone."""

    def risk(self, xi, m):
        return cp.sum_largest(xi, 2)


@zoo("worst")
class Worst(Hinges):
    """The largest hinge alone (Shalev-Shwartz and Wexler 2016)."""

    def risk(self, xi, m):
        return m.n_examples * cp.max(xi)


@zoo("cvar")
class CVaR(Hinges):
    """Conditional value at risk with its free threshold t (Rockafellar and Uryasev 2000)."""

    def master(self, m):
        w, xi, t = m.weights(), m.slacks(), cp.Variable(name="t")
        over = cp.Variable(m.n_examples, nonneg=True, name="over")
        m.subject_to(over >= xi - t)
        m.minimize(cp.sum_squares(w) / 2 + self.C * (2 * t + cp.sum(over)))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


@zoo("worst-group")
class WorstGroup(Hinges):
    """Group DRO (Sagawa et al. 2020): the group with the largest risk counts."""

    def master(self, m):
        w, xi, t, half = m.weights(), m.slacks(), cp.Variable(name="t"), m.n_examples // 2
        m.subject_to(t >= cp.sum(xi[:half]), t >= cp.sum(xi[half:]))
        m.minimize(cp.sum_squares(w) / 2 + self.C * t)
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


@zoo("chi-square")
class ChiSquare(Hinges):
    """Chi-square DRO (Namkoong and Duchi 2017): the mean and the deviation of hinges."""

    def risk(self, xi, m):
        mean = cp.sum(xi) / m.n_examples
        return cp.sum(xi) + cp.norm2(xi - mean)


@zoo("kl")
class KullbackLeibler(Hinges):
    """KL DRO (Hu and Hong 2013): log-sum-exp of hinges."""

    def risk(self, xi, m):
        return cp.log_sum_exp(xi)


@zoo("variance")
class Variance(Hinges):
    """A price on the variance of hinges (Maurer and Pontil 2009)."""

    def risk(self, xi, m):
        return cp.sum(xi) + 0.3 * cp.sum_squares(xi - cp.sum(xi) / m.n_examples)


@zoo("budget")
class Budget(Hinges):
    """The least norm that keeps to a budget of slack (Ivanov's form)."""

    def master(self, m):
        w, xi = m.weights(), m.slacks()
        m.subject_to(cp.sum(xi) <= 0.75 * m.n_examples * self.C)
        m.minimize(cp.sum_squares(w) / 2)
        m.cuts(lambda cut: cut.delta @ w >= 1 - cut.of(xi))


# ---------------------------------------------------------------------- what margins are
@zoo("nu")
class Nu(Hinges):
    """A learned margin rho (Schoelkopf et al. 2000), bounded only with cuts."""

    def master(self, m):
        w, xi, rho = m.weights(), m.slacks(), cp.Variable(name="rho")
        m.minimize(cp.sum_squares(w) / 2 - 0.9 * rho + cp.sum(xi) / m.n_examples)
        m.cuts(lambda cut: cut.delta @ w >= rho - cut.of(xi))


@zoo("learned-bound")
class LearnedBound(Hinges):
    """Relative margins (Shivaswamy and Jebara) whose bound B has a price instead of a value."""

    def master(self, m):
        w, xi, B = m.weights(), m.slacks(), cp.Variable(nonneg=True, name="B")
        m.minimize(cp.sum_squares(w) / 2 + self.C * cp.sum(xi) + 0.5 * B)
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))
        m.cuts(lambda cut: [cut.delta @ w <= B, cut.delta @ w >= -B])


@zoo("own-margins")
class OwnMargins(Hinges):
    """A margin for every example (uneven margins, Li and Shawe-Taylor 2003)."""

    def master(self, m):
        w, xi, margin = m.weights(), m.slacks(), np.linspace(0.5, 2.0, m.n_examples)
        m.minimize(cp.sum_squares(w) / 2 + self.C * cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w >= cut.of(margin) - cut.of(xi))


@zoo("two-families")
class TwoFamilies(Hinges):
    """A hinge on the loss and a squared one on the best other output."""

    def master(self, m):
        w, xi, zeta = m.weights(), m.slacks(), m.slacks()
        m.minimize(cp.sum_squares(w) / 2 + self.C * (cp.sum(xi) + cp.sum_squares(zeta)))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))
        m.cuts(lambda cut: cut.delta @ w >= 1 - cut.of(zeta))


@zoo("own-slack")
class OwnSlack(Hinges):
    """A slack that is a variable of one's own, tied to another one."""

    def master(self, m):
        w, z = m.weights(), cp.Variable(m.n_examples, nonneg=True, name="z")
        most = cp.Variable(name="most")
        m.subject_to(z <= most)
        m.minimize(cp.sum_squares(w) / 2 + self.C * (cp.sum(z) + most))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(z))


@zoo("robust")
class Robust(Hinges):
    """Margins that hold for all features in a ball (Xu, Caramanis and Mannor 2009)."""

    def master(self, m):
        w, xi = m.weights(), m.slacks()
        m.minimize(cp.sum_squares(w) / 2 + self.C * cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w - 0.1 * cp.norm2(w) >= 1 - cut.of(xi))


@zoo("robust-radii")
class RobustRadii(Hinges):
    """The same with a radius for every example, through an epigraph."""

    def master(self, m):
        w, xi, size = m.weights(), m.slacks(), cp.Variable(name="size")
        radius = np.linspace(0.0, 0.2, m.n_examples)
        m.subject_to(size >= cp.norm1(w))
        m.minimize(cp.sum_squares(w) / 2 + self.C * cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w >= 1 + cut.of(radius) * size - cut.of(xi))


# ---------------------------------------------------------------------- what weights cost
@zoo("wasserstein")
class Wasserstein(Hinges):
    """Wasserstein DRO (Shafieezadeh-Abadeh et al. 2015): the dual norm of the ground metric."""

    def regulariser(self, w, m):
        return 0.3 * cp.norm2(w)


@zoo("group-lasso")
class GroupLasso(Hinges):
    """Group lasso (Yuan and Lin 2006): groups of weights leave together."""

    def regulariser(self, w, m):
        return 0.3 * sum(cp.norm2(w[start::3]) for start in range(3))


@zoo("p-norm")
class PNorm(Hinges):
    """A norm between l1 and l2."""

    def regulariser(self, w, m):
        return 0.3 * cp.pnorm(w, 1.5)


@zoo("l-infinity")
class LInfinity(Hinges):
    """All weights of one size (Zou and Yuan 2008)."""

    def regulariser(self, w, m):
        return cp.norm_inf(w)


@zoo("owl")
class Owl(Hinges):
    """Ordered weighted l1 / OSCAR (Bondell and Reich 2008): equal weights for like features."""

    def regulariser(self, w, m):
        return 0.1 * (cp.sum_largest(cp.abs(w), 2) + cp.norm1(w))


@zoo("fused")
class Fused(Hinges):
    """Fused lasso (Tibshirani et al. 2005): neighbouring weights are equal."""

    def regulariser(self, w, m):
        return 0.2 * cp.tv(w) + 0.1 * cp.norm1(w)


@zoo("trace")
class Trace(Hinges):
    """Trace norm of the weights as a matrix (Amit et al. 2007)."""

    def regulariser(self, w, m):
        half = m.n_features // 2
        rest = cp.sum_squares(w) / 20
        return 0.3 * cp.normNuc(cp.reshape(w[: 2 * half], (2, half), order="C")) + rest


@zoo("mahalanobis")
class Mahalanobis(Hinges):
    """A quadratic with a metric of one's own."""

    def regulariser(self, w, m):
        metric = 0.5 * np.eye(m.n_features) + 0.1
        return cp.quad_form(w, metric)


@zoo("factors")
class Factors(Hinges):
    """Factor covariance: a metric of low rank beside a little l1."""

    def regulariser(self, w, m):
        loadings = np.cos(np.outer(np.arange(2), np.arange(m.n_features)))
        return cp.sum_squares(loadings @ w) + 0.1 * cp.norm1(w)


@zoo("entropy")
class Entropy(Hinges):
    """Maximum entropy weights, which are positive."""

    def regulariser(self, w, m):
        return -cp.sum(cp.entr(w))


@zoo("simplex")
class Simplex(Hinges):
    """Weights on the simplex, near uniform ones in relative entropy."""

    def master(self, m):
        w, xi = m.weights(lambda w: [cp.sum(w) == 1, w >= 0]), m.slacks()
        uniform = np.full(m.n_features, 1.0 / m.n_features)
        m.minimize(cp.sum(cp.kl_div(w, uniform)) + self.C * cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


@zoo("ball")
class Ball(Hinges):
    """The least hinges within a ball (Ivanov's form)."""

    def master(self, m):
        w, xi = m.weights(lambda w: [cp.norm2(w) <= 0.1]), m.slacks()
        m.minimize(self.C * cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


@zoo("elastic-box")
class ElasticBox(Hinges):
    """Elastic net (Zou and Hastie 2005) with bounds on the weights."""

    def master(self, m):
        w, xi = m.weights(lambda w: [w <= 0.5, w >= -0.5]), m.slacks()
        m.minimize(0.1 * cp.norm1(w) + cp.sum_squares(w) / 2 + self.C * cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


# ---------------------------------------------------------------------- what ties weights
@zoo("fair")
class Fair(Hinges):
    """A bound on how much two directions of the weights may differ (Zafar et al. 2017)."""

    def master(self, m):
        w, xi, gap = m.weights(), m.slacks(), np.sin(np.arange(m.n_features))
        m.subject_to(cp.abs(gap @ w) <= 0.01)
        m.minimize(cp.sum_squares(w) / 2 + self.C * cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


@zoo("monotone")
class Monotone(Hinges):
    """Weights in a known order, the first two of them shared."""

    def master(self, m):
        w, xi = m.weights(lambda w: [cp.diff(w) >= -0.05, w[0] == w[1]]), m.slacks()
        m.minimize(cp.sum_squares(w) / 2 + self.C * cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


@zoo("dirty")
class Dirty(Hinges):
    """The dirty model (Jalali et al. 2010): a sparse part and one with even weights."""

    def master(self, m):
        w, xi = m.weights(), m.slacks()
        sparse, even = (cp.Variable(m.n_features, name=name) for name in ("sparse", "even"))
        m.subject_to(w == sparse + even)
        m.minimize(0.3 * cp.norm1(sparse) + 0.5 * cp.norm_inf(even) + self.C * cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


@zoo("multi-task")
class MultiTask(Hinges):
    """Regularised multi-task learning (Evgeniou and Pontil 2004): w + v_t for task t."""

    def master(self, m):
        w, xi, task = m.weights(), m.slacks(), np.arange(m.n_examples) % 2
        own = [cp.Variable(m.n_features, name=f"v{t}") for t in range(2)]
        apart = sum(cp.sum_squares(v) for v in own)
        m.minimize(cp.sum_squares(w) / 2 + apart + self.C * cp.sum(xi))
        for t, v in enumerate(own):
            m.cuts(lambda cut, v=v: cut.delta @ (w + v) >= cut.loss - cut.of(xi), where=task == t)


@zoo("transfer")
class Transfer(Hinges):
    """Few changes to given weights: ``delta`` multiplies v + w0."""

    def master(self, m):
        v, w0, xi = m.weights(), np.full(m.n_features, 0.1), m.slacks()
        m.minimize(0.2 * cp.norm1(v) + self.C * cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ (v + w0) >= cut.loss - cut.of(xi))
