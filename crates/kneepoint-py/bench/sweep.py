# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The overhead of a sweep on Ray compared with the thread conductor.

    python sweep.py                          2000 runs of about a second each, with threads and with two and four worker processes
    python sweep.py --runs 200 --rounds 2    a shorter measurement

The settings take turns, so that a slow minute of the machine meets all of them. Every sweep begins with an empty store on a cluster that is
up and whose workers have made a run; the time to start it is listed separately. Overhead is the excess over the threads, in the time that passes
and in the CPU time of driver, daemons and workers together; other work on the machine disturbs the first more than the second. The rows
of both are compared. Linux only.
"""

from __future__ import annotations

import argparse
import logging
import os
import platform
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import ray

import kneepoint as knee

SCHEME = "pert"
LINK: dict[str, Any] = {"rate": "50mbit", "rtt": "60ms", "flows": 10}


class Spent(NamedTuple):
    """What a sweep took."""

    seconds: float
    cpu_seconds: float


def cpu_seconds() -> float:
    """CPU time so far of this process and of all below it."""
    parents, ticks = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        process = int(path.parent.name)
        parents[process], ticks[process] = int(fields[1]), int(fields[11]) + int(fields[12])
    ours = {os.getpid()}
    while found := {process for process, parent in parents.items() if parent in ours} - ours:
        ours |= found
    return sum(ticks[process] for process in ours) / os.sysconf("SC_CLK_TCK")


def sweep(seconds: float, runs: int, **options: Any) -> tuple[Spent, Any]:
    """What a comparison takes with an empty store, and its result."""
    words: dict[str, Any] = {**LINK, "duration": f"{seconds:.0f}s", "seeds": runs, "progress": False}
    with tempfile.TemporaryDirectory(prefix="kneepoint-bench-") as folder:
        begin, cpu = time.perf_counter(), cpu_seconds()
        result = knee.compare(SCHEME, store=folder, **words, **options)
        return Spent(time.perf_counter() - begin, cpu_seconds() - cpu), result


def length_of(cpu_seconds: float) -> float:
    """The simulated seconds that take so much CPU time."""
    result = sweep(400, 1)[1]
    return float(400 * cpu_seconds / result.rows["cpu_seconds"][0])


def on_ray(workers: int, seconds: float, runs: int) -> tuple[float, Spent, Any]:
    """The time to start a cluster, what the sweep takes, and its result."""
    begin = time.perf_counter()
    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
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
    # Ray's workers have a lower priority than threads, and would yield to other load on the machine.
    os.environ.setdefault("RAY_worker_niceness", "0")
    seconds = length_of(options.cpu)
    print(f"kneepoint {knee.__version__}, Ray {ray.__version__}, Python {platform.python_version()}, {os.cpu_count()} cores")
    names = ["threads", *(f"Ray, {workers} workers" for workers in options.workers)]
    spent: dict[str, list[Spent]] = {name: [] for name in names}
    starts: list[float] = []
    cpu: list[float] = []
    for turn in range(options.rounds):
        took, alone = sweep(seconds, options.runs)
        spent["threads"].append(took)
        cpu.append(statistics.mean(alone.rows["cpu_seconds"]))
        for name, workers in zip(names[1:], options.workers):
            started, took, result = on_ray(workers, seconds, options.runs)
            starts.append(started)
            spent[name].append(took)
            assert result.rows["flow_goodput_bps"] == alone.rows["flow_goodput_bps"]
        shown = (f"{name} {spent[name][-1].seconds:.1f} s ({spent[name][-1].cpu_seconds:.1f} s of CPU)" for name in names)
        print(f"round {turn + 1}: {', '.join(shown)}", flush=True)
    print(f"\n{options.runs} runs of {statistics.mean(cpu):.2f} s of CPU; medians of {options.rounds}\n")
    print("| conductor | time, s | overhead | CPU time, s | overhead |\n|---|---:|---:|---:|---:|")
    middle = {name: Spent(*(statistics.median(column) for column in zip(*spent[name]))) for name in names}
    for name in names:
        columns = zip(middle[name], middle["threads"])
        print(f"| {name} | {' | '.join(f'{one:.1f} | {one / least - 1:+.1%}' for one, least in columns)} |")
    print(f"\nStarting a cluster, and a first run on each worker: {statistics.median(starts):.1f} s.")


if __name__ == "__main__":
    main()
