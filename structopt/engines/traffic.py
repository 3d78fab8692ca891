"""What goes between a process and its shards."""

from __future__ import annotations

from typing import NamedTuple


class Traffic(NamedTuple):
    """Bytes that this process has sent to its shards, and received from them."""

    down: int = 0
    up: int = 0
