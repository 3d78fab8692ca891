"""Experiments of the papers on tiny stand-ins of their data: they run, and say what they found."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import structopt as so
from structopt.datasets.columns import ColumnSentence
from structopt.datasets.hansards import AlignedSentences
from structopt.datasets.letters import Letters
from structopt.datasets.scan_graphs import Scan
from structopt.datasets.srl import Predicate, Sentence
from structopt.datasets.swde import WebPage
from structopt.datasets.web_pages import label_nodes, parse_page
from structopt.lab.harness.drawing import new_figure
from structopt.lab.harness.store import fingerprint, plain
from structopt.lab.reproduce.catalogue import experiment_of
from structopt.lab.reproduce.constrained import figure_2 as constrained_figure_2
from structopt.lab.reproduce.constrained import figure_3 as constrained_figure_3
from structopt.lab.reproduce.constrained import figure_4 as constrained_figure_4
from structopt.lab.reproduce.constrained import figure_5 as constrained_figure_5
from structopt.lab.reproduce.constrained.learning import AVERAGED, learn_schemes
from structopt.lab.reproduce.l1_m3n import figure_2 as l1_m3n_figure_2
from structopt.lab.reproduce.l1_m3n import figure_3 as l1_m3n_figure_3
from structopt.lab.reproduce.l1_m3n import figure_4 as l1_m3n_figure_4
from structopt.lab.reproduce.l1_m3n import figure_5 as l1_m3n_figure_5
from structopt.lab.reproduce.l1_m3n import figure_6 as l1_m3n_figure_6
from structopt.lab.reproduce.l1_m3n import figure_7 as l1_m3n_figure_7
from structopt.lab.reproduce.l1_m3n import section_5 as l1_m3n_section_5
from structopt.lab.reproduce.l1_m3n import sparse_models, three_algorithms
from structopt.lab.reproduce.l1_m3n import table_1 as l1_m3n_table_1
from structopt.lab.reproduce.saddle_m3n import alignments as saddle_m3n_alignments
from structopt.lab.reproduce.saddle_m3n import curves as saddle_m3n_curves
from structopt.lab.reproduce.saddle_m3n import figure_2a as saddle_m3n_figure_2a
from structopt.lab.reproduce.saddle_m3n import figure_2b as saddle_m3n_figure_2b
from structopt.lab.reproduce.saddle_m3n import scenes as saddle_m3n_scenes
from structopt.structures.constrain.structure import constrain
from structopt.structures.multiclass.structure import Multiclass

MODULES = [
    constrained_figure_2, constrained_figure_3, constrained_figure_4, constrained_figure_5,
    l1_m3n_figure_2, l1_m3n_figure_3, l1_m3n_figure_4, l1_m3n_figure_5, l1_m3n_figure_6,
    l1_m3n_figure_7, l1_m3n_table_1, saddle_m3n_figure_2a, saddle_m3n_figure_2b,
]  # fmt: skip


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__.rpartition(".")[2])
def test_cells_are_distinct_and_known_by_name(module):
    """Stored cells never stand for one another, and the full setting is the larger one."""
    experiment = module.experiment
    assert experiment_of(experiment.name) is experiment
    assert experiment.differences
    small, full = experiment.cells(False), experiment.cells(True)
    for cells in (small, full):
        keys = {fingerprint(experiment.name, experiment.version, cell) for cell in cells}
        assert len(keys) == len(cells) > 0
    assert len(full) >= len(small)


def shown(experiment, cells):
    """Run the cells; their numbers, remarks, table and picture must come out."""
    rows = [cell | plain(experiment.run(cell)) | {"cell_cpu": 0.0} for cell in cells]
    table = experiment.table(rows, "title")
    assert len(table.rows) > 0
    assert all(len(row) == len(table.columns) for row in table.rows)
    figure = new_figure()
    experiment.draw(rows, figure)
    assert figure.axes
    return rows, {(n.label, n.metric): n for n in experiment.numbers(rows)}


def one_each(cells, key):
    """Return the first cell of every value of a key."""
    return list({cell[key]: cell for cell in reversed(cells)}.values())[::-1]


# ---------------------------------------------------------------------- constrained output
def test_synthetic_labels_show_what_inference_is_worth():
    """With kappa = 1 no local classifier is right; IBT learns what L+I cannot."""
    cells = [
        {"kappa": kappa, "d": 5, "examples": 400, "trial": 0, "tests": 400} for kappa in (0.0, 1.0)
    ]
    rows, _ = shown(constrained_figure_2.experiment, cells)
    assert rows[0]["L+I"] >= rows[0]["LO"] > 90
    assert rows[0]["L+I, component by component"] == pytest.approx(rows[0]["L+I"], abs=5)
    assert rows[1]["IBT"] > rows[1]["L+I"] + 5
    assert "[400]" in constrained_figure_2.experiment.remarks(rows)[2]


def sentences(n):
    """Sentences whose subjects are ARG0 and objects ARG1, six arguments each."""
    found = []
    for i in range(n):
        words = ("cats", "see", f"x{i % 3}", "dogs", "see", "birds", "owls", "see", "mice")
        heads = (1, 4, 1, 4, -1, 4, 7, 4, 7)
        relations = ("nsubj", "advcl", "obj", "nsubj", "root", "obj", "nsubj", "conj", "obj")
        tags = ("N", "V", "N") * 3
        predicates = tuple(
            Predicate(t, "see.01", {t - 1: "ARG0", t + 1: "ARG1"}) for t in (1, 4, 7)
        )
        found.append(Sentence(words, words, tags, heads, relations, predicates))
    return found


def test_semantic_roles(monkeypatch):
    """Given arguments are the only candidates; the relation tells them apart."""
    monkeypatch.setattr(constrained_figure_3, "load_srl", lambda: sentences(10))
    for p in constrained_figure_3.given(sentences(1)):
        assert p.labels == ("ARG0", "ARG1")
        assert len(p.candidates) == len(p.spans) == 2
    cells = [{"templates": k, "split": 0, "most": 50, "epochs": 5} for k in (2, 6)]
    rows, _ = shown(constrained_figure_3.experiment, cells)
    assert rows[0]["features"] < rows[1]["features"]
    assert rows[1]["L+I"] == rows[1]["IBT"] == 100.0


@pytest.mark.parametrize("kind", ["vectors", "rows"])
def test_two_runs_give_what_five_would(kind):
    data = so.datasets.make_constrained_labels(60, n_inputs=4, kappa=0.5, seed=0)
    X, Y = data.X, data.Y
    structure = so.LabelVector(data.legal)
    if kind == "rows":  # brackets: components that share their weights
        X = [x[:4] for x in X]
        Y = [[1, 1, 0, 0] if y[0] else [0, 0, 1, 1] for y in Y]
        structure = constrain(Multiclass([0, 1]), constrained_figure_4.in_turn)
    learned = learn_schemes(structure, X[:40], Y[:40], epochs=4, seed=3)
    for name in learned.found:
        scheme, averaged, _ = name.partition(AVERAGED)
        one = so.ConstraintScheme(
            scheme, structure, learner="averaged perceptron" if averaged else "perceptron",
            max_iter=4, random_state=3,
        ).fit(X[:40], Y[:40])  # fmt: skip
        np.testing.assert_array_equal(learned.found[name][1], one.weights_)
        assert learned.predict(name, X[40:]) == one.predict(X[40:])


def test_brackets_in_turn():
    """The rows allow exactly the sequences in which brackets open and close in turn."""
    structure = constrain(Multiclass([0, 1]), constrained_figure_4.in_turn)
    x = np.eye(6)
    fitted = structure.fitted([x, x], [[0] * 6, [1] * 6])
    for y in product((0, 1), repeat=6):
        depth = np.cumsum([v if t % 2 == 0 else -v for t, v in enumerate(y)])
        legal = set(depth) <= {0, 1} and depth[-1] == 0
        assert (fitted.broken([x], [list(y)]) == []) == legal


def test_noun_phrases(monkeypatch):
    """Articles open phrases and nouns close them: both schemes learn it."""
    rows = [["the", "DT", "B-NP"], ["cat", "NN", "I-NP"], ["sees", "VB", "B-VP"],
            ["a", "DT", "B-NP"], ["dog", "NN", "I-NP"]]  # fmt: skip
    corpus = [ColumnSentence(rows[k:]) for k in (0, 2, 3)] * 6
    monkeypatch.setattr(constrained_figure_4, "load_conll2000", lambda split: corpus)
    cell = {"draw": 0, "sentences": 12, "tests": 6, "epochs": 10}
    cells = [cell | {"features": k} for k in (2, 40)]
    found, _ = shown(constrained_figure_4.experiment, cells)
    assert found[0]["features used"] == 2
    assert found[1]["L+I"] == found[1]["IBT"] == 100.0


def test_bounds():
    """As the paper says: IBT overtakes what is not locally separable, and nothing else."""
    experiment = constrained_figure_5.experiment
    rows, _ = shown(experiment, experiment.cells(False))
    remarks = experiment.remarks(rows)
    assert "nowhere" in remarks[0]
    assert "from" in remarks[1]
    assert "from" in remarks[2]


# ---------------------------------------------------------------------- sparse models
def test_six_models_on_synthetic_chains():
    """All of them beat guessing; the table is about the best constant of each."""
    cells = [
        cell | {"sequences": 60, "constants": cell["constants"][1:3] or [0.0]}
        for cell in one_each(l1_m3n_figure_2.experiment.cells(False), "model")
    ]
    rows, numbers = shown(l1_m3n_figure_2.experiment, [c | {"parts": 4} for c in cells])
    assert {row["train"] for row in rows} == {15}
    for model in sparse_models.MODELS:
        (row,) = (r for r in rows if r["model"] == model)
        chosen = row["errors"][int(np.argmin(row["validation"]))]  # never by test error
        assert numbers["train 250", f"{model} %"].value == chosen
        assert min(row["errors"]) < 50
    assert 0 < rows[0]["truth"] < 50
    cell = l1_m3n_section_5.experiment.cells(False)[0] | {"sequences": 60, "parts": 4}
    same = cell | {"correlated": True}
    apart = [l1_m3n_section_5.experiment.run(c)["errors"] for c in (cell, same)]
    assert apart[0] != apart[1]  # other inputs
    assert apart[1] == l1_m3n_figure_2.experiment.run(same)["errors"]


def test_projections_on_two_balls():
    """As the paper says: only the l1 ball sets a coordinate to zero, and only near an axis."""
    experiment = experiment_of("l1-m3n-figure-1")
    rows, _ = shown(experiment, experiment.cells(True))
    assert [0.0 in row["l1"] for row in rows] == [False, True, True]
    for row in rows:
        p = np.array(row["at"])
        assert np.isclose(np.abs(row["l1"]).sum(), 1.0)
        ring = np.random.default_rng(0).dirichlet(np.ones(2), 200)  # no point of the ball is nearer
        assert np.all(np.linalg.norm(ring - p, axis=1) >= np.linalg.norm(row["l1"] - p) - 1e-12)


def test_average_weights():
    """L1 models have zeros, the others none."""
    cells = one_each(l1_m3n_figure_3.experiment.cells(False), "model")
    _, numbers = shown(l1_m3n_figure_3.experiment, [c | {"sequences": 200} for c in cells])
    assert numbers["the true field", "nonzero"].value == 60
    assert numbers["the true field", "nonzero, irrelevant"].value == 0
    assert numbers["M3N", "nonzero"].value == numbers["LapM3N", "nonzero"].value == 200
    for model in ("L1-M3N", "L1-CRF"):
        assert numbers[model, "nonzero"].value < 100


def test_three_algorithms_as_printed():
    """Algorithm 1 ends near the optimum, 2 after its T steps, 3 after fifteen M3Ns."""
    cells = [
        {"algorithm": algorithm, "value": value, "fold": 0, "sequences": 40}
        for algorithm, value in (
            ("sub-gradient, as printed", 1.41), ("cutting plane, as printed", 0.7),
            ("cutting plane", 0.7), ("EM, as printed", 7000.0),
        )
    ]  # fmt: skip
    rows, numbers = shown(l1_m3n_figure_5.experiment, cells)
    assert rows[0]["rounds"] == three_algorithms.STEPS
    assert rows[1]["objective"] == pytest.approx(rows[2]["objective"], rel=2e-2)
    assert rows[3]["rounds"] >= 15
    assert rows[3]["status"] == "stalled"
    assert ("EM, as printed, lambda 7000", "error %") in numbers
    counts = {(n.label, n.metric): n for n in l1_m3n_table_1.experiment.numbers(rows)}
    assert counts["EM, as printed, lambda 7000", "irrelevant"].paper == 18


def test_which_algorithms_are_run_as_printed():
    """The cutting planes of the letters took the paper 20 hours: not as printed."""
    for module, many in ((l1_m3n_figure_5, 3), (l1_m3n_figure_6, 2)):
        names = {cell["algorithm"] for cell in module.experiment.cells(True)}
        assert sum(name.endswith(", as printed") for name in names) == many
        assert {name.partition(",")[0] for name in names} == set(three_algorithms.AXIS)


def test_three_algorithms_and_their_zeros():
    """Error and time for Figure 5, counts beside the paper's for Table 1, from the same runs."""
    cells = [
        {"algorithm": algorithm, "value": value, "fold": 0, "sequences": 200}
        for algorithm, value in (("sub-gradient", 0.5), ("cutting plane", 1.0), ("EM", 7000.0))
    ]
    rows, numbers = shown(l1_m3n_figure_5.experiment, cells)
    assert all(row["relative_gap"] <= 1e-2 for row in rows)
    assert numbers["EM, lambda 7000", "CPU s"].value > 0
    counts = {(n.label, n.metric): n for n in l1_m3n_table_1.experiment.numbers(rows)}
    assert counts["cutting plane, sqrt(C) 1", "total"].paper == 44
    assert counts["EM, lambda 7000", "irrelevant"].paper == 18
    for (_, metric), number in counts.items():
        assert 0 <= number.value <= (200 if metric == "total" else 140)


