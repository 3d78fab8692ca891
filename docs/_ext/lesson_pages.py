"""Lessons as pages: every cell of a marimo notebook run once, and what it showed.

A page stands by itself, without kernel or network. A cell that reads a slider (or another choice)
is run at each of its positions; a script of a few lines lets the reader move through the pictures,
and without it they stand below one another. Cells named ``answer_...`` are folded away, and what
checks them is left to the notebook.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib.util
import io
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import marimo
from marimo._plugins.ui._core.ui_element import UIElement
from PIL import Image

HERE = Path(__file__).parent
LESSONS = HERE.parent / "lessons"
PACKAGE = HERE.parents[1] / "structopt"


@dataclass
class Shown:
    """A cell and what it showed; at each position of a choice, if it reads one."""

    name: str
    code: str
    hidden: bool
    output: Any = None
    printed: str = ""
    choice: tuple[str, Any] | None = None
    positions: list[tuple[Any, Any, str]] = field(default_factory=list)
    defined: dict[str, Any] = field(default_factory=dict)
    code_names: tuple[str, ...] = ()


def run_lesson(path: Path, *, positions: bool = True) -> list[Shown]:
    """Run a lesson's cells from top to bottom; with `positions`, also at every choice."""
    spec = importlib.util.spec_from_file_location(f"lesson_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    known: dict[str, Any] = {}
    shown = []
    for cell in cells_of(path):
        body = getattr(module, cell.name)
        given = {name: known[name] for name in body.refs if name in known}
        cell.output, cell.printed, cell.defined = _run(body, given)
        known |= cell.defined
        cell.code_names = tuple(body.refs)
        choices = [name for name in given if isinstance(given[name], UIElement)]
        if choices and positions:
            (name,) = choices  # one at a time: the reader of a page moves one slider
            cell.choice = (name, given[name])
            for value in options_of(given[name]):
                moved = given | {name: SimpleNamespace(value=value)}
                cell.positions.append((value, *_run(body, moved)[:2]))
        shown.append(cell)
    return shown


def _run(body: Any, given: dict[str, Any]) -> tuple[Any, str, dict[str, Any]]:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        output, defined = body.run(**given)
    return output, printed.getvalue(), dict(defined)


def cells_of(path: Path) -> list[Shown]:
    """Return a notebook's cells, in order, by their names and code."""
    text = path.read_text(encoding="utf-8")
    found = []
    for node in ast.parse(text).body:
        if not isinstance(node, ast.FunctionDef) or not node.decorator_list:
            continue
        decorator = node.decorator_list[0]
        options = decorator.keywords if isinstance(decorator, ast.Call) else []
        hidden = any(k.arg == "hide_code" and ast.literal_eval(k.value) for k in options)
        lines = text.splitlines()[node.body[0].lineno - 1 : node.body[-1].end_lineno]
        if isinstance(node.body[-1], ast.Return):
            kept = node.body[-1].lineno - node.body[0].lineno
            lines = lines[:kept]
        # comments above the first statement belong to the cell
        first, above = node.body[0].lineno - 2, []
        source = text.splitlines()
        while source[first].strip().startswith("#"):
            above.insert(0, source[first])
            first -= 1
        code = "\n".join(line[4:] for line in [*above, *lines]).strip()
        found.append(Shown(node.name, code, hidden))
    names = [cell.name for cell in found]
    assert len(set(names)) == len(names), f"{path.name}: cells need names of their own"
    return found


def options_of(element: Any) -> list[Any]:
    """Return the positions of a slider, or the options of another choice."""
    if hasattr(element, "options"):
        return list(element.options.values())
    if element.steps:
        return list(element.steps)
    step = element.step or 1
    count = round((element.stop - element.start) / step)
    return [element.start + k * step for k in range(count + 1)]


# ---------------------------------------------------------------------- writing
def write_page(path: Path, folder: Path) -> None:
    """Write the page of a lesson and its pictures."""
    pictures = folder / path.stem
    shutil.rmtree(pictures, ignore_errors=True)
    pictures.mkdir(parents=True)
    parts = []
    for cell in run_lesson(path):
        parts += _block(cell, pictures)
        if len(parts) and cell.name == "title":
            parts.append(_how_to_run(path))
    text = "\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"
    (folder / f"{path.stem}.md").write_text(text, encoding="utf-8")


def _block(cell: Shown, pictures: Path) -> list[str]:
    code = f"```python\n{cell.code}\n```"
    if cell.name.startswith("answer_"):
        return [f"<details><summary>Answer</summary>\n\n{code}\n\n</details>"]
    if cell.name.startswith("check_"):
        return []
    parts = [] if cell.hidden else [code]
    if cell.choice is None:
        return [*parts, *_rendered(cell, cell.output, cell.printed, pictures, "")]
    name, element = cell.choice
    name = name.replace("_", " ")
    parts.append(f'<div class="lesson-choice" data-label="{name}" data-start="{element.value}">')
    for number, (value, output, printed) in enumerate(cell.positions):
        parts.append(f'<div class="lesson-position" data-value="{value}">')
        parts.append(f"*{name}: {value}*")
        parts += _rendered(cell, output, printed, pictures, f"-{number}")
        parts.append("</div>")
    return [*parts, "</div>"]


def _rendered(cell: Shown, output: Any, printed: str, pictures: Path, suffix: str) -> list[str]:
    parts = [f"```text\n{printed.rstrip()}\n```"] if printed.strip() else []
    if output is None or isinstance(output, UIElement):
        return parts
    figure = getattr(output, "figure", output)
    if hasattr(figure, "savefig"):
        file = pictures / f"{cell.name}{suffix}.png"
        _save(figure, file)
        words = cell.name.replace("_", " ")
        return [*parts, f"![{words}]({pictures.name}/{file.name})"]
    if hasattr(output, "_repr_markdown_"):
        return [*parts, output._repr_markdown_()]
    if hasattr(output, "_repr_html_"):
        flat = " ".join(line.strip() for line in output._repr_html_().splitlines())
        return [*parts, f'<div class="lesson-output">{flat}</div>']
    return [*parts, f"```text\n{output}\n```"]


def _save(figure: Any, file: Path) -> None:
    """Save a figure with a palette: a third of the bytes, and nobody sees it."""
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=110)
    with Image.open(drawn) as image:
        small = image.convert("RGB").quantize(256, method=Image.Quantize.MAXCOVERAGE)
        small.save(file, optimize=True)


