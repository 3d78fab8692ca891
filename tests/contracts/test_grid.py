"""Every formulation and every method on every structure: it trains to the enumerated optimum, or it
is refused with `IncompatibleError` before any work. What is refused stands in the tables below, and
``pytest -v`` lists it with the reasons given."""

from functools import cache

import cvxpy as cp
import numpy as np
import pytest
from small_problems import PLAIN, PROBLEMS, REFERENCES, problem, rows

import structopt as so
from structopt.methods import registry

TOL, LOOSE = 1e-5, 1e-4
B, RADIUS, LAM = 0.7, 0.8, 4.0
C = 4.0  # large enough for weights to move, small enough for slacks to stay

FORMULATIONS = {
    "svm": lambda: so.StructSVM(C),
    "svm-margin": lambda: so.StructSVM(C, rescale="margin"),
    "svm-slack": lambda: so.StructSVM(C, rescale="slack"),
    "svm-one": lambda: so.StructSVM(C, slacks="one"),
    "svm-margin-one": lambda: so.StructSVM(C, rescale="margin", slacks="one"),
    "rmm": lambda: so.StructRMM(C, B),
    "rmm-fraction": lambda: so.StructRMM(C, B_fraction=0.5),
    "m3n": lambda: so.M3N(C),
    "m3n-one": lambda: so.M3N(C, slacks="one"),
    "lp": lambda: so.LPStruct(C),
    "lp-free": lambda: so.LPStruct(C, nonnegative=False),
    "lp-nearest": lambda: so.LPStruct(C, nonnegative=False, references="nearest"),
    "lp-worst": lambda: so.LPStruct(C, nonnegative=False, references="worst"),
    "l1": lambda: so.L1M3N(C),
    "l1-ball": lambda: so.L1BallM3N(RADIUS),
    "adaptive": lambda: so.AdaptiveM3N(C),
    "laplace": lambda: so.LaplaceM3N(C, LAM),
}
METHODS = {  # the formulation that each learns here, for one gold output and for several
    "cutting-plane": ("m3n", "svm"),
    "frank-wolfe": ("m3n", "svm"),
    "subgradient": ("m3n", "svm"),
    "em": ("l1", "l1"),
    "perceptron": ("m3n", "svm"),
    "mira": ("m3n", "svm"),
    "mira, k = 3": ("m3n", "svm"),
}

# ------------------------------------------------------------------ what is refused, and why
UNIT = {"svm", "svm-one", "rmm", "rmm-fraction", "lp", "lp-free"}  # asks for the best y != gold
SEVERAL = {"lp-nearest", "lp-worst"}  # asks for pairs of references and others
SLACK = {"svm-slack"}
WORST = {"rmm", "rmm-fraction"}  # asks for the worst y
EVERYTHING = set(FORMULATIONS)

REFUSED = {
    "Multiclass": SEVERAL,
    "Chain": SEVERAL,
    "LabelVector": SEVERAL | SLACK,
    "Hierarchy": SEVERAL | SLACK,
    "Arborescence": SEVERAL | SLACK,
    "Lattice": SEVERAL | SLACK,
    "Matching": SEVERAL | SLACK,
    "Cut, bipartite": SEVERAL | SLACK | {"laplace"},  # "em" learns free weights only
    "Cut, triangle": SEVERAL | SLACK | {"laplace"} | WORST,  # a maximum cut
    "Program": SEVERAL | SLACK,
    "constrain(Chain)": SEVERAL | SLACK,
    "constrain(Multiclass)": SEVERAL | SLACK,
    "MarkovNet, tree": SEVERAL | SLACK | UNIT,
    "MarkovNet, cycle": SEVERAL | SLACK | UNIT,
    "Enumerated": SEVERAL,
    "your own": SEVERAL | SLACK | UNIT,
}
WITHOUT_K_BEST = {"LabelVector", "Cut, bipartite", "Cut, triangle", "MarkovNet, tree"}
WITHOUT_K_BEST |= {"MarkovNet, cycle", "your own"}
for name in PLAIN:  # several good outputs: unit margins only, and only over k-best lists
    unit = {"svm", "svm-one", "lp", "lp-free"}
    REFUSED[f"References({name})"] = (
        EVERYTHING if name in WITHOUT_K_BEST else EVERYTHING - unit - SEVERAL
    )

