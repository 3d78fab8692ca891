"""Calls by joblib's workers come back, also where warnings are errors."""

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


def test_workers_that_grow_are_replaced_where_warnings_are_errors():
    command = [sys.executable, "-c", GROWING]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert ended.stdout == "True\n"
    assert "A worker stopped" in ended.stderr  # so that it was tried at all
