"""The columns that a contract speaks of: by name, by tag and by meta key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase

from lineage_post.artifacts import Project
from lineage_post.contracts.contract import Contract
from lineage_post.contracts.finding import column_text, said
from lineage_post.contracts.reference import Names, columns_of
from lineage_post.contracts.walks import built_from, is_surely_gone
from lineage_post.errors import SelectionError
from lineage_post.governance.classification import Classification, classified
from lineage_post.lineage import Lineage

Column = tuple[str, str]


@dataclass(slots=True)
class Origins:
    """``groups`` has the columns of each selector of a contract, ``problems`` what is not there."""

    groups: dict[str, frozenset[Column]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    labels: dict[Column, str] = field(default_factory=dict)

    @property
    def columns(self) -> frozenset[Column]:
        return frozenset().union(*self.groups.values())

    def label(self, column: Column) -> str:
        """`` (tag pii)`` behind a column that was found by what it carries."""
        return f" ({self.labels[column]})" if column in self.labels else ""


def origins_of(contract: Contract, lineage: Lineage, names: Names) -> Origins:
    """What the selectors of a contract pick in a lineage."""
    found = Origins()
    for text in contract.columns:
        try:
            found.groups[text] = columns_of(lineage, names.read(text))
        except SelectionError as error:
            found.problems.append(said(error))
    for how, selectors in (("tag", contract.column_tags), ("meta", contract.column_meta)):
        for selector in selectors:
            _carrying(found, lineage, contract.unique_id, how, selector)
    return found


def _carrying(found: Origins, lineage: Lineage, node: str, how: str, selector: str) -> None:
    asked = {"tags": [selector]} if how == "tag" else {"meta": [selector]}
    columns = frozenset(classified(lineage, **asked))
    found.groups[f"{how}:{selector}"] = columns
    found.labels.update(dict.fromkeys(columns, f"{how} {selector}"))
    word = "tag" if how == "tag" else "meta key"
    if not columns and not _is_carried(lineage, how, selector):
        present = sorted(set(_tags(lineage.project) if how == "tag" else _keys(lineage.project)))
        near = get_close_matches(selector, present, n=3, cutoff=0.5)
        meant = f" Did you mean {', '.join(near)}?" if near else ""
        found.problems.append(f"no column of the project has the {word} {selector!r}.{meant}")
    upstream = built_from(lineage, node)
    for owner, name in sorted(columns):
        if owner in upstream and is_surely_gone(lineage, (owner, name)):
            near = get_close_matches(name, lineage.graph.columns(owner), n=3, cutoff=0.5)
            meant = f" Did you mean {', '.join(near)}?" if near else ""
            text = column_text(lineage, (owner, name))
            found.problems.append(
                f"the {word} {selector} is declared on {text}, a column that is not there.{meant}"
            )


def _is_carried(lineage: Lineage, how: str, selector: str) -> bool:
    """Whether any column of the project carries it, traced or not."""
    if how == "tag":
        return any(fnmatchcase(tag, selector) for tag in _tags(lineage.project))
    reader = Classification(lineage, meta=(selector,))
    columns = (c for node in lineage.project.nodes.values() for c in node.columns)
    return any(reader.labels_of(column) for column in columns)


def _tags(project: Project) -> Iterator[str]:
    for node in project.nodes.values():
        for column in node.columns:
            yield from column.tags


def _keys(project: Project) -> Iterator[str]:
    for node in project.nodes.values():
        for column in node.columns:
            yield from column.meta
