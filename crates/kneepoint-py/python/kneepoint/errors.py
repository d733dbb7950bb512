# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Errors as exceptions. Messages and remedies are the command line's."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional


class Fault(NamedTuple):
    """A problem in the text of a scenario."""

    line: int
    """The line, from 1."""
    column: int
    """The column, from 1."""
    message: str
    """The value and the allowed range."""
    help: Optional[str]
    """The remedy."""


class KneepointError(Exception):
    """Any failure of the laboratory. `message` is the problem, `remedy` what to do about it."""

    def __init__(self, message: str, remedy: Optional[str] = None) -> None:
        super().__init__(message, remedy)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message}\n  help: {self.remedy}" if self.remedy else self.message


class UsageError(KneepointError, ValueError):
    """An argument that is not allowed."""


class RunError(KneepointError, RuntimeError):
    """Reading, writing or running failed."""


class ScenarioError(KneepointError, ValueError):
    """A scenario that is not valid. `faults` has every problem with its line and column in `text`."""

    def __init__(self, message: str, origin: str, text: str, faults: list[Any]) -> None:
        super().__init__(message)
        self.args = (message, origin, text, faults)
        self.origin = origin
        self.text = text
        self.faults = [Fault(*fault) for fault in faults]


class Interrupted(KeyboardInterrupt):
    """Stopped by Ctrl-C. Finished runs are kept; the same call resumes there. `result` has them, if there are any."""

    def __init__(self, message: str, result: Any = None) -> None:
        super().__init__(message)
        self.result = result


class Part(Exception):
    """A call that makes a part of the runs ended: no failure. `missing` has the names of runs to be made, with the work
    and the memory of each."""

    def __init__(self, missing: list[tuple[str, int, int]]) -> None:
        super().__init__(missing)
        self.missing = missing
