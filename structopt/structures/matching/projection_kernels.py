"""Compiled projection on products of matching polytopes: the method is in `projection.py`."""

from __future__ import annotations

import numba
import numpy as np

SWEEPS = 2
"""Block-coordinate sweeps before the first Newton step of a cold start."""
FIXED = 1e-3
"""A multiplier below this (and below the residual) whose gradient pushes it down is held at 0."""
RIDGE = 1e-9
"""Relative regularisation of the Newton matrix, singular along u + c, v - c."""
DECREASE, SHRINK, TRIALS = 1e-4, 0.4, 12
"""Line search: Armijo's share, the factor of a step, and how many are tried."""


@numba.njit(cache=True, nogil=True, inline="always")
def _clip(t):
    return 0.0 if t < 0.0 else (1.0 if t > 1.0 else t)


@numba.njit(cache=True, nogil=True, inline="always")
def _half(t):
    """Antiderivative of clip."""
    return 0.0 if t <= 0.0 else (0.5 * t * t if t < 1.0 else t - 0.5)


@numba.njit(cache=True, nogil=True)
def _threshold(values, k, limit):
    """Return the smallest t >= 0 with sum clip(values - t, 0, 1) <= limit."""
    low, high, t = 0.0, 0.0, 0.0
    for e in range(k):
        high = max(high, values[e])
    for _ in range(200):
        total, slope = 0.0, 0
        for e in range(k):
            z = values[e] - t
            if z > 0.0:
                if z < 1.0:
                    total += z
                    slope += 1
                else:
                    total += 1.0
        over = total - limit
        if over <= 0.0:
            if t == 0.0:
                return 0.0
            high = t
        else:
            low = t
        trial = t + over / slope if slope > 0 else 0.5 * (low + high)
        if not low < trial < high:
            # newton left the bracket: its ends are candidates, then the middle
            trial = high if trial >= high and over > 0.0 and t < high else 0.5 * (low + high)
        if trial == t or abs(over) <= 1e-16 * max(1.0, limit):
            return t
        t = trial
    return t


@numba.njit(cache=True, nogil=True)
def _simplex_threshold(values, k, limit):
    """Return the smallest t >= 0 with sum max(values - t, 0) <= limit, by Michelot's algorithm.

    Overwrites values. With a limit of 1 no entry of the answer exceeds 1.
    """
    total, kept = 0.0, 0
    for e in range(k):
        if values[e] > 0.0:
            total += values[e]
            values[kept] = values[e]
            kept += 1
    if total <= limit:
        return 0.0
    t = (total - limit) / kept
    while True:
        total, fewer = 0.0, 0
        for e in range(kept):
            if values[e] > t:
                total += values[e]
                values[fewer] = values[e]
                fewer += 1
        if fewer == kept or fewer == 0:  # none is left only by rounding
            return t
        kept = fewer
        t = (total - limit) / kept


@numba.njit(cache=True, nogil=True, inline="always")
def _best_multiplier(values, k, limit):
    if 0.0 < limit <= 1.0:
        return _simplex_threshold(values, k, limit)
    return _threshold(values, k, limit)


@numba.njit(cache=True, nogil=True)
def _sweep(a, left, right, left_ptr, right_ptr, by_right, ends, limits, u, v, values):
    """Set every multiplier to its best value in turn: left nodes, then right nodes."""
    for i in range(ends[0], ends[1]):
        k = 0
        for e in range(left_ptr[i], left_ptr[i + 1]):
            values[k] = a[e] - v[right[e]]
            k += 1
        u[i] = _best_multiplier(values, k, limits[0][i])
    for j in range(ends[2], ends[3]):
        k = 0
        for q in range(right_ptr[j], right_ptr[j + 1]):
            values[k] = a[by_right[q]] - u[left[by_right[q]]]
            k += 1
        v[j] = _best_multiplier(values, k, limits[1][j])


@numba.njit(cache=True, nogil=True)
def _dual(a, left, right, edges, ends, limits, u, v):
    total = 0.0
    for e in range(edges[0], edges[1]):
        total += _half(a[e] - u[left[e]] - v[right[e]])
    for i in range(ends[0], ends[1]):
        total += limits[0][i] * u[i]
    for j in range(ends[2], ends[3]):
        total += limits[1][j] * v[j]
    return total


