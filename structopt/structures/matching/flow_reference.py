r"""Projection on a matching polytope as a min-cost quadratic flow: a reference, slow and plain.

    s --(b_i, 0)--> i --(1, 1/2 (z - a)^2)--> j --(b_j, 0)--> t --(inf, 0)--> s

is a circulation, capacity and cost at each arc, whose flow over the middle arcs is z. It is optimal
where no cycle of the residual graph has a negative sum of marginal costs (z - a, or a - z against
the arc). So cycles are cancelled, found as Bellman and Ford do it: flow is sent around one as far
as its slope stays negative (a quadratic, with curvature 1 an edge) and capacities allow.

>>> import numpy as np
>>> left, right = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
>>> project_by_flow(left, right, (np.ones(2), np.ones(2)), np.array([1.0, 0.5, 0.5, 1.0])).round(6)
array([0.75, 0.25, 0.25, 0.75])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from structopt.arrays import Floats, Ints

SOURCE, SINK = "s", "t"


def project_by_flow(
    left: Ints, right: Ints, limits: tuple[Any, Any], target: Floats, *, tol: float = 1e-8
) -> Floats:
    """Return the nearest fractional matching of one pair, slowly; no edge occurs twice.

    Parameters
    ----------
    left, right : arrays of int
        The nodes of each edge.
    limits : (array, array)
        Limit of every left and of every right node.
    target : array
        What is projected.
    tol : float
        A cycle whose marginal costs sum to more than minus this an arc counts as none.

    Notes
    -----
    Taskar, Lacoste-Julien and Jordan (2006), section 3.
    """
    arcs = _arcs(left, right, limits, target)
    flow = dict.fromkeys(arcs, 0.0)
    while cycle := _negative_cycle(_residual(arcs, flow, tol)):
        _send(arcs, flow, cycle)
    edges = zip(left.tolist(), right.tolist(), strict=True)
    return np.array([flow[("left", i), ("right", j)] for i, j in edges])


def _arcs(left: Ints, right: Ints, limits: tuple[Any, Any], target: Floats) -> dict[Any, Any]:
    """Return capacity and target of each arc; None where flow costs nothing."""
    arcs: dict[Any, tuple[float, float | None]] = {(SINK, SOURCE): (np.inf, None)}
    for i, limit in enumerate(limits[0]):
        arcs[SOURCE, ("left", i)] = float(limit), None
    for j, limit in enumerate(limits[1]):
        arcs[("right", j), SINK] = float(limit), None
    for i, j, a in zip(left.tolist(), right.tolist(), target.tolist(), strict=True):
        arcs[("left", i), ("right", j)] = 1.0, a
    return arcs


def _residual(arcs: dict[Any, Any], flow: dict[Any, float], tol: float) -> list[Any]:
    """Return the arcs along which flow can be sent, or taken back, with their marginal costs."""
    found = []
    for (a, b), (capacity, target) in arcs.items():
        slope = 0.0 if target is None else flow[a, b] - target
        if flow[a, b] < capacity:
            found.append((a, b, tol + slope))
        if flow[a, b] > 0.0:
            found.append((b, a, tol - slope))
    return found


def _negative_cycle(arcs: list[Any]) -> list[Any]:
    """Return the arcs of a cycle whose costs sum to less than 0, none if there is no such cycle."""
    distance = dict.fromkeys((a for a, _, _ in arcs), 0.0)
    distance |= dict.fromkeys((b for _, b, _ in arcs), 0.0)
    before: dict[Any, Any] = {}
    moved = None
    for _ in distance:
        moved = None
        for a, b, cost in arcs:
            if distance[a] + cost < distance[b]:
                distance[b], before[b], moved = distance[a] + cost, a, b
        if moved is None:
            return []
    for _ in distance:  # back into the cycle that led here
        moved = before[moved]
    cycle: list[Any] = []
    node = moved
    while not cycle or node != moved:
        cycle.append((before[node], node))
        node = before[node]
    return cycle


def _send(arcs: dict[Any, Any], flow: dict[Any, float], cycle: list[Any]) -> None:
    """Send flow around a cycle until its slope is 0, or an arc is full or empty."""
    slope, curved, room = 0.0, 0, []
    for a, b in cycle:
        forward = (a, b) in arcs
        arc = (a, b) if forward else (b, a)
        capacity, target = arcs[arc]
        room.append(capacity - flow[arc] if forward else flow[arc])
        if target is not None:
            slope += (flow[arc] - target) * (1.0 if forward else -1.0)
            curved += 1
    step = min([*room, -slope / curved if curved else np.inf])
    for (a, b), left in zip(cycle, room, strict=True):
        forward = (a, b) in arcs
        arc = (a, b) if forward else (b, a)
        end = arcs[arc][0] if forward else 0.0
        flow[arc] = end if left == step else flow[arc] + (step if forward else -step)
