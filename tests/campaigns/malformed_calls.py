"""Public calls with one bad argument: the right answer, or an error of ours that says what to give.

Every recipe is a call that works; a case replaces one of its arguments by a bad value. Anything but
an answer or a ``StructoptError`` is a finding, a hang too. A short set runs in
the suite; the long run is ``python tests/campaigns/malformed_calls.py --count 10000``.
"""

import argparse
import collections
import contextlib
import functools
import io
import logging
import signal
import tempfile
import traceback
import warnings
from pathlib import Path

import networkx as nx
import numpy as np
import scipy.sparse as sp
from more_recipes import more

import structopt as so

logger = logging.getLogger("malformed_calls")
SECONDS = 20  # of CPU: a call that takes longer hangs
rng = np.random.default_rng(0)
ROWS, CLASSES = rng.normal(size=(12, 3)), ["a", "b", "c"] * 4
WORDS = [rng.normal(size=(t, 3)) for t in (2, 3, 1, 4)]
TAGS = ["ab", "bab", "a", "abba"]
DRAFT = Path(tempfile.mkdtemp())


class Odd:
    """An object that nothing knows."""

    def __repr__(self):
        return "Odd()"


def bad_values():
    """Return values that most arguments cannot be: of another type, shape, size, or not finite."""
    frame = None
    with contextlib.suppress(ImportError):
        import pandas as pd

        frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    return {
        "None": None,
        "nan": float("nan"),
        "inf": float("inf"),
        "-inf": -float("inf"),
        "-1": -1,
        "0": 0,
        "0.5": 0.5,
        "huge": 10**30,
        "1e300": 1e300,
        "True": True,
        "text": "text",
        "empty text": "",
        "bytes": b"bytes",
        "number as text": "1.0",
        "complex": 1 + 2j,
        "odd": Odd(),
        "class": Odd,
        "function": lambda *a: None,
        "[]": [],
        "{}": {},
        "()": (),
        "[None]": [None],
        "[nan]": [float("nan")],
        "nested": [[1, 2], [3]],
        "generator": (i for i in range(3)),
        "set": {1, 2},
        "mixed": [1, "a", None],
        "array0": np.array(1.0),
        "empty array": np.zeros((0, 3)),
        "no columns": np.zeros((4, 0)),
        "nan array": np.full((12, 3), np.nan),
        "3d": np.zeros((2, 2, 2)),
        "complex array": np.ones((12, 3), dtype=complex),
        "objects": np.array([Odd(), None], dtype=object),
        "strings": np.array(["a", "b"]),
        "bools": np.array([True, False]),
        "wrong width": np.ones((12, 7)),
        "wrong length": np.ones((5, 3)),
        "list of nan": [np.full((2, 3), np.nan)] * 4,
        "unhashable labels": [["a"], ["b"]] * 6,
        "unknown labels": ["zebra"] * 12,
        "sparse": sp.eye(12, 3),
        "sparse nan": sp.csr_array(np.full((12, 3), np.nan)),
        "graph": nx.path_graph(3),
        "dates": np.array(["2020-01-01"], dtype="datetime64[D]"),
        "int8": np.ones((12, 3), dtype=np.int8),
        "frame": frame,
        "structure class": so.Chain,
        "formulation class": so.M3N,
        "path": Path("nowhere"),
        "negative floats": -np.ones(12),
        "zeros": np.zeros(12),
        "ints": list(range(12)),
    }


def fit(structure=None, formulation=None, X=ROWS, Y=CLASSES, sample_weight=None, **settings):
    """Train on a handful of rows."""
    structure = so.Multiclass() if structure is None else structure
    formulation = so.M3N(C=1.0) if formulation is None else formulation
    settings = {"max_iter": 30, "tol": 1e-2} | settings
    model = so.StructuredClassifier(structure, formulation, **settings)
    return model.fit(X, Y, sample_weight=sample_weight)


def chain(X=WORDS, Y=TAGS, **settings):
    """Train on four words."""
    return fit(so.Chain(), X=X, Y=Y, **settings)


ROW_MODEL, WORD_MODEL = fit(), chain()


def formulation(name, **parameters):
    """Train with one formulation."""
    return fit(formulation=getattr(so, name)(**parameters))


