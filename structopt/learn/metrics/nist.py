r"""The NIST score of translations (Doddington, 2002), by nltk.

    NIST = sum_n  (information of the right n-grams / number of n-grams) * brevity penalty,

n = 1 to 5, where an n-gram's information is log2 of how often its first n - 1 words occur in the
references over how often it occurs itself.

>>> round(corpus_nist(["a b c d e"], ["a b c d e"]), 6)  # log2(5) of information per word
2.321928
"""

from __future__ import annotations

from collections.abc import Sequence

from structopt.errors import InvalidInputError, MissingDependencyError
from structopt.learn.metrics.bleu import References, as_references, check_corpus

ORDERS = 5


def corpus_nist(hypotheses: Sequence[str], references: Sequence[References]) -> float:
    """Return the NIST score of a corpus: one hypothesis per sentence, tokens split at blanks.

    Orders that no hypothesis is long enough for are left out.
    """
    check_corpus(hypotheses, references)
    try:
        from nltk.translate import nist_score
    except ImportError as error:
        raise MissingDependencyError(
            "NIST needs nltk: pip install 'structopt-margin[translation]'."
        ) from error
    good = [[text.split() for text in as_references(r)] for r in references]
    split = [text.split() for text in hypotheses]
    longest = max(len(words) for words in split)
    if not all(words for texts in good for words in texts) or longest == 0:
        raise InvalidInputError("NIST needs references with words, and a hypothesis with some.")
    return float(nist_score.corpus_nist(good, split, n=min(ORDERS, longest)))
