"""The state of one trace that every part of the walk shares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from lineage_post.trace.errors import TooComplex
from lineage_post.trace.opens import Open, OpenTable
from lineage_post.trace.printing import printed
from lineage_post.trace.provenance import collapsed
from lineage_post.trace.recording import Recorder
from lineage_post.trace.relation import AnyStep, Relation, Step, Table
from lineage_post.trace.schema_index import SchemaIndex
from lineage_post.trace.sources_table import Sources
from lineage_post.trace.tokens import Tokens

if TYPE_CHECKING:
    from lineage_post.trace.commands import Commands
    from lineage_post.trace.frame import Env, Frame
    from lineage_post.trace.shapes import Shape

#: So many items of FROM, SELECTs and columns of stars are more than any sane statement has.
STEP_LIMIT = 4_000_000


@dataclass(frozen=True, slots=True)
class Hooks:
    """Parts of the walk that call back into each other, so that modules import one way."""

    query: Callable[[Tracer, Any, Env, Frame | None], Relation]
    evaluate: Callable[[Tracer, Any, Frame], int]
    write: Callable[[Tracer, Any, Env], Relation]
    join: Callable[[Tracer, Any, Frame], None]
    pivot: Callable[[Tracer, Any, Relation, Frame], Relation]
    column_shape: Callable[[Tracer, Relation, int], Shape | None]
    expression_shape: Callable[[Tracer, Any, Frame], Shape | None]
    element_shape: Callable[[Tracer, Shape], Shape | None]


class Tracer:
    """Sources, schema and the log of operations of one statement.

    ``log`` grows while expressions are walked. Its entries are (node, provenance) for an
    operation, (step, provenance) for a reference to a computed column, and (start, kind) for
    "everything logged since start acts as kind". A step remembers its slice, and nothing is read
    until an edge that needs it is made.
    """

    __slots__ = (
        "commands", "cte_depth", "expanding", "expands", "filled", "frames", "hooks", "key", "log",
        "masking", "masking_types", "opens", "position", "query", "reads", "recorder", "relation",
        "rules", "schema", "shapes", "shaping", "sources", "spell", "spent", "step", "stop_at",
        "tables", "tokens", "untold", "variables", "warnings",
    )  # fmt: skip

    def __init__(
        self,
        tokens: Tokens,
        schema: SchemaIndex,
        commands: Commands,
        stop_at: Mapping[str, str],
        masking: frozenset[str],
        hooks: Hooks,
    ) -> None:
        self.tokens = tokens
        self.schema = schema
        self.rules = schema.rules
        self.key = self.rules.key
        self.spell = self.rules.spell
        self.commands = commands
        self.stop_at = stop_at
        self.masking = masking
        known = exp.FUNCTION_BY_NAME
        #: The classes of masking functions of the user's that sqlglot knows by class.
        self.masking_types = {known[n.upper()] for n in masking if n.upper() in known}
        self.hooks = hooks
        self.query = hooks.query
        self.sources = Sources()
        self.log: list[tuple[Any, int]] = []
        #: The step of the column that was resolved last.
        self.step: AnyStep = None
        #: Where it stands, if it is nothing but a column of a relation.
        self.relation: Relation | None = None
        self.position = 0
        #: The columns of a COLUMNS(...) that was met, until its SELECT has expanded it.
        self.expanding: Any = None
        #: Whether it is a select list that is read, where COLUMNS(...) gives a column each.
        self.expands = False
        self.reads: set[tuple[str, ...]] = set()
        self.tables: dict[str, Relation] = {}
        self.opens: dict[str, OpenTable] = {}
        #: The shapes that were asked for, by node, frame and what is visible there, or by the step
        #: of arms; node, step and frame are kept, so that their identity stays theirs.
        self.shapes: dict[Any, tuple[Any, Frame | None, Shape | None]] = {}
        self.warnings: list[str] = []
        #: What the statement does beside its outputs, and is not traced.
        self.untold: list[str] = []
        #: What a script declared: names that are no columns.
        self.variables: frozenset[str] = frozenset()
        #: Variables that were filled from tables, in lower case.
        self.filled: frozenset[str] = frozenset()
        self.recorder: Recorder | None = None
        self.spent = 0
        self.cte_depth = 0
        #: The steps whose shape is being worked out: ``parse_json(a) as a`` may name itself.
        self.shaping: set[int] = set()
        #: The frames of the statement, which are cut loose when its trace is made.
        self.frames: list[Frame] = []

    def cut_loose(self) -> None:
        """Breaks the cycles of frames and steps, so that all is freed at once, not by the
        collector."""
        self.shapes = {}
        for frame in self.frames:
            frame.steps = []

    def spend(self, steps: int = 1) -> None:
        """Counts work. Raises TooComplex beyond the limit."""
        self.spent += steps
        if self.spent > STEP_LIMIT:
            raise TooComplex(f"more than {STEP_LIMIT} steps")

    def table(self, parts: tuple[str, ...]) -> Relation:
        """The relation a table name means: of the schema, or open under its dotted name."""
        self.reads.add(parts)
        entry = self.schema.find(parts)
        if entry is None:
            return self.open_relation(".".join(parts))
        return self.table_of(entry.key)

    def table_of(self, key: str) -> Relation:
        """The relation that edges call ``key``."""
        found = self.tables.get(key)
        if found is None:
            entry = self.schema.by_key(key)
            if entry is None:
                return self.open_relation(key)
            open_ = None if entry.is_complete else self.open_table(key)
            found = self.tables[key] = Table(self.sources, entry, open_)
        return found

    def open_relation(self, label: str) -> Relation:
        """A relation none of whose columns are known."""
        return Relation(self.rules, (), [], [], open_=self.open_table(label))

    def open_table(self, label: str) -> Open:
        """The columns of a table by whatever name the SQL uses."""
        found = self.opens.get(label)
        if found is None:
            found = self.opens[label] = OpenTable(label)
        return found

    def label(self, node: Any) -> str:
        """What a message calls an expression: its text, at most 80 characters of it."""
        written = self.tokens.text_of(node)
        return (written or printed(node, self.rules.dialect))[:80]

    def decide(self, frame: Frame, node: Any, start: int, x: int, kind: int) -> None:
        """Records that ``node``, evaluated to ``x``, decides rows of ``frame`` as ``kind``."""
        if x:
            y = collapsed(x, kind)
            frame.rows |= y
            frame.rows_of.own.append(Step(node, None, start, len(self.log), y, None, kind))

    def shape(self, relation: Relation, i: int) -> Shape | None:
        """The struct shape of a column, where it has one that is known."""
        return self.hooks.column_shape(self, relation, i)

    def expression_shape(self, node: Any, frame: Frame) -> Shape | None:
        """The struct shape of an expression, where it has one that is known."""
        return self.hooks.expression_shape(self, node, frame)
