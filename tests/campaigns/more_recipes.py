"""Calls that work, for every public name that `malformed_calls` does not write out by hand.

Structures are drawn by their own ``small(rng)``, the rest is written down shortly. ``NOT_CALLED``
names what nobody calls with arguments of their own: records that the library returns, base classes.
"""

import functools
import importlib
import inspect
import io

import matplotlib as mpl
import networkx as nx
import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge

import structopt as so
from structopt import names
from structopt.datasets.conllu import Sentence
from structopt.datasets.web_pages import parse_page

mpl.use("agg")
NOT_CALLED = {
    "DecisionSet", "Answers", "Audit", "Certificate", "Result", "Explanation", "Round", "Found",
    "ConvexBound", "OuterResult", "OuterStep", "State", "RegularizationPath", "Selection",
    "Separability", "compare", "Dask",  # which needs a cluster
    # methods are called through fit(method=...)
    *(e.name for e in names.of_kind("base", "oracle", "warning", "solver", "outer", "method")),
}  # fmt: skip
SMALL_ROWS = np.random.default_rng(1).normal(size=(6, 3))
PEOPLE = ["a", "b", "c"] * 2
COSTS = np.abs(np.random.default_rng(2).normal(size=(5, 4))) + 0.1
FEATURES = np.random.default_rng(3).normal(size=(5, 3))
TREE = ("S", ("A", "a"), ("S", ("A", "b"), ("B", "c")))


def _train(structure, formulation, X, Y, **settings):
    model = so.StructuredClassifier(structure, formulation, max_iter=9, tol=0.9, **settings)
    return model.fit(X, Y)


def _structures():
    """Yield recipes of every structure: fitting, training, questions, parts that are given."""
    for entry in names.of_kind("structure", "wrapper"):
        home = importlib.import_module(f"structopt.{entry.home}")
        if not hasattr(home, "small"):
            home = importlib.import_module(f"structopt.{entry.home.rpartition('.')[0]}.small")
        small = home.small(np.random.default_rng(7))
        X, Y, made = list(small.X), list(small.Y), small.structure
        fitted = made.fitted(X, Y)
        zero = np.zeros(fitted.n_features_)
        theirs = entry.name == "Enumerated"  # functions of the user's own are given x and y
        loss = "argmax" in fitted.abilities()
        form = so.M3N(1.0) if loss else so.LPStruct(1.0)
        data = {} if theirs else {"X": X, "Y": Y}
        yield (
            f"{entry.name}: fit",
            lambda structure, sample_weight, X=X, Y=Y, form=form: so.StructuredClassifier(
                structure, form, max_iter=3, tol=0.1
            ).fit(X, Y, sample_weight=sample_weight),
            {"structure": made, "sample_weight": np.ones(len(Y))} | data,
        )
        predict = functools.partial(fitted.predict, X) if theirs else fitted.predict
        yield (
            f"{entry.name}: predict",
            predict,
            {"weights": zero, "given": None} | ({} if theirs else {"X": X}),
        )
        first = Y[0][0] if entry.name == "References" else Y[0]
        if not theirs:
            yield f"{entry.name}: features", fitted.joint_features, {"x": X[0], "y": first}
            yield f"{entry.name}: loss", fitted.loss, {"y": first, "other": first}
        for ability in sorted(fitted.abilities() - {"marginals", "references"}):
            given = {"x": X[0], "weights": zero}
            if ability in ("argmax", "second_best", "second_augmented", "slack_rescaled"):
                given["gold"] = first
            if ability == "k_best":
                given["k"] = 2
            ask = getattr(fitted, ability)
            if theirs:
                own = {k: given.pop(k) for k in ("x", "gold") if k in given}
                ask = functools.partial(ask, **own)
            yield f"{entry.name}: {ability}", ask, given
        if entry.kind == "wrapper" or theirs:
            continue
        for name, value in made.get_params().items():
            yield (
                f"{entry.name}({name})",
                lambda X, Y, of=made, **o: type(of)(**(of.get_params() | o)).fitted(X, Y),
                {"X": X, "Y": Y, name: value},
            )


