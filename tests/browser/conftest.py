"""A docs site that dbt made of ``shop``, in a real Chromium."""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import pytest
from playwright.sync_api import Browser, Page, Request, sync_playwright

SHOP = Path(__file__).parent / "shop"
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
#: The docs are made twice: what is added must be there once all the same.
_DBT = """
import sys
from dbt.cli.main import dbtRunner

DOCS = ["docs", "generate", "--static"]
for command in (["build", "--exclude", "score"], DOCS, DOCS):
    done = dbtRunner().invoke([*command, "--quiet", "--profiles-dir", "."])
    if not done.success:
        sys.exit(f"dbt {command[0]} failed: {done.exception}")
"""
#: Hostile text in names, descriptions and SQL sets this property, if it runs at all.
_TRAP = """
window.trapped = [];
Object.defineProperty(window, "pwned", { set: (value) => window.trapped.push(value) });
"""


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


def serve(folder: Path) -> http.server.ThreadingHTTPServer:
    """A web server over a folder, on a port that is free."""
    handler = functools.partial(_Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


@dataclass
class Site:
    """The pages of one docs site, and what they asked for and complained of."""

    page: Page
    home: str
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def open(self, unique_id: str, wait_for: str = "#lineage-post-panel") -> Page:
        """Goes to the page of a node, as somebody who comes from elsewhere."""
        kind = unique_id.split(".")[0]
        self.page.goto("about:blank")
        self.page.goto(f"{self.home}#!/{kind}/{unique_id}")
        self.page.wait_for_selector(wait_for)
        return self.page

    def row(self, column: str) -> str:
        """A selector of the panel's row of a column."""
        return f'#lineage-post-panel tr:has(th .lp-name:text-is("{column}"))'


@pytest.fixture(scope="session")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The target folder of the shop, after dbt build and dbt docs generate."""
    project = tmp_path_factory.mktemp("docs") / "shop"
    shutil.copytree(SHOP, project)
    with duckdb.connect(str(project / "shop.duckdb")) as connection:
        connection.execute("create table visits (visitor varchar, page varchar)")
    done = subprocess.run(
        [sys.executable, "-c", _DBT], cwd=project, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return project / "target"


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium: run make chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def web(target: Path) -> Iterator[str]:
    server = serve(target)
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture
def browse(chromium: Browser) -> Iterator[functools.partial[Site]]:
    """``browse(address)``: a Site at that address, in a window of its own."""
    context = chromium.new_context(viewport={"width": 1360, "height": 1000})
    context.set_default_timeout(60_000)
    yield functools.partial(_browse, context.new_page())
    context.close()


def _browse(page: Page, home: str) -> Site:
    site = Site(page, home)

    def asked(request: Request) -> None:
        site.requests.append(request.url)

    page.add_init_script(_TRAP)
    page.on("request", asked)
    page.on("pageerror", lambda error: site.errors.append(str(error)))
    return site


@pytest.fixture(params=["index.html", "static_index.html"])
def site(
    request: pytest.FixtureRequest, browse: functools.partial[Site], target: Path, web: str
) -> Site:
    """The site as a web server serves it, and the static page as opened from disk."""
    if request.param == "index.html":
        return browse(f"{web}/index.html")
    return browse((target / "static_index.html").as_uri())


@pytest.fixture
def served(browse: functools.partial[Site], web: str) -> Site:
    """The site as a web server serves it."""
    return browse(f"{web}/index.html")
