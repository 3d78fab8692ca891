"""Compiled projection on products of cut polytopes: the method is in `projection.py`."""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True, nogil=True, inline="always")
def _clip(t):
    return 0.0 if t < 0.0 else (1.0 if t > 1.0 else t)


@numba.njit(cache=True, nogil=True, inline="always")
def _prox(f, t, b):
    """Return argmin_x h(b + |x|) + (x - f)^2 / (2 t), h' = clip(., 0, 1)."""
    size = abs(f)
    if b + size <= 0.0:
        return f
    x = (size - t * b) / (1.0 + t)
    if b + x >= 1.0:
        x = size - t
    if b + x < 0.0:
        x = -b
    if x < 0.0:
        x = 0.0
    return x if f > 0.0 else -x


@numba.njit(cache=True, nogil=True)
def _finish(b, tail, head, first, last, r, f, z_edge):
    """Fill z_edge with the feasible point of (r, f); return the gap, a sum of terms >= 0."""
    gap = 0.0
    for e in range(first, last):
        apart = _clip(r[tail[e]]) - _clip(r[head[e]])
        z_edge[e] = max(abs(apart), _clip(b[e]))
        near = _clip(b[e] + abs(f[e]))
        step = z_edge[e] - near
        gap += 0.5 * step * step + (near - b[e] - abs(f[e])) * step
        gap += abs(f[e]) * z_edge[e] - f[e] * apart
    return gap


@numba.njit(cache=True, nogil=True)
def project(
    a, b, tail, head, steps, node_offsets, edge_offsets, f, z_node, z_edge, targets, gaps,
    max_steps, spacing,
):  # fmt: skip
    """Project each graph's block of (a, b); fill z, the multipliers f and the gaps."""
    r, before, fresh = a.copy(), np.empty(len(a)), np.empty(len(a))
    y = f.copy()
    for g in range(len(node_offsets) - 1):
        low, high = node_offsets[g], node_offsets[g + 1]
        first, last = edge_offsets[g], edge_offsets[g + 1]
        for e in range(first, last):
            r[tail[e]] -= f[e]
            r[head[e]] += f[e]
        before[low:high] = r[low:high]
        gaps[g] = _finish(b, tail, head, first, last, r, f, z_edge)
        momentum, t = 0.0, 1.0
        step, look = 0, 2
        while gaps[g] > targets[g] and step < max_steps:
            step += 1
            for j in range(low, high):
                z_node[j] = _clip(r[j] + momentum * (r[j] - before[j]))
                fresh[j] = a[j]
            after = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t))
            momentum = (t - 1.0) / after
            turn = 0.0
            for e in range(first, last):
                i, j = tail[e], head[e]
                new = _prox(y[e] + steps[e] * (z_node[i] - z_node[j]), steps[e], b[e])
                change = new - f[e]
                turn += (y[e] - new) * change / steps[e]
                fresh[i] -= new
                fresh[j] += new
                y[e] = new + momentum * change
                f[e] = new
            t = after
            for j in range(low, high):
                before[j] = r[j]
                r[j] = fresh[j]
            if turn > 0.0:  # the momentum points uphill: start it anew
                t, momentum = 1.0, 0.0
                y[first:last] = f[first:last]
            if step >= look or step == max_steps:
                look = 2 + int(spacing * step)
                gaps[g] = _finish(b, tail, head, first, last, r, f, z_edge)
        for j in range(low, high):
            z_node[j] = _clip(r[j])
