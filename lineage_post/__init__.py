"""Column lineage for dbt.

>>> from lineage_post import trace
>>> trace("select a + b as c from t", dialect="duckdb", schema={"t": {"a": "int", "b": "int"}})
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lineage_post.lineage import load
    from lineage_post.trace import trace

__version__ = "0.1.0"
__all__ = ["__version__", "load", "trace"]


def __getattr__(name: str) -> Any:
    """Imports sqlglot only when it is needed: dbt imports this package on every command."""
    if name == "trace":
        return import_module("lineage_post.trace")  # It can be called: see there.
    if name == "load":
        from lineage_post.lineage import load

        return load
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
