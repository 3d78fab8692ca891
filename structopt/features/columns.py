r"""Features of tokens with columns (word, part of speech, ...), by templates.

    x_t[template, v_1 .. v_m] = [attribute_i(column_i of token t + distance_i) = v_i for all i].

Values are numbered once a column, so that a template is a table of codes: ten million conjunctions
take 80 MB. A column of numbers gives one feature with its value.

>>> features = ColumnFeatures(["word[-1..0].lower", "pos[-1]|pos[0]"], columns=("word", "pos"))
>>> X = features.fit_transform([[("The", "DT"), ("cat", "NN")]])
>>> X[0].shape, [str(name) for name in features.get_feature_names_out()]
((2, 6), ['word[-1].lower=<edge>', 'word[-1].lower=the', 'word[0].lower=cat',
 'word[0].lower=the', 'pos[-1]|pos[0]=<edge>|DT', 'pos[-1]|pos[0]=DT|NN'])
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from structopt.arrays import Floats, Ints
from structopt.errors import InvalidInputError
from structopt.features.attributes import Attribute, attribute
from structopt.features.rows import (
    FeatureRows,
    FeatureTransformer,
    check_counts,
    hashed,
    hashed_names,
)
from structopt.features.templates import Part, Template, parse_templates
from structopt.features.tokens import Tokens
from structopt.features.vocabulary import Vocabulary


class Read(NamedTuple):
    """What templates see: distinct values of attributes, and the code of every token's."""

    templates: list[Template]
    tokens: Tokens
    values: dict[tuple[str | int, Attribute], list[str]]
    codes: dict[Part, Ints]
    numbers: dict[Part, Floats]

    def numeric(self) -> list[str]:
        """Return the columns that hold numbers."""
        return sorted({str(part.column) for part in self.numbers})


