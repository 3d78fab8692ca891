"""Data to learn from: generators of synthetic data, and readers of public files.

Nothing here is fetched from anywhere. Generators are seeded; files are read from
:func:`~structopt.datasets.home.data_home`.

>>> from structopt import datasets
>>> X, Y = datasets.make_chain_crf(n_examples=3, seed=0)
>>> len(X), X[0].shape, len(Y[0])
(3, (8, 100), 8)
"""

from __future__ import annotations

from structopt.datasets.alignments import make_alignments
from structopt.datasets.digits import digit_source, load_digit_words, load_digits_classes
from structopt.datasets.graphs import make_scenes, make_sentence_pairs
from structopt.datasets.grids import make_grids
from structopt.datasets.home import data_home, find_data
from structopt.datasets.letters import load_letters, read_letters
from structopt.datasets.synthetic import ChainCRF, chain_crf, make_chain_crf, make_classes

__all__ = [
    "ChainCRF",
    "chain_crf",
    "data_home",
    "digit_source",
    "find_data",
    "load_digit_words",
    "load_digits_classes",
    "load_letters",
    "make_alignments",
    "make_chain_crf",
    "make_classes",
    "make_grids",
    "make_scenes",
    "make_sentence_pairs",
    "read_letters",
]
