"""Every formulation of the one list keeps its contract, in each of its variants."""

import inspect
from typing import Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest

import structopt as so
from structopt import names
from structopt.testing.formulation import CHECKS, FormulationCase, declared
from structopt.testing.problems import small_classes

# beside what annotations say (every literal and every boolean is tried)
MORE = {
    "StructRMM": [{"B": 0.7}, {"B_fraction": 0.5}],
    "L1BallM3N": [{"radius": 0.8}],
    "LaplaceM3N": [{"lam": 4.0}],
}


def choices(hint):
    """The values that an annotation lists."""
    if hint is bool:
        return [False, True]
    if get_origin(hint) is Literal:
        return list(get_args(hint))
    return [value for part in get_args(hint) for value in choices(part) if part is not hint]


def variants(cls):
    """Instances with every listed value of every parameter, one changed at a time."""
    parameters = inspect.signature(cls).parameters
    base = {"C": 4.0} if "C" in parameters else {}  # weights move, and slacks stay
    hints = get_type_hints(cls.__init__)
    yield cls(**base)
    for name, parameter in parameters.items():
        for value in choices(hints.get(name)):
            if value != parameter.default:
                yield cls(**base, **{name: value})
    for more in MORE.get(cls.__name__, ()):
        yield cls(**base, **more)


def described(formulation):
    """Name a variant by what it changes."""
    default = type(formulation)().get_params()
    changed = {k: v for k, v in formulation.get_params().items() if v != default[k] and k != "C"}
    inner = ", ".join(f"{k}={v}" for k, v in changed.items())
    return f"{type(formulation).__name__}({inner})"


VARIANTS = [v for entry in names.of_kind("formulation") for v in variants(entry.load())]
# for several good outputs only: tests/contracts/test_grid.py trains them
ASKED_OF_REFERENCES = [v for v in VARIANTS if v.get_params().get("references")]


@pytest.fixture(scope="module")
def cases():
    return {}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize(
    "formulation", [v for v in VARIANTS if v not in ASKED_OF_REFERENCES], ids=described
)
def test_formulation(formulation, check, cases):
    case = cases.setdefault(id(formulation), FormulationCase(formulation))
    check(case)


def test_what_asks_for_references_needs_them():
    for formulation in ASKED_OF_REFERENCES:
        with pytest.raises(so.errors.InvalidInputError, match="no structure here answers"):
            FormulationCase(formulation)


@pytest.mark.parametrize("entry", names.of_kind("formulation"), ids=lambda entry: entry.name)
@pytest.mark.parametrize("value", [0, -1.0, np.nan, None, "one"])
def test_strength_must_be_a_positive_number(entry, value):
    cls = entry.load()
    (name,) = {"C", "radius"} & inspect.signature(cls).parameters.keys()
    with pytest.raises(so.errors.InvalidInputError, match=f"{name} must be a finite number > 0"):
        declared(cls(**{name: value}), small_classes())
