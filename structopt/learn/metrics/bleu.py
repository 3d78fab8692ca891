r"""BLEU of translations: sacrebleu's counts, and the score from many sums of counts at once.

    BLEU = 100 * min(1, exp(1 - r / c)) * (p_1 p_2 p_3 p_4)^(1/4)

with c words of output, r of the references, and p_n the share of n-grams that are right. Text is
taken as it is: tokens separated by blanks, and cases matter.

>>> statistics, sentence = bleu_statistics(["the cat sat down"], "the cat sat down")
>>> statistics
array([[4, 4, 4, 3, 2, 1, 4, 3, 2, 1]])
>>> round(float(sentence[0]), 6), round(corpus_bleu(["the cat sat on it"], ["the cat sat"]), 6)
(100.0, 39.763536)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.errors import InvalidInputError, MissingDependencyError
from structopt.learn.metrics.counted import Counted

ORDERS = 4
References = str | Sequence[str]
"""What a sentence should be: one translation, or several that are all good."""


def bleu_statistics(hypotheses: Sequence[str], references: References) -> tuple[Ints, Floats]:
    """Return the counts of each hypothesis for one sentence, and its sentence BLEU.

    Parameters
    ----------
    hypotheses : sequence of str
    references : str or sequence of str

    Returns
    -------
    statistics : int array of shape (H, 10)
        Length, length of the closest reference, right n-grams and all n-grams (n = 1 to 4). Those
        of a corpus are their sums.
    sentence : array of shape (H,)
        Smoothed sentence BLEU (sacrebleu's exponential smoothing, effective order), 0 to 100.
    """
    metric, good = _metric(), as_references(references)
    found = {}
    for text in set(hypotheses):
        score = metric.sentence_score(text, good)
        counts = [score.sys_len, score.ref_len, *score.counts, *score.totals]
        found[text] = (counts, score.score)
    statistics = np.array([found[text][0] for text in hypotheses], dtype=np.int64)
    sentence = np.array([found[text][1] for text in hypotheses], dtype=np.float64)
    return statistics.reshape(-1, 2 + 2 * ORDERS), sentence


def corpus_bleu(hypotheses: Sequence[str], references: Sequence[References]) -> float:
    """Return the BLEU of a corpus, 0 to 100: one hypothesis per sentence."""
    check_corpus(hypotheses, references)
    counts = [
        bleu_statistics([text], good)[0][0]
        for text, good in zip(hypotheses, references, strict=True)
    ]
    system, reference, *grams = np.sum(counts, axis=0).tolist()
    right, total = grams[:ORDERS], grams[ORDERS:]
    metric = _metric()
    score = metric.compute_bleu(right, total, system, reference, smooth_method="exp").score
    return float(score)


def bleu_of_statistics(statistics: Ints | Floats) -> Floats:
    """Return the corpus BLEU of each row of summed counts: sacrebleu's formula over arrays.

    A search that scores many thousand candidate corpora needs it; one corpus is `corpus_bleu`.
    """
    counts = np.asarray(statistics)
    system, reference = counts[..., 0], counts[..., 1]
    right, total = counts[..., 2 : 2 + ORDERS], counts[..., 2 + ORDERS :]
    log_precision = np.zeros(system.shape)
    halvings = np.ones(system.shape)
    defined = right.any(axis=-1) & total.all(axis=-1)
    for n in range(ORDERS):
        none = right[..., n] == 0
        halvings = np.where(none, 2 * halvings, halvings)  # the exponential smoothing
        share = np.where(none, 1 / halvings, right[..., n]) / np.maximum(total[..., n], 1)
        log_precision += np.log(share) / ORDERS
    short = np.minimum(0.0, 1.0 - reference / np.maximum(system, 1))
    return np.where(defined, 100.0 * np.exp(short + log_precision), 0.0)


def _counts(Y: Sequence[References], predicted: Sequence[str]) -> Floats:
    each = [bleu_statistics([text], good)[0][0] for good, text in zip(Y, predicted, strict=True)]
    return np.asarray(each, dtype=np.float64)


TRANSLATIONS = Counted(_counts, bleu_of_statistics)
"""Corpus BLEU of references and translations, by name "bleu"."""


def as_references(references: References) -> list[str]:
    """Return the references of a sentence as a list; refuse an empty one."""
    good = [references] if isinstance(references, str) else list(references)
    if not good or not all(isinstance(text, str) for text in good):
        raise InvalidInputError(
            f"The references of a sentence are {references!r}: give a string, or some of them."
        )
    return good


def check_corpus(hypotheses: Sequence[Any], references: Sequence[References]) -> None:
    """Refuse a corpus without sentences, and one with more or fewer references than those."""
    if isinstance(references, str) or len(hypotheses) != len(references) or not len(hypotheses):
        raise InvalidInputError(
            f"{len(hypotheses)} hypotheses or n-best lists and "
            f"{'one string' if isinstance(references, str) else len(references)} for references: "
            "give at least one sentence, and for each its reference(s)."
        )


def _metric() -> Any:
    try:
        from sacrebleu.metrics import BLEU
    except ImportError as error:
        raise MissingDependencyError(
            "BLEU needs sacrebleu: pip install 'structopt-margin[translation]'."
        ) from error
    # force: the text is tokenised, and that is no mistake
    return BLEU(tokenize="none", effective_order=True, force=True)