class ColumnFeatures(FeatureTransformer):
    """Sentences with columns to sparse matrices, one row a token.

    Parameters
    ----------
    templates : sequence of str
        Such as ``"word[-2..2].lower"``, ``"pos[-1]|pos[0]"`` or CRF++'s ``"U00:%x[0,0]"``;
        :func:`~structopt.features.templates.read_templates` reads them from CRF++'s files.
    columns : sequence of str, optional
        What the columns of rows are called; not needed for mappings and for columns by number.
    min_count : int
        Features that occur fewer times in training are left out.
    bias : bool
        Add a column of ones.
    hashing : int, optional
        Number of columns to hash features into, instead of one column each.

    Attributes
    ----------
    n_features_out_ : int

    Notes
    -----
    A value that was not seen in training gives no feature. Labels of neighbours are the business of
    the structure (the transitions of :class:`~structopt.Chain`).
    """

    vocabularies_: dict[tuple[str | int, Attribute], Vocabulary]
    tables_: list[list[Ints]]
    starts_: Ints = np.zeros(0, dtype=np.int64)  # of hashed features there are none
    numeric_: list[str]

    def __init__(
        self,
        templates: Sequence[str] = ("word[0]",),
        *,
        columns: Sequence[str] | None = None,
        min_count: int = 1,
        bias: bool = False,
        hashing: int | None = None,
    ) -> None:
        self.templates = templates
        self.columns = columns
        self.min_count = min_count
        self.bias = bias
        self.hashing = hashing

    def _parsed(self) -> list[Template]:
        return parse_templates(self.templates)

    def _read(self, X: Any) -> Read:
        check_counts(self.min_count, self.hashing)
        if not isinstance(self.bias, bool):
            raise InvalidInputError(f"bias must be True or False; got {self.bias!r}.")
        return _seen(Tokens(X, self.columns), self._parsed())

    def _learn(self, read: Read) -> None:
        self.numeric_ = read.numeric()
        self.vocabularies_, self.tables_ = {}, []
        self.n_features_out_ = int(self.bias) + int(self.hashing or 0)
        if self.hashing is not None:
            return
        self.vocabularies_ = {key: Vocabulary.of(values) for key, values in read.values.items()}
        places, starts = self._places(read), [int(self.bias)]
        for template in read.templates:
            table: list[Ints] = []
            codes, size = np.zeros(read.tokens.total, dtype=np.int64), 1
            for part in _coded(template, read):
                joined = codes * self._size(part) + places[part] if table else places[part]
                keys, counts = np.unique(joined, return_counts=True)
                if len(table) == len(template.parts) - 1:
                    keys = keys[counts >= self.min_count]
                codes, size = np.searchsorted(keys, joined), len(keys)
                table.append(keys if table else self._positions(part, keys))
            self.tables_.append(table)
            starts.append(starts[-1] + size)
        self.starts_, self.n_features_out_ = np.array(starts), starts[-1]

    def check_fitted(self) -> None:
        """Raise ValueError unless every template's tables are codes of its parts' values."""
        starts, templates = [int(self.bias)], self._parsed() if self.hashing is None else []
        if len(templates) != len(self.tables_):
            raise ValueError(f"{len(self.tables_)} tables of {len(templates)} templates")
        for template, table in zip(templates, self.tables_, strict=True):
            numeric = [p for p in template.parts if str(p.column) in self.numeric_]
            if len(table) != (0 if numeric else len(template.parts)):
                raise ValueError(f"{len(table)} tables of the parts of {template.text}")
            size = 1
            for k, keys in enumerate(table):
                first = keys if k else np.sort(keys[keys != -1])  # positions of values, once each
                size = len(first)
                fit = np.all(np.diff(keys) > 0) if k else np.array_equal(first, np.arange(size))
                if keys.ndim != 1 or not fit:
                    raise ValueError(f"tables of {template.text} that are none")
            if table and (len(table[0]) != self._size(template.parts[0]) + 1 or table[0][-1] != -1):
                raise ValueError(f"a table of {len(table[0])} values of {template.text}")
            starts.append(starts[-1] + size)
        if self.hashing is None and self.starts_.tolist() != starts:
            raise ValueError(f"templates begin at {self.starts_.tolist()}, not at {starts}")
        if self.n_features_out_ != starts[-1] + int(self.hashing or 0):
            raise ValueError(f"{self.n_features_out_} features, {starts[-1]} of templates")

    def _rows(self, read: Read) -> FeatureRows:
        if (given := read.numeric()) != self.numeric_:
            changed = sorted({*given} ^ {*self.numeric_})[0]
            kinds = ("numbers", "strings")[:: 1 if changed in given else -1]
            raise InvalidInputError(
                f"Column {changed!r} holds {kinds[0]} but held {kinds[1]} when the features were "
                "fitted: convert it."
            )
        total, bias = read.tokens.total, int(self.bias)
        small = max(self.n_features_out_, total * (len(read.templates) + bias)) < 2**31
        if self.hashing is None:
            chosen = list(self._found(read))
        else:
            chosen = [self._hashes(template, read) + bias for template in read.templates]
        if self.bias:
            chosen.insert(0, np.zeros(total, dtype=np.int64))
        columns = np.empty((total, len(chosen)), dtype=np.int32 if small else np.int64)
        for k, column in enumerate(chosen):
            columns[:, k] = column
        known = columns >= 0
        values = self._values(read, known) if read.numbers else None
        ends = np.concatenate([[0], np.cumsum(np.count_nonzero(known, axis=1))])
        indices = columns[known]
        data = np.ones(len(indices)) if values is None else values[known]
        shape = (total, self.n_features_out_)
        matrix = sp.csr_array((data, indices, ends.astype(indices.dtype)), shape=shape)
        if self.hashing is not None:  # other rows ascend, since templates do
            matrix.sum_duplicates()
        return FeatureRows.cut(matrix, read.tokens.offsets, self)

    def _found(self, read: Read) -> Iterator[Ints]:
        """Yield every token's feature of each template, -1 where it has none."""
        places = self._places(read)
        for first, template, table in zip(
            self.starts_.tolist(), read.templates, self.tables_, strict=False
        ):
            parts = _coded(template, read)
            if not parts:
                yield np.full(read.tokens.total, first)
                continue
            codes = table[0][places[parts[0]]]
            for part, keys in zip(parts[1:], table[1:], strict=True):
                joined = codes * self._size(part) + places[part]
                where = np.searchsorted(keys, joined)
                seen = (codes >= 0) & (places[part] >= 0) & (where < len(keys))
                seen[seen] = keys[where[seen]] == joined[seen]
                codes = np.where(seen, where, -1)
            yield np.where(codes < 0, -1, codes + first)

    def _positions(self, part: Part, keys: Ints) -> Ints:
        """Return where each value stands among keys; -1 if nowhere, as the last, of no value."""
        found = np.full(self._size(part) + 1, -1)
        found[keys] = np.arange(len(keys))
        return found

    def _values(self, read: Read, known: Any) -> Floats:
        """Return the numbers of templates of numbers, 1 elsewhere; a number 0 is no feature."""
        values = np.ones(known.shape)
        for k, template in enumerate(read.templates, int(self.bias)):
            for part in set(template.parts) & read.numbers.keys():
                values[:, k] = read.numbers[part]
        known &= values != 0
        return values

    def _hashes(self, template: Template, read: Read) -> Ints:
        mixed = np.full(read.tokens.total, hashed(template.text), dtype=np.uint64)
        for part in _coded(template, read):
            words = read.values[part.column, part.attribute]
            table = np.array([hashed(word) for word in words], dtype=np.uint64)
            # an odd factor and a shift mix the bits (splitmix64's), so that the order counts
            mixed = (mixed ^ table[read.codes[part]]) * np.uint64(0xBF58476D1CE4E5B9)
            mixed ^= mixed >> np.uint64(31)
        return (mixed % np.uint64(self.hashing or 1)).astype(np.int64)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return names such as ``word[0].suffix2=ed``."""
        check_is_fitted(self, "n_features_out_")
        names = ["bias"] if self.bias else []
        if self.hashing is not None:
            return np.array([*names, *hashed_names(self.hashing)], dtype=object)
        words = {key: list(vocabulary) for key, vocabulary in self.vocabularies_.items()}
        for template, table in zip(self._parsed(), self.tables_, strict=True):
            if not table:
                names.append(template.text)
                continue
            keys = [np.flatnonzero(table[0] >= 0), *table[1:]]
            codes, values = np.arange(len(keys[-1])), []
            for part, known in zip(template.parts[::-1], keys[::-1], strict=True):
                mine = words[part.column, part.attribute]
                codes, code = np.divmod(known[codes], len(mine))
                values.append([mine[c] for c in code.tolist()])
            names += [template.name(found) for found in zip(*values[::-1], strict=True)]
        return np.array(names, dtype=object)

    def _size(self, part: Part) -> int:
        return len(self.vocabularies_[part.column, part.attribute])

    def _places(self, read: Read) -> dict[Part, Ints]:
        """Return the number of every token's value in the vocabulary of each part."""
        found = {key: self.vocabularies_[key].lookup(words) for key, words in read.values.items()}
        return {p: found[p.column, p.attribute][codes] for p, codes in read.codes.items()}