@pytest.fixture
def letters(monkeypatch):
    """Four words a fold, three letters of eight pixels."""
    rng = np.random.default_rng(0)
    looks = {"a": rng.integers(0, 2, 8), "b": rng.integers(0, 2, 8), "c": rng.integers(0, 2, 8)}
    Y = [[str(k) for k in rng.choice(list("abc"), 3)] for _ in range(40)]
    X = [np.stack([looks[k] for k in y]).astype(float) for y in Y]
    data = Letters(X, Y, np.repeat(np.arange(10), 4))
    monkeypatch.setattr(l1_m3n_figure_4, "load_letters", lambda return_folds: data)


def test_handwritten_words(letters):
    """Words of one fold to learn from, as many of each other fold to test on."""
    train, test = l1_m3n_figure_4.words(3, 2)
    assert (len(train[0]), len(test[0])) == (3, 27)
    cells = [
        c | {"words": 4, "constants": c["constants"][-1:]}
        for c in one_each(l1_m3n_figure_4.experiment.cells(False), "model")
    ]
    _, numbers = shown(l1_m3n_figure_4.experiment, cells)
    assert {label for label, _ in numbers} == {"OCR4"}
    cells = [
        c | {"words": 4} for c in one_each(l1_m3n_figure_6.experiment.cells(False), "algorithm")
    ]
    rows, _ = shown(l1_m3n_figure_6.experiment, cells)
    assert all(row["error"] < 60 for row in rows)


