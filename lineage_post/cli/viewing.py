"""``--policy`` and ``--viewer``: answering as somebody who may not see everything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click

from lineage_post.errors import OptionError
from lineage_post.lineage import Lineage
from lineage_post.policy import Policy, View, read_policy, view_of

Command = TypeVar("Command", bound=Callable[..., Any])


def policy_options(command: Command) -> Command:
    """Adds the two flags to a command, which takes them as ``policy`` and ``viewer``."""
    named = click.option("--viewer", metavar="NAME", help="Answer as this viewer of the policy.")
    file = click.option("--policy", metavar="FILE", help="Who sees what; docs/serve.md shows one.")
    return file(named(command))


def policy_of(path: str | None, viewer: str | None) -> Policy:
    """The policy of a file, its default viewer the one that was named; without a file everybody
    sees everything. Raises OptionError."""
    if path is None:
        if viewer is not None:
            raise OptionError("--viewer needs a policy", hint="Name the file with --policy.")
        return Policy()
    policy = read_policy(Path(path).expanduser())
    return policy if viewer is None else replace(policy, default=policy.viewer(viewer))


def view(lineage: Lineage, path: str | None, viewer: str | None) -> View:
    """The lineage as the viewer sees it. Raises OptionError and SelectionError."""
    return view_of(lineage, policy_of(path, viewer).default)
