"""The order of the modules holds: data flow one way, and each effect has one place."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import lineage_post

ROOT = Path(lineage_post.__file__).parent
#: Top-level modules in the order in which data flow; imports point only towards earlier ones.
ORDER = (
    "vocabulary",
    "components",
    "fast_json",
    "errors",
    "options",
    "yaml_lines",
    "init_project",
    "trace",
    "cache",
    "artifacts",
    "relations",
    "schema",
    "values",
    "graph",
    "lineage",
    "selection",
    "policy",
    "consumers",
    "impact",
    "diff",
    "unused",
    "governance",
    "contracts",
    "history",
    "producers",
    "provenance",
    "publish",
    "bridge",
    "server",
    "cli",
    "__main__",
)
MODULES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py"))


def entry_of(module: str) -> str:
    return module.split("/")[0].removesuffix(".py")


def imports_of(module: str) -> Iterator[str]:
    """Full names of all modules imported, also inside functions and for type checking."""
    for node in ast.walk(ast.parse((ROOT / module).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: imports are absolute"
            name = node.module or ""
            yield name
            if name == "lineage_post" or name.startswith("lineage_post."):
                yield from (f"{name}.{alias.name}" for alias in node.names)


def our_entries(module: str) -> set[str]:
    parts = (name.split(".") for name in imports_of(module))
    return {p[1] for p in parts if p[0] == "lineage_post" and len(p) > 1} & {*ORDER}


@pytest.mark.parametrize("module", [m for m in MODULES if m != "__init__.py"])
def test_imports_point_only_towards_earlier_modules(module: str) -> None:
    own = entry_of(module)
    assert own in ORDER, f"{own} has no place in the order of the modules yet"
    later = {name for name in our_entries(module) if ORDER.index(name) > ORDER.index(own)}
    assert not later, f"{module} imports {later}, which come after {own}"


@pytest.mark.parametrize("module", MODULES)
def test_dbt_is_imported_by_the_bridge_alone(module: str) -> None:
    packages = {name.split(".")[0] for name in imports_of(module)}
    foreign = {name for name in packages if name == "dbt" or name.startswith("dbt_")}
    assert not foreign or entry_of(module) == "bridge"


@pytest.mark.parametrize("module", MODULES)
def test_only_the_command_line_prints(module: str) -> None:
    tree = ast.parse((ROOT / module).read_text(encoding="utf-8"))
    called = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    calls = {function.id for function in called if isinstance(function, ast.Name)}
    terminal = {name.split(".")[0] for name in imports_of(module)} & {"click", "rich"}
    assert entry_of(module) == "cli" or not ("print" in calls or terminal)


@pytest.mark.parametrize("module", [m for m in MODULES if entry_of(m) == "trace"])
def test_the_tracer_knows_no_dbt(module: str) -> None:
    assert our_entries(module) <= {"vocabulary", "errors", "trace"}
