"""Compiled message passing on pairwise Markov nets of any shape.

Potentials are reparametrised, never changed in sum: with messages delta[e, side, label],

    theta_s = unary_s + sum of delta[e, side of s],    theta_e = pair_e - delta[e, 0] - delta[e, 1],

and ``sum_s max theta_s + sum_e max theta_e`` bounds every labelling's score, whatever the messages.
A node first collects what its edges offer (their max-marginals), then hands shares of it on to the
edges ahead of it; neither step can raise the bound. Shares of 1 / max(edges behind, edges ahead)
make this sequential reweighted message passing (Kolmogorov's TRW-S); on a forest in the order of a
search from its roots, a share of 1 makes the first pass exact dynamic programming.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def collect(s, theta, delta, pair, inc_ptr, inc_edge, inc_side):
    n_labels = theta.shape[1]
    for p in range(inc_ptr[s], inc_ptr[s + 1]):
        e, side = inc_edge[p], inc_side[p]
        for j in range(n_labels):
            best = -np.inf
            for k in range(n_labels):
                v = pair[e, j, k] - delta[e, 1, k] if side == 0 else pair[e, k, j] - delta[e, 0, k]
                if v > best:
                    best = v
            gain = best - delta[e, side, j]
            delta[e, side, j] += gain
            theta[s, j] += gain


@njit(cache=True, nogil=True)
def sweep(order, theta, delta, pair, edges, inc_ptr, inc_edge, inc_side, all_ahead):
    # visit nodes in decreasing (order = -1) or increasing (+1) number, handing on in that direction
    n_nodes, n_labels = theta.shape
    for step in range(n_nodes):
        s = step if order > 0 else n_nodes - 1 - step
        collect(s, theta, delta, pair, inc_ptr, inc_edge, inc_side)
        ahead = 0
        for p in range(inc_ptr[s], inc_ptr[s + 1]):
            other = edges[inc_edge[p], 1 - inc_side[p]]
            ahead += (other - s) * order > 0
        if ahead == 0:
            continue
        behind = inc_ptr[s + 1] - inc_ptr[s] - ahead
        share = 1.0 / (ahead if all_ahead else max(ahead, behind))
        for p in range(inc_ptr[s], inc_ptr[s + 1]):
            e, side = inc_edge[p], inc_side[p]
            if (edges[e, 1 - side] - s) * order > 0:
                for j in range(n_labels):
                    delta[e, side, j] -= share * theta[s, j]
        for j in range(n_labels):
            theta[s, j] *= 1.0 - share * ahead


@njit(cache=True, nogil=True)
def rounded(theta, delta, pair, edges, inc_ptr, inc_edge, inc_side):
    # the best label given those of lower nodes, node by node
    n_nodes, n_labels = theta.shape
    labels = np.zeros(n_nodes, np.int64)
    value = np.empty(n_labels)
    for s in range(n_nodes):
        value[:] = theta[s]
        for p in range(inc_ptr[s], inc_ptr[s + 1]):
            e, side = inc_edge[p], inc_side[p]
            other = edges[e, 1 - side]
            if other < s:
                y = labels[other]
                for j in range(n_labels):
                    v = pair[e, j, y] if side == 0 else pair[e, y, j]
                    value[j] += v - delta[e, side, j]
        labels[s] = np.argmax(value)
    return labels


@njit(cache=True, nogil=True)
def score(unary, pair, edges, labels):
    total = 0.0
    for s in range(len(labels)):
        total += unary[s, labels[s]]
    for e in range(len(edges)):
        total += pair[e, labels[edges[e, 0]], labels[edges[e, 1]]]
    return total


@njit(cache=True, nogil=True)
def bound(theta, delta, pair):
    total = 0.0
    for s in range(len(theta)):
        total += theta[s].max()
    for e in range(len(pair)):
        best = -np.inf
        for j in range(theta.shape[1]):
            for k in range(theta.shape[1]):
                v = pair[e, j, k] - delta[e, 0, j] - delta[e, 1, k]
                if v > best:
                    best = v
        total += best
    return total


@njit(cache=True, nogil=True)
def decode(unary, pair, edges, inc_ptr, inc_edge, inc_side, forest, max_sweeps, enough):
    # labels, their score and an upper bound on every score; stops when they meet within `enough`,
    # or when ten sweeps close less than a thousandth of what is open
    theta = unary.copy()
    delta = np.zeros((len(pair), 2, unary.shape[1]))
    labels = np.zeros(len(unary), np.int64)
    best, least, mark = -np.inf, np.inf, np.inf
    for it in range(max_sweeps):
        sweep(-1, theta, delta, pair, edges, inc_ptr, inc_edge, inc_side, forest)
        found = rounded(theta, delta, pair, edges, inc_ptr, inc_edge, inc_side)
        value = score(unary, pair, edges, found)
        if value > best:
            best, labels = value, found
        least = min(least, bound(theta, delta, pair))
        if forest or least - best <= enough:
            break
        if it % 10 == 9:
            if mark - least <= 1e-3 * (least - best):
                break
            mark = least
        sweep(1, theta, delta, pair, edges, inc_ptr, inc_edge, inc_side, forest)
    return labels, best, least
