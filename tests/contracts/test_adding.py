"""One of each is added as CONTRIBUTING.md says: a file, its docstring, a line in the list."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from small_structures import small_of
from test_names import TABLES, first_table, wanted

import structopt as so
from structopt import names
from structopt.backends import registry as backends
from structopt.methods import registry as methods
from structopt.testing.backend import CHECKS as BACKEND_CHECKS
from structopt.testing.backend import BackendCase
from structopt.testing.check import run
from structopt.testing.formulation import CHECKS as FORMULATION_CHECKS
from structopt.testing.formulation import FormulationCase
from structopt.testing.method import CHECKS as METHOD_CHECKS
from structopt.testing.method import MethodCase
from structopt.testing.structure import STRUCTURE_CHECKS
from structopt.testing.structure_case import StructureCase

STRUCTURE = '''
r"""Orders of items: score(y) = sum_p w . x[y_p] / (p + 1)."""
from itertools import permutations
import numpy as np
from structopt.structures.base.small import Small, chosen
from structopt.structures.base.structure import Structure

class Orders(Structure):
    """y orders the rows of x; the loss counts places."""
    def joint_features(self, x, y):
        return sum(x[item] / (place + 1) for place, item in enumerate(y))
    def loss(self, y, other):
        return float(sum(a != b for a, b in zip(y, other, strict=True)))
    def argmax(self, x, weights, *, gold=None):
        def value(y):
            return self.joint_features(x, y) @ weights + (self.loss(gold, y) if gold else 0.0)
        return max(permutations(range(len(x))), key=value)

def small(rng):
    orders = list(permutations(range(3)))
    X = list(rng.normal(size=(3, 3, 2)))
    return Small(Orders(), X, [chosen(rng, orders) for _ in X], lambda x: orders)
'''
FORMULATION = '''
r"""min tau |w|_1 + 1/2 |w|_2^2 + C sum xi  s.t.  w . delta_i(y) >= loss_i(y) - xi_i."""
import cvxpy as cp
from structopt.formulations.base import Formulation

class ElasticNetM3N(Formulation):
    """An M3N with an elastic net."""
    def __init__(self, C=1.0, tau=0.1):
        self.C, self.tau = C, tau
    def master(self, m):
        w, xi = m.weights(), m.slacks()
        m.minimize(self.tau * cp.norm1(w) + cp.sum_squares(w) / 2 + self.C * cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))
'''
BACKEND = '''
"""Interior points, by Clarabel, under another name."""
from structopt.backends.clarabel import Clarabel

class Interior(Clarabel):
    """Clarabel again."""
    name = "interior"
'''
METHOD = '''
"""Cutting planes that stop at the first certificate, under another name."""
from structopt.methods.cutting_plane import CuttingPlane

class Planes(CuttingPlane):
    """Cutting planes again."""
    name = "planes"
'''
LOSS = '''
"""loss(gold, y) = sum_t [y_t != gold_t] (factor where gold_t is grave, else 1)."""
from structopt.parameters import Parameters

class Grave(Parameters):
    """Some labels are grave to miss."""
    def __init__(self, grave=(), factor=10.0):
        self.grave, self.factor = grave, factor
    @property
    def class_weight(self):
        return {label: self.factor for label in self.grave}
'''


@pytest.fixture
def add(tmp_path, monkeypatch):
    """Write a file, and put its line into the list."""

    def added(text, entry):
        path = tmp_path / f"{entry.home.rpartition('.')[2]}.py"
        path.write_text(text)
        name = f"structopt.{entry.home}"
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
        monkeypatch.setattr(names, "NAMES", [*names.NAMES, entry])
        return entry

    yield added
    for name in ("Orders", "ElasticNetM3N", "Interior", "Planes"):
        vars(so).pop(name, None)


def kept(model, X, tmp_path):
    """Save, load by nothing but names, and predict."""
    model.save(tmp_path / "model.npz")
    loaded = so.load_model(tmp_path / "model.npz")
    assert loaded.predict(X) == model.predict(X)
    return loaded


def in_no_table_yet(page, word):
    """The docs' table is asked for it."""
    missing = wanted(TABLES[page]) - first_table(DOCS / f"{page}.md")
    assert missing == {word}


DOCS = Path(__file__).parents[2] / "docs"
X, Y = so.datasets.make_chain_crf(n_examples=8, n_features=4, n_relevant=2, length=3, seed=0)


def test_a_structure(add, tmp_path):
    entry = add(STRUCTURE, names.Name("Orders", "structures.orders", "structure"))
    assert so.Orders.__name__ in names.public()
    rng = np.random.default_rng(0)
    for seed in range(3):
        case = StructureCase(small_of(entry)(np.random.default_rng(seed)), seed)
        run(STRUCTURE_CHECKS, case, "Orders")
    X = list(rng.normal(size=(10, 3, 2)))
    Y = [tuple(np.argsort(-x @ [1.0, -0.5]).tolist()) for x in X]
    model = so.StructuredClassifier(so.Orders(), so.M3N(10.0)).fit(X, Y)
    assert isinstance(kept(model, X, tmp_path).structure, so.Orders)
    in_no_table_yet("structures", "Orders")


def test_a_formulation(add, tmp_path):
    add(FORMULATION, names.Name("ElasticNetM3N", "formulations.elastic", "formulation"))
    run(FORMULATION_CHECKS, FormulationCase(so.ElasticNetM3N(2.0)), "ElasticNetM3N")
    model = so.StructuredClassifier(so.Chain(), so.ElasticNetM3N(2.0, tau=0.2)).fit(X, Y)
    assert kept(model, X, tmp_path).formulation.tau == 0.2
    in_no_table_yet("formulations", "ElasticNetM3N")


def test_a_backend(add, tmp_path):
    add(BACKEND, names.Name("Interior", "backends.interior", "backend", "interior"))
    assert backends.names()[-1] == "interior"
    run(BACKEND_CHECKS, BackendCase("interior"), "interior")
    model = so.StructuredClassifier(so.Chain(), so.M3N(), backend=so.Interior()).fit(X, Y)
    assert model.result_.backend == "interior"
    assert isinstance(kept(model, X, tmp_path).backend, so.Interior)
    in_no_table_yet("backends", "interior")


def test_a_method(add, tmp_path):
    add(METHOD, names.Name("Planes", "methods.planes", "method", "planes"))
    assert methods.names()[-1] == "planes"
    run(METHOD_CHECKS, MethodCase("planes"), "planes")
    model = so.StructuredClassifier(so.Chain(), so.M3N(), method="planes").fit(X, Y)
    assert kept(model, X, tmp_path).method == "planes"
    in_no_table_yet("methods", "planes")


def test_a_loss(add, tmp_path):
    add(LOSS, names.Name("Grave", "structures.losses.grave", "loss"))
    assert "Grave" in dir(so.losses)
    structure = so.Chain(loss=so.losses.Grave((1,), 4.0))
    assert structure.fitted(X, Y).loss([1, 0], [0, 1]) == 5.0
    so.testing.check_structure(structure, X[:2], Y[:2])
    model = so.StructuredClassifier(structure, so.M3N()).fit(X, Y)
    assert kept(model, X, tmp_path).structure.get_params()["loss"].factor == 4.0
