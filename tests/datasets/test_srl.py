"""Semantic roles: the reader and its complaints, candidates, and the three schemes end to end."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from structopt.cli.commands import main
from structopt.datasets import load_srl, read_srl
from structopt.datasets.srl import Predicate, Sentence
from structopt.errors import InvalidInputError, MissingDataError
from structopt.features.roles import OUTSIDE, Columns, propositions
from structopt.lab.bench.srl import SrlBench, roles
from structopt.lab.harness.runner import run
from structopt.structures.constrain.rules import Labelling

# Kim, whom birds like, sings of them   (heads: Kim <- sings; whom, birds <- like <- Kim)
LINES = """\
# sent_id = 1
1\tKim\tKim\tPROPN\tNNP\t_\t5\tnsubj\t_\t_\t_\tARG1\tARG0
2\twhom\twho\tPRON\tWP\t_\t4\tobj\t_\t_\t_\tR-ARG1\t_
3\tbirds\tbird\tNOUN\tNNS\t_\t4\tnsubj\t_\t_\t_\tARG0\t_
4\tlike\tlike\tVERB\tVBP\t_\t1\tacl:relcl\t_\t_\tlike.01\tV\t_
5\tsings\tsing\tVERB\tVBZ\t_\t0\troot\t_\t_\tsing.01\t_\tV
5.1\tof\tof\tADP\tIN\t_\t_\t_\t5:x\t_\t_\t_\t_
6\tof\tof\tADP\tIN\t_\t7\tcase\t_\t_\t_\t_\t_
7\tthem\tthey\tPRON\tPRP\t_\t5\tobl\t_\t_\t_\t_\tARG1

1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t_\t_\t_\t
"""


def written(tmp_path, text, name="roles.conllu"):
    path = tmp_path / name
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["roles.conllu", "roles.conllu.gz"])
def test_sentences_are_read_as_written(tmp_path, name):
    first, second = read_srl(written(tmp_path, LINES, name))
    assert first.words == ("Kim", "whom", "birds", "like", "sings", "of", "them")
    assert first.heads == (4, 3, 3, 0, -1, 6, 4)
    assert first.predicates == (
        Predicate(3, "like.01", {0: "ARG1", 1: "R-ARG1", 2: "ARG0"}),
        Predicate(4, "sing.01", {0: "ARG0", 6: "ARG1"}),
    )
    assert second.predicates == ()


def test_what_is_not_there(tmp_path):
    with pytest.raises(MissingDataError, match="semantic roles"):
        load_srl(home=tmp_path)


def test_candidates_labels_and_spans(tmp_path):
    like, sing = propositions(read_srl(written(tmp_path, LINES)))
    # the children of "like", its ancestors Kim and sings, and their children, without prepositions
    assert like.candidates == (0, 1, 2, 4, 6)
    assert like.labels == ("ARG1", "R-ARG1", "ARG0", OUTSIDE, OUTSIDE)
    assert like.spans == ((0, 1), (1, 2), (2, 3), (4, 5), (5, 7))
    assert sing.candidates == (0, 6)
    assert sing.spans == ((0, 4), (5, 7))
    columns = Columns([like, sing], least=1)
    matrix = columns(sing).toarray()
    names = {name for name, seen in zip(columns.names, matrix[1], strict=True) if seen}
    assert {"path=_obl", "case=of", "side=after", "path+predicate=_obl sing"} <= names
    above = columns(like).toarray()[3]
    assert "path=^acl:relcl^nsubj" in {n for n, s in zip(columns.names, above, strict=True) if s}


def test_constraints_hold_on_gold_and_bar_what_they_should(tmp_path):
    known = propositions(read_srl(written(tmp_path, LINES)))
    labels = ["ARG0", "ARG1", OUTSIDE, "R-ARG1"]
    z = Labelling(labels, 5)

    def fits(proposition, given):
        point = np.zeros((5, 4))
        point[np.arange(5), [labels.index(label) for label in given]] = 1.0
        for rule in roles(labels, known):
            for rows in rule(proposition, z):
                value = np.zeros(len(rows.lower))
                np.add.at(value, rows.row, rows.value * point.ravel()[rows.column])
                if np.any(value < rows.lower) or np.any(value > rows.upper):
                    return False
        return True

    like = known[0]
    assert fits(like, like.labels)
    assert not fits(like, ["ARG0", "R-ARG1", "ARG0", OUTSIDE, OUTSIDE])  # twice, and R- alone
    assert not fits(like, ["ARG0", "R-ARG1", OUTSIDE, OUTSIDE, OUTSIDE])


def make_sentences(rng, n):
    """Subject, verb, object; the object of verbs that end in -e is ARG2."""
    found = []
    for _ in range(n):
        verb, a, b = rng.choice(["give", "hit"]), *rng.choice(["cat", "dog", "owl"], size=2)
        role = "ARG2" if verb == "give" else "ARG1"
        predicate = Predicate(1, f"{verb}.01", {0: "ARG0", 2: role})
        words = (str(a), str(verb), str(b))
        found.append(
            Sentence(words, words, ("NN", "VB", "NN"), (1, -1, 1), ("nsubj", "root", "obj"),
                     (predicate,))
        )  # fmt: skip
    return found


def test_three_schemes_learn_an_easy_language():
    bench = SrlBench(
        C=1.0, max_iter=60, sentences=make_sentences(np.random.default_rng(0), 40)
    )  # fmt: skip
    rows = run(bench, bench.cells()).rows
    assert [row["scheme"] for row in rows] == ["LO", "L+I", "IBT"]
    for row in rows:
        assert row["f1"] == 1.0
        assert row["relative_gap"] <= 1e-2
    assert rows[1]["broken"] == rows[2]["broken"] == 0
    assert bench.tables(rows, [])[0].rows[0][3] == "100.00"
    with pytest.raises(InvalidInputError, match="give more sentences"):
        SrlBench(sentences=make_sentences(np.random.default_rng(0), 1))


def test_the_command_line_runs_it(tmp_path, capsys):
    text = LINES.split("\n\n", 1)[0] + "\n\n"
    path = written(tmp_path, text * 12)
    assert (
        main(["bench", "roles", "--data", str(path), "--rounds", "30", "--out", str(tmp_path)]) == 0
    )
    assert "L+I" in capsys.readouterr().out
    assert (tmp_path / "roles.md").exists()
    assert main(["bench", "roles", "--data", str(tmp_path / "nothing.conllu")]) == 2
