"""Compiled projection on unit flows through acyclic graphs.

    min 1/2 |z - v|^2   over z >= 0,   s.t. what enters a node leaves it (multipliers u), the source
    sends 1, and the sink, the last node, keeps it (u = 0).

Given multipliers the minimum is z_e = max(0, v_e + u_tail - u_head), and the dual rises along the
excess of every node. An edge meets two nodes, so steps of 1 / (2 degree) are short enough: the
incidence matrix with its rows divided by the root of their degrees has a squared norm of at most 2.
Momentum is dropped when it points downhill. Pushing 1 from the source forward in the proportions of
z gives a flow, and its distance from the projection is at most sqrt(2 gap).

Nodes stand in topological order, edges in that of their tails; every node lies on a path from the
source, the first one, to the sink.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def on_a_path(tail, head, node_ptr):
    # which edges lie on a path from source to sink
    reached = np.zeros(node_ptr[-1], np.bool_)
    leads = np.zeros(node_ptr[-1], np.bool_)
    for i in range(len(node_ptr) - 1):
        reached[node_ptr[i]] = True
        leads[node_ptr[i + 1] - 1] = True
    for e in range(len(tail)):
        if reached[tail[e]]:
            reached[head[e]] = True
    for e in range(len(tail) - 1, -1, -1):
        if leads[head[e]]:
            leads[tail[e]] = True
    return reached[tail] & leads[head]


@njit(cache=True, nogil=True)
def minimum(v, tail, head, u, z, excess):
    # the minimiser of the Lagrangian, the dual's gradient, and its value
    value = 0.0
    excess[:] = 0.0
    excess[0] = 1.0
    for e in range(len(v)):
        flow = v[e] + u[tail[e]] - u[head[e]]
        flow = flow if flow > 0.0 else 0.0
        z[e] = flow
        excess[tail[e]] -= flow
        excess[head[e]] += flow
        value += 0.5 * (flow - v[e]) * (flow - v[e])
    excess[-1] = 0.0
    for k in range(len(u)):
        value += u[k] * excess[k]
    return value


@njit(cache=True, nogil=True)
def push(v, head, out_ptr, z, mass):
    # make z a flow, in place; return half its squared distance from v
    value = 0.0
    mass[:] = 0.0
    mass[0] = 1.0
    for k in range(len(mass) - 1):
        a, b = out_ptr[k], out_ptr[k + 1]
        total = z[a:b].sum()
        for e in range(a, b):
            z[e] = mass[k] * (z[e] / total if total > 1e-12 else 1.0 / (b - a))
            mass[head[e]] += z[e]
            value += 0.5 * (z[e] - v[e]) * (z[e] - v[e])
    return value


@njit(cache=True, nogil=True)
def project_one(v, tail, head, out_ptr, u, nearest, wanted, max_sweeps):
    # wanted: gap to stop at; u is started from and updated; returns the gap
    n = len(u)
    step = np.zeros(n)
    for e in range(len(v)):
        step[tail[e]] += 2.0
        step[head[e]] += 2.0
    step = 1.0 / np.maximum(step, 1.0)
    ahead, excess, mass = u.copy(), np.empty(n), np.empty(n)
    z = np.empty(len(v))
    best, bound, pace = np.inf, -np.inf, 1.0
    for sweep in range(max_sweeps):
        if sweep % 10 == 0:
            bound = max(bound, minimum(v, tail, head, u, z, excess))
            reached = push(v, head, out_ptr, z, mass)
            if reached < best:
                best = reached
                nearest[:] = z
            if best - bound <= wanted:
                break
        minimum(v, tail, head, ahead, z, excess)
        faster = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * pace * pace))
        keep = (pace - 1.0) / faster
        along = 0.0
        for k in range(n - 1):
            new = ahead[k] + step[k] * excess[k]
            way = new - u[k]
            along += excess[k] * way
            ahead[k] = new + keep * way
            u[k] = new
        pace = faster
        if along < 0.0:
            pace = 1.0
            ahead[:] = u
    return max(best - bound, 0.0)


@njit(cache=True, nogil=True)
def project(v, tail, head, out_ptr, node_ptr, u, wanted, max_sweeps):
    # graph i has the nodes node_ptr[i] .. node_ptr[i + 1] - 1, and the edges that leave them
    nearest, total = np.empty(len(v)), 0.0
    for i in range(len(node_ptr) - 1):
        a, b = node_ptr[i], node_ptr[i + 1]
        p, q = out_ptr[a], out_ptr[b]
        total += project_one(
            v[p:q], tail[p:q] - a, head[p:q] - a, out_ptr[a : b + 1] - p, u[a:b], nearest[p:q],
            wanted, max_sweeps,
        )  # fmt: skip
    return nearest, total
