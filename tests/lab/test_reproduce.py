"""Tables and figures of the papers: the framework with a toy, and every experiment on tiny data."""

import csv
import io
import json
import signal
from dataclasses import replace

import numpy as np
import pytest

from structopt import M3N, Chain, LPStruct, Multiclass, StructuredClassifier, datasets
from structopt.cli import commands as cli
from structopt.datasets.hansards import CORPUS
from structopt.datasets.home import find_data
from structopt.errors import (
    IncompatibleError,
    InvalidInputError,
    MissingDataError,
)
from structopt.lab.harness import drawing, measure, runner, store
from structopt.lab.reproduce import catalogue, command
from structopt.lab.reproduce.experiment import Experiment
from structopt.lab.reproduce.number import Number, deviation, mean
from structopt.lab.reproduce.struct_rmm import relative_margins


class Toy(Experiment):
    name = "toy-table-1"
    data = ("toy/numbers.txt.gz",)
    differences = "It is no paper."

    def __init__(self, fails_at=None, error=KeyboardInterrupt):
        self.ran, self.fails_at, self.error = [], fails_at, error

    def cells(self, full):
        return [{"model": m, "draw": d} for m in "ab" for d in range(3 if full else 2)]

    def run(self, cell):
        if len(self.ran) == self.fails_at:
            raise self.error
        self.ran.append((cell["model"], cell["draw"]))
        return {"error": 10.0 * (cell["model"] == "b") + cell["draw"], "curve": [1, 2]}

    def numbers(self, rows):
        found = []
        for model, paper in (("a", 1.5), ("b", None)):
            errors = [row["error"] for row in rows if row["model"] == model]
            found.append(Number(model, "error %", mean(errors), deviation(errors), paper, 0.2))
        return found


@pytest.fixture
def toy(monkeypatch):
    experiment = Toy()
    entry = catalogue.Entry("toy-table-1", "Nobody (1900)", "Table 1", "Toys", (0.5, 90))
    monkeypatch.setattr(catalogue, "CATALOGUE", (*catalogue.CATALOGUE, entry))
    monkeypatch.setattr(command, "CATALOGUE", catalogue.CATALOGUE)
    found, has = catalogue.experiment_of, catalogue.implemented
    for module in (catalogue, command):
        monkeypatch.setattr(
            module, "experiment_of", lambda n: experiment if n == "toy-table-1" else found(n)
        )
    monkeypatch.setattr(catalogue, "implemented", lambda e: e.name == "toy-table-1" or has(e))
    return experiment


def run(toy, setting, out, **options):
    folder = catalogue.folder_of(toy, out)
    return runner.run(toy, toy.cells(setting == "full"), store=store.Store(folder), **options)


def test_a_second_run_does_nothing_and_full_reuses_small(tmp_path):
    toy, steps = Toy(), []
    first = run(toy, "small", tmp_path, watch=steps.append)
    assert len(toy.ran) == len(first.rows) == first.total == 4
    assert [step.done for step in steps] == [0, 1, 2, 3, 4]
    assert steps[0].seconds_left is None
    assert steps[2].seconds_left >= 0
    assert steps[1].label == "model a, draw 1"
    again = Toy()
    second = run(again, "small", tmp_path)
    assert again.ran == []
    assert second == first
    run(again, "full", tmp_path)
    assert again.ran == [("a", 2), ("b", 2)]


def test_another_version_of_the_code_runs_again(tmp_path):
    run(Toy(), "small", tmp_path)
    newer = Toy()
    newer.version = 2
    assert len(run(newer, "small", tmp_path).rows) == len(newer.ran) == 4


def test_interruption_keeps_what_is_finished(tmp_path):
    cut = run(Toy(fails_at=3), "small", tmp_path)
    assert cut.interrupted
    assert len(cut.rows) == 3
    rest = Toy()
    whole = run(rest, "small", tmp_path)
    assert rest.ran == [("b", 1)]
    assert not whole.interrupted
    assert [(row["model"], row["draw"]) for row in whole.rows] == [
        ("a", 0), ("a", 1), ("b", 0), ("b", 1),
    ]  # fmt: skip


def test_a_line_cut_short_is_run_again(tmp_path, caplog):
    run(Toy(), "small", tmp_path)
    path = tmp_path / "toy-table-1" / store.FILE
    path.write_bytes(path.read_bytes()[:-20])
    again = Toy()
    assert len(run(again, "small", tmp_path).rows) == 4
    assert again.ran == [("b", 1)]
    assert "line 4" in caplog.text
    assert len(store.Store(path.parent).rows) == 4


