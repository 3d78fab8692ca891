"""The API reference: a page for every entry of ``structopt.names``, written when the site is built.

A class or function shows its own docstring, then that of its file, where formula and example of
the one concept of the file stand.
"""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

from docutils import nodes
from plain_formulas import readable
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.nodes import make_refnode

import structopt
from structopt import names

SECTIONS = [
    ("Models", "What one fits and predicts with.", ["model", "callback"]),
    ("Functions", "Around a model.", ["function"]),
    ("Structures", "What an output can be.", ["structure", "wrapper"]),
    ("Losses", "What a wrong output costs: ``so.losses.X``, given to a structure.", ["loss"]),
    ("Formulations", "What is minimised.", ["formulation", "constraint", "nonconvex"]),
    ("Methods", "How a formulation is driven to its optimum.", ["method", "outer"]),
    ("Backends", "Who solves the master problem.", ["backend", "solver"]),
    ("Features", "From text, tables and images to numbers.", ["features"]),
    ("Decisions", "What a ``Decision`` chooses from: ``so.decisions.X``.", ["decisions"]),
    ("Pictures", "Outputs, weights and runs as figures: ``so.draw.x``.", ["drawing"]),
    ("Records", "What a run hands out.", ["record", "warning"]),
    ("To build on", "Classes to derive from, and the questions they ask.", ["base", "oracle"]),
]
"""Title, introduction and kinds of each part of the reference; further kinds come after them."""


def path_of(entry: names.Name) -> str:
    """Return what a user writes for a name: in the package, or in one of its public modules.

    >>> path_of(names.of_kind("loss")[0]), path_of(names.of_kind("model")[0])
    ('structopt.losses.Hamming', 'structopt.StructuredClassifier')
    """
    if entry.kind == "warning":  # documented with its relatives
        return f"structopt.errors.{entry.name}"
    value = entry.load()
    if getattr(structopt, entry.name, None) is value:
        return f"structopt.{entry.name}"
    (module,) = (m for m in names.MODULES if _member(getattr(structopt, m), entry.name) is value)
    return f"structopt.{module}.{entry.name}"


def _member(module: Any, name: str) -> Any:
    try:
        return getattr(module, name, None)
    except ImportError:
        return None


def page_of(entry: names.Name) -> str:
    """Return the place of a name's page below docs/api."""
    return f"names/{path_of(entry).removeprefix('structopt.')}"


def summary(value: Any) -> str:
    """Return the first sentence of a docstring."""
    if inspect.isclass(value) or inspect.isroutine(value) or inspect.ismodule(value):
        text = inspect.getdoc(value) or ""
    else:
        text = getattr(value, "question", "")
    return " ".join(text.split("\n\n")[0].split())


def _title(text: str, under: str = "=") -> list[str]:
    return [text, under * len(text), ""]


def _object(path: str, value: Any) -> list[str]:
    if inspect.isclass(value):
        if issubclass(value, Exception):
            return [f".. autoexception:: {path}", "   :show-inheritance:", ""]
        return [f".. autoclass:: {path}", "   :members:", "   :show-inheritance:", ""]
    if inspect.isroutine(value):
        return [f".. autofunction:: {path}", ""]
    return [f".. py:data:: {path}", "", f"   The question: {summary(value)}.", ""]


def _name_page(entry: names.Name) -> str:
    value, path = entry.load(), path_of(entry)
    lines = [*_title(entry.name), *_object(path, value)]
    home = importlib.import_module(f"structopt.{entry.home}")
    if len((inspect.getdoc(home) or "").splitlines()) > 1:
        lines += _title("In detail", "-")
        lines += [f".. automodule:: {home.__name__}", "   :no-members:", "   :no-index:", ""]
    return "\n".join(lines)


def _skip(_app: Sphinx, _what: str, name: str, _obj: object, skip: bool, _opts: object) -> bool:
    """Leave out what scikit-learn adds to every estimator for metadata routing."""
    return skip or (name.startswith("set_") and name.endswith("_request"))


def members(module: Any) -> list[str]:
    """Return the public names of a public module that are defined in this library."""
    if listed := getattr(module, "__all__", None):
        return list(listed)
    if "__dir__" in vars(module):  # its names are loaded when they are asked for
        return list(dir(module))
    own = (
        name
        for name, value in vars(module).items()
        if value.__class__.__module__ == module.__name__
        or getattr(value, "__module__", "") == module.__name__
    )
    return [name for name in own if not name.startswith("_")]


