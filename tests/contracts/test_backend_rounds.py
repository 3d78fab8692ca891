"""Every backend of the one list keeps its contract."""

from functools import cache

import pytest

from structopt import names
from structopt.testing.backend import CHECKS, BackendCase

case = cache(BackendCase)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("backend", [entry.key for entry in names.of_kind("backend")])
def test_backend(backend, check):
    check(case(backend))
