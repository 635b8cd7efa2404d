"""From flags and artifacts to the lineage of a project: what build, show and exposures share."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial, update_wrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from lineage_post.artifacts import (
    CatalogTable,
    Project,
    read_catalog,
    read_compiled,
    read_kept,
    read_manifest,
    read_seed_headers,
    require_compiled_sql,
    stitch,
    uncompiled,
)
from lineage_post.artifacts.changed_files import changed_files, said_of_changed, stale_reason
from lineage_post.cache import Cache
from lineage_post.cli import FINDINGS, console, wording
from lineage_post.cli.places import Places
from lineage_post.errors import ArtifactError, OptionError
from lineage_post.lineage import ENGINE, Edge, Lineage, trace_project
from lineage_post.lineage.load import CACHE_FOLDER
from lineage_post.lineage.modes import with_other_mode
from lineage_post.options import Options, gather_options, project_variables, unknown_variables
from lineage_post.publish import json
from lineage_post.trace.dialects import ADAPTER_DIALECTS, dialect_of, rules_of

if TYPE_CHECKING:
    from lineage_post.history.recalled import Recalled

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Request:
    """The flags that say what to read and how."""

    manifest: str | None = None
    catalog: str | None = None
    upstream_manifest: tuple[str, ...] = ()
    other_mode_manifest: str | None = None
    compiled_from_disk: bool = False
    dialect: str | None = None
    exclude_packages: tuple[str, ...] = ()
    strict: bool = False


@dataclass(slots=True)
class Loaded:
    """A traced project, where its artifacts were, and what the user should be warned of.

    ``published`` is the part of the lineage that the answer is about.
    """

    lineage: Lineage
    published: Lineage
    options: Options
    places: Places
    manifest: Path
    warnings: list[str] = field(default_factory=list)
    #: Warnings that the user has seen already.
    told: list[str] = field(default_factory=list)
    #: Where commands keep what they found out for later runs; None to keep nothing.
    kept: Path | None = None
    #: Of what was read from the lineage tables: the times it is of, and who vouches for it.
    recalled: Recalled | None = None

    def metadata(self) -> dict[str, Any]:
        """What an answer is of; of recorded lineage also the times."""
        times = self.recalled.times.to_dict() if self.recalled else {}
        return {**json.metadata_of(self.lineage.project, self.options), **times}

    def edge_to_dict(self, edge: Edge) -> dict[str, Any]:
        """An edge as every document has it; a recorded one with who vouches for it."""
        vouched = self.recalled.vouched.get(edge) if self.recalled else None
        return {**json.edge_to_dict(edge), **(vouched.to_dict() if vouched else {})}


def artifact_options(command: Command) -> Command:
    """Adds the flags of Request to a command, which takes them as ``request``."""

    def with_request(**flags: Any) -> Any:
        names = Request.__dataclass_fields__
        request = Request(**{name: flags.pop(name) for name in names})
        code = command(request=_listed(request), **flags)
        return warnings_as_findings("--strict") if request.strict and not code else code

    wrapped = update_wrapper(with_request, command)
    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped  # type: ignore[return-value]


def warnings_as_findings(flag: str) -> int:
    """The exit code of a command that warned, or did not, where a flag makes warnings count."""
    if not console.warned():
        return 0
    console.complain(f"{wording.plural(console.warned(), 'warning')}, and {flag} is set.")
    return FINDINGS


_OPTIONS = (
    click.option("--manifest", metavar="FILE", help="Instead of manifest.json in the target path."),
    click.option("--catalog", metavar="FILE", help="Instead of catalog.json in the target path."),
    click.option(
        "--upstream-manifest",
        metavar="FILE",
        multiple=True,
        help="Manifest of a project this one reads from; can be repeated.",
    ),
    click.option(
        "--other-mode-manifest",
        metavar="FILE",
        help="Manifest of dbt compile --full-refresh (or without it): incremental models then have "
        "what their first build reads and what later builds read.",
    ),
    click.option(
        "--compiled-from-disk",
        is_flag=True,
        help="Take SQL the manifest lacks from target/compiled, where it still matches.",
    ),
    click.option("--dialect", help="SQL dialect; default: that of the project's adapter."),
    click.option(
        "--exclude-packages",
        metavar="NAME,...",
        multiple=True,
        help="Trace through these packages, but leave them out of the answer.",
    ),
    click.option("--strict", is_flag=True, help="A warning is a finding: exit with 1."),
)


def load(
    places: Places,
    request: Request,
    *,
    must_be_current: bool = False,
    keeps_earlier: bool = False,
) -> Loaded:
    """Reads the artifacts and traces the project; warns where files have changed since, unless the
    manifest was named. Raises LineageError for what cannot be read, and with ``must_be_current``
    in place of that warning. A command that ``keeps_earlier`` lineage of what was not compiled says
    so itself."""
    options = options_of(places, request)
    manifest = _path(request.manifest) or places.target_path / "manifest.json"
    kept = places.target_path / CACHE_FOLDER if options.cache else None
    project = _project(manifest, places, request, kept)
    if not options.dialect:
        dialect_of(project.adapter_type)
    told = [] if request.manifest else _outdated(project, places, manifest, must_be_current)
    if not keeps_earlier:
        _note_uncompiled(project, places.shown(manifest))
    catalog_file = _path(request.catalog) or places.target_path / "catalog.json"
    cache = Cache.open(kept, ENGINE) if kept else Cache()
    with console.busy(f"Tracing {project.name}"):
        trace = partial(
            trace_project,
            catalog=_catalog(catalog_file, required=request.catalog is not None),
            options=options,
            seed_headers=read_seed_headers(project, project_dir=places.project_dir),
            cache=cache,
        )
        lineage = trace(project).within(places.project_dir)
        other = _path(request.other_mode_manifest)
        if other is not None:
            lineage = with_other_mode(lineage, trace(_project(other, places, request)))
    cache.save()
    loaded = Loaded(lineage, lineage, options, places, manifest, told=told, kept=kept)
    loaded.warnings += [f"{n.unique_id}: {n.message}" for n in lineage.notes]
    return loaded


def options_of(places: Places, request: Request) -> Options:
    """The options: flags, then environment, then the vars of dbt_project.yml, then defaults."""
    flags = {
        "dialect": request.dialect,
        "strict": request.strict or None,
        "exclude_packages": request.exclude_packages or None,
    }
    for unknown in unknown_variables(os.environ):
        console.warn(unknown)
    options = gather_options(
        flags=flags,
        environ=os.environ,
        variables=project_variables(places.project_dir),
        where=f"{places.shown(places.project_dir / 'dbt_project.yml')}: vars: lineage_post",
    )
    return replace(options, dialect=known_dialect(options.dialect)) if options.dialect else options


def known_dialect(name: str) -> str:
    """``name`` if it is a SQL dialect, or the dialect of an adapter of this name. Raises
    OptionError with those that are known, before any work is done (case CF-01)."""
    lowered = name.lower()
    if lowered in ADAPTER_DIALECTS:
        return ADAPTER_DIALECTS[lowered]
    try:
        rules_of(lowered)
    except OptionError as error:
        known = ", ".join(sorted({*ADAPTER_DIALECTS, *ADAPTER_DIALECTS.values()}))
        raise OptionError(f"There is no SQL dialect {name!r}.", hint=f"Known: {known}.") from error
    return lowered


def _project(manifest: Path, places: Places, request: Request, kept: Path | None = None) -> Project:
    project = read_kept(manifest, kept)
    if request.compiled_from_disk:
        project = read_compiled(
            project, project_dir=places.project_dir, target_dir=places.target_path
        )
    require_compiled_sql(project, where=places.shown(manifest))
    for upstream in request.upstream_manifest:
        project = stitch(project, read_manifest(Path(upstream)))
    return project


def _outdated(project: Project, places: Places, manifest: Path, is_fault: bool) -> list[str]:
    """The warning that files have changed since the manifest was written, when it was told. What
    only may have changed, YAML, is no fault."""
    shown = places.shown(manifest)
    changed = changed_files(project, places.project_dir) if is_fault else []
    if changed:
        raise ArtifactError(
            said_of_changed(changed, shown),
            hint="Run dbt compile first. With --manifest FILE a manifest is taken as it is.",
        )
    said = stale_reason(project, places.project_dir, shown)
    if said is None:
        return []
    console.warn(f"{said}, and this answer does not know it: run dbt compile first.")
    return [said]


def _note_uncompiled(project: Project, manifest: str) -> None:
    missing = len(uncompiled(project))
    if missing:
        console.note(
            f"{wording.plural(missing, 'model')} without compiled SQL in {manifest}, as dbt run "
            "--select leaves them: dbt compile brings it back."
        )


def _catalog(path: Path, *, required: bool) -> dict[str, CatalogTable]:
    if path.is_file():
        return read_catalog(path)
    if required:
        raise ArtifactError(f"{path}: there is no catalog", hint="Run dbt docs generate.")
    return {}


def _path(given: str | None) -> Path | None:
    return Path(given).expanduser() if given else None


def _listed(request: Request) -> Request:
    names = [n for given in request.exclude_packages for n in given.replace(",", " ").split()]
    return replace(request, exclude_packages=tuple(names))
