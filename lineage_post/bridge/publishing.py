"""What the bridge does: a run's results to rows and exposures, rows of files, a docs site."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lineage_post.bridge import exposed, site
from lineage_post.bridge.loading import Load, StatementBatch
from lineage_post.bridge.observed import compiled_codes, observe
from lineage_post.bridge.say import dbt_flags, describe, detail, guarded, tell, warn
from lineage_post.bridge.tracing import LiveTracer
from lineage_post.bridge.versions import input_versions
from lineage_post.bridge.warehouse import Warehouse
from lineage_post.errors import LineageError
from lineage_post.history.claims import InputVersion
from lineage_post.options import Options, options_in_dbt
from lineage_post.publish.load import batches
from lineage_post.publish.metrics import metrics_of, write_metrics
from lineage_post.publish.prior import Prior, new_rows, removed_rows
from lineage_post.publish.rows import rows_of
from lineage_post.publish.run import Run
from lineage_post.publish.tables import NodeRow, RefreshRow, Rows
from lineage_post.vocabulary import ExposureMode, Status

if TYPE_CHECKING:
    from lineage_post.bridge.bridge import Bridge


#: Clocks of two machines may be so far apart before a word is said of it.
CLOCKS_DIFFER = timedelta(minutes=5)


def publish(
    bridge: Bridge, load: Load, results: Sequence[Any], options: Options, timestamp_type: str
) -> None:
    """Fills ``load`` with what this run adds, and puts the exposures into the live Manifest."""
    from dbt_common.invocation import get_invocation_id

    started = time.perf_counter()
    config = bridge.adapter.config
    run = observe(
        results, get_invocation_id(), bridge.existence, dbt_flags(), str(config.project_root)
    )
    if not run.builds:
        return
    load.warehouse = Warehouse(bridge.adapter, bridge.manifest, timestamp_type)
    tracer = LiveTracer(bridge.manifest, load.warehouse, options, bridge.target_path)
    lineage = tracer.trace_run(run, compiled_codes(results))
    detail(f"traced in {time.perf_counter() - started:.2f} s")
    try:
        _expose(bridge, tracer, options)
    except Exception as error:
        # The tables do not wait for the exposures.
        if options.strict:
            raise
        warn(f"exposures not renewed: {describe(error)}")
    run = replace(run, input_versions=_versions(bridge, tracer, run, options))
    rows = rows_of(lineage, run, exclude_packages=options.exclude_packages)
    added = prepare(load, rows, options, _left(bridge, run))
    seconds = time.perf_counter() - started
    load.summary = _summary(added, lineage.nodes, seconds)
    guarded(lambda: write_metrics(metrics_of(lineage, run, added, seconds), bridge.target_path))


def _versions(
    bridge: Bridge, tracer: LiveTracer, run: Run, options: Options
) -> Mapping[str, tuple[InputVersion, ...]]:
    """The versions of inputs; what cannot be told must not cost the lineage."""
    built = {n for n, build in run.builds.items() if build.status is Status.SUCCESS}
    try:
        return input_versions(
            tracer.project, built, bridge.existence, tracer.warehouse, options, bridge.target_path
        )
    except Exception as error:
        if options.strict:
            raise
        warn(f"versions of inputs not recorded: {describe(error)}")
        return {}


def inject_last_exposures(bridge: Bridge) -> None:
    """Puts the last run's exposures into the Manifest, unless they are switched off since."""
    entries = exposed.kept(bridge.target_path)
    # A wrong option is the hook's to report, once.
    with suppress(LineageError):
        if entries and _options(bridge.adapter.config).exposures is not ExposureMode.NONE:
            exposed.inject(bridge.manifest, entries)


def decorate(target_path: Path) -> None:
    """Puts the lineage into the docs site that dbt has just written, traced from its files."""
    from dbt.adapters import factory

    from lineage_post.lineage import load
    from lineage_post.publish import docs, explorer
    from lineage_post.publish.exposures import exposure_set
    from lineage_post.publish.why_sql import why_templates

    adapters: dict[str, Any] = dict(factory.FACTORY.adapters)
    options = _options(next(iter(adapters.values())).config)
    if not (options.enabled and options.docs):
        site.forget_page(target_path)
        return
    lineage = load(target_path, options=options)
    exposures = exposure_set(lineage, options)
    if exposures.warning:
        warn(exposures.warning)
    why = why_templates(lineage)
    docs.decorate(target_path, lineage, exposures=exposures.specs, why=why)
    if options.explorer:
        claimed = explorer.claimed_of(target_path, lineage)
        beside = explorer.Beside(target_path=target_path, claimed=claimed, why=why)
        explorer.write_explorer(lineage, target_path / explorer.DIRECTORY, beside)
    coverage = lineage.coverage().columns
    tell(f"column lineage added to the docs: {coverage.known} of {coverage.total} columns known.")


