"""Reports: well formed, self-contained, safe, and true to the numbers of the result."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import structopt as so
from structopt.errors import InvalidInputError
from structopt.files import write_atomically
from structopt.report import write_comparison, write_report
from structopt.report.html import MOST_ROUNDS
from structopt.report.rounds import SCRIPT as FILE
from structopt.report.series import TimeSplit
from structopt.report.task import MOST_EXAMPLES
from structopt.report.template import FOLDER
from structopt.run.certificate import Certificate
from structopt.run.events import Round
from structopt.run.example import Example
from structopt.run.result import Result

HOSTILE = "<script>alert(1)</script>\"'>&amp;\x00 $x^2$ \ud800"
INF, NAN = float("inf"), float("nan")
SCRIPT = (FOLDER / FILE).read_text()


def make_round(r, primal, dual, **fields):
    values = {
        "value": primal, "violation": 1.0 / r, "cuts_added": 7, "cuts_dropped": 2, "cuts": 5 * r,
        "nonzeros": 3, "iterations": 11, "oracle_seconds": 0.25, "lift_seconds": 0.125,
        "solve_seconds": 0.5, "seconds": float(r),
    }  # fmt: skip
    return Round(round=r, primal=primal, dual=dual, **(values | fields))


def make_result(
    bounds=((400.0, -INF), (5.0, 2.0), (4.25, 4.0), (4.125, 4.1234567)),
    *,
    weights=(0.0, -2.5, 0.0, 1.0 / 3.0),
    status="optimal",
    backend="highs",
    note="",
    **certificate,
):
    history = tuple(make_round(r, *pair) for r, pair in enumerate(bounds, start=1))
    primal, dual = bounds[-1] if bounds else (INF, -INF)
    proof = Certificate(primal, dual, 1e-3, note=note, **certificate)
    seconds = len(bounds) + 0.5
    return Result(np.array(weights), proof, history, status, seconds, backend, cuts=object())


class Page(HTMLParser):
    """Collects what a page shows, and fails on tags that are not closed in order."""

    VOID = frozenset({"meta", "br", "hr", "img", "link", "input"})

    def __init__(self, source):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.rows = [], [], [], []
        self.text, self.data, self.ids, self.scripts = "", [], [], []
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append(tag)
        self.attributes.append((tag, attrs))
        if "id" in attrs:
            self.ids.append(attrs["id"])
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th") and self.rows:
            self.rows[-1].append("")
        if tag == "data":
            self.data.append(float(attrs["value"]))
            if self.open[-1] in ("td", "th"):
                self.rows[-1][-1] = attrs["value"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.attributes.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" in self.open:
            return
        if "script" in self.open:
            self.scripts.append(data)
            return
        self.text += data
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def rounds_of(page):
    """Return the head and the rows of the last table of rounds; the scrubber's stands before it."""
    start = max(i for i, row in enumerate(page.rows) if row[0] == "Round")
    return page.rows[start], page.rows[start + 1 :]


def read(path):
    return Page(path.read_text(encoding="utf-8"))


@pytest.fixture
def report(tmp_path):
    def write(result, **options):
        path = tmp_path / "run.html"
        write_report(result, path, **options)
        return read(path)

    return write


@pytest.fixture
def comparison(tmp_path):
    def write(results, **options):
        path = tmp_path / "all.html"
        write_comparison(results, path, **options)
        return read(path)

    return write


# ---------------------------------------------------------------------- numbers
def test_report_shows_the_numbers_of_the_result(report):
    result = make_result()
    page = report(result)
    c = result.certificate
    for value in (c.primal, c.dual, c.gap, c.relative_gap, c.tolerance, c.residual):
        assert value in page.data
    assert "Certified: the objective at these weights" in page.text
    assert "status optimal after 4 rounds" in page.text
    assert "solved by highs" in page.text
    assert "28 added, 8 dropped, 20 standing" in page.text
    # 4 rounds of 0.25, 0.125 and 0.5 s in 4.5 s of wall time.
    for seconds in (1.0, 0.5, 2.0, 4.5):
        assert seconds in page.data


def test_every_round_is_a_row_with_its_full_values(report):
    result = make_result()
    page = report(result)
    head, rows = rounds_of(page)
    assert len(rows) == 4
    for row, r in zip(rows, result.history, strict=True):
        shown = dict(zip(head, map(float, row), strict=True))
        assert shown["Round"] == r.round
        assert shown["Upper bound"] == r.primal
        assert shown["Lower bound"] == r.dual
        assert shown["Cuts added"] == r.cuts_added
        assert shown["Cuts dropped"] == r.cuts_dropped
        assert shown["Solver iterations"] == r.iterations
        assert shown["Solve s"] == r.solve_seconds