REFUSED_METHODS = {
    **{name: {"mira, k = 3"} for name in ("LabelVector", "MarkovNet, tree", "MarkovNet, cycle")},
    **{name: {"mira, k = 3", "frank-wolfe", "em"} for name in ("Cut, bipartite", "Cut, triangle")},
    "your own": {"mira, k = 3"},
    **{name: {"em", "perceptron", "mira", "mira, k = 3"} for name in REFERENCES},
    **{f"References({name})": set(METHODS) for name in WITHOUT_K_BEST},
    # its shard answers for all lattices at once
    "References(Lattice)": set(METHODS) - {"cutting-plane"},
}


def test_the_tables_name_what_exists():
    assert set(REFUSED) == set(PROBLEMS)
    assert set(REFUSED_METHODS) <= set(PROBLEMS)
    assert set().union(*REFUSED.values()) <= set(FORMULATIONS)
    assert set().union(*REFUSED_METHODS.values()) <= set(METHODS)
    assert {name.split(",")[0] for name in METHODS} <= set(registry.names())


# ------------------------------------------------------------------ the truth, by enumeration
@cache
def enumerated(name, pairs):
    structure, _ = problem(name).fit()
    return *rows(problem(name), pairs=pairs), structure.nonnegative_weights()


def constraints_of(kind, name):
    """Return (example, delta, margin, scale) of every constraint, and the nonnegative weights."""
    pairs = "nearest" if kind == "lp-nearest" else "worst"
    index, delta, loss, kept = enumerated(name, pairs)
    unit = kind in UNIT | SEVERAL
    return index, delta, loss**0 if unit else loss, loss if kind in SLACK else loss**0, kept


def regulariser(kind, w, n):
    """Return R(w) and the cost of a slack; CVXPY or numbers, as w is."""
    norm1, square = (
        (cp.norm1, cp.sum_squares)
        if isinstance(w, cp.Expression)
        else (lambda v: np.abs(v).sum(), lambda v: v @ v)
    )
    if kind.startswith(("svm", "rmm")):
        return square(w) / 2, C / n
    if kind.startswith("m3n"):
        return square(w) / (2 * C), 1.0
    if kind.startswith("lp"):
        return norm1(w), C
    if kind == "l1":
        return norm1(w) / 2, C
    if kind == "l1-ball":
        return 0.0, 1 / n
    if kind == "adaptive":
        return norm1(w) ** 2 / w.shape[0], C
    rho = np.sqrt(1 + LAM * w * w)
    return np.sum(rho - 1 - np.log((rho + 1) / 2)), C


def objective(kind, name, weights):
    """Return the objective at weights, every hinge by brute force."""
    index, delta, margin, scale, _ = constraints_of(kind, name)
    hinge = np.zeros(len(problem(name).Y))
    np.maximum.at(hinge, index, margin - scale * (delta @ weights))
    value, cost = regulariser(kind, weights, len(hinge))
    return value + cost * hinge.sum()


def optimum(kind, name, bound=None):
    """Return the least objective with every constraint written out."""
    index, delta, margin, scale, kept = constraints_of(kind, name)
    n = len(problem(name).Y)
    if kind == "laplace":  # its dual: its primal is no convex programme by CVXPY's rules
        alpha = cp.Variable(len(index), nonneg=True)
        pull = delta.T @ alpha
        gain = margin @ alpha + cp.sum(cp.log(1 - cp.square(pull) / LAM))
        owner = np.equal.outer(np.arange(n), index).astype(float)
        return cp.Problem(cp.Maximize(gain), [owner @ alpha <= C]).solve(solver=cp.CLARABEL)
    w, xi = cp.Variable(delta.shape[1]), cp.Variable(n, nonneg=True)
    value, cost = regulariser(kind, w, n)
    left = [cp.multiply(scale, delta @ w) >= margin - xi[index]]
    if len(kept):
        left.append(w[kept] >= 0)
    if kind == "lp":
        left.append(w >= 0)
    if kind == "l1-ball":
        left.append(cp.norm1(w) <= RADIUS)
    if bound is not None:
        left.append(cp.abs(delta @ w) <= bound)
    return cp.Problem(cp.Minimize(value + cost * cp.sum(xi)), left).solve(solver=cp.CLARABEL)


