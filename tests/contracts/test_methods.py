"""Every method of the one list keeps its contract, on chains and on classes."""

import pytest

from structopt import names
from structopt.testing.method import CHECKS, MethodCase
from structopt.testing.problems import learnable, small_chain, small_classes

OPTIONS = {"mira": [{"k": 3}], "subgradient": [{"batch": None}], "em": [{"update": "(4)"}]}
CELLS = [
    (entry.key, options)
    for entry in names.of_kind("method")
    for options in [{}, *OPTIONS.get(entry.key, [])]
]
PROBLEMS = {"chain": small_chain, "classes": small_classes}


@pytest.fixture(scope="module")
def cases():
    return {}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize(("method", "options"), CELLS)
def test_method(method, options, problem, check, cases, in_a_terminal):
    key = method, repr(options), problem
    if key not in cases:
        case = learnable(PROBLEMS[problem](2))
        cases[key] = MethodCase(method, case=case, options=options)
    check(cases[key])
