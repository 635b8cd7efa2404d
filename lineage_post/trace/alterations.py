"""What ALTER TABLE makes of the columns of a table, and the table that RENAME TO makes.

::

    alter table t add column b int, drop column c        a, c -> a, b
    alter table t rename column a to d                   a, b -> d, b
    alter table t rename to u                            u has all that t had
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from sqlglot import exp
from sqlglot.errors import SqlglotError

#: The table and the actions of a statement that sqlglot keeps as text.
_TEXT = re.compile(r"\A\s*(table\s+(?:if\s+exists\s+)?[^\s(]+)\s+(.*)\Z", re.I | re.S)
_VERB = re.compile(r"\A\s*(add|drop|rename|alter|modify|change|set|comment)\b(\s+column\b)?", re.I)
Types = Mapping[str, str | None]
_MODIFIED: Any = getattr(exp, "ModifyColumn", ())
#: ``alter table t drop b``, of which sqlglot keeps the text.
_DROPPED = re.compile(
    r'\A\s*(?:if\s+exists\s+)?(["`]?)(\w+)\1(?:\s+(?:cascade|restrict))?\s*\Z', re.I
)


class Change(NamedTuple):
    """One column that goes, comes, or goes under one name and comes under another."""

    gone: Any
    new: Any
    kind: str | None = None
    #: The column it stands behind; False for none, None for all.
    after: Any = None


def single_alterations(node: Any, dialect: Any) -> Iterator[Any]:
    """Each action of an ALTER TABLE whose actions sqlglot does not know together."""
    text = _TEXT.match(str(node.args.get("expression") or ""))
    if str(node.this).upper() != "ALTER" or text is None:
        return
    verb = ""
    for action in _split(text[2]):
        own = _VERB.match(action)
        verb = own[0] if own is not None else verb
        sql = f"alter {text[1]} {'' if own is not None else verb} {action}"
        try:
            yield from (n for n in dialect.parse(sql) if isinstance(n, exp.Alter))
        except SqlglotError:
            continue


def _split(text: str) -> list[str]:
    """The parts of a list, at commas outside of parentheses."""
    parts, depth = [""], 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if char == "," and not depth:
            parts.append("")
        else:
            parts[-1] += char
    return parts


def new_name(node: Any) -> Any:
    """The table that ``alter table t rename to u`` names; None for another statement."""
    actions: Any = (node.args.get("actions") or ()) if isinstance(node, exp.Alter) else ()
    if len(actions) != 1 or not isinstance(actions[0], exp.AlterRename) or renamed_column(node):
        return None
    target, old = actions[0].this, node.this
    if not isinstance(target, exp.Table) or not isinstance(old, exp.Table):
        return None
    if target.args.get("db") is None and old.args.get("db") is not None:
        target = target.copy()  # it stays in its schema
        for part in ("db", "catalog"):
            target.set(part, old.args[part].copy() if old.args.get(part) else None)
    return target


def altered(types: Types, node: Any, spell: Callable[[Any], str]) -> dict[str, tuple[Any, Any]]:
    """The columns after an ALTER TABLE: name -> (type, the name it had before or None)."""
    found: dict[str, tuple[Any, Any]] = {name: (kind, name) for name, kind in types.items()}
    for change in _changes(node):
        old = None if change.gone is None else _spelled(found, spell(change.gone))
        if change.gone is not None and old is None:
            continue
        if change.new is None:
            found.pop(old or "", None)
        elif old is not None:
            name = spell(change.new)
            found = {name if n == old else n: column for n, column in found.items()}
        elif _spelled(found, spell(change.new)) is None:
            found = _placed(found, spell(change.new), change, spell)
    return found


def _placed(
    found: dict[str, tuple[Any, Any]], name: str, change: Change, spell: Callable[[Any], str]
) -> dict[str, tuple[Any, Any]]:
    names = list(found)
    place = len(names) if change.after is None else 0
    if isinstance(change.after, exp.Expr):
        last = _spelled(found, spell(change.after))
        place = len(names) if last is None else names.index(last) + 1
    names.insert(place, name)
    return {n: found.get(n, (change.kind, None)) for n in names}


def _spelled(names: Mapping[str, Any], name: str) -> str | None:
    if name in names:
        return name
    return next((n for n in names if n.lower() == name.lower()), None)


def renamed_column(node: Any) -> Any:
    """The new name in ``alter table t rename b to c``, which is parsed as if of a table."""
    options = node.args.get("options") or ()
    return next((o.this for o in options if isinstance(o, exp.ToTableProperty)), None)


def _changes(node: Any) -> Iterator[Change]:
    for action in node.args.get("actions") or ():
        if isinstance(action, exp.AlterRename):
            new = renamed_column(node)
            if new is not None:
                yield Change(_identifier(action.this), _identifier(new))
        else:
            yield from _of_action(action)


def _of_action(action: Any) -> Iterator[Change]:
    if isinstance(action, exp.ColumnDef):
        kind, position = action.args.get("kind"), action.args.get("position")
        after = None if position is None else _identifier(position.args.get("this")) or False
        new = _identifier(action.this)
        yield Change(None, new, None if kind is None else str(kind.sql()), after)
    elif isinstance(action, exp.Schema):
        for column in action.expressions:
            yield from _of_action(column)
    elif isinstance(action, exp.RenameColumn):
        yield Change(_identifier(action.this), _identifier(action.args["to"]))
    elif isinstance(action, _MODIFIED) and action.args.get("rename_from") is not None:
        yield Change(_identifier(action.args["rename_from"]), action.this.this)
    elif isinstance(action, exp.Drop) and str(action.args.get("kind")).startswith("COLUMN"):
        for item in action.args.get("tables") or ():
            for column in item.expressions if isinstance(item, exp.Schema) else [item]:
                yield Change(_identifier(column), None)
    elif isinstance(action, exp.Command) and str(action.this).lower() == "drop":
        dropped = _DROPPED.match(str(action.args.get("expression") or ""))
        if dropped is not None:
            yield Change(exp.to_identifier(dropped[2], quoted=bool(dropped[1])), None)


def _identifier(node: Any) -> Any:
    while isinstance(node, exp.Expr) and not isinstance(node, exp.Identifier):
        node = node.args.get("this")
    return node if isinstance(node, exp.Identifier) else None
