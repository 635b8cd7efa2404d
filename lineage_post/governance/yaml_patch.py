"""Patches of a user's YAML that touch only the lines they must.

A patch is a value to merge in: mappings key by key, lists by what they lack, texts where there is
none yet. Lines are put between lines; then the file is read back and compared with what was meant,
so that an anchor another place shares, say, is refused and not changed for both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from lineage_post.governance import yaml_tree as tree
from lineage_post.governance.yaml_tree import AliasNode
from lineage_post.yaml_lines import CannotEditError

#: Keys that a new key comes behind, the first that is there; else it comes last.
_AFTER = ("description", "data_type", "name")


@dataclass(frozen=True, slots=True)
class Noted:
    """A text with a comment to write behind it where the layout has room for one."""

    text: str
    comment: str


def merged(present: Any, patch: Any) -> Any:
    """What a value is after the patch."""
    if isinstance(patch, Mapping):
        before = present if isinstance(present, Mapping) else {}
        return {**before, **{key: merged(before.get(key), item) for key, item in patch.items()}}
    if isinstance(patch, list):
        listed = present if isinstance(present, list) else [] if present is None else [present]
        rest = [merged(None, item) for item in patch]
        return [*listed, *(item for item in rest if item not in listed)]
    value = patch.text if isinstance(patch, Noted) else patch
    return value if present in (None, "") else present


@dataclass(slots=True)
class Patcher:
    """Gathers edits of one text: ``patcher.merge(node, value, patch)``, then ``patcher.result()``.

    ``node`` is a composed node of the text, ``value`` what it means with merge keys resolved.
    """

    text: str
    where: str
    edits: list[tuple[int, int, str]] = field(default_factory=list)

    def result(self) -> str:
        """The text with all edits made; those at one place in the order they came."""
        parts: list[str] = []
        at = 0
        for start, end, new in sorted(self.edits, key=lambda edit: edit[0]):
            parts += [self.text[at:start], new]
            at = end
        return "".join([*parts, self.text[at:]])

    def merge(self, node: Any, value: Any, patch: Mapping[str, Any]) -> None:
        """Merges a patch into a mapping. Raises CannotEditError where the layout does not allow."""
        if isinstance(node, AliasNode):
            self._extend_alias(node, value, patch)
            return
        present = value if isinstance(value, Mapping) else {}
        for key, item in patch.items():
            if merged(present.get(key), item) == present.get(key):
                continue
            own = tree.pair(node, key)
            if own is None:
                whole = merged(present.get(key), item) if key in present else item
                self._add_key(node, key, whole)
            else:
                self._merge_value(own[1], present.get(key), item)

    def append(self, node: Any, value: Any, new: Sequence[Any]) -> None:
        """Adds items to a list."""
        if isinstance(node, AliasNode):
            self._replace(node, _flow(merged(value, list(new))))
        elif tree.is_flow(node):
            texts = ", ".join(_flow(item) for item in new)
            if node.value:
                self._insert(node.value[-1].end_mark.index, f", {texts}")
            else:
                self._insert(node.start_mark.index + 1, texts)
        else:
            margin = " " * node.start_mark.column
            width = _item_offset(node)
            lines = [line for item in new for line in self._item_lines(item, width)]
            self._insert_lines(tree.last_index(node, self.text), _indented(lines, margin))

    def _merge_value(self, node: Any, value: Any, patch: Any) -> None:
        is_empty = isinstance(node, yaml.ScalarNode) and value in (None, "")
        if isinstance(patch, Mapping) and (isinstance(node, AliasNode) or not is_empty):
            if not isinstance(value, Mapping):
                raise self._refusal(node)
            self.merge(node, value, patch)
        elif isinstance(patch, list) and not is_empty:
            if isinstance(node, yaml.ScalarNode) and not isinstance(node, AliasNode):
                if tree.is_block_scalar(node):
                    raise self._refusal(node)
                written = self.text[node.start_mark.index : node.end_mark.index]
                self._replace(node, f"[{written}, {', '.join(map(_flow, patch))}]")
            else:
                before = value if isinstance(value, list) else [value]
                self.append(node, value, [i for i in patch if merged(None, i) not in before])
        elif is_empty and not isinstance(node, AliasNode):
            self._fill(node, patch)
        else:
            raise self._refusal(node)

    def _fill(self, node: Any, patch: Any) -> None:
        """Writes a value where there is none, with its comment if the line ends there."""
        space = "" if node.end_mark.index > node.start_mark.index else " "
        end = self.text.find("\n", node.end_mark.index)
        rest = self.text[node.end_mark.index : end if end >= 0 else None]
        comment = _comment(patch) if isinstance(patch, Noted) and not rest.strip() else ""
        self._replace(node, f"{space}{_flow(patch)}{comment}")

    def _extend_alias(self, node: AliasNode, value: Any, patch: Mapping[str, Any]) -> None:
        """``*x`` becomes ``{<<: *x, key: value}``, with whole values: a merge key is shallow."""
        present = value if isinstance(value, Mapping) else {}
        whole = {key: merged(present.get(key), item) for key, item in patch.items()}
        inner = _flow(whole)[1:-1]
        self._replace(node, f"{{<<: *{node.anchor}, {inner}}}")

    def _add_key(self, node: Any, key: str, value: Any) -> None:
        if not isinstance(node, yaml.MappingNode):
            raise self._refusal(node)
        if tree.is_flow(node):
            entry = _flow({key: value})[1:-1]
            if node.value:
                self._insert(node.value[-1][1].end_mark.index, f", {entry}")
            else:
                self._insert(node.start_mark.index + 1, entry)
            return
        margin = " " * node.value[0][0].start_mark.column
        lines = self._key_lines(key, value)
        self._insert_lines(self._place(node, key), _indented(lines, margin))

    def _place(self, node: Any, key: str) -> int:
        """Where a new key of a block mapping goes: behind its text, or at its end."""
        if key != "columns":
            for name in _AFTER[0 if key != "description" else 1 :]:
                own = tree.pair(node, name)
                if own is not None and isinstance(own[1], yaml.ScalarNode):
                    return tree.last_index(own[1], self.text)
        return tree.last_index(node, self.text)

    def _key_lines(self, key: str, value: Any) -> list[str]:
        if isinstance(value, list) and value and isinstance(value[0], Mapping):
            margin = " " * self._sequence_offset()
            lines = [line for item in value for line in self._item_lines(item, 2)]
            return [f"{key}:", *_indented(lines, margin)]
        if isinstance(value, Noted):
            return _text_lines(key, value)
        return [f"{_flow(key)}: {_flow(value)}"]

    def _item_lines(self, item: Any, width: int) -> list[str]:
        """A list item: its first line has the dash, the others are indented by ``width``."""
        if not isinstance(item, Mapping):
            return ["-".ljust(width) + _flow(item)]
        lines = [line for key, value in item.items() for line in self._key_lines(key, value)]
        return ["-".ljust(width) + lines[0], *_indented(lines[1:], " " * width)]

    def _sequence_offset(self) -> int:
        """How far lists stand right of their key in this file."""
        return _first_offset(tree.compose(self.text, where=self.where))

    def _insert(self, index: int, new: str) -> None:
        self.edits.append((index, index, new))

    def _replace(self, node: Any, new: str) -> None:
        self.edits.append((node.start_mark.index, node.end_mark.index, new))

    def _insert_lines(self, index: int, lines: list[str]) -> None:
        """Puts lines behind the line of ``index``, with that line's ending."""
        end = self.text.find("\n", index)
        if end < 0:
            newline = "\r\n" if "\r\n" in self.text else "\n"
            self._insert(len(self.text), "".join(newline + line for line in lines))
            return
        newline = "\r\n" if self.text[end - 1 : end] == "\r" else "\n"
        self._insert(end + 1, "".join(line + newline for line in lines))

    def _refusal(self, node: Any) -> CannotEditError:
        line = node.start_mark.line + 1
        return CannotEditError(
            f"{self.where}, line {line}: laid out in a way that cannot be added to safely.",
            hint="Edit these lines by hand.",
        )


