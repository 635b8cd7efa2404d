"""A dbt project of its own for each test: its files, its warehouse, and dbt in this process."""

from __future__ import annotations

import json
import shutil
from contextlib import chdir
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
SOURCES = ("models", "seeds", "snapshots", "dbt_project.yml", "packages.yml")
BASE_TABLES = ("lineage_nodes", "lineage_edges", "lineage_columns", "lineage_refreshes")
#: The 39 tests over the lineage tables; they run in one test, not in all.
NO_TESTS = ("--exclude-resource-type", "test")

Row = tuple[Any, ...]


class Database(Protocol):
    """A warehouse that can be asked and put back to how it was."""

    name: str
    profile: dict[str, Any]

    def query(self, sql: str) -> list[Row]: ...
    def execute(self, sql: str) -> None: ...
    def save(self) -> None: ...
    def restore(self) -> None: ...
    def release(self) -> None: ...


@dataclass
class Result:
    """How a command ended, and every line it logged."""

    code: int
    lines: list[str]
    outcome: Any
    run_id: str = ""
    run_results: list[dict[str, Any]] = field(default_factory=list)

    @property
    def ours(self) -> list[str]:
        """The lines of this package that a user sees."""
        return [line for line in self.lines if "lineage_post: " in line]

    def statuses(self) -> dict[str, str]:
        return {r["unique_id"]: r["status"] for r in self.run_results}


class DbtProject:
    """The project in ``folder``, built on ``database``."""

    def __init__(self, folder: Path, database: Database) -> None:
        self.folder = folder
        self.database = database
        self.target = folder / "target"
        folder.mkdir(parents=True)
        (folder / "dbt_packages").mkdir()
        (folder / "lineage_post_package").symlink_to(ROOT)
        (folder / "dbt_packages" / "lineage_post").symlink_to(ROOT)
        profile = {"shop": {"target": "test", "outputs": {"test": database.profile}}}
        (folder / "profiles.yml").write_text(json.dumps(profile))
        self.restore_files()

    def restore_files(self) -> None:
        for name in SOURCES:
            source, goal = HERE / "project" / name, self.folder / name
            if source.is_dir():
                shutil.rmtree(goal, ignore_errors=True)
                shutil.copytree(source, goal)
            else:
                shutil.copy2(source, goal)

    def save(self) -> None:
        """Remembers the state that every test starts from."""
        self.database.save()
        shutil.copytree(self.target, self.folder / "saved_target")

    def restore(self) -> None:
        """Back to the remembered state."""
        self.restore_files()
        shutil.rmtree(self.target, ignore_errors=True)
        shutil.copytree(self.folder / "saved_target", self.target)
        self.database.restore()

    def write(self, path: str, text: str) -> None:
        (self.folder / path).write_text(text, encoding="utf-8")

    def append(self, path: str, text: str) -> None:
        file = self.folder / path
        file.write_text(file.read_text(encoding="utf-8") + text, encoding="utf-8")

    def remove(self, path: str) -> None:
        (self.folder / path).unlink()

    def configure(self, text: str) -> None:
        """Adds YAML to dbt_project.yml."""
        self.append("dbt_project.yml", text)

    def dbt(self, *args: str) -> Result:
        """Runs a command in this process; ``code`` is what the command line would exit with."""
        from dbt.cli.main import dbtRunner

        lines: list[str] = []
        self.database.release()
        (self.target / "run_results.json").unlink(missing_ok=True)
        with chdir(self.folder):
            runner = dbtRunner(callbacks=[lambda event: _keep(lines, event)])
            outcome = runner.invoke([*args, "--profiles-dir", "."])
        self.database.release()
        code = 0 if outcome.success else 2 if outcome.exception else 1
        return Result(code, lines, outcome, *self._run_results())

    def _run_results(self) -> tuple[str, list[dict[str, Any]]]:
        path = self.target / "run_results.json"
        if not path.exists():
            return "", []
        found = json.loads(path.read_text(encoding="utf-8"))
        return found["metadata"]["invocation_id"], found["results"]

    def query(self, sql: str) -> list[Row]:
        """Rows of a query; ``{lineage}`` is the schema of the lineage tables."""
        return self.database.query(sql.replace("{lineage}", f"{self.schema}_lineage"))

    @property
    def schema(self) -> str:
        return str(self.database.profile.get("schema", "main"))

    def table(self, name: str, columns: str = "*", where: str = "1 = 1") -> list[Row]:
        rows = self.query(f"select {columns} from {{lineage}}.{name} where {where}")
        return sorted(rows, key=repr)

    def recorded(self) -> dict[str, list[Row]]:
        """Every row of the base tables."""
        return {table: self.table(table) for table in BASE_TABLES}

    def current_edges(self, node: str | None = None) -> set[Row]:
        """Edges of the view, by short names: (from, column, to, column, subtype)."""
        where = f"to_node = '{node}'" if node else "1 = 1"
        columns = "from_node, from_column, to_node, to_column, subtype"
        return {
            (short(a), b, short(c), d, e)
            for a, b, c, d, e in self.table("lineage_column_edges", columns, where)
        }

    def refreshes(self, result: Result) -> dict[str, str]:
        """What a command recorded: the status of each node, by short name."""
        where = f"run_id = '{result.run_id}'"
        return {short(n): s for n, s in self.table("lineage_refreshes", "node, status", where)}

    def manifest(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.target / "manifest.json").read_text())
        return found


def short(unique_id: str) -> str:
    """``model.shop.report`` -> ``report``."""
    return unique_id.split(".", 2)[-1] if not unique_id.startswith("external") else unique_id


def _keep(lines: list[str], event: Any) -> None:
    if event.info.level != "debug":
        lines.append(event.info.msg)