def _module_page(name: str) -> str:
    module = getattr(structopt, name)
    lines = _title(f"structopt.{name}")
    lines += [f".. automodule:: {module.__name__}", "   :no-members:", "   :no-index:", ""]
    elsewhere = [e for e in names.NAMES if path_of(e).startswith(f"structopt.{name}.")]
    lines += _table([_row(entry) for entry in elsewhere]) if elsewhere else []
    for member in members(module):
        if not any(e.name == member and getattr(module, member) is e.load() for e in names.NAMES):
            lines += _object(f"structopt.{name}.{member}", getattr(module, member))
    return "\n".join(lines)


def _row(entry: names.Name) -> tuple[str, str]:
    return f":py:obj:`{entry.name} <{path_of(entry)}>`", _escape(summary(entry.load()))


def _table(rows: list[tuple[str, str]]) -> list[str]:
    lines = [".. list-table::", "   :widths: 30 70", "   :class: names", ""]
    for link, text in rows:
        lines += [f"   * - {link}", f"     - {text}"]
    return [*lines, ""]


def _escape(text: str) -> str:
    return readable([text])[0] if text else ""


def _tree(places: list[str]) -> list[str]:
    return [".. toctree::", "   :hidden:", "", *(f"   {place}" for place in places), ""]


def _sections() -> list[tuple[str, str, list[str]]]:
    shown = {kind for _, _, kinds in SECTIONS for kind in kinds}
    rest = sorted({entry.kind for entry in names.NAMES} - shown)
    return [*SECTIONS, *((kind.capitalize(), "", [kind]) for kind in rest)]


def pages() -> dict[str, str]:
    """Return every page of the reference by its place below docs/api."""
    out: dict[str, str] = {}
    index = _title("API reference")
    index += ["Every public name: ``import structopt as so``, then ``so.X``.", ""]
    places = []
    for title, intro, kinds in _sections():
        entries = names.of_kind(*kinds)
        out |= {page_of(entry): _name_page(entry) for entry in entries}
        table = _table([_row(entry) for entry in entries])
        places.append(title.lower().replace(" ", "_"))
        tree = _tree([page_of(entry) for entry in entries])
        out[places[-1]] = "\n".join([*_title(title), intro, "", *table, *tree])
        index += [*_title(title, "-"), intro, "", *table]
    modules = sorted(names.MODULES)
    rows = []
    for name in modules:
        out[f"modules/{name}"] = _module_page(name)
        about = _escape(summary(getattr(structopt, name)))
        rows.append((f":doc:`so.{name} </api/modules/{name}>`", about))
    tree = _tree([f"modules/{name}" for name in modules])
    out["modules"] = "\n".join([*_title("Modules"), *_table(rows), *tree])
    index += [*_title("Modules", "-"), *_table(rows)]
    out["index"] = "\n".join([*index, *_tree([*places, "modules"])])
    return out


def _write(app: Sphinx) -> None:
    folder = Path(app.srcdir) / "api"
    written = pages()
    for place, text in written.items():
        path = folder / f"{place}.rst"
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:  # keeps the cache
            path.write_text(text, encoding="utf-8")
    for path in folder.rglob("*.rst"):
        if str(path.relative_to(folder).with_suffix("")) not in written:
            path.unlink()


def _signature(
    _app: Sphinx, what: str, _name: str, obj: Any, _opts: object, shown: str | None, _back: object
) -> tuple[str, str] | None:
    """Show what a class is called with, not that its metaclass passes everything on."""
    if what != "class" or shown != "(*args, **kwargs)":
        return None
    known = inspect.signature(obj)
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in known.parameters.values()]
    return str(inspect.Signature(plain)), ""


def _by_last_name(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, text: nodes.TextElement
) -> nodes.reference | None:
    """Resolve a reference to a name by its home: readers know it by its public place."""
    if node.get("refdomain") != "py":
        return None
    last = node["reftarget"].rpartition(".")[2]
    domain = env.domains["py"]
    places = [path for path in domain.objects if path.rpartition(".")[2] == last]
    if len(places) != 1:
        return None
    found = domain.objects[places[0]]
    return make_refnode(app.builder, node["refdoc"], found.docname, found.node_id, text)


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before Sphinx looks for them."""
    app.connect("builder-inited", _write, priority=100)
    app.connect("autodoc-skip-member", _skip)
    app.connect("autodoc-process-signature", _signature)
    app.connect("missing-reference", _by_last_name)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
