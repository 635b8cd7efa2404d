"""Rows of an answer, their columns one below the other."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import zip_longest

import click
from rich.cells import cell_len
from rich.markup import render

from lineage_post.cli import console

GAP = "    "


def say_rows(rows: Sequence[Sequence[str]]) -> None:
    """Prints rows whose cells are rich markup. On a terminal long cells are wrapped; in a pipe a
    row is a line, put together here, since laying a table out costs more than most answers."""
    if not rows:
        return
    if sys.stdout.isatty():
        _say_table(rows)
        return
    plain = [[render(cell, emoji=False).plain for cell in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip_longest(*plain, fillvalue="")]
    lines = (
        GAP.join(text + " " * (w - cell_len(text)) for text, w in zip(row, widths, strict=False))
        for row in plain
    )
    click.echo("\n".join(line.rstrip() for line in lines))


def _say_table(rows: Sequence[Sequence[str]]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 2))
    for row in rows:
        table.add_row(*row)
    console.say(table)
