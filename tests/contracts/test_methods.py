"""Every method of the one list keeps its contract, on chains and on classes."""

import numpy as np
import pytest
from enumeration import FORMULATIONS, optimum
from enumeration import small_chain as chain_problem
from enumeration import small_classes as class_problem
from hypothesis import given, settings
from hypothesis import strategies as st

import structopt as so
from structopt import names
from structopt.methods import registry
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


# ------------------------------------------------------------------ random data, any moment
LEARNS = {
    "cutting-plane": ["m3n", "svm-slack", "lp", "l1", "adaptive"],
    "frank-wolfe": ["m3n", "svm-unit", "svm-margin", "svm-slack"],
    "structured-smo": ["m3n", "svm-slack"],
    "block-ascent": ["m3n", "svm-margin"],
    "working-sets": ["m3n", "svm-slack", "lp", "l1"],
    "subgradient": ["m3n", "svm-unit", "svm-margin", "svm-slack", "lp", "lp-free", "l1", "elastic"],
    "em": ["l1", "adaptive"],
    "extragradient": ["m3n"],
    "bregman": ["m3n"],
    "dual-extragradient": ["m3n"],
    "exponentiated-gradient": ["m3n"],
    "compact": ["m3n"],
}
CASES = [(method, kind, {}) for method, kinds in LEARNS.items() for kind in kinds]
CASES += [("frank-wolfe", "m3n", {"planes": planes}) for planes in (2, 3)]
CASES += [("subgradient", kind, {"batch": None}) for kind in ("m3n", "lp", "l1")]


def test_every_method_with_bounds_is_drawn():
    assert set(registry.names()) - set(LEARNS) == {"perceptron", "mira"}  # these minimise nothing


def draw(seed, chain):
    return (chain_problem if chain else class_problem)(np.random.default_rng(seed))


@given(
    seed=st.integers(0, 10_000),
    chain=st.booleans(),
    case=st.sampled_from(CASES),
    C=st.sampled_from([0.05, 0.7, 20.0]),
    rounds=st.sampled_from([1, 2, 5, 12, 25, 300]),
)
@settings(max_examples=120)
def test_bounds_enclose_the_optimum_whenever_it_stops(seed, chain, case, C, rounds):
    method, kind, options = case
    X, Y, structure, _ = problem = draw(seed, chain)
    data = so.DataSet.of(structure, X, Y)
    run = registry.make(method)(
        structure, FORMULATIONS[kind](C), data, tol=1e-3, max_iter=rounds, **options
    )
    result, truth = run.solve(), optimum(kind, C, problem)
    slack = 1e-6 * max(1.0, abs(truth))
    assert result.certificate.dual <= truth + slack
    assert result.certificate.primal >= truth - slack


@given(seed=st.integers(0, 10_000), chain=st.booleans(), case=st.sampled_from(CASES))
@settings(max_examples=30)
def test_permuting_examples_changes_nothing(seed, chain, case):
    method, kind, options = case
    X, Y, structure, _ = draw(seed, chain)
    results = []
    for order in (np.arange(len(Y)), np.random.default_rng(seed).permutation(len(Y))):
        data = so.DataSet.of(structure, np.array(X)[order], [Y[i] for i in order])
        run = registry.make(method)(structure, FORMULATIONS[kind](0.5), data, tol=0.02, **options)
        results.append(run.solve().certificate)
    one, two = results
    assert one.certified
    assert two.certified
    slack = 1e-9 * max(1.0, abs(one.primal))
    assert one.dual <= two.primal + slack
    assert two.dual <= one.primal + slack
