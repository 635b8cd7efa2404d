"""Why the tracing of one statement stops; ``trace`` turns each into a state and a reason."""

from __future__ import annotations


class TooComplex(Exception):
    """A counted limit was passed."""


class Unsupported(Exception):
    """A statement whose effect on columns is not modelled."""