def test_weights_are_summed_up_and_the_largest_come_first(report):
    page = report(make_result(), feature_names=["a", ("b", "c"), "d", "e"])
    head = next(row for row in page.rows if row[0] == "Feature")
    start = page.rows.index(head) + 1
    assert page.rows[start][:3] == ["b", "c", "-2.5"]
    assert page.rows[start + 1][:2] == ["e", ""]
    assert float(page.rows[start + 1][2]) == 1 / 3
    assert "Nonzero2" in re.sub(r"\s", "", page.text)
    assert 0.5 in page.data
    assert 2.5 + 1 / 3 in page.data


def test_names_must_match_the_weights(report):
    with pytest.raises(InvalidInputError, match="4 weights but 1 feature_names"):
        report(make_result(), feature_names=["a"])


def test_comparison_shows_each_run(comparison):
    runs = {
        "fast": make_result(backend="highs"),
        "osqp": make_result(((9.0, 1.0), (4.5, 4.0)), status="max_iter", backend="osqp"),
    }
    page = comparison(runs, title="Two", note="A small problem.")
    columns = list(zip(*page.rows[:15], strict=True))
    for row, (name, result) in zip(columns[1:], runs.items(), strict=True):
        shown = dict(zip(columns[0], row, strict=True))
        split = TimeSplit.of(result)
        assert shown["Run"] in (name, f"{name} ({result.backend})")
        assert shown["Status"] == result.status
        assert float(shown["Objective"]) == result.certificate.primal
        assert float(shown["Lower bound"]) == result.certificate.dual
        assert float(shown["Gap"]) == result.certificate.gap
        assert float(shown["Rounds"]) == len(result.history)
        assert float(shown["Seconds"]) == result.seconds
        assert float(shown["Oracle seconds"]) == split.oracle
        assert float(shown["Other seconds"]) == split.other
        assert shown["Certified"] == ("yes" if result.certificate.certified else "no")
    assert "1 of 2 runs certified" in page.text
    # The best lower bound and the best objective: 4.1234567 and 4.125, both of the first run.
    assert "All bounds agree" in page.text
    assert "A small problem." in page.text


def test_comparison_says_when_bounds_contradict(comparison):
    page = comparison({"a": make_result(((4.0, 3.999),)), "b": make_result(((5.0, 4.999),))})
    assert "contradict one another" in page.text
    assert {4.999, 4.0} <= set(page.data)
    with pytest.raises(InvalidInputError, match="no results"):
        comparison({})


# ---------------------------------------------------------------------- the scrubber
def test_scrubbers_show_the_last_round_and_name_tables_that_exist(report, comparison):
    runs = {"a": make_result(), "b": make_result(((9.0, 1.0), (4.5, 4.0))), "none": make_result(())}
    for page, histories in (
        (report(runs["a"]), [runs["a"].history]),
        (comparison(runs), [runs["a"].history, runs["b"].history]),
    ):
        live = [a["data-rounds"] for tag, a in page.attributes if "data-rounds" in a]
        assert len(live) == len(histories)
        assert set(live) <= set(page.ids)
        slider = next(a for tag, a in page.attributes if tag == "input")
        assert (slider["type"], slider["min"], slider["max"], slider["value"]) == (
            "range", "1", "4", "4",
        )  # fmt: skip
        labels = [a["for"] for tag, a in page.attributes if tag == "label"]
        assert labels == [slider["id"]]
        markers = [a for tag, a in page.attributes if "data-marker" in a]
        assert len(markers) >= 2
        assert all(a["data-marker"] in page.ids for a in markers)
        # where the script is not run, no control shows that would do nothing
        assert ("p", {"class": "control", "hidden": None}) in page.attributes
        head = next(i for i, row in enumerate(page.rows) if "Upper bound" in row)
        for row, history in zip(page.rows[head + 1 :], histories, strict=False):
            shown = dict(zip(page.rows[head], row, strict=True))
            assert float(shown["Upper bound"]) == history[-1].primal


def test_a_run_without_rounds_has_no_scrubber(report):
    assert "input" not in report(make_result(())).tags


# ---------------------------------------------------------------------- examples
def shown_order(page):
    return [int(n) for n in re.findall(r"Example\s+(\d+):", page.text)]


