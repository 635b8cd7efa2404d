"""The evidence document for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lineage_post.lineage.modes import FORMS, FULL_REFRESH, INCREMENTAL
from lineage_post.publish.markdown import code, table, text


def evidence_markdown(document: Mapping[str, Any], sql: Mapping[str, str]) -> str:
    """The document as Markdown, with the SQL of each step."""
    subject, project = document["subject"], document["project"]
    name = code(f"{subject['unique_id'].split('.', 2)[-1]}.{subject['column']}")
    parts = [
        f"# Evidence for {name}",
        f"Project {code(str(project['name']))} on {text(str(project['adapter_type']))}, dbt "
        f"{text(str(project['dbt_version']))}, invocation {code(str(project['invocation_id']))}, "
        f"manifest of {text(str(project['manifest_generated_at']))}.",
        _states(document),
        "## Steps, sources first",
    ]
    for step in document["steps"]:
        parts += _step(step, sql)
    parts += ["## Tests and their last results", _tests(document["tests"])]
    return "\n\n".join(part for part in parts if part) + "\n"


def _states(document: Mapping[str, Any]) -> str:
    if document["complete"]:
        return "Every step is known."
    lines = [
        f"- {code(one['unique_id'] + ('.' + one['column'] if one['column'] else ''))}: "
        f"{one['state']} ({one['reason']})"
        for one in document["not_known"]
    ]
    return "\n".join(["**Not every step is known:**", "", *lines])


def _step(step: Mapping[str, Any], sql: Mapping[str, str]) -> list[str]:
    refresh = step["refresh"]
    facts = [
        f"- relation {code(str(step['relation']))}, {text(str(step['materialization']))}, "
        f"gives {step['gives']}, {step['state']}",
        f"- definition version {code(str(step['definition_version']))}",
        f"- {_built(refresh, step['build_mode'])}",
    ]
    versions = [f"{code(i['node'])} {code(str(i['version'] or '?'))}" for i in step["inputs"]]
    facts += [f"- inputs: {', '.join(versions)}"] if versions else []
    rows = [_column(column) for column in step["columns"]]
    parts = [
        f"### {step['number']}. {code(step['unique_id'])}",
        "\n".join(facts),
        table(("Column", "Gives", "Expression", "From"), rows) if rows else "",
    ]
    if step["rows_decided_by"]:
        edges = step["rows_decided_by"]
        decided = sorted({(e["from_node"], e["from_column"], e["subtype"]) for e in edges})
        said = [f"{code(f'{n}.{c}')} ({_word(s)})" for n, c, s in decided]
        parts.append(f"Rows decided by {', '.join(said)}.")
    if step["sql_file"] in sql:
        parts.append(_block(sql[step["sql_file"]]))
    return parts


def _built(refresh: Mapping[str, Any] | None, shown: str | None) -> str:
    if refresh is None:
        return "no build of it is recorded in what was at hand"
    said = f"built by run {code(str(refresh['run_id']))} at {text(str(refresh['refreshed_at']))}"
    same = {True: ", of this definition", False: ", **of another definition**", None: ""}
    said += same[refresh["is_this_definition"]]
    if refresh["is_this_form"] is False:
        built = FORMS[INCREMENTAL if shown == FULL_REFRESH else FULL_REFRESH]
        said += f", {built}; the SQL below is {FORMS[str(shown)]}"
    return said


def _column(column: Mapping[str, Any]) -> tuple[str, ...]:
    sources = dict.fromkeys(
        f"{code(e['from_node'] + '.' + e['from_column'])} ({_word(e['subtype'])}"
        f"{', masked' if e['masking'] else ''})"
        for e in column["from"]
    )
    expression = code(column["expression"]) if column["expression"] else ""
    return code(column["name"]), column["gives"], expression, ", ".join(sources)


def _word(subtype: str) -> str:
    return subtype.lower().replace("_", " ")


def _tests(tests: list[Mapping[str, Any]]) -> str:
    rows = []
    for one in tests:
        result = one["result"]
        said = "not run in what was at hand" if result is None else text(result["status"])
        if result is not None and result["failures"]:
            said += f", {result['failures']} failures"
        at = text(str(result["executed_at"])) if result is not None else ""
        of = code(f"{one['of']}{'.' + one['column'] if one['column'] else ''}")
        rows.append((text(str(one["test"])), of, said, at))
    return table(("Test", "Of", "Last result", "At"), rows) if rows else "No test reads a step."


def _block(sql: str) -> str:
    """SQL in a fence that it cannot close."""
    longest = max((len(part) for part in _ticks(sql)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}sql\n{sql.strip()}\n{fence}"


def _ticks(sql: str) -> list[str]:
    return "".join(c if c == "`" else " " for c in sql).split()