def _methods_and_backends():
    from structopt.methods import registry

    for entry in names.of_kind("method"):
        options = registry.make(entry.key).options()
        drawn = {
            "random_state": 0, "learning_rate": 1.0, "average": True, "evaluate": True, "k": 1,
            "augmented": True, "C": 1.0, "variant": "adaptive", "backend": "auto", "fallback": True,
        }  # fmt: skip
        known = {
            k: drawn[k] for k in options if k in drawn and k not in ("backend", "random_state")
        }
        form = so.L1M3N(1.0) if entry.key == "em" else so.M3N(1.0)
        for option, value in known.items():
            yield (
                f"method {entry.key}({option})",
                lambda key=entry.key, form=form, **o: _train(
                    so.Multiclass(), form, SMALL_ROWS, PEOPLE, method=key, method_options=o
                ),
                {option: value},
            )
    for entry in names.of_kind("backend"):
        made = entry.load()
        parameters = {
            n: p.default
            for n, p in inspect.signature(made).parameters.items()
            if p.default is not inspect.Parameter.empty
        }
        form = so.L1M3N(1.0) if entry.key in ("highs", "extragradient", "proximal") else so.M3N(1.0)
        yield (
            f"{entry.name}: backend",
            lambda made=made, form=form, **o: _train(
                so.Multiclass(), form, SMALL_ROWS, PEOPLE, backend=made(**o)
            ),
            parameters,
        )


def _losses():
    X, Y = [np.eye(3)[[0, 1]], np.eye(3)[[2, 0, 1]]], [["a", "b"], ["b", "a", "a"]]

    def chain(of, **given):
        return so.Chain(loss=getattr(so.losses, of)(**given)).fitted(X, Y)

    yield "Hamming", chain, {"of": "Hamming", "class_weight": {"a": 2.0}}
    costs = {("a", "b"): 2.0}
    yield "Confusion", chain, {"of": "Confusion", "costs": costs, "other": 1.0}
    yield "TreeDistance", chain, {"of": "TreeDistance", "parents": {"a": "r", "b": "r"}}
    spans = {"extra": 1.0, "missed": 1.0, "confused": 1.0, "boundary": 1.0, "outside": "O"}
    tags = [["B-x", "O"], ["O", "B-x", "I-x"]]
    yield (
        "SpanCosts",
        lambda **o: so.Chain(loss=so.losses.SpanCosts(**o)).fitted(X, tags),
        spans,
    )
    pairs = [np.ones((2, 2, 2))] * 2
    yield (
        "PartCosts",
        lambda **o: so.Matching(loss=so.losses.PartCosts(**o)).fitted(pairs, [[(0, 0)], []]),
        {"extra": 1.0, "missed": 1.0},
    )
    items, grades = [np.ones((3, 2)), np.eye(2)], [[1, 0, 0], [0, 1]]
    for name, given in (
        ("NDCG", {"k": 2}), ("PrecisionAt", {"k": 2}), ("SwappedPairs", {}),
        ("AveragePrecision", {}),
    ):  # fmt: skip
        yield (
            name,
            lambda loss=name, **o: so.Ranking(loss=getattr(so.losses, loss)(**o)).fitted(
                items, o.pop("relevance", grades)
            ),
            given or {"relevance": grades},
        )
    sets = [[0], [0, 1]]
    for name, given in (
        ("FScore", {"beta": 1.0}),
        ("ErrorRate", {}),
        ("Precision", {}),
        ("Recall", {}),
    ):
        yield (
            name,
            lambda Y=sets, loss=name, **o: so.Subset(loss=getattr(so.losses, loss)(**o)).fitted(
                items, Y
            ),
            given or {"Y": sets},
        )
    rows = np.eye(3)
    yield (
        "Costed",
        lambda **o: so.Multiclass(labels="abc").fitted(rows, [so.losses.Costed(**o), "b", "c"]),
        {"y": "a", "costs": [0.0, 2.0, 1.0]},
    )
    yield "Priced", so.losses.Priced, {"y": np.array([1.0, 0.0]), "costs": np.ones(2)}


