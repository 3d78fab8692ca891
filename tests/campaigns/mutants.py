"""Small wrong changes to a source file, one at a time, over its syntax tree.

``sites(tree)`` lists them in the order of the source; ``mutated(source, k)`` is the tree with the
k-th one made. Messages of errors, docstrings, annotations, defaults, ``__repr__`` and logging are
left alone: a change there makes no answer and no bound wrong.

>>> [site.label for site in sites(ast.parse("def f(a, b):\\n    return a < 2 * b"))]
['f | a < 2 * b -> a <= 2 * b', 'f | a < 2 * b -> a >= 2 * b', 'f | 2 * b -> 2 / b', 'f | 2 -> 3']
"""

import ast
import copy
from collections import Counter
from dataclasses import dataclass

COMPARISONS = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
NAMES = {
    "min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "any": "all",
    "all": "any", "argmax": "argmin", "argmin": "argmax", "zeros": "ones", "ones": "zeros",
    "floor": "ceil", "ceil": "floor", "isposinf": "isneginf", "isneginf": "isposinf",
    "logical_and": "logical_or", "logical_or": "logical_and", "cumsum": "cumprod",
    "zeros_like": "ones_like", "ones_like": "zeros_like", "union1d": "intersect1d",
}  # fmt: skip
UNWRAPPED = {"abs", "fabs", "sort", "unique", "flipud", "sqrt", "isfinite", "copy"}
UNREAD = {
    "annotation", "returns", "decorator_list", "bases", "type_comment", "defaults", "kw_defaults",
}  # fmt: skip
"""Parts of a definition that no answer depends on; defaults are promises of the documentation."""
BODIES = {"body", "orelse", "finalbody"}
SKIPPED = {"__repr__", "__str__"}
LOGGERS = {"log", "logger", "_LOG", "_log", "logging", "warnings"}


@dataclass(frozen=True)
class Site:
    """One change: where, to what, and its name, the same while the function is the same."""

    path: tuple[tuple[str, int | None], ...]
    becomes: ast.AST
    label: str
    line: int


def mutated(source: str, site: Site) -> ast.Module:
    """Return the tree of a source with one change made, and a mark before its statement.

    The mark calls ``_mark_reached()``, a built-in name while a mutant runs.
    """
    tree = ast.parse(source)
    node: ast.AST = tree
    around: tuple[list[ast.stmt], int] = tree.body, 0
    for field, index in site.path[:-1]:
        if field in BODIES and index is not None:
            around = getattr(node, field), index
        node = getattr(node, field) if index is None else getattr(node, field)[index]
    field, index = site.path[-1]
    new = copy.deepcopy(site.becomes)
    if index is None:
        setattr(node, field, new)
    else:
        getattr(node, field)[index] = new
        if field in BODIES:
            around = getattr(node, field), index
    around[0].insert(around[1], ast.parse("_mark_reached()").body[0])
    return ast.fix_missing_locations(tree)


def sites(tree: ast.Module) -> list[Site]:
    """List every change that can be made to a tree."""
    found: list[Site] = []
    _walk(tree, (), "", found)
    seen: Counter[str] = Counter()
    numbered = []
    for site in found:
        seen[site.label] += 1
        again = f" #{seen[site.label]}" if seen[site.label] > 1 else ""
        numbered.append(Site(site.path, site.becomes, site.label + again, site.line))
    return numbered


def _walk(node: ast.AST, path: tuple[tuple[str, int | None], ...], where: str, found: list) -> None:
    if _left_alone(node):
        return
    for new in _changes(node):
        label = f"{where or 'module'} | {_shown(node)} -> {_shown(new)}"
        found.append(Site(path, new, label, getattr(node, "lineno", 0)))
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        where = f"{where}.{node.name}" if where else node.name
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        return  # a negative number is one number
    for field, value in ast.iter_fields(node):
        if field in UNREAD:
            continue
        if isinstance(value, ast.AST):
            _walk(value, (*path, (field, None)), where, found)
        elif isinstance(value, list):
            for k, item in enumerate(value):
                if isinstance(item, ast.AST):
                    _walk(item, (*path, (field, k)), where, found)


def _left_alone(node: ast.AST) -> bool:
    if isinstance(node, ast.Raise | ast.Import | ast.ImportFrom | ast.JoinedStr | ast.Assert):
        return True
    if isinstance(node, ast.FunctionDef):
        return node.name in SKIPPED
    if isinstance(node, ast.Expr):
        value = node.value
        if isinstance(value, ast.Constant):
            return True
        return isinstance(value, ast.Call) and ast.unparse(value.func).split(".")[0] in LOGGERS
    if isinstance(node, ast.If):
        return ast.unparse(node.test) == "TYPE_CHECKING"
    if isinstance(node, ast.Assign):
        return ast.unparse(node.targets[0]) in ("__all__", "__slots__")
    return False


def _changes(node: ast.AST) -> list[ast.AST]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        others = COMPARISONS[type(node.ops[0])]
        return [ast.Compare(node.left, [op()], node.comparators) for op in others]
    if isinstance(node, ast.Compare):  # a chain: the first of its comparisons
        others = COMPARISONS[type(node.ops[0])]
        return [ast.Compare(node.left, [op(), *node.ops[1:]], node.comparators) for op in others]
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return [ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right)]
    if isinstance(node, ast.AugAssign) and type(node.op) in OPERATORS:
        other = ast.AugAssign(node.target, OPERATORS[type(node.op)](), node.value)
        return [other, ast.Pass()]
    if isinstance(node, ast.BoolOp):
        other_op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        return [ast.BoolOp(other_op, node.values)]
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    if isinstance(node, ast.Constant):
        return _other_constants(node.value)
    if isinstance(node, ast.Call):
        return _other_calls(node)
    if isinstance(node, ast.If) and not isinstance(node.test, ast.Compare | ast.UnaryOp):
        return [ast.If(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)]
    if isinstance(node, ast.IfExp) and not isinstance(node.test, ast.Compare | ast.UnaryOp):
        return [ast.IfExp(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)]
    if isinstance(node, ast.Continue):
        return [ast.Break()]
    if isinstance(node, ast.Break):
        return [ast.Continue()]
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return [ast.Pass()]
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        return [ast.Pass()]
    return []


def _other_constants(value: object) -> list[ast.AST]:
    if isinstance(value, bool):
        return [ast.Constant(not value)]
    if isinstance(value, int):
        return [ast.Constant(value + 1)]
    if isinstance(value, float):
        # tolerances are judged by a factor that matters, other numbers by any change
        other = 1.0 if value == 0.0 else value * 1000 if abs(value) < 1e-2 else value * 2
        return [ast.Constant(other)]
    return []


def _other_calls(node: ast.Call) -> list[ast.AST]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    module = isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == "np"
    if name in NAMES:
        func = copy.deepcopy(node.func)
        if isinstance(func, ast.Attribute):
            func.attr = NAMES[name]
        else:
            func.id = NAMES[name]
        return [ast.Call(func, node.args, node.keywords)]
    if (
        name in UNWRAPPED
        and len(node.args) == 1
        and not node.keywords
        and (module or isinstance(node.func, ast.Name))
    ):
        return [node.args[0]]
    if name == "copy" and not node.args and isinstance(node.func, ast.Attribute):
        return [node.func.value]
    return []


def _shown(node: ast.AST) -> str:
    if isinstance(node, ast.If):
        return f"if {ast.unparse(node.test)}"
    text = " ".join(ast.unparse(ast.fix_missing_locations(copy.deepcopy(node))).split())
    return text if len(text) <= 100 else text[:97] + "..."
