"""Writes USING and NATURAL joins with ON, so that the condition can be taken out of a query.

``a join b using (k)`` becomes ``a join (select * rename (k as k__b) from b) as b on k = k__b``;
what the merged column is follows the kind of join, and stars leave the hidden key out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sqlglot import exp

#: The columns of a source of a FROM clause, or None where they cannot be learned.
ColumnsOf = Callable[[exp.Expression], Sequence[str] | None]


def using_as_on(query: exp.Expression, columns_of: ColumnsOf) -> exp.Expression:
    """A copy of the query without USING and NATURAL where that could be written."""
    query = query.copy()
    for select in list(query.find_all(exp.Select)):
        _rewrite(select, columns_of)
    return query


def _rewrite(select: exp.Select, columns_of: ColumnsOf) -> None:
    joins = select.args.get("joins") or []
    if not any(join.args.get("using") or join.method == "NATURAL" for join in joins):
        return
    source = select.args.get("from_")
    known = list(_columns(source.this, columns_of) or ()) if source else []
    merged: dict[str, exp.Expression] = {}
    for join in joins:
        right = _columns(join.this, columns_of)
        keys = _keys(join, known, right)
        if (
            keys
            and isinstance(join.this, (exp.Table, exp.Subquery))
            and join.method in ("", "NATURAL")
        ):
            _rewrite_join(select, join, keys, merged)
        known += [name for name in right or () if name not in keys]
    _replace_merged(select, merged)


def _columns(source: exp.Expression, columns_of: ColumnsOf) -> Sequence[str] | None:
    names = columns_of(source)
    return None if names is None else [name.lower() for name in names]


def _keys(join: exp.Join, known: Sequence[str], right: Sequence[str] | None) -> list[str]:
    if join.method == "NATURAL":
        return [name for name in known if name in (right or ())]
    return [key.name.lower() for key in join.args.get("using") or ()]


def _rewrite_join(
    select: exp.Select, join: exp.Join, keys: list[str], merged: dict[str, exp.Expression]
) -> None:
    alias = join.this.alias_or_name
    hidden = {key: f"{key}__{alias}" for key in keys}
    is_semi = join.kind in ("SEMI", "ANTI")
    conditions = []
    for key in keys:
        left = merged.get(key, exp.column(key))
        right = exp.column(hidden[key], table=alias)
        conditions.append(left.copy().eq(right))
        if is_semi:
            continue
        if join.side == "RIGHT":
            merged[key] = right
        elif join.side == "FULL":
            merged[key] = exp.func("coalesce", left.copy(), right.copy())
    for column in list(select.find_all(exp.Column)):
        if column.table.lower() == alias.lower() and column.name.lower() in hidden:
            column.set("this", exp.to_identifier(hidden[column.name.lower()]))
    _rename_keys(join, alias, hidden)
    join.set("using", None)
    join.set("method", None)
    join.set("on", exp.and_(*conditions))
    if not is_semi:
        _hide_in_stars(select, alias, hidden)


def _rename_keys(join: exp.Join, alias: str, hidden: dict[str, str]) -> None:
    source = join.this
    columns = source.args["alias"].args.get("columns") if source.args.get("alias") else None
    inner = source if columns else source.unalias() if isinstance(source, exp.Table) else source
    if isinstance(source, exp.Table) and not columns:
        inner = source.copy()
        inner.set("alias", None)
    renames = [exp.alias_(exp.column(key), name) for key, name in hidden.items()]
    wrapped = exp.select(exp.Star(rename=renames)).from_(inner.copy())
    join.set("this", wrapped.subquery(alias))


def _hide_in_stars(select: exp.Select, alias: str, hidden: dict[str, str]) -> None:
    for item in select.expressions:
        if isinstance(item, exp.Star):
            excluded = item.args.get("except_") or []
            names = {name.name.lower() for name in excluded}
            more = [exp.to_identifier(name) for key, name in hidden.items() if key not in names]
            item.set("except_", [*excluded, *more, *_named(hidden, names)])
        elif (
            isinstance(item, exp.Column) and isinstance(item.this, exp.Star) and item.table == alias
        ):
            back = [exp.alias_(exp.column(name), key) for key, name in hidden.items()]
            item.this.set("rename", back)


def _named(hidden: dict[str, str], excluded: set[str]) -> list[exp.Expression]:
    return [exp.to_identifier(name) for key, name in hidden.items() if key in excluded]


def _replace_merged(select: exp.Select, merged: dict[str, exp.Expression]) -> None:
    for column in list(_own_columns(select)):
        value = merged.get(column.name.lower())
        if value is None or column.table:
            continue
        top_level = column.parent is select and column.arg_key == "expressions"
        column.replace(exp.alias_(value.copy(), column.name) if top_level else value.copy())
    for item in select.expressions:
        if isinstance(item, exp.Star) and merged:
            excluded = {name.name.lower() for name in item.args.get("except_") or ()}
            replaced = {alias.alias.lower() for alias in item.args.get("replace") or ()}
            more = [
                exp.alias_(value.copy(), key)
                for key, value in merged.items()
                if key not in excluded | replaced
            ]
            if more:
                item.set("replace", [*(item.args.get("replace") or ()), *more])


def _own_columns(select: exp.Select) -> Iterator[exp.Column]:
    """Columns of the select itself: not those inside joins' conditions or inner queries."""
    for column in select.find_all(exp.Column):
        if column.find_ancestor(exp.Select, exp.Join) is select:
            yield column