def _decisions():
    graph = nx.DiGraph([("s", "a"), ("a", "t"), ("s", "t")])
    every = {
        "GridPaths": {"rows": 2, "columns": 3},
        "ShortestPaths": {"graph": graph, "source": "s", "target": "t"},
        "Assignments": {"n_left": 2, "n_right": 2},
        "Knapsack": {"weights": np.array([[1.0, 2.0, 1.0]]), "capacity": [2.0]},
        "SpanningTrees": {"graph": nx.cycle_graph(3)},
        "Tours": {"n_nodes": 4, "gap": 0.0, "time_limit": 5.0},
        "LinearProgram": {
            "constraints": lambda z: [z[0] + z[1] == 1], "n_parts": 3, "boolean": True, "gap": 0.0,
        },
        "Listed": {"decisions": np.eye(3)},
    }  # fmt: skip

    def decided(name, **given):
        parts = getattr(so.decisions, name)(**every[name]).n_parts
        made = getattr(so.decisions, name)(**given)
        costs = np.ones((3, parts)) + np.eye(3, parts)
        return so.DecisionModel(made, so.M3N(1.0), max_iter=3, tol=0.1).fit(np.eye(3), costs)

    for name, given in every.items():
        yield name, decided, {"name": name} | given
    made = so.decisions.Listed(np.eye(4))
    yield (
        "DecisionModel",
        lambda X, costs, sample_weight=None, **o: so.DecisionModel(**o).fit(X, costs),
        {
            "decisions": made, "formulation": so.M3N(1.0), "target": "costs", "fit_intercept": True,
            "backend": "auto", "method": "auto", "tol": 0.1, "max_iter": 3,
            "X": FEATURES, "costs": COSTS,
        },
    )  # fmt: skip
    model = so.DecisionModel(made, so.M3N(1.0), tol=0.5).fit(FEATURES, COSTS)
    yield "DecisionModel.predict", model.predict, {"X": FEATURES}
    yield (
        "TwoStage",
        lambda X, costs, **o: so.TwoStage(**o).fit(X, costs).predict(X),
        {"decisions": made, "regressor": Ridge(), "X": FEATURES, "costs": COSTS},
    )


