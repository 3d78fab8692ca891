r"""A small treebank, and trees in brackets: sentences as words, trees as nested tuples.

>>> bank = make_treebank(2, seed=0)
>>> " ".join(bank.X[1])
'every green sailor saw a long sailor with the camera'
>>> bank.Y[1][2]
('VP', ('VP', 'V', ('NP', 'D', ('NB', 'A', 'N'))), ('PP', 'P', ('NP', 'D', ('NB', 'N'))))
>>> X, Y = read_brackets("(S (NP (D the) (N dog)) (VP (V barks)))")
>>> X, Y
([['the', 'dog', 'barks']], [('S', ('NP', 'D', 'N'), ('VP', 'V'))])
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from structopt.datasets.text_files import read_text
from structopt.errors import FileFormatError
from structopt.parameters import Count, Seed, Share, checked

Tree = str | tuple[Any, ...]

RULES = "S -> NP VP\nNP -> D NB | NP PP\nNB -> N | A N\nVP -> V | V NP | VP PP\nPP -> P NP"
WORDS = {
    "D": ("the", "a", "every"), "A": ("old", "long", "green", "small"), "P": ("with",),
    "N": ("sailor", "poet", "dog", "watch", "saw"),
    "V": ("watched", "drew", "found", "watch", "saw"),
}  # fmt: skip
PARTS = ("beard", "tail", "hat", "smile")
"""With one of these comes who has it: the phrase belongs to the noun before."""
TOOLS = ("telescope", "pencil", "lens", "camera")
"""With one of these something is done: the phrase belongs to the verb."""


@dataclass(frozen=True)
class Treebank:
    """Sentences, their trees, and the rules that derive them, words included."""

    X: list[list[str]]
    Y: list[Tree]
    rules: str


@checked
def make_treebank(n_sentences: Count = 100, *, noise: Share = 0.0, seed: Seed = 0) -> Treebank:
    """Draw sentences in which only words say where a phrase belongs.

    "The poet watched a dog with a tail" and "... with a telescope" have the same tags and other
    trees; some words are nouns and verbs.

    Parameters
    ----------
    n_sentences : int
    noise : float
        Share of phrases that hang on the wrong word.
    seed : int
    """
    rng = np.random.default_rng(seed)
    drawn = [_sentence(rng, noise) for _ in range(n_sentences)]
    words = WORDS | {"N": WORDS["N"] + PARTS + TOOLS}
    lexicon = [f"{tag} -> " + " | ".join(f"'{w}'" for w in known) for tag, known in words.items()]
    rules = "\n".join([RULES, *lexicon])
    return Treebank([words for words, _ in drawn], [tree for _, tree in drawn], rules)


def _sentence(rng: np.random.Generator, noise: float) -> tuple[list[str], Tree]:
    words: list[str] = []

    def one(tag: str, among: tuple[str, ...] | None = None) -> str:
        words.append(str(rng.choice(among or WORDS[tag])))
        return tag

    def noun(among: tuple[str, ...] | None = None) -> Tree:
        article = one("D")
        before = (one("A"),) if rng.random() < 0.3 else ()
        return ("NP", article, ("NB", *before, one("N", among)))

    def phrase(among: tuple[str, ...]) -> Tree:
        return ("PP", one("P"), noun(among))

    subject = noun()
    if rng.random() < 0.3:
        subject = ("NP", subject, phrase(PARTS))
    verb = one("V")
    if rng.random() < 0.2:
        return words, ("S", subject, ("VP", verb))
    what = noun()
    if rng.random() < 0.2:
        return words, ("S", subject, ("VP", verb, what))
    part = rng.random() < 0.5
    last = phrase(PARTS if part else TOOLS)
    if rng.random() < noise:
        part = not part
    if part:
        return words, ("S", subject, ("VP", verb, ("NP", what, last)))
    return words, ("S", subject, ("VP", ("VP", verb, what), last))


def read_brackets(source: str | os.PathLike[str]) -> tuple[list[list[str]], list[Tree]]:
    """Read trees in brackets, ``(S (NP (D the) (N dog)) ...)``, as words and nested tuples.

    Parameters
    ----------
    source : path or str
        A file, or the text itself if it begins with a bracket. A bracket without a label around a
        tree (as the Penn Treebank has) is taken off.

    Raises
    ------
    FileFormatError
        Brackets do not match, or a node has neither a word nor children; with the tree's number.
    """
    given = isinstance(source, str) and source.lstrip().startswith("(")
    text = str(source) if given else read_text(source)
    sentences: list[list[str]] = []
    trees: list[Tree] = []
    words: list[str] = []
    open_: list[list[Any]] = []
    for mark in re.findall(r"[()]|[^\s()]+", text):
        if mark == "(":
            open_.append([])
        elif not open_:
            raise FileFormatError(f"Tree {len(trees)}: {mark!r} stands outside brackets.")
        elif mark != ")":
            open_[-1].append(mark)
        else:
            node = _closed(open_.pop(), words, len(trees))
            if open_:
                open_[-1].append(node)
            else:
                trees.append(str(node) if isinstance(node, str) else node)
                sentences.append(words)
                words = []
    if open_ or not trees:
        raise FileFormatError(f"Tree {len(trees)} does not end: {len(open_)} brackets are open.")
    return sentences, trees


class _Leaf(str):
    """A tag whose word was read."""


def _closed(inside: list[Any], words: list[str], number: int) -> Tree:
    """Return a node from what stands between its brackets."""
    read = [isinstance(entry, tuple | _Leaf) for entry in inside]
    if len(inside) == 2 and not any(read):
        words.append(inside[1])
        return _Leaf(inside[0])
    if len(inside) > 1 and not read[0] and all(read[1:]):
        return tuple(str(e) if isinstance(e, str) else e for e in inside)
    if len(inside) == 1 and isinstance(inside[0], tuple):
        return inside[0]
    raise FileFormatError(
        f"Tree {number}: ({' '.join(map(str, inside))}) is neither (tag word) nor (label tree ...)."
    )