def _flow(value: Any) -> str:
    """A value on one line, quoted where it must be."""
    plain = merged(None, value) if not isinstance(value, Mapping) else merged({}, value)
    text = yaml.safe_dump(
        plain, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10**9
    )
    text = text.removesuffix("...\n").rstrip("\n")
    if "\n" in text:  # A quoted text of several lines is folded over lines otherwise.
        text = yaml.safe_dump(
            plain, default_style='"', default_flow_style=True, sort_keys=False, width=10**9
        ).rstrip("\n")
    return text


def _indented(lines: Sequence[str], margin: str) -> list[str]:
    return [margin + line if line else line for line in lines]


def _comment(value: Noted) -> str:
    words = " ".join(value.comment.split())
    return "  # " + "".join(c if c.isprintable() else "?" for c in words)


def _text_lines(key: str, value: Noted) -> list[str]:
    comment = _comment(value)
    lines = value.text.split("\n")
    is_block = len(lines) > 1 and lines[0] and not lines[0][0].isspace() and lines[-1]
    if is_block and all(line.isprintable() and line == line.rstrip() for line in lines):
        return [f"{key}: |-{comment}", *(f"  {line}" if line else "" for line in lines)]
    return [f"{key}: {_flow(value.text)}{comment}"]


def _item_offset(sequence: Any) -> int:
    """How far the content of an item stands right of its dash."""
    for item in sequence.value:
        if not isinstance(item, AliasNode) and item.start_mark.column > sequence.start_mark.column:
            return int(item.start_mark.column - sequence.start_mark.column)
    return 2


def _first_offset(node: Any) -> int:
    queue = [node]
    while queue:
        one = queue.pop(0)
        if isinstance(one, AliasNode) or one is None:
            continue
        if isinstance(one, yaml.SequenceNode):
            queue += one.value
        elif isinstance(one, yaml.MappingNode):
            for key, value in one.value:
                if isinstance(value, yaml.SequenceNode) and value.value and not tree.is_flow(value):
                    return max(0, int(value.start_mark.column - key.start_mark.column))
                queue.append(value)
    return 2
