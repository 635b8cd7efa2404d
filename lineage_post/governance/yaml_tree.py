"""A YAML file as nodes with their places in its text, aliases kept as what they are.

PyYAML composes, since dbt reads with it; the places are indices into the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from lineage_post.errors import LineageError


class AliasNode(yaml.Node):
    """``*name``: where it stands, and the node it stands for."""

    id = "alias"

    def __init__(self, target: Any, event: Any) -> None:
        super().__init__(target.tag, target.value, event.start_mark, event.end_mark)
        self.target = target
        self.anchor = event.anchor


class _Loader(yaml.SafeLoader):
    def compose_node(self, parent: Any, index: Any) -> Any:
        if not self.check_event(yaml.AliasEvent):
            return super().compose_node(parent, index)
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        return AliasNode(super().compose_node(parent, index), event)


def compose(text: str, *, where: str) -> Any:
    """The root node, None of an empty file. Raises LineageError naming ``where``."""
    try:
        return yaml.compose(text, Loader=_Loader)
    except yaml.YAMLError as error:
        raise LineageError(
            f"{where} is not valid YAML: {error}", hint="Mend the file and run this again."
        ) from error


def load(text: str) -> Any:
    """The values of a file, nothing shared between them: an alias is a copy."""
    return unshared(yaml.safe_load(text))


def unshared(value: Any) -> Any:
    """A copy of lists and mappings in which no two places are one object."""
    if isinstance(value, dict):
        return {key: unshared(item) for key, item in value.items()}
    if isinstance(value, list):
        return [unshared(item) for item in value]
    return value


def pair(mapping: Any, key: str) -> tuple[Any, Any] | None:
    """The key's and the value's node of a mapping's own key; merged ones are not its own."""
    for name, value in mapping.value if isinstance(mapping, yaml.MappingNode) else ():
        if isinstance(name, yaml.ScalarNode) and name.value == key:
            return name, value
    return None


def items(node: Any) -> Iterator[Any]:
    """The items of a list, that of an alias too."""
    target = node.target if isinstance(node, AliasNode) else node
    if isinstance(target, yaml.SequenceNode):
        yield from target.value


def is_flow(node: Any) -> bool:
    """Whether a collection is written in brackets or braces."""
    return bool(getattr(node, "flow_style", False))


def is_block_scalar(node: Any) -> bool:
    """Whether a text is written as a block, with ``|`` or ``>``."""
    return isinstance(node, yaml.ScalarNode) and node.style in ("|", ">")


def last_index(node: Any, text: str) -> int:
    """The index behind the last character of a value that says something."""
    if isinstance(node, AliasNode) or is_flow(node):
        return int(node.end_mark.index)
    if isinstance(node, yaml.CollectionNode) and node.value:
        last = node.value[-1]
        return last_index(last[1] if isinstance(last, tuple) else last, text)
    if is_block_scalar(node):
        start, end = node.start_mark.index, node.end_mark.index
        return int(start + len(text[start:end].rstrip()))
    return int(node.end_mark.index)
