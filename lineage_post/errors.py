"""Errors a user can mend. Each names the file or node and what to do next."""

from __future__ import annotations


class LineageError(Exception):
    """A fault in what the user gave; the command line prints it and exits with 2.

    Shown as ``message`` followed by ``hint`` on a line of its own.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  {self.hint}" if self.hint else self.message


class ArtifactError(LineageError):
    """An artifact is missing, unreadable, or lacks what is needed."""


class OptionError(LineageError):
    """A flag, variable or setting has a value that is not allowed."""


class SelectionError(LineageError):
    """A selector names a node or a column that does not exist."""
