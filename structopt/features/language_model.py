r"""Probabilities of words after other words, smoothed by shorter histories (Witten and Bell, 1991).

    p(w | h) = (c(h w) + T(h) p(w | h')) / (c(h) + T(h)),    h' = h without its first word,

with T(h) different words seen after h; below the empty history all V words and one more are equal.

>>> model = LanguageModel([["a", "b"], ["a", "c"]], order=2)
>>> round(sum(math.exp(model.log_p(("a",), w)) for w in ["a", "b", "c", END, "never"]), 12)
1.0
>>> model.known(("z", "a"), 1), model.known(("z",), 1)
(('a',), ())
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

START, END = "<s>", "</s>"
Words = tuple[str, ...]


class LanguageModel:
    """Counts of n-grams up to an order, in sentences that begin with START and stop with END.

    Parameters
    ----------
    sentences : sequence of token lists
    order : int
        Words of the longest n-grams.
    """

    def __init__(self, sentences: Sequence[Sequence[str]], order: int) -> None:
        self.order, self.counts = order, Counter[Words]()
        for sentence in sentences:
            words = (*[START] * (order - 1), *sentence, END)
            for t in range(order - 1, len(words)):
                for n in range(1, order + 1):
                    self.counts[words[t - n + 1 : t + 1]] += 1
        self._total, self._kinds = Counter[Words](), Counter[Words]()
        for gram, count in self.counts.items():
            self._total[gram[:-1]] += count
            self._kinds[gram[:-1]] += 1
        self._least = 1.0 / (self._kinds[()] + 1)

    def log_p(self, history: Words, word: str) -> float:
        """Return the logarithm of p(word | history)."""
        p = self._least
        for n in range(min(len(history), self.order - 1) + 1):
            h = history[len(history) - n :]
            if (kinds := self._kinds[h]) == 0:
                break
            p = (self.counts[(*h, word)] + kinds * p) / (self._total[h] + kinds)
        return math.log(p)

    def known(self, words: Words, most: int) -> Words:
        """Return the last of the words that any further word's probability depends on."""
        for n in range(min(most, len(words)), 0, -1):
            if self._kinds[words[len(words) - n :]]:
                return words[len(words) - n :]
        return ()
