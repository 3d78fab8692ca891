"""Rows, trees and roles on the command line: the same train, predict, evaluate."""

import pytest

import structopt as so
from structopt.cli.commands import main
from structopt.errors import FileFormatError

TREE = "1\tit\tit\tPRON\tP\t_\t2\tnsubj\t_\t_\n2\tworks\twork\tVERB\tV\t_\t0\troot\t_\t_\n"
ROLE = (
    "1\tBirds\tbird\tNOUN\tNNS\t_\t2\tnsubj\t_\t_\t_\tARG0\n"
    "2\tsing\tsing\tVERB\tVBP\t_\t0\troot\t_\t_\tsing.01\tV\n"
    "3\tloud\tloud\tADV\tRB\t_\t2\tadvmod\t_\t_\t_\t_\n"
)


def run(capsys, *arguments):
    code = main([str(a) for a in arguments])
    return code, capsys.readouterr()


def test_rows_of_svmlight(tmp_path, capsys):
    X, y = so.datasets.make_classes(60, seed=0)
    lines = [
        f"class{k} " + " ".join(f"{j + 1}:{v:.3f}" for j, v in enumerate(row))
        for row, k in zip(X, y, strict=True)
    ]
    train, test, model = (tmp_path / name for name in ("a.svmlight", "b.svmlight", "m"))
    train.write_text("\n".join(lines[:40]) + "\n")
    test.write_text("\n".join(f"{line} 99:1 # new" for line in lines[40:]))  # never seen: left out
    assert run(capsys, "train", train, "--model", model, "--valid", test, "--quiet")[0] == 0
    code, said = run(capsys, "evaluate", test, "--model", model, "--confusion")
    assert code == 0
    assert said.out.startswith("accuracy: ")
    code, said = run(capsys, "predict", model, test)
    loaded = so.load_model(model)
    labels = [f"class{k}" for k in y[40:]]
    assert said.out.split() == list(loaded.predict(X[40:].round(3)))
    assert loaded.score(X[40:].round(3), labels) > 0.8
    assert run(capsys, "explain", model, test, "--n", "1")[1].out.startswith("0\tclass")
    code, said = run(capsys, "tune", train, "--C", "1e-6", "1", "--quiet")
    assert code == 0
    assert sum(line.endswith("best") for line in said.out.splitlines()) == 1
    code, said = run(capsys, "tune", train, "--score", "span_f1")
    assert code == 2
    assert "span_f1 is not one of svmlight" in said.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a 1:2\n1:3 2:1\n", "line 2: it begins with '1:3'"),
        ("a 1:2\nb x:1\n", "line 2: 'x:1': expected number:value"),
        ("a 0:2\n", "line 1: '0:2'"),
        ("a 1:nan\n", "line 1: '1:nan'"),
        ("# none\n", "no row"),
    ],
)
def test_bad_rows_are_named(tmp_path, text, message):
    path = tmp_path / "x.svmlight"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=message):
        so.datasets.read_svmlight(path)


def test_trees(tmp_path, capsys):
    train, bare, model = (tmp_path / name for name in ("a.conllu", "b.conllu", "m"))
    train.write_text(f"{TREE}\n" * 3)
    bare.write_text(TREE.replace("\t2\tnsubj", "\t_\t_").replace("\t0\troot", "\t_\t_"))
    assert run(capsys, "train", train, "--model", model, "--quiet")[0] == 0
    code, said = run(capsys, "evaluate", train, "--model", model)
    assert (code, said.out.splitlines()[0][:31]) == (0, "unlabelled attachment: 100.00% ")
    code, said = run(capsys, "predict", model, bare)
    assert [line.split("\t")[6] for line in said.out.splitlines()[:2]] == ["2", "0"]
    code, said = run(capsys, "evaluate", bare, "--model", model)
    assert code == 2
    assert "holds no heads" in said.err
    said = run(capsys, "explain", model, train, "--n", "1")[1]
    assert "dep.tag=" in said.out
    code, said = run(capsys, "tune", train, "--C", "1", "--quiet")
    assert (code, said.out[:15]) == (0, "C = 1: 100.00% ")


def test_roles(tmp_path, capsys):
    train, model = tmp_path / "a.conllu", tmp_path / "m"
    train.write_text(f"{ROLE}\n" * 3)
    options = ("--format", "roles", "--model", model, "--quiet")
    assert run(capsys, "train", train, *options)[0] == 0
    code, said = run(capsys, "evaluate", train, "--model", model)
    assert (code, said.out.splitlines()[-1]) == (0, "argument f1: 100.00%")
    code, said = run(capsys, "predict", model, train)
    assert said.out.splitlines()[0] == "sing.01\t2\tARG0=Birds"
    code, said = run(capsys, "tune", train, "--format", "roles")
    assert code == 2
    assert "tune does not compare roles" in said.err


def test_old_commands_say_the_new_ones(capsys):
    for old, new in (("srl", "--format roles"), ("parse", ".conllu")):
        code, said = run(capsys, old, "--C", "1")
        assert code == 2
        assert f"`structopt {old}` is now: structopt train" in said.err
        assert new in said.err
