r"""Pairs of sequences of which the second is an edited copy of the first, with what became of what.

>>> X, Y = make_protein_pairs(1, length=8, seed=3)
>>> X[0], sorted(Y[0])[:3]
(('DVIMIDEN', 'DAIMIDDS'), [(0, 0), (1, 1), (2, 2)])
>>> X, Y = make_typos(2, seed=1)
>>> X[0], sorted(Y[0])[:3]                        # the second o was put in
(('motadute', 'mootadute'), [(0, 0), (1, 1), (2, 3)])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import numpy as np

from structopt.parameters import Count, Natural, Range, Seed, Share, checked

Match = tuple[int, int]
Example = tuple[tuple[str, str], frozenset[Match]]

ACIDS = ("AVLIMC", "FWY", "STNQ", "KRH", "DE", "GP")
"""Amino acids by kind (aliphatic, aromatic, polar, basic, acidic, special): a substitution within
a kind is far more common than one across, as in the matrices of the field."""
WITHIN = 0.8
ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
"""Letters by row of a keyboard: fingers slip to a neighbour."""


@checked
def make_protein_pairs(
    n_examples: Count = 50,
    *,
    length: Count = 30,
    substituted: Share = 0.4,
    opened: Share = 0.05,
    mean_gap: Annotated[float, Range(0, closed=False, high=1e6)] = 3.0,
    flanks: Natural = 0,
    seed: Seed = 0,
) -> tuple[list[tuple[str, str]], list[frozenset[Match]]]:
    """Draw pairs of protein-like sequences: substitutions by kind, long gaps that are rare.

    Parameters
    ----------
    n_examples : int
    length : int
        Of the first sequence, flanks left out.
    substituted : float
        Share of symbols that become another one, of their kind in four cases of five.
    opened : float
        Chance of a gap (left out, or put in) before a symbol.
    mean_gap : float
        Symbols of a gap, on average; at least 1.
    flanks : int
        Symbols around either sequence that have nothing to do with the other: for local alignments.
    seed : int
    """
    every = "".join(ACIDS)
    kind = {symbol: group for group in ACIDS for symbol in group}

    def other(symbol: str, rng: np.random.Generator) -> str:
        near = rng.random() < WITHIN
        among = [s for s in (kind[symbol] if near else every) if s != symbol]
        return str(rng.choice(among))

    rng = np.random.default_rng(seed)
    drawn = []
    for _ in range(n_examples):
        first = "".join(rng.choice(list(every), length))
        stop = 1.0 / max(1.0, mean_gap)
        (_, second), matches = _edited(rng, first, every, substituted, opened, stop, other)
        around = ["".join(rng.choice(list(every), flanks)) for _ in range(4)]
        pair = (around[0] + first + around[1], around[2] + second + around[3])
        drawn.append((pair, frozenset((i + flanks, j + flanks) for i, j in matches)))
    return [pair for pair, _ in drawn], [matches for _, matches in drawn]


@checked
def make_typos(
    n_examples: Count = 100, *, seed: Seed = 0
) -> tuple[list[tuple[str, str]], list[frozenset[Match]]]:
    """Draw invented words and what was typed: slips to the next key, letters left out or doubled.

    Parameters
    ----------
    n_examples : int
    seed : int
    """

    def slip(letter: str, rng: np.random.Generator) -> str:
        row = next(row for row in ROWS if letter in row)
        place = row.index(letter)
        return str(rng.choice(list(row[max(0, place - 1) : place] + row[place + 1 : place + 2])))

    rng = np.random.default_rng(seed)
    drawn = []
    for _ in range(n_examples):
        syllables = [
            rng.choice(list("bdfklmnprst")) + rng.choice(list("aeiou"))
            for _ in range(int(rng.integers(3, 6)))
        ]
        drawn.append(_edited(rng, "".join(syllables), "", 0.12, 0.12, 1.0, slip))
    return [pair for pair, _ in drawn], [matches for _, matches in drawn]


def _edited(
    rng: np.random.Generator,
    first: str,
    symbols: str,
    substituted: float,
    opened: float,
    stop: float,
    other: Callable[[str, np.random.Generator], str],
) -> Example:
    """Return a sequence with an edited copy; without symbols to put in, one is doubled."""
    second: list[str] = []
    matches: list[Match] = []
    skipped = 0
    for i, symbol in enumerate(first):
        if not skipped and rng.random() < opened:
            size = int(rng.geometric(stop))
            if rng.random() < 0.5:
                skipped = size
            else:
                second += list(rng.choice(list(symbols), size)) if symbols else second[-1:]
        if skipped and (matches or i + 1 < len(first)):
            skipped -= 1
            continue
        skipped = 0
        matches.append((i, len(second)))
        second.append(other(symbol, rng) if rng.random() < substituted else symbol)
    return (first, "".join(second)), frozenset(matches)
