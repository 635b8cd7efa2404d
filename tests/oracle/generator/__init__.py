"""Queries at random for DuckDB: hypothesis strategies that mix every clause over clashing names."""

from tests.oracle.generator.queries import SCHEMA, queries

__all__ = ["SCHEMA", "queries"]
