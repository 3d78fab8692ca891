"""Measurements that anyone can repeat: masters against hand-written code, letters against peers.

Competitors take turns in one run, so that a busy machine slows all of them; times are medians.
Nothing is taken on a solver's word: objectives are compared, gaps are certified.

>>> from structopt.lab.bench import TINY, bench_masters
>>> bench = bench_masters(TINY, repeats=1)
>>> bench.ratio("structopt", "by hand") > 0
True
"""

from __future__ import annotations

from structopt.lab.bench.letters import bench_letters
from structopt.lab.bench.masters import FULL, QUICK, TINY, bench_masters

__all__ = ["FULL", "QUICK", "TINY", "bench_letters", "bench_masters"]
