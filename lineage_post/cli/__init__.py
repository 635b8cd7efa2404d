"""The command line, and the only package that prints.

stdout has the answer and stderr the log. Exit codes: 0 fine, 1 findings, 2 wrong use or artifacts
that cannot be read.
"""

from __future__ import annotations

import errno
import gc
import os
import sys
from collections.abc import Sequence

import click

from lineage_post import __version__
from lineage_post.cli import console
from lineage_post.cli.commands import LazyGroup
from lineage_post.cli.places import place_options
from lineage_post.errors import LineageError

FINDINGS, WRONG_USE, INTERRUPTED = 1, 2, 130


@click.group(
    cls=LazyGroup,
    commands_in={
        "build": "lineage_post.cli.build",
        "show": "lineage_post.cli.show",
        "impact": "lineage_post.cli.impact",
        "diff": "lineage_post.cli.diff",
        "unused": "lineage_post.cli.unused",
        "cycles": "lineage_post.cli.cycles",
        "check": "lineage_post.cli.check",
        "sql": "lineage_post.cli.sql",
        "exposures": "lineage_post.cli.exposures",
        "why": "lineage_post.cli.why",
        "tags": "lineage_post.cli.tags",
        "inherit": "lineage_post.cli.inherit",
        "erase": "lineage_post.cli.erase",
        "evidence": "lineage_post.cli.evidence",
        "export": "lineage_post.cli.export",
        "import": "lineage_post.cli.import_",
        "serve": "lineage_post.cli.serve",
        "history": "lineage_post.cli.history",
        "disagreements": "lineage_post.cli.disagreements",
        "purge": "lineage_post.cli.purge",
        "init": "lineage_post.cli.init",
    },
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="lineage-post")
@place_options
def cli() -> None:
    """Column lineage for dbt, from the artifacts in a project's target folder."""


def main() -> None:
    """Runs the command line and ends the process with its exit code."""
    # A command makes its objects, answers and ends: looking for garbage among them at every 700
    # new ones is a tenth of the time. What parsing leaves is still found, a few models later.
    gc.set_threshold(50_000, 20, 50)
    code = run()
    # Python looks twice more before it ends, at a seventh of all that a command takes: not here.
    gc.freeze()
    sys.exit(code)


def run(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and gives back its exit code; every expected fault is one message."""
    try:
        code = cli.main(arguments and list(arguments), "lineage-post", standalone_mode=False)
    except LineageError as error:
        console.complain(error.message, error.hint)
        return WRONG_USE
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return WRONG_USE
    except click.ClickException as error:
        usage = error.ctx.get_usage() if isinstance(error, click.UsageError) and error.ctx else None
        # A list of choices stands on lines of its own, behind tabs.
        console.complain(" ".join(error.format_message().split()), usage)
        return WRONG_USE
    except (click.Abort, KeyboardInterrupt):
        console.note("Stopped.")
        return INTERRUPTED
    except (BrokenPipeError, SystemExit) as error:
        # What else ends the process, such as a server that cannot start, has a code of its own.
        if isinstance(error, SystemExit) and error.code != 1:
            raise
        # The reader of a pipe has left (`| head`): nothing is wrong, and nothing more can be said.
        # click and rich make a SystemExit of it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        console.complain(f"{error.filename or 'a file'}: {error.strerror or error}", _hint(error))
        return WRONG_USE
    return code if isinstance(code, int) else 0


def _hint(error: OSError) -> str | None:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "Make room there and run it again: what was written before is still there."
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return "Make it readable and writable, or name another folder with --target-path."
    return None
