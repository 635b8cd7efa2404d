"""Findings of contracts for machines: JSON, GitHub's annotations, SARIF 2.1.0.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions
https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote

from lineage_post import __version__
from lineage_post.contracts.checked import Check, Checked
from lineage_post.contracts.contract import Kind
from lineage_post.contracts.declared import Outcome
from lineage_post.contracts.finding import Finding

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Outcome.FAIL: "error", Outcome.WARN: "warning", Outcome.PASS: "none"}
_SAID = {
    Kind.DERIVES_FROM: "A column's value comes from these columns.",
    Kind.DOES_NOT_DERIVE_FROM: "A column does not come from these columns.",
    Kind.MASKED_FROM: "Every path from these columns passes a masking function.",
    Kind.ONLY_DERIVES_FROM: "A column's value comes from these columns alone.",
    Kind.IS_IDENTITY_OF: "A column is a bare copy of these columns.",
    Kind.IS_AGGREGATED: "A column shows aggregated values only.",
    Kind.LINEAGE_KNOWN: "The lineage of a model is known.",
    Kind.LINEAGE_FRESH: "The lineage of a model is that of its present definition.",
}


def to_dict(found: Checked) -> dict[str, Any]:
    """``summary`` and ``contracts``, each with its findings."""
    return {
        "summary": {outcome.value: found.count(outcome) for outcome in Outcome},
        "contracts": [_check_to_dict(check) for check in found.checks],
    }


def _check_to_dict(check: Check) -> dict[str, Any]:
    return {
        "test": check.test.test.unique_id,
        "contract": check.test.kind,
        "unique_id": check.test.attached,
        "column": check.column,
        "outcome": check.outcome.value,
        "file": check.file,
        "line": check.line,
        "findings": [
            {
                "unique_id": f.unique_id,
                "column": f.column,
                "proof": f.proof.value,
                "because": f.because,
                "path": f.path,
                "steps": [{"unique_id": node, "column": column} for node, column in f.steps],
            }
            for f in check.findings
        ],
    }


def github(found: Checked, warnings: Iterable[str] = ()) -> Iterator[str]:
    """One workflow command for each finding, ``::error file=...,line=...,title=...::message``, and
    for each warning of the whole run."""
    yield from (f"::warning title=lineage-post check::{_data(warning)}" for warning in warnings)
    for check in found.checks:
        command = "error" if check.outcome is Outcome.FAIL else "warning"
        for finding in check.findings if check.outcome is not Outcome.PASS else ():
            properties = {"file": check.file, "line": check.line, "title": _title(check, finding)}
            listed = ",".join(f"{k}={_property(str(v))}" for k, v in properties.items() if v)
            yield f"::{command} {listed}::{_data(_message(finding))}"


def sarif(found: Checked) -> dict[str, Any]:
    """A log of one run; results of the same contract and column keep their fingerprint."""
    kinds = list(Kind)
    rules = [
        {
            "id": f"lineage_post.{kind.value}",
            "shortDescription": {"text": _SAID[kind]},
            "defaultConfiguration": {"level": "error"},
        }
        for kind in kinds
    ]
    results = [
        _result(check, finding, kinds.index(Kind(check.test.kind)))
        for check in found.checks
        for finding in check.findings
        if check.outcome is not Outcome.PASS
    ]
    driver = {
        "name": "lineage_post",
        "version": __version__,
        "rules": rules,
    }
    return {
        "$schema": SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [
            {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
        ],
    }


def _result(check: Check, finding: Finding, rule: int) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": quote(check.file)}}
    if check.line:
        place["region"] = {"startLine": check.line}
    name = f"{finding.unique_id}.{finding.column}" if finding.column else finding.unique_id
    return {
        "ruleId": f"lineage_post.{check.test.kind}",
        "ruleIndex": rule,
        "level": _LEVELS[check.outcome],
        "message": {"text": _message(finding)},
        "locations": [
            {
                "physicalLocation": place,
                "logicalLocations": [{"fullyQualifiedName": name, "kind": "member"}],
            }
        ],
        "partialFingerprints": {"contract/v1": _fingerprint(check, finding)},
    }


def _fingerprint(check: Check, finding: Finding) -> str:
    steps = [f"{node}.{column}" for node, column in finding.steps[:1]]
    parts = (check.test.test.unique_id, finding.unique_id, finding.column or "", *steps)
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _title(check: Check, finding: Finding) -> str:
    return f"{check.test.kind} {finding.unique_id}" + (
        f".{finding.column}" if finding.column else ""
    )


def _message(finding: Finding) -> str:
    where = f"{finding.column}: " if finding.column else ""
    path = f" ({finding.path})" if finding.path else ""
    return f"{where}{finding.because}{path}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