def _seen(tokens: Tokens, templates: list[Template]) -> Read:
    """Return the values and codes of all parts."""
    parts = dict.fromkeys(part for template in templates for part in template.parts)
    as_they_are = {t.parts for t in templates if len(t.parts) == 1}
    numeric = {p.column: True for p in parts}
    numeric |= {p.column: False for p in parts if p.attribute != "word" or (p,) not in as_they_are}
    columns = {name: tokens.column(name, wanted) for name, wanted in numeric.items()}
    number: dict[tuple[str | int, Attribute], dict[str, int]] = {}
    of_token: dict[tuple[str | int, Attribute], Ints] = {}
    read = Read(templates, tokens, {}, {}, {})
    shifts = {distance: tokens.shifted(distance) for distance in {part.distance for part in parts}}
    for part in parts:
        column, key = columns[part.column], (part.column, part.attribute)
        there, outside, beyond = shifts[part.distance]
        if column.numbers is not None:
            read.numbers[part] = column.numbers[there]
            read.numbers[part][outside] = 0.0
            continue
        if key not in number:
            function = attribute(part.attribute)
            mine = number[key] = {}
            codes = [mine.setdefault(function(v), len(mine)) for v in column.values]
            of_token[key] = np.array(codes, dtype=np.int64)[column.codes]
        found = of_token[key][there]
        mine = number[key]
        found[outside] = [mine.setdefault(part.edge(far), len(mine)) for far in beyond]
        read.codes[part] = found
    read.values.update((key, list(mine)) for key, mine in number.items())
    return read


def _coded(template: Template, read: Read) -> tuple[Part, ...]:
    """Return the parts whose values are strings: none of a column of numbers."""
    return tuple(part for part in template.parts if part not in read.numbers)
