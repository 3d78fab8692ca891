r"""A comparison as files: one table (CSV, Parquet), Markdown, LaTeX, figures (SVG, PDF), a page.

>>> [name for name, _ in SCHEMA][:4]
['set', 'problem', 'kind', 'rows']
"""

from __future__ import annotations

import io
import json
import logging
from typing import Any

from structopt.lab.compare.comparison import Comparison
from structopt.lab.compare.figures import figures
from structopt.lab.compare.page import comparison_page
from structopt.lab.compare.tables import LIMITATIONS, remarks, tables
from structopt.lab.harness.drawing import drawn
from structopt.lab.harness.output import csv_of

logger = logging.getLogger(__name__)

SCHEMA: tuple[tuple[str, str], ...] = (
    ("set", "where the problem comes from"),
    ("problem", "its name"),
    ("kind", "LP, QP, a sequence of either, or training"),
    ("rows", "of the programme, of the last master, or examples"),
    ("columns", "of the programme, or weights"),
    ("nonzeros", "of A and P"),
    ("masters", "how many, for a sequence"),
    ("digest", "of all its numbers: equal problems have equal digests"),
    ("solver", "name"),
    ("settings", "what the tolerance was turned into, as JSON"),
    ("tolerance", "asked for"),
    ("limit", "CPU seconds"),
    ("memory", "GiB"),
    ("turn", "repetition, from 0"),
    ("status", "solved, infeasible, unbounded (proved); unproved, wrong, not converged, out of "
               "time, out of memory, crashed, failed, refused"),
    ("claim", "what the solver said"),
    ("cpu", "CPU seconds of the solver's call, or of all its calls"),
    ("error", "the largest of the residuals and the gap, by our check"),
    ("primal_residual", "relative"),
    ("dual_residual", "relative"),
    ("gap", "relative"),
    ("objective", "at the answer"),
    ("lower_bound", "from the multipliers"),
    ("iterations", "in the solver's unit; rounds of training"),
    ("products", "with A, A' and P, of solvers that count them; of one programme"),
    ("oracle_cpu", "training only, as the next three: CPU seconds, divided as the wall time was"),
    ("lift_cpu", ""),
    ("solve_cpu", ""),
    ("other_cpu", ""),
    ("machine", "which of the machines on the page"),
    ("message", "the solver's words, or why it ended"),
)  # fmt: skip
"""The columns of ``compare.csv`` and ``compare.parquet``."""


def files_of(done: Comparison) -> dict[str, str | bytes]:
    """Return all files; Parquet only where pyarrow is installed."""
    rows = [{name: row.get(name) for name, _ in SCHEMA} for row in done.rows]
    every = tables(done)
    files: dict[str, str | bytes] = {
        "compare.csv": csv_of(rows),
        "compare.md": _markdown(done),
        "compare.tex": "\n".join(table.latex() for table in every),
    }
    for name, figure in figures(done).items():
        files |= {f"{name}.{kind}": drawn(figure, kind) for kind in ("svg", "pdf")}
    files["compare.html"] = comparison_page(done)
    parquet = _parquet(rows, done)
    if parquet is not None:
        files["compare.parquet"] = parquet
    return files


def _markdown(done: Comparison) -> str:
    made = [f"`{m['command']}` on {m['date']}: {m['processor']}, {m['cores']} cores, "
            f"{m['system']}, Python {m['python']}" for m in done.machines]  # fmt: skip
    head = ["# Solver comparison", *made, *remarks(done)]
    limits = "\n".join(f"- {limit}" for limit in LIMITATIONS)
    body = "\n".join(table.markdown() for table in tables(done))
    return "\n\n".join(head) + f"\n\n{body}\n### Limitations\n\n{limits}\n"


def _parquet(rows: list[dict[str, Any]], done: Comparison) -> bytes | None:
    """Return the rows as Parquet, machines and references in its metadata."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        logger.warning('No Parquet: pip install "structopt-margin[compare]" for pyarrow.')
        return None
    plain = [{k: json.dumps(v) if isinstance(v, dict) else v for k, v in r.items()} for r in rows]
    extra = {"machines": done.machines, "references": done.references}
    table = pa.Table.from_pylist(plain)
    table = table.replace_schema_metadata({"structopt": json.dumps(extra)})
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return buffer.getvalue()