# ------------------------------------------------------------------ the grids
def run(method, kind, name, **options):
    """Return the run, not yet solved: what is refused is refused here."""
    structure, data = problem(name).fit()
    return registry.make(method)(structure, FORMULATIONS[kind](), data, **options)


def refuse(monkeypatch, record_property, what, name, make):
    """Assert that ``make`` is refused before an oracle is asked; record why."""

    def ask(*_):
        raise AssertionError("an oracle was asked before the refusal")

    monkeypatch.setattr(so.DataSet, "ask", ask)
    with pytest.raises(so.errors.IncompatibleError) as refusal:
        make()
    record_property("refused", f"{what} on {name}: {refusal.value}")


@pytest.mark.parametrize("kind", FORMULATIONS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_formulations(name, kind, monkeypatch, record_property):
    # the programme of LaplaceM3N has cones, and only "em" certifies it
    method = "em" if kind == "laplace" else "cutting-plane"
    if kind in REFUSED[name]:
        make = lambda: run(method, kind, name)  # noqa: E731
        refuse(monkeypatch, record_property, kind, name, make)
        return
    tol = LOOSE if name in REFERENCES else TOL
    made = run(method, kind, name, tol=tol)
    result = made.solve()
    bound = getattr(made.formulation, "B", None) if kind in WORST else None
    check(result, kind, name, optimum(kind, name, bound), tol)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_methods(name, method, monkeypatch, record_property):
    kind = METHODS[method][name in REFERENCES]
    called, _, k = method.partition(", k = ")
    options = {"k": int(k)} if k else {}
    if method in REFUSED_METHODS.get(name, ()):
        make = lambda: run(called, kind, name, **options)  # noqa: E731
        refuse(monkeypatch, record_property, method, name, make)
        return
    if called in ("perceptron", "mira"):
        result = run(called, kind, name, max_iter=4, **options).solve()
        assert result.status in ("separated", "max_iter")
        assert not result.certificate.certified
        value = objective(kind, name, result.weights)
        assert result.certificate.primal == pytest.approx(value, rel=1e-6)
        return
    tol = LOOSE if name in REFERENCES else TOL
    tol = {"subgradient": 0.3, "em": LOOSE}.get(called, tol)
    result = run(called, kind, name, tol=tol).solve()
    check(result, kind, name, optimum(kind, name), tol)


def check(result, kind, name, truth, tol):
    """Assert that a certificate holds, and that its numbers are those of brute force."""
    found = result.certificate
    assert result.status == "optimal"
    assert found.certified
    assert found.relative_gap <= tol
    slip = 1e-6 * max(1.0, abs(truth))  # of the solver of the full problem
    assert found.dual - slip <= truth <= found.primal + slip
    assert found.primal <= truth + 2 * tol * abs(truth) + slip
    value = objective(kind, name, result.weights)
    # an upper bound: variables beside weights and slacks (adaptive has one) may stay a bit high
    assert value - slip <= found.primal <= value + tol * abs(value) + slip


def test_few_problems_are_trivial():
    """Weights of 0 are right for some pairs by nature; here they must stay the exception."""
    kinds = {"m3n", "lp-free"}
    pairs = [(k, n) for n in PROBLEMS for k in kinds - REFUSED[n]]
    trivial = []
    for kind, name in pairs:
        nothing = np.zeros(enumerated(name, "worst")[1].shape[1])
        if optimum(kind, name) >= (1 - 1e-6) * objective(kind, name, nothing):
            trivial.append((kind, name))
    assert len(trivial) <= len(pairs) // 4, trivial
