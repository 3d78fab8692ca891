"""Treebanks: what is read, what is refused and where, and parsers trained from the command line."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

import structopt as so
from structopt.cli import commands as cli
from structopt.datasets import load_partut, load_treebank, read_conllu
from structopt.datasets.conllu import Sentence
from structopt.errors import InvalidInputError, MissingDataError, OracleError
from structopt.features.arcs import ArcFeatures
from structopt.lab.bench import parsing
from structopt.lab.bench.oracle_case import CASES, Case, Contender
from structopt.lab.bench.oracles import OracleBench
from structopt.lab.harness.runner import run

TINY = """\
# sent_id = 1
1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tdo\tdo\tAUX\tVM\t_\t3\taux\t_\t_
2\tn't\tnot\tPART\tN\t_\t3\tadvmod\t_\t_
3\tgo\tgo\tVERB\tV\t_\t0\troot\t_\t_
3.1\tgone\tgo\tVERB\tV\t_\t_\t_\t_\t_

# sent_id = 2
1\tWe\twe\tPRON\tPE\t_\t2\tnsubj\t_\t_
2\tgo\tgo\tVERB\tV\t_\t0\troot\t_\t_
"""


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("text", [TINY, TINY.replace("\n", "\r\n"), TINY + "\n\n"])
def test_what_is_read(tmp_path, text, zipped):
    path = tmp_path / "a.conllu"
    raw = text.encode()
    path.write_bytes(gzip.compress(raw) if zipped else raw)
    first, second = read_conllu(path)
    assert first.forms == ["do", "n't", "go"]
    assert (first.heads, first.upos) == ([3, 3, 0], ["AUX", "PART", "VERB"])
    assert second == Sentence(
        ["We", "go"], ["we", "go"], ["PRON", "VERB"], ["PE", "V"], [2, 0], ["nsubj", "root"]
    )


def test_treebanks_in_folders(tmp_path):
    with pytest.raises(MissingDataError, match="en_partut-ud-test"):
        load_partut("test", home=tmp_path)
    with pytest.raises(MissingDataError, match=r"one file \*test\.conllu.*holds none"):
        load_treebank(tmp_path, "test")
    folder = tmp_path / "ud_english_partut"
    folder.mkdir()
    (folder / "en_partut-ud-test.conllu").write_text(TINY, encoding="utf-8")
    assert load_partut("test", home=tmp_path) == load_treebank(folder, "test")
    (folder / "x-test.conllu.gz").write_bytes(gzip.compress(TINY.encode()))
    with pytest.raises(MissingDataError, match=r"en_partut-ud-test\.conllu, x-test\.conllu\.gz"):
        load_treebank(folder, "test")


def grammar(n, seed):
    """Sentences of a small language: nouns hang on the verb, adjectives on the noun behind."""
    rng = np.random.default_rng(seed)
    sentences = []
    for _ in range(n):
        tags, heads = [], []
        verb = 0
        for part in rng.permutation(["subject", "verb", "object"]):
            if part == "verb":
                tags.append("VERB")
                heads.append(0)
                verb = len(tags)
            else:
                adjectives = int(rng.integers(3))
                noun = len(tags) + adjectives + 1
                tags += ["ADJ"] * adjectives + ["NOUN"]
                heads += [noun] * adjectives + [-1]
        heads = [verb if h == -1 else h for h in heads]
        words = [f"{t.lower()}{rng.integers(4)}" for t in tags]
        sentences.append(Sentence(words, words, tags, tags, heads, ["_"] * len(tags)))
    return sentences


def test_features_are_exact_and_arcs_always_span():
    train, test = grammar(30, 0), grammar(20, 1)
    for prune in (True, False):
        template = ArcFeatures(prune=prune).fit(train)
        every = template.transform([*train, *test])
        structure = so.Arborescence(single_root=True).fitted(every, [s.heads for s in train + test])
        structure.predict(every, np.zeros(structure.n_features_))  # each has a tree
        structure.encode(every[:30], [s.heads for s in train])  # gold arcs are candidates
        for (arcs, features), s in zip(every, train + test, strict=True):
            assert features.shape == (len(arcs), template.n_features_)
            assert features.has_canonical_format
            assert set(features.data) == {1.0}
            assert prune or len(arcs) == len(s.heads) ** 2
    fewer = ArcFeatures(min_count=3).fit(train)
    assert 0 < fewer.n_features_ < template.n_features_
    # every template and every tag between shows on gold arcs of the training sentences
    (arcs, features) = template.transform(train[:1])[0]
    for row, (h, m) in enumerate(arcs.tolist()):
        if train[0].heads[m - 1] == h:
            between = set(train[0].upos[min(h, m) : max(h, m) - 1])
            assert features[[row]].nnz == 58 + len(between)
    with pytest.raises(InvalidInputError, match=r"a list of sentences .* at least one"):
        ArcFeatures().fit([])


def test_parsers_learn_a_small_language():
    bench = parsing.ParseBench(
        learners=parsing.LEARNERS, C=1.0, sentences=(grammar(60, 0), grammar(40, 1))
    )
    rows = run(bench, bench.cells()).rows
    assert [row["learner"] for row in rows] == list(parsing.LEARNERS)
    assert all(row["uas"] > 97 for row in rows)
    certificates = [row["result"].certificate for row in rows[2:]]
    assert len(certificates) == 3  # Frank-Wolfe, block ascent, cutting planes
    assert all(found.certified for found in certificates)
    # all bracket the same optimum
    lowest = min(found.primal for found in certificates)
    assert max(found.dual for found in certificates) <= lowest * (1 + 1e-9)
    assert "UAS %" in bench.tables(rows, [])[0].columns
    with pytest.raises(InvalidInputError, match="no learner 'crf'"):
        parsing.ParseBench(learners=["crf"])


def test_models_of_trees_are_saved(tmp_path):
    X = [np.random.default_rng(i).standard_normal((4, 3, 2)) for i in range(4)]
    Y = [[0, 1, 1], [2, 0, 2], [0, 1, 2], [3, 1, 0]]
    trees = [(x[0], [-1, 0, 0], None, ["a", "b", "b"]) for x in X]
    labels = ["uvu", "vvu", "vuu", "uuu"]
    allowed = {"b": ["u", "v"]}
    for structure, inputs, outputs in (
        (so.Arborescence(single_root=True), X, Y),
        (so.Hierarchy(allowed=allowed, loss=so.losses.Hamming({"u": 2.0})), trees, labels),
    ):
        model = so.StructuredClassifier(structure, so.M3N(1.0)).fit(inputs, outputs)
        model.save(tmp_path / "model")
        loaded = so.load_model(tmp_path / "model")
        assert loaded.predict(inputs) == model.predict(inputs)
        assert loaded.score(inputs, outputs) == model.score(inputs, outputs)


def test_parse_from_the_command_line(tmp_path, capsys, monkeypatch):
    for part in ("train", "test"):
        (tmp_path / f"x-{part}.conllu").write_text(TINY, encoding="utf-8")
    command = ["bench", "parsing", "--data", str(tmp_path), "--learners", "mira", "--epochs", "2"]
    assert cli.main([*command, "--out", str(tmp_path)]) == 0
    assert "100.00" in capsys.readouterr().out
    assert "| mira |" in (tmp_path / "parsing.md").read_text(encoding="utf-8")
    monkeypatch.setenv("STRUCTOPT_DATA", str(tmp_path / "none"))
    assert cli.main(["bench", "parsing"]) == 2
    assert "UD English ParTUT" in capsys.readouterr().err


def test_oracles_from_the_command_line(capsys):
    assert cli.main(["bench", "oracles", "--only", "multiclass", "lattice", "--repeats", "1"]) == 0
    assert "multiclass" in capsys.readouterr().out
    assert cli.main(["bench", "oracles", "--only", "nothing"]) == 2
    assert "no oracle case 'nothing'" in capsys.readouterr().err
    assert cli.main(["bench", "oracles", "--repeats", "0"]) == 2


def test_every_structure_has_oracle_cases_that_agree():
    # one question a structure: the k-best of networkx take long
    cases = [next(iter(make(np.random.default_rng(0)))) for make in CASES.values()]
    assert len({case.structure for case in cases}) == len(CASES)
    absent = Case("s", "q", 1, {"structopt": Contender(int)}, ("peer",))
    bench = OracleBench(repeats=1, enough=0.0, cases=[*cases, absent])
    rows = run(bench, bench.cells()).rows
    for number, case in enumerate(bench.cases):
        assert {row["who"] for row in rows if row["case"] == number} == set(case.contenders)
    (table,) = bench.tables(rows, [])
    assert [row[0] for row in table.rows][: len(cases)] == [case.name for case in cases]
    assert table.rows[-1][4] == "peer (not installed)"
    # a contender who finds another value is refused
    wrong = Case(
        "s", "q", 1, {"structopt": Contender(int, float), "networkx": Contender(lambda: 1, float)}
    )
    bench = OracleBench(repeats=1, enough=0.0, cases=[wrong])
    with pytest.raises(OracleError, match=r"s, q: networkx finds 1\.0, structopt 0\.0"):
        run(bench, bench.cells())
