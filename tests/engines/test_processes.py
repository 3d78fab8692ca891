"""Calls by joblib's workers come back, or say why not."""

import subprocess
import sys

GROWING = """
import warnings
from joblib import delayed
from structopt.engines.processes import called

def grows(i):
    import joblib.externals.loky.process_executor as loky
    loky._MAX_MEMORY_LEAK_SIZE, loky._MEMORY_LEAK_CHECK_DELAY = -(10**12), 0.0
    return i

warnings.simplefilter("error")
print(called((delayed(grows)(i) for i in range(40)), 2) == list(range(40)))
"""
DYING = """
import os
import numpy as np, structopt as so
from structopt.engines.processes import asked_apart
from structopt.errors import OracleError

class Dying:
    def ask(self, oracle, weights):
        os._exit(1)

try:
    asked_apart([Dying(), Dying()], so.loss_augmented, np.zeros(1), 2)
except OracleError as error:
    print(error)
"""


def ran(code):
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)


def test_workers_that_grow_are_replaced_where_warnings_are_errors():
    ended = ran(GROWING)
    assert ended.stdout == "True\n"
    assert "A worker stopped" in ended.stderr  # so that it was tried at all


def test_workers_that_die_twice_are_told():
    ended = ran(DYING)
    assert "A parallel oracle pass failed" in ended.stdout
    assert "asking once more" in ended.stderr
