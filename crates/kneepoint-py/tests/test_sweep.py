# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs made by several processes are those of one machine."""

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import kneepoint as knee
import kneepoint._sweep

SMALL: dict[str, Any] = {"rate": "5mbit", "rtt": "20ms", "flows": 2, "duration": "8s", "seeds": 8}


def kept(folder: Path) -> dict[str, Any]:
    """What is kept, but for the time that it took."""
    runs = {path.name: json.loads(path.read_text()) for path in folder.iterdir()}
    return {name: {key: value for key, value in run.items() if key != "cpu_seconds"} for name, run in runs.items()}


def test_shards_make_each_run_once_and_the_last_reports(here: Path, knee_program: Callable[..., str]) -> None:
    words = ["compare", "reno", "pert", "--rate", "5mbit", "--flows", "2", "--duration", "4s", "--seeds", "3"]
    assert knee_program(*words, "--shard", "1/2", "--out", "a") == ""
    assert len(list(Path("out/runs").iterdir())) == 3
    assert "pert" in knee_program(*words, "--shard", "2/2", "--out", "b")
    assert len(list(Path("out/runs").iterdir())) == 6
    with pytest.raises(knee.UsageError, match="2/4"):
        knee.compare("reno", shard="3/2")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield ray
    ray.shutdown()


def test_a_sweep_on_ray_keeps_the_same_bytes_as_one_machine(
    here: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kneepoint._sweep, "BATCH", 1)
    seen: list[knee.Progress] = []
    swept = knee.sweep("compare", "reno", "pert", **SMALL, store="cluster", progress=seen.append)
    alone = knee.compare("reno", "pert", **SMALL, store="alone")
    assert kept(Path("cluster")) == kept(Path("alone"))
    assert swept.rows["goodput_bps"] == alone.rows["goodput_bps"]
    assert swept["series/pert-seed3"]["time_s"] == alone["series/pert-seed3"]["time_s"]
    assert seen[-1].fraction == 1
    before = {path: path.stat().st_mtime_ns for path in Path("cluster").iterdir()}
    knee.sweep("compare", "reno", "pert", **SMALL, store="cluster")
    assert before == {path: path.stat().st_mtime_ns for path in Path("cluster").iterdir()}, "nothing is made twice"


def test_a_store_may_be_any_that_fsspec_knows(here: Path, cluster: Any) -> None:
    pytest.importorskip("fsspec")
    swept = knee.sweep("compare", "reno", **SMALL, store=f"file://{here}/objects")
    assert len(list(Path("objects").iterdir())) == 8
    assert len(swept["series/reno-seed8"]) > 10
    again = knee.sweep("compare", "reno", **SMALL, store=f"file://{here}/objects")
    assert again.rows["cpu_seconds"] == swept.rows["cpu_seconds"], "they were read back"


def test_the_runs_of_a_killed_worker_go_elsewhere(
    here: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kneepoint._sweep, "BATCH", 1)
    options = {**SMALL, "rate": "20mbit", "duration": "20s"}
    killed: list[int] = []
    ended = threading.Event()

    def kill() -> None:
        # Two workers, one after the other, once each has something to do.
        while len(killed) < 2 and not ended.wait(0.3):
            for path in Path("/proc").glob("[0-9]*/comm"):
                try:
                    ours = path.read_text().startswith("ray::work")
                    parent = Path(path.parent, "stat").read_text().rsplit(")", 1)[1].split()[1]
                except OSError:
                    continue
                if ours and int(path.parent.name) not in killed and parent:
                    killed.append(int(path.parent.name))
                    os.kill(killed[-1], signal.SIGKILL)
                    break

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        knee.sweep("compare", "reno", "pert", **options, store="cluster")
    finally:
        ended.set()
        thread.join()
    assert killed, "a worker was killed"
    time.sleep(0)
    knee.compare("reno", "pert", **options, store="alone")
    assert kept(Path("cluster")) == kept(Path("alone"))
