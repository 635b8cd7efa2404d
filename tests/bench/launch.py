"""Runs a command and prints, after its output, what it took: one line of JSON."""

import json
import os
import sys
import time

wall = time.perf_counter()
_, status, usage = os.wait4(os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ), 0)
report = {
    "wall": time.perf_counter() - wall,
    "cpu": usage.ru_utime + usage.ru_stime,
    "peak_mb": usage.ru_maxrss / 1024,
    "exit": os.waitstatus_to_exitcode(status),
}
print(json.dumps(report))
