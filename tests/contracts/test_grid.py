"""Every formulation and every method on every structure: it trains to the enumerated optimum, or it
is refused with `IncompatibleError` before an oracle is asked. What is refused follows from what a
structure offers; ``pytest -v`` lists it with the reasons given."""

from functools import cache
from itertools import permutations

import numpy as np
import pytest
from enumeration import Order
from small_structures import small_of
from test_formulations import VARIANTS, described

import structopt as so
from structopt import names
from structopt.methods import registry
from structopt.structures.base.example_shard import ExampleShard
from structopt.structures.base.small import Small
from structopt.testing.full_problem import FullProblem
from structopt.testing.problems import learnable
from structopt.testing.structure_case import StructureCase, same

TOL, LOOSE = 1e-5, 1e-4
MOST_ROWS = 150  # of the full problem


def ranking(rng):
    orders = list(permutations(range(3)))
    return Small(Order(), list(rng.normal(size=(4, 3, 3))), orders[:4], lambda x: orders)


MAKERS = {
    entry.name: small_of(entry)
    for entry in names.of_kind("structure", "wrapper")
    if entry.name != "References"
} | {"your own": ranking}


def kind_of(case):
    """What decides who can train on a problem."""
    shard = case.structure.encode(case.X, case.Y)
    return case.structure.abilities(), len(case.structure.nonnegative_weights()), type(shard)


@cache
def drawn(name):
    """Two problems of a structure: the first, and the first of another kind (or else the second).

    Every example has a choice, and all constraints can be written out.
    """
    found = []
    for seed in range(200):
        small = MAKERS[name](np.random.default_rng(seed))
        case = StructureCase(small, seed)
        count = [len(outputs) for outputs in case.outputs]
        if not small.exact or min(count) < 3 or not len(count) < sum(count) <= MOST_ROWS:
            continue
        found.append(learnable(case, seed))
        others = [c for c in found[1:] if kind_of(c) != kind_of(found[0])]
        if others or len(found) == 6:
            return found[0], (others or found[1:])[0]
    raise AssertionError(f"no small problem of {name}")


def problem(name):
    """The problem of a name: the first of a structure, or the other one."""
    return drawn(name.removesuffix(", too"))[name.endswith(", too")]


def with_references(case):
    """Take the output that is next best to gold, by loss, as a second good one."""
    good = []
    for gold, listed in zip(case.Y, case.outputs, strict=True):
        others = [y for y in listed if not same(y, gold)]
        near = min(others, key=lambda y, gold=gold: case.structure.loss(gold, y))
        good.append([gold, near])
    # k-best lists are slow: the last two examples
    small = Small(so.References(case.given), case.X[-2:], good[-2:], case.small.outputs)
    return StructureCase(small)


PROBLEMS = [*MAKERS, *(f"{name}, too" for name in MAKERS)]
REFERENCES = {
    f"References({name})": name
    for name, small in MAKERS.items()
    if small(np.random.default_rng(0)).any_gold
}


@cache
def encoded(name):
    inner = name.removeprefix("References(").removesuffix(")")
    case = problem(name) if inner == name else with_references(problem(inner))
    return case, so.DataSet.of(case.structure, case.X, case.Y)


# ------------------------------------------------------------------ refusals
@pytest.fixture
def refuse(monkeypatch, record_property):
    """Assert that something is refused before an oracle is asked; record why."""

    def refused(what, make):
        def ask(*_):
            raise AssertionError("an oracle was asked before the refusal")

        monkeypatch.setattr(so.DataSet, "ask", ask)
        with pytest.raises(so.errors.IncompatibleError) as refusal:
            make()
        record_property("refused", f"{what}: {refusal.value}")

    return refused


def answers(formulation, structure):
    """Whether a structure answers what a formulation asks."""
    asked = {"argmin", "second_best"} if formulation.get_params().get("B_fraction") else set()
    return asked | needs(formulation) <= structure.abilities()


@cache
def needs(formulation):
    from structopt.testing.formulation import declared
    from structopt.testing.problems import small_classes

    asked = declared(formulation.resolve(lambda _: 1.0), small_classes())
    return frozenset(family.oracle.needs for family in asked.families)


# ------------------------------------------------------------------ formulations
def is_new(formulation):
    """Not StructRMM without a bound: that is StructSVM."""
    given = formulation.get_params()
    return given.get("B", 0.0) < np.inf or given.get("B_fraction") is not None


GRID = [f for f in VARIANTS if is_new(f)]
OF_EACH_QUESTION = ["StructSVM()", "StructSVM(rescale=slack)", "StructRMM(B=0.7)", "M3N()"]
FEW = [f for f in GRID if described(f) in OF_EACH_QUESTION]
CELLS = [(n, f) for n in MAKERS for f in GRID]
CELLS += [(f"{n}, too", f) for n in MAKERS for f in FEW]
CELLS += [(n, f) for n in REFERENCES for f in GRID]


