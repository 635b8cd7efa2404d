"""Walks from a row of a model to the rows it comes from, step by step through stored tables.

Views and ephemeral models are read through. Each step says whether the model's SQL, run on what it
reads now, still gives the stored row; a model that is refused is a leaf, never the end of the
answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import exp

from lineage_post.artifacts import Node
from lineage_post.lineage import Lineage
from lineage_post.provenance.answer import Explained, Label, Witness
from lineage_post.provenance.ask import Asker, Question, token_of
from lineage_post.provenance.connection import Connection
from lineage_post.provenance.keys import snapshot_key
from lineage_post.provenance.leaves import made
from lineage_post.provenance.matching import Values
from lineage_post.provenance.plan import Plan, make_plan
from lineage_post.provenance.predicate import checked
from lineage_post.provenance.prepared import Prepared
from lineage_post.provenance.project_relations import ProjectRelations
from lineage_post.provenance.refusal import Refusal
from lineage_post.provenance.settings import Settings
from lineage_post.provenance.witnesses import fetch

SqlOf = Callable[[Node], str | None]


def compiled_sql(node: Node) -> str | None:
    """The SQL of a node as the manifest has it."""
    return node.compiled_code if node.language == "sql" else None


class Walker:
    """Explains rows of a project's models over a connection."""

    def __init__(
        self,
        lineage: Lineage,
        connection: Connection,
        settings: Settings,
        *,
        sql_of: SqlOf = compiled_sql,
    ) -> None:
        self.lineage = lineage
        self.project = lineage.project
        self.connection = connection
        self.settings = settings
        self.sql_of = sql_of
        self.relations = ProjectRelations(lineage, connection, sql_of)
        self._askers: dict[str, Asker | Refusal] = {}
        self._told: dict[tuple[str, str], Explained] = {}

    def why(self, unique_id: str, where: str) -> list[Explained]:
        """Answers for the rows of a model that fulfil ``where``. Raises Refusal, LineageError."""
        node = self.project.nodes[unique_id]
        if self.settings.as_of_now:
            return self._computed(node, where)
        table = self.relations.table(unique_id)
        condition = checked(where, table.columns, self.connection.dialect, names=model_names(node))
        rows = self._stored(node, list(table.columns), condition)
        return self._explain(node, rows, self.settings.depth)

    # -- rows

    def _stored(self, node: Node, columns: list[str], condition: exp.Expr) -> list[Values]:
        table = table_of(node)
        if table is None:
            raise Refusal(f"{node.name} has no stored rows", hint="Ask with --as-of-now.")
        if not columns:
            raise Refusal(f"{node.name} is not in the warehouse", hint="Run dbt build, then ask.")
        outputs = [exp.column(exp.to_identifier(name, quoted=True)) for name in columns]
        select = exp.select(*outputs).from_(table).where(condition)
        found = self.connection.rows(select.limit(self.settings.limit))
        return [dict(zip(columns, row, strict=True)) for row in found]

    def _computed(self, node: Node, where: str) -> list[Explained]:
        """Recompute the model from the relations ``depth`` steps up, and ask for its rows."""
        plan = self._plan(node, self._inlined(node))
        names = list(plan.outputs)
        condition = checked(where, names, self.connection.dialect, names=model_names(node))
        written = plan.columns()
        for found in list(condition.find_all(exp.Column)):
            found.replace(written[found.name].copy())
        statement = plan.question(condition, []).limit(self.settings.limit)
        rows = [dict(zip(names, row, strict=True)) for row in self.connection.rows(statement)]
        question = Question(
            node.unique_id, rows, key_of(node, self.relations, plan.outputs), computed=True
        )
        answers = Asker(plan, self.connection, self.settings).answer(question)
        for answer in answers:
            answer.notes = (*answer.notes, *remarks(node, plan.prepared, self.relations))
        return answers

    def _inlined(self, node: Node) -> set[str]:
        """The models to read as their SQL: all nearer than ``depth`` steps."""
        found: set[str] = set()
        level, steps = {node.unique_id}, 1
        while level and (self.settings.depth is None or steps < self.settings.depth):
            parents = {p for n in level for p in self.project.nodes[n].depends_on}
            level = {
                p
                for p in parents - found - {node.unique_id}
                if p in self.project.nodes and self._has_sql(self.project.nodes[p])
            }
            found |= level
            steps += 1
        return found

    def _has_sql(self, node: Node) -> bool:
        return node.resource_type == "model" and self.sql_of(node) is not None

    # -- steps

    def _explain(self, node: Node, rows: list[Values], depth: int | None) -> list[Explained]:
        asker = self._asker(node)
        if isinstance(asker, Refusal):
            return [
                Explained(node.unique_id, dict(row), Label.REFUSED, refusal=str(asker))
                for row in rows
            ]
        question = Question(node.unique_id, rows, key_of(node, self.relations, asker.plan.outputs))
        answers = asker.answer(question)
        for answer in answers:
            answer.notes = (*answer.notes, *remarks(node, asker.plan.prepared, self.relations))
        if depth is None or depth > 1:
            self._go_on(node, asker.plan, answers, None if depth is None else depth - 1)
        return answers

    def _go_on(self, asked: Node, plan: Plan, answers: list[Explained], depth: int | None) -> None:
        """Explain the witnesses that are rows of models, all of one relation together.

        A model's own earlier rows are leaves: they may well be witnesses of themselves.
        """
        for label, base in plan.bases.items():
            node = self.project.nodes.get(base.relation.name)
            if node is None or node is asked or not self._is_built(node):
                continue
            pending = [
                witness
                for answer in answers
                for witness in answer.witnesses
                if witness.relation == node.unique_id and not self._known(node, witness)
            ]
            tokens = sorted({token_of(witness.token) for witness in pending}, key=str)
            identity = plan.rewritten.identities[label]
            found = fetch(self.connection, base, identity, tokens, every_column=True)
            rows: dict[str, Values] = {str(t): {**k, **v} for t, (k, v, _) in found.items()}
            self._remember(node, rows, depth)
            for witness in pending:
                self._known(node, witness)

    def _known(self, node: Node, witness: Witness) -> bool:
        witness.why = self._told.get((node.unique_id, witness.token))
        return witness.why is not None

    def _remember(self, node: Node, rows: Mapping[str, Values], depth: int | None) -> None:
        columns = list(self.relations.table(node.unique_id).columns)
        plain = {
            token: {name: row[name] for name in columns if name in row}
            for token, row in rows.items()
        }
        answers = self._explain(node, list(plain.values()), depth)
        by_row = {repr(list(answer.row.items())): answer for answer in answers}
        for token, row in plain.items():
            self._told[node.unique_id, token] = by_row[repr(list(row.items()))]

    def _is_built(self, node: Node) -> bool:
        return node.resource_type in ("model", "snapshot")

    # -- plans

    def _asker(self, node: Node) -> Asker | Refusal:
        if node.unique_id not in self._askers:
            try:
                plan = self._plan(node, frozenset())
                self._askers[node.unique_id] = Asker(plan, self.connection, self.settings)
            except Refusal as refusal:
                self._askers[node.unique_id] = refusal
        return self._askers[node.unique_id]

    def _plan(self, node: Node, inlined: Any) -> Plan:
        sql = self.sql_of(node)
        if sql is None:
            raise Refusal(_without_sql(node))
        relations = self.relations.inlining(inlined) if inlined else self.relations
        columns = list(self.relations.table(node.unique_id).columns)
        dialect = self.connection.dialect

        def make() -> Plan:
            return make_plan(sql, dialect, relations, columns, self.settings)

        return made(make, node, relations, dialect)


