"""From SQL text to a query ready for rewriting: names resolved, stars expanded, CTEs at the top.

Every physical table becomes an internal name (``_r1``), so that neither its database parts nor a
CTE of the same name can be mistaken; every CTE, and every view that is read as its SQL, becomes one
CTE of the whole query. What cannot be rewritten is refused here, before any name is touched.
"""

from __future__ import annotations

from sqlglot import exp

from lineage_post.provenance.building import names_of
from lineage_post.provenance.prepared import Prepared
from lineage_post.provenance.qualifying import qualify_columns
from lineage_post.provenance.query_text import parsed
from lineage_post.provenance.relations import Relations
from lineage_post.provenance.resolving import Resolver
from lineage_post.provenance.scopes import resolved_columns
from lineage_post.provenance.volatility import CLOCK_NAMES, CLOCKS, VOLATILE


def prepare(sql: str, dialect: str, relations: Relations) -> Prepared:
    """``sql`` ready for a Rewriter. Raises Refusal for what has no rule."""
    body = parsed(sql, dialect)
    notes: dict[str, None] = {}
    resolver = Resolver(dialect, relations)
    names = tuple(names_of(body))
    resolver.resolve(body, {})
    for query in [body, *(cte.query for cte in resolver.ctes.values())]:
        _note_volatile(query, dialect, notes)
    prepared = Prepared(body, names, resolver.ctes, resolver.bases, dialect, notes)
    _rename_clashes(prepared)
    qualify_columns(prepared)
    _note_reads(prepared)
    written = names_of(prepared.body)
    if len(names) != len(written) or "*" in names:
        prepared.names = tuple(written)
    return prepared


def _note_volatile(query: exp.Expr, dialect: str, notes: dict[str, None]) -> None:
    for node in query.find_all(exp.Func, *CLOCKS):
        name = (node.name if isinstance(node, exp.Anonymous) else node.sql_name()).lower()
        if isinstance(node, (exp.Rand, exp.Uuid)) or name in VOLATILE:
            notes[f"volatile function {node.sql(dialect)}: values differ at each run"] = None
        elif isinstance(node, CLOCKS) or name in CLOCK_NAMES:
            notes[f"the clock is read by {node.sql(dialect)}: values differ at each run"] = None


def _rename_clashes(prepared: Prepared) -> None:
    """A CTE named like a table without a schema would hide it from the other CTEs."""
    plain = {base.table.name.lower() for base in prepared.bases.values() if not base.table.db}
    for name in [n for n in prepared.ctes if n in plain or f"{n}__p" in plain]:
        new = name
        while new in plain or f"{new}__p" in plain or new in prepared.ctes:
            new += "_cte"
        queries = [prepared.body, *(cte.query for cte in prepared.ctes.values())]
        for table in [t for query in queries for t in query.find_all(exp.Table)]:
            if table.name == name and not table.db:
                table.set("this", exp.to_identifier(new, quoted=True))
        prepared.ctes = {(new if key == name else key): cte for key, cte in prepared.ctes.items()}
        prepared.ctes[new].name = new


def _note_reads(prepared: Prepared) -> None:
    """Remember which columns of each base are read."""
    read: dict[str, dict[str, None]] = {internal: {} for internal in prepared.bases}
    for query in [prepared.body, *(cte.query for cte in prepared.ctes.values())]:
        for column, source in resolved_columns(query):
            if isinstance(source, exp.Table) and source.name in read:
                read[source.name][column.name] = None
    for internal, base in prepared.bases.items():
        order = {name: position for position, name in enumerate(base.types)}
        names = sorted(read[internal], key=lambda name: order.get(name, len(order)))
        base.read = tuple(names)
