"""SQL that runs beside a build: pre- and post-hooks, on-run-start and on-run-end."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from lineage_post.artifacts.access import mapping, take, text
from lineage_post.artifacts.consumer_details import names_in
from lineage_post.artifacts.model import Hook

_COMMENT = re.compile(r"\{#.*?#\}|--[^\n]*|/\*.*?\*/", re.DOTALL)
_WRITES = re.compile(
    r"\b(?:insert\s+(?:into|overwrite|all|first)|merge\s+into|delete\s+from|replace\s+into"
    r"|copy\s+into|update\s+\S.{0,200}?\sset\b"
    r"|create\s+(?:or\s+replace\s+)?(?:transient\s+)?table)\b",
    re.IGNORECASE | re.DOTALL,
)
_CALLED = re.compile(r"\{\{.*?\b(\w+)\s*\(|\{%-?\s*(?:do|call)\s+(?:\w+\.)?(\w+)\s*\(", re.DOTALL)
_JINJA = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_ARGUMENT = re.compile(r"['\"]([^'\"]*)['\"]")
#: Macros of these packages write what dbt or this tool itself needs, never a model's data.
_OWN = ("dbt", "lineage_post")


def hooks_of(resource: Any, config: Any, kind: str) -> tuple[Hook, ...]:
    """The hooks of a model, seed or snapshot; of an operation the statement that it is."""
    if kind == "operation":
        tags = [str(tag) for tag in take(resource, "tags") or ()]
        name = next((t for t in tags if t.startswith("on-run-")), "on-run-end")
        raw, code = (take(resource, key) for key in ("raw_code", "compiled_code"))
        return (Hook(name, str(raw or ""), text(code)),)
    return tuple(
        Hook(name, sql)
        for name in ("pre-hook", "post-hook")
        for sql in _statements(_setting(config, name))
    )


def named_in_hooks(config: Any) -> dict[str, list[str]]:
    """The words of hooks that write nothing (an index, a grant, a masking policy), by the kind of
    hook: a column may be among them. Their strings and comments are left out."""
    found: dict[str, dict[str, None]] = {}
    for name in ("pre-hook", "post-hook"):
        for hook in _setting(config, name):
            sql = hook if isinstance(hook, str) else text(take(hook, "sql"))
            if sql and not has_writes(sql):
                arguments = (names_in(a) for a in _ARGUMENT.findall(" ".join(_JINJA.findall(sql))))
                words = [*names_in(sql), *(word for argument in arguments for word in argument)]
                found.setdefault(name, {}).update(dict.fromkeys(words))
    return {name: list(words) for name, words in found.items()}


def _setting(config: Any, name: str) -> Any:
    found = take(config, name, name.replace("-", "_"))
    return [found] if isinstance(found, (str, dict)) else found or ()


def _statements(hooks: Any) -> Iterator[str]:
    for hook in hooks:
        sql = hook if isinstance(hook, str) else text(take(hook, "sql"))
        # Others move no data, and may hold what nobody else is to see.
        if sql and (has_writes(sql) or called_macros(sql)):
            yield sql


def has_writes(sql: str) -> bool:
    """Whether a text has words of SQL that move data into a relation."""
    return _WRITES.search(_COMMENT.sub(" ", sql)) is not None


def called_macros(sql: str) -> set[str]:
    """The macros that the Jinja of a text calls, by their bare names."""
    return {name for found in _CALLED.findall(sql) for name in found if name}


def writing_macros(manifest: Any, called: Collection[str]) -> frozenset[str]:
    """Of the macros with these bare names those whose text has such words; dbt's own are left
    out."""
    found: set[str] = set()
    for unique_id, macro in mapping(take(manifest, "macros")).items() if called else ():
        package = unique_id.split(".")[1] if "." in unique_id else ""
        if package in _OWN or package.startswith("dbt_"):
            continue
        if str(take(macro, "name") or unique_id.rsplit(".", 1)[-1]) not in called:
            continue
        if has_writes(str(take(macro, "macro_sql") or "")):
            found.add(str(take(macro, "name") or unique_id.rsplit(".", 1)[-1]))
    return frozenset(found)
