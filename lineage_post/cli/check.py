"""``lineage-post check``: the contracts of the project's tests, without a warehouse."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING

import click

from lineage_post.cli import FINDINGS, console, wording
from lineage_post.cli.commands import SelectingCommand
from lineage_post.cli.loading import Loaded, Request, artifact_options, load, warnings_as_findings
from lineage_post.cli.picking import require_picked
from lineage_post.cli.places import Places, place_options
from lineage_post.contracts import Evaluator, declared_contracts
from lineage_post.contracts.checked import Check, Checked, checked
from lineage_post.contracts.declared import Outcome
from lineage_post.contracts.fresh import Recorded

if TYPE_CHECKING:
    from lineage_post.contracts import ContractTest

OUTPUTS = ("text", "json", "github", "sarif")


@click.command("check", cls=SelectingCommand)
@click.option("--select", "-s", multiple=True, metavar="SELECTOR", help="Contracts on these nodes.")
@click.option("--exclude", multiple=True, metavar="SELECTOR", help="No contracts on these nodes.")
@click.option("--warn-error", is_flag=True, help="Contracts of severity warn and warnings count.")
@artifact_options
@click.option("--output", type=click.Choice(OUTPUTS), default="text")
@place_options
def command(
    places: Places,
    request: Request,
    select: tuple[str, ...],
    exclude: tuple[str, ...],
    warn_error: bool,
    output: str,
) -> int:
    """Hold the columns to their contracts: the tests of this package that dbt's YAML declares.

    The manifest alone is read, so that a broken contract is seen before anything is built. The
    exit code is 1 if a contract is broken or cannot be proven. What is recorded in the warehouse
    is not seen here: lineage_fresh judges the manifest. A manifest that is older than the models
    beside it is refused, unless --manifest names it. So is a selection of nothing; where no
    contract stands on what is selected, that is a warning.
    """
    loaded = load(places, request, must_be_current=True)
    tests = _selected(loaded, declared_contracts(loaded.lineage.project), select, exclude)
    found = _check(loaded, tests)
    if not tests:
        loaded.warnings.append(_nothing_checked(is_selected=bool(select or exclude)))
    for warning in loaded.warnings:
        console.warn(warning)
    _say(loaded, found, output)
    counted = (Outcome.FAIL, Outcome.WARN) if warn_error or request.strict else (Outcome.FAIL,)
    if any(check.outcome in counted for check in found.checks):
        return FINDINGS
    return warnings_as_findings("--warn-error") if warn_error else 0


def _nothing_checked(*, is_selected: bool) -> str:
    if is_selected:
        return "nothing was checked: no contract stands on what is selected"
    return (
        "nothing was checked: the project declares no contract, such as "
        "lineage_post.does_not_derive_from"
    )


def _selected(
    loaded: Loaded, tests: list[ContractTest], select: tuple[str, ...], exclude: tuple[str, ...]
) -> list[ContractTest]:
    """The contracts on selected nodes, and those whose test is selected by its own name."""
    if not select and not exclude:
        return tests
    from lineage_post.selection import select as pick

    lineage = loaded.lineage
    left_out = pick(lineage, exclude)
    picked = pick(lineage, select, exclude=exclude) if select else None
    warnings = picked.warnings if picked else left_out.warnings
    nodes = picked.nodes if picked else frozenset(lineage.project.nodes) - left_out.whole
    require_picked(nodes, warnings, but="so no contract would be checked")
    loaded.warnings += warnings
    return [
        t
        for t in tests
        if (t.attached in nodes or t.test.unique_id in nodes)
        and t.test.unique_id not in left_out.nodes
    ]


def _check(loaded: Loaded, tests: list[ContractTest]) -> Checked:
    from lineage_post.consumers import Places as Lines
    from lineage_post.consumers import files_of

    lineage = loaded.lineage
    generated_at = _moment(lineage.project.generated_at)
    now = datetime.now(timezone.utc).replace(tzinfo=None)
    evaluator = Evaluator(lineage, lambda unique_id: Recorded(generated_at, now))
    lines = Lines(lineage.project, files_of(lineage))
    return checked(evaluator, tests, lines)


def _moment(text: str | None) -> datetime | None:
    try:
        found = datetime.fromisoformat((text or "").replace("Z", "+00:00"))
    except ValueError:
        return None
    return found.astimezone(timezone.utc).replace(tzinfo=None) if found.tzinfo else found


def _say(loaded: Loaded, found: Checked, output: str) -> None:
    from lineage_post.publish import findings, json

    if output == "json":
        metadata = json.metadata_of(loaded.lineage.project, loaded.options)
        warnings = {"warnings": loaded.warnings}
        console.say_json({"metadata": metadata, **findings.to_dict(found), **warnings})
    elif output == "sarif":
        console.say_json(findings.sarif(found))
    elif output == "github":
        for line in findings.github(found, loaded.warnings):
            click.echo(line)
    else:
        for check in found.checks:
            _say_check(loaded, check)
        console.say(_summary(found))


def _say_check(loaded: Loaded, check: Check) -> None:
    if not check.findings:
        return
    style = "error" if check.outcome is Outcome.FAIL else "warning"
    name = console.marked(wording.node_name(loaded.lineage, check.test.attached))
    column = f".[column]{console.marked(check.column)}[/]" if check.column else ""
    head = f"[{style}]{check.outcome.value}[/] {check.test.kind} [node]{name}[/]{column}"
    where = console.marked(check.where)
    console.say(f"{head} [quiet]{where}[/]")
    for finding in check.findings:
        inner = f"{finding.column}: " if finding.column and not check.column else ""
        console.say(f"  {console.marked(inner + finding.because)}")
        if finding.path:
            console.say(f"    [quiet]{console.marked(finding.path)}[/]")


def _summary(found: Checked) -> str:
    counts = {outcome: found.count(outcome) for outcome in Outcome}
    if not found.checks:
        return "0 contracts: nothing was checked"
    said = [
        f"{wording.plural(len(found.checks), 'contract')}",
        f"{counts[Outcome.PASS]} hold",
        f"{counts[Outcome.WARN]} warn",
        f"{counts[Outcome.FAIL]} broken or not proven",
    ]
    return ", ".join(said)