def test_examples_stand_side_by_side(report):
    examples = [
        Example(0, ["a", "b"], ["a", "b"], 0, 2),
        Example(1, np.array([1, 2, 3]), np.array([1, 5, 6]), 2, 3),
        Example(2, HOSTILE, "x", 1, 1),
    ]
    page = report(make_result(), examples=examples)
    assert shown_order(page) == [1, 2, 0]
    assert 3 / 6 in page.data  # parts that are right
    assert 1 / 3 in page.data  # examples without error
    assert page.text.count("✗") == 1 + 2  # the legend, and two labels
    assert page.tags.count("mark") == 1  # what is no sequence
    assert page.scripts == [SCRIPT]


def test_a_model_reports_its_weights_by_name_and_its_worst_examples(tmp_path):
    X, Y = so.datasets.make_chain_crf(30, n_features=4, n_relevant=3, seed=0)
    model = so.StructuredClassifier(so.Chain(), so.M3N(C=0.1)).fit(X, Y)
    model.report(tmp_path / "run.html", X, Y)
    page = read(tmp_path / "run.html")
    assert "M3N on Chain" in page.text
    assert any(value == pytest.approx(model.score(X, Y)) for value in page.data)
    errors = np.array([np.sum(y != p) for y, p in zip(Y, model.predict(X), strict=True)])
    assert shown_order(page) == np.argsort(-errors, kind="stable")[:MOST_EXAMPLES].tolist()
    weights = next(i for i, row in enumerate(page.rows) if row[:2] == ["Feature", "Label"])
    name, label, value = page.rows[weights + 1][:3]
    assert float(value) == model.weights_[np.argmax(np.abs(model.weights_))]
    named = [(f.replace("x", "input "), k) for f, k in model.structure_.feature_names()]
    assert model.weights_[named.index((name, label))] == float(value)
    assert not re.search(r"\bx\d", page.text)
    assert "StructuredClassifier(" in page.text  # how to run it again
    assert "cvxpy 1." in page.text
    model.report(tmp_path / "plain.html", title="Mine")
    assert shown_order(read(tmp_path / "plain.html")) == []
    with pytest.raises(InvalidInputError, match="both X and Y"):
        model.report(tmp_path / "no.html", X)
    with pytest.raises(InvalidInputError, match="30 inputs but 29 outputs"):
        model.report(tmp_path / "no.html", X, Y[1:])
    with pytest.raises(InvalidInputError, match="30 examples but 1 inputs to show"):
        model.report(tmp_path / "no.html", X, Y, inputs=X[:1])
    with pytest.raises(InvalidInputError, match="give X and Y, too"):
        model.report(tmp_path / "no.html", inputs=X)
    assert not (tmp_path / "no.html").exists()


# ---------------------------------------------------------------------- verdicts and odd runs
@pytest.mark.parametrize(
    ("result", "words"),
    [
        (make_result(((5.0, 4.0),), status="max_iter"), "the gap is 20 % of the objective"),
        (make_result(exact=False), "the oracles are approximate"),
        (make_result(residual=0.5), "violate the formulation's own constraints by 0.5"),
        (make_result(((5.0, -INF),), status="time_limit"), "a bound is still missing"),
        (make_result(status="interrupted"), "The run was interrupted"),
        (make_result(status="stalled"), "admits no further progress"),
        (make_result(note="Mind the step."), "Mind the step."),
        (make_result((), status="interrupted"), "No round was finished"),
        (make_result(((INF, -INF),), status="callback"), "A callback ended the run"),
        (make_result(((2.0, 2.0),)), "after 1 round and"),
        (make_result(((NAN, NAN), (NAN, 1.0)), status="stalled"), "a bound is still missing"),
        (make_result(((0.0, 0.0),)), "Certified"),
        (make_result(weights=()), "All weights are zero"),
        (make_result(weights=(0.0, 0.0)), "All weights are zero"),
        (make_result(weights=(NAN, INF)), "The 2 largest weights"),
        (make_result(((1e-9, 9.9999e-10),)), "1e-09"),
        (make_result(((3e9 + 1, 3e9), (3e9 + 0.5, 3e9))), "3e+09"),
    ],
)
def test_every_kind_of_run_has_a_report(report, result, words):
    assert words in report(result).text


