"""Compiled loops over directions (see :mod:`structopt.structures.base.parts` for the layout)."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def dots(ptr, source, offset, coef, indptr, indices, data, weights):
    out = np.zeros(len(ptr) - 1)
    for r in range(len(ptr) - 1):
        total = 0.0
        for p in range(ptr[r], ptr[r + 1]):
            shift = offset[p]
            part = 0.0
            for q in range(indptr[source[p]], indptr[source[p] + 1]):
                part += data[q] * weights[shift + indices[q]]
            total += coef[p] * part
        out[r] = total
    return out


@njit(cache=True, nogil=True)
def add_to(weights, multipliers, ptr, source, offset, coef, indptr, indices, data):
    # weights += sum_r multipliers[r] * delta_r, in place
    for r in range(len(ptr) - 1):
        if multipliers[r] == 0.0:
            continue
        for p in range(ptr[r], ptr[r + 1]):
            shift = offset[p]
            step = multipliers[r] * coef[p]
            for q in range(indptr[source[p]], indptr[source[p] + 1]):
                weights[shift + indices[q]] += step * data[q]


@njit(cache=True, nogil=True)
def combine(ptr, source, offset, coef, indptr, indices, data, multipliers, n_features):
    out = np.zeros(n_features)
    add_to(out, multipliers, ptr, source, offset, coef, indptr, indices, data)
    return out


@njit(cache=True, nogil=True)
def expand(ptr, source, offset, coef, indptr, indices, data, n_features):
    n_rows = len(ptr) - 1
    bound = 0
    for r in range(n_rows):
        entries = 0
        for p in range(ptr[r], ptr[r + 1]):
            entries += indptr[source[p] + 1] - indptr[source[p]]
        bound += min(entries, n_features)
    columns = np.empty(bound, np.int64)
    values = np.empty(bound)
    out_ptr = np.zeros(n_rows + 1, np.int64)
    dense = np.zeros(n_features)
    seen = np.zeros(n_features, np.bool_)
    touched = np.empty(n_features, np.int64)
    position = 0
    for r in range(n_rows):
        count = 0
        for p in range(ptr[r], ptr[r + 1]):
            for q in range(indptr[source[p]], indptr[source[p] + 1]):
                column = offset[p] + indices[q]
                if not seen[column]:
                    seen[column] = True
                    touched[count] = column
                    count += 1
                dense[column] += coef[p] * data[q]
        order = np.sort(touched[:count])
        for k in range(count):
            column = order[k]
            if dense[column] != 0.0:
                columns[position] = column
                values[position] = dense[column]
                position += 1
            dense[column] = 0.0
            seen[column] = False
        out_ptr[r + 1] = position
    return out_ptr, columns[:position].copy(), values[:position].copy()


@njit(cache=True, nogil=True)
def fingerprints(ptr, source, offset, coef):
    # FNV-1a over the words of each direction
    out = np.empty(len(ptr) - 1, np.uint64)
    prime = np.uint64(1099511628211)
    bits = coef.view(np.uint64)
    for r in range(len(ptr) - 1):
        h = np.uint64(14695981039346656037)
        for p in range(ptr[r], ptr[r + 1]):
            h = (h ^ np.uint64(source[p])) * prime
            h = (h ^ np.uint64(offset[p])) * prime
            h = (h ^ (bits[p] >> np.uint64(32))) * prime
            h = (h ^ (bits[p] & np.uint64(0xFFFFFFFF))) * prime
        out[r] = h
    return out


@njit(cache=True, nogil=True)
def part_scores(indptr, indices, data, weights, n_blocks):
    # scores[t, k] = base[t] . w[k * width : (k + 1) * width], reading only the weights it needs.
    # Summed in the order of sparse_scores, so that both agree to the last bit.
    width = len(weights) // n_blocks
    scores = np.empty((len(indptr) - 1, n_blocks))
    for t in range(len(scores)):
        first, stop = indptr[t], indptr[t + 1]
        whole = stop - (stop - first) % 4
        for k in range(n_blocks):
            block = weights[k * width : (k + 1) * width]
            total = 0.0
            for q in range(first, whole, 4):
                a, b = data[q] * block[indices[q]], data[q + 1] * block[indices[q + 1]]
                c, d = data[q + 2] * block[indices[q + 2]], data[q + 3] * block[indices[q + 3]]
                total += (a + b) + (c + d)
            for q in range(whole, stop):
                total += data[q] * block[indices[q]]
            scores[t, k] = total
    return scores


@njit(cache=True, nogil=True)
def sparse_scores(indptr, indices, data, columns):
    # scores[t] = sum over nonzeros of row t of value * columns[index], four at a time to keep
    # the running sums in registers;
    # one thread, where BLAS would leave a second one spinning between passes
    scores = np.zeros((len(indptr) - 1, columns.shape[1]))
    for t in range(len(scores)):
        row, first, stop = scores[t], indptr[t], indptr[t + 1]
        whole = stop - (stop - first) % 4
        for q in range(first, whole, 4):
            a, b, c, d = data[q], data[q + 1], data[q + 2], data[q + 3]
            wa, wb = columns[indices[q]], columns[indices[q + 1]]
            wc, wd = columns[indices[q + 2]], columns[indices[q + 3]]
            for k in range(len(row)):
                row[k] += (a * wa[k] + b * wb[k]) + (c * wc[k] + d * wd[k])
        for q in range(whole, stop):
            a, wa = data[q], columns[indices[q]]
            for k in range(len(row)):
                row[k] += a * wa[k]
    return scores


@njit(cache=True, nogil=True)
def differing_labels(gold, labels, which, n_labels, n_inputs, first):
    # directions of the rows `which` of labels, (n, c) like gold: where they differ, plus the inputs
    # of that component in the block of gold's label, minus those in the block of the other label.
    # The inputs of component t of row i are the base row first + i * c + t.
    c = gold.shape[1]
    ptr = np.zeros(len(which) + 1, np.int64)
    source = np.empty(2 * c * len(which), np.int64)
    offset = np.empty(2 * c * len(which), np.int64)
    p = 0
    for r in range(len(which)):
        i = which[r]
        for t in range(c):
            g, y = gold[i, t], labels[i, t]
            if g != y:
                source[p], offset[p] = first + i * c + t, (t * n_labels + g) * n_inputs
                source[p + 1], offset[p + 1] = first + i * c + t, (t * n_labels + y) * n_inputs
                p += 2
        ptr[r + 1] = p
    coef = np.ones(p)
    coef[1::2] = -1.0
    return ptr, source[:p].copy(), offset[:p].copy(), coef


@njit(cache=True, nogil=True)
def products(scratch, ptr, source, offset, coef, indptr, indices, data):
    # delta_r . delta_s for all pairs; scratch is a vector of zeros in feature space, and is again
    # when this returns, so that the cost is that of the parts and not of the dimension
    count = len(ptr) - 1
    out = np.empty((count, count))
    for r in range(count):
        for p in range(ptr[r], ptr[r + 1]):
            for q in range(indptr[source[p]], indptr[source[p] + 1]):
                scratch[offset[p] + indices[q]] += coef[p] * data[q]
        for s in range(r + 1):
            total = 0.0
            for p in range(ptr[s], ptr[s + 1]):
                part = 0.0
                for q in range(indptr[source[p]], indptr[source[p] + 1]):
                    part += data[q] * scratch[offset[p] + indices[q]]
                total += coef[p] * part
            out[r, s] = total
            out[s, r] = total
        for p in range(ptr[r], ptr[r + 1]):
            for q in range(indptr[source[p]], indptr[source[p] + 1]):
                scratch[offset[p] + indices[q]] = 0.0
    return out
