"""The policy file: viewers, and what each may see.

    default: everyone
    viewers:
      everyone:
        see: ["access:public", "tag:open"]
      finance:
        scope: ["package:shop"]
        see: ["group:finance", "schema:marts"]
        hide: ["tag:pii"]
        natives: true
        token_env: FINANCE_LINEAGE_TOKEN

Selectors are those of every command. ``token_env`` names the environment variable that holds the
viewer's token: a token itself never stands in a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from lineage_post.errors import OptionError

_HINT = "docs/serve.md, 'A policy', shows one."


@dataclass(frozen=True, slots=True)
class Viewer:
    """What one viewer may see; a list that is left out does not limit.

    Nodes outside ``scope`` are dropped. Of the others, those that ``see`` does not pick, or that
    ``hide`` picks, keep their place without a name. ``natives`` allows raw addresses of sources.
    """

    name: str
    scope: tuple[str, ...] | None = None
    see: tuple[str, ...] | None = None
    hide: tuple[str, ...] = ()
    natives: bool = False
    token_env: str | None = None

    @property
    def is_limited(self) -> bool:
        return self.scope is not None or self.see is not None or bool(self.hide)


#: Who sees everything: the viewer where there is no policy.
OWNER = Viewer("owner", natives=True)


@dataclass(frozen=True, slots=True)
class Policy:
    """Viewers by name. ``default`` is who looks when nobody is named."""

    viewers: Mapping[str, Viewer] = field(default_factory=dict)
    default: Viewer = OWNER

    def viewer(self, name: str | None) -> Viewer:
        """The viewer of this name, the default one for None. Raises OptionError with the names."""
        if name is None:
            return self.default
        if name not in self.viewers:
            known = ", ".join(self.viewers) or "none"
            raise OptionError(f"The policy has no viewer {name!r}.", hint=f"It has {known}.")
        return self.viewers[name]


def read_policy(path: Path) -> Policy:
    """The policy in a YAML file. Raises OptionError naming the file and what is wrong in it."""
    import yaml

    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise OptionError(f"{path}: there is no such file", hint=_HINT) from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise OptionError(f"{path}: not a readable policy: {error}", hint=_HINT) from error
    return policy_from_mapping(document, where=str(path))


def policy_from_mapping(document: Any, *, where: str) -> Policy:
    """The policy of a parsed file. Raises OptionError with ``where``: a word that is not known is
    refused, since a limit that is misspelled would let everything through."""
    if not isinstance(document, Mapping) or not isinstance(document.get("viewers"), Mapping):
        raise OptionError(f"{where}: there are no viewers", hint=_HINT)
    strange = sorted(set(map(str, document)) - {"viewers", "default"})
    if strange:
        raise OptionError(f"{where}: {strange[0]!r} is not known", hint=_HINT)
    viewers = {
        str(name): _viewer(str(name), content, where)
        for name, content in document["viewers"].items()
    }
    name = document.get("default")
    if name is None:
        # A policy without a default is one for named viewers: anybody else sees nothing at all.
        return Policy(viewers, Viewer("nobody", see=()))
    policy = Policy(viewers)
    try:
        return Policy(viewers, policy.viewer(str(name)))
    except OptionError as error:
        raise OptionError(f"{where}: default: {error.message}", hint=error.hint) from None


def _viewer(name: str, content: Any, where: str) -> Viewer:
    place = f"{where}: viewers: {name}"
    if content is None:
        content = {}
    if not isinstance(content, Mapping):
        raise OptionError(f"{place}: not a mapping", hint=_HINT)
    known = [f.name for f in fields(Viewer) if f.name != "name"]
    for key in content:
        if key not in known:
            raise OptionError(f"{place}: {key!r} is not known", hint=f"Use {', '.join(known)}.")
    scope, see = (_selectors(content, key, place) for key in ("scope", "see"))
    natives, token_env = content.get("natives", False), content.get("token_env")
    if not isinstance(natives, bool):
        raise OptionError(f"{place}: natives is {natives!r}", hint="It must be true or false.")
    if token_env is not None and not isinstance(token_env, str):
        raise OptionError(f"{place}: token_env is not a name", hint=_HINT)
    hide = _selectors(content, "hide", place) or ()
    return Viewer(name, scope, see, hide, natives, token_env)


def _selectors(content: Mapping[str, Any], key: str, place: str) -> tuple[str, ...] | None:
    value = content.get(key)
    if key not in content:
        return None
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise OptionError(f"{place}: {key} is not a list of selectors", hint=_HINT)
    return tuple(value)
