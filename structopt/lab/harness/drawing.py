"""Pictures with matplotlib."""

from __future__ import annotations

import io
from typing import Any


def new_figure(width: float = 9.0, height: float = 5.0) -> Any:
    """Return an empty matplotlib figure that touches no global state."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def png(figure: Any) -> bytes:
    """Return a figure as a file."""
    return drawn(figure, "png", dpi=120)


def drawn(figure: Any, kind: str, **options: Any) -> bytes:
    """Return a figure as a file of a kind: png, svg, pdf; the same bytes each time."""
    import matplotlib as mpl

    buffer = io.BytesIO()
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    with mpl.rc_context({"svg.hashsalt": "structopt"}):
        figure.savefig(buffer, format=kind, metadata=undated, **options)
    return buffer.getvalue()
