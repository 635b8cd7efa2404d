"""What every stage of a statement leaves: its columns, and what each is annotated with.

``select a + 1 as b from t where c > 0`` goes through three stages::

    1 final  scan     t              t.a <- t.a IDENTITY        t.c <- t.c IDENTITY
    2 final  filter   c > 0          (the same)                 rows <- t.c FILTER
    3 final  project                 b <- t.a TRANSFORMATION    rows <- t.c FILTER
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lineage_post.trace.dialects import rules_of
from lineage_post.trace.influences import influences
from lineage_post.trace.parsing import parse
from lineage_post.trace.printing import printed
from lineage_post.trace.provenance import SUBTYPES
from lineage_post.trace.recording import Noted, Recorder
from lineage_post.trace.relation import Relation
from lineage_post.trace.result import ColumnRef, Trace
from lineage_post.trace.running import Settings, tracer_of
from lineage_post.trace.schema_index import SchemaIndex, index_of
from lineage_post.trace.script import Script
from lineage_post.trace.statements import written
from lineage_post.trace.tokens import Tokens
from lineage_post.trace.tracer import Tracer
from lineage_post.vocabulary import Certainty, Subtype


@dataclass(frozen=True, slots=True)
class Annotation:
    """One source column and how it got here."""

    source: ColumnRef
    subtype: Subtype
    masking: bool
    certainty: Certainty


@dataclass(frozen=True, slots=True)
class StageColumn:
    """A column after a stage; ``item`` is the item of FROM it belongs to, None for an output."""

    item: str | None
    name: str
    annotations: tuple[Annotation, ...]
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage: ``kind`` is scan, command, match, join, filter, aggregate, distinct, sort,
    project, or a set operation. ``scope`` is the CTE or derived table it is in, ``final`` for the
    statement's own query. ``rows`` is what decides so far which rows there are."""

    number: int
    scope: str
    kind: str
    expression: str | None
    columns: tuple[StageColumn, ...]
    rows: tuple[Annotation, ...]


def steps(
    sql: str,
    *,
    dialect: str | None,
    schema: Mapping[str, Mapping[str, str | None]] | SchemaIndex,
    commands: Mapping[str, Any] | None = None,
    stop_at: Mapping[str, str] | None = None,
    masking_functions: Sequence[str] = (),
) -> tuple[Stage, ...]:
    """The stages of every statement of ``sql``, in the order they are evaluated.

    CTEs and commands stand where they are first read. A table shows the columns that the
    statement uses. A statement that cannot be traced has no stages.
    """
    rules = rules_of(dialect)
    parsed = parse(sql, rules)
    if isinstance(parsed, Trace):
        return ()
    tokens, nodes = parsed
    settings = Settings(
        schema=index_of(schema, dialect),
        commands=commands or {},
        stop_at=stop_at or {},
        masking=frozenset(name.lower() for name in masking_functions),
        has_expressions=True,
    )
    text = Tokens(sql, tokens)
    script = Script(settings)
    stages: list[Stage] = []
    for node in nodes:
        if not isinstance(node, Trace):
            stages.extend(_stages_of(node, tracer_of(text, script.settings), script, len(stages)))
    return tuple(stages)


def _stages_of(node: Any, t: Tracer, script: Script, before: int) -> list[Stage]:
    t.recorder = Recorder()
    try:
        script.note(node, written(t, node, script.env))
    except Exception:  # its Trace says what is wrong with it
        return []
    return [
        Stage(
            number=before + n,
            scope=noted.scope,
            kind=noted.kind,
            expression=_text(t, noted),
            columns=tuple(
                column for item, relation in noted.columns for column in _columns(t, item, relation)
            ),
            rows=_annotations(t, noted.rows)[0],
        )
        for n, noted in enumerate(t.recorder.noted, 1)
    ]


def _text(t: Tracer, noted: Noted) -> str | None:
    if noted.node is None:
        return None
    written = t.tokens.text_of(noted.node)
    return written or printed(noted.node, t.rules.dialect)


def _columns(t: Tracer, item: str | None, relation: Relation) -> list[StageColumn]:
    """The columns of a relation; of a table those that are used."""
    columns = []
    for name, x in zip(relation.spellings, relation.provenances, strict=False):
        if x or item is None:
            annotations, unknown = _annotations(t, x)
            columns.append(StageColumn(item, name, annotations, unknown))
    return columns


def _annotations(t: Tracer, x: int) -> tuple[tuple[Annotation, ...], tuple[str, ...]]:
    found, missing = influences(t.sources, x)
    annotations = tuple(
        Annotation(
            ref, SUBTYPES[kind], is_masked, Certainty.ASSUMED if is_assumed else Certainty.EXACT
        )
        for ref, kind, is_masked, is_assumed, _ in found
    )
    return annotations, tuple(m.detail for m in missing)