def prepare(
    load: Load,
    rows: Rows,
    options: Options,
    withdrawn: Callable[[Prior], tuple[RefreshRow, ...]],
) -> Rows:
    """Fills ``load`` with what is new of the rows, and what they withdraw; returns that."""
    warehouse = load.warehouse
    assert warehouse is not None
    warehouse.require_tables()
    prior = warehouse.prior(rows)
    added = new_rows(rows, prior)
    added = replace(added, refreshes=added.refreshes + withdrawn(prior))
    fill(load, added, options)
    return added


def fill(load: Load, added: Rows, options: Options) -> None:
    """Fills ``load`` with the statements that append these rows, in a transaction."""
    warehouse = load.warehouse
    assert warehouse is not None
    # Only this table has had columns added since the first release.
    columns = {"lineage_nodes": warehouse.columns("lineage_nodes", NodeRow)} if added.nodes else {}
    load.keys = frozenset((r.run_id, r.node, r.producer) for r in added.refreshes)
    warehouse.begin()
    load.batches = [
        StatementBatch(
            str(warehouse.relations[batch.table]),
            ", ".join(batch.columns),
            batch.source,
            batch.parameter,
        )
        for batch in batches(
            added, warehouse.literals, most_bytes=options.batch_bytes, columns=columns
        )
    ]


def _left(bridge: Bridge, run: Run) -> Callable[[Prior], tuple[RefreshRow, ...]]:
    """The nodes that have left the project by this run."""
    nodes, packages = _all_nodes(bridge.manifest), _packages(bridge.manifest)

    def left(prior: Prior) -> tuple[RefreshRow, ...]:
        _tell_of_the_future(prior, run)
        return removed_rows(prior, run, nodes, packages, _latest(run))

    return left


def _tell_of_the_future(prior: Prior, run: Run) -> None:
    """The last refresh by time counts: a clock that was ahead hides what is built until then."""
    now = run.recorded_at or _latest(run)
    ahead = [
        r
        for r in prior.refreshes
        if r.node in run.builds
        and r.producer == run.producer.value
        and r.refreshed_at > now + CLOCKS_DIFFER
    ]
    if ahead:
        last = max(ahead, key=lambda r: r.refreshed_at)
        warn(
            f"{last.node} has a refresh of {last.refreshed_at:%Y-%m-%d %H:%M} UTC, which is to"
            f" come ({len(ahead)} nodes in all). Until then what this run built of them is not"
            " current. Is a clock wrong?"
        )


def _expose(bridge: Bridge, tracer: LiveTracer, options: Options) -> None:
    """This run's exposures; with nothing to expose it costs nothing."""
    from lineage_post.publish.exposures import exposure_set, manifest_entry

    entries: list[dict[str, Any]] = []
    if options.exposures is not ExposureMode.NONE:
        lineage = tracer.trace_exposed()
        if lineage is not None:
            found = exposure_set(lineage, options)
            if found.warning:
                warn(found.warning)
            project = bridge.adapter.config.project_name
            entries = [manifest_entry(spec, project) for spec in found.specs]
    exposed.inject(bridge.manifest, entries)
    exposed.keep(bridge.target_path, entries)


def _options(config: Any) -> Options:
    """The options where no macro hands them over: from dbt's own configuration."""
    declared = dict(config.vars.to_dict())
    scoped = declared.get(config.project_name)
    if isinstance(scoped, Mapping):
        declared.update(scoped)
    declared.update(getattr(config, "cli_vars", None) or {})
    settings = declared.get("lineage_post")
    return options_in_dbt(settings if isinstance(settings, Mapping) else {})


def _all_nodes(manifest: Any) -> set[str]:
    """Every resource of the project; a disabled one has not left it."""
    sections = ("nodes", "sources", "exposures", "metrics", "semantic_models", "saved_queries")
    found: set[str] = set(manifest.disabled)
    for section in sections:
        found.update(getattr(manifest, section, {}))
    return found


def _packages(manifest: Any) -> set[str]:
    """The packages whose files dbt has parsed: all their nodes are in the Manifest."""
    return {manifest.metadata.project_name, *(m.package_name for m in manifest.macros.values())}


def _latest(run: Run) -> datetime:
    return max(build.refreshed_at for build in run.builds.values())


def _summary(added: Rows, nodes: Mapping[str, Any], seconds: float) -> str | None:
    if not added.refreshes:
        return None
    return (
        f"{len(added.refreshes)} refreshes recorded, {len({e.fingerprint for e in added.columns})}"
        f" of them with new lineage ({len(added.edges)} edges), in {seconds:.1f} s."
    )
