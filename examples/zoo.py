r"""A zoo of margin formulations, ten lines each.

Every one is right and certified on any structure: ``tests/contracts/test_zoo.py`` compares each
with plain CVXPY, all outputs written out. Copy one, change a term, and it still is.

A docstring says what it is and whose, the programme, and when to use it; ``structopt bench zoo``
measures all of them and writes ``docs/zoo.md`` from here.

>>> import structopt as so
>>> X, y = so.datasets.make_classes(30, seed=0)
>>> model = so.StructuredClassifier(so.Multiclass(), ZOO["huber"](C=2.0)).fit(X, y)
>>> model.result_.certificate.certified
True
"""

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

import structopt as so

ZOO = {}


def zoo(name):
    """Enter a formulation under a name."""

    def entered(cls):
        ZOO[name] = cls
        return cls

    return entered


class Hinges(so.Formulation):
    """M3N (Taskar et al. 2004), R(w) + C S(xi) in general: a subclass says R and S.

        min 1/2 |w|^2 + C sum_i xi_i   s.t.  w . delta_i(y) >= loss_i(y) - xi_i

    When nothing speaks against it; what others are compared with.
    """

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
    """Squared hinges (Tsochantaridis et al. 2005): large violations weigh more.

        min 1/2 |w|^2 + C sum_i xi_i^2

    When a few gross violations are worse than many small ones and gold is clean.
    """

    def risk(self, xi, m):
        return cp.sum_squares(xi)


@zoo("huber")
class Huber(Hinges):
    """Huberised hinges (Huber 1964; Wang et al. 2008): squared near 0, linear far out.

        min 1/2 |w|^2 + C sum_i huber(xi_i, 0.5)

    When small violations should cost little, and wrong gold should not rule.
    """

    def risk(self, xi, m):
        return cp.sum(cp.huber(xi, 0.5))


@zoo("k-largest")
class KLargest(Hinges):
    """The sum of the k largest hinges (Fan et al. 2017): the bulk is left alone.

        min 1/2 |w|^2 + C (sum of the k largest xi)

    When hard examples count and easy ones should not be fitted further.
    """

    def risk(self, xi, m):
        return cp.sum_largest(xi, 2)


@zoo("worst")
class Worst(Hinges):
    """The largest hinge alone (Shalev-Shwartz and Wexler 2016).

        min 1/2 |w|^2 + C n max_i xi_i

    When no example may fail and gold is without errors.
    """

    def risk(self, xi, m):
        return m.n_examples * cp.max(xi)


@zoo("cvar")
class CVaR(Hinges):
    """Conditional value at risk with its free threshold t (Rockafellar and Uryasev 2000).

        min 1/2 |w|^2 + C (k t + sum_i max(0, xi_i - t)),  t free

    When the tail of the losses matters, and its threshold is of interest.
    """

    def master(self, m):
        w, xi, t = m.weights(), m.slacks(), cp.Variable(name="t")
        over = cp.Variable(m.n_examples, nonneg=True, name="over")
        m.subject_to(over >= xi - t)
        m.minimize(cp.sum_squares(w) / 2 + self.C * (2 * t + cp.sum(over)))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


@zoo("worst-group")
class WorstGroup(Hinges):
    """Group DRO (Sagawa et al. 2020): the group with the largest risk counts.

        min 1/2 |w|^2 + C max_g sum_(i in g) xi_i

    When known groups (writers, sources) must all be served.
    """

    def master(self, m):
        w, xi, t, half = m.weights(), m.slacks(), cp.Variable(name="t"), m.n_examples // 2
        m.subject_to(t >= cp.sum(xi[:half]), t >= cp.sum(xi[half:]))
        m.minimize(cp.sum_squares(w) / 2 + self.C * t)
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


@zoo("chi-square")
class ChiSquare(Hinges):
    """Chi-square DRO (Namkoong and Duchi 2017): the mean and the deviation of hinges.

        min 1/2 |w|^2 + C (sum_i xi_i + |xi - mean xi|)

    When the data to come may be weighted otherwise than these, moderately.
    """

    def risk(self, xi, m):
        mean = cp.sum(xi) / m.n_examples
        return cp.sum(xi) + cp.norm2(xi - mean)


@zoo("kl")
class KullbackLeibler(Hinges):
    """KL DRO (Hu and Hong 2013): log-sum-exp of hinges.

        min 1/2 |w|^2 + C log sum_i exp xi_i

    When a smooth form between the mean and the worst example is wanted.
    """

    def risk(self, xi, m):
        return cp.log_sum_exp(xi)


@zoo("variance")
class Variance(Hinges):
    """A price on the variance of hinges (Maurer and Pontil 2009).

        min 1/2 |w|^2 + C (sum_i xi_i + 0.3 |xi - mean xi|^2)

    When examples should be served evenly.
    """

    def risk(self, xi, m):
        return cp.sum(xi) + 0.3 * cp.sum_squares(xi - cp.sum(xi) / m.n_examples)


