r"""Pseudo-references: the hypotheses of an n-best list that come closest to the real reference.

The reference translation is rarely among the outputs a decoder can reach. In its place stand those
that are best by smoothed sentence BLEU:

    G_i = the hypotheses of the ``n`` translations with the highest sentence BLEU.

>>> class Two:
...     hypotheses = ["the house red", "the red house", "the red house", "a house"]
>>> pseudo_references([Two], ["the red house ."])
[[1, 2]]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from structopt.errors import InvalidInputError
from structopt.learn.metrics.bleu import References, bleu_statistics, check_corpus


def pseudo_references(
    lists: Sequence[Any], references: Sequence[References], *, n: int = 1
) -> list[list[int]]:
    """Return which hypotheses of each list may stand for its reference.

    Parameters
    ----------
    lists : sequence of n-best lists
        Each has ``hypotheses``, as :class:`~structopt.datasets.nbest.NBestList` does.
    references : sequence of str, or of sequences of str
    n : int
        How many different translations to take; of equal scores the one that comes first. A
        translation that stands in the list several times (with other features) is taken every time.

    Returns
    -------
    list of lists of int
        Positions in ``hypotheses``, the best translation first.

    Notes
    -----
    Wang and Shawe-Taylor (2009), section 5.2; Liang et al. (2006).
    """
    check_corpus(lists, references)
    if n < 1:
        raise InvalidInputError(f"n is {n}; ask for at least one pseudo-reference.")
    chosen = []
    for i, (one, good) in enumerate(zip(lists, references, strict=True)):
        texts = list(one.hypotheses)
        if not texts:
            raise InvalidInputError(f"The n-best list of sentence {i} is empty.", example=i)
        _, sentence = bleu_statistics(texts, good)
        score = dict(zip(texts, sentence.tolist(), strict=True))
        best = sorted(score, key=lambda text: -score[text])[:n]
        chosen.append([h for top in best for h, text in enumerate(texts) if text == top])
    return chosen
