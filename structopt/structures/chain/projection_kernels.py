"""Compiled projection on the marginal polytope of chains.

    min 1/2 |n - v|^2 + 1/2 |e - u|^2    over node marginals n_t and edge marginals e_t >= 0,
    s.t. sum_k e_t(j, k) = n_t(j)  (multipliers left_t),   sum_j e_t(j, k) = n_{t+1}(k)  (right_t),
         n_t on the simplex.

Given multipliers the minimum is e = max(0, u - left - right), n_t = simplex(v_t + left_t +
right_{t-1}), and the dual rises along the residuals with the step 1 / (2K + 2), since a row of
constraints touches K edges and one node and no multiplier meets more than K + 1 others. Momentum is
dropped when it points downhill. Pushing n_0 forward through e / rows(e) gives a feasible point, and
its distance from the projection is at most sqrt(2 gap).

Where transitions are forbidden (``allowed``, start and end last), their e is 0, the first and the
last node live on fewer labels, and mass is pushed only where a way to the end is left:
``ahead[s, k]`` says whether k may stand s positions before the end. Without, both are None, and
numba leaves those branches out.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def onto_simplex(v, out):
    # max(v - theta, 0) with sum 1: entries below theta leave the sum until none does
    n = len(v)
    theta = -np.inf
    while True:
        total, count = -1.0, 0
        for k in range(n):
            if v[k] > theta:
                total += v[k]
                count += 1
        new = total / count
        if new <= theta:
            break
        theta = new
    for k in range(n):
        out[k] = max(v[k] - theta, 0.0)


@njit(cache=True, nogil=True)
def close_ends(aim, t, length, allowed):
    # labels that may not stand at the first or the last position
    n_labels = len(aim)
    for k in range(n_labels):
        if (t == 0 and not allowed[n_labels, k]) or (t == length - 1 and not allowed[k, n_labels]):
            aim[k] = -np.inf


@njit(cache=True, nogil=True)
def minimum(node, edge, left, right, n_out, e_out, grad_left, grad_right, allowed):
    # the minimiser of the Lagrangian, the dual's gradient, and its value
    length, n_labels = node.shape
    value = 0.0
    aim = np.empty(n_labels)
    for t in range(length):
        for k in range(n_labels):
            aim[k] = node[t, k]
            if t < length - 1:
                aim[k] += left[t, k]
            if t > 0:
                aim[k] += right[t - 1, k]
        if allowed is not None:
            close_ends(aim, t, length, allowed)
        onto_simplex(aim, n_out[t])
        for k in range(n_labels):
            far = n_out[t, k] - node[t, k]
            value += 0.5 * far * far
    for t in range(length - 1):
        for k in range(n_labels):
            grad_left[t, k] = -n_out[t, k]
            grad_right[t, k] = -n_out[t + 1, k]
        for j in range(n_labels):
            for k in range(n_labels):
                e = edge[t, j, k] - left[t, j] - right[t, k]
                e = e if e > 0.0 else 0.0
                if allowed is not None:
                    e = e if allowed[j, k] else 0.0
                e_out[t, j, k] = e
                far = e - edge[t, j, k]
                value += 0.5 * far * far
                grad_left[t, j] += e
                grad_right[t, k] += e
        for k in range(n_labels):
            value += left[t, k] * grad_left[t, k] + right[t, k] * grad_right[t, k]
    return value


@njit(cache=True, nogil=True)
def open_steps(row, may, spread):
    # drop what may not be from a row; spread is what replaces a row without mass
    count = 0
    for k in range(len(row)):
        spread[k] = 1.0 if may[k] else 0.0
        row[k] = row[k] if may[k] else 0.0
        count += may[k]
    for k in range(len(row)):
        spread[k] /= max(count, 1)


@njit(cache=True, nogil=True)
def repair(node, edge, n, e, allowed, ahead):
    # push n[0] forward, in place; return half the squared distance from (node, edge)
    length, n_labels = node.shape
    value = 0.0
    spread = np.empty(n_labels)
    if allowed is not None:
        open_steps(n[0], allowed[n_labels, :n_labels] & ahead[length - 1], spread)
        total = n[0].sum()
        n[0] = n[0] / total if total > 1e-12 else spread
    for t in range(length):
        if t > 0:
            n_next = np.zeros(n_labels)
            for j in range(n_labels):
                spread[:] = n[t]
                if allowed is not None:
                    may = allowed[j, :n_labels] & ahead[length - 1 - t]
                    open_steps(e[t - 1, j], may, spread)
                row = e[t - 1, j].sum()
                for k in range(n_labels):
                    share = e[t - 1, j, k] / row if row > 1e-12 else spread[k]
                    e[t - 1, j, k] = n[t - 1, j] * share
                    n_next[k] += e[t - 1, j, k]
                    far = e[t - 1, j, k] - edge[t - 1, j, k]
                    value += 0.5 * far * far
            n[t] = n_next
        for k in range(n_labels):
            far = n[t, k] - node[t, k]
            value += 0.5 * far * far
    return value


@njit(cache=True, nogil=True)
def project_one(node, edge, left, right, n_best, e_best, wanted, max_sweeps, allowed, ahead):
    # wanted: gap to stop at; left and right are started from and updated; returns the gap
    length, n_labels = node.shape
    if length == 1:
        aim = node[0].copy()
        if allowed is not None:
            close_ends(aim, 0, 1, allowed)
        onto_simplex(aim, n_best[0])
        return 0.0
    step = 1.0 / (2 * n_labels + 2)
    ahead_left, ahead_right = left.copy(), right.copy()
    grad_left, grad_right = np.empty(left.shape), np.empty(right.shape)
    n, e = np.empty(node.shape), np.empty(edge.shape)
    best, bound, pace = np.inf, -np.inf, 1.0
    for sweep in range(max_sweeps):
        if sweep % 10 == 0:
            value = minimum(node, edge, left, right, n, e, grad_left, grad_right, allowed)
            bound = max(bound, value)
            reached = repair(node, edge, n, e, allowed, ahead)
            if reached < best:
                best = reached
                n_best[:], e_best[:] = n, e
            if best - bound <= wanted:
                break
        minimum(node, edge, ahead_left, ahead_right, n, e, grad_left, grad_right, allowed)
        faster = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * pace * pace))
        keep = (pace - 1.0) / faster
        along = 0.0
        for t in range(length - 1):
            for k in range(n_labels):
                new_left = ahead_left[t, k] + step * grad_left[t, k]
                new_right = ahead_right[t, k] + step * grad_right[t, k]
                way_left, way_right = new_left - left[t, k], new_right - right[t, k]
                along += grad_left[t, k] * way_left + grad_right[t, k] * way_right
                ahead_left[t, k] = new_left + keep * way_left
                ahead_right[t, k] = new_right + keep * way_right
                left[t, k], right[t, k] = new_left, new_right
        pace = faster
        if along < 0.0:
            pace = 1.0
            ahead_left[:], ahead_right[:] = left, right
    return max(best - bound, 0.0)


@njit(cache=True, nogil=True)
def project(node, edge, offsets, left, right, wanted, max_sweeps, allowed, ahead):
    # sequence i has nodes offsets[i]..offsets[i+1] and edges offsets[i]-i..offsets[i+1]-i-1
    n_out, e_out = np.empty(node.shape), np.empty(edge.shape)
    total = 0.0
    for i in range(len(offsets) - 1):
        a, b = offsets[i], offsets[i + 1]
        p, q = a - i, b - i - 1
        total += project_one(
            node[a:b],
            edge[p:q],
            left[p:q],
            right[p:q],
            n_out[a:b],
            e_out[p:q],
            wanted,
            max_sweeps,
            allowed,
            ahead,
        )
    return n_out, e_out, total
