"""Compiled products of planes: with each other, with weights, with multipliers.

Planes are sorted by group; ``local`` numbers a group's distinct parts, ``part_source`` and
``part_offset`` say which row of the base a part is, and where in the weights.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def index_parts(group_ptr, order, old_ptr, source, offset, coef, scale):
    """Bring planes into an order and number the distinct (source, offset) pairs of each group.

    ``scale`` is that of each plane's coefficients.
    """
    n_groups = len(group_ptr) - 1
    ptr = np.zeros(len(order) + 1, np.int64)
    for r in range(len(order)):
        ptr[r + 1] = ptr[r] + old_ptr[order[r] + 1] - old_ptr[order[r]]
    sorted_coef = np.empty(len(source))
    local = np.empty(len(source), np.int64)
    part_ptr = np.zeros(n_groups + 1, np.int64)
    part_source = np.empty(len(source), np.int64)
    part_offset = np.empty(len(source), np.int64)
    widest = 1
    for g in range(n_groups):
        widest = max(widest, ptr[group_ptr[g + 1]] - ptr[group_ptr[g]])
    size = 1
    while size < 2 * widest:
        size *= 2
    slot = np.empty(size, np.int64)
    stamp = np.full(size, -1, np.int64)
    count = 0
    for g in range(n_groups):
        start = count
        for r in range(group_ptr[g], group_ptr[g + 1]):
            shift = old_ptr[order[r]] - ptr[r]
            for p in range(ptr[r], ptr[r + 1]):
                s, o = source[p + shift], offset[p + shift]
                sorted_coef[p] = coef[p + shift] * scale[order[r]]
                h = (s * 1000003 + o * 7919) & (size - 1)
                while True:
                    if stamp[h] != g:
                        stamp[h] = g
                        slot[h] = count
                        part_source[count] = s
                        part_offset[count] = o
                        count += 1
                        break
                    k = slot[h]
                    if part_source[k] == s and part_offset[k] == o:
                        break
                    h = (h + 1) & (size - 1)
                local[p] = slot[h] - start
        part_ptr[g + 1] = count
    parts = (part_ptr, part_source[:count].copy(), part_offset[:count].copy())
    return (ptr, local, sorted_coef), parts


@njit(cache=True)
def part_products(lo, hi, part_source, part_offset, indptr, indices, data, weights, out):
    """Write ``part . weights`` of parts lo..hi into out[0 .. hi - lo]."""
    for p in range(lo, hi):
        shift = part_offset[p]
        s = 0.0
        for q in range(indptr[part_source[p]], indptr[part_source[p] + 1]):
            s += data[q] * weights[shift + indices[q]]
        out[p - lo] = s


@njit(cache=True)
def grow_gram(group_ptr, ptr, local, coef, part_ptr, part_source, part_offset,
              indptr, indices, data, metric, old_place, old_width, old_gram):  # fmt: skip
    """Build each group's matrix of plane products, copying those between planes it had before.

    ``old_place[r]`` is where the row of plane r began in ``old_gram`` (-1: new), and
    ``old_place[r] + k`` holds its product with the k-th old plane of the group.
    """
    n_groups = len(group_ptr) - 1
    gram_ptr = np.zeros(n_groups + 1, np.int64)
    most_parts = 1
    for g in range(n_groups):
        c = group_ptr[g + 1] - group_ptr[g]
        gram_ptr[g + 1] = gram_ptr[g] + c * c
        most_parts = max(most_parts, part_ptr[g + 1] - part_ptr[g])
    gram = np.empty(gram_ptr[n_groups])
    dense = np.zeros(len(metric))
    products = np.empty(most_parts)
    for g in range(n_groups):
        first, last = group_ptr[g], group_ptr[g + 1]
        c = last - first
        begin = gram_ptr[g]
        for a in range(c):
            r = first + a
            if old_place[r] >= 0:
                for b in range(c):
                    s = first + b
                    if old_place[s] >= 0:
                        gram[begin + a * c + b] = old_gram[old_place[r] + old_width[s]]
                continue
            for p in range(ptr[r], ptr[r + 1]):
                k = part_ptr[g] + local[p]
                for q in range(indptr[part_source[k]], indptr[part_source[k] + 1]):
                    j = part_offset[k] + indices[q]
                    dense[j] += coef[p] * data[q] * metric[j]
            part_products(part_ptr[g], part_ptr[g + 1], part_source, part_offset,
                          indptr, indices, data, dense, products)  # fmt: skip
            for b in range(c):
                s = first + b
                total = 0.0
                for p in range(ptr[s], ptr[s + 1]):
                    total += coef[p] * products[local[p]]
                gram[begin + a * c + b] = total
                gram[begin + b * c + a] = total
            for p in range(ptr[r], ptr[r + 1]):
                k = part_ptr[g] + local[p]
                for q in range(indptr[part_source[k]], indptr[part_source[k] + 1]):
                    dense[part_offset[k] + indices[q]] = 0.0
    return gram_ptr, gram


@njit(cache=True)
def pull_of(group_ptr, ptr, local, coef, part_ptr, part_source, part_offset,
            indptr, indices, data, alpha, size):  # fmt: skip
    """Return ``sum_r alpha_r plane_r``."""
    v = np.zeros(size)
    most_parts = 1
    for g in range(len(group_ptr) - 1):
        most_parts = max(most_parts, part_ptr[g + 1] - part_ptr[g])
    mass = np.empty(most_parts)
    for g in range(len(group_ptr) - 1):
        n_parts = part_ptr[g + 1] - part_ptr[g]
        mass[:n_parts] = 0.0
        for r in range(group_ptr[g], group_ptr[g + 1]):
            if alpha[r] != 0.0:
                for p in range(ptr[r], ptr[r + 1]):
                    mass[local[p]] += alpha[r] * coef[p]
        for k in range(n_parts):
            if mass[k] != 0.0:
                part = part_ptr[g] + k
                for q in range(indptr[part_source[part]], indptr[part_source[part] + 1]):
                    v[part_offset[part] + indices[q]] += mass[k] * data[q]
    return v


@njit(cache=True)
def hinges(group_ptr, ptr, local, coef, rhs, soft, part_ptr, part_source, part_offset,
           indptr, indices, data, w):  # fmt: skip
    """Return the slack that each group's planes ask for at w."""
    n_groups = len(group_ptr) - 1
    most_parts = 1
    for g in range(n_groups):
        most_parts = max(most_parts, part_ptr[g + 1] - part_ptr[g])
    products = np.empty(most_parts)
    out = np.zeros(n_groups)
    for g in range(n_groups):
        part_products(part_ptr[g], part_ptr[g + 1], part_source, part_offset,
                      indptr, indices, data, w, products)  # fmt: skip
        for r in range(group_ptr[g], group_ptr[g + 1]):
            if not soft[r]:
                continue
            s = rhs[r]
            for p in range(ptr[r], ptr[r + 1]):
                s -= coef[p] * products[local[p]]
            out[g] = max(out[g], s)
    return out
