# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A fault of an algorithm in Python is reported with its place and the remedy: at its declaration, or by the call that runs it."""

import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import SCENARIO, SMALL, broken, kept

import kneepoint as knee
from kneepoint.algorithms import Arrival, Cue, Facts, Request, Site, Start
from kneepoint.cost import Reno

# At its declaration.


class Plain(Reno):
    """Reno with any parameters."""

    def __init__(self, start: Start, **parameters: Any) -> None:
        super().__init__(start, 1.0, 0.5)


class Steady:
    """A datagram a second."""

    packet_bytes = 1000

    def __init__(self, site: Site, **parameters: Any) -> None:
        self.wakeup_s = site.start_s

    def on(self, cue: Cue, now_s: float) -> Any:
        self.wakeup_s = now_s + 1
        return Request.Datagram(1000)


class Unmade(Steady):
    def __init__(self, site: Site) -> None:
        raise OSError("no such film")


class Bounded(Plain):
    def __init__(self, start: Start, least: float) -> None:
        super().__init__(start)


@pytest.mark.parametrize(
    ("register", "message"),
    [
        (lambda: knee.controller("cubic")(Plain), "called `cubic` already"),
        (lambda: knee.controller("pert_pi")(Plain), "called `pert_pi` already"),
        (lambda: knee.controller("My Reno")(Plain), "lower-case letters"),
        (lambda: knee.controller("mine", wait="soon")(Plain), "`soon` is not a time, rate or data"),
        (lambda: knee.controller("mine", part=knee.Parameter(2.0, 0.0, 1.0))(Plain), "outside the allowed range, 0 to 1"),
        (lambda: knee.controller("mine", part=knee.Parameter(2.0, 0.0))(Plain), "a range has two ends"),
        (lambda: knee.controller("mine", part=-3)(Plain), "write -3.0 for a number"),
        (lambda: knee.controller("mine")(type("Mute", (), {})), "no method `on_ack`"),
        (lambda: knee.source("flows")(Unmade), "failed in __init__: OSError: no such film"),
        (lambda: knee.source("flows")(Steady), "called `flows` already"),
        (lambda: knee.controller("mine", kind=1.0)(Plain), "`kind` cannot be the name of a parameter of the controller `mine`"),
        (lambda: knee.source("mine", count=3)(Steady), "`count` cannot be the name .* than name, count, start, stop, direction, "),
        (lambda: knee.controller("mine", Part=0.5)(Plain), "use lower-case letters, digits and underscores"),
        (lambda: knee.controller("mine", größe=0.5)(Plain), "use lower-case letters, digits and underscores"),
        (lambda: knee.controller("mine", most=0.5)(Bounded), r"`start`, `most`: .*\n.*`def __init__\(self, start, most\):`"),
        (lambda: knee.controller("mine")(Bounded), "cannot be made with `start`: missing a required argument: 'least'"),
    ],
)
def test_what_cannot_be_registered_says_why(register: Callable[[], Any], message: str) -> None:
    with pytest.raises(knee.KneepointError, match=message):
        register()


# In a run.


def test_an_exception_ends_the_call_with_its_traceback_and_keeps_no_run(here: Path) -> None:
    knee.controller("broken", increase=1.0, decrease=0.5)(broken("def on_loss(self, loss):\n    return 1 / 0"))
    with pytest.raises(knee.RunError, match="controller `broken` failed in on_loss at [0-9.]+ s: ZeroDivisionError") as caught:
        knee.compare("broken", **SMALL)
    cause = caught.value.__cause__
    assert isinstance(cause, ZeroDivisionError)
    assert 'File "broken.py", line 4, in on_loss' in "".join(traceback.format_exception(cause))
    assert not Path("out/runs").exists() or kept() == 0
    assert len(knee.compare("reno", **SMALL).rows) == 1, "the next call is not stopped"


def test_a_verb_within_an_algorithm_is_refused(here: Path) -> None:
    knee.controller("broken", increase=1.0, decrease=0.5)(
        broken("def on_ack(self, ack):\n    import kneepoint\n    kneepoint.compare('reno')")
    )
    with pytest.raises(knee.RunError, match="UsageError: an algorithm cannot call a verb"):
        knee.compare("broken", **SMALL)


@pytest.mark.parametrize("value", ["float('nan')", "-1.0", "0", "'ten'", "1e9", "float('inf')"])
def test_a_window_out_of_range_is_refused_with_the_time_and_the_remedy(here: Path, value: str) -> None:
    knee.controller("broken", increase=1.0, decrease=0.5)(broken(f"def on_ack(self, ack):\n    self.window = {value}"))
    message = "after on_ack at [0-9.]+ s: window is .*; allowed is a number above 0, up to 1000000"
    with pytest.raises(knee.RunError, match=message) as caught:
        knee.compare("broken", **SMALL)
    assert "max()" in (caught.value.remedy or "")


def test_a_wrong_decision_and_a_wrong_request_say_so(here: Path) -> None:
    class Keep:
        def __init__(self, facts: Facts) -> None: ...

        def on_arrival(self, arrival: Arrival) -> Any:
            return "keep"

    class Late:
        packet_bytes = 1000

        def __init__(self, site: Site) -> None:
            self.wakeup_s = site.start_s

        def on(self, cue: Cue, now_s: float) -> Any:
            self.wakeup_s = now_s - 1
            return Request.Datagram(100)

    class Full(Late):
        def on(self, cue: Cue, now_s: float) -> Any:
            return [Request.Write(1, 100)]

    class Stuck(Late):
        def on(self, cue: Cue, now_s: float) -> Any:
            return Request.Datagram(100)

    class Large(Late):
        def on(self, cue: Cue, now_s: float) -> Any:
            self.wakeup_s = now_s + 1
            return Request.Datagram(1001)

    knee.queue("keep")(Keep)
    with pytest.raises(knee.RunError, match="the decision is 'keep'; expected \"pass\", \"mark\", \"drop\" or None"):
        knee.compare("reno/keep", **SMALL)
    for make, message in [
        (Late, "after on at 2 s: .* allowed is a time from 2"),
        (Full, "Write of connection 1, which is not open"),
        (Stuck, "stays at 2 s"),
        (Large, "size_bytes 1001 of a Datagram; allowed is 1 to 1000"),
    ]:
        knee.source("mine")(make)
        with pytest.raises(knee.RunError, match=message) as caught:
            knee.run(SCENARIO + '[[mine]]\nstart = "2s"\n')
        assert caught.value.remedy


STUCK = """
import kneepoint as knee
import kneepoint.cost
print("begun", flush=True)
try:
    knee.compare("reno-in-python", rate="20mbit", flows=4, duration="20s", seeds=5000, progress=False)
except KeyboardInterrupt as stopped:
    print(type(stopped).__name__, len(stopped.result.rows))
"""


def test_an_interrupt_keeps_finished_runs(here: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", STUCK], cwd=here, stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not Path("out/runs").is_dir() or kept() < 2:
        assert time.monotonic() < deadline and child.poll() is None
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    said, _ = child.communicate(timeout=20)
    assert f"Interrupted {kept()}" in said, said


def test_this_file_is_typed() -> None:
    mypy = [sys.executable, "-m", "mypy", "--strict", str(Path(__file__))]
    done = subprocess.run(mypy, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[1])
    assert done.returncode == 0, done.stdout
