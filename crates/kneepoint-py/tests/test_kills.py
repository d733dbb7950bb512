# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A sweep survives SIGKILL: of a worker, of a node's raylet, and of the driver.

A cluster has a head and two nodes of one core each. A kill comes at a random moment of the sweep. At the end nothing is
missing, the bytes equal those of one machine, and the log of the workers shows which runs were begun twice.
`KNEE_KILLS=10` repeats each
kill ten times; `-s` prints the table.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import kneepoint as knee

cluster_utils = pytest.importorskip("ray.cluster_utils")

TIMES = int(os.environ.get("KNEE_KILLS", "1"))
STUDY: dict[str, Any] = {"rate": "50mbit", "rtt": "20ms", "flows": 4, "duration": "160s", "seeds": 12}
RUNS = 2 * STUDY["seeds"]
NODES = 2

# The driver, whose workers write down what they begin. A run is a batch.
DRIVER = f"""
import sys
import kneepoint as knee
import kneepoint._sweep as sweep

def work(words, text, names):
    from kneepoint._sweep import work
    with open({{log!r}}, "a") as log:
        log.write("".join(name + "\\n" for name in names))
    return work(words, text, names)

sweep.work, sweep.BATCH = work, 1
knee.sweep("compare", "reno", "pert", **{STUDY!r}, store="cluster", progress=False)
"""


class Machines:
    """A cluster on this machine."""

    def __init__(self) -> None:
        # A dead node is noticed within a few seconds, as on a cluster that is set up for it.
        checks = {"health_check_period_ms": 500, "health_check_failure_threshold": 4, "health_check_initial_delay_ms": 500}
        head = {"num_cpus": 0, "include_dashboard": False, "_system_config": checks}
        self.cluster = cluster_utils.Cluster(initialize_head=True, head_node_args=head)
        self.nodes = [self.cluster.add_node(num_cpus=1) for _ in range(NODES)]
        self.cluster.wait_for_nodes()

    def raylet(self, node: Any) -> int:
        return int(node.all_processes["raylet"][0].process.pid)

    def workers(self) -> list[int]:
        """The processes that make a run at this moment."""
        raylets, found = {self.raylet(node) for node in self.nodes}, []
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                name, fields = path.read_text().split("(", 1)[1].rsplit(")", 1)
            except OSError:
                continue
            if name.startswith("ray::work") and int(fields.split()[1]) in raylets:
                found.append(int(path.parent.name))
        return found

    def replace(self, node: Any) -> None:
        """A new node for one that is dead."""
        self.nodes.remove(node)
        self.cluster.remove_node(node, allow_graceful=False)
        self.nodes.append(self.cluster.add_node(num_cpus=1))


@pytest.fixture(scope="module")
def machines() -> Iterator[Machines]:
    made = Machines()
    yield made
    made.cluster.shutdown()


def stored(folder: Path) -> dict[str, Any]:
    """The kept run, without the time that it took."""
    runs = {path.name: json.loads(path.read_text())["record"] for path in folder.glob("[0-9a-f]*.json")}
    return {name: {key: value for key, value in run.items() if key != "cpu_seconds"} for name, run in runs.items()}


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("alone")
    knee.compare("reno", "pert", **STUDY, store=folder, progress=False)
    return stored(folder)


def kill_a_worker(machines: Machines, driver: "subprocess.Popen[str]", chance: random.Random) -> bool:
    busy = machines.workers()
    if busy:
        os.kill(chance.choice(busy), signal.SIGKILL)
    return bool(busy)


def kill_a_raylet(machines: Machines, driver: "subprocess.Popen[str]", chance: random.Random) -> bool:
    node = chance.choice(machines.nodes)
    os.kill(machines.raylet(node), signal.SIGKILL)
    machines.replace(node)
    return True


def kill_the_driver(machines: Machines, driver: "subprocess.Popen[str]", chance: random.Random) -> bool:
    driver.kill()
    return True


@pytest.mark.parametrize("repetition", range(TIMES))
@pytest.mark.parametrize("kill", [kill_a_worker, kill_a_raylet, kill_the_driver])
def test_no_run_is_lost_and_few_are_made_twice(
    kill: Callable[..., bool], repetition: int, here: Path, machines: Machines, alone: dict[str, Any]
) -> None:
    chance = random.Random(f"{kill.__name__} {repetition}")
    environment = {**os.environ, "RAY_ADDRESS": machines.cluster.address}
    program = DRIVER.replace("{log!r}", repr(str(here / "log")))

    def start() -> "subprocess.Popen[str]":
        return subprocess.Popen([sys.executable, "-c", program], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    driver = start()
    store = here / "cluster"
    goal = chance.randrange(1, RUNS - 6)
    until(lambda: len(list(store.glob("[0-9a-f]*.json"))) >= goal or driver.poll() is not None)
    # Anywhere within a run.
    time.sleep(chance.uniform(0, 0.3))
    before = len(list(store.glob("[0-9a-f]*.json")))
    until(lambda: driver.poll() is not None or kill(machines, driver, chance))
    _, said = driver.communicate(timeout=180)
    if driver.returncode != 0:
        assert kill is kill_the_driver and driver.returncode == -signal.SIGKILL, said
        again = start()
        _, said = again.communicate(timeout=180)
        assert again.returncode == 0, said
    assert stored(store) == alone
    begun = Counter((here / "log").read_text().split())
    twice = sum(begun.values()) - RUNS
    print(f"\n| {kill.__name__.replace('_', ' ')} | {before} of {RUNS} kept | {twice} begun twice |", end=" ")
    assert before < RUNS, "killed before the end"
    assert set(begun) == {name.removesuffix(".json") for name in alone}
    # Runs in progress, one on each node, and as many of a lost node or driver whose files had not arrived.
    assert twice <= (1 if kill is kill_a_worker else 2 * NODES)


def until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline, "a minute is enough"
        time.sleep(0.02)
