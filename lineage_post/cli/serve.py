"""``lineage-post serve``: the explorer and the graphs over HTTP."""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import tempfile
from contextlib import ExitStack
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import click

from lineage_post.cli import console
from lineage_post.cli.loading import Request, artifact_options, load
from lineage_post.cli.places import Places, place_options
from lineage_post.cli.viewing import policy_of, policy_options
from lineage_post.errors import LineageError
from lineage_post.history.inputs import freshness_versions
from lineage_post.lineage import Lineage
from lineage_post.policy import View
from lineage_post.publish.claims import DIRECTORY as CLAIMS


@click.command("serve")
@artifact_options
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    default=8585,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="Port to listen on; 0 takes one that is free.",
)
@click.option("--open/--no-open", "in_browser", default=False, help="Open the explorer.")
@policy_options
@place_options
def command(
    places: Places,
    request: Request,
    host: str,
    port: int,
    policy: str | None,
    viewer: str | None,
    in_browser: bool,
) -> None:
    """Serve the explorer, and the lineage as JSON, until Ctrl+C.

    Listens on this machine alone. At any other --host a token is needed: the environment variable
    LINEAGE_POST_TOKEN has it, else one is made up and shown. Artifacts that change are read again.
    """
    try:
        import uvicorn

        from lineage_post.server.app import create_app
        from lineage_post.server.listening import listening
        from lineage_post.server.settings import Settings, tokens_of
        from lineage_post.server.state import State
    except ImportError as error:
        raise LineageError(
            f"The server's packages are not installed ({error.name}).",
            hint="pip install 'dbt-lineage-post[serve]'",
        ) from error

    rules = policy_of(policy, viewer)
    settings = Settings(host=host, port=port, tokens=tokens_of(rules))
    if not settings.is_loopback and not settings.tokens:
        settings = replace(settings, tokens={secrets.token_urlsafe(24): None})
    with ExitStack() as stack:
        sockets = [stack.enter_context(each) for each in listening(host, port)]
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lineage_post")))
        state = State(
            load=lambda: _loaded(places, request),
            watched=_watched(places, request),
            policy=rules,
            make_page=lambda view: _page(view, folder, places.target_path),
            loads_of=lambda: freshness_versions(places.target_path),
        )
        state.start()
        for line in state.seen_by(None).view.warnings:
            console.warn(line)
        logging.basicConfig(level=logging.INFO, format="%(message)s")
        config = uvicorn.Config(
            create_app(state, settings), host, port, log_level="warning", server_header=False
        )
        server = uvicorn.Server(config)
        _announce(settings.tokens, host, sockets[0].getsockname()[1], in_browser)
        server.run(sockets=sockets)


def _loaded(places: Places, request: Request) -> Lineage:
    return load(places, request).lineage


def _watched(places: Places, request: Request) -> list[Path]:
    manifest = Path(request.manifest) if request.manifest else places.target_path / "manifest.json"
    catalog = Path(request.catalog) if request.catalog else places.target_path / "catalog.json"
    # What dbt source freshness has seen, and what was imported, is told beside the lineage.
    freshness, imports = places.target_path / "sources.json", places.target_path / CLAIMS
    claims = sorted(imports.glob("*/claims.json")) if imports.is_dir() else []
    return [manifest, catalog, *map(Path, request.upstream_manifest), freshness, imports, *claims]


def _page(view: View, folder: Path, target_path: Path) -> Path | None:
    """The explorer as a viewer may see it, in a folder of its own."""
    from tempfile import mkdtemp

    from lineage_post.publish.explorer import Beside, claims_for, write_explorer

    claimed = claims_for(view, target_path)
    beside = Beside(claimed=claimed, served=True, is_incomplete=view.is_incomplete)
    own = folder / sha256(view.viewer.name.encode()).hexdigest()[:16]
    own.mkdir(exist_ok=True)
    # The page before the last one is read by nobody any more.
    for old in sorted(own.iterdir(), key=lambda path: path.stat().st_mtime_ns)[:-1]:
        shutil.rmtree(old, ignore_errors=True)
    return write_explorer(view.lineage, Path(mkdtemp(dir=own)), beside)


def _announce(tokens: object, host: str, port: int, in_browser: bool) -> None:
    shown = f"[{host}]" if ":" in host else host
    url = f"http://{shown}:{port}/"
    known = dict(tokens) if isinstance(tokens, dict) else {}
    default = next((token for token, viewer in known.items() if viewer is None), None)
    if default and os.environ.get("LINEAGE_POST_TOKEN") != default:
        url += f"?token={default}"
    console.say(f"The explorer is at {console.marked(url)} and the API's description at /docs.")
    console.note("Stop it with Ctrl+C.")
    if in_browser:
        click.launch(url)
