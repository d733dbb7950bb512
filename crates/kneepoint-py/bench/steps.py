# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Steps per second of the Gymnasium environment, beside Aurora's published simulator where there is one.

    python steps.py                          the environment alone
    python steps.py --beside PCC-RL/src/gym  both, in turn; this one needs `pip install gym`

Both have one sender at nine tenths of the link's rate, steps of one round trip, an observation of ten intervals with Aurora's three features,
Aurora's reward, and 400 steps in an episode. The time of `reset` counts.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

import kneepoint
from kneepoint import gym as knee_gym

STEPS = 400


class Link(NamedTuple):
    """A bottleneck without losses of its own, for packets of 1500 bytes."""

    packets_per_second: int
    rtt_s: float
    buffer_packets: int

    @property
    def rate(self) -> float:
        """The rate at which the sender sends."""
        return 0.9 * self.packets_per_second


# The ends of the ranges of Aurora's training, and the greatest rate that its simulator allows.
LINKS = [Link(100, 0.1, 20), Link(500, 0.1, 50), Link(1000, 0.1, 100)]
STAY = numpy.zeros(1, numpy.float32)


def ours(link: Link) -> Callable[[], int]:
    """An episode in our environment; it returns its steps."""
    scenario = knee_gym.SCENARIO.format(
        rate=link.packets_per_second * 1500 * 8 / 1e6, rtt=link.rtt_s * 1e3, buffer=link.buffer_packets
    ).replace('duration = "60s"', f'duration = "{(STEPS + 5) * link.rtt_s:g}s"')
    env = knee_gym.CongestionEnv(scenario, interval=link.rtt_s)

    def episode() -> int:
        env.reset(seed=1)
        env.rate = link.rate
        for step in range(STEPS):
            if env.step(STAY)[3]:
                return step + 1
        return STEPS

    return episode


def theirs(link: Link, folder: str) -> Callable[[], int]:
    """An episode in Aurora's simulator."""
    sys.path.insert(0, folder)
    simulator: Any = importlib.import_module("network_sim")
    env = simulator.SimulatedNetworkEnv()
    env.min_bw = env.max_bw = link.packets_per_second
    # It has the one-way latency of each of two links.
    env.min_lat = env.max_lat = link.rtt_s / 2
    env.min_queue = env.max_queue = numpy.log(link.buffer_packets - 0.5)
    env.min_loss = env.max_loss = 0.0
    # A log of every hundredth episode.
    env.dump_events_to_file = lambda _: None

    def episode() -> int:
        env.reset()
        env.senders[0].set_rate(link.rate)
        for _ in range(STEPS):
            # It would choose half a round trip after each step.
            env.run_dur = link.rtt_s
            env.step([0.0])
        return STEPS

    return episode


def rate(episode: Callable[[], int], seconds: float) -> float:
    """Steps per second of CPU time over whole episodes; both work on one thread."""
    begin, steps = time.process_time(), 0
    while time.process_time() - begin < seconds:
        steps += episode()
    return steps / (time.process_time() - begin)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--beside", metavar="DIR", help="the folder of network_sim.py in a copy of PCC-RL")
    parser.add_argument("--seconds", type=float, default=2.0, help="time of a measurement")
    parser.add_argument("--times", type=int, default=5, help="measurements of each, in turn")
    options = parser.parse_args()
    beside = options.beside and os.path.abspath(options.beside)
    print(f"kneepoint {kneepoint.__version__}, Python {platform.python_version()}, numpy {numpy.__version__}")
    print("| link, packets/s | round trip | buffer | ours, steps/s | Aurora's simulator | ratio |")
    print("|---:|---:|---:|---:|---:|---:|")
    for link in LINKS:
        # Theirs prints.
        with contextlib.redirect_stdout(io.StringIO()):
            episodes = [ours(link), *([theirs(link, beside)] if beside else [])]
            turns = [[rate(episode, options.seconds) for episode in episodes] for _ in range(options.times)]
        middle = [statistics.median(rates) for rates in zip(*turns)]
        other = f"{middle[1]:,.0f} | {middle[0] / middle[1]:.1f}" if beside else "– | –"
        shown = f"{link.packets_per_second} | {link.rtt_s * 1e3:.0f} ms | {link.buffer_packets}"
        print(f"| {shown} | {middle[0]:,.0f} | {other} |", flush=True)


if __name__ == "__main__":
    main()
