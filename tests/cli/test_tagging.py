"""The commands from files to a scored, explained model: formats, pipes, exit codes, bad input."""

import io
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import structopt as so
from structopt.cli.commands import main
from structopt.datasets import make_sentences, read_columns, read_crfsuite, read_json_lines
from structopt.errors import FileFormatError


def written(path, sentences, drop=0):
    rows = ["\n".join(" ".join(r[: len(r) - drop]) for r in s.rows) for s in sentences]
    path.write_text("\n\n".join(rows) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files in every format, and a model of each."""
    here = tmp_path_factory.mktemp("tagging")
    train, test = make_sentences(60, seed=0), make_sentences(15, seed=1)
    for name, sentences in (("train", train), ("test", test)):
        written(here / f"{name}.txt", sentences)
        lines = [
            "\n".join(f"{tag}\tw={word}\tp={pos}\tbias:0.5" for word, pos, tag in s.rows)
            for s in sentences
        ]
        (here / f"{name}.crfsuite").write_text("\n\n".join(lines) + "\n")
        records = [{"tokens": s.words, "tags": s.column(2)} for s in sentences]
        (here / f"{name}.jsonl").write_text("\n".join(map(json.dumps, records)))
        records = [{"tokens": [{"w": w, "p": p} for w, p, _ in s.rows], "tags": s.column(2)}
                   for s in sentences]  # fmt: skip
        (here / f"{name}-dicts.jsonl").write_text("\n".join(map(json.dumps, records)))
    for end in (".txt", ".crfsuite", ".jsonl", "-dicts.jsonl"):
        options = ["--model", str(here / f"model{end}"), "--tol", "0.05", "--quiet"]
        assert main(["train", str(here / f"train{end}"), *options]) == 0
    return here


@pytest.mark.parametrize("end", [".txt", ".crfsuite", ".jsonl", "-dicts.jsonl"])
def test_every_format_trains_predicts_and_scores(folder, end, capsys):
    model, test = str(folder / f"model{end}"), str(folder / f"test{end}")
    loaded = so.load_model(model)
    assert loaded.structure_.transitions == "bio"  # the tags are such, and obey
    assert main(["predict", model, test]) == 0
    out = capsys.readouterr().out
    gold = [s.column(2) for s in read_columns(folder / "test.txt")]
    if end.endswith("jsonl"):
        found = [json.loads(line) for line in out.splitlines()]
        assert [r["tags"] for r in found] == gold
        first = json.loads((folder / f"test{end}").read_text().split("\n")[0])
        assert found[0]["tokens"] == first["tokens"]
        given = [r["predicted"] for r in found]
    else:
        rows = [[line.split() for line in s.split("\n")] for s in out.strip().split("\n\n")]
        assert [[row[-2] for row in s] for s in rows] == gold
        given = [[row[-1] for row in s] for s in rows]
    assert main(["evaluate", test, "--model", model, "--confusion"]) == 0
    told = capsys.readouterr().out
    assert str(so.metrics.span_report(gold, given)) in told
    assert str(so.metrics.confusion(gold, given)) in told
    assert so.metrics.span_f1(gold, given) > 0.5
    assert main(["explain", model, test, "--n", "1", "--top", "2"]) == 0
    assert len(capsys.readouterr().out.strip().splitlines()) == len(gold[0])


def test_a_file_with_both_tags_is_scored_without_a_model(folder, tmp_path, capsys):
    model, test, out = (str(folder / "model.txt"), str(folder / "test.txt"), str(tmp_path / "p"))
    assert main(["predict", model, test, "--out", out]) == 0
    assert main(["evaluate", test, "--model", model]) == 0
    by_model = capsys.readouterr().out
    assert main(["evaluate", out]) == 0
    assert capsys.readouterr().out == by_model
    assert "token accuracy: " in by_model
    assert " at 95%)" in by_model


def test_sequences_without_tags_are_tagged(folder, tmp_path, capsys):
    sentences = read_columns(folder / "test.txt")
    bare = written(tmp_path / "bare.txt", sentences, drop=1)
    assert main(["predict", str(folder / "model.txt"), bare]) == 0
    rows = capsys.readouterr().out.split("\n")[0].split()
    assert rows[:2] == sentences[0].rows[0][:2]
    assert len(rows) == 3
    assert main(["evaluate", bare, "--model", str(folder / "model.txt")]) == 2
    assert "holds no tags" in capsys.readouterr().err


def test_tags_that_are_known_are_kept(folder, tmp_path, capsys):
    sentences = read_columns(folder / "test.txt")[:3]
    forced = {(0, 0): "B-VP", (2, 1): "O"}
    for (i, t), tag in forced.items():
        sentences[i].rows[t][-1] = tag
    rows = [
        "\n".join(
            " ".join([*row[:-1], row[-1] if (i, t) in forced else "?"])
            for t, row in enumerate(s.rows)
        )
        for i, s in enumerate(sentences)
    ]
    (tmp_path / "some.txt").write_text("\n\n".join(rows) + "\n")
    command = ["predict", str(folder / "model.txt"), str(tmp_path / "some.txt"), "--given", "?"]
    assert main(command) == 0
    found = [part.split("\n") for part in capsys.readouterr().out.strip().split("\n\n")]
    for (i, t), tag in forced.items():
        assert found[i][t].split()[-2:] == [tag, tag]
    bare = written(tmp_path / "bare.txt", sentences, drop=1)
    assert main([*command[:2], bare, "--given", "?"]) == 2
    assert "holds no tags" in capsys.readouterr().err


def test_weights_are_told(folder, capsys):
    assert main(["explain", str(folder / "model.txt"), "--top", "2"]) == 0
    out = capsys.readouterr().out
    assert "\nB-NP\n  " in out
    assert "certified" in out


def test_pipes(folder, monkeypatch, capsys):
    text = (folder / "test.txt").read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert main(["predict", str(folder / "model.txt")]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(text.splitlines()) + 1
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a b c\na b\n")))
    assert main(["predict", str(folder / "model.txt"), "-"]) == 2
    assert "standard input, line 2: 2 columns" in capsys.readouterr().err
    command = [sys.executable, "-m", "structopt", "predict", folder / "model.txt"]
    done = subprocess.Popen([*command, folder / "train.txt"], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)  # fmt: skip
    done.stdout.close()
    assert done.stderr.read() == b""
    done.stderr.close()
    assert done.wait() == 141


def test_options_of_training(folder, tmp_path, capsys):
    train, model = str(folder / "train.txt"), str(tmp_path / "m")
    (tmp_path / "template").write_text("U0:%x[0,0]\nU1:%x[-1,1]/%x[0,1]\nB\n")
    options = ["--template", str(tmp_path / "template"), "--transitions", "any", "--tol", "0.05"]
    assert main(["train", train, "--model", model, *options]) == 0
    told = capsys.readouterr().err
    assert "60 sequences" in told
    assert "written: " in told
    loaded = so.load_model(model)
    assert loaded.structure_.transitions is None
    assert loaded.features_.get_feature_names_out()[0].startswith("U0:")
    options = ["--features", "0[0].lower", "1[-1]|1[0]", "--min-count", "2"]
    options += ["--method", "perceptron", "--max-iter", "3", "--formulation", "M3N", "--quiet"]
    assert main(["train", train, "--model", model, *options]) in (0, 1)
    assert capsys.readouterr().err == ""
    options = ["--valid", str(folder / "test.txt"), "--tol", "1e-6", "--C", "10"]
    assert main(["train", train, "--model", model, *options]) == 0
    assert "% right" in capsys.readouterr().err
    # not certified: the model is written, and the exit code says so
    assert (
        main(["train", train, "--model", model, "--tol", "1e-9", "--max-iter", "1", "--quiet"]) == 1
    )
    assert so.load_model(model).predict([[["it", "PRP"]]])


def test_tuning(folder, capsys):
    options = ["--C", "1", "1e-6", "--folds", "2", "--score", "span_f1", "--tol", "0.1", "--quiet"]
    assert main(["tune", str(folder / "train.txt"), *options]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("C = 1e-06: ")
    assert second.startswith("C = 1: ")
    assert second.endswith("  <- best")
    assert main(["tune", str(folder / "train.txt"), "--folds", "1"]) == 2
    assert "--folds is 1" in capsys.readouterr().err


def test_help_shows_an_example(capsys):
    for name in ("train", "tune", "predict", "evaluate", "explain"):
        with pytest.raises(SystemExit):
            main([name, "--help"])
        assert f"example: structopt {name} " in capsys.readouterr().out


def test_samples(tmp_path):
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        done = main(
            ["data", "sample", str(tmp_path / name), "--sentences", "5", "--seed", str(seed)]
        )
        assert done == 0
    a, b, c = ((tmp_path / name).read_bytes() for name in "abc")
    assert a == b != c
    assert read_columns(tmp_path / "a") == make_sentences(5, seed=0)


# ---------------------------------------------------------------- bad input
def test_bad_usage_is_one_line(folder, tmp_path, capsys):
    model, train = str(folder / "model.txt"), str(folder / "train.txt")
    new, attributes = str(tmp_path / "new"), str(folder / "train.crfsuite")
    one = tmp_path / "one.txt"
    one.write_text("a\nb\n")
    latin = tmp_path / "latin"
    latin.write_bytes(b"a X\ncaf\xe9 Y\n")
    broken = tmp_path / "broken"
    broken.write_bytes((folder / "model.txt").read_bytes()[:1000])
    for arguments, message in (
        (["train", str(tmp_path / "no"), "--model", new], "file"),
        (["train", str(one), "--model", new], "has 1 columns; expected at least 2"),
        (["train", str(latin), "--model", new], "latin, line 2: not UTF-8"),
        (["train", train, "--model", new, "--formulation", "m4n"], "no formulation 'm4n'"),
        (["train", train, "--model", new, "--method", "magic"], "magic"),
        (["train", train, "--model", new, "--features", "0[0"], "is no template"),
        (["train", train, "--model", new, "--features", "7[0]"], "no column 7"),
        (["train", train, "--model", new, "--C", "-1"], "C"),
        (["train", attributes, "--model", new, "--features", "0[0]"], "mappings"),
        (["predict", str(tmp_path / "no"), train], "file"),
        (["predict", train, train], "not a whole .npz file"),
        (["predict", str(broken), train], "not a whole .npz file"),
        (["predict", model, str(one)], "has 1 columns; expected 2, or 3 with the tag"),
        (["evaluate", str(one)], "one column"),
    ):  # fmt: skip
        assert main(arguments) == 2, arguments
        err = capsys.readouterr().err.strip()
        assert message in err, arguments
        assert "\n" not in err.split("structopt: ")[-1]
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("reader", "text", "message"),
    [
        (read_crfsuite, "A\tx:y\n", r"line 1: 'y' behind 'x' is no number"),
        (read_crfsuite, "A\tx\n\n\tx\n", "line 3: there is no label"),
        (read_crfsuite, "\n\n", "no sequence"),
        (read_json_lines, '{"tokens": ["a"]}\n{', "line 2: not JSON"),
        (read_json_lines, "[1]\n", "line 1: expected an object"),
        (read_json_lines, '{"tokens": []}\n', "line 1: 'tokens' is empty"),
        (read_json_lines, '{"tokens": ["a"], "tags": []}\n', "line 1: expected a list 'tags'"),
        (read_json_lines, '{"tokens": [1], "tags": ["X"]}\n{"tokens": [1]}', "line 2: 'tags'"),
        (read_json_lines, "\n", "no sequence"),
    ],
)  # fmt: skip
def test_bad_lines_are_named(tmp_path, reader, text, message):
    path = tmp_path / "data"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=message):
        reader(path)


def test_crfsuite_escapes(tmp_path):
    path = tmp_path / "data"
    path.write_text("A\ta\\:b:2\tc\\\\\tc\\\\:1.5\n")
    assert read_crfsuite(path) == ([[{"a:b": 2.0, "c\\": 2.5}]], [["A"]])


def test_the_commands_of_the_tutorial_run(tmp_path, monkeypatch, capsys):
    page = Path(__file__).parents[2] / "docs" / "files_to_model.md"
    (block,) = re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    for line in block.strip().split("\n"):
        program, *arguments = shlex.split(line)
        assert program == "structopt"
        assert main(arguments) == 0, line
    assert "certified" in capsys.readouterr().err