@numba.njit(cache=True, nogil=True)
def _repair(a, left, right, edges, ends, limits, u, v, gu, gv, hu, hv, z):
    """Fill z with a feasible point near that of (u, v); return the duality gap of the two.

    gu and gv are what is left of each limit at (u, v); hu and hv become what is left at z. The gap
    is a sum of terms >= 0: no cancellation.
    """
    for i in range(ends[0], ends[1]):
        hu[i] = limits[0][i]
        gu[i] = limits[0][i] / (limits[0][i] - gu[i]) if gu[i] < 0.0 else 1.0
    for j in range(ends[2], ends[3]):
        hv[j] = limits[1][j]
        gv[j] = limits[1][j] / (limits[1][j] - gv[j]) if gv[j] < 0.0 else 1.0
    gap = 0.0
    for e in range(edges[0], edges[1]):
        i, j = left[e], right[e]
        t = a[e] - u[i] - v[j]
        near = _clip(t)
        z[e] = near * min(gu[i], gv[j])
        step = z[e] - near
        gap += 0.5 * step * step + (near - t) * step
        hu[i] -= z[e]
        hv[j] -= z[e]
    for i in range(ends[0], ends[1]):
        gap += u[i] * max(hu[i], 0.0)
    for j in range(ends[2], ends[3]):
        gap += v[j] * max(hv[j], 0.0)
    return gap


@numba.njit(cache=True, nogil=True)
def _residual(a, left, right, edges, ends, limits, u, v, gu, gv, hu, hv):
    """Fill the gradients and the diagonal of the Newton matrix; return the natural residual."""
    for i in range(ends[0], ends[1]):
        gu[i], hu[i] = limits[0][i], 0.0
    for j in range(ends[2], ends[3]):
        gv[j], hv[j] = limits[1][j], 0.0
    for e in range(edges[0], edges[1]):
        i, j = left[e], right[e]
        t = a[e] - u[i] - v[j]
        if t > 0.0:
            z = min(t, 1.0)
            gu[i] -= z
            gv[j] -= z
            if t < 1.0:
                hu[i] += 1.0
                hv[j] += 1.0
    worst = 0.0
    for i in range(ends[0], ends[1]):
        worst = max(worst, abs(min(u[i], gu[i])))
    for j in range(ends[2], ends[3]):
        worst = max(worst, abs(min(v[j], gv[j])))
    return worst


@numba.njit(cache=True, nogil=True)
def _direction(a, left, right, left_ptr, ends, u, v, gu, gv, hu, hv, tiny, du, dv, S, active):
    """Fill (du, dv) with the Newton step; left multipliers are eliminated first."""
    n_right = ends[3] - ends[2]
    for j in range(ends[2], ends[3]):
        k = j - ends[2]
        for c in range(k + 1):
            S[k, c] = 0.0
        if v[j] <= tiny and gv[j] > 0.0:
            hv[j] = -1.0  # held at 0
            dv[j] = -v[j]
            S[k, k] = 1.0
        else:
            S[k, k] = hv[j] + RIDGE * (1.0 + hv[j]) + (1.0 if hv[j] == 0.0 else 0.0)
            dv[j] = -gv[j]
    for i in range(ends[0], ends[1]):
        if u[i] <= tiny and gu[i] > 0.0:
            hu[i] = -1.0
            continue
        hu[i] += RIDGE * (1.0 + hu[i]) + (1.0 if hu[i] == 0.0 else 0.0)
        inverse = 1.0 / hu[i]
        count = 0
        for e in range(left_ptr[i], left_ptr[i + 1]):
            j = right[e]
            if hv[j] >= 0.0 and 0.0 < a[e] - u[i] - v[j] < 1.0:
                dv[j] += gu[i] * inverse
                active[count] = j - ends[2]
                count += 1
                for c in range(count):
                    k = active[c]
                    S[max(j - ends[2], k), min(j - ends[2], k)] -= inverse
    # Cholesky of the Schur complement, in place, and the two triangular solves
    for k in range(n_right):
        if hv[ends[2] + k] < 0.0:
            continue
        pivot = S[k, k]
        for c in range(k):
            pivot -= S[k, c] * S[k, c]
        pivot = np.sqrt(max(pivot, 1e-12))
        S[k, k] = pivot
        for r in range(k + 1, n_right):
            entry = S[r, k]
            for c in range(k):
                entry -= S[r, c] * S[k, c]
            S[r, k] = entry / pivot
    for k in range(n_right):
        j = ends[2] + k
        if hv[j] < 0.0:
            continue
        for c in range(k):
            if hv[ends[2] + c] >= 0.0:
                dv[j] -= S[k, c] * dv[ends[2] + c]
        dv[j] /= S[k, k]
    for k in range(n_right - 1, -1, -1):
        j = ends[2] + k
        if hv[j] < 0.0:
            continue
        for r in range(k + 1, n_right):
            if hv[ends[2] + r] >= 0.0:
                dv[j] -= S[r, k] * dv[ends[2] + r]
        dv[j] /= S[k, k]
    for i in range(ends[0], ends[1]):
        if hu[i] < 0.0:
            du[i] = -u[i]
            continue
        step = -gu[i]
        for e in range(left_ptr[i], left_ptr[i + 1]):
            j = right[e]
            if hv[j] >= 0.0 and 0.0 < a[e] - u[i] - v[j] < 1.0:
                step -= dv[j]
        du[i] = step / hu[i]


