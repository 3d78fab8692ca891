"""Compiled loops of the dual ascent (see :mod:`structopt.backends.ascent.backend` for the method).

A group's planes share a list of distinct parts (:mod:`.plane_kernels`), so that one visit costs one
product per distinct part, however many planes use it.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from structopt.backends.ascent.plane_kernels import part_products


@njit(cache=True, inline="always")
def raise_by(slope, square, room):
    """Return the best step of one multiplier upwards, and its gain."""
    if slope <= 0.0 or room <= 0.0:
        return 0.0, 0.0
    step = min(slope / max(square, 1e-300), room)
    return step, step * slope - 0.5 * step * step * square


@njit(cache=True, inline="always")
def charge(total, knee, give):
    """Return the conjugate ``give / 2 (total - knee)_+^2`` of what a slack costs."""
    over = max(0.0, total - knee)
    return 0.5 * give * over * over


@njit(cache=True, inline="always")
def raise_soft(slope, square, room, total, knee, give):
    """Return the best step upwards of a multiplier whose group has a load, and its gain."""
    step, gain = raise_by(slope, square, room)
    if give == 0.0 or step <= 0.0 or total + step <= knee:
        return step, gain
    step = (slope - give * (total - knee)) / (square + give)
    if step <= 0.0:
        return 0.0, 0.0
    step = min(step, room)
    gain = step * slope - 0.5 * step * step * square
    return step, gain - charge(total + step, knee, give) + charge(total, knee, give)


@njit(cache=True, inline="always")
def lower_soft(slope, square, room, total, knee, give):
    """Return the best step downwards of a multiplier whose group has a load, and its gain."""
    over = max(0.0, total - knee)
    if give == 0.0 or over == 0.0:
        return raise_by(-slope, square, room)
    step = (give * over - slope) / (square + give)
    if step > over:  # beyond the knee nothing is given
        step = max(over, -slope / max(square, 1e-300))
    if step <= 0.0:
        return 0.0, 0.0
    step = min(step, room)
    gain = -step * slope - 0.5 * step * step * square
    return step, gain - charge(total - step, knee, give) + charge(total, knee, give)


@njit(cache=True)
def settle_block(slope, gram, alpha, soft, c, cap, knee, give, total, steps):
    """Maximise ``slope.d - 1/2 d'Gd - charge`` over alpha + d >= 0, sum of the soft ones <= cap.

    Each step takes the best of: raise the steepest plane (soft or hard), lower the flattest, move
    from one soft plane to another (SMO). ``total`` is the sum of the soft multipliers.
    """
    for _ in range(steps):
        up, firm, down, drop = -1, -1, -1, -1  # steepest soft, hard; flattest soft, hard
        for r in range(c):
            if soft[r]:
                if up < 0 or slope[r] > slope[up]:
                    up = r
                if alpha[r] > 0.0 and (down < 0 or slope[r] < slope[down]):
                    down = r
            else:
                if firm < 0 or slope[r] > slope[firm]:
                    firm = r
                if alpha[r] > 0.0 and (drop < 0 or slope[r] < slope[drop]):
                    drop = r
        best, to, off, step = 0.0, -1, -1, 0.0
        if up >= 0:
            s, gain = raise_soft(slope[up], gram[up * c + up], cap - total, total, knee, give)
            if gain > best:
                best, to, off, step = gain, up, -1, s
            if down >= 0 and down != up:
                width = gram[up * c + up] + gram[down * c + down] - 2.0 * gram[up * c + down]
                s, gain = raise_by(slope[up] - slope[down], width, alpha[down])
                if gain > best:
                    best, to, off, step = gain, up, down, s
        if down >= 0:
            s, gain = lower_soft(slope[down], gram[down * c + down], alpha[down], total, knee, give)
            if gain > best:
                best, to, off, step = gain, -1, down, s
        if firm >= 0:
            s, gain = raise_by(slope[firm], gram[firm * c + firm], np.inf)
            if gain > best:
                best, to, off, step = gain, firm, -1, s
        if drop >= 0:
            s, gain = raise_by(-slope[drop], gram[drop * c + drop], alpha[drop])
            if gain > best:
                best, to, off, step = gain, -1, drop, s
        if best <= 1e-300:
            break
        if to >= 0:
            alpha[to] += step
            for r in range(c):
                slope[r] -= step * gram[to * c + r]
        if off >= 0:
            alpha[off] = 0.0 if step == alpha[off] else alpha[off] - step
            for r in range(c):
                slope[r] += step * gram[off * c + r]
        if to >= 0 and off < 0 and soft[to]:
            total = cap if step == cap - total else total + step
        elif off >= 0 and to < 0 and soft[off]:
            total -= step


@njit(cache=True, inline="always")
def settled(need, cap, knee, give):
    """Return the slack that costs least among those of at least ``need``, and what it costs.

    Its price rises from the knee by 1 / give a unit, up to the cap.
    """
    if give == 0.0:
        return need, cap * need
    slack = max(need, -knee * give)
    bend = min(slack, (cap - knee) * give)
    beyond = cap * (slack - bend) if slack > bend else 0.0
    return slack, knee * bend + 0.5 * bend * bend / give + beyond


@njit(cache=True)
def sweep(order, group_ptr, ptr, local, coef, rhs, soft, part_ptr, part_source, part_offset,
          gram_ptr, gram, indptr, indices, data, cap, knee, give, alpha, gaps, violated,
          v, w, inverse, linear, l1, lb, ub, pure, steps):  # fmt: skip
    """Visit groups in order; leave each group's gap, as it was before the visit, in ``gaps``.

    ``violated`` takes by how much the worst of the group's hard rows was broken.
    """
    most_planes, most_parts = 1, 1
    for g in range(len(group_ptr) - 1):
        most_planes = max(most_planes, group_ptr[g + 1] - group_ptr[g])
        most_parts = max(most_parts, part_ptr[g + 1] - part_ptr[g])
    slope = np.empty(most_planes)
    before = np.empty(most_planes)
    products = np.empty(most_parts)
    for o in range(len(order)):
        g = order[o]
        first = group_ptr[g]
        c = group_ptr[g + 1] - first
        part_products(part_ptr[g], part_ptr[g + 1], part_source, part_offset,
                      indptr, indices, data, w, products)  # fmt: skip
        total, used, worst, price, broken = 0.0, 0.0, 0.0, 0.0, 0.0
        for a in range(c):
            r = first + a
            s = rhs[r]
            for p in range(ptr[r], ptr[r + 1]):
                s -= coef[p] * products[local[p]]
            slope[a] = s
            before[a] = alpha[r]
            used += alpha[r] * s
            if soft[r]:
                total += alpha[r]
                worst = max(worst, s)
            else:
                price += alpha[r]
                broken = max(broken, s)
        violated[g] = broken
        _, cost = settled(worst, cap[g], knee[g], give[g])
        gaps[g] = (cost if worst > 0.0 or give[g] > 0.0 else 0.0) + price * broken - used
        gaps[g] += charge(total, knee[g], give[g])
        settle_block(slope, gram[gram_ptr[g] : gram_ptr[g + 1]], alpha[first : first + c],
                     soft[first : first + c], c, cap[g], knee[g], give[g], total,
                     steps)  # fmt: skip
        n_parts = part_ptr[g + 1] - part_ptr[g]
        for k in range(n_parts):
            products[k] = 0.0
        for a in range(c):
            change = alpha[first + a] - before[a]
            if change != 0.0:
                for p in range(ptr[first + a], ptr[first + a + 1]):
                    products[local[p]] += change * coef[p]
        for k in range(n_parts):
            change = products[k]
            if change == 0.0:
                continue
            part = part_ptr[g] + k
            shift = part_offset[part]
            for q in range(indptr[part_source[part]], indptr[part_source[part] + 1]):
                j = shift + indices[q]
                if pure:
                    w[j] += change * data[q] * inverse[j]
                else:
                    v[j] += change * data[q]
                    w[j] = respond(v[j] - linear[j], l1[j], inverse[j], lb[j], ub[j])


@njit(cache=True)
def push(group_ptr, soft, cap, beta, alpha, before):
    """Move alpha to a feasible point near ``alpha + beta (alpha - before)``.

    ``before`` becomes what alpha was; return how far the feasible point is off.
    """
    off = np.zeros(len(alpha))
    for g in range(len(group_ptr) - 1):
        total = 0.0
        for r in range(group_ptr[g], group_ptr[g + 1]):
            here = alpha[r]
            ahead = here + beta * (here - before[r])
            before[r] = here
            alpha[r] = max(ahead, 0.0)
            off[r] = alpha[r] - ahead
            if soft[r]:
                total += alpha[r]
        if total > cap[g]:
            fits = cap[g] / total
            for r in range(group_ptr[g], group_ptr[g + 1]):
                if soft[r]:
                    off[r] -= (1.0 - fits) * alpha[r]
                    alpha[r] *= fits
    return off


@njit(cache=True, inline="always")
def respond(pull, l1, inverse, lb, ub):
    """Return the minimiser of ``1/(2 inverse) w^2 - pull w + l1 |w|`` over lb <= w <= ub."""
    x = 0.0
    if pull > l1:
        x = (pull - l1) * inverse
    elif pull < -l1:
        x = (pull + l1) * inverse
    return min(max(x, lb), ub)


@njit(cache=True)
def responses(v, linear, l1, inverse, lb, ub):
    """Return the weights that v gives."""
    w = np.empty(len(v))
    for j in range(len(v)):
        w[j] = respond(v[j] - linear[j], l1[j], inverse[j], lb[j], ub[j])
    return w


@njit(cache=True)
def charges(group_ptr, soft, alpha, knee, give):
    """Return the sum of what the groups' loads are charged."""
    paid = 0.0
    for g in range(len(group_ptr) - 1):
        if give[g] > 0.0:
            total = 0.0
            for r in range(group_ptr[g], group_ptr[g + 1]):
                if soft[r]:
                    total += alpha[r]
            paid += charge(total, knee[g], give[g])
    return paid