@pytest.mark.parametrize(
    ("name", "formulation"), CELLS, ids=[f"{name}-{described(f)}" for name, f in CELLS]
)
def test_formulations(name, formulation, refuse):
    if name in REFERENCES and not can_list(REFERENCES[name]):
        refuse(f"{described(formulation)} on {name}", lambda: encoded(name))
        return
    case, data = encoded(name)
    # the programme of LaplaceM3N has cones, and only "em" certifies it; it learns free weights
    em = isinstance(formulation, so.LaplaceM3N)
    method = registry.make("em" if em else "cutting-plane")
    tol = LOOSE if em or name in REFERENCES else TOL

    def make():
        return method(case.structure, formulation, data, tol=tol)

    bound = em and len(case.structure.nonnegative_weights())
    if bound or not answers(formulation, case.structure):
        refuse(f"{described(formulation)} on {name}", make)
        return
    made = make()
    if name in REFERENCES and formulation.get_params().get("references") == "nearest to best":
        assert not made.solve().certificate.exact  # the printed order proves nothing
        return
    check(made.solve(), FullProblem(case, with_slacks(made.formulation)), tol)


def can_list(name):
    """References are compared with the k best outputs."""
    return "k_best" in problem(name).structure.abilities()


def with_slacks(formulation):
    """One slack for all has the optimum of one for each (Joachims, Finley and Yu 2009)."""
    given = formulation.get_params()
    if given.get("slacks") != "one":
        return formulation
    return type(formulation)(**{**given, "slacks": "n"})


def check(result, full, tol):
    """Assert that a certificate holds, and that its numbers are those of brute force."""
    found, truth = result.certificate, full.optimum()
    assert result.status == "optimal"
    assert found.certified
    assert found.relative_gap <= tol
    slip = 1e-6 * max(1.0, abs(truth))  # of the solver of the full problem
    assert found.dual - slip <= truth <= found.primal + slip
    assert found.primal <= truth + 2 * tol * abs(truth) + slip
    value = full.value(result.weights)
    # an upper bound: variables beside weights and slacks (adaptive has one) may stay a bit high
    assert value - slip <= found.primal <= value + tol * abs(value) + slip


def test_few_problems_are_trivial():
    """Weights of 0 are right for some pairs by nature; here they must stay the exception."""
    trivial = []
    for name in MAKERS:
        case, _ = encoded(name)
        full = FullProblem(case, so.M3N(4.0))
        nothing = full.value(np.zeros(case.structure.n_features_))
        if full.optimum() >= (1 - 1e-6) * nothing:
            trivial.append(name)
    assert len(trivial) <= len(MAKERS) // 4, trivial


# ------------------------------------------------------------------ methods
OPTIONS = {"perceptron": {"max_iter": 4}, "mira": {"max_iter": 4}, "mira, k = 3": {"k": 3}}
OPTIONS["mira, k = 3"] |= OPTIONS["mira"]
OPTIONS["working-sets"] = {"eps": 1e-9, "eps_B": 1e-9}  # which it ends by, beside the gap
TOLERANCES = {"subgradient": 0.3, "em": LOOSE, "extragradient": 1e-2, "bregman": 1e-2}
TOLERANCES |= {"structured-smo": 1e-2, "dual-extragradient": 0.1, "exponentiated-gradient": 0.1}
METHODS = [*registry.names(), "mira, k = 3"]


def learns(method, case):
    """Whether a method can learn from a problem: what it asks of a structure and its shard."""
    abilities, kept = case.structure.abilities(), len(case.structure.nonnegative_weights())
    shard = case.structure.encode(case.X, case.Y)
    one_by_one = offered(lambda: shard.single(0))
    expected = offered(lambda: shard.expected(case.weights[0], 0.0, np.ones(len(case.X))))
    return {
        "cutting-plane": True,
        "working-sets": one_by_one,
        "frank-wolfe": one_by_one and not kept,
        "structured-smo": one_by_one and not kept,
        "subgradient": one_by_one,
        "block-ascent": not isinstance(shard, ExampleShard) and not kept,
        "em": "argmax" in abilities and not kept,
        "extragradient": offered(shard.relaxation),
        "dual-extragradient": offered(shard.relaxation),
        "compact": offered(shard.relaxation),
        "bregman": expected,
        "exponentiated-gradient": expected,
        "perceptron": "argmax" in abilities and one_by_one,
        "mira": "argmax" in abilities and one_by_one,
        "mira, k = 3": {"argmax", "k_best"} <= abilities and one_by_one,
    }[method]


def offered(question):
    try:
        question()
    except so.errors.IncompatibleError:
        return False
    return True


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", [*PROBLEMS, *REFERENCES])
def test_methods(name, method, refuse):
    if name in REFERENCES and not can_list(REFERENCES[name]):
        return  # refused as such: test_formulations
    case, data = encoded(name)
    called = method.partition(",")[0]
    formulation = so.L1M3N(4.0) if called == "em" else so.M3N(4.0)
    if name in REFERENCES:  # unit margins only
        formulation = so.L1M3N(4.0) if called == "em" else so.StructSVM(4.0)
    tol = TOLERANCES.get(called, LOOSE if name in REFERENCES else TOL)
    options = {"tol": tol, **OPTIONS.get(method, {})}

    def make():
        return registry.make(called)(case.structure, formulation, data, **options)

    if not learns(method, case):
        refuse(f"{method} on {name}", make)
        return
    result, full = make().solve(), FullProblem(case, formulation)
    if called in ("perceptron", "mira"):
        assert result.status in ("separated", "max_iter")
        assert not result.certificate.certified
        assert result.certificate.primal == pytest.approx(full.value(result.weights), rel=1e-6)
        return
    check(result, full, tol)
