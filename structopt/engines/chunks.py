"""What users give as chunks of examples, one shard each.

>>> makers([lambda: (["x"], ["y"])])[0]()
(['x'], ['y'])
>>> makers([3])
Traceback (most recent call last):
...
structopt.errors.InvalidInputError: Chunk 0 of 1 is an object of type int: give functions ...
"""

from __future__ import annotations

from typing import Any

from structopt.engines import where
from structopt.errors import EngineError, InvalidInputError, StructoptError


def makers(chunks: Any) -> list[Any]:
    """Return a maker of each chunk: a function, or a Dask value."""
    if hasattr(chunks, "to_delayed"):  # a bag: its partitions are lists of pairs
        from dask import delayed

        return [delayed(where.unzipped)(part) for part in chunks.to_delayed()]
    made = list(chunks)
    if not made:
        raise InvalidInputError("There are no chunks: give at least one.")
    for number, one in enumerate(made):
        if not (callable(one) or is_lazy(one) or is_future(one)):
            raise InvalidInputError(
                f"Chunk {number} of {len(made)} is an object of type {type(one).__name__}: give "
                "functions without arguments, or Dask's delayed values, that give a pair (X, Y)."
            )
    return made


def is_lazy(chunk: Any) -> bool:
    """Whether a chunk is a graph that Dask has yet to compute."""
    return hasattr(chunk, "__dask_graph__")


def is_future(chunk: Any) -> bool:
    """Whether a chunk is on its way, or there, on Dask's workers."""
    return type(chunk).__module__.startswith("distributed.") and hasattr(chunk, "key")


def read(chunk: Any, number: int, n_chunks: int) -> Any:
    """Return a chunk's examples in this process."""
    try:
        if is_lazy(chunk):
            pair = chunk.compute(scheduler="synchronous")
        else:
            pair = chunk.result() if is_future(chunk) else chunk()
        where.size(pair)
    except (StructoptError, KeyboardInterrupt):
        raise
    except Exception as error:
        raise EngineError(
            f"Chunk {number} of {n_chunks} could not be read: {type(error).__name__}: {error}",
            shard=number,
        ) from error
    return pair
