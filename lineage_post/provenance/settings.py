"""How a question is to be answered."""

from __future__ import annotations

from dataclasses import dataclass

#: Above so many derivations an answer is counts, a sample and the SQL.
MANY = 10_000


@dataclass(frozen=True, slots=True)
class Settings:
    """``depth`` None walks to the sources; ``most`` None shows all derivations."""

    depth: int | None = 1
    how: bool = False
    cells: bool = False
    counts_only: bool = False
    as_of_now: bool = False
    #: At most so many rows of the model are explained.
    limit: int = 20
    #: Of too many derivations so many are shown.
    sample: int = 20
    most: int | None = MANY

    @property
    def cap(self) -> int:
        return 10**9 if self.most is None else self.most
