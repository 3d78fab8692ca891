r"""The papers' generalisation bounds, as functions of what they depend on.

They are upper bounds on an error in [0, 1]; values above 1 say nothing, and are returned as they
come out, so that curves can be drawn and compared.

>>> round(covering_number(norm=10.0, largest=1.0, margin=1.0, n_weights=100, n_examples=50,
...                       n_points=1000), 1)  # log2, by Corollary 6.3
353961.7
>>> round(lp_struct_error(1e8, log2_covering=1e4, confidence=0.05), 6)
0.0002
>>> [round(local_error(m, n_inputs=100), 2) for m in (10**4, 10**6)]
[1.34, 0.18]

Numbers of points may be integers that no float holds: a sentence of 200 words has 57^200 taggings.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from structopt.errors import InvalidInputError
from structopt.parameters import Count, Positive, Share, checked


@checked
def covering_number(
    *,
    norm: Positive,
    largest: Positive,
    margin: Positive,
    n_weights: Count,
    n_examples: Positive,
    n_points: Any,
) -> float:
    r"""Return log2 of the covering number of LP-Struct's function class.

    .. math::
        \log_2 \mathcal N(\mathcal G, l, \gamma) \le
        \frac{36 c^2 b^2 (1 + \ln(d + m))}{\gamma^2}
        \log_2\left(2 \left\lceil \frac{4 c b}{\gamma} + 2 \right\rceil l + 1\right)

    Parameters
    ----------
    norm : float
        c: bounds ``|w|_1 + C |xi|_1``, the objective of LP (8) (for LP (6), the same).
    largest : float
        b: bounds every entry of delta, and 1/C.
    margin : float
        gamma.
    n_weights, n_examples : int
        d and m.
    n_points : float
        l: the number of points to cover.

    Notes
    -----
    Wang and Shawe-Taylor (2009), Corollary 6.3.
    """
    _check_points(n_points)
    factor = 36 * (norm * largest / margin) ** 2 * (1 + math.log(n_weights + n_examples))
    return factor * math.log2(2 * math.ceil(4 * norm * largest / margin + 2) * n_points + 1)


@checked
def lp_struct_error(n_points: Any, *, log2_covering: Positive, confidence: float = 0.05) -> float:
    r"""Return the bound on LP-Struct's error.

    .. math::
        \varepsilon = \frac{2}{|S|}\left(\log_2 \mathcal N(\mathcal G, 2|S|, \gamma/2)
        + \log_2 \frac{2}{\eta}\right)

    Parameters
    ----------
    n_points : float
        |S|: all pairs of a good and a bad output of all examples, exponentially many.
    log2_covering : float
        :func:`covering_number` at ``2 |S|`` points and half the margin.
    confidence : float in (0, 1)
        eta: the bound fails with at most this probability.

    Notes
    -----
    Wang and Shawe-Taylor (2009), Theorem 6.2. Its proviso ``|S| > 2 / epsilon`` always holds, since
    ``log2(2 / eta) > 1``. The theorem takes the pairs of S for independent draws; those of one
    example share their input, so that the value is the paper's, and no bound for such data.
    """
    _check_probability(confidence=confidence)
    _check_points(n_points)
    top = log2_covering + math.log2(2.0 / confidence)
    return math.exp2(1.0 + math.log2(top) - math.log2(n_points))


@checked
def rmm_improvement(
    *, C: Positive, n_examples: Count, radius: Positive, eps: Positive, eps_B: Positive
) -> float:
    r"""Return by how much a cut of StructRMM's Algorithm 1 raises the dual at least.

    .. math::
        \min\left\{ \frac{\epsilon_B^2}{2 R^2}, \frac{C \epsilon}{2 n},
        \frac{\epsilon^2}{8 R^2} \right\}

    The last two are (4), for a cut of the margins; the first is for one of the bounds.

    Parameters
    ----------
    C : float
    n_examples : int
        n.
    radius : float
        R: bounds ``|delta_i(y)|_2`` of every example and output.
    eps, eps_B : float
        By how much a margin, and a bound, is violated by what is added.

    Notes
    -----
    Shivaswamy and Jebara (2009), section 4.2.
    """
    margin = min(C * eps / (2 * n_examples), eps**2 / (8 * radius**2))
    return min(eps_B**2 / (2 * radius**2), margin)


@checked
def rmm_cuts(
    *, C: Positive, n_examples: Count, radius: Positive, eps: Positive, eps_B: Positive
) -> float:
    r"""Return how many cuts StructRMM's Algorithm 1 adds at most.

    .. math::
        \max\left\{ \frac{2 C R^2}{\epsilon_B^2}, \frac{2 n}{\epsilon},
        \frac{8 C R^2}{\epsilon^2} \right\}

    since the dual begins with 0 and never passes C, the objective at w = 0. Parameters as in
    :func:`rmm_improvement`.

    Notes
    -----
    Shivaswamy and Jebara (2009), Theorem 4.3.

    Examples
    --------
    >>> round(rmm_cuts(C=10.0, n_examples=100, radius=2.0, eps=0.1, eps_B=0.1))
    32000
    """
    return C / rmm_improvement(C=C, n_examples=n_examples, radius=radius, eps=eps, eps_B=eps_B)


@checked
def growth_error(
    n_examples: Positive,
    *,
    log_growth: Callable[[float], float],
    best: Share = 0.0,
    confidence: float = 0.05,
) -> float:
    r"""Return the bound for any set of hypotheses, by its growth function.

    .. math::
        \epsilon \le \epsilon_{opt}
        + \sqrt{\frac{32 (\log \mathcal N(2 m) + \log(4/\delta))}{m}}

    Parameters
    ----------
    n_examples : float
        m.
    log_growth : callable
        The natural logarithm of N, as a function of the number of points.
    best : float in [0, 1]
        epsilon_opt.
    confidence : float in (0, 1)
        delta: the bound fails with at most this probability.

    Notes
    -----
    Punyakanok, Roth, Yih and Zimak (2005), Theorem 6.2, (2). Their (3) and (4) put the growth
    functions of linear classifiers at m in the place of 2m: :func:`local_error`,
    :func:`global_error`.

    Examples
    --------
    >>> import math
    >>> linear = lambda m: 100 * math.log(math.e * m / 100)  # 100 inputs, by Sauer's lemma
    >>> round(growth_error(10**6, log_growth=linear), 3), round(local_error(10**6, n_inputs=100), 3)
    (0.187, 0.181)
    """
    _check_probability(confidence=confidence)
    growth = log_growth(2 * n_examples)
    if not growth >= 0:
        raise InvalidInputError(f"log_growth({2 * n_examples:g}) is {growth!r}; it must be >= 0.")
    return best + _deviation(n_examples, growth, confidence)


@checked
def local_error(
    n_examples: Positive, *, n_inputs: Count, best: Share = 0.0, confidence: float = 0.05
) -> float:
    r"""Return the bound for classifiers that are learned locally (LO and L+I).

    .. math::
        \epsilon \le \epsilon_{opt} + \sqrt{\frac{32 (d \log(e m / d) + \log(4/\delta))}{m}}

    Parameters
    ----------
    n_examples : float
        m, at least d.
    n_inputs : int
        d.
    best : float in [0, 1]
        epsilon_opt: the error of the best local classifier, 0 if the data is locally separable.
    confidence : float in (0, 1)
        delta: the bound fails with at most this probability.

    Notes
    -----
    Punyakanok, Roth, Yih and Zimak (2005), (3), as printed; their (2) has the growth function at
    2m, which would put ``2 e m / d`` under the logarithm.
    """
    _check_probability(confidence=confidence)
    return best + _deviation(n_examples, _linear(n_examples, n_inputs), confidence)


@checked
def global_error(
    n_examples: Positive, *, n_inputs: Count, n_components: Count, confidence: float = 0.05
) -> float:
    r"""Return the bound for classifiers that are learned together (IBT), globally separable.

    .. math::
        \epsilon \le \sqrt{\frac{32 (c d \log(e m / (c d)) + c^2 d + \log(4/\delta))}{m}}

    Parameters
    ----------
    n_examples : float
        m, at least c d.
    n_inputs, n_components : int
        d and c.
    confidence : float in (0, 1)
        delta: the bound fails with at most this probability.

    Notes
    -----
    Punyakanok, Roth, Yih and Zimak (2005), (4), as printed. Their growth function
    ``(e m 2^c / (c d))^{cd}`` has the logarithm ``c d (log(e m / (c d)) + c log 2)``, so c^2 d is
    a little more than it asks for.

    Examples
    --------
    >>> round(global_error(10**6, n_inputs=100, n_components=5), 2)
    0.47
    """
    _check_probability(confidence=confidence)
    size = n_components * n_inputs
    growth = _linear(n_examples, size) + n_components * size
    return _deviation(n_examples, growth, confidence)


def _linear(m: float, dimension: int) -> float:
    """Return Sauer's bound on the log of the growth function of linear classifiers."""
    if m < dimension:
        raise InvalidInputError(
            f"The bound needs at least as many examples as weights: {m:g} < {dimension}."
        )
    return dimension * math.log(math.e * m / dimension)


def _deviation(m: float, growth: float, confidence: float) -> float:
    return math.sqrt(32.0 * (growth + math.log(4.0 / confidence)) / m)


def _check_points(n_points: Any) -> None:
    real = isinstance(n_points, int | float) and not isinstance(n_points, bool)
    if not (real and n_points > 0 and n_points != math.inf):
        raise InvalidInputError(f"n_points must be a finite number > 0; got {n_points!r}.")


def _check_probability(**values: float) -> None:
    for name, value in values.items():
        if not 0 < value < 1:
            raise InvalidInputError(f"{name} must lie strictly between 0 and 1; got {value!r}.")
