"""The words every module, table and JSON document uses.

Types and subtypes are those of OpenLineage's column lineage facet, version 1-2-0.
"""

from __future__ import annotations

from enum import Enum


class Word(str, Enum):
    """A string enum whose members print and serialize as their value."""

    #: That of the text it equals; Enum's own is a Python call for each look into a dict.
    __hash__ = str.__hash__

    def __str__(self) -> str:
        return str(self._value_)


class EdgeType(Word):
    """``DIRECT``: what a value is computed from. ``INDIRECT``: what decides rows or branches."""

    DIRECT = "DIRECT"
    INDIRECT = "INDIRECT"


class Subtype(Word):
    """How a source column acts on a target; the first three are DIRECT, the others INDIRECT."""

    IDENTITY = "IDENTITY"
    TRANSFORMATION = "TRANSFORMATION"
    AGGREGATION = "AGGREGATION"
    JOIN = "JOIN"
    FILTER = "FILTER"
    GROUP_BY = "GROUP_BY"
    SORT = "SORT"
    WINDOW = "WINDOW"
    CONDITIONAL = "CONDITIONAL"

    @property
    def type(self) -> EdgeType:
        return EdgeType.DIRECT if self in DIRECT_SUBTYPES else EdgeType.INDIRECT


DIRECT_SUBTYPES = frozenset({Subtype.IDENTITY, Subtype.TRANSFORMATION, Subtype.AGGREGATION})


class OpKind(Word):
    """What a named operation on an edge is."""

    IDENTITY = "identity"
    SQL_FUNCTION = "sql_function"
    OPERATOR = "operator"
    COMMAND = "command"
    CONSTANT = "constant"


class Certainty(Word):
    """``assumed`` marks an over-approximation: an undeclared UDF, a coarse struct."""

    EXACT = "exact"
    ASSUMED = "assumed"


class State(Word):
    """Whether the lineage of a node or a column is known. ``known`` without edges is a constant."""

    KNOWN = "known"
    PARTIAL = "partial"
    UNKNOWN = "unknown"


class Reason(Word):
    """Why lineage is not known."""

    NOT_COMPILED = "not_compiled"
    PYTHON_MODEL = "python_model"
    PARSE_ERROR = "parse_error"
    UNSUPPORTED_SYNTAX = "unsupported_syntax"
    SCHEMA_MISSING = "schema_missing"
    STAR_UNEXPANDED = "star_unexpanded"
    AMBIGUOUS = "ambiguous"
    UNRESOLVED_COLUMN = "unresolved_column"
    DUPLICATE_COLUMN = "duplicate_column"
    NOT_IN_SQL = "not_in_sql"
    EXTERNAL = "external"
    TOO_COMPLEX = "too_complex"
    INTERNAL_ERROR = "internal_error"


#: Reasons that never replace lineage known from an earlier build.
REASONS_THAT_KEEP_THE_LAST_ANSWER = frozenset({Reason.NOT_COMPILED, Reason.INTERNAL_ERROR})


class Status(Word):
    """The outcome a refresh records."""

    SUCCESS = "success"
    ERROR = "error"
    SKIPPED = "skipped"
    PLANNED = "planned"
    DERIVED = "derived"
    SAMPLE = "sample"
    REMOVED = "removed"
    PURGED = "purged"


class Producer(Word):
    """Who asserts lineage. Importers may add names of their own."""

    MANIFEST = "manifest"
    EXECUTION = "execution"
    DBT_INDEX = "dbt_index"
    ACCESS_HISTORY = "access_history"
    OPENLINEAGE = "openlineage"


class ColumnState(Word):
    """What a table-level edge knows of its columns."""

    COLUMNS_FLOW = "columns flow"
    NO_COLUMNS_FLOW = "no columns flow"
    NOT_AVAILABLE = "not available"


class ExposureMode(Word):
    """Which columns get an exposure of their own."""

    LEAF = "leaf"
    PUBLIC = "public"
    MARKED = "marked"
    NONE = "none"
