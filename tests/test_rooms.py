"""The rooms of the house: each imports only rooms before it, at any level and for any reason."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "structopt"
ROOT = ["errors", "parameters", "arrays", "files", "names"]
ROOMS = [
    "datasets",
    "features",
    "structures",
    "engines",
    "formulations",
    "run",
    "master",
    "backends",
    "methods",
    "learn",
    "report",
    "testing",
    "lab",
    "cli",
]
STRUCTURES = [
    "base",
    "losses",
    "multiclass",
    "chain",
    "second_order",
    "segments",
    "hierarchy",
    "arborescence",
    "lattice",
    "grammar",
    "alignment_path",
    "matching",
    "graph_matching",
    "cut",
    "markov_net",
    "label_vector",
    "program",
    "decision",
    "ranking",
    "subset",
    "multi_label",
    "enumerated",
    "constrain",
    "references",
]


def imports(path):
    """Every module of this package that a file imports, inside functions and for typing too."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name.split(".")[0] == "structopt")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "structopt":
            assert node.level == 0, f"{path}: a relative import"
            for alias in node.names:
                deeper = PACKAGE.joinpath(*node.module.split(".")[1:], alias.name)
                module = deeper.is_dir() or deeper.with_suffix(".py").is_file()
                yield f"{node.module}.{alias.name}" if module else node.module


def upward(order, depth):
    """Imports of a module that stands behind the importing one in ``order``."""
    for path in sorted(PACKAGE.rglob("*.py")):
        here = ["structopt", *path.relative_to(PACKAGE).with_suffix("").parts]
        if len(here) <= depth or here[depth] not in order:
            continue
        for module in imports(path):
            there = module.split(".")
            known = len(there) > depth and there[depth] in order
            same = known and there[:depth] == here[:depth]
            if same and order.index(there[depth]) > order.index(here[depth]):
                yield f"{'.'.join(here)} imports {module}"


def test_a_room_imports_only_rooms_before_it():
    assert not list(upward([*ROOT, *ROOMS], 1))


def test_a_structure_imports_only_structures_before_it():
    assert not list(upward(STRUCTURES, 2))


def folders(path):
    return {p.name for p in path.iterdir() if p.is_dir() and p.name != "__pycache__"}


def test_every_file_has_a_room():
    assert folders(PACKAGE) == set(ROOMS)
    assert folders(PACKAGE / "structures") == set(STRUCTURES)
    root = {p.name for p in PACKAGE.iterdir() if p.suffix in (".py", ".pyi")}
    assert root == {"__init__.py", "__init__.pyi", "__main__.py", *(f"{n}.py" for n in ROOT)}