def remarks(node: Node, prepared: Prepared, relations: ProjectRelations) -> list[str]:
    """What to mind about the relations that the SQL of ``node`` reads."""
    read = [base.relation.name for base in prepared.bases.values()]
    found = [
        f"{name} is read as its stored rows, its own SQL being refused: {relations.leaves[name]}"
        for name in read
        if name in relations.leaves
    ]
    if node.unique_id in read:
        found.append(
            f"{node.name} was compiled to add to itself: rows of earlier loads are not given again "
            "by its SQL. Compile with --full-refresh to ask for those."
        )
    return found


def _without_sql(node: Node) -> str:
    if node.language == "python":
        return f"{node.name} is a Python model"
    if node.resource_type == "seed":
        return f"{node.name} is a seed: its rows are the lines of {node.path}"
    if node.resource_type == "source":
        return f"{node.name} is a source: its rows are what was loaded into it, by no SQL of dbt"
    return f"{node.name} has no compiled SQL"


def model_names(node: Node) -> list[str]:
    return [node.name, *(node.relation.parts[-1:] if node.relation is not None else ())]


def key_of(node: Node, relations: ProjectRelations, outputs: Mapping[str, str]) -> tuple[str, ...]:
    """The declared key, where the model's SQL gives all of it, in the spelling of ``outputs``."""
    declared = relations.keys.get(node.unique_id, ())
    if node.resource_type == "snapshot":
        declared = snapshot_key(node) or ()
    spelled = {name.lower(): name for name in outputs}
    key = tuple(spelled[name.lower()] for name in declared if name.lower() in spelled)
    return key if len(key) == len(declared) else ()


def table_of(node: Node) -> exp.Table | None:
    """The stored relation of a node, quoted; None for an ephemeral model."""
    if node.relation is None:
        return None
    parts = {
        "catalog": node.relation.database,
        "db": node.relation.schema,
        "this": node.relation.identifier,
    }
    quoted = {k: exp.to_identifier(v, quoted=True) for k, v in parts.items() if v}
    return exp.Table(**quoted)
