"""The page of a comparison: what was found, every attempt to filter, how to run it again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from structopt.lab.compare.compare import SOLVED, Comparison
from structopt.lab.compare.stats import slices
from structopt.lab.compare.tables import (
    LIMITATIONS,
    claims_table,
    cost_table,
    ranking_table,
    remarks,
    split_tables,
    status_table,
    tolerance_table,
)
from structopt.lab.harness.study import every
from structopt.lab.harness.table import Table
from structopt.report.page import (
    NOTHING,
    Markup,
    details,
    facts,
    join,
    page,
    paragraph,
    plain_number,
    section,
    table,
    text,
)
from structopt.report.scrubber import policy

FILTERS = ("set", "problem", "solver", "tolerance", "status")
COLUMNS = (*FILTERS, "cpu", "error", "primal_residual", "dual_residual", "gap", "objective",
           "iterations", "digest", "message")  # fmt: skip
_WORDS = (0, 1, 2, 4, 12, 13)

SCRIPT = """
const body = document.getElementById("attempts");
const boxes = [...document.querySelectorAll("select[data-column]")];
const counted = document.getElementById("counted");
const show = () => {
  let shown = 0;
  for (const row of body.rows) {
    const fits = boxes.every((box) => !box.value ||
      row.cells[Number(box.dataset.column)].textContent === box.value);
    row.hidden = !fits;
    shown += fits;
  }
  counted.textContent = `${shown} of ${body.rows.length} attempts`;
};
boxes.forEach((box) => box.addEventListener("change", show));
show();
"""


def comparison_page(done: Comparison, pictures: Mapping[str, bytes]) -> bytes:
    """Return a comparison as one self-contained HTML file; ``pictures`` are SVG by name."""
    parts = slices(done.rows)
    drawn = (_picture(name, svg) for name, svg in pictures.items())
    rankings = (_table(ranking_table(key, costs)) for key, costs in parts.items())
    return page(
        "structopt: solver comparison",
        _verdict(done),
        join(paragraph(text(said)) for said in remarks(done)),
        section("Who solves what", *rankings),
        section("Profiles", *drawn),
        section("Claims", _table(claims_table(done)), _table(status_table(done))),
        section("Tolerances", _table(tolerance_table(done), words=(0, 1, 2))),
        section(
            "Problems",
            *(details(f"{key[0]} at {key[1]:g}", _table(cost_table(key, costs)))
              for key, costs in parts.items()),
            *(details(t.title, _table(t)) for t in split_tables(done)),
        ),
        section("Every attempt", _attempts(done)),
        section("Run it again", _machines(done)),
        section("Limitations", _list(LIMITATIONS)),
        script=SCRIPT,
        policy=policy(SCRIPT),
    )  # fmt: skip


def _verdict(done: Comparison) -> Markup:
    taken = [row for row in done.rows if row["status"] != "refused"]
    solved = sum(row["status"] in SOLVED for row in taken)
    wrong = sum(row["status"] == "wrong" for row in taken)
    names = len(every(done.rows, "set", "problem"))
    said = (
        f"{solved} of {len(taken)} attempts solved their problem by our own check of the answer, "
        f"on {names} problems; {wrong} were said to be optimal and were not."
    )
    return paragraph(text(said), "verdict good" if done.agree and not wrong else "verdict warn")


def _table(given: Table, *, words: tuple[int, ...] = (0,)) -> Markup:
    rows = [[text(cell) for cell in row] for row in given.rows]
    shown = table(given.columns, rows, caption=given.title, words=words)
    return join([shown, *(paragraph(text(note), "soft") for note in given.notes)])


def _picture(name: str, svg: bytes) -> Markup:
    # as part of the page, without the prolog and metadata that only a file has
    drawing = re.sub("<metadata>.*?</metadata>", "", svg.decode(), flags=re.DOTALL)
    drawing = drawing[drawing.index("<svg") :]
    return Markup(f'<figure role="img" aria-label="{text(name)}">{drawing}</figure>')


def _attempts(done: Comparison) -> Markup:
    shown = [[_cell(row.get(name)) for name in COLUMNS] for row in done.rows]
    heads = tuple(name.replace("_", " ") for name in COLUMNS)
    rows = [[text(cell) for cell in row] for row in shown]
    boxes = []
    for j, name in enumerate(FILTERS):
        values = list(dict.fromkeys(row[j] for row in shown))
        options = "".join(f'<option value="{text(v)}">{text(v)}</option>' for v in values)
        boxes.append(
            f'<label>{text(name)} <select data-column="{j}"><option value="">all</option>'
            f"{options}</select></label>"
        )
    form = Markup(f'<p class="filters">{" ".join(boxes)} <output id="counted"></output></p>')
    return join([form, table(heads, rows, caption="Attempts", words=_WORDS, ident="attempts")])


def _cell(value: object) -> str:
    if value is None:
        return ""
    return plain_number(value, 3) if isinstance(value, float) else str(value)


def _machines(done: Comparison) -> Markup:
    pieces: list[Markup] = []
    for machine in done.machines:
        versions = ", ".join(f"{name}=={version}" for name, version in machine["versions"].items())
        libraries = ", ".join(
            f"{pool.get('internal_api')} {pool.get('version')}, {pool.get('num_threads')} threads"
            for pool in machine["libraries"] or ()
        )
        pieces.append(facts([
            ("machine", text(machine["machine_id"])),
            ("command", Markup(f"<code>{text(machine['command'])}</code>")),
            ("date", text(machine["date"])),
            ("processor", text(f"{machine['processor']}, {machine['cores']} cores, load "
                               f"{machine['load']}, {machine['system']}")),
            ("Python", text(machine["python"])),
            ("packages", text(versions)),
            ("libraries", text(libraries)),
        ]))  # fmt: skip
    return join(pieces) if pieces else NOTHING


def _list(sentences: Iterable[str]) -> Markup:
    items = "".join(f"<li>{text(sentence)}</li>" for sentence in sentences)
    return Markup(f'<ul class="soft">{items}</ul>')
