"""Arguments of simple types are refused by name."""

import inspect
import math
import os

import numpy as np
import pytest

from structopt import names
from structopt.errors import InvalidInputError
from structopt.parameters import (
    Count,
    Parameters,
    PositiveOrInfinite,
    Seed,
    Share,
    check_params,
    checked,
)


@checked
def call(
    n: Count = 1,
    *,
    seed: Seed | None = 0,
    C: PositiveOrInfinite = 1.0,
    share: Share = 0.5,
    flag: bool = False,
    path: str | os.PathLike[str] = "",
    anything: list[int] | None = None,
):
    return n


LATE = {("load_model", "backend"), ("load_model", "return")}
GOOD = [
    {"n": np.int32(3)},
    {"seed": None},
    {"C": math.inf},
    {"C": np.float32(2)},
    {"share": 1},
    {"flag": np.True_},
    {"path": "x"},
    {"anything": "passes"},
]
BAD = [
    {"n": 0},
    {"n": 1.0},
    {"n": True},
    {"n": "1"},
    {"n": np.ones(1, int)},
    {"n": 10**30},
    {"seed": -1},
    {"C": 0},
    {"C": math.nan},
    {"C": 10**400},
    {"C": 1j},
    {"C": None},
    {"share": 1.5},
    {"flag": 1},
    {"path": 3},
]


@pytest.mark.parametrize("given", GOOD, ids=str)
def test_what_fits_passes(given):
    call(**given)


@pytest.mark.parametrize("given", BAD, ids=lambda g: str(g)[:20])
def test_what_does_not_fit_is_refused_by_name(given):
    with pytest.raises(InvalidInputError, match=rf"^{next(iter(given))} must be .*\(call\)\.$"):
        call(**given)


def test_objects_check_their_own():
    class Ball(Parameters):
        def __init__(self, radius: PositiveOrInfinite = 1.0, kind: str = "open"):
            self.radius, self.kind = radius, kind

    check_params(Ball())
    with pytest.raises(InvalidInputError, match="radius must be a number > 0, or infinite"):
        check_params(Ball(-1))


def test_annotations_of_public_callables_can_be_read():
    """A name that only type checkers see would leave its argument unchecked."""
    unread = set()
    for entry in names.NAMES:
        subject = entry.load()
        function = subject.__init__ if isinstance(subject, type) else inspect.unwrap(subject)
        function = inspect.unwrap(function)
        if not inspect.isfunction(function):
            continue
        for argument, hint in function.__annotations__.items():
            try:
                eval(hint, function.__globals__) if isinstance(hint, str) else None
            except NameError:
                unread.add((entry.name, argument))
    # a file is read without a solver: what a backend is, is not known there
    assert unread <= LATE, sorted(unread - LATE)
