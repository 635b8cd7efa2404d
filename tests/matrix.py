"""The tests on other versions: ``python -m tests.matrix [name ...]``, or ``make test-matrix``.

Each environment is a folder of its own below ``.matrix/``, made from constraints.txt with some
packages moved. Prints one line per environment; exits with 1 if one of them failed.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import tomllib

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".matrix"
ENGINE_TESTS = ("tests/unit", "tests/oracle")
DBT_TESTS = ("tests/dbt", "tests/integration", "tests/contracts")


@dataclass(frozen=True)
class Environment:
    """``moved``: requirements in place of the pins; ``bare``: installed without dependencies."""

    name: str
    moved: tuple[str, ...]
    tests: tuple[str, ...]
    bare: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


ENVIRONMENTS = (
    Environment("sqlglot-floor", ("sqlglot==30.26.*",), ENGINE_TESTS, without=("sqlglotc",)),
    Environment("sqlglot-pure", (), ENGINE_TESTS, without=("sqlglotc",)),
    Environment("dbt-1.10", ("dbt-core==1.10.*", "dbt-duckdb", "dbt-postgres"), DBT_TESTS),
    # Its parser package downloads a binary while it installs; dbt works without it.
    Environment(
        "dbt-1.12",
        ("python-dotenv", "rapidfuzz", "tabulate"),
        DBT_TESTS,
        bare=("dbt-core==1.12.*", "metricflow<1.0"),
    ),
    # The extensions that the tests of the engine use stop before it.
    Environment("duckdb-2", (), DBT_TESTS, bare=("duckdb==2.0.1",)),
    Environment(
        "spark",
        ("dbt-spark[session]==1.11.*", "pyspark==4.*"),
        ("tests/integration/test_spark.py",),
    ),
    Environment(
        "table-formats",
        (
            "duckdb-extension-avro==1.5.5",
            "duckdb-extension-delta==1.5.5",
            "duckdb-extension-ducklake==1.5.5",
            "duckdb-extension-iceberg==1.5.5",
            "deltalake",
            "pyarrow",
            "pyiceberg[sql-sqlite]",
        ),
        ("tests/integration/test_table_formats.py",),
    ),
)


def main(names: list[str]) -> int:
    """Runs the named environments, or all; returns the exit code."""
    known = {environment.name: environment for environment in ENVIRONMENTS}
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"No environment {', '.join(unknown)}; there are {', '.join(known)}.")
        return 2
    outcomes = {name: run(known[name]) for name in names or known}
    for name, passed in outcomes.items():
        print(f"{name:16} {'passed' if passed else 'FAILED'}")
    return 0 if all(outcomes.values()) else 1


def run(environment: Environment) -> bool:
    """Makes the environment where it is missing and runs its tests."""
    print(f"--- {environment.name}", flush=True)
    python = FOLDER / environment.name / "bin/python"
    try:
        if made_of(environment) != digest_of(environment):
            make(environment, python)
        existing = [test for test in environment.tests if (ROOT / test).exists()]
        subprocess.run([python, "-m", "pytest", "-q", *existing], cwd=ROOT, check=True)
    except subprocess.CalledProcessError:
        return False
    return True


def digest_of(environment: Environment) -> str:
    """Changes with what the environment is made from."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return hashlib.sha256(repr((environment, project, pins())).encode()).hexdigest()


def made_of(environment: Environment) -> str:
    """The digest that the environment was made with, empty where it is not there."""
    mark = FOLDER / environment.name / ".made"
    return mark.read_text(encoding="utf-8") if mark.exists() else ""


def make(environment: Environment, python: Path) -> None:
    home = FOLDER / environment.name
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
    pins = home / "constraints.txt"
    pins.write_text("\n".join(kept_pins(environment)) + "\n", encoding="utf-8")
    pip = (python, "-m", "pip", "--quiet", "--disable-pip-version-check")
    packages = ("-e", f"{ROOT}[test,fast,serve,openlineage]", *environment.moved)
    subprocess.run([*pip, "install", "-c", pins, *packages], check=True)
    if environment.bare:
        subprocess.run([*pip, "install", "--no-deps", *environment.bare], check=True)
    if environment.without:
        subprocess.run([*pip, "uninstall", "-y", *environment.without], check=True)
    (home / ".made").write_text(digest_of(environment), encoding="utf-8")


def kept_pins(environment: Environment) -> list[str]:
    """constraints.txt without the packages that this environment moves.

    Another dbt brings dependencies of its own: then only what pyproject.toml names stays pinned.
    """
    moved = {base_name(requirement) for requirement in environment.moved}
    lines = [line for line in pins() if base_name(line) not in moved]
    if "sqlglot" in moved:
        return [line for line in lines if base_name(line) != "sqlglotc"]
    if any(name.startswith("dbt-") for name in moved):
        kept = {name for name in own_requirements() if not name.startswith("dbt-")}
        return [line for line in lines if base_name(line) in kept]
    return lines


def own_requirements() -> set[str]:
    """The packages that pyproject.toml names."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    extras = project["optional-dependencies"].values()
    listed = [*project["dependencies"], *(name for extra in extras for name in extra)]
    return {base_name(requirement) for requirement in listed}


def pins() -> list[str]:
    return (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()


def base_name(requirement: str) -> str:
    return re.split(r"[\[=<>~!; ]", requirement, maxsplit=1)[0].lower().replace("_", "-")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
