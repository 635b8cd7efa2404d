"""``lineage-post import``: what other producers say of the project's relations."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click

from lineage_post import producers
from lineage_post.cli import console, wording
from lineage_post.cli.loading import Loaded, Request, artifact_options, load
from lineage_post.cli.places import Places, place_options
from lineage_post.errors import ArtifactError, OptionError
from lineage_post.history.claims import Claims
from lineage_post.producers.names import Names, names_of
from lineage_post.producers.tables import read_rows
from lineage_post.publish import dbt_index, json
from lineage_post.publish.claims import write_claims

#: So many names that no node has are listed on the terminal.
LISTED = 10
MOST_BYTES = 200_000_000


@click.command("import")
@click.argument(
    "form",
    metavar="FORM",
    type=click.Choice(["openlineage", "access-history", "dbt-index", "csv"]),
)
@click.argument("origin", metavar="[FILE|DIR|URL]", required=False)
@click.option("--producer", metavar="NAME", help="csv: who says it.")
@click.option("--observed-at", metavar="TIME", help="csv: when it was so, ISO 8601; default: now.")
@click.option("--output", type=click.Choice(["text", "json"]), default="text")
@artifact_options
@place_options
def command(
    places: Places,
    request: Request,
    form: str,
    origin: str | None,
    producer: str | None,
    observed_at: str | None,
    output: str,
) -> None:
    """Read lineage that another tool has seen, and write it as rows to load.

    \b
    openlineage     run events: a file, a folder, or an address on this machine
    access-history  Snowflake's ACCESS_HISTORY as JSON, CSV or Parquet
    dbt-index       what dbt 2 wrote into target/index
    csv             from_node, from_column, to_node, to_column, and more (see export csv)

    Names are mapped to the project's nodes by their full relation name; what no node stands for
    becomes an external node. The rows are loaded by the command that is printed. Claims of other
    producers are never touched.
    """
    if form != "csv" and (producer or observed_at):
        raise click.UsageError("--producer and --observed-at are of csv alone.")
    if form == "csv" and not producer:
        raise click.UsageError("Say whose edges they are: --producer NAME.")
    if origin is None and form != "dbt-index":
        raise click.UsageError(f"{form} needs a file.")
    loaded = load(places, request)
    names = names_of(loaded.lineage)
    try:
        claims = _claims(form, origin, loaded, names, producer, observed_at)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        said = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
        raise ArtifactError(
            f"{origin or 'target/index'}: not readable as {form}: {said}",
            hint="Nothing was written. See lineage-post import --help for the forms.",
        ) from error
    folder = write_claims(claims, places.target_path, loaded.lineage.project)
    if output == "json":
        console.say_json(_report(loaded, claims, names, folder))
    else:
        _show(loaded, claims, names, folder)


def _claims(
    form: str,
    origin: str | None,
    loaded: Loaded,
    names: Names,
    producer: str | None,
    observed_at: str | None,
) -> Claims:
    if form == "dbt-index":
        return _dbt_index(Path(origin) if origin else None, loaded, names)
    assert origin is not None
    if form == "openlineage":
        return producers.read_openlineage(_events(origin), names)
    rows = read_rows(Path(origin).expanduser())
    if form == "access-history":
        return producers.read_access_history(rows, names)
    at = _time(observed_at) if observed_at else datetime.now(timezone.utc)
    return producers.read_csv(rows, names, producer=producer or "", at=at)


def _time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        raise OptionError(
            f"--observed-at {text!r} is no time", hint="For example 2026-01-31T12:00:00Z."
        ) from None


def _dbt_index(folder: Path | None, loaded: Loaded, names: Names) -> Claims:
    """dbt's own edges of the layout that is there, without those that this tool wrote."""
    layouts = dbt_index.layouts_in(folder.parent if folder else loaded.places.target_path)
    found = [layout for layout in layouts if layout.lineage_file.is_file()]
    if not found:
        raise ArtifactError(
            f"{loaded.places.shown(folder or loaded.places.target_path)}: no column lineage of dbt",
            hint="dbt 2 writes it into target/index with --write-index --static-analysis strict.",
        )
    file = found[-1].lineage_file
    return producers.read_dbt_index(read_rows(file), names, ours=dbt_index.marked_nodes(file))


def _events(origin: str) -> Iterator[Mapping[str, Any]]:
    if origin.startswith(("http://", "https://")):
        yield from _fetched(origin)
        return
    path = Path(origin).expanduser()
    if not path.is_dir():
        yield from read_rows(path)
        return
    files = sorted(p for p in path.rglob("*") if p.suffix in (".json", ".jsonl", ".ndjson"))
    if not files:
        raise ArtifactError(f"{path}: no JSON file is in it", hint="Name another folder.")
    for file in files:
        yield from read_rows(file)


def _fetched(url: str) -> Iterable[Mapping[str, Any]]:
    """The events that an address on this machine answers with; no other one is asked."""
    import json as json_
    from urllib.error import URLError
    from urllib.request import HTTPRedirectHandler, build_opener

    class Stay(HTTPRedirectHandler):
        def redirect_request(self, *args: Any, **kwargs: Any) -> None:
            return None

    if not _is_loopback(urlsplit(url).hostname or ""):
        raise OptionError(
            f"{urlsplit(url).hostname}: only an address on this machine is read",
            hint="Save the events to a file first.",
        )
    try:
        with build_opener(Stay).open(url, timeout=30) as answer:
            text = answer.read(MOST_BYTES + 1)
    except (URLError, OSError) as error:
        raise ArtifactError(
            f"{url}: {getattr(error, 'reason', error)}", hint="Is it running?"
        ) from error
    if len(text) > MOST_BYTES:
        raise ArtifactError(f"{url}: more than {MOST_BYTES:,} bytes", hint="Save it to files.")
    try:
        document = json_.loads(text)
    except ValueError:
        return [json_.loads(line) for line in text.decode("utf-8").splitlines() if line.strip()]
    found = document.get("events", [document]) if isinstance(document, dict) else document
    return list(found)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _report(loaded: Loaded, claims: Claims, names: Names, folder: Path) -> dict[str, Any]:
    return {
        "metadata": json.metadata_of(loaded.lineage.project, loaded.options),
        "producer": claims.producer,
        "is_complete": claims.is_complete,
        "claims": len(claims.claims),
        "edges": sum(len(claim.edges) for claim in claims.claims),
        "external": sorted(names.unmapped),
        "directory": str(folder),
        "load": _load(folder),
    }


def _show(loaded: Loaded, claims: Claims, names: Names, folder: Path) -> None:
    edges = sum(len(claim.edges) for claim in claims.claims)
    nodes = len({claim.node for claim in claims.claims})
    console.say(
        f"[bold]{console.marked(claims.producer)}[/]: {wording.plural(edges, 'edge')} into "
        f"{wording.plural(nodes, 'node')}"
    )
    unmapped = sorted(names.unmapped)
    if unmapped:
        listed = ", ".join(map(console.marked, unmapped[:LISTED]))
        more = f" and {len(unmapped) - LISTED} more" if len(unmapped) > LISTED else ""
        relations = wording.plural(len(unmapped), "relation")
        console.say(f"[warning]{relations} outside the project:[/] {listed}{more}")
    console.say(f"[quiet]Wrote {console.marked(loaded.places.shown(folder))}. Load it with[/]")
    console.say(f"  {console.marked(_load(folder))}")


def _load(folder: Path) -> str:
    return f"dbt run-operation lineage_post.load --args '{{directory: {folder}}}'"
