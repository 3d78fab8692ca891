r"""Many strings, numbered, in two arrays: their UTF-8 bytes in one line, and where each ends.

Ten million names take their letters and 24 bytes each, a fifth of a dictionary of strings; they are
written and read as the arrays they are. Strings are found by Python's own 64-bit hash (two of ten
million different ones are equal with probability 3e-6), which is computed anew in every process.

>>> words = Vocabulary.of({"cat", "the", "mat"})
>>> words.lookup(["the", "dog", "cat"]), words[2], len(words)
(array([ 2, -1,  0]), 'the', 3)
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structopt.arrays import Ints


class Vocabulary:
    """Distinct strings in the order given; a string's number is its position.

    Parameters
    ----------
    letters : uint8 array
        All strings in UTF-8, one after the other.
    ends : int array
        Where each string ends in ``letters``.
    """

    def __init__(self, letters: NDArray[np.uint8], ends: Ints) -> None:
        self.letters, self.ends = letters, ends
        self._index: tuple[Ints, Ints] | None = None

    @classmethod
    def of(cls, strings: Iterable[str]) -> Vocabulary:
        """Return the vocabulary of some distinct strings, sorted."""
        encoded = [s.encode("utf-8", "surrogatepass") for s in sorted(strings)]
        lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), np.cumsum(lengths))

    def check(self) -> None:
        """Raise ValueError unless the arrays, which came from a file, are strings in UTF-8."""
        letters, ends = self.letters, self.ends
        if letters.dtype != np.uint8 or ends.dtype.kind != "i" or letters.ndim * ends.ndim != 1:
            raise ValueError("a vocabulary of other than letters and where they end")
        starts = np.concatenate([[0], ends])
        if np.any(np.diff(starts) < 0) or starts[-1] != len(letters):
            raise ValueError("a vocabulary's ends do not fit its letters")
        letters.tobytes().decode("utf-8", "surrogatepass")
        inner = starts[starts < len(letters)]
        if np.any(letters[inner] & 0xC0 == 0x80):  # a byte that goes on with a letter begins none
            raise ValueError("a vocabulary's string ends within a letter")

    def lookup(self, strings: Collection[str]) -> Ints:
        """Return the number of each string, -1 of those that are not here."""
        if self._index is None:
            hashes = np.fromiter(map(hash, self), np.int64, len(self))
            order = np.argsort(hashes)
            self._index = hashes[order], order
        hashes, order = self._index
        asked = np.fromiter(map(hash, strings), np.int64, len(strings))
        if not len(hashes):
            return np.full(len(asked), -1)
        place = np.minimum(np.searchsorted(hashes, asked), len(hashes) - 1)
        return np.where(hashes[place] == asked, order[place], -1)

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, k: int) -> str:
        begin = int(self.ends[k - 1]) if k > 0 else 0
        return self.letters[begin : int(self.ends[k])].tobytes().decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        text, begin = self.letters.tobytes(), 0
        for end in self.ends.tolist():
            yield text[begin:end].decode("utf-8", "surrogatepass")
            begin = end

    def __getstate__(self) -> dict[str, Any]:
        # another process hashes strings differently
        return {"letters": self.letters, "ends": self.ends, "_index": None}
