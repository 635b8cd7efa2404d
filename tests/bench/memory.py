"""The peak memory of this process.

``ru_maxrss`` of a child starts at what its parent held when it was started; the kernel's high-water
mark does not.
"""

from __future__ import annotations

import resource
from pathlib import Path


def own_peak_mb() -> float:
    """Megabytes at the peak since this program was started."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
