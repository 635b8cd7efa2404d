"""The stages of a statement, for ``lineage-post sql --steps``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from lineage_post.cli import console
from lineage_post.trace.steps import Annotation, Stage, StageColumn
from lineage_post.vocabulary import Certainty, EdgeType


def show_stages(stages: Sequence[Stage]) -> None:
    """Prints each stage with the annotation of each column after it."""
    before: tuple[StageColumn, ...] | None = None
    for stage in stages:
        expression = console.marked(" ".join((stage.expression or "").split()))
        console.say(
            f"[bold]{stage.number}[/] [node]{console.marked(stage.scope)}[/] "
            f"[bold]{console.marked(stage.kind)}[/] [quiet]{expression}[/]"
        )
        if stage.columns == before:
            console.say("    [quiet]the same columns[/]")
        else:
            for column in stage.columns:
                console.say(f"    {_column(column)}")
        if stage.rows:
            console.say(f"    [quiet]rows ←[/] {_annotations(stage.rows)}")
        before = stage.columns
    if not stages:
        console.say("[quiet]No stages: the statement could not be traced.[/]")


def stage_to_dict(stage: Stage) -> dict[str, Any]:
    """A stage as JSON has it, under ``steps``."""
    return {
        "number": stage.number,
        "scope": stage.scope,
        "kind": stage.kind,
        "expression": stage.expression,
        "columns": [
            {
                "item": column.item,
                "name": column.name,
                "annotations": [_annotation_to_dict(a) for a in column.annotations],
                "unknown": list(column.unknown),
            }
            for column in stage.columns
        ],
        "rows": [_annotation_to_dict(annotation) for annotation in stage.rows],
    }


def _column(column: StageColumn) -> str:
    item = f"{console.marked(column.item)}." if column.item else ""
    unknown = f" [unknown]{console.marked(', '.join(column.unknown))}[/]" if column.unknown else ""
    annotations = _annotations(column.annotations) or "[quiet]no column[/]"
    return f"{item}[column]{console.marked(column.name)}[/] [quiet]←[/] {annotations}{unknown}"


def _annotations(annotations: Iterable[Annotation]) -> str:
    groups: dict[str, list[Annotation]] = {}
    for annotation in annotations:
        groups.setdefault(_source(annotation), []).append(annotation)
    return ", ".join(
        f"{source} {' and '.join(_how(annotation) for annotation in group)}"
        for source, group in groups.items()
    )


def _source(annotation: Annotation) -> str:
    source = annotation.source
    path = f"{source.column}.{source.field}" if source.field else source.column
    return f"[node]{console.marked(source.relation)}[/].{console.marked(path)}"


def _how(annotation: Annotation) -> str:
    style = "direct" if annotation.subtype.type is EdgeType.DIRECT else "indirect"
    marks = ["masked"] if annotation.masking else []
    marks += ["assumed"] if annotation.certainty is Certainty.ASSUMED else []
    said = f" [warning]({', '.join(marks)})[/]" if marks else ""
    return f"[{style}]{annotation.subtype.value.lower().replace('_', ' ')}[/]{said}"


def _annotation_to_dict(annotation: Annotation) -> dict[str, Any]:
    source = annotation.source
    return {
        "from": {"relation": source.relation, "column": source.column, "field": source.field},
        "type": annotation.subtype.type.value,
        "subtype": annotation.subtype.value,
        "masking": annotation.masking,
        "certainty": annotation.certainty.value,
    }
