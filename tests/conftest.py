import signal

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "structopt",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("structopt")


def pytest_terminal_summary(terminalreporter):
    """With -v: what tests/contracts/test_grid.py found refused, and why."""
    if terminalreporter.verbosity < 0:
        return
    refused = [
        value
        for report in terminalreporter.stats.get("passed", [])
        for key, value in report.user_properties
        if key == "refused"
    ]
    if refused:
        terminalreporter.section(f"{len(refused)} pairs are refused, as their abilities say")
        for line in refused:
            terminalreporter.line(line)


@pytest.fixture
def in_a_terminal():
    """Let Ctrl-C be heard, also where the tests themselves run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
