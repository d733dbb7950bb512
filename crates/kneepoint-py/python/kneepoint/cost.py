# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The cost of a controller in Python for each acknowledgement: `python -m kneepoint.cost`.

The same scenario runs with Reno of the library and with the same rule in Python, one run at a time. Both give the same
rows, so that their times differ only by the language.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import kneepoint as knee
from kneepoint.algorithms import Ack, Loss, Start, Timeout

# A hundred long transfers of SACK hosts over 150 Mbit/s and 60 ms.
SCENARIO = """
queue = "droptail"
[run]
duration = "20s"
measure = "5s..20s"
[topology]
kind = "dumbbell"
rate = "150mbit"
rtt = "60ms"
[tcp]
recovery = "sack"
[[flows]]
name = "long"
count = 100
start = "0s..5s"
cc = "CONTROLLER"
"""
# The least time of this many runs counts: the others shared the processor.
REPEATS = 5


@knee.controller("reno-in-python", increase=1.0, decrease=knee.Parameter(0.5, 0.01, 0.99))
class Reno:
    """Reno in Python: the rule of the library's, line by line."""

    def __init__(self, start: Start, increase: float, decrease: float) -> None:
        self.window = start.initial_window
        self.ssthresh = start.initial_ssthresh
        self.increase = increase
        self.remaining = 1.0 - decrease

    def on_ack(self, ack: Ack) -> None:
        credit = ack.credit
        if self.window < self.ssthresh:
            growth = min(credit, self.ssthresh - self.window)
            self.window += growth
            credit -= growth
        self.window += self.increase * credit / self.window

    def on_loss(self, loss: Loss) -> None:
        self.window = self.ssthresh = max(min(loss.flight * self.remaining, self.window), 2.0)

    def on_timeout(self, timeout: Timeout) -> None:
        if not timeout.reported:
            self.ssthresh = timeout.flight * self.remaining
        self.ssthresh = max(self.ssthresh, 2.0)
        self.window = 1.0


class Counted(Reno):
    """The same, which counts its acknowledgements."""

    acks = 0

    def on_ack(self, ack: Ack) -> None:
        Counted.acks += 1
        super().on_ack(ack)


def measured(controller: str, repeats: int, store: str) -> tuple[float, dict[str, list[float]]]:
    """Processor seconds of a run, and its metrics."""
    seconds = []
    for _ in range(repeats):
        text = SCENARIO.replace("CONTROLLER", controller)
        result = knee.run(text, fresh=True, jobs=1, sample="0s", store=store, progress=False)
        (kept,) = Path(store).glob("*.json")
        seconds.append(json.loads(kept.read_text())["record"]["cpu_seconds"])
        kept.unlink()
    rows = result["groups"]
    return min(seconds), {name: rows[name] for name in rows.columns}


def main(repeats: int = REPEATS) -> int:
    knee.controller("counted-in-python", increase=1.0, decrease=0.5)(Counted)
    Counted.acks = 0
    with tempfile.TemporaryDirectory(prefix="kneepoint-cost-") as store:
        measured("counted-in-python", 1, store)
        built_in, rows = measured("reno", repeats, store)
        own, same = measured("reno-in-python", repeats, store)
    per_ack = [seconds / Counted.acks * 1e9 for seconds in (built_in, own)]
    print(f"100 flows, 150 Mbit/s, 60 ms, 20 s: {Counted.acks} acknowledgements, the whole run per acknowledgement")
    print(f"  Reno of the library   {per_ack[0]:6.0f} ns")
    print(f"  the same in Python    {per_ack[1]:6.0f} ns, {per_ack[1] / per_ack[0]:.1f} times as long")
    print(f"  a call of Python      {per_ack[1] - per_ack[0]:6.0f} ns")
    if repr(rows) != repr(same):
        print("the two do not give the same rows: please report it", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
