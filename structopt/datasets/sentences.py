"""Sentences that look like text: invented words, parts of speech, and phrases as BIO tags.

>>> sentence = make_sentences(1, seed=4)[0]
>>> len(sentence.rows[0]), sentence.column(2)[0] in ("B-NP", "B-PP")
(3, True)
"""

from __future__ import annotations

import numpy as np

from structopt.datasets.columns import ColumnSentence
from structopt.parameters import Count, Seed, checked

_PHRASES = {
    "NP": [["DT", "NN"], ["DT", "JJ", "NN"], ["NN"], ["JJ", "NN"], ["PRP"], ["DT", "NN", "NN"]],
    "VP": [["VB"], ["MD", "VB"], ["VB", "RB"], ["RB", "VB"]],
    "PP": [["IN"]],
}
_SENTENCES = [
    ["NP", "VP", "NP"], ["NP", "VP"], ["PP", "NP", "NP", "VP"], ["NP", "PP", "NP", "VP", "NP"],
    ["NP", "VP", "PP", "NP"], ["NP", "VP", "NP", "PP", "NP"],
]  # fmt: skip
_CLOSED = {
    "DT": ["the", "a", "this", "every"], "PRP": ["she", "it", "they"], "MD": ["will", "may"],
    "IN": ["in", "of", "with", "near"],
}  # fmt: skip
_ENDS = {
    "NN": ["", "er", "tion", "s"], "VB": ["s", "ed", "", "es"], "JJ": ["y", "ful", ""],
    "RB": ["ly"],
}  # fmt: skip
_OPEN = tuple(_ENDS)

NOISE = 0.12
"""Share of parts of speech that are drawn at random, as if by a poor tagger."""


@checked
def make_sentences(n_sentences: Count = 100, *, seed: Seed = 0) -> list[ColumnSentence]:
    """Draw sentences of a small language with columns word, part of speech, phrase tag.

    Endings hint at the part of speech, some words have several, and the column of parts of speech
    has errors, so that no column alone tells the phrases.

    Parameters
    ----------
    n_sentences : int
    seed : int
        The language is always the same; the seed draws its sentences.
    """
    words = _lexicon()
    rng = np.random.default_rng(seed)
    sentences = []
    for _ in range(n_sentences):
        rows = []
        for phrase in _SENTENCES[rng.integers(len(_SENTENCES))]:
            shapes = _PHRASES[phrase]
            for t, pos in enumerate(shapes[rng.integers(len(shapes))]):
                known = words[pos]
                # few words are frequent, as in any text
                word = known[int(len(known) * rng.random() ** 2)]
                told = str(rng.choice(_OPEN)) if rng.random() < NOISE else pos
                rows.append([word, told, f"{'I' if t else 'B'}-{phrase}"])
        rows[0][0] = rows[0][0].capitalize()
        sentences.append(ColumnSentence([*rows, [".", ".", "O"]]))
    return sentences


def _lexicon() -> dict[str, list[str]]:
    rng = np.random.default_rng(12345)

    def stem() -> str:
        letters = [rng.choice(list("bcdfglmnprst")) + rng.choice(list("aeiou")) for _ in range(2)]
        return "".join([*letters, str(rng.choice(list("bdgklmnprt")))])

    shared = [stem() for _ in range(30)]  # nouns that are verbs as well
    words = dict(_CLOSED)
    for pos, ends in _ENDS.items():
        stems = [*shared, *(stem() for _ in range(60))] if pos in ("NN", "VB") else None
        stems = stems or [stem() for _ in range(40)]
        words[pos] = [a + str(rng.choice(ends)) for a in stems]
        rng.shuffle(words[pos])
    return words
