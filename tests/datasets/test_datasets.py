"""Generators draw from the laws they state; splits are disjoint; seeds decide everything."""

import itertools
import pickle
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import structopt as so
from structopt import datasets
from structopt.datasets import home
from structopt.errors import InvalidInputError, MissingDataError, StructoptError


def test_import_is_light():
    code = (
        "import sys, structopt.datasets, structopt.report;"
        "print([m for m in ('sklearn', 'cvxpy', 'matplotlib', 'numba') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


# ---------------------------------------------------------------------- chain CRF
def test_chain_crf_has_the_shape_of_the_paper_and_is_fast():
    start = time.perf_counter()
    X, Y = so.datasets.make_chain_crf(n_examples=200, seed=0)
    assert time.perf_counter() - start < 2.0
    assert len(X) == len(Y) == 200
    assert {x.shape for x in X} == {(8, 100)}
    assert {x.dtype for x in X} == {np.dtype(np.float64)}
    assert {y.shape for y in Y} == {(8,)}
    assert {int(k) for y in Y for k in y} == {0, 1}


def test_relevant_inputs_come_in_groups_of_three_and_the_rest_is_independent():
    X, _ = datasets.make_chain_crf(n_examples=1000, seed=1)
    correlation = np.corrcoef(np.concatenate(X).T)
    expected = np.eye(100)
    # Two copies h + 0.05 e, h + 0.05 e' have covariance 1 and variance 1 + 0.05^2 each.
    for g in range(0, 30, 3):
        expected[g : g + 3, g : g + 3] = 1.0 / (1.0 + 0.05**2)
        np.fill_diagonal(expected[g : g + 3, g : g + 3], 1.0)
    # 8000 positions: a correlation's standard error is at most 1/sqrt(8000) = 0.011.
    assert np.abs(correlation - expected).max() < 0.06


def test_field_is_sparse_and_shared_by_all_data_of_a_seed():
    crf = datasets.chain_crf(seed=3)
    assert crf.state.shape == (2, 100)
    assert crf.transition.shape == (2, 2)
    assert np.all(crf.state[:, 30:] == 0)
    assert np.all((crf.state[:, :30] > 0) & (crf.state[:, :30] < 1))
    # The labels follow the field: far fewer errors than the one half of guessing.
    X, Y = datasets.make_chain_crf(n_examples=300, seed=3)
    wrong = np.mean(
        [np.mean(np.argmax(x @ crf.state.T, axis=1) != y) for x, y in zip(X, Y, strict=True)]
    )
    assert 0.1 < wrong < 0.3


@pytest.mark.parametrize("size", [1, 2, 4])
def test_gibbs_sampler_agrees_with_enumeration(size):
    rng = np.random.default_rng(5)
    crf = datasets.ChainCRF(rng.normal(size=(3, 2)), rng.normal(size=(3, 3)))
    x = rng.normal(size=(4, 2))
    n = 10_000
    # Positions behind `size` are padding and must not influence those before.
    inputs, lengths = np.tile(x, (n, 1, 1)), np.full(n, size)
    sampled = crf.sample(inputs, rng, lengths=lengths, sweeps=50)[:, :size]
    outputs = list(itertools.product(range(3), repeat=size))
    scores = np.array(
        [
            sum(crf.state[k] @ x[i] for i, k in enumerate(y))
            + sum(crf.transition[a, b] for a, b in itertools.pairwise(y))
            for y in outputs
        ]
    )
    exact = np.exp(scores - scores.max())
    exact /= exact.sum()
    codes = sampled @ 3 ** np.arange(size)[::-1]
    observed = np.bincount(codes, minlength=3**size) / n
    # Five standard errors of a frequency.
    assert np.all(np.abs(observed - exact) < 5 * np.sqrt(exact * (1 - exact) / n) + 1e-4)


def test_seed_decides_everything_and_more_examples_keep_the_first():
    X, Y = datasets.make_chain_crf(n_examples=20, length=(3, 9), n_labels=3, seed=7)
    again = datasets.make_chain_crf(n_examples=20, length=(3, 9), n_labels=3, seed=7)
    more = datasets.make_chain_crf(n_examples=1100, length=(3, 9), n_labels=3, seed=7)
    other = datasets.make_chain_crf(n_examples=20, length=(3, 9), n_labels=3, seed=8)
    for i in range(20):
        np.testing.assert_array_equal(X[i], again[0][i])
        np.testing.assert_array_equal(Y[i], again[1][i])
        np.testing.assert_array_equal(X[i], more[0][i])
        np.testing.assert_array_equal(Y[i], more[1][i])
        assert len(X[i]) == len(Y[i])
    assert {len(y) for y in more[1]} == set(range(3, 10))
    assert not np.array_equal(X[0][:3], other[0][0][:3])


@pytest.mark.parametrize(
    "arguments",
    [{"n_relevant": 101}, {"n_labels": 1}, {"length": 0}, {"length": (4, 3)}, {"n_examples": -1}],
)
def test_chain_crf_refuses_nonsense(arguments):
    with pytest.raises(InvalidInputError, match=next(iter(arguments))):
        datasets.make_chain_crf(**arguments)


# ---------------------------------------------------------------------- classes
def test_classes_are_balanced_blobs_around_centres():
    X, y = datasets.make_classes(6001, 4, 3, separation=5.0, seed=2)
    counts = np.bincount(y)
    assert counts.max() - counts.min() <= 1
    for k in range(3):
        assert np.linalg.norm(X[y == k].mean(axis=0)) == pytest.approx(5.0, abs=0.15)
        np.testing.assert_allclose(np.cov(X[y == k].T), np.eye(4), atol=0.15)


def test_classes_refuse_nonsense():
    with pytest.raises(InvalidInputError, match="n_labels"):
        datasets.make_classes(10, 2, 0)


# ---------------------------------------------------------------------- digits
def test_digit_source_is_a_chain_with_uniform_law():
    source = datasets.digit_source()
    np.testing.assert_allclose(source.sum(axis=1), 1.0)
    np.testing.assert_allclose(source.sum(axis=0), 1.0)
    assert np.all(source.max(axis=1) == 0.62)


def test_digit_splits_share_no_image_and_cover_all():
    X_train, y_train = datasets.load_digits_classes()
    X_test, y_test = datasets.load_digits_classes(split="test")
    assert len(X_train) + len(X_test) == 1797
    assert not {x.tobytes() for x in X_train} & {x.tobytes() for x in X_test}
    assert X_train.min() == 0.0
    assert X_train.max() == 1.0
    # Every digit is split alike.
    share = np.bincount(y_train) / (np.bincount(y_train) + np.bincount(y_test))
    np.testing.assert_allclose(share, 2 / 3, atol=0.01)


def test_digit_words_follow_the_source_and_use_images_of_their_digits():
    X, Y = datasets.load_digit_words(3000, split="test", seed=4)
    images, digits = datasets.load_digits_classes(split="test")
    label = {x.tobytes(): d for x, d in zip(images, digits, strict=True)}
    written = [label[x.tobytes()] for x in np.concatenate(X)]
    np.testing.assert_array_equal(written, np.concatenate(Y))
    assert {len(y) for y in Y} == set(range(3, 8))
    counts = np.zeros((10, 10))
    for y in Y:
        np.add.at(counts, (y[:-1], y[1:]), 1)
    # About 1200 transitions a row: a standard error is at most 0.015.
    frequencies = counts / counts.sum(axis=1, keepdims=True)
    assert np.abs(frequencies - datasets.digit_source()).max() < 0.07


def test_digit_words_are_seeded_and_splits_differ():
    a, b = datasets.load_digit_words(5, seed=1), datasets.load_digit_words(5, seed=1)
    for left, right in zip([*a[0], *a[1]], [*b[0], *b[1]], strict=True):
        np.testing.assert_array_equal(left, right)
    test = datasets.load_digit_words(5, seed=1, split="test")
    assert [y.tolist() for y in a[1]] != [y.tolist() for y in test[1]]


def test_digits_refuse_nonsense():
    with pytest.raises(InvalidInputError, match="split"):
        datasets.load_digit_words(1, split="dev")
    with pytest.raises(InvalidInputError, match="length"):
        datasets.load_digit_words(1, length=(0, 2))
    with pytest.raises(InvalidInputError, match="n_examples"):
        datasets.load_digit_words(-1)


# ---------------------------------------------------------------------- home
def test_home_is_the_variable_or_the_platforms_place(monkeypatch, tmp_path):
    monkeypatch.setenv("STRUCTOPT_DATA", str(tmp_path))
    assert datasets.data_home() == tmp_path
    monkeypatch.setenv("STRUCTOPT_DATA", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(home.sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert datasets.data_home() == tmp_path / "xdg" / "structopt"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert datasets.data_home() == tmp_path / ".cache" / "structopt"
    monkeypatch.setattr(home.sys, "platform", "darwin")
    assert datasets.data_home() == tmp_path / "Library" / "Caches" / "structopt"
    monkeypatch.setattr(home.sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert datasets.data_home() == tmp_path / "local" / "structopt"
    assert list(tmp_path.iterdir()) == []


def test_missing_file_says_what_to_put_where(monkeypatch, tmp_path):
    monkeypatch.setenv("STRUCTOPT_DATA", str(tmp_path))
    with pytest.raises(MissingDataError) as caught:
        datasets.find_data(["a/b.gz", "a/b"], what="the things", advice="Ask for it.")
    message = str(caught.value)
    assert str(tmp_path / "a" / "b.gz") in message
    assert str(tmp_path / "a" / "b") in message
    assert "the things" in message
    assert "STRUCTOPT_DATA" in message
    assert message.endswith("Ask for it.")
    assert Path(caught.value.path) == tmp_path / "a" / "b.gz"
    assert isinstance(caught.value, FileNotFoundError)
    assert isinstance(caught.value, StructoptError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == message


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: datasets.load_conll2000(part="test"), r"load_conll2000\(split=\.\.\.\)"),
        (lambda: datasets.load_partut(part="test"), r"load_partut\(split="),
        (lambda: datasets.load_digit_words(n_words=3), r"load_digit_words\(n_examples="),
        (lambda: datasets.load_horses(n_images=3), r"load_horses\(n_examples="),
        (lambda: datasets.make_scaled_clouds(n=3), r"make_scaled_clouds\(n_examples="),
    ],
)
def test_old_names_of_arguments_say_the_new_ones(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call()


def test_turns_alternate_but_for_slips():
    X, Y = datasets.make_zigzags(3, length=21, slip=0.0, noise=0.0, seed=4)
    for x, y in zip(X, Y, strict=True):
        assert y[::2] == ["straight"] * 11
        assert all(a != b for a, b in zip(y[1::2], y[3::2], strict=False))
        codes = [("left", "right", "straight").index(step) for step in y]
        np.testing.assert_array_equal(x, np.eye(3, 4)[codes] + np.eye(4)[3])
