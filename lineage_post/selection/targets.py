"""What ``show`` is asked for: ``fct_orders.revenue``, ``+fct_orders.revenue``, ``fct_orders``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from lineage_post.errors import SelectionError
from lineage_post.lineage import Lineage

_PLUSES = re.compile(
    r"(?:(?P<up>\d*)\+)?(?:(?:fqn|source|exposure):)?(?P<name>.+?)(?:\+(?P<down>\d*))?"
)
#: So many models are named where none is near.
_LISTED = 8
#: Without a plus: what is next to it.
NEXT = 1


@dataclass(frozen=True, slots=True)
class Target:
    """A node, and a column of it unless all were meant; how far to look up and down.

    0 means not at all, None without end.
    """

    node: str
    column: str | None
    up: int | None
    down: int | None


def target_of(text: str, lineage: Lineage) -> Target:
    """The target that ``text`` names. Raises SelectionError with near names."""
    parts = _PLUSES.fullmatch(text.strip())
    if parts is None:
        raise SelectionError("no name was given", hint="Name a node or a column, as in orders.id.")
    up, down = _depth(parts["up"]), _depth(parts["down"])
    if parts["up"] is None and parts["down"] is None:
        up = down = NEXT
    node, column = _named(parts["name"], lineage)
    return Target(node, column, up, down)


def _depth(plus: str | None) -> int | None:
    if plus is None:
        return 0
    return int(plus) if plus else None


def _named(name: str, lineage: Lineage) -> tuple[str, str | None]:
    names = _names(lineage)
    if name.casefold() in names:
        return _only(name, names[name.casefold()]), None
    nearest: SelectionError | None = None
    for at in range(len(name) - 1, 0, -1):
        found = names.get(name[:at].casefold()) if name[at] == "." else None
        if found:
            try:
                return lineage.graph.find(_only(name[:at], found), without_quotes(name[at + 1 :]))
            except SelectionError as error:
                nearest = nearest or error
    if nearest is not None:
        raise nearest
    shown = {key: key for key in names if "." not in key or key.startswith("external.")}
    near = get_close_matches(name.rpartition(".")[0].casefold() or name.casefold(), shown, n=3)
    last = name.rpartition(".")[2].casefold()
    if not near and last in shown:
        # A relation as SQL names it: dbt's nodes are named without database and schema.
        near = [last]
    raise SelectionError(f"there is no node for {name!r}", hint=_instead(near, lineage))


def _instead(near: list[str], lineage: Lineage) -> str:
    """Near names; without any, some that there are."""
    if near:
        return f"Did you mean {', '.join(near)}?"
    models = (n for n in lineage.project.nodes.values() if n.resource_type == "model")
    known = sorted(n.label_or_name for n in models if n.package_name == lineage.project.name)
    if not known:
        return "Write model.column, as in orders.id."
    more = f" and {len(known) - _LISTED} more" if len(known) > _LISTED else ""
    return f"The models are {', '.join(known[:_LISTED])}{more}."


def without_quotes(name: str) -> str:
    """A column's name without the quotes that SQL wants around it, a quote in it being doubled."""
    quote, inner = name[:1], name[1:-1]
    is_quoted = len(name) > 2 and quote in '"`' and name[-1] == quote
    if not is_quoted or quote in inner.replace(quote * 2, ""):
        return name
    return inner.replace(quote * 2, quote)


def _names(lineage: Lineage) -> dict[str, set[str]]:
    """Every name a user may give a node, folded, with the nodes it may mean."""
    names: dict[str, set[str]] = {}
    for unique_id in lineage.nodes:
        for name in _names_of(unique_id, lineage):
            names.setdefault(name.casefold(), set()).add(unique_id)
    return names


def _names_of(unique_id: str, lineage: Lineage) -> Iterator[str]:
    yield unique_id
    node = lineage.project.nodes.get(unique_id)
    if node is None:
        return
    if node.resource_type == "source":
        yield f"{node.details.get('source_name')}.{node.name}"
        yield node.name
    elif node.version is not None:
        yield f"{node.name}.v{node.version}"
        yield f"{node.name}_v{node.version}"
        if node.is_latest_version:
            yield node.name
    else:
        yield node.name
        yield f"{node.package_name}.{node.name}"


def _only(name: str, found: set[str]) -> str:
    if len(found) == 1:
        return next(iter(found))
    # A model and a source of one name: the model is what people mean.
    models = [unique_id for unique_id in found if not unique_id.startswith("source.")]
    if len(models) == 1:
        return models[0]
    raise SelectionError(f"{name!r} may be any of {', '.join(sorted(found))}", hint="Name one.")
