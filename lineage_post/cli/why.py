"""``lineage-post why``: which source rows a row of a model comes from."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from typing import Any

import click
from rich.table import Table
from rich.tree import Tree

from lineage_post.artifacts import Node
from lineage_post.cli import console, wording
from lineage_post.cli.loading import Loaded, Request, artifact_options, load
from lineage_post.cli.places import Places, place_options
from lineage_post.errors import LineageError
from lineage_post.lineage.modes import INCREMENTAL, mode_of
from lineage_post.provenance.answer import Explained, Label, Witness
from lineage_post.provenance.keys import self_reading
from lineage_post.provenance.refusal import whole_rows
from lineage_post.provenance.settings import MANY, Settings
from lineage_post.provenance.statement import why_sql
from lineage_post.provenance.walk import SqlOf, Walker, compiled_sql
from lineage_post.publish import json
from lineage_post.selection import target_of
from lineage_post.trace.dialects import dialect_of

#: Steps, or ``sources`` for all of them.
DEPTHS = "sources"
NOTHING = 1
#: So many rows are shown that are refused for the same reason.
REFUSED = 3


class Depth(click.ParamType):  # type: ignore[type-arg]
    """A number of steps, or ``sources``."""

    name = "depth"

    def convert(self, value: Any, parameter: Any, context: Any) -> Any:
        if value is None or isinstance(value, int) or value == DEPTHS:
            return value
        if str(value).isdigit() and int(value) > 0:
            return int(value)
        self.fail(f"{value!r} is neither a number of steps nor 'sources'", parameter, context)


@click.command("why")
@click.argument("model", metavar="MODEL")
@click.option("--where", required=True, help="Condition over the model's columns that picks rows.")
@click.option("--how", is_flag=True, help="Also the polynomial, and the terms of aggregates.")
@click.option("--where-cells", is_flag=True, help="Also the cell each value was copied from.")
@click.option("--depth", type=Depth(), default=1, help="Steps to walk, or 'sources'. Default: 1.")
@click.option("--as-of-now", is_flag=True, help="Recompute the rows instead of reading them.")
@click.option("--limit", type=click.IntRange(min=1), default=20, help="Rows to explain; 20.")
@click.option("--sample", type=click.IntRange(min=1), default=20, help="Witnesses to show; 20.")
@click.option("--all", "everything", is_flag=True, help=f"Also above {MANY} derivations.")
@click.option("--counts-only", is_flag=True, help="Only how many witnesses there are.")
@click.option("--timeout", type=click.IntRange(min=1), default=60, help="Seconds a query may take.")
@click.option("--profiles-dir", help="Folder of profiles.yml, as dbt takes it.")
@click.option("--profile", help="Profile, as dbt takes it.")
@click.option("--target", help="Target of the profile, as dbt takes it.")
@click.option("--output", type=click.Choice(["table", "json", "sql"]), default="table")
@artifact_options
@place_options
def command(
    places: Places, request: Request, model: str, where: str, output: str, **flags: Any
) -> None:
    """Show why rows of MODEL are there: the rows of its upstream relations they come from.

    Exit code 0: answered; 1: no row matched; 2: refused. Only reads; --output sql needs no
    connection.
    """
    loaded = load(places, request)
    unique_id = _model(model, loaded)
    dialect = loaded.options.dialect or dialect_of(loaded.lineage.project.adapter_type)
    if output == "sql":
        if mode_of(loaded.lineage, unique_id) == INCREMENTAL:
            console.note(
                "compiled to add to the table: rows of earlier loads are not found by it; "
                "dbt compile --full-refresh first to ask for those"
            )
        console.say_plain(why_sql(loaded.lineage, unique_id, where, dialect))
        return
    answers = _ask(loaded, unique_id, where, dialect, flags)
    if output == "json":
        console.say_json(_document(loaded, unique_id, where, answers))
    else:
        _Shown(loaded, flags).show_all(answers)
    if not answers:
        console.note(f"No row of {model} matches: {where}")
        raise click.exceptions.Exit(NOTHING)
    if all(answer.label is Label.REFUSED for answer in answers):
        raise LineageError(f"{model} is refused: {answers[0].refusal}")


def _model(text: str, loaded: Loaded) -> str:
    """The node whose rows are asked for. Raises LineageError, before dbt compiles anything."""
    asked = target_of(text, loaded.lineage)
    node = loaded.lineage.project.nodes.get(asked.node)
    if node is None:
        raise LineageError(
            f"{asked.node} is not of this project", hint="Name a model whose rows dbt builds."
        )
    if asked.column is not None:
        raise whole_rows(text, node.label_or_name)
    return node.unique_id


def _settings(flags: dict[str, Any]) -> Settings:
    return Settings(
        depth=None if flags["depth"] == DEPTHS else flags["depth"],
        how=flags["how"],
        cells=flags["where_cells"],
        counts_only=flags["counts_only"],
        as_of_now=flags["as_of_now"],
        limit=flags["limit"],
        sample=flags["sample"],
        most=None if flags["everything"] else MANY,
    )


def _ask(
    loaded: Loaded, unique_id: str, where: str, dialect: str, flags: dict[str, Any]
) -> list[Explained]:
    from lineage_post.bridge.profile import connect

    # Before connecting: dbt may want the database for itself while it compiles.
    sql_of = _sql_in_full(loaded, unique_id, flags)
    connection = connect(
        loaded.places.project_dir,
        dialect,
        profiles_dir=flags["profiles_dir"],
        profile=flags["profile"],
        target=flags["target"],
        timeout=float(flags["timeout"]),
    )
    with closing(connection):
        walker = Walker(loaded.lineage, connection, _settings(flags), sql_of=sql_of)
        return walker.why(unique_id, where)


def _sql_in_full(loaded: Loaded, unique_id: str, flags: dict[str, Any]) -> SqlOf:
    """The SQL of nodes; incremental models that read themselves as a full refresh has them."""
    from lineage_post.bridge.profile import compile_in_full

    needed = self_reading(loaded.lineage, unique_id)
    if needed:
        models = wording.plural(len(needed), "incremental model")
        console.note(f"Compiling the whole SQL of {models}, as a full refresh has it ...")
    full = compile_in_full(
        loaded.places.project_dir,
        needed,
        parsed=loaded.places.target_path / "partial_parse.msgpack",
        profiles_dir=flags["profiles_dir"],
        target=flags["target"],
    )
    left = [name for name in needed if name not in full]
    if left:
        console.warn(
            f"dbt could not compile the whole SQL of {', '.join(left)}: rows of its earlier loads "
            "may not be found"
        )

    def sql_of(node: Node) -> str | None:
        return full.get(node.unique_id) or compiled_sql(node)

    return sql_of


def _document(
    loaded: Loaded, unique_id: str, where: str, answers: list[Explained]
) -> dict[str, Any]:
    metadata = json.metadata_of(loaded.lineage.project, loaded.options)
    return {
        "metadata": {**metadata, "model": unique_id, "where": where},
        "rows": [answer.to_dict() for answer in answers],
    }


class _Shown:
    """Prints answers as trees: a row, the rows it comes from, the rows those come from."""

    def __init__(self, loaded: Loaded, flags: dict[str, Any]) -> None:
        self.loaded = loaded
        self.sample = 10**9 if flags["everything"] else flags["sample"]
        self.refused = self.sample if flags["everything"] else REFUSED

    def show_all(self, answers: list[Explained]) -> None:
        """Each answer; of rows that are refused for one reason a few, and how many there are."""
        refused: Counter[str] = Counter()
        for answer in answers:
            if answer.refusal and answer.label is Label.REFUSED:
                refused[answer.refusal] += 1
                if refused[answer.refusal] > self.refused:
                    continue
            self.show(answer)
        for refusal, count in refused.items():
            if count > self.refused:
                more = wording.plural(count - self.refused, "more row")
                console.say(f"[quiet]and {more}, refused as well: {console.marked(refusal)}[/]")

    def show(self, answer: Explained) -> None:
        tree = Tree(f"{self._row(answer)}", guide_style="quiet")
        self._fill(tree, answer)
        console.say(tree)
        self._details(answer)
        for note in answer.notes:
            console.say(f"  [quiet]note: {console.marked(note)}[/]")

    def _row(self, answer: Explained) -> str:
        name = console.marked(self._name(answer.model))
        values = console.marked(_values(answer.row))
        times = f" [quiet]x{answer.multiplicity}[/]" if answer.multiplicity > 1 else ""
        return f"[node]{name}[/] {values}{times} {self._label(answer)}"

    def _label(self, answer: Explained) -> str:
        colour = {Label.CHANGED: "warning", Label.GONE: "error", Label.REFUSED: "error"}
        said = f"[{colour.get(answer.label, 'known')}]{answer.label.value}[/]"
        if answer.changed:
            said += f" [quiet]({console.marked(', '.join(answer.changed))})[/]"
        return said

    def _fill(self, tree: Tree, answer: Explained) -> None:
        if answer.refusal:
            tree.add(f"[error]refused:[/] {console.marked(answer.refusal)}")
        for relation, count in answer.counts.items():
            name = console.marked(self._name(relation))
            more = " or more" if answer.truncated else ""
            branch = tree.add(f"[node]{name}[/] [quiet]{count}{more} row{'s' * (count != 1)}[/]")
            of_it = [w for w in answer.witnesses if w.relation == relation]
            for witness in of_it[: self.sample]:
                self._witness(branch, witness)
            if len(of_it) > self.sample:
                branch.add(f"[quiet]and {len(of_it) - self.sample} more (--all shows them)[/]")
        if answer.derivations and answer.truncated:
            tree.add(f"[warning]{answer.derivations:,.0f} derivations; a sample is shown[/]")
        if not answer.counts and answer.label not in (Label.GONE, Label.REFUSED):
            tree.add("[quiet]no source row: a constant, or an aggregate of nothing[/]")

    def _witness(self, branch: Tree, witness: Witness) -> None:
        key = console.marked(_values(witness.key))
        values = console.marked(_values(witness.values))
        times = f" [quiet]x{witness.multiplicity}[/]" if witness.multiplicity > 1 else ""
        why = witness.why
        label = f" {self._label(why)}" if why is not None else ""
        below = branch.add(f"[column]{key}[/] [quiet]{values}[/]{times}{label}")
        if why is not None:
            self._fill(below, why)

    def _details(self, answer: Explained) -> None:
        if answer.polynomial is not None:
            console.say(f"  [bold]polynomial[/] {console.marked(str(answer.polynomial))}")
            for token, polynomial in answer.gates.items():
                console.say(f"    {console.marked(f'{token} = {polynomial}')}")
        for term in answer.terms:
            function = f"{term.function}{' distinct' if term.distinct else ''}"
            parts = " + ".join(f"{value} * {p}" for value, p in term.terms)
            named = console.marked(f"{term.column} = {function}")
            console.say(f"  [bold]{named}[/] of {console.marked(parts)}")
        if answer.cells:
            table = Table(box=None, pad_edge=False, header_style="quiet")
            for heading in ("column", "copied from", "cell"):
                table.add_column(heading)
            for claim in answer.cells:
                for relation, token, column in claim.sources[: self.sample]:
                    cells = (claim.column, self._name(relation), f"{token}.{column}")
                    table.add_row(*(console.marked(cell) for cell in cells))
            console.say(table)
        if answer.sql:
            console.say_plain(answer.sql)

    def _name(self, unique_id: str) -> str:
        node = self.loaded.lineage.project.nodes.get(unique_id)
        return node.label_or_name if node is not None else unique_id


def _values(values: Any) -> str:
    return ", ".join(f"{name}={_short(value)}" for name, value in values.items())


def _short(value: Any) -> str:
    said = "null" if value is None else str(value)
    return said if len(said) <= 40 else said[:39] + "…"
