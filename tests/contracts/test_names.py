"""The one list of names, and everything that must say the same."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import structopt as so
from structopt import names

ROOT = Path(__file__).parents[2]
TABLES = {
    "structures": ("structure", "wrapper"),
    "formulations": ("formulation",),
    "backends": ("backend",),
    "methods": ("method",),
}


def first_table(page):
    """The names in the first column of a page's first table."""
    rows = re.search(r"\|---.*?\n((?:\|.*\n)+)", page.read_text(encoding="utf-8")).group(1)
    found = (re.match(r"\| `([\w-]+)", row) for row in rows.splitlines())
    return {match.group(1) for match in found if match}


def wanted(kinds):
    return {entry.key or entry.name for entry in names.of_kind(*kinds)}


@pytest.mark.parametrize("page", TABLES)
def test_tables_of_the_docs_name_every_entry(page):
    assert first_table(ROOT / "docs" / f"{page}.md") == wanted(TABLES[page])


def test_the_readme_names_every_entry():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    table = readme[readme.index("## What there is") :]
    words = set(re.findall(r"`([\w-]+)`", table))
    for kinds in TABLES.values():
        assert wanted(kinds) - words == set()


def test_the_stub_for_type_checkers_is_up_to_date():
    stub = ROOT / "structopt" / "__init__.pyi"
    before, now = stub.read_text(encoding="utf-8"), names.stub()
    if before != now:
        stub.write_text(now, encoding="utf-8")
    assert before == now, "structopt/__init__.pyi was stale; it is written anew: commit it"


def test_names_are_unique_and_kinds_are_complete():
    listed = [entry.name for entry in names.NAMES]
    assert len(listed) == len(set(listed))
    for entry in names.NAMES:
        assert (entry.key != "") == (entry.kind in ("backend", "method", "outer"))
        loaded = entry.load()
        if entry.key:
            assert loaded.name == entry.key
        assert (loaded.__doc__ or "").strip() or entry.kind == "oracle"
    assert set(dir(so)) == {"__version__", *names.public()}


def test_every_class_of_a_kind_is_in_the_list():
    """What a user could meet has a name: no structure, formulation, ... is forgotten."""
    base = {"formulation": so.Formulation, "backend": so.Backend, "method": so.Method}
    for kind, cls in base.items():
        listed = {entry.load() for entry in names.of_kind(kind)}
        homes = {f"structopt.{entry.home}" for entry in names.of_kind(kind)}
        for found in _subclasses(cls):
            if found.__module__ in homes and not found.__name__.startswith("_"):
                assert found in listed or found.__subclasses__(), found


def _subclasses(cls):
    for found in cls.__subclasses__():
        yield found
        yield from _subclasses(found)


def test_renamed_names_say_the_new_one():
    for old, new in names.RENAMED.items():
        with pytest.raises(AttributeError, match=re.escape(f"structopt.{new}")):
            getattr(so, old)
    with pytest.raises(AttributeError, match=r"no 'Hinge'; it has \['Hamming', 'Confusion'"):
        _ = so.losses.Hinge


def test_looking_a_class_up_imports_nothing_else():
    script = """
import sys
import structopt as so
so.Chain, so.M3N
rooms = {m.split(".")[2] for m in sys.modules if m.startswith("structopt.structures.")}
assert rooms <= {"base", "chain", "losses"}, rooms
"""
    subprocess.run([sys.executable, "-c", script], check=True)
