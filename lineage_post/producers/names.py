"""From the names a producer uses to the project's nodes and columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from lineage_post.artifacts import Project
from lineage_post.artifacts.names import parse_relation_name
from lineage_post.lineage import Lineage
from lineage_post.relations import Relations, external_id


@dataclass(slots=True)
class Names:
    """Full relation names to unique_ids; what does not map is an external node, and is listed.

    ``columns`` gives a column the spelling that the project has for it: a producer reports what
    its warehouse says, which may be another case.
    """

    project: Project
    relations: Relations
    spellings: dict[str, dict[str, str]]
    unmapped: set[str] = field(default_factory=set)

    def node(self, name: str) -> str | None:
        """The node of a dotted, maybe quoted name; None for a text that is no name."""
        parts = parse_relation_name(name, self.project.adapter_type)
        return self.node_of(parts) if parts else None

    def node_of(self, parts: Sequence[str]) -> str:
        """The node of a name's parts, the database first."""
        found = self.relations.find(parts)
        if found is None:
            found = external_id(parts)
            self.unmapped.add(found)
        return found

    def is_of_project(self, unique_id: str) -> bool:
        return unique_id in self.project.nodes

    def column(self, unique_id: str, name: str) -> str:
        """The column's spelling in the project, the producer's own where it has none."""
        return self.spellings.get(unique_id, {}).get(name.casefold(), name)


def names_of(lineage: Lineage) -> Names:
    """The names of a project and of the columns that are known of it."""
    spellings: dict[str, dict[str, str]] = {}
    for unique_id, node in lineage.nodes.items():
        own: dict[str, list[str]] = {}
        for column in node.columns:
            if column.is_column and column.name:
                own.setdefault(column.name.casefold(), []).append(column.name)
        # Two columns that differ in case alone cannot be told apart by a folded name.
        spellings[unique_id] = {key: found[0] for key, found in own.items() if len(found) == 1}
    return Names(lineage.project, lineage.relations, spellings)
