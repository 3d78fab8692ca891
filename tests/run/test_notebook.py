"""Notebook display: what came out, in words, and nothing of it is executed."""

import re
from dataclasses import replace

import numpy as np
import pytest

import structopt as so

BAD = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def model():
    X, Y = so.datasets.make_chain_crf(n_examples=6, n_features=2, n_relevant=1, length=3, seed=0)
    named = [[f"{label}{BAD}" for label in y] for y in Y]
    labels = sorted({label for y in named for label in y})
    model = so.StructuredClassifier(so.Chain(labels=labels), so.M3N(C=1.0), method="cutting-plane")
    return model.fit(X, named)


def check(html):
    assert BAD not in html
    assert "<script>alert" not in html
    assert html.count("<div") == html.count("</div>")
    assert html.count("<table") == html.count("</table>")
    return re.sub(r"<[^>]+>", " ", html)


def test_results_certificates_and_rounds_show_themselves(model):
    result = model.result_
    words = check(result._repr_html_())
    assert "Result: optimal" in words
    assert f"{len(result.history)} in" in words
    assert "No weights can be better" in check(result.certificate._repr_html_())
    doubted = replace(result.certificate, exact=False, note=BAD)
    assert "nothing is proven" in check(doubted._repr_html_())
    open_ = replace(result.certificate, dual=-np.inf)
    assert "-inf" in check(open_._repr_html_())
    first = result.history[0]
    assert len(first.found) > 0
    assert "&lt;script&gt;" in check(first._repr_html_())
    check(replace(first, made=None, found=(), primal=np.nan)._repr_html_())


def test_a_long_history_is_shown_from_both_ends(model):
    first = model.result_.history[0]
    many = tuple(replace(first, round=k) for k in range(1, 400))
    words = check(replace(model.result_, history=many)._repr_html_())
    assert "…" in words
    assert words.count("0 <= optimum") < 5
    assert len(words) < 5_000
    check(replace(model.result_, history=())._repr_html_())


def test_models_show_scikit_learn_s_diagram_and_their_result(model):
    words = check(model._repr_html_())
    assert "Result: optimal" in words
    fresh = so.StructuredClassifier(so.Chain(labels=["a", BAD]), so.M3N())
    assert "Result" not in check(fresh._repr_html_()).split("StructuredClassifier")[0]
    assert set(fresh._repr_mimebundle_()) == {"text/plain", "text/html"}


def test_paths_show_a_table():
    X, Y = so.datasets.make_chain_crf(n_examples=6, n_features=2, n_relevant=1, length=3, seed=0)
    path = so.fit_path(so.StructuredClassifier(so.Chain(), so.M3N()), X, Y, [0.1, 0.2])
    words = check(path._repr_html_())
    assert "2 of 2" in words
    assert "objective" in words
