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
"""

from __future__ import annotations

import math

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
    n_points: Positive,
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
    factor = 36 * (norm * largest / margin) ** 2 * (1 + math.log(n_weights + n_examples))
    return factor * math.log2(2 * math.ceil(4 * norm * largest / margin + 2) * n_points + 1)


@checked
def lp_struct_error(
    n_points: Positive, *, log2_covering: Positive, confidence: float = 0.05
) -> float:
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
    ``log2(2 / eta) > 1``.
    """
    _check_probability(confidence=confidence)
    return 2.0 / n_points * (log2_covering + math.log2(2.0 / confidence))


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
    return best + _deviation(n_examples, n_inputs, 0.0, confidence)


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
    return _deviation(n_examples, size, n_components * size, confidence)


def _deviation(m: float, dimension: int, more: float, confidence: float) -> float:
    if m < dimension:
        raise InvalidInputError(
            f"The bound needs at least as many examples as weights: {m:g} < {dimension}."
        )
    growth = dimension * math.log(math.e * m / dimension) + more
    return math.sqrt(32.0 * (growth + math.log(4.0 / confidence)) / m)


def _check_probability(**values: float) -> None:
    for name, value in values.items():
        if not 0 < value < 1:
            raise InvalidInputError(f"{name} must lie strictly between 0 and 1; got {value!r}.")