def test_web_pages(monkeypatch):
    """Titles stand in headings and authors in list items: found, so F1 and records are right."""
    html = "<h2>{}</h2><ul><li><b>Author</b> : <i>{}</i><li><b>ISBN</b> : <i>{}</i></ul>"
    pages = []
    for k in range(8):
        values = {f"Book {k}": "title", f"Jane {k}": "author", f"978{k}": "isbn_13"}
        nodes = parse_page(html.format(*values))
        pages.append(WebPage(str(k), nodes, label_nodes(nodes, values)))
    monkeypatch.setattr(l1_m3n_figure_7, "load_swde", lambda: pages)
    cells = [
        {"pages": 4, "draw": 0, "model": model, "constants": [1.0], "tests": 3}
        for model in l1_m3n_figure_7.GRID
    ]
    _, numbers = shown(l1_m3n_figure_7.experiment, cells)
    for model in l1_m3n_figure_7.GRID:
        assert numbers[f"pages 4, {model}", "F1 %"].value == 100.0
        assert numbers[f"pages 4, {model}", "records %"].value == 100.0
    wrong = [["title"] * len(page.labels) for page in pages]
    assert l1_m3n_figure_7.judged(pages, wrong)[1] == 0.0


# ---------------------------------------------------------------------- saddle points
def hills(n, seed):
    """Half the points lie low, on the ground, the others anywhere up to 20 metres."""
    rng = np.random.default_rng(seed)
    xyz = rng.uniform(0, 20, (n, 3))
    ground = rng.random(n) < 0.5
    xyz[ground, 2] = 0.1 * rng.random(int(ground.sum()))
    return Scan(xyz, np.ones(n), np.ones(n), rng.random(n), np.where(ground, 2, 1))


