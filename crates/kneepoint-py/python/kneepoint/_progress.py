# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Progress of a call: a line in a terminal, a bar in a notebook, or a function of the caller's. And its warnings."""

from __future__ import annotations

import sys
import time
from typing import Any, Callable, NamedTuple, Optional, Union

from . import _native


class Progress(NamedTuple):
    """The progress of a call's runs."""

    fraction: float
    """The part of the work that is done, from 0 to 1."""
    message: str
    """How many runs that is."""
    seconds_left: Optional[float]
    """An estimate of the time left, once there is one."""


Shown = Union[bool, None, Callable[[Progress], Any]]


class Display:
    """Shows progress as `how` says: True, False, a function, or None, which shows it in terminals and notebooks only."""

    def __init__(self, how: Shown) -> None:
        self._begin = time.monotonic()
        self._show = how if callable(how) else _shower(how)
        self._shown = False

    def update(self, progress: Optional[tuple[int, int, str]]) -> None:
        if self._show is None or progress is None or progress[1] == 0:
            return
        done, total, message = progress
        fraction = min(done / total, 1.0)
        spent = time.monotonic() - self._begin
        left = spent * (1 - fraction) / fraction if fraction > 0 and spent > 0.5 else None
        self._shown = True
        self._show(Progress(fraction, message, left))

    def close(self) -> None:
        close = getattr(self._show, "close", None)
        if self._shown and close is not None:
            close()


def warn(source: Union[_native.Call, _native.Answer]) -> None:
    """Prints what must not be overlooked, whatever else is shown, such as damaged runs."""
    for warning in source.warnings():
        print(warning, file=sys.stderr)


def _shower(how: Optional[bool]) -> Any:
    if how is False:
        return None
    if _in_notebook():
        return _Notebook()
    if how or sys.stderr.isatty():
        return _Terminal()
    return None


def _in_notebook() -> bool:
    # A notebook has already imported IPython; other programs do not pay for it.
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")


def _words(progress: Progress) -> str:
    left = "" if progress.seconds_left is None else f"  {_clock(progress.seconds_left)} left"
    return f"{progress.message}  {progress.fraction:.0%}{left}".strip()


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


class _Terminal:
    """One line on standard error."""

    def __init__(self) -> None:
        self._width = 0

    def __call__(self, progress: Progress) -> None:
        bar = "█" * round(30 * progress.fraction)
        line = f"{bar:░<30}  {_words(progress)}"
        print(f"\r{line:<{self._width}}", end="", file=sys.stderr, flush=True)
        self._width = len(line)

    def close(self) -> None:
        print(f"\r{'':<{self._width}}\r", end="", file=sys.stderr, flush=True)


class _Notebook:
    """A bar below the cell, which disappears at the end."""

    def __init__(self) -> None:
        self._handle: Any = None

    def __call__(self, progress: Progress) -> None:
        shown = sys.modules["IPython"].display
        html = shown.HTML(f"<progress max='1' value='{progress.fraction}'></progress> {_words(progress)}")
        if self._handle is None:
            self._handle = shown.display(html, display_id=True)
        else:
            self._handle.update(html)

    def close(self) -> None:
        self._handle.update(sys.modules["IPython"].display.HTML(""))