@zoo("budget")
class Budget(Hinges):
    """The least norm that keeps to a budget of slack (Ivanov 1976).

        min 1/2 |w|^2   s.t.  sum_i xi_i <= b,  w . delta_i(y) >= 1 - xi_i

    When it is easier to say how much may be violated than what it costs.
    """

    def master(self, m):
        w, xi = m.weights(), m.slacks()
        m.subject_to(cp.sum(xi) <= 0.75 * m.n_examples * self.C)
        m.minimize(cp.sum_squares(w) / 2)
        m.cuts(lambda cut: cut.delta @ w >= 1 - cut.of(xi))


# ---------------------------------------------------------------------- what margins are
@zoo("nu")
class Nu(Hinges):
    """A learned margin rho (Schoelkopf et al. 2000), bounded only with cuts.

        min 1/2 |w|^2 - nu rho + mean xi   s.t.  w . delta_i(y) >= rho - xi_i

    When a share of examples within the margin is easier to name than C.
    """

    def master(self, m):
        w, xi, rho = m.weights(), m.slacks(), cp.Variable(name="rho")
        m.minimize(cp.sum_squares(w) / 2 - 0.9 * rho + cp.sum(xi) / m.n_examples)
        m.cuts(lambda cut: cut.delta @ w >= rho - cut.of(xi))


@zoo("learned-bound")
class LearnedBound(Hinges):
    """Relative margins (Shivaswamy and Jebara 2010) whose bound B has a price instead of a value.

        min 1/2 |w|^2 + C sum_i xi_i + 0.5 B   s.t. also  |w . delta_i(y)| <= B

    When outputs are spread widely in directions that do not matter.
    """

    def master(self, m):
        w, xi, B = m.weights(), m.slacks(), cp.Variable(nonneg=True, name="B")
        m.minimize(cp.sum_squares(w) / 2 + self.C * cp.sum(xi) + 0.5 * B)
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))
        m.cuts(lambda cut: [cut.delta @ w <= B, cut.delta @ w >= -B])


@zoo("own-margins")
class OwnMargins(Hinges):
    """A margin for every example (uneven margins, Li and Shawe-Taylor 2003).

        min 1/2 |w|^2 + C sum_i xi_i   s.t.  w . delta_i(y) >= m_i - xi_i

    When some examples (rare, costly, sure) need more room than others.
    """

    def master(self, m):
        w, xi, margin = m.weights(), m.slacks(), np.linspace(0.5, 2.0, m.n_examples)
        m.minimize(cp.sum_squares(w) / 2 + self.C * cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w >= cut.of(margin) - cut.of(xi))


@zoo("two-families")
class TwoFamilies(Hinges):
    """A hinge on the loss and a squared one on the best other output (this library's).

        min 1/2 |w|^2 + C (sum_i xi_i + |zeta|^2)   s.t. also  w . delta_i(y) >= 1 - zeta_i

    When the runner-up matters as well as the loss.
    """

    def master(self, m):
        w, xi, zeta = m.weights(), m.slacks(), m.slacks()
        m.minimize(cp.sum_squares(w) / 2 + self.C * (cp.sum(xi) + cp.sum_squares(zeta)))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))
        m.cuts(lambda cut: cut.delta @ w >= 1 - cut.of(zeta))


@zoo("own-slack")
class OwnSlack(Hinges):
    """A slack that is a variable of one's own, tied to another one (this library's).

        min 1/2 |w|^2 + C (sum_i z_i + most)   s.t.  z_i <= most

    When slacks stand in constraints or links of one's own.
    """

    def master(self, m):
        w, z = m.weights(), cp.Variable(m.n_examples, nonneg=True, name="z")
        most = cp.Variable(name="most")
        m.subject_to(z <= most)
        m.minimize(cp.sum_squares(w) / 2 + self.C * (cp.sum(z) + most))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(z))


@zoo("robust")
class Robust(Hinges):
    """Margins that hold for all features in a ball (Xu, Caramanis and Mannor 2009).

        min 1/2 |w|^2 + C sum_i xi_i   s.t.  w . delta_i(y) - 0.1 |w| >= 1 - xi_i

    When features are measured with errors of a known size.
    """

    def master(self, m):
        w, xi = m.weights(), m.slacks()
        m.minimize(cp.sum_squares(w) / 2 + self.C * cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w - 0.1 * cp.norm2(w) >= 1 - cut.of(xi))