def test_files_hold_the_numbers_and_the_paper(tmp_path):
    toy = Toy()
    outcome = run(toy, "small", tmp_path)
    entry = catalogue.Entry("toy-table-1", "Nobody (1900)", "Table 1", "Toys")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "entry_of", lambda name: entry)
        whole = command.table_of(toy, "small", outcome)
        files = command.files_of(toy, "small", outcome, whole, command="structopt x")
        partial = command.table_of(toy, "small", replace(outcome, rows=outcome.rows[:1]))
    assert list(files) == ["small.csv", "small.md", "small.png", "small.svg"]
    rows = list(csv.DictReader(io.StringIO(files["small.csv"])))
    assert [float(row["error"]) for row in rows] == [0, 1, 10, 11]
    assert json.loads(rows[0]["curve"]) == [1, 2]
    text = files["small.md"]
    assert "| a | 0.5 ± 0.71 | 1.5 ± 0.2 |" in text
    assert "| b | 10.5 ± 0.71 | - |" in text
    assert "Differences from the paper: It is no paper." in text
    assert "`structopt x`" in text
    assert files["small.png"].startswith(b"\x89PNG")
    assert partial.notes[0] == "Not finished: 1 of 4 cells."
    assert partial.rows[1][1] == "-"


def test_command(toy, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("STRUCTOPT_DATA", str(tmp_path))
    out = ["--out", str(tmp_path / "out")]
    assert cli.main(["reproduce", "--list", *out]) == 0
    listed = capsys.readouterr().out
    assert (
        "[needs data at STRUCTOPT_DATA/toy/numbers.txt.gz; in full about 90 CPU minutes]" in listed
    )
    assert "[an illustration, nothing to run]" in listed
    assert cli.main(["reproduce", "toy-table-1", *out]) == 0
    shown = capsys.readouterr()
    assert "0.5 ± 0.71" in shown.out
    assert "toy-table-1: about 0.5 CPU minutes in all" in shown.err
    assert "4 of 4 cells" in shown.err
    assert cli.main(["reproduce", "--list", *out]) == 0
    assert "[small run done; needs data" in capsys.readouterr().out
    toy.ran, toy.fails_at = [], 1
    assert cli.main(["reproduce", "toy-table-1", "--full", *out]) == 130
    assert "Interrupted after 5 of 6 cells" in capsys.readouterr().out
    toy.fails_at = None
    assert cli.main(["reproduce", "toy-table-1", "--full", "--no-picture", *out]) == 0
    capsys.readouterr()
    assert cli.main(["reproduce", "--list", *out]) == 0
    assert "[full run done]" in capsys.readouterr().out


def test_an_experiment_on_the_runs_of_another_runs_nothing_again(toy, tmp_path, monkeypatch):
    run(toy, "small", tmp_path)

    class Again(Toy):
        name, runs_of = "toy-figure-2", "toy-table-1"

    again = Again()
    monkeypatch.setattr(command, "experiment_of", lambda name: again)
    entry = catalogue.Entry("toy-figure-2", "Nobody (1900)", "Figure 2", "Toys")
    monkeypatch.setattr(catalogue, "CATALOGUE", (*catalogue.CATALOGUE, entry))
    outcome, _, files = command.reproduce(
        "toy-figure-2", full=False, out=tmp_path, command="x", picture=False
    )
    assert len(outcome.rows) == outcome.total == 4
    assert again.ran == []
    assert {path.parent.name for path in files} == {"toy-figure-2"}


def test_every_experiment_tells_its_time_beforehand():
    for entry in catalogue.CATALOGUE:
        assert catalogue.implemented(entry) == (entry.minutes is not None), entry.name
        assert entry.minutes is None or 0 < entry.minutes[0] <= entry.minutes[1], entry.name


def test_bad_names_and_missing_parts(toy, tmp_path, capsys, monkeypatch):
    assert cli.main(["reproduce", "nothing"]) == 2
    assert "lp-struct-table-1" in capsys.readouterr().err
    assert cli.main(["reproduce"]) == 2
    assert "--list" in capsys.readouterr().err
    with pytest.raises(IncompatibleError, match="is a drawing"):
        catalogue.experiment_of("saddle-m3n-figure-1")

    def absent(cell):
        find_data(["toy/numbers.txt"], what="toys")

    monkeypatch.setenv("STRUCTOPT_DATA", str(tmp_path))
    monkeypatch.setattr(toy, "run", absent)
    assert cli.main(["reproduce", "toy-table-1", "--out", str(tmp_path)]) == 2
    assert str(tmp_path / "toy" / "numbers.txt") in capsys.readouterr().err


def test_cells_must_be_plain():
    with pytest.raises(InvalidInputError, match="neither number"):
        store.fingerprint("x", 1, {"a": object()})


EXPERIMENTS = [e.name for e in catalogue.CATALOGUE if catalogue.implemented(e)]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_experiments_are_well_formed(name):
    experiment = catalogue.experiment_of(name)
    assert experiment.name == name
    assert experiment.differences.endswith(".")
    assert all("/" in path for path in experiment.data)
    for full in (False, True):
        keys = runner.keys_of(experiment, experiment.cells(full))
        assert len(keys) == len(set(keys)) > 0
    empty = experiment.table([], "nothing yet")  # the paper's numbers stand without ours
    assert {len(row) for row in empty.rows} <= {len(empty.columns)}
    assert all(number.value is None for number in experiment.numbers([]))


TINY = {
    "train": 8, "validation": 5, "test": 5, "C": 10.0, "fractions": [0.6], "rank": 12, "epochs": 2,
    "limit": 0.5, "tol": 0.1, "ngrams": 1, "good": 1, "examples": 6, "steps": 200, "points": 8,
    "iterations": 40,
}  # fmt: skip
MINE = (
    "lp-struct-table-1", "lp-struct-table-2", "lp-struct-figure-1", "lp-struct-figure-2",
    "lp-struct-section-5", "struct-rmm-table-1", "struct-rmm-table-2", "struct-rmm-figure-1",
    "saddle-m3n-section-4",
)  # fmt: skip


def shrunk(cell):
    small = {key: TINY.get(key, value) for key, value in cell.items()}
    if isinstance(cell.get("C"), list):
        small["C"] = [10.0, 100.0]
    return small


@pytest.fixture(scope="module")
def tiny_data(tmp_path_factory):
    """Files of the papers' formats with a few made-up sentences, digits and translations."""
    home = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(0)
    tags = {"the": "DD", "a": "DD", "cat": "NN", "dog": "NN", "runs": "VV", "sees": "VV"}
    texts = [
        [("the", "a")[i % 2], ("cat", "dog")[i % 3 % 2], ("runs", "sees")[i % 5 % 2]][: 1 + i % 3]
        for i in range(30)
    ]
    files = {
        "medpost/tag_cl.ioc": "".join(
            f"P{i}A01\n{' '.join(f'{w}_{tags[w]}' for w in words)}\n"
            for i, words in enumerate(texts)
        ),
        "optdigits/optdigits.tra": "".join(
            ",".join(map(str, [*rng.integers(0, 9, 32) + 8 * (k % 2), *rng.integers(0, 17, 32), k]))
            + "\n"
            for k in np.arange(40) % 10
        ),
        "smt_nbest/reference.txt": "the red house is here\na small cat sat down\n" * 3,
        "smt_nbest/nbest.out": "".join(
            f"{i} ||| {text} ||| lm: {-k - i} tm: {2 * k} ||| 0\n"
            for i in range(6)
            for k, text in enumerate(
                ["the red house is here", "red the here house is"]
                if i % 2 == 0
                else ["a small cat sat down", "small a down cat sat"]
            )
        ),
    }
    rows = "\n".join(
        "".join(f"{w} {tags[w]} {'O' if w in ('the', 'a') else 'B-PER'}\n" for w in words)
        for words in texts
    )
    for k, name in enumerate((*CORPUS, "test", "dev")):
        some = texts[6 * k : 6 * k + 6]
        files[f"hansards_alignment/{name}.e"] = "\n".join(map(" ".join, some)) + "\n"
        french = (f"{w}_" for words in some for w in words[::-1])
        files[f"hansards_alignment/{name}.f"] = "".join(
            " ".join(next(french) for _ in words) + "\n" for words in some
        )
    files |= {f"hansards_alignment/{name}.wa.nonullalign": "1 1 1\n" for name in ("test", "dev")}
    files |= {"conll2002_spanish/esp.train": rows, "conll2000_chunking/train.txt": rows}
    for name, text in files.items():
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text(text)
    return home


@pytest.mark.parametrize("name", MINE)
def test_experiments_run_on_tiny_data(name, tiny_data, monkeypatch):
    monkeypatch.setenv("STRUCTOPT_DATA", str(tiny_data))
    experiment = catalogue.experiment_of(name)
    assert catalogue.missing_data(experiment) == []
    cells = [shrunk(cell) for cell in experiment.cells(False)]
    cells = [cell for cell in cells if cell.get("draw", 0) == 0]
    rows = [store.plain(cell | experiment.run(cell) | {"cell_cpu": 0.0}) for cell in cells]
    numbers = experiment.numbers(rows)
    found = [number for number in numbers if number.value is not None]
    assert len(found) >= len(numbers) / 2
    assert all("%" not in n.metric or n.value >= -1e-6 for n in found)
    figure = drawing.new_figure()
    experiment.draw(rows, figure)
    figure.savefig(io.BytesIO(), format="png")
    assert figure.axes


@pytest.mark.parametrize("name", MINE)
def test_missing_data_say_what_to_put_where(name, tmp_path, monkeypatch):
    monkeypatch.setenv("STRUCTOPT_DATA", str(tmp_path))
    experiment = catalogue.experiment_of(name)
    assert catalogue.missing_data(experiment) == list(experiment.data)
    if experiment.data:
        with pytest.raises(MissingDataError, match=r"[Pp]ut .* there"):
            experiment.run(experiment.cells(False)[0])


def test_margins_bound_the_spread_at_every_scale():
    # hard margins: scaling the first axis turns StructSVM's direction, a bound on w.delta does not
    experiment = catalogue.experiment_of("struct-rmm-figure-1")
    rows = [experiment.run(cell | {"points": 12}) for cell in experiment.cells(False)]
    svm, rmm = ([row[key]["spread"] for row in rows] for key in ("svm", "rmm"))
    assert svm[0] < svm[1] < svm[2]
    assert np.allclose(rmm, rmm[0], rtol=1e-3)
    # projections lie between the margin 1 and B, so that no spread exceeds B - 1
    assert all(spread <= row["B"] - 1 + 1e-3 for spread, row in zip(rmm, rows, strict=True))


def test_chosen_on_validation_data_and_the_other_way_round():
    X, y = np.array([[1.0, 0.0], [0.0, 1.0], [0.9, 0.1]]), [0, 1, 0]
    seen = iter([(5.0, 9.0), (7.0, 7.0), (4.0, 8.0), (6.0, 6.0)])
    found = relative_margins.compare_margins(
        Multiclass(), X, y, lambda structure, weights: next(seen), C=[1.0, 10.0], fractions=[0.5],
        tol=0.1,
    )  # fmt: skip
    # in turns: SVM at C = 1, RMM at 1, SVM at 10, RMM at 10
    assert found["svm"] == (8.0 + 4.0) / 2
    assert found["rmm"] == (6.0 + 6.0) / 2
    assert (found["svm_C"], found["rmm_C"], found["rmm_fraction"]) == (10.0, 10.0, 0.5)


def test_algorithm_1_as_printed_comes_near_the_optimum():
    X, y = datasets.make_classes(10, seed=0)
    found = relative_margins.as_printed(
        Multiclass(), X, y, lambda structure, weights: (0.0, 7.0), C=10.0, fraction=0.6, tol=1e-3
    )
    printed, ours = found[relative_margins.PRINTED], found[relative_margins.OURS]
    assert ours["gap"] <= 0.1
    assert printed["gap"] < 10  # within C (eps + eps_B) = 0.2
    assert printed["error"] == ours["error"] == 7.0
    numbers = relative_margins.printed_numbers("all", [{"printed": found}])
    assert {n.label.partition(", ")[2] for n in numbers} == set(found)
    assert relative_margins.printed_numbers("all", []) == []


def test_an_interrupted_model_is_no_result(in_a_terminal, tmp_path):
    """A fit that hears Ctrl-C returns its best model; inside a cell it must not."""
    X, Y = datasets.make_chain_crf(n_examples=10, n_features=6, n_relevant=6, seed=0)

    class Fitting(Toy):
        def run(self, cell):
            callbacks = [lambda record: signal.raise_signal(signal.SIGINT)]
            StructuredClassifier(Chain(), M3N(), callbacks=callbacks).fit(X, Y)
            return super().run(cell)

    outcome = run(Fitting(), "small", tmp_path)
    assert outcome.interrupted
    assert outcome.rows == ()


def test_a_run_at_its_limit_returns_its_last_weights():
    X, Y = datasets.make_chain_crf(n_examples=10, n_features=6, n_relevant=6, seed=0)
    limit = measure.CpuLimit(0.0, last=True)
    model = StructuredClassifier(Chain(), LPStruct(C=10.0), callbacks=[limit])
    measure.learn(model, X, Y)
    said = measure.proof(model)
    assert (said["status"], said["rounds"], len(limit.seconds)) == ("early_stopping", 1, 1)
    assert "CPU seconds" in model.result_.certificate.note


@pytest.mark.parametrize("bad", [{"n_examples": 0}, {"scale": 0.0}, {"scale": float("nan")}])
def test_clouds_refuse(bad):
    with pytest.raises(InvalidInputError, match=f"{next(iter(bad))} must be a"):
        datasets.make_scaled_clouds(**bad)
