r"""Exercises of lessons: what a reader answers, and whether it is right, as a notebook shows it.

>>> exercise = Exercise(given=None, answer=26**2)
>>> exercise.verdict, exercise.accepts(676), exercise.accepts(675)
('open', True, False)
>>> Exercise(given=676.0000001, answer=26**2).verdict
'right'
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from jinja2 import Environment

_CARD = Environment(autoescape=True).from_string(
    '<div class="exercise {{ verdict }}" style="border-left: 4px solid {{ colour }}; '
    'padding: .4em .8em; margin: .4em 0">{{ words }}</div>'
)
_LOOKS = {
    "open": ("#888888", "Not answered yet: put your answer in the cell above."),
    "right": ("#0b8a5f", "Right."),
    "wrong": ("#d55e00", "Not yet."),
}


class Exercise:
    """An exercise: what was given as an answer, and how it is checked.

    Parameters
    ----------
    given : object
        The reader's answer; None while there is none.
    answer : object
        The right one: a number, an array, a string, a function, ...
    check : callable, optional
        ``check(answer)`` returns True, or False or a hint in words; whatever it raises is a hint
        too. By default numbers must be equal to a relative 1e-3 and everything else exactly.
    """

    def __init__(
        self, given: Any, answer: Any, check: Callable[[Any], bool | str] | None = None
    ) -> None:
        self.given, self.answer = given, answer
        self._check = self._equal if check is None else check

    @property
    def verdict(self) -> Literal["open", "right", "wrong"]:
        """How it stands."""
        if self.given is None:
            return "open"
        return "right" if self.accepts(self.given) else "wrong"

    def accepts(self, answer: Any) -> bool:
        """Return whether an answer is right."""
        return self._said(answer) == ""

    def _said(self, answer: Any) -> str:
        """Return a hint about a wrong answer, nothing about a right one."""
        try:
            found = self._check(answer)
        except Exception as error:  # a reader's code may do anything
            return f"{type(error).__name__}: {error}"
        if isinstance(found, str):
            return found or "Not yet."
        return "" if found else "Not yet."

    def _equal(self, answer: Any) -> bool:
        if isinstance(self.answer, str | set | frozenset | tuple | bool):
            return bool(answer == self.answer)
        right = np.asarray(self.answer, dtype=float)
        found = np.asarray(answer, dtype=float)
        return found.shape == right.shape and bool(np.allclose(found, right, rtol=1e-3, atol=1e-6))

    def _repr_html_(self) -> str:
        """Show the verdict in a notebook."""
        verdict = self.verdict
        colour, words = _LOOKS[verdict]
        hint = self._said(self.given) if verdict == "wrong" else ""
        if hint and hint != words:
            words = f"{words} {hint}"
        return _CARD.render(verdict=verdict, colour=colour, words=words)
