"""Runs a command and prints, after its output, what it took: one line of JSON."""

import json
import os
import sys
import time

# A tool that is installed has its bytecode beside it, whatever this shell asks of Python.
environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
wall = time.perf_counter()
_, status, usage = os.wait4(os.posix_spawnp(sys.argv[1], sys.argv[1:], environment), 0)
report = {
    "wall": time.perf_counter() - wall,
    "cpu": usage.ru_utime + usage.ru_stime,
    "peak_mb": usage.ru_maxrss / 1024,
    "exit": os.waitstatus_to_exitcode(status),
}
print(json.dumps(report))
