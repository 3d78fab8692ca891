r"""The page of the zoo: what stands in a formulation's docstring, its code, and its numbers.

A docstring has three paragraphs: what it is, with its source; the programme; when to use it.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Mapping

from structopt.lab.harness.machine import Machine
from structopt.lab.harness.table import Table

HEAD = """# The zoo of formulations

Margin formulations of the literature, each in the few lines that a user writes, from
[examples/zoo.py](../examples/zoo.py). `Hinges` minimises R(w) + C S(xi) under
w . delta_i(y) >= loss_i(y) - xi_i; a subclass says R, S or a master of its own. Every one is
compared with plain CVXPY, all outputs written out, by `tests/contracts/test_zoo.py`. How a
formulation is written: [formulations](formulations.md). Numbers inside (0.3, two groups, ...) stand
for choices of yours. The page is written by:"""


def code(cls: type) -> str:
    """Return the lines of a class without its docstring.

    >>> print(code(Table).splitlines()[1])
    class Table:
    """
    source = textwrap.dedent(inspect.getsource(cls))
    (node,) = ast.parse(source).body
    assert isinstance(node, ast.ClassDef)
    lines, first = source.splitlines(), node.body[0]
    if ast.get_docstring(node) is not None and first.end_lineno is not None:
        del lines[first.lineno - 1 : first.end_lineno]
    return "\n".join(lines).strip().replace(":\n\n", ":\n", 1)


def entry(name: str, cls: type, table: Table) -> str:
    """Return the section of a formulation."""
    what, formula, when = (*inspect.cleandoc(cls.__doc__ or name).split("\n\n"), "", "")[:3]
    numbers = [
        "; ".join(f"{c} {v}" for c, v in zip(table.columns[1:], row[1:], strict=True) if v)
        for row in table.rows
        if row[0] == name
    ]
    measured = f"Measured: {numbers[0]}." if numbers else "Not measured."
    parts = [f"## {name}", what, _block(formula), when, measured, _block(code(cls))]
    return "\n\n".join(part for part in parts if part)


def _block(text: str) -> str:
    """Return lines as text: the page is to be read, the file beside it to be run."""
    return f"```text\n{textwrap.dedent(text)}\n```" if text else ""


def page(catalogue: Mapping[str, type], table: Table, *, command: str, machine: Machine) -> str:
    """Return the page as Markdown."""
    top = [HEAD, f"`{command}`", str(machine), table.markdown().replace("### ", "## ", 1).strip()]
    return "\n\n".join([*top, *(entry(n, cls, table) for n, cls in catalogue.items())]) + "\n"
