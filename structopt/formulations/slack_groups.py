r"""Who shares a slack: nobody (n slacks), the examples of a group, or all of them (one slack).

With the examples in groups G_1 ... G_k, one slack a group and cuts that are sums over a group,

.. math::
    \min_{w,\,\xi\ge 0} R(w) + c \sum_g \xi_g
    \quad\text{s.t.}\quad \xi_g \ge \sum_{i\in G_g} s_i\,[\text{margin}_i(y_i')
    - \text{scale}_i(y_i')\, w\cdot\delta_i(y_i')]_{\,\text{any of them or none}}

has the optimum of n slacks, since a sum of hinges is the maximum over all such sums. n slacks are
groups of one example, one slack is one group; between them a round has k cuts.

>>> group_of(3, n_examples=7)
array([0, 0, 1, 1, 2, 2, 2])
>>> group_of("shards", n_examples=4, starts=np.array([0, 3, 4]))
array([0, 0, 0, 1])
>>> group_of("n", n_examples=4) is None
True
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from structopt.arrays import Ints
from structopt.errors import InvalidInputError
from structopt.parameters import Count

SlackGroups = Literal["auto", "n", "one", "shards"] | Count
"""One slack an example, one for all, one a shard of the data, or so many groups."""

_EACH = 8
"""Examples a group at least, where groups are chosen: fewer save little."""
_ALL = 2**21
"""Entries that the cuts of all examples may have, 24 MiB, for each to have a slack: words of
letters then take 27 rounds where 88 groups take 72, and fewer bytes in all."""
_ENTRIES, _PASS = 2**20, 16
"""Entries that the cuts of groups may have in a round, 12 MiB; and nonzeros of the inputs for each
of them: an entry costs this process some 0.2 us, a pass over rows of five classes 16 ns a number,
so that cuts take no longer than the pass."""
_FEW = 8
"""Groups that there are in any case, if there are as many shards."""


def chosen(
    n_examples: int, n_features: int, n_shards: int, cut_entries: float, nonzeros: int
) -> int:
    """Return in how many groups data that live elsewhere share slacks by ``slacks="auto"``.

    Data in this process have n slacks: these need the fewest rounds, and their cuts refer to the
    data. From elsewhere every cut brings a row of its own. Where the rows of all examples are
    short, ``cut_entries`` each, n slacks bring no more than groups do, whose rows fill up. Else
    there are as many groups as memory, the journey, and the time of a pass over ``nonzeros`` allow.

    >>> chosen(700, 4_000, 16, 280.0, 160_000), chosen(4000, 10_000, 8, 4_000.0, 8_000_000)
    (700, 50)
    >>> chosen(320_000, 10_000, 160, 4_000.0, 640_000_000)
    104
    >>> chosen(20_000, 8_000_000, 8, 500.0, 10**7)
    8
    """
    if n_examples * cut_entries <= _ALL:
        return n_examples
    most = min(_ENTRIES, nonzeros // _PASS) // n_features
    return max(min(n_shards, _FEW), min(n_examples // _EACH, most), 1)


def group_of(
    groups: SlackGroups | bool, n_examples: int, starts: Ints | None = None
) -> Ints | None:
    """Return the group of every example; None where each has a slack of its own.

    Groups are runs of neighbours. ``starts`` are the first examples of the shards, and the end of
    the last; without shards all examples are one. ``True`` means one group, ``False`` none, and so
    does "auto", which who knows where the data are replaces by what is :func:`chosen`.
    """
    if groups in ("n", "auto") or groups is False:
        return None
    if groups == "shards":
        edges = np.array([0, n_examples]) if starts is None else np.unique(starts)
    elif groups == "one" or (isinstance(groups, int | np.integer) and groups >= 1):
        count = 1 if groups == "one" else int(groups)
        if count > 1 and count >= n_examples:
            return None
        edges = np.linspace(0, n_examples, count + 1).astype(np.int64)
    else:
        raise InvalidInputError(
            "Slacks are shared by 'n' (nobody), 'one' group, 'shards', a number of groups >= 1, or "
            f"'auto'; got {groups!r}."
        )
    return np.repeat(np.arange(len(edges) - 1), np.diff(edges))