def test_segmentation(monkeypatch):
    """Low points are ground; both learners are measured after passes, one has a training loss."""
    scan = hills(240, 0)
    monkeypatch.setattr(saddle_m3n_figure_2a, "load_scan", lambda: scan)
    cells = [
        cell
        for cell in saddle_m3n_figure_2a.experiment.cells(False)
        if cell["features"] != saddle_m3n_scenes.UPRIGHT
    ]
    rows, numbers = shown(saddle_m3n_figure_2a.experiment, cells)
    for row in rows:
        assert row["learner"] == "averaged perceptron" or row["loss"][-1] < row["loss"][0]
    assert rows[0]["test"][-1] < rows[0]["majority"]
    assert numbers["9 features, averaged perceptron", "iterations"].value == 30
    stopped = "test error %, stopped by validation"
    assert numbers["spin images, extragradient", stopped].paper == 3.0
    assert numbers["spin images, extragradient as printed", stopped].paper == 3.0
    assert numbers["9 features, extragradient", stopped].paper is None


def test_numbers_of_several_splits_are_means_with_deviations():
    """Worked out by hand: validation stops the first split at iteration 2, the second at 1."""
    rows = [
        {"learner": "a", "iterations": [1, 2], "validation": [9.0, 8.0], "test": [7.0, 5.0],
         "loss": [1.0, 0.5]},
        {"learner": "a", "iterations": [1, 2], "validation": [8.0, 8.0], "test": [9.0, 1.0],
         "loss": [2.0, 1.5]},
    ]  # fmt: skip
    found = {n.metric: n for n in saddle_m3n_curves.numbers(rows, {"a": 3.0})}
    stopped = found["test error %, stopped by validation"]
    assert (stopped.value, stopped.spread, stopped.paper) == (7.0, pytest.approx(8**0.5), 3.0)
    assert found["at iteration"].value == 1.5
    assert found["test error % after all"].value == 3.0
    assert found["training loss, last"].value == 1.0


