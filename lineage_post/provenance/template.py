"""What a page needs to know of a template: where the condition goes, and what one may call."""

from __future__ import annotations

#: Stands in a template where the condition goes, in brackets of its own.
PLACEHOLDER = "lineage_post_condition"
#: The plain functions that a condition may call, as one writes them: see ``predicate.checked``.
FUNCTIONS = frozenset(
    [
        "abs", "cast", "ceil", "coalesce", "concat", "date", "date_trunc", "day", "extract",
        "floor", "left", "length", "lower", "month", "nullif", "replace", "right", "round",
        "substring", "trim", "try_cast", "upper", "year",
    ]
)  # fmt: skip
