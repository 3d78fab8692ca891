"""Compiled rules of the presolve, and their undoing (see :mod:`.presolve` for what they are)."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit

FAST = {"reassoc", "contract", "nsz", "arcp"}  # no "ninf": bounds are infinite

SINGLE, FIXED, SLACK, FORCING = 1.0, 2.0, 3.0, 4.0
"""Kinds of records: a row that is a bound, a column with one value, a column that is a slack of its
row, a row that leaves all its columns one value."""
WIDTH = 9
"""Numbers of a record: kind, row, column, coefficient or value, and what else undoing it needs."""

ROUNDS = 50
EQUAL = 1e-9  # sides that differ by less, relative, are met by rounding
BEYOND = 1e-7  # a row missed by more, relative, cannot hold
PIVOT = 1e-3  # a slack's coefficient, as a share of the largest of its row
STRICT = 1e-9  # a reduced cost beyond this keeps its sign


@njit(cache=True, nogil=True, fastmath=FAST)
def reach(A, i, lb, ub, cols):
    # the least and the largest value of row i within the bounds, and its largest coefficient
    ap, ai, ad = A
    least, most, big = 0.0, 0.0, 0.0
    for e in range(ap[i], ap[i + 1]):
        j, a = ai[e], ad[e]
        if cols[j] and a != 0.0:
            big = max(big, abs(a))
            least += a * (lb[j] if a > 0.0 else ub[j])
            most += a * (ub[j] if a > 0.0 else lb[j])
    return least, most, big


@njit(cache=True, nogil=True, fastmath=FAST)
def look_at_rows(A, lower, upper, lb, ub, rows, cols, in_row, in_column, rec, count, info):
    """Apply the rules of rows once; info[0]: changed, info[1]: row that cannot hold, info[2]: y."""
    ap, ai, ad = A
    for i in range(len(lower)):
        if not rows[i]:
            continue
        least, most, big = reach(A, i, lb, ub, cols)
        if least > upper[i] + BEYOND * (1.0 + abs(upper[i])):
            info[1], info[2] = i, -1.0
            return count
        if most < lower[i] - BEYOND * (1.0 + abs(lower[i])):
            info[1], info[2] = i, 1.0
            return count
        if least >= lower[i]:
            lower[i] = -np.inf
        if most <= upper[i]:
            upper[i] = np.inf
        gone = big == 0.0 or (lower[i] == -np.inf and upper[i] == np.inf)
        sign = 0.0
        if not gone and upper[i] < np.inf and least >= upper[i] - EQUAL * (1.0 + abs(upper[i])):
            sign = -1.0
        if not gone and lower[i] > -np.inf and most <= lower[i] + EQUAL * (1.0 + abs(lower[i])):
            sign = 1.0
        if sign != 0.0:  # forcing: every column at the bound that brings the row there
            rec[count, 0], rec[count, 1], rec[count, 2] = FORCING, i, sign
            count += 1
            for e in range(ap[i], ap[i + 1]):
                j, a = ai[e], ad[e]
                if cols[j] and a != 0.0:
                    v = ub[j] if (a > 0.0) == (sign > 0.0) else lb[j]
                    lb[j] = ub[j] = v
            gone = True
        elif not gone and in_row[i] == 1:
            count = bound_of(A, i, lower, upper, lb, ub, cols, rec, count)
            gone = True
        if gone:
            rows[i], info[0] = False, 1.0
            for e in range(ap[i], ap[i + 1]):
                in_column[ai[e]] -= 1
    return count


@njit(cache=True, nogil=True, fastmath=FAST)
def bound_of(A, i, lower, upper, lb, ub, cols, rec, count):
    # a row with one column bounds it; its reach was looked at: the bounds cannot cross by much
    ap, ai, ad = A
    for e in range(ap[i], ap[i + 1]):
        j, a = ai[e], ad[e]
        if cols[j] and a != 0.0:
            low, high = lower[i] / a, upper[i] / a
            if a < 0.0:
                low, high = high, low
            rec[count, 0], rec[count, 1], rec[count, 2], rec[count, 3] = SINGLE, i, j, a
            rec[count, 4] = 1.0 if low > lb[j] else 0.0
            rec[count, 5] = 1.0 if high < ub[j] else 0.0
            count += 1
            low, high = max(lb[j], low), min(ub[j], high)
            if low > high:
                low = high = 0.5 * (low + high)
            lb[j], ub[j] = low, high
    return count


@njit(cache=True, nogil=True, fastmath=FAST)
def dual_bounds(C, q, lower, upper, lb, ub, rows, cols, in_column, curved, low, high):
    # what the signs of sides, and columns of one row, say about the multipliers
    cp, ci, cd = C
    for i in range(len(lower)):
        low[i] = -np.inf if upper[i] < np.inf else 0.0
        high[i] = np.inf if lower[i] > -np.inf else 0.0
    for j in range(len(q)):
        if not cols[j] or curved[j] or in_column[j] != 1:
            continue
        for e in range(cp[j], cp[j + 1]):
            i, a = ci[e], cd[e]
            if rows[i] and a != 0.0:
                if ub[j] == np.inf:  # the reduced cost q - a y is at least 0
                    if a > 0.0:
                        high[i] = min(high[i], q[j] / a)
                    else:
                        low[i] = max(low[i], q[j] / a)
                if lb[j] == -np.inf:
                    if a > 0.0:
                        low[i] = max(low[i], q[j] / a)
                    else:
                        high[i] = min(high[i], q[j] / a)


@njit(cache=True, nogil=True, fastmath=FAST)
def value_of(C, j, q, lower, upper, lb, ub, rows, low, high):
    # the one value that column j can be given, NaN if there is none to be seen
    cp, ci, cd = C
    down, up, touched = True, True, False
    least = most = q[j]  # of the reduced cost
    for e in range(cp[j], cp[j + 1]):
        i, a = ci[e], cd[e]
        if rows[i] and a != 0.0:
            touched = True
            down = down and (lower[i] == -np.inf if a > 0.0 else upper[i] == np.inf)
            up = up and (upper[i] == np.inf if a > 0.0 else lower[i] == -np.inf)
            least -= a * (high[i] if a > 0.0 else low[i])
            most -= a * (low[i] if a > 0.0 else high[i])
    room = STRICT * (1.0 + abs(q[j]))
    if lb[j] > -np.inf and ((down and q[j] >= 0.0) or least > room):
        return lb[j]
    if ub[j] < np.inf and ((up and q[j] <= 0.0) or most < -room):
        return ub[j]
    if not touched and q[j] == 0.0:
        return min(max(0.0, lb[j]), ub[j])
    return np.nan


@njit(cache=True, nogil=True, fastmath=FAST)
def look_at_columns(
    A, C, P, q, lower, upper, lb, ub, rows, cols, in_row, in_column, curved, rec, count, info
):
    """Apply the rules of columns once; info[0]: changed, info[3]: constant of the objective."""
    (ap, ai, ad), (cp, ci, cd), (pp, pi, pd) = A, C, P
    low, high = np.empty(len(lower)), np.empty(len(lower))
    dual_bounds(C, q, lower, upper, lb, ub, rows, cols, in_column, curved, low, high)
    for j in range(len(q)):
        if not cols[j]:
            continue
        value = np.nan
        if lb[j] > -np.inf and ub[j] - lb[j] <= 1e-13 * (1.0 + abs(lb[j])):
            value = lb[j]
        elif not curved[j]:
            value = value_of(C, j, q, lower, upper, lb, ub, rows, low, high)
        if value == value:
            rec[count, 0], rec[count, 2], rec[count, 3] = FIXED, j, value
            count += 1
            cols[j], info[0] = False, 1.0
            info[3] += q[j] * value
            for e in range(cp[j], cp[j + 1]):
                i = ci[e]
                in_row[i] -= 1
                lower[i] -= cd[e] * value
                upper[i] -= cd[e] * value
            for e in range(pp[j], pp[j + 1]):
                if pi[e] == j:
                    info[3] += 0.5 * pd[e] * value * value
                elif cols[pi[e]]:
                    q[pi[e]] += pd[e] * value
        elif not curved[j] and in_column[j] == 1:
            for e in range(cp[j], cp[j + 1]):
                i, a = ci[e], cd[e]
                if not rows[i] or a == 0.0 or in_row[i] <= 1:
                    continue
                if q[j] != 0.0 and lower[i] != upper[i]:
                    continue
                if abs(a) < PIVOT * reach(A, i, lb, ub, cols)[2]:
                    continue
                shift = q[j] / a
                rec[count, 0], rec[count, 1], rec[count, 2] = SLACK, i, j
                rec[count, 3], rec[count, 4] = a, shift
                rec[count, 5], rec[count, 6] = lower[i], upper[i]
                rec[count, 7], rec[count, 8] = lb[j], ub[j]
                count += 1
                cols[j], info[0] = False, 1.0
                if shift != 0.0:
                    info[3] += shift * lower[i]
                    low[i] -= shift  # the row's multiplier is from now on what it is above that
                    high[i] -= shift
                    for f in range(ap[i], ap[i + 1]):
                        if cols[ai[f]]:
                            q[ai[f]] -= shift * ad[f]
                lower[i] -= a * (ub[j] if a > 0.0 else lb[j])
                upper[i] -= a * (lb[j] if a > 0.0 else ub[j])
                in_row[i] -= 1
    return count


@njit(cache=True, nogil=True, fastmath=FAST)
def reduce_all(A, C, P, q, lower, upper, lb, ub, l1, rows, cols, rec, info):
    """Apply all rules until nothing changes; return the number of records."""
    in_row, in_column = np.diff(A[0]), np.diff(C[0])
    curved = (np.diff(P[0]) > 0) | (l1 > 0.0)
    count, info[0], info[1] = 0, 1.0, -1.0
    rounds = 0
    while info[0] > 0.0 and rounds < ROUNDS:
        info[0] = 0.0
        rounds += 1
        count = look_at_rows(
            A, lower, upper, lb, ub, rows, cols, in_row, in_column, rec, count, info
        )
        if info[1] >= 0.0:
            return count
        count = look_at_columns(
            A, C, P, q, lower, upper, lb, ub, rows, cols, in_row, in_column, curved, rec, count,
            info,
        )  # fmt: skip
    return count


@njit(cache=True, nogil=True, fastmath=FAST)
def within(v, low, high, ray):
    # v in [low, high]; of a ray, in the directions that such bounds leave open
    if ray:
        low = 0.0 if low > -np.inf else low
        high = 0.0 if high < np.inf else high
    return min(max(v, low), high)


@njit(cache=True, nogil=True, fastmath=FAST)
def undo_all(A, C, P, q, cols, rec, count, x, y, ray):
    """Undo the records, last first; ``q`` and ``cols`` are as the reduction left them.

    Of a ray (of a homogeneous problem: no costs, and 0 for every finite bound), too.
    """
    ap, ai, ad = A
    pp, pi, pd = P
    for k in range(count - 1, -1, -1):
        kind, i, j = rec[k, 0], int(rec[k, 1]), int(rec[k, 2])
        if kind == FIXED:
            v = 0.0 if ray else rec[k, 3]
            for e in range(pp[j], pp[j + 1]):
                if cols[pi[e]]:
                    q[pi[e]] -= pd[e] * v
            x[j], cols[j] = v, True
        elif kind == SLACK:
            a, shift = rec[k, 3], 0.0 if ray else rec[k, 4]
            v = 0.0
            for e in range(ap[i], ap[i + 1]):
                if cols[ai[e]]:
                    v += ad[e] * x[ai[e]]
                    q[ai[e]] += shift * ad[e]
            value = v + a * within(
                0.0, rec[k, 7], rec[k, 8], ray
            )  # with x_j as near to 0 as can be
            if y[i] > 0.0:
                value = 0.0 if ray else rec[k, 5]
            elif y[i] < 0.0:
                value = 0.0 if ray else rec[k, 6]
            else:
                value = within(value, rec[k, 5], rec[k, 6], ray)
            x[j] = within((value - v) / a, rec[k, 7], rec[k, 8], ray)
            cols[j] = True
            y[i] += shift
        elif kind == SINGLE:
            r = reduced_cost(C, P, j, q, cols, x, y, ray)
            if (r > 0.0 and rec[k, 4] > 0.0) or (r < 0.0 and rec[k, 5] > 0.0):
                y[i] = r / rec[k, 3]
        else:  # forcing: the least multiplier that makes all reduced costs admissible
            best = 0.0
            for e in range(ap[i], ap[i + 1]):
                if cols[ai[e]] and ad[e] != 0.0:
                    v = reduced_cost(C, P, ai[e], q, cols, x, y, ray) / ad[e]
                    best = max(best, v) if rec[k, 2] > 0.0 else min(best, v)
            y[i] = best


@njit(cache=True, nogil=True, fastmath=FAST)
def reduced_cost(C, P, j, q, cols, x, y, ray):
    cp, ci, cd = C
    pp, pi, pd = P
    r = 0.0 if ray else q[j]
    for e in range(cp[j], cp[j + 1]):
        r -= cd[e] * y[ci[e]]
    if not ray:
        for e in range(pp[j], pp[j + 1]):
            if cols[pi[e]]:
                r += pd[e] * x[pi[e]]
    return r
