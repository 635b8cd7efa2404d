"""What ``lineage-post build`` writes: the lineage, its rows, and the pages that show it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lineage_post.artifacts import read_run_results
from lineage_post.cli import console, wording
from lineage_post.cli.loading import Loaded
from lineage_post.errors import LineageError
from lineage_post.publish import dbt_index, docs, explorer, files, json
from lineage_post.publish.claims import write_claims
from lineage_post.publish.exposures import exposure_set
from lineage_post.publish.rows import rows_of
from lineage_post.publish.run import Run, planned_run, run_from_results
from lineage_post.publish.why_sql import why_templates
from lineage_post.vocabulary import Reason


def write_all(
    loaded: Loaded, *, with_docs: bool, with_explorer: bool, overwrite_index: bool
) -> list[Path]:
    """Writes everything that is wanted, and returns the files; warns in ``loaded.warnings``."""
    # Rewriting models takes time: it is done once, for the docs site and the explorer.
    why = why_templates(loaded.lineage) if with_docs and _has_site(loaded) else None
    run = _run_of_results(loaded)
    written = list(_publish(loaded, run, why))
    if with_docs:
        written += _write_index(loaded, overwrite=overwrite_index)
    if with_explorer:
        written += _write_explorer(loaded, run, why)
    return written


def _has_site(loaded: Loaded) -> bool:
    """Whether dbt docs generate has written its site from this manifest."""
    target = loaded.places.target_path
    return loaded.manifest == target / "manifest.json" and (target / "index.html").is_file()


def _publish(loaded: Loaded, run: Run | None, why: Mapping[str, Any] | None) -> Iterator[Path]:
    """``why`` is None where the docs site is left as it is."""
    lineage, places = loaded.lineage, loaded.places
    target = places.output_dir / json.LINEAGE_FILE
    document = json.document(loaded.published, loaded.options, whole=loaded.lineage)
    carried = _carried_over(document, target)
    if carried:
        models = wording.plural(len(carried), "model")
        names = ", ".join(carried[:5]) + (" and others" if carried[5:] else "")
        loaded.warnings.append(
            f"{places.shown(loaded.manifest)} lacks the SQL of {models}; their lineage was kept "
            f"from an earlier build: {names}. dbt compile brings it up to date."
        )
    json.write_document(target, document)
    yield target
    yield files.write_rows(
        rows_of(lineage, _run(loaded, run), exclude_packages=loaded.options.exclude_packages),
        places.target_path,
    )
    exposures = exposure_set(lineage, loaded.options)
    if exposures.warning:
        loaded.warnings.append(exposures.warning)
    if why is not None:
        decorated = docs.decorate(
            places.target_path,
            lineage,
            exposures=exposures.specs,
            options=loaded.options,
            why=why,
        )
        yield from decorated.files


def _write_index(loaded: Loaded, *, overwrite: bool) -> Iterator[Path]:
    """The files of dbt Docs v2, where dbt 2 has made them; their absence is no fault."""
    for layout in dbt_index.layouts_in(loaded.places.target_path):
        try:
            found = dbt_index.write_index(loaded.lineage, layout, overwrite=overwrite)
        except LineageError as error:
            loaded.warnings.append(f"{error.message}: {error.hint}")
            continue
        if found.is_experimental:
            shown = loaded.places.shown(layout.folder)
            loaded.warnings.append(f"{shown}: support of this layout of dbt's is experimental.")
        if found.kept:
            nodes = wording.plural(found.kept, "node")
            loaded.warnings.append(
                f"{nodes} kept the column edges that dbt wrote; --overwrite-dbt-index replaces them"
            )
            yield _import_kept(loaded, layout)
        yield from found.files


def _import_kept(loaded: Loaded, layout: dbt_index.Layout) -> Path:
    """Edges that dbt wrote, as claims of the producer dbt_index beside our own."""
    from lineage_post.producers import read_dbt_index
    from lineage_post.producers.names import names_of
    from lineage_post.producers.tables import read_rows

    file = layout.lineage_file
    ours = dbt_index.marked_nodes(file)
    claims = read_dbt_index(read_rows(file), names_of(loaded.lineage), ours=ours)
    return write_claims(claims, loaded.places.target_path, loaded.lineage.project)


def _write_explorer(
    loaded: Loaded, run: Run | None, why: Mapping[str, Any] | None
) -> Iterator[Path]:
    """The explorer's page; an install without it is told once how to get it."""
    target = loaded.places.target_path
    page = explorer.write_explorer(
        loaded.published,
        target / explorer.DIRECTORY,
        explorer.Beside(
            target_path=target,
            project_dir=loaded.places.project_dir,
            claimed=explorer.claimed_of(target, loaded.lineage, run),
            why=why,
        ),
    )
    if page is not None:
        yield page / "index.html"
    else:
        console.note(explorer.why_not_built() or "")


def _carried_over(document: dict[str, Any], earlier: Path) -> list[str]:
    """What is taken from the earlier document, which is read only where something lacks its SQL."""
    if any(node["reason"] == Reason.NOT_COMPILED.value for node in document["nodes"]):
        return json.carry_over(document, json.read_document(earlier))
    return []


def _run(loaded: Loaded, run: Run | None) -> Run:
    """The run that the results file is of; SQL that was compiled only is planned."""
    project = loaded.lineage.project
    if run is not None:
        published = loaded.published.nodes
        return replace(run, builds={k: b for k, b in run.builds.items() if k in published})
    compiled = [n.unique_id for n in project.nodes.values() if n.compiled_code]
    return planned_run(project, [n for n in compiled if n in loaded.published.nodes])


def _run_of_results(loaded: Loaded) -> Run | None:
    results = loaded.manifest.with_name("run_results.json")
    if not results.is_file():
        return None
    project, places = loaded.lineage.project, loaded.places
    return run_from_results(read_run_results(results), project, project_dir=places.project_dir)
