"""A table of personal data, models over it, and what a contract on them finds."""

from __future__ import annotations

from typing import Any

from lineage_post.contracts import Evaluator, Finding
from lineage_post.lineage import Lineage
from lineage_post.vocabulary import Subtype

from .handmade import edge, make_lineage
from .lineages import lineage_of
from .manifests import make_model, make_source

USERS = make_source(
    "users", {"id": "integer", "email": "text", "amount": "integer", "address": "struct(city text)"}
)
#: Every column of it is personal, so that it can be spoken of by tag and meta key.
for _name, _tags in {"email": ["pii"], "address": ["pii", "place"]}.items():
    USERS["columns"][_name] |= {"tags": _tags, "meta": {"sensitive": True}}
SOURCE = "source.shop.raw.users"
MART = "model.shop.mart"
EMAIL: dict[str, Any] = {"columns": ["raw.users.email"]}
AMOUNT: dict[str, Any] = {"columns": ["raw.users.amount"]}
PII: dict[str, Any] = {"column_tags": ["pii"]}


def shop(**models: str) -> Lineage:
    """Models one after another, each over those before it; ``eph_*`` are ephemeral."""
    made, parents = [], [SOURCE]
    for name, sql in models.items():
        kind = "ephemeral" if name.startswith("eph_") else "view"
        made.append(make_model(name, sql, parents, materialized=kind))
        parents = [*parents, f"model.shop.{name}"]
    return lineage_of(USERS, *made)


def found(
    lineage: Lineage, kind: str, name: str | None, node: str = MART, **given: Any
) -> tuple[Finding, ...]:
    return Evaluator(lineage).findings(kind, node, {"column_name": name, **given})


FROM = "from dev.raw.users"
S, M = "seed.shop.users", "model.shop.mart"


def one_edge(subtype: Subtype = Subtype.IDENTITY, **more: Any) -> Lineage:
    return make_lineage({S: ["email"], M: ["v"]}, [edge(f"{S}:email", f"{M}:v", subtype, **more)])