def _others():
    X, Y = [np.eye(3)[[0, 1]], np.eye(3)[[2, 0, 1]]], [["a", "b"], ["b", "a", "a"]]
    rows = _train(so.Multiclass(), so.M3N(1.0), SMALL_ROWS, PEOPLE)
    yield (
        "Fixed",
        lambda **o: _train(
            so.Multiclass(), so.M3N(1.0, constraints=so.Fixed(**o)), SMALL_ROWS, PEOPLE
        ),
        {"values": [0.5], "where": [0]},
    )
    hidden = [["a", "b"], ["b", None, "a"]]
    for name in ("Latent", "RampLoss", "Transductive", "SelfTraining"):
        given = {"threshold": 0.5} if name == "SelfTraining" else {}
        yield (
            name,
            lambda Y, which=name, **o: _train(
                so.Chain(), getattr(so, which)(**o), X, Y, method="outer"
            ),
            {"formulation": so.M3N(1.0), "Y": Y if name == "RampLoss" else hidden} | given,
        )
    yield (
        "ReweightedL1",
        lambda **o: _train(
            so.Multiclass(), so.ReweightedL1(**o), SMALL_ROWS, PEOPLE, method="outer"
        ),
        {"C": 1.0, "epsilon": 0.1, "constraints": None},
    )
    yield (
        "CRF",
        lambda X, Y, **o: so.CRF(**o).fit(X, Y),
        {
            "X": X, "Y": Y, "C2": 1.0, "C1": 0.0, "algorithm": "lbfgs", "max_iter": 3,
            "all_pairs": True, "labels": None,
        },
    )  # fmt: skip
    ends = {"n_examples": 4, "seed": 0}
    lattices = so.datasets.make_lattices(**ends)
    yield (
        "MERT",
        lambda **o: so.MERT(**o),
        {"restarts": 1, "n_random": 1, "max_passes": 2, "random_state": 0, "verbose": False},
    )
    del lattices
    yield "save_model", so.save_model, {"model": rows, "path": "model.npz"}
    yield (
        "describe",
        so.describe,
        {"formulation": so.M3N(), "structure": so.Multiclass(), "X": SMALL_ROWS, "Y": PEOPLE},
    )
    yield "binarised", so.binarised, {"tree": TREE}
    yield "unbinarised", so.unbinarised, {"tree": TREE}
    yield "bio", so.bio, {"types": ["x", "y"]}
    yield "bioes", so.bioes, {"types": ["x", "y"]}
    yield (
        "span_tags",
        so.span_tags,
        {"spans": [[("x", 0, 2)]], "lengths": [3], "scheme": "bio"},
    )
    yield "nbest_words", so.nbest_words, {"path": ((0, 2, "a"), (2, 4, "c"), (4, 1, 1))}
    yield (
        "write_report",
        so.write_report,
        {
            "result": rows.result_,
            "path": "r.html",
            "title": "t",
            "feature_names": None,
            "examples": (),
        },
    )
    yield (
        "write_comparison",
        so.write_comparison,
        {"results": {"a": rows.result_}, "path": "c.html", "title": "t", "note": ""},
    )
    yield (
        "audit",
        so.audit,
        {
            "fitted": rows, "X": SMALL_ROWS, "Y": PEOPLE, "structure": None, "formulation": None,
            "sample_weight": None, "examples": 2, "random_state": 0,
        },
    )  # fmt: skip
    chain = so.Chain().fitted(X, Y)
    weights = np.zeros(chain.n_features_)
    yield (
        "trellis",
        so.draw.trellis,
        {
            "structure": chain,
            "x": X[0],
            "weights": weights,
            "gold": Y[0],
            "augmented": True,
            "upto": 1,
        },
    )
    yield "bounds", so.draw.bounds, {"runs": rows.result_, "against": "round"}
    yield (
        "structure",
        so.draw.structure,
        {"x": X[0], "y": Y[0], "y_hat": Y[0], "of": chain, "words": None},
    )
    signs = so.Multiclass().fitted(np.eye(2)[:, :1], ["a", "b"])
    data = so.DataSet.of(signs, np.eye(2)[:, :1], ["a", "b"])
    run = so.CuttingPlane(signs, so.M3N(), data)
    run.solve()
    yield "plane", so.draw.plane, {"run": run, "levels": "problem", "limits": None}
    arrays = {
        "node_ptr": np.array([0, 3]), "arc_ptr": np.array([0, 3]), "tail": np.array([0, 1, 0]),
        "head": np.array([1, 2, 2]), "arc_features": np.eye(3), "labels": None,
    }  # fmt: skip
    yield "LatticeArrays", so.LatticeArrays, arrays
    paths = {"ptr": np.array([0, 2]), "arcs": np.array([0, 1]), "references": None}
    yield "PathArrays", so.PathArrays, paths
    made = so.LatticeArrays(**arrays)
    yield (
        "Lattice of arrays",
        lambda X, Y, **o: so.Lattice().fitted(X, Y).encode(X, Y),
        {"X": made, "Y": so.PathArrays(**paths)},
    )
    yield (
        "CandidateEdges",
        lambda **o: so.Matching().fitted([so.CandidateEdges(**o)], [[(0, 0)]]),
        {
            "edges": [(0, 0), (1, 1)], "features": np.ones((2, 2)), "shape": (2, 2),
            "fertility": None,
        },
    )  # fmt: skip
    yield (
        "Not",
        lambda labels: chain.predict(X[:1], weights, given=[[so.Not(labels), None]]),
        {"labels": "a"},
    )
    yield (
        "Disk",
        lambda **o: _train(so.Multiclass(), so.M3N(), SMALL_ROWS, PEOPLE, engine=so.Disk(**o)),
        {"folder": None, "n_shards": 2},
    )
    yield "Order", so.Order, {"items": [1, 0, 2], "relevance": [1, 0, 0]}
    yield (
        "given",
        lambda given: chain.predict(X[:1], weights, given=given),
        {"given": [["a", None]]},
    )
    yield (
        "Limits",
        so.Limits,
        {"tol": 1e-3, "abs_tol": 0.0, "max_iter": 3, "time_limit": 3.0, "callbacks": ()},
    )
    yield (
        "EarlyStopping",
        lambda **o: _train(
            so.Multiclass(), so.M3N(), SMALL_ROWS, PEOPLE, callbacks=(so.EarlyStopping(**o),)
        ),
        {"X_val": SMALL_ROWS, "Y_val": PEOPLE, "patience": 2, "min_improvement": 0.0},
    )
    words = [["the", "cat"], ["a", "dog"]]
    columns = [[("the", "D"), ("cat", "N")], [("a", "D"), ("dog", "N")]]
    yield (
        "ColumnFeatures",
        lambda X, **o: so.ColumnFeatures(**o).fit_transform(X),
        {
            "X": columns, "templates": ("word[0]",), "columns": ("word", "tag"), "min_count": 1,
            "bias": False, "hashing": None,
        },
    )  # fmt: skip
    dicts = [[{"w": "the"}, {"w": "cat"}], [{"w": 1.0}]]
    yield (
        "DictFeatures",
        lambda X, **o: so.DictFeatures(**o).fit_transform(X),
        {"X": dicts, "separator": ":", "min_count": 1, "hashing": None},
    )
    yield (
        "JoinedFeatures",
        lambda X, **o: so.JoinedFeatures(**o).fit_transform(X),
        {"X": words, "transformers": [so.WordFeatures()]},
    )
    yield (
        "PerToken",
        lambda X, **o: so.PerToken(**o).fit_transform(X),
        {"X": X, "transformer": so.KernelMap(max_rank=2)},
    )
    yield (
        "WordAligner",
        lambda left, right, **o: so.WordAligner(**o).fit(left, right).predict(left, right),
        {"left": words, "right": words, "model": "ibm1", "iterations": 2, "null": 0.2},
    )
    links = [{(k, k) for k in range(len(sentence))} for sentence in words]
    yield (
        "PhraseTable",
        lambda source, target, links, **o: so.PhraseTable(**o).fit(source, target, links).n_pairs_,
        {"source": words, "target": words, "links": links, "max_length": 2, "options": 2},
    )
    table = so.PhraseTable().fit(words, words, links)
    yield (
        "PhraseLattices",
        lambda target, source, **o: so.PhraseLattices(**o).fit(target).transform(source),
        {"table": table, "target": words, "source": words, "order": 2},
    )
    points = np.random.default_rng(4).normal(size=(8, 3))
    yield (
        "spin_images",
        so.spin_images,
        {"points": points, "normals": points, "radius": 1.0, "bins": (3, 2)},
    )
    yield "surface_normals", so.surface_normals, {"points": points, "k": 3, "up": (0.0, 0.0, 1.0)}
    yield (
        "BeamSearch",
        lambda X, Y, **o: so.BeamSearch(**o).fitted(X, Y).encode(X, Y),
        {"X": [np.eye(2)] * 2, "Y": [(0, 1), (1, 1)], "width": 2, "labels": (0, 1)},
    )
    yield (
        "StructuredCRF",
        lambda X, Y, **o: so.StructuredCRF(**o).fit(X, Y).predict(X),
        {"structure": so.Chain(), "X": [np.eye(2)] * 2, "Y": ["ab", "ba"], "C2": 1.0, "C1": 0.0,
         "max_iter": 5, "tol": 1e-5},
    )  # fmt: skip
    one = Sentence(
        ["it", "works"], ["it", "work"], ["PRON", "VERB"], ["P", "V"], [2, 0], ["nsubj", "root"]
    )
    yield (
        "ArcFeatures",
        lambda X, **o: so.ArcFeatures(**o).fit_transform(X),
        {"X": [one], "min_count": 1, "prune": True},
    )
    yield (
        "PageFeatures",
        lambda X, **o: so.PageFeatures(**o).fit(X).transform(X),
        {"X": [parse_page("<ul><li><b>Price</b>: 3 $</ul>")], "min_count": 1},
    )
    frame = pd.DataFrame({"s": [0, 0, 1], "x": [1.0, 2.0, 3.0], "y": ["a", "b", "a"]})
    yield (
        "group_frame",
        so.group_frame,
        {"frame": frame, "by": "s", "target": "y", "columns": ["x"]},
    )
    yield "read_templates", so.read_templates, {"path": "none.txt"}
    for name, rule in (("exactly", ("b", 1)), ("at_most_one", ("b",)), ("if_then", ("a", "b"))):
        yield (
            f"constraints.{name}",
            lambda name=name, **o: so.constrain(
                so.Chain(), getattr(so.constraints, name)(*o.values())
            ).fitted(X, Y).encode(X, Y),
            {f"argument {k}": v for k, v in enumerate(rule)},
        )  # fmt: skip


