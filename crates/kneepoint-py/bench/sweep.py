# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The overhead of a sweep on Ray beside the thread conductor.

    python sweep.py                          2000 runs of about a second each, with threads and with two and four worker processes
    python sweep.py --runs 200 --rounds 2    a shorter measurement

The settings take turns, so that a slow minute of the machine meets all of them. Every sweep begins with an empty store on a cluster that is
up and whose workers have made a run; the time to start it is told apart. Overhead is the excess of the time that passes over that of the
threads, and the rows of both are compared.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import ray

import kneepoint as knee

SCHEME, LINK = "pert", {"rate": "50mbit", "rtt": "60ms", "flows": 10}


def sweep(seconds: float, runs: int, **options: Any) -> tuple[float, Any]:
    """The time that a comparison takes with an empty store, and its result."""
    words = {**LINK, "duration": f"{seconds:.0f}s", "seeds": runs, "progress": False}
    with tempfile.TemporaryDirectory(prefix="kneepoint-bench-") as folder:
        begin = time.perf_counter()
        result = knee.compare(SCHEME, store=folder, **words, **options)
        return time.perf_counter() - begin, result


def length_of(cpu_seconds: float) -> float:
    """The simulated seconds that take so much CPU time."""
    result = sweep(400, 1)[1]
    return float(400 * cpu_seconds / result.rows["cpu_seconds"][0])


def on_ray(workers: int, seconds: float, runs: int) -> tuple[float, float, Any]:
    """The time to start a cluster, that of the sweep, and its result."""
    begin = time.perf_counter()
    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    sweep(seconds, workers, on="ray")
    started = time.perf_counter() - begin
    passed, result = sweep(seconds, runs, on="ray")
    ray.shutdown()
    return started, passed, result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000, help="runs of a sweep [2000]")
    parser.add_argument("--cpu", type=float, default=1.0, help="CPU seconds of a run, about [1]")
    parser.add_argument("--workers", type=int, nargs="*", default=[2, 4], help="worker processes [2 4]")
    parser.add_argument("--rounds", type=int, default=3, help="how often each setting is measured [3]")
    options = parser.parse_args()
    os.chdir(Path(tempfile.gettempdir()))
    seconds = length_of(options.cpu)
    print(f"kneepoint {knee.__version__}, Ray {ray.__version__}, Python {platform.python_version()}, {os.cpu_count()} cores")
    threads: list[float] = []
    others: dict[int, list[float]] = {workers: [] for workers in options.workers}
    starts: list[float] = []
    cpu: list[float] = []
    for turn in range(options.rounds):
        passed, alone = sweep(seconds, options.runs)
        threads.append(passed)
        cpu.append(statistics.mean(alone.rows["cpu_seconds"]))
        print(f"round {turn + 1}: threads {passed:.1f} s", end="", flush=True)
        for workers, times in others.items():
            started, passed, result = on_ray(workers, seconds, options.runs)
            starts.append(started)
            times.append(passed)
            assert result.rows["goodput_bps"] == alone.rows["goodput_bps"]
            print(f", {workers} workers {passed:.1f} s", end="", flush=True)
        print(flush=True)
    least = statistics.median(threads)
    print(f"\n{options.runs} runs of {statistics.mean(cpu):.2f} s of CPU; medians of {options.rounds}\n")
    print("| conductor | time, s | overhead |\n|---|---:|---:|")
    print(f"| threads, one per core | {least:.1f} | |")
    for workers, times in others.items():
        middle = statistics.median(times)
        print(f"| Ray, {workers} workers | {middle:.1f} | {middle / least - 1:+.1%} |")
    print(f"\nStarting a cluster, and a first run on each worker: {statistics.median(starts):.1f} s.")


if __name__ == "__main__":
    main()
