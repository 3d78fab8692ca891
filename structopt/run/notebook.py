"""How records show themselves in a notebook: small tables, every word of them escaped.

>>> card("<b>", [("gap", "1 < 2")]).count("&lt;")
2
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from jinja2 import Environment

_CARD = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(
    """<div class="structopt-card">
<p><strong>{{ title }}</strong></p>
{% if note %}
<p>{{ note }}</p>
{% endif %}
<table>
{% for name, value in facts %}
<tr><th style="text-align: left">{{ name }}</th><td style="text-align: left">{{ value }}</td></tr>
{% endfor %}
</table>
{% if rows %}
<details><summary>{{ summary }}</summary>
<table>
<tr>{% for name in head %}<th>{{ name }}</th>{% endfor %}</tr>
{% for row in rows %}
<tr>{% for cell in row %}<td>{{ cell }}</td>{% endfor %}</tr>
{% endfor %}
</table></details>
{% endif %}
</div>"""
)
MOST = 12
"""Rows of a folded table, from both ends of what there is."""
WIDEST = 120  # letters of an output


def card(
    title: str,
    facts: Iterable[tuple[str, object]],
    *,
    note: str = "",
    summary: str = "",
    head: Sequence[str] = (),
    rows: Sequence[Sequence[object]] = (),
) -> str:
    """Return a heading, named values, and a folded table; all of it is text."""
    shown = list(rows)
    if len(shown) > MOST:
        gap = ["…"] * len(head)
        shown = [*shown[: MOST // 2], gap, *shown[-MOST // 2 :]]
    return _CARD.render(
        title=title, facts=list(facts), note=note, summary=summary, head=head, rows=shown
    )


def number(value: float) -> str:
    """Return a number in a few digits.

    >>> number(1234.56789), number(float("-inf"))
    ('1234.57', '-inf')
    """
    return f"{value:.6g}"


def brief(value: object) -> str:
    """Return anything as text that is not too long for a cell."""
    text = str(value)
    return text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"
