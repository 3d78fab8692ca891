"""A slider over the rounds of a run: it moves a marker in the charts and shows the round.

Nothing is stored twice: the script copies the cells of the table of rounds, which stands on the
page anyway, so that without scripts the page says the same. The page's policy allows this one
script, by its hash, and no other.

>>> policy().startswith("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-")
True
>>> thinned(range(10), 4)
[0, 1, 5, 9]
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from typing import TypeVar

from structopt.report.page import NOTHING, Markup, number, table, text
from structopt.run.events import Round
from structopt.run.result import Result

T = TypeVar("T")

ROUND_COLUMNS = (
    "Round",
    "Seconds",
    "Upper bound",
    "Lower bound",
    "Relative gap",
    "Value",
    "Violation",
    "Cuts added",
    "Cuts dropped",
    "Cuts standing",
    "Nonzero weights",
    "Solver iterations",
    "Oracle s",
    "Lift s",
    "Solve s",
)

SCRIPT = """
document.querySelectorAll(".scrubber").forEach((box) => {
  const slider = box.querySelector("input"), output = box.querySelector("output");
  const markers = document.querySelectorAll(`[data-marker="${box.id}"]`);
  const runs = [...box.querySelectorAll("[data-rounds]")].map((live) => ({
    cells: live.rows[0].cells,
    rounds: [...document.getElementById(live.dataset.rounds).rows],
  }));
  const value = (cell) => Number(cell.querySelector("data").value);
  const show = () => {
    const round = Number(slider.value);
    let seconds = 0;
    for (const run of runs) {
      const row = run.rounds.findLast((r) => value(r.cells[0]) <= round) || run.rounds[0];
      const skipped = run.cells.length - row.cells.length;
      [...row.cells].forEach((cell, j) => run.cells[j + skipped].replaceChildren(
        ...[...cell.childNodes].map((node) => node.cloneNode(true))));
      seconds = value(row.cells[1]);
    }
    for (const marker of markers) {
      const [low, high, start, stop] = marker.dataset.scale.split(" ").map(Number);
      const at = marker.dataset.axis === "seconds" ? seconds : round;
      const place = start + (at - low) / (high - low) * (stop - start);
      marker.setAttribute("transform", `translate(${place} 0)`);
      marker.removeAttribute("visibility");
    }
    output.textContent = `${round} of ${slider.max}`;
    slider.setAttribute("aria-valuetext", `round ${round} of ${slider.max}`);
  };
  slider.addEventListener("input", show);
  box.querySelector(".control").hidden = false;
  show();
});
"""


def policy(script: str = SCRIPT) -> str:
    """Return the Content-Security-Policy of a page with one script."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


def scrubber(ident: str, runs: Mapping[str, Result], rounds: Mapping[str, str]) -> Markup:
    """Return the slider and a table with one row a run, at first its last round.

    Parameters
    ----------
    ident : str
        Unique on the page; markers in charts name it.
    runs : mapping of str to Result
        Those without a finished round are left out.
    rounds : mapping of str to str
        By run: the ident of its :func:`round_table`.
    """
    shown = {name: run.history for name, run in runs.items() if run.history}
    if not shown:
        return NOTHING
    most = max(history[-1].round for history in shown.values())
    several = len(runs) > 1
    columns = [*(["Run"] if several else []), *ROUND_COLUMNS]
    top = "".join(f'<th scope="col">{text(name)}</th>' for name in columns)
    body = "".join(
        f'<tbody data-rounds="{rounds[name]}"><tr>'
        + (f'<th scope="row" class="name">{text(name)}</th>' if several else "")
        + "".join(f"<td>{cell}</td>" for cell in round_cells(history[-1]))
        + "</tr></tbody>\n"
        for name, history in shown.items()
    )
    caption = "The round that the slider stands at, or the last before it"
    return Markup(
        f'<div class="scrubber" id="{ident}"><p class="control" hidden>'
        f'<label for="{ident}-at">Round</label> '
        f'<input type="range" id="{ident}-at" min="1" max="{most}" step="1" value="{most}"> '
        f'<output for="{ident}-at">{most} of {most}</output></p>'
        f'<div class="scroll" role="region" tabindex="0" aria-label="{caption}"><table>'
        f"<caption>{caption}</caption><thead><tr>{top}</tr></thead>\n{body}</table></div></div>"
    )


def round_table(ident: str, history: Sequence[Round], *, most: int, caption: str = "") -> Markup:
    """Return the rounds of a run as a table that a scrubber can read, thinned to `most` rows."""
    shown = thinned(history, most)
    left_out = len(history) - len(shown)
    words = f"{len(shown)} round{'' if len(shown) == 1 else 's'}" + (
        f"; {left_out} in the middle are left out" if left_out else ""
    )
    words = f"{caption}: {words}" if caption else words
    return table(ROUND_COLUMNS, map(round_cells, shown), caption=words, ident=ident)


def round_cells(r: Round) -> list[Markup]:
    """Return one round as cells, in the order of `ROUND_COLUMNS`."""
    return [
        number(r.round),
        number(r.seconds, 4),
        number(r.primal, 8),
        number(r.dual, 8),
        number(r.relative_gap, 3),
        number(r.value, 8),
        number(r.violation, 3),
        number(r.cuts_added),
        number(r.cuts_dropped),
        number(r.cuts),
        number(r.nonzeros),
        number(r.iterations),
        number(r.oracle_seconds, 3),
        number(r.lift_seconds, 3),
        number(r.solve_seconds, 3),
    ]


def thinned(items: Sequence[T], most: int) -> list[T]:
    """Return about `most` items: the beginning and the end, and every k-th in between."""
    if len(items) <= most:
        return list(items)
    edge = max(1, most // 4)
    middle = items[edge:-edge]
    every = -(-len(middle) // max(1, most - 2 * edge))
    return [*items[:edge], *middle[::every], *items[-edge:]]
