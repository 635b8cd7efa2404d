"""The contracts of a project: generic tests of this package, as the manifest has them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from operator import eq, ge, gt, le, lt, ne

from lineage_post.artifacts import Node, Project
from lineage_post.contracts.contract import Kind
from lineage_post.lineage.project import OWN_PACKAGE
from lineage_post.vocabulary import Word

_COMPARISONS = {"!=": ne, "<>": ne, ">=": ge, "<=": le, "=": eq, "==": eq, ">": gt, "<": lt}
_CONDITION = re.compile(r"\s*(!=|<>|>=|<=|==|=|>|<)\s*(\d+)\s*")


class Outcome(Word):
    """How dbt would end the test."""

    PASS = "pass"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class ContractTest:
    """A generic test: ``test`` is its node in the manifest, ``attached`` what it is on."""

    test: Node
    attached: str
    kind: str

    def outcome(self, failures: int) -> Outcome:
        """What ``severity``, ``error_if`` and ``warn_if`` make of so many failing rows."""
        details = self.test.details
        is_error = str(details.get("severity") or "error").casefold() == "error"
        if is_error and _holds(details.get("error_if"), failures):
            return Outcome.FAIL
        return Outcome.WARN if _holds(details.get("warn_if"), failures) else Outcome.PASS


def declared_contracts(project: Project) -> list[ContractTest]:
    """All contracts of enabled tests, by file and name."""
    kinds = {kind.value for kind in Kind}
    found = []
    for node in project.nodes.values():
        details = node.details
        if node.resource_type != "test" or details.get("namespace") != OWN_PACKAGE:
            continue
        kind = str(details.get("test"))
        attached = details.get("attached_node") or next(iter(node.depends_on), "")
        if kind in kinds and node.package_name != OWN_PACKAGE:
            found.append(ContractTest(node, str(attached), kind))
    return sorted(found, key=lambda t: (t.test.path, t.test.unique_id))


def _holds(condition: object, failures: int) -> bool:
    match = _CONDITION.fullmatch(str(condition or "!= 0"))
    if match is None:
        return failures != 0
    return bool(_COMPARISONS[match.group(1)](failures, int(match.group(2))))
