"""The README and the pages under docs run as they stand."""

import re
import subprocess
import sys
import textwrap
import types
from pathlib import Path

import cloudpickle
import pytest

ROOT = Path(__file__).parents[2]
WRITTEN = {"_build", "api", "auto_examples", "pages"}  # when the site is built
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *(
        p
        for p in sorted((ROOT / "docs").rglob("*.md"))
        if not WRITTEN & set(p.relative_to(ROOT).parts)
    ),
]
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_python_blocks_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    module = types.ModuleType("page")  # where its classes are found, by pickle too
    monkeypatch.setitem(sys.modules, "page", module)
    cloudpickle.register_pickle_by_value(module)  # other processes cannot import it
    try:
        for block in BLOCK.findall(page.read_text(encoding="utf-8")):
            code = textwrap.dedent(block)  # blocks of list items are indented
            exec(compile(code, str(page), "exec"), vars(module))
    finally:
        cloudpickle.unregister_pickle_by_value(module)


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name} -> {target}"


def test_ci_runs_the_readme_s_test_command():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"```sh\n(.*?)```", readme, re.DOTALL)
    assert len(commands) == 2
    assert commands[1].strip() in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_importing_structopt_loads_nothing_heavy():
    code = (
        "import sys, structopt; heavy = {'cvxpy', 'numba', 'scipy', 'sklearn', 'networkx', 'numpy'}"
        "; sys.exit(', '.join(heavy & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_public_name_can_be_loaded():
    import structopt

    for name in structopt.__all__:
        assert getattr(structopt, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = structopt.nothing
