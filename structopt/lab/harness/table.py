r"""Tables of results: for the terminal, as Markdown and as CSV.

>>> table = Table("Ages", ("who", "years"), (("Ada", "36"),), ("As of 1852.",))
>>> print(table.markdown())
### Ages
<BLANKLINE>
| who | years |
|---|---:|
| Ada | 36 |
<BLANKLINE>
As of 1852.
<BLANKLINE>
>>> print(table.latex())
% Ages
% As of 1852.
\begin{tabular}{lr}
\toprule
who & years \\
\midrule
Ada & 36 \\
\bottomrule
\end{tabular}
<BLANKLINE>
>>> table.csv()
'who,years\r\nAda,36\r\n'
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """Cells as text; the first column names the row."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def markdown(self) -> str:
        """Return the table as Markdown, its notes below it."""
        lines = [f"### {self.title}", "", _line(self.columns)]
        lines.append("|---|" + "---:|" * (len(self.columns) - 1))
        lines += [_line(row) for row in self.rows]
        for note in self.notes:
            lines += ["", note]
        return "\n".join(lines) + "\n"

    def csv(self) -> str:
        """Return columns and rows as CSV."""
        text = io.StringIO()
        writer = csv.writer(text)
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return text.getvalue()

    def latex(self) -> str:
        """Return a ``tabular`` of booktabs, with the title and notes as comments."""
        head = [f"% {line}" for line in (self.title, *self.notes)]
        columns = "l" + "r" * (len(self.columns) - 1)
        rows = [_latex_line(row) for row in self.rows]
        body = [r"\toprule", _latex_line(self.columns), r"\midrule", *rows, r"\bottomrule"]
        begin, end = rf"\begin{{tabular}}{{{columns}}}", r"\end{tabular}"
        return "\n".join([*head, begin, *body, end]) + "\n"


def _latex_line(cells: Sequence[str]) -> str:
    return " & ".join(cell.translate(_LATEX) for cell in cells) + r" \\"


_LATEX = str.maketrans(
    {c: f"\\{c}" for c in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
       "<": r"\textless{}", ">": r"\textgreater{}"}
)  # fmt: skip


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"
