"""Every lesson runs, starts from a picture, and ends with three exercises that can be checked."""

import importlib
from pathlib import Path

import pytest
from marimo._plugins.ui._core.ui_element import UIElement

from structopt.lab.exercise import Exercise

DOCS = Path(__file__).parents[2] / "docs"
LESSONS = sorted((DOCS / "lessons").glob("lesson_*.py"))


@pytest.fixture(scope="module")
def pages():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(DOCS / "_ext")
        yield importlib.import_module("lesson_pages")


def is_picture(output):
    return hasattr(getattr(output, "figure", output), "savefig")


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
def test_a_lesson_runs_and_its_exercises_are_checked(path, pages):
    cells = pages.run_lesson(path, positions=False)
    assert cells[0].name == "title"
    kinds = ["picture" if is_picture(c.output) else c.name for c in cells if c.output is not None]
    assert kinds[1] == "picture", kinds
    exercises = [c.output for c in cells if isinstance(c.output, Exercise)]
    assert len(exercises) == 3
    for exercise in exercises:
        assert exercise.verdict != "right"  # nobody has answered yet
        assert exercise.accepts(exercise.answer)
        for wrong in (None, "nothing", -1.2345, 1e9, lambda *_: 0.0, lambda *_: None):
            assert not exercise.accepts(wrong)
    choices = {name for c in cells for name, v in c.defined.items() if isinstance(v, UIElement)}
    for cell in cells:  # a page moves one choice at a time, and only pictures depend on it
        reads = choices & set(cell.code_names)
        assert not reads or not cell.defined or reads <= set(cell.defined)


def test_pages_stand_by_themselves(pages, tmp_path):
    path = DOCS / "lessons" / "lesson_02_oracles.py"
    pages.write_page(path, tmp_path)
    text = (tmp_path / f"{path.stem}.md").read_text(encoding="utf-8")
    assert "http" not in text
    assert text.count("<details><summary>Answer</summary>") == 3
    assert text.count('class="lesson-position"') == 5
    for place in ("filling-0", "filling-4", "the_trellis"):
        assert (tmp_path / path.stem / f"{place}.png").stat().st_size > 5_000


def test_exercises_say_what_is_wrong_and_run_nothing_of_it():
    assert "Not answered yet" in Exercise(None, 1)._repr_html_()
    card = Exercise("<script>alert(1)</script>", 1)._repr_html_()
    assert "<script>" not in card
    assert "ValueError" in card
    hint = Exercise(2, 1, lambda _: "<b>too large</b>")._repr_html_()
    assert "&lt;b&gt;too large" in hint
