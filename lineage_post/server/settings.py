"""How the server is reached, and its limits."""

from __future__ import annotations

import hmac
import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from lineage_post.errors import OptionError
from lineage_post.policy import Policy

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True, slots=True)
class Settings:
    """``tokens`` maps a token to its viewer (None: the policy's default one); without any token
    everybody who reaches the server is the default viewer."""

    host: str = "127.0.0.1"
    port: int = 8585
    tokens: Mapping[str, str | None] = field(default_factory=dict)
    #: A request's body is at most so many bytes.
    most_bytes: int = 1_000_000
    #: A statement or a dependents question is answered within so many seconds.
    most_seconds: float = 20.0

    @property
    def is_loopback(self) -> bool:
        return self.host in LOOPBACK

    @property
    def hosts(self) -> list[str]:
        """The names in a Host header that are served: on loopback no other one, so that a web
        page that has its own name point here reads nothing."""
        return [*sorted(LOOPBACK), "[::1]"] if self.is_loopback else ["*"]

    def viewer(self, token: str | None) -> str | None:
        """The viewer of a token, None for the default one. Raises PermissionError for a token
        that is not known, and without one where one is needed."""
        found: list[str | None] = []
        for known, viewer in self.tokens.items():
            # Every token is compared, so that time tells nothing of which one was near.
            if hmac.compare_digest(known.encode(), (token or "").encode()):
                found.append(viewer)
        if found:
            return found[0]
        if token or (self.tokens and not self.is_loopback):
            raise PermissionError("a token is needed" if not token else "the token is not known")
        return None


def tokens_of(policy: Policy, environ: Mapping[str, str] | None = None) -> dict[str, str | None]:
    """The tokens that the environment holds: LINEAGE_POST_TOKEN, and each viewer's own.

    Raises OptionError for a viewer whose variable is empty, and for two viewers of one token.
    """
    environ = os.environ if environ is None else environ
    tokens: dict[str, str | None] = {}
    if environ.get("LINEAGE_POST_TOKEN"):
        tokens[environ["LINEAGE_POST_TOKEN"]] = None
    for viewer in policy.viewers.values():
        if viewer.token_env is None:
            continue
        token = environ.get(viewer.token_env)
        if not token:
            raise OptionError(
                f"viewer {viewer.name!r}: the environment variable {viewer.token_env} is not set",
                hint="It holds the viewer's token; any long random text will do.",
            )
        if token in tokens:
            raise OptionError(
                f"viewer {viewer.name!r} has the token of another one",
                hint="Give each viewer a token of its own.",
            )
        tokens[token] = viewer.name
    return tokens
