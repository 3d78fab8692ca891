r"""Words written in digits: the handwritten digits that come with scikit-learn, strung together.

A word is a digit string from a first-order Markov source, and each of its digits is a random real
image of that digit. Neighbours are informative: knowing one digit, the next can be guessed with
probability 0.62 (instead of 0.1), so a chain reads unclear digits that a classifier of single
images cannot.

>>> X, Y = load_digit_words(2, length=(3, 3), seed=0)
>>> X[0].shape, Y[0].shape, float(X[0].max())
((3, 64), (3,), 1.0)
"""

from __future__ import annotations

from functools import cache
from typing import Literal

import numpy as np

from structopt.arrays import Floats, Ints, check_range
from structopt.datasets.home import check_split
from structopt.datasets.renamed import renamed
from structopt.parameters import Natural, Seed, checked

Split = Literal["train", "test"]

TRAIN_SHARE = 2 / 3  # of each digit's images


def digit_source() -> Floats:
    r"""Return the (10, 10) matrix of the Markov source, ``P[a, b] = p(next is b | now a)``.

    Digit a is followed by a + 1 (mod 10) with probability 0.6, by 3 a + 2 (mod 10) with probability
    0.2, and by a digit drawn uniformly with probability 0.2. Both maps are one-to-one, so the
    stationary law is uniform: single digits tell nothing, only neighbours do.

    Examples
    --------
    >>> P = digit_source()
    >>> [round(float(p), 2) for p in P[0]]
    [0.02, 0.62, 0.22, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02]
    """
    digits = np.arange(10)
    source = np.full((10, 10), 0.02)
    source[digits, (digits + 1) % 10] += 0.6
    source[digits, (3 * digits + 2) % 10] += 0.2
    return source


@renamed(n_words="n_examples")
@checked
def load_digit_words(
    n_examples: Natural = 200,
    *,
    length: tuple[int, int] = (3, 7),
    split: Split = "train",
    seed: Seed = 0,
) -> tuple[list[Floats], list[Ints]]:
    r"""Write words with handwritten digits.

    .. math::

        y_1 \sim U\{0..9\}, \quad y_{l+1} \sim P[y_l, \cdot], \quad
        x_l \sim U(\text{images of } y_l \text{ in the split}),

    with P of :func:`digit_source`.

    Parameters
    ----------
    n_examples : int
        Number of words.
    length : (int, int)
        Shortest and longest word; lengths are uniform in between.
    split : "train" or "test"
        Which images to write with. No image is in both.
    seed : int
        Seed of the words and the choice of images; the splits draw from separate streams.

    Returns
    -------
    X : list of arrays of shape (length, 64)
        8 x 8 images row by row, scaled to [0, 1].
    Y : list of int arrays of shape (length,)

    Examples
    --------
    >>> X, Y = load_digit_words(100, split="test", seed=0)
    >>> min(map(len, Y)), max(map(len, Y))
    (3, 7)
    """
    shortest, longest = check_range(length, "length")
    images, digits = load_digits_classes(split=split)
    of_digit = [np.flatnonzero(digits == d) for d in range(10)]
    rng = np.random.default_rng(seed).spawn(2)[0 if split == "train" else 1]
    cumulative = digit_source().cumsum(axis=1)
    X: list[Floats] = []
    Y: list[Ints] = []
    for size in rng.integers(shortest, longest + 1, size=n_examples):
        word = np.empty(size, dtype=np.int64)
        word[0] = rng.integers(10)
        for position, level in enumerate(rng.random(size - 1), start=1):
            # The last sum is 1 up to rounding; min keeps a level above it inside.
            follows = np.searchsorted(cumulative[word[position - 1]], level, side="right")
            word[position] = min(int(follows), 9)
        X.append(images[[rng.choice(of_digit[d]) for d in word]])
        Y.append(word)
    return X, Y


@checked
def load_digits_classes(*, split: Split = "train") -> tuple[Floats, Ints]:
    """Return single handwritten digits, for multiclass models.

    Parameters
    ----------
    split : "train" or "test"
        The first two thirds of each digit's images, or the rest. The file is ordered by writer, so
        the hands in "test" are mostly new: a harder and more honest test than a random split.

    Returns
    -------
    X : array of shape (n_images, 64)
        8 x 8 images row by row, scaled to [0, 1].
    y : int array of shape (n_images,)

    Notes
    -----
    The images are the test part of E. Alpaydin and C. Kaynak, "Optical Recognition of Handwritten
    Digits", UCI Machine Learning Repository, 1998, as bundled with scikit-learn.

    Examples
    --------
    >>> X, y = load_digits_classes()
    >>> X.shape, y.shape
    ((1195, 64), (1195,))
    """
    check_split(split, ("train", "test"))
    images, digits = _bundled()
    in_train = np.zeros(len(digits), dtype=bool)
    for digit in range(10):
        where = np.flatnonzero(digits == digit)
        in_train[where[: int(TRAIN_SHARE * len(where))]] = True
    chosen = in_train if split == "train" else ~in_train
    return images[chosen], digits[chosen]


@cache
def _bundled() -> tuple[Floats, Ints]:
    # scikit-learn takes half a second to import, and only these functions need it.
    from sklearn.datasets import load_digits

    images, digits = load_digits(return_X_y=True)
    return np.asarray(images, dtype=np.float64) / 16.0, np.asarray(digits, dtype=np.int64)