@zoo("robust-radii")
class RobustRadii(Hinges):
    """The same with a radius for every example, through an epigraph (Shivaswamy et al. 2006).

        min 1/2 |w|^2 + C sum_i xi_i   s.t.  w . delta_i(y) >= 1 + r_i |w|_1 - xi_i

    When the errors of features differ by example.
    """

    def master(self, m):
        w, xi, size = m.weights(), m.slacks(), cp.Variable(name="size")
        radius = np.linspace(0.0, 0.2, m.n_examples)
        m.subject_to(size >= cp.norm1(w))
        m.minimize(cp.sum_squares(w) / 2 + self.C * cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w >= 1 + cut.of(radius) * size - cut.of(xi))


# ---------------------------------------------------------------------- what weights cost
@zoo("wasserstein")
class Wasserstein(Hinges):
    """Wasserstein DRO (Shafieezadeh-Abadeh et al. 2015): the dual norm of the ground metric.

        min 0.3 |w| + C sum_i xi_i

    When the data to come may be moved a little in the feature space.
    """

    def regulariser(self, w, m):
        return 0.3 * cp.norm2(w)


@zoo("group-lasso")
class GroupLasso(Hinges):
    """Group lasso (Yuan and Lin 2006): groups of weights leave together.

        min 0.3 sum_g |w_g| + C sum_i xi_i

    When whole groups of features should be dropped; m.groups names those of labels and
    features.
    """

    def regulariser(self, w, m):
        return 0.3 * sum(cp.norm2(w[start::3]) for start in range(3))


@zoo("p-norm")
class PNorm(Hinges):
    """A norm between l1 and l2 (bridge penalties, Frank and Friedman 1993).

        min 0.3 |w|_1.5 + C sum_i xi_i

    When weights should be nearly sparse, without the jumps of l1.
    """

    def regulariser(self, w, m):
        return 0.3 * cp.pnorm(w, 1.5)


@zoo("l-infinity")
class LInfinity(Hinges):
    """All weights of one size (Zou and Yuan 2008).

        min |w|_inf + C sum_i xi_i

    When all features should vote with about the same weight.
    """

    def regulariser(self, w, m):
        return cp.norm_inf(w)


@zoo("owl")
class Owl(Hinges):
    """Ordered weighted l1 / OSCAR (Bondell and Reich 2008): equal weights for like features.

        min 0.1 (sum of the 2 largest |w_j| + |w|_1) + C sum_i xi_i

    When correlated features should enter together.
    """

    def regulariser(self, w, m):
        return 0.1 * (cp.sum_largest(cp.abs(w), 2) + cp.norm1(w))


@zoo("fused")
class Fused(Hinges):
    """Fused lasso (Tibshirani et al. 2005): neighbouring weights are equal.

        min 0.2 sum_j |w_(j+1) - w_j| + 0.1 |w|_1 + C sum_i xi_i

    When features have an order (time, place, scale) and effects are piecewise constant.
    """

    def regulariser(self, w, m):
        return 0.2 * cp.tv(w) + 0.1 * cp.norm1(w)


@zoo("trace")
class Trace(Hinges):
    """Trace norm of the weights as a matrix (Amit et al. 2007).

        min 0.3 |W|_* + 1/20 |w|^2 + C sum_i xi_i

    When labels or tasks share a few directions.
    """

    def regulariser(self, w, m):
        half = m.n_features // 2
        rest = cp.sum_squares(w) / 20
        return 0.3 * cp.normNuc(cp.reshape(w[: 2 * half], (2, half), order="C")) + rest


@zoo("mahalanobis")
class Mahalanobis(Hinges):
    """A quadratic with a metric of one's own, by its factor (Shivaswamy and Jebara 2007).

        min 1/2 |L w|^2 + C sum_i xi_i

    When a covariance or a graph of the features is known.
    """

    def regulariser(self, w, m):
        factor = sp.diags_array([1.0, -0.3], offsets=[0, 1], shape=(m.n_features, m.n_features))
        return cp.sum_squares(factor @ w) / 2


@zoo("factors")
class Factors(Hinges):
    """Factor covariance: a metric of low rank beside a little l1 (this library's).

        min |F w|^2 + 0.1 |w|_1 + C sum_i xi_i

    When a few factors explain how features vary together.
    """

    def regulariser(self, w, m):
        loadings = np.cos(np.outer(np.arange(2), np.arange(m.n_features)))
        return cp.sum_squares(loadings @ w) + 0.1 * cp.norm1(w)


@zoo("entropy")
class Entropy(Hinges):
    """Maximum entropy weights, which are positive (after Jaakkola et al. 1999).

        min sum_j w_j log w_j + C sum_i xi_i

    When weights are positive by nature.
    """

    def regulariser(self, w, m):
        return -cp.sum(cp.entr(w))