@pytest.mark.parametrize("bounds", [(), ((INF, -INF),), ((NAN, NAN), (5.0, NAN)), ((2.0, 2.0),)])
def test_every_kind_of_run_can_be_compared(comparison, bounds):
    comparison({"run": make_result(bounds, status="max_iter"), "again": make_result()})


def test_long_runs_are_thinned_and_say_so(report):
    bounds = [(2.0 + 1.0 / r, 2.0) for r in range(1, 5 * MOST_ROUNDS)]
    page = report(make_result(bounds))
    rows = len(rounds_of(page)[1])
    assert rows <= MOST_ROUNDS + 1
    assert f"{len(bounds) - rows} in the middle are left out" in page.text
    assert page.rows[-1][0] == str(len(bounds))


# ---------------------------------------------------------------------- safety and access
def hostile_pages(report, comparison):
    result = make_result(backend=HOSTILE, note=HOSTILE)
    names = [HOSTILE, (HOSTILE, 1), object, "e"]
    return [
        report(result, title=HOSTILE, feature_names=names),
        comparison({HOSTILE: result, "x" * 500: result}, title=HOSTILE, note=HOSTILE),
    ]


def test_hostile_text_stays_text(report, comparison):
    for page in hostile_pages(report, comparison):
        assert page.scripts == [SCRIPT]
        assert "<script>alert(1)</script>\"'>&amp;" in page.text
        assert "\x00" not in page.text
        assert not any(name.startswith("on") for _, attrs in page.attributes for name in attrs)


def test_page_loads_nothing(report, comparison, tmp_path):
    hostile_pages(report, comparison)
    for path in tmp_path.iterdir():
        source = path.read_text(encoding="utf-8")
        assert not re.search(r"https?://|@import|url\((?!#)|//cdn", source)
        page = read(path)
        assert page.tags.count("script") == 1
        assert not {"link", "img", "iframe", "object", "embed"} & set(page.tags)
        assert not any("src" in attrs for _, attrs in page.attributes)
        assert all(attrs.get("href", "#").startswith("#") for _, attrs in page.attributes)
        policy = [a["content"] for _, a in page.attributes if "http-equiv" in a]
        digest = base64.b64encode(hashlib.sha256(page.scripts[0].encode()).digest()).decode()
        assert policy == [
            f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
            f"script-src 'sha256-{digest}'"
        ]


def test_page_is_accessible_and_follows_the_theme(report, comparison, tmp_path):
    report(make_result())
    comparison({"a": make_result(), "b": make_result()})
    for path in tmp_path.iterdir():
        source = path.read_text(encoding="utf-8")
        assert "@media (prefers-color-scheme: dark)" in source
        page = read(path)
        assert ("html", {"lang": "en"}) in page.attributes
        assert len(page.ids) == len(set(page.ids))
        charts = [a for tag, a in page.attributes if tag == "svg" and "role" in a]
        assert len(charts) >= 4
        for attrs in charts:
            assert attrs["role"] == "img"
            assert set(attrs["aria-labelledby"].split()) <= set(page.ids)
        silent = [a for tag, a in page.attributes if tag == "svg" and "role" not in a]
        assert all(attrs["aria-hidden"] == "true" for attrs in silent)
        assert page.tags.count("caption") == page.tags.count("table")
        scopes = [a.get("scope") for tag, a in page.attributes if tag == "th"]
        assert set(scopes) == {"col", "row"}
        used = set(re.findall(r"var\((--[\w-]+)\)", source)) - {"--w", "--h"}  # of one element
        light, dark, _ = re.findall(r":root \{(.*?)\}", source, flags=re.DOTALL)
        assert all(f"{name}:" in light and f"{name}:" in dark for name in used)


def test_charts_hold_only_finite_numbers(report):
    page = report(make_result())
    drawn = [a["d"] for tag, a in page.attributes if tag == "path"]
    assert len(drawn) > 20
    assert not any("nan" in d or "inf" in d for d in drawn)


# ---------------------------------------------------------------------- files
def test_write_is_whole_or_nothing(tmp_path, monkeypatch):
    path = tmp_path / "run.html"
    path.write_text("old")

    def broken(*_):
        raise OSError("disk full")

    monkeypatch.setattr("structopt.files.os.replace", broken)
    with pytest.raises(OSError, match="disk full"):
        write_report(make_result(), path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["run.html"]


def test_missing_folder_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "no" / "run.html", b"")


def test_result_writes_its_own_report(tmp_path):
    make_result().report(tmp_path / "run.html")
    assert "Certified" in read(tmp_path / "run.html").text
