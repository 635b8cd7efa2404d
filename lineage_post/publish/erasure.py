"""The record of an erasure, as JSON and as Markdown that a ticket or a register can keep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lineage_post.artifacts import Project
from lineage_post.governance.classification import Column
from lineage_post.governance.erasure import Action, Derived, Erasure, Step
from lineage_post.governance.keys import Locator
from lineage_post.governance.tagging import column_to_dict, gap_to_dict
from lineage_post.publish import words
from lineage_post.publish.markdown import code, table, text, visible
from lineage_post.vocabulary import Certainty, Subtype

ORDER = (
    "The order is that of the builds, parents first: a build that reads a table where the rows "
    "still are would bring them back. Look up all keys before the first step, since they cannot be "
    "looked up afterwards, and run no other build in between."
)
#: What no lineage knows.
BEYOND = (
    "extracts, caches and copies that were made outside dbt",
    "the warehouse's own history: time travel, backups, logs",
    "whatever reads the tables and is declared nowhere in the project",
)


def erasure_to_dict(erasure: Erasure, project: Project) -> dict[str, Any]:
    """``subjects``, ``upstream``, ``derived``, ``steps`` in order, ``indirect``, ``unknown``."""
    return {
        "subjects": [column_to_dict(column) for column in erasure.subjects],
        "upstream": [column_to_dict(column) for column in erasure.upstream],
        "order": ORDER,
        "steps": [_step(step) for step in erasure.steps],
        "derived": [_derived(derived) for derived in erasure.derived],
        "indirect": [
            {"unique_id": i.unique_id, "columns": list(i.columns), "how": [h.value for h in i.how]}
            for i in erasure.indirect
        ],
        "unknown": {
            "possible": [gap_to_dict(gap) for gap in erasure.gaps],
            "consumers": consumers_of(erasure, project),
            "beyond": list(BEYOND),
        },
    }


def consumers_of(erasure: Erasure, project: Project) -> list[str]:
    """Exposures and other consumers that read one of the relations, sorted."""
    touched = {step.unique_id for step in erasure.steps}
    kinds = ("exposure", "metric", "semantic_model", "saved_query")
    return sorted(
        node.unique_id
        for node in project.nodes.values()
        if node.resource_type in kinds and touched & {*node.depends_on}
    )


def _step(step: Step) -> dict[str, Any]:
    return {
        "number": step.number,
        "unique_id": step.unique_id,
        "relation": step.relation,
        "action": step.action.value,
        "columns": [derived.column[1] for derived in step.columns],
        "find_rows_by": [
            {
                "column": locator.column[1],
                "key": column_to_dict(locator.key),
                "path": [column_to_dict(one) for one in locator.path],
            }
            for locator in step.locators
        ],
        "row_keys": [{"columns": list(k.columns), "declared_by": k.by} for k in step.keys],
        "notes": list(step.notes),
    }


def _derived(derived: Derived) -> dict[str, Any]:
    return {
        **column_to_dict(derived.column),
        "path": [column_to_dict(step) for step in derived.path],
        "subtypes": [subtype.value for subtype in derived.subtypes],
        "masked": derived.is_masked,
        "certainty": derived.certainty.value,
    }


def erasure_markdown(erasure: Erasure, project: Project, metadata: Mapping[str, Any]) -> str:
    """The record as Markdown: what was asked, the steps to tick off, what cannot be known."""
    record = _Record(project)
    subjects = ", ".join(record.column(column) for column in erasure.subjects)
    parts = [
        f"# Erasure of {subjects}",
        f"Project {code(project.name)}, manifest of {text(str(project.generated_at))} "
        f"(invocation {code(str(project.invocation_id))}); written {metadata['generated_at']} by "
        f"lineage_post {text(str(metadata['tool_version']))}.",
    ]
    if erasure.upstream:
        came = ", ".join(record.column(column) for column in erasure.upstream)
        parts.append(f"**The values come from {came}: erase them there, or they come back.**")
    parts += ["## Order", ORDER, record.steps(erasure.steps)]
    parts += ["## Columns derived from it", record.derived(erasure.derived)]
    if erasure.indirect:
        parts += ["## Decided by it, without holding its value", record.indirect(erasure)]
    parts += ["## What cannot be known", record.unknown(erasure)]
    return "\n\n".join(part for part in parts if part) + "\n"


class _Record:
    """Pieces of the record, with the names that people know."""

    def __init__(self, project: Project) -> None:
        self.project = project

    def node(self, unique_id: str) -> str:
        return code(words.label(self.project, unique_id))

    def column(self, column: Column) -> str:
        return code(f"{words.label(self.project, column[0])}.{column[1]}")

    def way(self, path: Iterable[Column]) -> str:
        return " → ".join(self.column(column) for column in path)

    def steps(self, steps: Iterable[Step]) -> str:
        header = ("Done", "#", "Relation", "Do", "Columns", "Find the rows by", "Key", "Mind")
        return table(header, (self._step(step) for step in steps))

    def _step(self, step: Step) -> tuple[str, ...]:
        return (
            "☐" if step.action is not Action.NOTHING else "–",
            str(step.number),
            code(step.relation or words.label(self.project, step.unique_id)),
            step.action.value,
            ", ".join(code(derived.column[1]) for derived in step.columns),
            "; ".join(self._locator(locator) for locator in step.locators) or "–",
            "; ".join(f"{code(', '.join(k.columns))} ({text(k.by)})" for k in step.keys) or "–",
            "; ".join(text(note) for note in step.notes),
        )

    def _locator(self, locator: Locator) -> str:
        if len(locator.path) == 1:
            return code(locator.column[1])
        return f"{code(locator.column[1])} ({self.way(locator.path)})"

    def derived(self, derived: Iterable[Derived]) -> str:
        rows = []
        for one in derived:
            marks = [words.SUBTYPES[s] for s in one.subtypes] or ["itself"]
            marks += ["masked"] if one.is_masked else []
            marks += ["assumed"] if one.certainty is Certainty.ASSUMED else []
            rows.append((self.column(one.column), ", ".join(marks), self.way(one.path)))
        return table(("Column", "How", "Path"), rows)

    def indirect(self, erasure: Erasure) -> str:
        rows = []
        for one in erasure.indirect:
            decided = ", ".join(code(name) for name in one.columns) or "its rows"
            rows.append((self.node(one.unique_id), decided, _kinds(one.how)))
        return table(("Node", "Decides", "How"), rows)

    def unknown(self, erasure: Erasure) -> str:
        lines = [
            f"- {self.node(gap.unique_id)} may hold it: "
            f"{', '.join(code(c) for c in gap.columns) or 'any column'}, {gap_reason(gap.reason)}"
            for gap in erasure.gaps
        ]
        lines += [f"- read by {self.node(u)}" for u in consumers_of(erasure, self.project)]
        return "\n".join([*lines, *(f"- {beyond}" for beyond in BEYOND)])


def gap_reason(reason: str) -> str:
    """Why a node may hold a value, in words."""
    known = {r.value: said for r, said in words.REASONS.items()}
    if reason == "not_in_sql":  # Of a reader: what it shows is declared nowhere.
        return "it does not say which columns it reads"
    return text(known.get(reason, visible(reason)))


def _kinds(how: Iterable[Subtype]) -> str:
    return ", ".join(words.SUBTYPES[subtype] for subtype in how) or "rows of what it reads"