def _data():
    """Yield the generators and readers, each argument that has a small value."""
    few = {"n_examples": 3, "n_sentences": 3, "n_queries": 3, "n_batches": 2, "n_items": 5,
           "length": 4, "n_features": 4, "n_inputs": 4, "vocabulary": 30, "n_phrases": (2, 3),
           "side": 3, "n_components": 3, "n_relevant": 2}  # fmt: skip
    for name in dir(so.datasets):
        made = getattr(so.datasets, name)
        if not callable(made) or not name.startswith(("make_", "read_")):
            continue
        given = {}
        for parameter in inspect.signature(made).parameters.values():
            if parameter.name in few:
                given[parameter.name] = few[parameter.name]
            elif parameter.default is not inspect.Parameter.empty:
                given[parameter.name] = parameter.default
            else:
                given[parameter.name] = "none.txt"
        if "swap" in name:
            given["n_features"] = 500
        yield f"datasets.{name}", made, given


def more():
    """Yield (name, call, arguments) of everything above."""
    for part in (_structures, _methods_and_backends, _losses, _decisions, _others, _data):
        yield from part()


if __name__ == "__main__":  # does every call work as it stands?
    import contextlib
    import tempfile
    import warnings

    warnings.simplefilter("ignore")
    for name, call, given in more():
        try:
            with contextlib.chdir(tempfile.gettempdir()), contextlib.redirect_stdout(io.StringIO()):
                call(**given)
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {error}"[:200])
