"""What asking for one row costs, against the original queries: for ``make bench``."""

from __future__ import annotations

import sys

from tests.provenance.full import ratios

if __name__ == "__main__":
    sys.exit(0 if ratios() else 1)
