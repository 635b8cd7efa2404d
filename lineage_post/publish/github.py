"""A diff as the comment on a pull request: a table, and one collapsible part for each change."""

from __future__ import annotations

from collections.abc import Iterator

from lineage_post.diff import Diff, Level, NodeChange
from lineage_post.diff.wording import (
    before_and_after,
    broken_places,
    doubtful_places,
    forms,
    grouped,
    node_name,
    subject,
    summary,
    what,
)
from lineage_post.lineage import Lineage
from lineage_post.publish.markdown import code, text

#: A comment of GitHub holds 65,536 characters.
MAX_CHARACTERS = 60_000
#: So that a job finds its own comment again and writes it anew.
MARKER = "<!-- lineage-post diff -->"
_SIGNS = {
    Level.BREAKING: "❌ breaking",
    Level.UNKNOWN: "❔ unknown",
    Level.CHANGED: "🔶 changed",
    Level.COMPATIBLE: "✅ compatible",
}
Lineages = tuple[Lineage, Lineage]


def comment(diff: Diff, lineages: Lineages, selection: list[str]) -> str:
    """The comment in GitHub's Markdown; cut where GitHub would refuse it, and then it says so."""
    parts = [MARKER, f"### Column lineage: {summary(diff)}", ""]
    if diff.changes:
        parts += _table(diff, lineages)
    closing = _selection(selection)
    room = MAX_CHARACTERS - sum(len(line) + 1 for line in closing)
    for change in _worst_first(diff):
        part = list(_details(change, lineages))
        if part and sum(len(line) + 1 for line in [*parts, *part]) > room:
            parts += ["", "_There is more than a comment can hold: see `lineage-post diff`._"]
            break
        parts += part
    return "\n".join([*parts, *closing]) + "\n"


def _selection(selection: list[str]) -> list[str]:
    if not selection:
        return []
    command = f"dbt build --select {' '.join(selection)}"
    if len(command) > MAX_CHARACTERS // 4:
        command = "dbt build --select $(lineage-post diff --state DIR --select-impacted)"
    title = f"Build what is affected: {len(selection)} nodes"
    return [
        "",
        f"<details><summary>{title}</summary>",
        "",
        "```sh",
        command,
        "```",
        "",
        "</details>",
    ]


def _worst_first(diff: Diff) -> list[NodeChange]:
    return [change for level in Level for change in diff.of_level(level)]


def _table(diff: Diff, lineages: Lineages) -> list[str]:
    lines = ["| | what | | affects |", "|---|---|---|---|"]
    for change in _worst_first(diff):
        cells = [
            _SIGNS[change.level],
            code(subject(change, lineages)),
            text(what(change)),
            text(_counts(change)),
        ]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        if sum(map(len, lines)) > MAX_CHARACTERS // 2:
            lines.append("| … | | | |")
            break
    return lines


def _counts(change: NodeChange) -> str:
    found = [
        (len({d.unique_id for d in change.broken}), "broken"),
        (len({d.dependent.unique_id for d in change.may_break}), "may break"),
        (len(change.affected), "values"),
        (len(change.rows), "rows only"),
        (len(change.consumers), "consumer" if len(change.consumers) == 1 else "consumers"),
        (len(change.possible), "possibly"),
    ]
    return ", ".join(f"{count} {name}" for count, name in found if count) or "-"


def _details(change: NodeChange, lineages: Lineages) -> Iterator[str]:
    lines = list(_body(change, lineages))
    if not lines:
        return
    name = text(subject(change, lineages))
    yield ""
    yield f"<details><summary>{name}: {text(what(change))}</summary>"
    yield ""
    yield from lines
    yield ""
    yield "</details>"


def _body(change: NodeChange, lineages: Lineages) -> Iterator[str]:
    if change.level is not Level.COMPATIBLE:
        yield f"- {text(change.because)}"
    form = forms(change)
    if form is not None:
        yield f"- compiled {text(form)}"
    both = before_and_after(change)
    if both is not None:
        yield "- " + " → ".join(code(side) if side else "nothing" for side in both)
    if change.candidates:
        yield f"- perhaps a rename, but not the only one: {', '.join(map(code, change.candidates))}"
    for dependent, columns in broken_places(change):
        at = f" at {code(f'{dependent.file}:{dependent.line}')}" if dependent.line else ""
        name = " ".join(code(part) for part in (dependent.name, columns) if part)
        yield f"- ❌ {name} {text(dependent.role or dependent.kind)}{at}"
    for dependent, columns, because in doubtful_places(change):
        at = f" at {code(f'{dependent.file}:{dependent.line}')}" if dependent.line else ""
        name = f"{code(dependent.name)} {code(columns or 'rows')}"
        yield f"- ⚠️ {name} may break: {text(because)}{at}"
    for title, moved in (("values can move", change.affected), ("rows come or go", change.rows)):
        for name, columns in grouped(moved, lineages):
            yield f"- {title} in {code(name)}: {text(columns)}"
    for consumer in change.consumers:
        kind = consumer.split(".", 1)[0].replace("_", " ")
        yield f"- {kind} {code(node_name(consumer, lineages))}"
    for possible in change.possible:
        yield f"- possibly {code(possible.name)}: {text(possible.reason)}"