@pytest.mark.parametrize("features", saddle_m3n_scenes.FEATURES)
def test_scenes_hold_every_point_once_and_learn_components_from_training_alone(features):
    """Fewer points than components would be no test: 240 points give about 109 to learn from."""
    scan = hills(240, 0)
    parts = saddle_m3n_scenes.scenes(scan, features, (5, 3, 3), 0)
    assert [len(X) for X, _ in parts] == [len(Y) for _, Y in parts] == [5, 3, 3]
    sizes = [len(y) for _, Y in parts for y in Y]
    assert sum(sizes) == 240
    assert max(sizes) - min(sizes) <= 1
    assert sum(int(y.sum()) for _, Y in parts for y in Y) == (scan.classification == 2).sum()
    for X, Y in parts:
        for (edges, nodes, edge), y in zip(X, Y, strict=True):
            assert len(nodes) == len(y)
            wide = (9, 2) if features == "9 features" else (46, 1)
            assert (nodes.shape[1], edge.shape[1], len(edge)) == (*wide, len(edges))
            assert edge[:, 0].tolist() == [1.0] * len(edges)
    if features != "9 features":
        train = np.concatenate([nodes[:, 1:] for _, nodes, _ in parts[0][0]])
        np.testing.assert_allclose(train.mean(axis=0), 0.0, atol=1e-9)
        across = np.cov(train.T)
        np.testing.assert_allclose(across, np.diag(np.diag(across)), atol=1e-8)


def test_alignment(monkeypatch):
    """Words are aligned to their likes; the error rate falls to nearly nothing."""
    rng = np.random.default_rng(0)
    pairs = [[f"w{k}" for k in rng.permutation(12)[:4]] for _ in range(24)]
    links = [{(t, t) for t in range(4)} for _ in pairs]
    upper = [[w.upper() for w in words] for words in pairs]
    gold = AlignedSentences(pairs, upper, links, links)
    monkeypatch.setattr(saddle_m3n_alignments, "load_hansards", lambda split: gold)
    monkeypatch.setattr(saddle_m3n_alignments, "load_hansards_corpus", lambda: (pairs, upper))
    cells = [
        c | {"iterations": 20, "train": 6, "held": 8}
        for c in saddle_m3n_figure_2b.experiment.cells(False)
    ]
    rows, _ = shown(saddle_m3n_figure_2b.experiment, cells)
    for row in rows:
        assert row["test"][-1] < 20
    assert rows[0]["edges"] == 6 * 16
