"""The site's structure: every page is in a toctree, every public name in the reference."""

import doctest
import importlib
import inspect
import re
import sys
from pathlib import Path

import pytest

from structopt import names

DOCS = Path(__file__).parents[2] / "docs"
TREE = re.compile(r"```\{toctree\}\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def reference():
    pytest.importorskip("sphinx")
    sys.path.insert(0, str(DOCS / "_ext"))
    try:
        import reference

        return reference
    finally:
        sys.path.remove(str(DOCS / "_ext"))


def children(page):
    """Return the pages that the toctrees of a page name."""
    for block in TREE.findall(page.read_text(encoding="utf-8")):
        for line in block.splitlines():
            entry = re.sub(r".*<(.+)>", r"\1", line.strip())
            if entry and not entry.startswith(":"):
                yield from page.parent.glob(f"{entry}.md")


def test_toctrees_hold_every_page():
    seen, open_ = set(), [DOCS / "index.md"]
    while open_:
        page = open_.pop().resolve()
        if page not in seen:
            seen.add(page)
            open_ += children(page)
    built = {"_build", "auto_examples", "api", "pages"}
    every = {p.resolve() for p in DOCS.rglob("*.md") if not built & set(p.relative_to(DOCS).parts)}
    assert sorted(str(p.relative_to(DOCS)) for p in every - seen) == []


def test_every_public_name_is_in_the_reference(reference):
    pages = reference.pages()
    for entry in names.NAMES:
        path = reference.path_of(entry)
        assert re.search(rf":: {path}$", pages[reference.page_of(entry)], re.MULTILINE)
        assert pages["index"].count(f"<{path}>") == 1
    for name in names.MODULES:
        assert f"modules/{name}" in pages["modules"]


@pytest.mark.parametrize("entry", names.NAMES, ids=lambda e: e.name)
def test_every_public_name_has_an_example_that_runs(entry):
    value = entry.load()
    texts = [inspect.getdoc(sys.modules[f"structopt.{entry.home}"])]
    if inspect.isclass(value) or inspect.isroutine(value):
        texts += [inspect.getdoc(value)]
    if inspect.isclass(value):
        texts += [inspect.getdoc(member) for member in vars(value).values() if callable(member)]
    assert any(">>>" in (text or "") for text in texts)  # the doctests are run where they stand


@pytest.mark.parametrize("name", ["mathml", "plain_formulas", "reference", "repository_links"])
def test_examples_in_the_site_s_own_extensions_run(reference, monkeypatch, name):
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    assert doctest.testmod(importlib.import_module(name)).failed == 0
