"""The page's own modules: layout, walks, search and the rest, tested by Node's test runner."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

TESTS = sorted(Path(__file__).parent.glob("*.test.mjs"))


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
@pytest.mark.parametrize("file", TESTS, ids=lambda path: path.stem.removesuffix(".test"))
def test_the_tests_of_the_page_pass(file: Path) -> None:
    done = subprocess.run(
        ["node", "--test", str(file)], capture_output=True, text=True, timeout=120, cwd=file.parent
    )
    assert done.returncode == 0, done.stdout[-6000:]
