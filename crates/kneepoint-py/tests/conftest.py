# SPDX-License-Identifier: Apache-2.0 OR MIT
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import kneepoint.algorithms

SMALL: dict[str, Any] = {"rate": "5mbit", "rtt": "20ms", "flows": 2, "duration": "10s", "seeds": 1, "progress": False}

SCENARIO = """
name = "small"
queue = "droptail"
[run]
duration = "10s"
seeds = 2
[topology]
kind = "dumbbell"
rate = "5mbit"
rtt = "20ms"
[tcp]
recovery = "sack"
[[flows]]
name = "long"
cc = "reno"
count = 3
start = "0s..1s"
"""


def program() -> Path:
    """The `knee` that came with the package."""
    return Path(sys.executable).parent / "knee"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory, in which the test runs with its own store."""
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


@pytest.fixture(autouse=True)
def unregistered() -> Iterator[None]:
    """Registrations of a test end with it."""
    before = dict(kneepoint.algorithms._REGISTERED)
    yield
    kneepoint.algorithms._REGISTERED.clear()
    kneepoint.algorithms._REGISTERED.update(before)


def kept() -> int:
    """How many runs the usual store has."""
    return len(list(Path("out/runs").glob("[0-9a-z]*.json")))


def broken(body: str) -> type:
    """Reno with a method on top, as a file would have it."""
    text = f"from kneepoint.cost import Reno\nclass Broken(Reno):\n{textwrap.indent(textwrap.dedent(body), '    ')}"
    names: dict[str, Any] = {"__name__": "broken"}
    exec(compile(text, "broken.py", "exec"), names)
    return names["Broken"]  # type: ignore[no-any-return]
