r"""Synthetic data whose truth is known: linear-chain CRFs with few relevant inputs, and blobs.

A linear-chain conditional random field over labels 1..K,

    p(y | x)  ~  exp( sum_l  state[y_l] . x_l  +  sum_l  transition[y_l, y_{l+1}] ),

from which labels are drawn by a Gibbs sampler. Only the first `n_relevant` inputs carry weight; the
rest is noise that a sparse learner should discard.

>>> X, Y = make_chain_crf(n_examples=2, seed=0)
>>> X[0].shape, Y[0].shape
((8, 100), (8,))
>>> crf = chain_crf(seed=0)  # the field that labelled them
>>> bool((crf.state[:, 30:] == 0).all())
True
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from structopt.arrays import Floats, Ints, check_range
from structopt.errors import InvalidInputError
from structopt.parameters import Count, Natural, Seed, checked

GROUP = 3  # correlated copies of one hidden value: 30 relevant inputs in 10 groups in the paper
NOISE = 0.05  # standard deviation of a copy around its hidden value, as in the paper
SWEEPS = 100  # of the sampler; tests compare half as many with enumeration
CHUNK = 1024  # examples sampled together: bounds the memory for random numbers


@dataclass(frozen=True)
class ChainCRF:
    r"""A linear-chain CRF, ``p(y | x) ~ exp(sum state[y_l].x_l + sum transition[y_l, y_l+1])``.

    Attributes
    ----------
    state : array of shape (n_labels, n_features)
        Weight of an input for a label.
    transition : array of shape (n_labels, n_labels)
        Weight of a label (row) being followed by another (column).
    """

    state: Floats
    transition: Floats

    def sample(
        self,
        x: Floats,
        rng: np.random.Generator,
        *,
        lengths: Ints | None = None,
        sweeps: int = SWEEPS,
    ) -> Ints:
        r"""Draw one labelling for each of many inputs by Gibbs sampling.

        Given its neighbours a label is drawn from

            p(y_l = k | rest)  ~  exp( state[k].x_l + transition[y_l-1, k] + transition[k, y_l+1] ).

        Even and odd positions alternate: positions of one parity do not touch, so all of them, in
        all examples, are drawn at once.

        Parameters
        ----------
        x : array of shape (n_examples, length, n_features)
            Inputs.
        rng : numpy Generator
            Source of randomness; the labels of the first n examples do not depend on how many
            follow.
        lengths : array of int, optional
            True length of each example; labels behind it are drawn but mean nothing.
        sweeps : int
            How often every label is drawn anew.

        Returns
        -------
        array of int of shape (n_examples, length)
        """
        n, length, _ = x.shape
        n_labels = len(self.state)
        sizes = np.full(n, length) if lengths is None else lengths
        node = x @ self.state.T
        # One row of random numbers per example, so that more examples leave the first ones alone.
        uniform = rng.random((n, sweeps + 1, length))
        y: Ints = (uniform[:, 0] * n_labels).astype(np.int64)
        follows = (np.arange(length - 1) + 1 < sizes[:, None])[:, :, None]  # l + 1 is in the chain
        for sweep in range(1, sweeps + 1):
            for parity in (0, 1):
                scores = node.copy()
                scores[:, 1:] += self.transition[y[:, :-1]] * follows
                scores[:, :-1] += self.transition.T[y[:, 1:]] * follows
                scores = scores[:, parity::2]
                mass = np.exp(scores - scores.max(axis=2, keepdims=True)).cumsum(axis=2)
                level = uniform[:, sweep, parity::2, None] * mass[:, :, -1:]
                y[:, parity::2] = (mass[:, :, :-1] <= level).sum(axis=2)
        return y


@checked
def chain_crf(
    *, n_features: Count = 100, n_relevant: Natural = 30, n_labels: Count = 2, seed: Seed = 0
) -> ChainCRF:
    """Return the CRF that :func:`make_chain_crf` draws labels from, given the same arguments.

    Weights of the relevant inputs and of the transitions are uniform on [0, 1].

    Notes
    -----
    The paper does not state the law of the weights; its Figure 3 draws the first field's, and they
    fill [0, 1].

    Examples
    --------
    >>> chain_crf(seed=0).state.shape
    (2, 100)
    """
    if n_relevant > n_features:
        raise InvalidInputError(
            f"n_relevant must be between 0 and n_features = {n_features}, not {n_relevant}."
        )
    if n_labels < 2:
        raise InvalidInputError(f"n_labels must be at least 2, not {n_labels}.")
    rng = _streams(seed)[0]
    state = np.zeros((n_labels, n_features))
    state[:, :n_relevant] = rng.random((n_labels, n_relevant))
    return ChainCRF(state, rng.random((n_labels, n_labels)))


@checked
def make_chain_crf(
    n_examples: Natural = 200,
    *,
    length: int | tuple[int, int] = 8,
    n_features: Count = 100,
    n_relevant: Natural = 30,
    n_labels: Count = 2,
    correlated: bool = True,
    seed: Seed = 0,
) -> tuple[list[Floats], list[Ints]]:
    r"""Draw sequences with correlated inputs, labelled by a sparse linear-chain CRF.

    The relevant inputs come first, in groups of three. At each position a group draws one hidden
    value h and shows it three times with noise,

        h ~ N(0, 1),   x_j = h + 0.05 e_j,   e_j ~ N(0, 1),   j in the group;

    all other inputs are independent N(0, 1). Labels are drawn from the field by Gibbs sampling, so
    no model predicts them without error.

    Parameters
    ----------
    n_examples : int
        Number of sequences. The first n are the same for any larger number.
    length : int or (int, int)
        Length of every sequence, or the shortest and longest (uniform in between).
    n_features, n_relevant, n_labels : int
        Inputs at a position, how many of them matter, and labels.
    correlated : bool
        Whether relevant inputs come in groups; if not, all inputs are independent N(0, 1).
    seed : int
        The same seed gives the same field and the same data.

    Returns
    -------
    X : list of arrays of shape (length, n_features)
    Y : list of int arrays of shape (length,)

    Notes
    -----
    The data of J. Zhu, E. P. Xing and B. Zhang, "Primal Sparse Max-Margin Markov Networks" (KDD
    2009), Section 5.1: d = 100 inputs, 30 relevant ones in 10 groups of 3, chains of 8 binary
    labels; each of its ten data sets is 1000 examples of another field, here another seed. It also
    mentions independent inputs, ``correlated=False``, without numbers.

    Examples
    --------
    >>> X, Y = make_chain_crf(50, length=(3, 5), n_labels=3, seed=1)
    >>> sorted({len(y) for y in Y}), sorted({int(k) for y in Y for k in y})
    ([3, 4, 5], [0, 1, 2])
    """
    shortest, longest = check_range(length, "length")
    crf = chain_crf(n_features=n_features, n_relevant=n_relevant, n_labels=n_labels, seed=seed)
    _, shape_rng, hidden_rng, noise_rng, label_rng = _streams(seed)
    group = np.arange(n_relevant) // GROUP
    X: list[Floats] = []
    Y: list[Ints] = []
    for start in range(0, n_examples, CHUNK):
        n = min(CHUNK, n_examples - start)
        lengths: Ints = shape_rng.integers(shortest, longest + 1, size=n)
        hidden = hidden_rng.standard_normal((n, longest, -(-n_relevant // GROUP)))
        x = noise_rng.standard_normal((n, longest, n_features))
        if correlated:
            x[:, :, :n_relevant] *= NOISE
            x[:, :, :n_relevant] += hidden[:, :, group]
        y = crf.sample(x, label_rng, lengths=lengths)
        # Copies, so that one kept example does not keep its whole chunk alive.
        X.extend(x[i, :size].copy() for i, size in enumerate(lengths))
        Y.extend(y[i, :size].copy() for i, size in enumerate(lengths))
    return X, Y


@checked
def make_classes(
    n_examples: Natural = 200,
    n_features: Count = 10,
    n_labels: Count = 3,
    *,
    separation: float = 3.0,
    seed: Seed = 0,
) -> tuple[Floats, Ints]:
    r"""Draw points around one centre per class.

    With unit vectors c_k drawn uniformly from the sphere,

        x = separation * c_k + e,   e ~ N(0, I),   k = 0, ..., n_labels - 1.

    Parameters
    ----------
    n_examples : int
        Number of points; classes differ by at most one in size and come in random order.
    n_features, n_labels : int
        Dimension and number of classes.
    separation : float
        Distance of every centre from the origin, in standard deviations of the noise.
    seed : int
        Seed of the centres and the points.

    Returns
    -------
    X : array of shape (n_examples, n_features)
    y : int array of shape (n_examples,)

    Examples
    --------
    >>> X, y = make_classes(9, 2, 3, seed=0)
    >>> X.shape, sorted(y.tolist())
    ((9, 2), [0, 0, 0, 1, 1, 1, 2, 2, 2])
    """
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((n_labels, n_features))
    centres *= float(separation) / np.linalg.norm(centres, axis=1, keepdims=True)
    y: Ints = rng.permutation(np.arange(n_examples, dtype=np.int64) % n_labels)
    return centres[y] + rng.standard_normal((n_examples, n_features)), y


def _streams(seed: int) -> list[np.random.Generator]:
    """Independent streams for the field, lengths, hidden values, noise and labels."""
    return np.random.default_rng(seed).spawn(5)
