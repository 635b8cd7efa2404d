"""Column lineage for dbt."""

__version__ = "0.1.0"