def _how_to_run(path: Path) -> str:
    return (
        f":::{{note}}\nThis page is a notebook, run from top to bottom. To change things and have "
        f"your answers checked, get {{download}}`{path.name} <../{path.name}>` and say\n"
        f'`pip install "structopt-margin[lessons]"`, `marimo edit {path.name}`.\n:::'
    )


def write_pages(folder: Path) -> None:
    """Write the pages of lessons that changed, or whose library did."""
    folder.mkdir(exist_ok=True)
    library = hashlib.blake2b(digest_size=8)
    for file in [*sorted(PACKAGE.rglob("*.py")), Path(__file__)]:
        library.update(file.read_bytes())
    for path in sorted(LESSONS.glob("lesson_*.py")):
        own = library.copy()
        own.update(path.read_bytes())
        mark = folder / path.stem / "made-of.txt"
        if mark.exists() and mark.read_text() == own.hexdigest():
            continue
        write_page(path, folder)
        mark.write_text(own.hexdigest())


def setup(app: Any) -> dict[str, Any]:
    """Write the pages before Sphinx reads them, and add what moves their pictures."""
    app.connect("builder-inited", lambda _: write_pages(LESSONS / "pages"))
    app.add_js_file("lessons.js")
    app.add_css_file("lessons.css")
    return {"version": marimo.__version__, "parallel_read_safe": True}
