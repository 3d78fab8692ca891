"""What is done with a shard where it lives: these functions go to the data, small things come back.

>>> import numpy as np, structopt as so
>>> X, Y = so.datasets.make_chain_crf(8, n_features=5, n_relevant=3, seed=0)
>>> held = encode(so.Chain().fitted(X, Y), (X, Y), 0)
>>> facts(held).n_examples
8
"""

from __future__ import annotations

import copy
import hashlib
import pickle
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import cloudpickle
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from structopt.arrays import Floats, Ints, base_matrix, count
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.structures.base.encoded import encoded
from structopt.structures.base.example_shard import ExampleShard
from structopt.structures.base.oracles import Oracle
from structopt.structures.base.shard import Answers, Shard, asked
from structopt.structures.base.structure import Structure, check_lengths

_FEW = 8
"""Examples of a shard that are looked at to know how long cuts are."""


class Held:
    """A shard that says how large it is, so that work goes to it and it stays where it is."""

    def __init__(self, shard: Shard) -> None:
        self.shard = shard
        buffers: list[pickle.PickleBuffer] = []
        inband = cloudpickle.dumps(shard, protocol=5, buffer_callback=buffers.append)
        self.nbytes = len(inband) + sum(b.raw().nbytes for b in buffers)

    def __sizeof__(self) -> int:
        return self.nbytes


class Facts(NamedTuple):
    """What is known of a shard once and for all."""

    n_examples: int
    largest: float
    unknown: NDArray[np.bool_]
    content: bytes
    nonzeros: int


def same(value: Any) -> Any:
    """Return what is given: a value that has become a task, and is sent again if it is lost."""
    return value


def packed(value: Any) -> bytes:
    """Pack what is the user's own: whoever passes it on need not be able to read it."""
    try:
        return bytes(cloudpickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL))
    except (TypeError, AttributeError, pickle.PicklingError) as error:
        raise IncompatibleError(
            f"A {type(value).__name__} cannot be sent to where the data live: {error}. Leave out "
            "what cannot be pickled (locks, open files, connections), or leave out the engine."
        ) from error


def opened(value: bytes) -> Any:
    """Return what was packed."""
    return pickle.loads(value)


def made(maker: bytes) -> Any:
    """Return what a packed function makes."""
    return opened(maker)()


def size(chunk: Any) -> int:
    """Return how many examples a chunk has; refuse one that is no pair of inputs and outputs."""
    if not (isinstance(chunk, tuple | list) and len(chunk) == 2):
        raise InvalidInputError(
            "A chunk is a pair (X, Y) of inputs and outputs; got a "
            f"{type(chunk).__name__}{f' of {len(chunk)}' if isinstance(chunk, tuple) else ''}."
        )
    check_lengths(*chunk)
    return count(chunk[0])


def unzipped(pairs: Any) -> tuple[list[Any], list[Any]]:
    """Return pairs (x, y), as bags have them, as a chunk."""
    given = [tuple(pair) for pair in pairs]
    if any(len(pair) != 2 for pair in given):
        raise InvalidInputError("A bag holds pairs (x, y) of an input and its output.")
    return [x for x, _ in given], [y for _, y in given]


def encode(structure: Structure, chunk: Any, start: int) -> Held:
    """Return a chunk as a shard whose first example has the number ``start``."""
    X, Y = chunk
    if not structure.releases_gil:  # code of the user's own: threads share no structure
        structure = copy.deepcopy(structure)
    X = sp.csr_array(X) if sp.issparse(X) else X
    return Held(encoded(structure, X, Y, start=start))


def facts(held: Held) -> Facts:
    """Return what need not be asked twice."""
    shard = held.shard
    size = largest(shard.base.data)
    return Facts(shard.n_examples, size, shard.unknown, content([shard]), int(shard.base.nnz))


def cut_entries(held: Held, n_features: int) -> float:
    """Return about how many entries the cut of one example has: the mean of a few.

    Where examples cannot be asked alone, that is as many as there can be.
    """
    shard, weights = held.shard, np.random.default_rng(0).normal(size=n_features)
    few = np.unique(np.linspace(0, shard.n_examples - 1, _FEW).astype(int)).tolist()
    entries = []
    try:
        for one in map(shard.single, few):
            found = one.directions(one.argmax(weights).outputs, np.zeros(1, dtype=np.int64))
            entries.append(found.tocsr(shard.base, n_features).nnz)
    except IncompatibleError:
        return float(n_features)
    return float(np.mean(entries))


def largest(values: Floats) -> float:
    """Return the largest absolute value, without a copy."""
    return float(max(values.max(initial=0.0), -values.min(initial=0.0)))


def content(shards: Sequence[Shard], salt: bytes = b"") -> bytes:
    """Return a name for the content of shards."""
    return _digest(chain.from_iterable(shard.content() for shard in shards), salt)


def sample(shards: Sequence[Shard], salt: bytes = b"") -> bytes:
    """Return a name for a few numbers of each shard, to notice that they were changed."""
    return _digest(chain.from_iterable(shard.sample() for shard in shards), salt)


def _digest(arrays: Iterable[Any], salt: bytes) -> bytes:
    digest = hashlib.blake2b(salt, digest_size=16)
    for array in arrays:
        digest.update(np.ascontiguousarray(array).reshape(-1).data)  # its memory, no copy
    return digest.digest()


def ask(held: Held, oracle: Oracle, weights: Floats) -> Answers:
    """Answer an oracle; the answers stay beside the shard."""
    return asked(held.shard, oracle, weights)


def said(answers: Answers) -> tuple[Floats, Floats, bool, Floats | None]:
    """Return the answers without their outputs, for the journey."""
    return answers.loss, answers.score, answers.exact, answers.excess


def rows(held: Held, answers: Answers, which: Ints, n_features: int) -> Any:
    """Return delta of some answers as sparse rows."""
    directions = held.shard.directions(answers.outputs, which)
    return base_matrix(directions.tocsr(held.shard.base, n_features))


def combined(
    held: Held, answers: Answers, which: Ints, multipliers: Floats, edges: Ints, n_features: int
) -> Any:
    """Return delta of some answers, weighted and summed over each run, as sparse rows."""
    directions = held.shard.directions(answers.outputs, which).summed(multipliers, edges)
    return base_matrix(directions.tocsr(held.shard.base, n_features))


def total(parts: Sequence[Any]) -> Any:
    """Return the sum of sparse matrices."""
    first, *others = parts
    for other in others:
        first = first + other
    return base_matrix(first)


def arrays(csr: Any) -> tuple[Any, Any, Any]:
    """Return the arrays of a CSR matrix, for the journey."""
    return csr.data, csr.indices, csr.indptr


def outputs(shard: Shard, structure: Any, answers: Answers) -> list[Any]:
    """Return outputs as users write them."""
    # a structure with methods of the user's own is asked through them, and packs nothing
    asked_singly = isinstance(shard, ExampleShard)
    found = answers.outputs if asked_singly else structure.unpack(shard, answers.outputs)
    return list(found)


def held_outputs(held: Held, structure: Any, answers: Answers) -> list[Any]:
    """Return outputs of a shard that lives here as users write them."""
    return outputs(held.shard, structure, answers)


def applied(held: Held, start: int, function: Callable[..., Any], *given: Any) -> Any:
    """Return what a function says of a shard."""
    return function(held.shard, start, *given)
