"""A group whose commands are imported when they are called: help should not load sqlglot. And
commands whose selectors stand one behind another, as dbt takes them."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import click

_SELECTING = frozenset({"-s", "--select", "--exclude"})


class LazyGroup(click.Group):
    """``commands_in`` maps each command to the module that has it as ``command``."""

    def __init__(self, *args: Any, commands_in: Mapping[str, str], **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.commands_in = commands_in

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self.commands_in)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        module = self.commands_in.get(name)
        if module is None:
            return None
        command = import_module(module).command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Whole sentences: click would cut most of them in the middle."""
        commands = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        rows = [(name, found.get_short_help_str(300)) for name, found in commands if found]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands_in:
            near = difflib.get_close_matches(args[0], self.commands_in, n=1)
            meant = f" Did you mean {near[0]!r}?" if near else ""
            raise click.UsageError(
                f"There is no command {args[0]!r}.{meant} The commands are "
                f"{', '.join(self.commands_in)}.",
                context,
            )
        return super().resolve_command(context, args)


class SelectingCommand(click.Command):
    """Takes ``-s a b --exclude c d`` as dbt does: of a command without arguments, what follows a
    selector and is no flag is another selector."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, list(_repeated(args)))


def _repeated(args: list[str]) -> Iterator[str]:
    """``-s a b`` as ``-s a -s b``."""
    flag, values = None, 0
    for word in args:
        if word.startswith("-"):
            name, has_value, _ = word.partition("=")
            flag = name if name in _SELECTING else None
            values = len(has_value)
        elif flag is not None:
            if values:
                yield flag
            values += 1
        yield word