@numba.njit(cache=True, nogil=True)
def project(
    a, offsets, left, right, left_ptr, right_ptr, by_right, left_offsets, right_offsets,
    limit_left, limit_right, u, v, z, targets, gaps, warm, max_steps,
):  # fmt: skip
    """Project each pair's block of ``a``; fill z, the multipliers u, v and the gaps."""
    widest = 0
    for p in range(len(offsets) - 1):
        widest = max(widest, right_offsets[p + 1] - right_offsets[p])
    longest = 1
    for p in range(len(offsets) - 1):
        longest = max(longest, offsets[p + 1] - offsets[p])
    limits = (limit_left, limit_right)
    gu, hu, du = np.empty(len(u)), np.empty(len(u)), np.empty(len(u))
    gv, hv, dv = np.empty(len(v)), np.empty(len(v)), np.empty(len(v))
    nu, nv = np.empty(len(u)), np.empty(len(v))
    S, values = np.empty((widest, widest)), np.empty(longest)
    active = np.empty(widest, np.int64)
    for p in range(len(offsets) - 1):
        edges = (offsets[p], offsets[p + 1])
        ends = (left_offsets[p], left_offsets[p + 1], right_offsets[p], right_offsets[p + 1])
        largest = 0.0
        for e in range(edges[0], edges[1]):
            largest = max(largest, abs(a[e]))
        rounding = 4e-16 * (1.0 + largest)
        if not warm:
            u[ends[0] : ends[1]] = 0.0
            v[ends[2] : ends[3]] = 0.0
            for _ in range(SWEEPS):
                _sweep(a, left, right, left_ptr, right_ptr, by_right, ends, limits, u, v, values)
        value = _dual(a, left, right, edges, ends, limits, u, v)
        best = np.inf
        for step in range(max_steps):
            worst = _residual(a, left, right, edges, ends, limits, u, v, gu, gv, hu, hv)
            expected = 0.0
            for i in range(ends[0], ends[1]):
                expected += u[i] * abs(gu[i])
            for j in range(ends[2], ends[3]):
                expected += v[j] * abs(gv[j])
            if expected <= 2.0 * targets[p] or worst <= rounding or step == max_steps - 1:
                gaps[p] = _repair(a, left, right, edges, ends, limits, u, v, gu, gv, hu, hv, z)
                # at the level of rounding more steps may do nothing
                if gaps[p] <= targets[p] or worst <= rounding or gaps[p] >= best:
                    break
                best = gaps[p]
                _residual(a, left, right, edges, ends, limits, u, v, gu, gv, hu, hv)
            tiny = min(FIXED, worst)
            _direction(
                a, left, right, left_ptr, ends, u, v, gu, gv, hu, hv, tiny, du, dv, S, active
            )
            size, accepted = 1.0, False
            for _ in range(TRIALS):
                slope = 0.0
                for i in range(ends[0], ends[1]):
                    nu[i] = max(u[i] + size * du[i], 0.0)
                    slope += gu[i] * (nu[i] - u[i])
                for j in range(ends[2], ends[3]):
                    nv[j] = max(v[j] + size * dv[j], 0.0)
                    slope += gv[j] * (nv[j] - v[j])
                after = _dual(a, left, right, edges, ends, limits, nu, nv)
                if after <= value + DECREASE * min(slope, 0.0) + 1e-15 * abs(value):
                    accepted = True
                    break
                size *= SHRINK
            if accepted:
                u[ends[0] : ends[1]] = nu[ends[0] : ends[1]]
                v[ends[2] : ends[3]] = nv[ends[2] : ends[3]]
                value = after
            if not accepted or size < 0.9:
                _sweep(a, left, right, left_ptr, right_ptr, by_right, ends, limits, u, v, values)
                value = _dual(a, left, right, edges, ends, limits, u, v)