def structure(name, X, Y, **parameters):
    """Fit and encode with one structure, and ask it one question."""
    fitted = getattr(so, name)(**parameters).fitted(X, Y)
    return fitted.encode(X, Y), fitted.predict(X, np.zeros(fitted.n_features_))


def backend(name, **options):
    """Train with one backend."""
    return fit(backend=getattr(so, name)(**options))


def method(key, **options):
    """Train with one method."""
    return fit(method=key, method_options=options)


def asked(of, X, Y, question, **given):
    """Ask a fitted structure about the first example."""
    fitted = getattr(so, of)().fitted(X, Y)
    weights = given.pop("weights", np.zeros(fitted.n_features_))
    ask = {
        "argmax": lambda x, y: fitted.argmax(x, weights, gold=y),
        "second_best": lambda x, y: fitted.second_best(x, weights, y),
        "k_best": lambda x, y: fitted.k_best(x, weights, y),
        "joint_features": fitted.joint_features,
        "loss": lambda x, y: fitted.loss(y, x),
        "predict": lambda x, y: fitted.predict(x, weights),
    }[question]
    return ask(given["x"], given["y"])


def recipes():
    """Return every call that works, with its arguments."""
    yield (
        "fit",
        fit,
        {
            "structure": so.Multiclass(),
            "formulation": so.M3N(1.0),
            "X": ROWS,
            "Y": CLASSES,
            "sample_weight": np.ones(12),
            "backend": "auto",
            "method": "auto",
            "tol": 1e-2,
            "max_iter": 30,
            "time_limit": 10.0,
            "n_jobs": None,
            "random_state": 0,
            "verbose": False,
            "callbacks": (),
            "method_options": None,
        },
    )
    yield "fit words", chain, {"X": WORDS, "Y": TAGS, "sample_weight": np.ones(4)}
    for model, X, Y, who in (
        (ROW_MODEL, ROWS, CLASSES, "rows"),
        (WORD_MODEL, WORDS, TAGS, "words"),
    ):
        yield f"predict {who}", model.predict, {"X": X}
        yield f"score {who}", model.score, {"X": X, "y": Y, "sample_weight": np.ones(len(Y))}
        yield (
            f"report {who}",
            model.report,
            {"path": DRAFT / "r.html", "X": X, "Y": Y, "title": "a title"},
        )
        yield f"save {who}", model.save, {"path": DRAFT / "m.npz"}
    ROW_MODEL.save(DRAFT / "model.npz")
    yield (
        "load_model",
        so.load_model,
        {"path": DRAFT / "model.npz", "structure": None, "formulation": None},
    )
    for name, parameters in {
        "M3N": {"C": 1.0, "slacks": "n", "constraints": lambda w: [w <= 1]},
        "StructSVM": {"C": 1.0, "slacks": "n", "rescale": "margin"},
        "StructRMM": {"C": 1.0, "B": 3.0},
        "L1M3N": {"C": 1.0},
        "L1BallM3N": {"radius": 1.0},
        "L2BallM3N": {"radius": 1.0},
        "LPStruct": {"C": 1.0, "nonnegative": False},
        "AdaptiveM3N": {"C": 1.0, "lam": 1.0},
        "LaplaceM3N": {"C": 1.0, "lam": 1.0},
    }.items():
        yield name, formulation, {"name": name} | parameters
    yield (
        "Multiclass",
        structure,
        {"name": "Multiclass", "X": ROWS, "Y": CLASSES, "labels": None, "loss": None},
    )
    yield (
        "Chain",
        structure,
        {
            "name": "Chain",
            "X": WORDS,
            "Y": TAGS,
            "labels": None,
            "boundaries": True,
            "loss": None,
            "decoder": "compiled",
        },
    )
    yield (
        "LabelVector",
        structure,
        {"name": "LabelVector", "X": rng.normal(size=(6, 2, 3)), "Y": [(0, 1), (1, 0)] * 3},
    )
    edges = [np.array([[0, 0], [0, 1], [1, 1]])] * 3
    pairs = [(e, np.ones((3, 2))) for e in edges]
    yield "Matching", structure, {"name": "Matching", "X": pairs, "Y": [[(0, 0)], [(1, 1)], []]}
    graphs = [(np.array([[0, 1], [1, 2]]), np.ones((3, 2)))] * 3
    yield (
        "GraphCut",
        structure,
        {"name": "GraphCut", "X": graphs, "Y": [[0, 1, 1]] * 3, "labels": None},
    )
    for question in ("argmax", "second_best", "joint_features", "loss"):
        for of, X, Y in (("Multiclass", ROWS, CLASSES), ("Chain", WORDS, TAGS)):
            yield (
                f"{of}.{question}",
                asked,
                {
                    "of": of,
                    "X": X,
                    "Y": Y,
                    "question": question,
                    "y": Y[0],
                    "x": Y[1] if question == "loss" else X[0],
                },
            )
    for of, X, Y, n in (("Multiclass", ROWS, CLASSES, 9), ("Chain", WORDS, TAGS, 10)):
        yield (
            f"{of}.k_best",
            asked,
            {"of": of, "X": X, "Y": Y, "question": "k_best", "x": X[0], "y": 2},
        )
        yield (
            f"{of}.predict",
            asked,
            {
                "of": of,
                "X": X,
                "Y": Y,
                "question": "predict",
                "x": X,
                "y": None,
                "weights": np.zeros(n),
            },
        )
    yield "Ascent", backend, {"name": "Ascent", "random_state": 0}
    yield "HiGHS", lambda **o: fit(formulation=so.L1M3N(), backend=so.HiGHS(**o)), {}
    yield "CVXPY", backend, {"name": "CVXPY", "solver": "CLARABEL"}
    for key in ("frank-wolfe", "subgradient", "extragradient", "bregman", "perceptron", "mira"):
        yield (
            key,
            lambda method="", **o: fit(method=method, **o),
            {"method": key, "random_state": 0, "max_iter": 3},
        )
    yield (
        "fit_path",
        so.fit_path,
        {
            "model": so.StructuredClassifier(so.Multiclass(), so.M3N(), tol=1e-2),
            "X": ROWS,
            "Y": CLASSES,
            "values": [0.1, 1.0],
            "parameter": "formulation__C",
            "sample_weight": np.ones(12),
        },
    )
    yield (
        "grid_select",
        so.grid_select,
        {
            "model": so.StructuredClassifier(so.Multiclass(), so.M3N(), tol=1e-2),
            "X": ROWS,
            "Y": CLASSES,
            "X_val": ROWS,
            "Y_val": CLASSES,
            "grid": {"formulation__C": [1.0]},
            "random_state": 0,
        },
    )
    yield (
        "separability",
        so.separability,
        {"structure": so.Multiclass(), "X": ROWS, "Y": CLASSES, "tol": 1e-2},
    )
    yield (
        "HMM",
        lambda X, Y, **o: so.HMM(**o).fit(X, Y),
        {"X": WORDS, "Y": TAGS, "smoothing": 1.0, "emissions": "auto"},
    )
    yield (
        "KernelMachine",
        lambda X, Y, **o: so.KernelMachine(so.Multiclass(), so.M3N(), **o).fit(X, Y),
        {"X": ROWS, "Y": CLASSES, "kernel": "rbf", "gamma": 1.0, "tol": 1e-1, "max_iter": 20},
    )
    yield (
        "KernelMap",
        lambda X, **o: so.KernelMap(**o).fit_transform(X),
        {"X": ROWS, "kernel": "rbf", "gamma": 1.0, "max_rank": 3},
    )
    yield (
        "WordFeatures",
        lambda X, **o: so.WordFeatures(**o).fit_transform(X),
        {
            "X": [["the", "cat"], ["a", "dog"]],
            "attributes": ("word",),
            "window": (0,),
            "min_count": 1,
        },
    )
    yield (
        "ConstraintScheme",
        lambda X, Y, **o: so.ConstraintScheme(**o).fit(X, Y),
        {
            "X": rng.normal(size=(6, 2, 3)),
            "Y": [(0, 1), (1, 0)] * 3,
            "scheme": "IBT",
            "structure": so.LabelVector(),
            "max_iter": 2,
            "random_state": 0,
        },
    )
    yield (
        "make_chain_crf",
        so.datasets.make_chain_crf,
        {"n_examples": 3, "length": 4, "n_features": 5, "n_relevant": 2, "n_labels": 2, "seed": 0},
    )
    yield (
        "make_classes",
        so.datasets.make_classes,
        {"n_examples": 9, "n_features": 3, "n_labels": 3, "seed": 0},
    )
    yield (
        "make_grids",
        so.datasets.make_grids,
        {"n_examples": 2, "side": 4, "n_features": 3, "seed": 0},
    )
    yield (
        "make_lattices",
        so.datasets.make_lattices,
        {"n_examples": 2, "width": 2, "n_features": 3, "seed": 0},
    )
    yield (
        "make_alignments",
        so.datasets.make_alignments,
        {"n_examples": 2, "n_features": 3, "mean_edges": 9.0, "seed": 0},
    )
    yield "load_digit_words", so.datasets.load_digit_words, {"split": "train", "seed": 0}
    yield "read_letters", so.datasets.read_letters, {"path": DRAFT / "none.data"}
    yield "read_columns", so.datasets.read_columns, {"path": DRAFT / "none.txt"}
    yield (
        "lp_struct_error",
        so.bounds.lp_struct_error,
        {"n_points": 100, "log2_covering": 3.0, "confidence": 0.05},
    )
    yield "local_error", so.bounds.local_error, {"n_examples": 100, "n_inputs": 5, "best": 0.1}
    yield (
        "DataSet.of",
        lambda **o: so.DataSet.of(so.Multiclass().fitted(ROWS, CLASSES), **o),
        {"X": ROWS, "Y": CLASSES, "sample_weight": np.ones(12), "n_jobs": 1},
    )
    yield (
        "constrain",
        lambda X, Y, **o: so.constrain(**o).fitted(X, Y).encode(X, Y),
        {
            "structure": so.Chain(),
            "constraints": so.constraints.at_most_one("a"),
            "X": WORDS,
            "Y": TAGS,
        },
    )


