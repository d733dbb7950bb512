# SPDX-License-Identifier: Apache-2.0 OR MIT
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


def program() -> Path:
    """The `knee` that came with the package."""
    return Path(sys.executable).parent / "knee"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory, in which the test runs with a store of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KNEE_STORE", raising=False)
    return tmp_path


@pytest.fixture
def knee_program(here: Path) -> Callable[..., str]:
    """Runs the program of the package in the test's directory, and returns what it prints."""

    def act(*words: str) -> str:
        done = subprocess.run([program(), *words], cwd=here, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return act