@zoo("simplex")
class Simplex(Hinges):
    """Weights on the simplex, near uniform ones in relative entropy (Kivinen and Warmuth 1997).

        min KL(w, uniform) + C sum_i xi_i   s.t.  sum_j w_j = 1, w >= 0

    When w mixes given scores, of experts or earlier models.
    """

    def master(self, m):
        w, xi = m.weights(lambda w: [cp.sum(w) == 1, w >= 0]), m.slacks()
        uniform = np.full(m.n_features, 1.0 / m.n_features)
        m.minimize(cp.sum(cp.kl_div(w, uniform)) + self.C * cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


@zoo("ball")
class Ball(Hinges):
    """The least hinges within a ball (Ivanov 1976).

        min C sum_i xi_i   s.t.  |w| <= 0.1

    When the size of the weights is given, as by a bound on generalisation.
    """

    def master(self, m):
        w, xi = m.weights(lambda w: [cp.norm2(w) <= 0.1]), m.slacks()
        m.minimize(self.C * cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


@zoo("elastic-box")
class ElasticBox(Hinges):
    """Elastic net (Zou and Hastie 2005) with bounds on the weights.

        min 0.1 |w|_1 + 1/2 |w|^2 + C sum_i xi_i   s.t.  |w_j| <= 1/2

    When sparse weights are wanted of which none may dominate.
    """

    def master(self, m):
        w, xi = m.weights(lambda w: [w <= 0.5, w >= -0.5]), m.slacks()
        m.minimize(0.1 * cp.norm1(w) + cp.sum_squares(w) / 2 + self.C * cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


# ---------------------------------------------------------------------- what ties weights
@zoo("fair")
class Fair(Hinges):
    """A bound on how much two directions of the weights may differ (Zafar et al. 2017).

        min 1/2 |w|^2 + C sum_i xi_i   s.t.  |a . w| <= 0.01

    When a direction (a protected group's mean difference) must not decide.
    """

    def master(self, m):
        w, xi, gap = m.weights(), m.slacks(), np.sin(np.arange(m.n_features))
        m.subject_to(cp.abs(gap @ w) <= 0.01)
        m.minimize(cp.sum_squares(w) / 2 + self.C * cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


@zoo("monotone")
class Monotone(Hinges):
    """Weights in a known order (Barlow et al. 1972), the first two of them shared.

        min 1/2 |w|^2 + C sum_i xi_i   s.t.  w_(j+1) >= w_j - 0.05, w_0 = w_1

    When it is known that more of a feature cannot speak against.
    """

    def master(self, m):
        w, xi = m.weights(lambda w: [cp.diff(w) >= -0.05, w[0] == w[1]]), m.slacks()
        m.minimize(cp.sum_squares(w) / 2 + self.C * cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


@zoo("dirty")
class Dirty(Hinges):
    """The dirty model (Jalali et al. 2010): a sparse part and one with even weights.

        min 0.3 |s|_1 + 0.5 |e|_inf + C sum_i xi_i   s.t.  w = s + e

    When most weights share one size and a few stand out.
    """

    def master(self, m):
        w, xi = m.weights(), m.slacks()
        sparse, even = (cp.Variable(m.n_features, name=name) for name in ("sparse", "even"))
        m.subject_to(w == sparse + even)
        m.minimize(0.3 * cp.norm1(sparse) + 0.5 * cp.norm_inf(even) + self.C * cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


@zoo("multi-task")
class MultiTask(Hinges):
    """Regularised multi-task learning (Evgeniou and Pontil 2004): w + v_t for task t.

        min 1/2 |w|^2 + sum_t |v_t|^2 + C sum_i xi_i
        s.t.  (w + v_t(i)) . delta_i(y) >= loss_i(y) - xi_i

    When tasks are alike and not the same; predictions use the common w.
    """

    def master(self, m):
        w, xi, task = m.weights(), m.slacks(), np.arange(m.n_examples) % 2
        own = [cp.Variable(m.n_features, name=f"v{t}") for t in range(2)]
        apart = sum(cp.sum_squares(v) for v in own)
        m.minimize(cp.sum_squares(w) / 2 + apart + self.C * cp.sum(xi))
        for t, v in enumerate(own):
            m.cuts(lambda cut, v=v: cut.delta @ (w + v) >= cut.loss - cut.of(xi), where=task == t)


@zoo("transfer")
class Transfer(Hinges):
    """Few changes to given weights (Evgeniou and Pontil 2004; Yang et al. 2007), v + w0.

        min 0.2 |v|_1 + C sum_i xi_i   s.t.  (v + w0) . delta_i(y) >= loss_i(y) - xi_i

    When a model of a related task is given and few data of this one.
    """

    def master(self, m):
        v, w0, xi = m.weights(), np.full(m.n_features, 0.1), m.slacks()
        m.minimize(0.2 * cp.norm1(v) + self.C * cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ (v + w0) >= cut.loss - cut.of(xi))
