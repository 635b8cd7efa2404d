"""A reading connection from the user's own dbt profile, read by dbt itself.

The credentials go from dbt's loader into the driver and nowhere else: no message, file or answer
holds them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from argparse import Namespace
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from lineage_post.artifacts import read_manifest
from lineage_post.errors import LineageError
from lineage_post.provenance.connection import Adapter, Connection, DuckDb, Postgres


def connect(
    project_dir: Path,
    dialect: str,
    *,
    profiles_dir: str | None = None,
    profile: str | None = None,
    target: str | None = None,
    timeout: float = 60.0,
) -> Connection:
    """A connection that only reads. Raises LineageError where there is none."""
    try:
        from dbt.config.runtime import load_profile
        from dbt.flags import set_from_args
        from dbt_common.context import set_invocation_context
    except ImportError as error:
        raise LineageError(
            "dbt-core is not importable here, and its profile is needed to ask the warehouse.",
            hint="Install dbt beside lineage-post, or use --output sql.",
        ) from error
    set_invocation_context(dict(os.environ))
    found_dir = profiles_dir or _profiles_dir(project_dir)
    set_from_args(Namespace(PROFILES_DIR=found_dir, PROJECT_DIR=str(project_dir)), None)
    try:
        loaded = load_profile(str(project_dir), {}, profile, target)
    except Exception as error:
        said = " ".join(line.strip() for line in str(error).splitlines() if line.strip())
        raise LineageError(f"The dbt profile cannot be loaded: {said[:300]}") from error
    kind = loaded.credentials.type
    if kind == "duckdb":
        return _duckdb(loaded.credentials, project_dir, timeout)
    if kind == "postgres":
        return _postgres(loaded.credentials, timeout)
    return _adapter(loaded, project_dir, dialect)


def _profiles_dir(project_dir: Path) -> str:
    given = os.environ.get("DBT_PROFILES_DIR")
    if given:
        return given
    for folder in (Path.cwd(), project_dir):
        if (folder / "profiles.yml").is_file():
            return str(folder)
    return str(Path.home() / ".dbt")


def _duckdb(credentials: Any, project_dir: Path, timeout: float) -> DuckDb:
    import duckdb

    path = str(credentials.path)
    if path == ":memory:":
        raise LineageError(
            "The profile keeps its DuckDB in memory: there are no stored rows.",
            hint="Give the profile a path.",
        )
    local = "://" not in path and not path.startswith("md:")
    where = str(_at(project_dir, path)) if local else path
    if local and not Path(where).is_file():
        raise LineageError(f"There is no DuckDB file {path!r}.", hint="Run dbt build, then ask.")
    settings = {k: v for k, v in (credentials.config_options or {}).items() if v is not None}
    try:
        raw = duckdb.connect(where, read_only=True, config=settings)
        for extension in credentials.extensions or ():
            name = extension if isinstance(extension, str) else extension.get("name")
            raw.execute(f"load {name}")
        for attached in credentials.attach or ():
            sql = attached.to_sql()
            raw.execute(sql if "read_only" in sql.lower() else _read_only(sql))
        for name, value in (credentials.settings or {}).items():
            raw.execute(f"set {name} = '{value}'")
        # Files that a model names are relative to the project, as dbt runs there.
        raw.execute(f"set file_search_path = '{project_dir}'")
    except Exception as error:
        first = str(error).split("\n", 1)[0]
        hint = "Another process may hold it; or use dbt run-operation lineage_post.why."
        raise LineageError(f"The DuckDB database cannot be opened: {first}", hint=hint) from error
    return DuckDb(raw, timeout)


def _read_only(sql: str) -> str:
    head = sql.rstrip().rstrip(";")
    return f"{head[:-1]}, read_only)" if head.endswith(")") else f"{head} (read_only)"


def _at(project_dir: Path, path: str) -> Path:
    here = Path(path).expanduser()
    if here.is_absolute() or here.is_file():
        return here
    return project_dir / here


def _postgres(credentials: Any, timeout: float) -> Postgres:
    psycopg2 = import_module("psycopg2")

    known = {
        "host": credentials.host,
        "port": credentials.port,
        "user": credentials.user,
        "password": credentials.password,
        "dbname": credentials.database,
        "sslmode": credentials.sslmode,
        "sslcert": credentials.sslcert,
        "sslkey": credentials.sslkey,
        "sslrootcert": credentials.sslrootcert,
        "connect_timeout": credentials.connect_timeout,
    }
    try:
        raw = psycopg2.connect(**{k: v for k, v in known.items() if v is not None})
        if credentials.role:
            with raw.cursor() as cursor:
                cursor.execute(f'set role "{credentials.role}"')
            raw.commit()
    except Exception as error:
        # What the driver says names the host and the user, and never the password.
        first = str(error).strip().split("\n", 1)[0]
        raise LineageError(f"Postgres cannot be reached: {first}") from error
    return Postgres(raw, timeout)


def _adapter(profile: Any, project_dir: Path, dialect: str) -> Connection:
    from dbt.adapters.factory import get_adapter, register_adapter
    from dbt.config.runtime import RuntimeConfig
    from dbt.mp_context import get_mp_context

    config: Any = RuntimeConfig.from_args(_args(project_dir, profile))
    register_adapter(config, get_mp_context())
    adapter: Any = get_adapter(config)

    def run(sql: str) -> list[tuple[Any, ...]]:
        with adapter.connection_named("lineage_post_why"):
            return rows_of(adapter, sql)

    return Adapter(run, dialect)


def _args(project_dir: Path, profile: Any) -> Any:
    return Namespace(
        project_dir=str(project_dir),
        profile=profile.profile_name,
        target=profile.target_name,
        vars={},
        which="show",
        threads=1,
    )


def rows_of(adapter: Any, sql: str) -> list[tuple[Any, ...]]:
    """The rows of one SELECT on dbt's adapter, values as the driver gives them."""
    connection, cursor = adapter.connections.add_query(sql, auto_begin=False)
    del connection
    return [tuple(row) for row in cursor.fetchall()]


def compile_in_full(
    project_dir: Path,
    unique_ids: Iterable[str],
    *,
    parsed: Path,
    profiles_dir: str | None,
    target: str | None,
) -> dict[str, str]:
    """The SQL of incremental models as a full refresh compiles them; nothing is run or kept.

    In a process of its own: dbt's connection may not share ours. ``parsed`` is what dbt keeps of
    its last parse, and need not be there. Empty where it cannot be compiled.
    """
    names = [unique_id.split(".")[2] for unique_id in unique_ids]
    if not names:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        command = ["compile", "--full-refresh", "--quiet", "--select", *names]
        command += ["--project-dir", str(project_dir), "--target-path", folder]
        command += ["--profiles-dir", profiles_dir or _profiles_dir(project_dir)]
        if target:
            command += ["--target", target]
        if parsed.is_file():
            command += ["--partial-parse-file-path", str(parsed)]
        code = "from dbt.cli.main import cli; cli()"
        done = subprocess.run(
            [sys.executable, "-c", code, *command],
            cwd=project_dir,
            capture_output=True,
            check=False,
        )
        if done.returncode != 0:
            return {}
        nodes = read_manifest(Path(folder) / "manifest.json").nodes
        return {
            unique_id: code
            for unique_id in unique_ids
            if unique_id in nodes and (code := nodes[unique_id].compiled_code or "")
        }