#: arguments that only say which part of a recipe is meant
NOT_OURS = {"name", "of", "question"}


@functools.cache
def every_recipe():
    """Return all recipes by name."""
    return {name: (call, given) for name, call, given in [*recipes(), *more()]}


def cases():
    """Return every (recipe, argument, bad value) by name."""
    for name, (_, arguments) in every_recipe().items():
        for argument in arguments:
            if argument not in NOT_OURS:
                yield from ((name, argument, value) for value in bad_values())


def outcome(recipe, argument, value):
    """Run one case; return None, or what was raw about it."""
    call, arguments = every_recipe()[recipe]
    given = dict(arguments) | {argument: bad_values()[value]}

    def late(*_):
        raise TimeoutError(f"no answer after {SECONDS} s")

    before = signal.signal(signal.SIGALRM, late), signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.alarm(20 * SECONDS)
    try:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.chdir(DRAFT),  # a text can be a path
        ):
            warnings.simplefilter("ignore")
            call(**given)
    except so.errors.StructoptError as error:
        return None if str(error).strip() else f"{type(error).__name__} without words"
    except BaseException as error:  # a finding, whatever it is
        if isinstance(error, KeyboardInterrupt):
            raise
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(last.filename).name}:{last.lineno}"
        return f"{type(error).__name__} at {where}: {str(error)[:90]}"
    finally:
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGALRM, before[0])
        signal.signal(signal.SIGPROF, before[1])
    return None


def run(count, seed, only=""):
    """Run ``count`` cases drawn at random (all, if there are fewer); return the findings."""
    every = [case for case in cases() if only in case[0]]
    order = np.random.default_rng(seed).permutation(len(every))[:count]
    findings = {}
    for k in order.tolist():
        logger.debug("%s", every[k])
        if (found := outcome(*every[k])) is not None:
            findings[every[k]] = found
            recipe, argument, value = every[k]
            logger.warning("%s(%s=%s): %s", recipe, argument, value, found)
    return len(order), findings


def main():
    """Run the campaign from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="recipes whose name contains this")
    parser.add_argument("--verbose", action="store_true", help="name every call before it is made")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.CRITICAL, format="%(message)s")
    logger.setLevel(logging.DEBUG if arguments.verbose else logging.WARNING)
    done, findings = run(arguments.count, arguments.seed, arguments.only)
    by_kind = collections.Counter(found.split(":")[0] for found in findings.values())
    print(f"{done} calls, {len(findings)} raw; {dict(by_kind)}")
    raise SystemExit(bool(findings))


if __name__ == "__main__":
    main()
