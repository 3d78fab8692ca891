"""Directions kept as sums of parts mean what the formula says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from structopt.arrays import base_matrix
from structopt.structures.base.parts import Directions

MANY = settings(max_examples=200, deadline=None, derandomize=True)
N_FEATURES = 12


def draw(seed):
    """Random directions, the base they stand on, and the dense matrix that they spell out."""
    rng = np.random.default_rng(seed)
    dense = rng.integers(-2, 3, (5, 4)) * rng.integers(0, 2, (5, 4)).astype(float)
    lengths = rng.integers(0, 5, rng.integers(1, 6))
    total = int(lengths.sum())
    directions = Directions(
        np.concatenate([[0], np.cumsum(lengths)]),
        rng.integers(0, 5, total),
        4 * rng.integers(0, 3, total),
        rng.choice([-1.0, 1.0, 0.5], total),
    )
    spelled = np.zeros((len(lengths), N_FEATURES))
    for r in range(len(lengths)):
        for p in range(directions.ptr[r], directions.ptr[r + 1]):
            at = directions.offset[p]
            spelled[r, at : at + 4] += directions.coef[p] * dense[directions.source[p]]
    return rng, directions, base_matrix(dense), spelled


@MANY
@given(st.integers(0, 2**32 - 1))
def test_matrix_product_and_combination(seed):
    rng, directions, base, spelled = draw(seed)
    matrix = directions.tocsr(base, N_FEATURES)
    np.testing.assert_array_equal(matrix.toarray(), spelled)
    assert np.all(matrix.data != 0)
    assert matrix.has_canonical_format
    weights, multipliers = rng.normal(size=N_FEATURES), rng.normal(size=len(directions))
    np.testing.assert_allclose(directions.dot(base, weights), spelled @ weights, atol=1e-12)
    np.testing.assert_allclose(
        directions.combine(base, multipliers, N_FEATURES), multipliers @ spelled, atol=1e-12
    )


@MANY
@given(st.integers(0, 2**32 - 1))
def test_take_concatenate_and_move(seed):
    rng, directions, base, spelled = draw(seed)
    which = rng.integers(0, len(directions), 4)
    taken = directions.take(which)
    np.testing.assert_array_equal(taken.tocsr(base, N_FEATURES).toarray(), spelled[which])
    both = Directions.concatenate([directions, taken])
    np.testing.assert_array_equal(
        both.tocsr(base, N_FEATURES).toarray(), np.vstack([spelled, spelled[which]])
    )
    taller = base_matrix(sp.vstack([sp.csr_array((3, 4)), base], format="csr"))
    moved = directions.moved(3)
    np.testing.assert_array_equal(moved.tocsr(taller, N_FEATURES).toarray(), spelled)


@MANY
@given(st.integers(0, 2**32 - 1))
def test_signatures_tell_directions_apart(seed):
    _, directions, _, _ = draw(seed)
    parts = [
        tuple(zip(d.source, d.offset, d.coef, strict=True))
        for d in (directions.take(np.array([r])) for r in range(len(directions)))
    ]
    twice = Directions.concatenate([directions, directions]).signatures()
    n = len(directions)
    np.testing.assert_array_equal(twice[:n], twice[n:])
    assert len(set(twice.tolist())) == len(set(parts))


def test_whole_rows():
    base = base_matrix(np.arange(6.0).reshape(3, 2))
    rows = Directions.rows(1, 2)
    np.testing.assert_array_equal(rows.tocsr(base, 2).toarray(), [[2, 3], [4, 5]])


def test_base_matrix_adds_duplicates_and_leaves_the_users_matrix_alone():
    given_ = sp.csr_array(([1.0, 2.0, 4.0], [1, 0, 1], [0, 3]), shape=(1, 2))
    base = base_matrix(given_)
    assert base.toarray().tolist() == [[2.0, 5.0]]
    assert (base.nnz, given_.nnz) == (2, 3)
    assert given_.indices.tolist() == [1, 0, 1]
    assert base.indices.dtype == base.indptr.dtype == np.int32


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, sp.csc_array, sp.coo_array])
def test_base_matrix_of_any_kind(kind):
    base = base_matrix(kind([[0, 1], [2, 0]]))
    assert base.toarray().tolist() == [[0.0, 1.0], [2.0, 0.0]]
    assert base.data.dtype == np.float64


def test_parts_that_do_not_fit_are_refused():
    """Every field wrong in turn, also in the last part alone."""
    base = base_matrix(np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 2.0], [0.0, 0.0, 0.0, 0.0]]))
    good = Directions(
        np.array([0, 1, 3]), np.array([1, 0, 2]), np.array([0, 7, 5]), np.array([1.0, -1.0, 2.0])
    )
    good.check(8, base)
    good.check(8)
    bad = [
        ("numbers", replace(good, coef=np.array([1, 2, 3]))),
        ("numbers", replace(good, source=good.source.astype(float))),
        ("lists", replace(good, offset=good.offset[:, None])),
        ("length", replace(good, offset=good.offset[:2])),
        ("length", replace(good, ptr=np.array([0, 1, 2]))),
        ("length", replace(good, ptr=np.array([1, 1, 3]))),
        ("length", replace(good, ptr=np.array([0, 4, 3]))),
        ("finite", replace(good, coef=np.array([1.0, 2.0, np.inf]))),
        ("last weight", replace(good, offset=np.array([0, 7, -1]))),
        ("last weight", replace(good, offset=np.array([0, 7, 8]))),
    ]
    for said, parts in bad:
        with pytest.raises(ValueError, match=said):
            parts.check(8)
    over = [
        ("base does not have", replace(good, source=np.array([1, 0, 3]))),
        ("base does not have", replace(good, source=np.array([1, 0, -1]))),
        ("last weight", replace(good, offset=np.array([5, 7, 5]))),  # 5 + 3: of the first alone
    ]
    for said, parts in over:
        parts.check(8)
        with pytest.raises(ValueError, match=said):
            parts.check(8, base)
