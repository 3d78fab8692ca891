"""Every example can stand in the gallery; building the site runs them all."""

import ast
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("plot_*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_example_has_a_title_a_text_and_a_figure(path):
    source = path.read_text(encoding="utf-8")
    title, rule, blank, *text = ast.get_docstring(ast.parse(source)).splitlines()
    assert rule == "=" * len(title), f"{path.name}: a title, underlined, opens the docstring"
    assert not blank
    assert text
    assert source.count(".savefig(") == 1
    listed = path.parents[1] / "docs" / "examples.md"
    assert path.name in listed.read_text(encoding="utf-8"), f"{path.name} is not in {listed.name}"
