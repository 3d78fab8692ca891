r"""Features of words in a sentence, as sparse matrices with names.

An *attribute* is a function of one word (itself, its last three characters, its shape), a
*template* an attribute of the word at some distance. Each value of a template seen in training is a
column:

    x_t[template = (attribute a, distance o), value v] = [a(word_{t+o}) = v].

Attributes are computed once per distinct word and looked up per token, so that a corpus of some
hundred thousand tokens takes about a second.

>>> features = WordFeatures(("word", "suffix2"), window=(-1, 0))
>>> X = features.fit_transform([["the", "cat"], ["the", "hat"]])
>>> X[0].shape, [str(n) for n in features.get_feature_names_out()][:3]
((2, 9), ['word[-1]=<edge>', 'word[-1]=the', 'word[0]=cat'])
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from structopt.errors import InvalidInputError
from structopt.features.attributes import Attribute, attribute
from structopt.features.columns import ColumnFeatures
from structopt.features.templates import Part, Template
from structopt.parameters import Count, check_params


class WordFeatures(ColumnFeatures):
    """Sentences (lists of words) to sparse matrices, one row a word.

    Parameters
    ----------
    attributes : sequence of str or of callables str -> str
        Names of :data:`~structopt.features.attributes.ATTRIBUTES`, ``prefixN``, ``suffixN``, or
        functions of your own.
    window : sequence of int
        Distances of the words that are looked at; 0 is the word itself.
    min_count : int
        Values that occur fewer times in training are left out.
    bias : bool
        Add a column of ones.
    hashing : int, optional
        Number of columns to hash features into, instead of one column each.

    See Also
    --------
    ColumnFeatures : several columns, conjunctions, templates of CRF++.
    """

    columns = None

    def __init__(
        self,
        attributes: Sequence[Attribute] = ("word",),
        *,
        window: Sequence[int] = (0,),
        min_count: Count = 1,
        bias: bool = False,
        hashing: int | None = None,
    ) -> None:
        self.attributes = attributes
        self.window = window
        self.min_count = min_count
        self.bias = bias
        self.hashing = hashing

    def _parsed(self) -> list[Template]:
        check_params(self)
        if not len(self.window) or not len(self.attributes):
            raise InvalidInputError("Give a window and at least one attribute.")
        if not all(isinstance(d, int | np.integer) for d in self.window):
            raise InvalidInputError(f"window must hold integers; got {self.window!r}.")
        found = []
        for given in self.attributes:
            attribute(given)  # refuses an unknown one
            name = given if isinstance(given, str) else given.__name__
            for d in self.window:
                found.append(Template(f"{name}[{d}]", (Part("word", int(d), given),)))
        return found
