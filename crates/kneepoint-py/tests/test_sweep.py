# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs made by several processes equal those of one machine."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import program

import kneepoint as knee
import kneepoint._sweep

SMALL: dict[str, Any] = {"rate": "5mbit", "rtt": "20ms", "flows": 2, "duration": "8s", "seeds": 8}


def kept(folder: Path) -> dict[str, Any]:
    """The kept run, without the time that it took."""
    runs = {path.name: json.loads(path.read_text())["record"] for path in folder.iterdir()}
    return {name: {key: value for key, value in run.items() if key != "cpu_seconds"} for name, run in runs.items()}


def test_shards_make_each_run_once_and_the_last_reports(here: Path, knee_program: Callable[..., str]) -> None:
    words = ["compare", "reno", "pert", "--rate", "5mbit", "--flows", "2", "--duration", "4s", "--seeds", "3"]
    assert knee_program(*words, "--shard", "1/2", "--out", "a") == ""
    assert len(list(Path("out/runs").iterdir())) == 3 and not Path("a").exists()
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
    assert swept.rows["flow_goodput_bps"] == alone.rows["flow_goodput_bps"]
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


def damage(path: Path) -> None:
    """Flips a bit in the middle."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


def test_damaged_runs_are_named_set_aside_and_made_again_on_the_cluster(
    here: Path, cluster: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("fsspec")
    for store, folder in (("cluster", Path("cluster")), (f"file://{here}/objects", Path("objects"))):
        words: dict[str, Any] = {**SMALL, "seeds": 3, "store": store, "progress": False}
        first = knee.sweep("compare", "reno", **words)
        before = kept(folder)
        bad, swapped, whole = sorted(folder.iterdir())
        damage(bad)
        swapped.write_bytes(whole.read_bytes())
        again = knee.sweep("compare", "reno", **words)
        said = capfd.readouterr().err
        for path in (bad, swapped):
            assert f"{path.name} is not the run that was kept" in said, said
            path.with_name(f"{path.name}.bad").unlink()
        assert kept(folder) == before
        assert again.rows["flow_goodput_bps"] == first.rows["flow_goodput_bps"]


def test_runs_are_repeated_where_that_is_asked(here: Path, cluster: Any) -> None:
    words: dict[str, Any] = {**SMALL, "seeds": 2, "store": "cluster"}
    first = knee.compare("reno", **words, on="ray")
    again = knee.compare("reno", **words, on="ray", fresh=True)
    assert again.rows["flow_goodput_bps"] == first.rows["flow_goodput_bps"]
    assert again.rows["cpu_seconds"] != first.rows["cpu_seconds"]


# Its only claim fails, so that its other reading is run, too.
DOUBTED = """
[experiment]
id = "toy-doubted"
title = "A small link"
source = "A test"
[run]
duration = "8s"
measure = "2s..8s"
seeds = 2
[topology]
kind = "dumbbell"
rate = "5mbit"
rtt = "20ms"
[[flows]]
name = "long"
count = 2
cc = "reno"
[sweep]
scheme = ["pert", "sack/droptail"]
[figure]
x = "scheme"
label = "scheme"
series = ""
panels = "utilization"
[[reading]]
about = "How long the round trip is."
taken = "20 ms."
[[reading.alternative]]
name = "40 ms"
set = { "topology.rtt" = "40ms" }
[[claim]]
id = "more"
text = "More than all of a link is used."
check = "utilization > 1.1"
each = "scheme"
"""


def test_runs_that_follow_from_the_first_are_made_on_the_cluster_too(here: Path, cluster: Any) -> None:
    Path("toy.toml").write_text(DOUBTED)
    swept = knee.sweep("reproduce", "toy.toml", store="cluster")
    alone = knee.reproduce("toy.toml", store="alone")
    assert len(list(Path("alone").iterdir())) > 4, "more than the reading that is taken"
    assert kept(Path("cluster")) == kept(Path("alone"))
    assert swept.json()["claims"] == alone.json()["claims"]


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


WORDS = ["compare", "reno", "pert", "--rate", "5mbit", "--rtt", "20ms", "--flows", "2", "--duration", "8s"]


def test_the_command_line_leaves_its_runs_to_a_cluster(here: Path, knee_program: Callable[..., str]) -> None:
    pytest.importorskip("ray")
    words = [*WORDS, "--seeds", "4"]
    there = knee_program(*words, "--on", "ray", "--jobs", "2", "--store", "cluster", "--out", "there", "--json")
    alone = knee_program(*words, "--store", "alone", "--out", "alone-out", "--json")
    assert kept(Path("cluster")) == kept(Path("alone"))
    assert files(Path("there")) == files(Path("alone-out"))
    outcomes = [json.loads(printed)["schemes"] for printed in (there, alone)]
    for scheme in (scheme for outcome in outcomes for scheme in outcome):
        scheme.pop("cpu_seconds", None)
        for run in scheme["runs"]:
            run.pop("cpu_seconds", None)
            run.pop("events_per_second", None)
    assert outcomes[0] == outcomes[1]
    assert Path("there/series/pert-seed3.csv").read_bytes() == Path("alone-out/series/pert-seed3.csv").read_bytes()


def test_a_store_of_the_command_line_may_be_any_that_fsspec_knows(
    here: Path, knee_program: Callable[..., str]
) -> None:
    pytest.importorskip("ray")
    pytest.importorskip("fsspec")
    knee_program(*WORDS, "--seeds", "1")
    words = [*WORDS, "--seeds", "2", "--on", "ray", "--store", f"file://{here}/objects"]
    first = json.loads(knee_program(*words, "--json"))
    assert len(list(Path("objects").iterdir())) == 4, "those made here and those made there"
    for path in Path("out/runs").iterdir():
        path.unlink()
    again = json.loads(knee_program(*words, "--json"))
    assert [one["runs"] for one in again["schemes"]] == [one["runs"] for one in first["schemes"]], "they were read back"


def test_a_scenario_from_standard_input_reaches_the_workers(here: Path) -> None:
    pytest.importorskip("ray")
    scenario = "[run]\nduration = '5s'\nmeasure = '1s..5s'\nseeds = 2\n[topology]\nkind = 'dumbbell'\nrate = '5mbit'\nrtt = '20ms'\n"
    scenario += "[[flows]]\nname = 'long'\ncc = 'reno'\n"
    done = subprocess.run(
        [program(), "run", "-", "--on", "ray"], input=scenario, cwd=here, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(list(Path("out/runs").iterdir())) == 2


def test_a_cluster_that_is_running_is_found_by_its_address(
    here: Path, knee_program: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster_utils = pytest.importorskip("ray.cluster_utils")
    pytest.importorskip("grpc")
    # Ray gives a client's server 30 s to start, which a busy machine exceeds.
    monkeypatch.setenv("RAY_CLIENT_SERVER_CHECK_CHANNEL_TIMEOUT_S", "300")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    head = {"num_cpus": 2, "include_dashboard": False, "ray_client_server_port": port}
    running = cluster_utils.Cluster(initialize_head=True, head_node_args=head)
    try:
        knee_program(*WORDS, "--seeds", "2", "--on", f"ray://127.0.0.1:{port}")
        assert len(list(Path("out/runs").iterdir())) == 4
    finally:
        running.shutdown()


def test_an_interrupt_keeps_and_reports_what_the_cluster_has_finished(here: Path) -> None:
    pytest.importorskip("ray")
    words = [*WORDS, "--seeds", "5000", "--on", "ray", "--out", "o"]
    child = subprocess.Popen([program(), *words], cwd=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not any(Path("out/runs").glob("[0-9a-f]*.json")) and time.monotonic() < deadline:
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert child.returncode == 130, said
    assert "runs finished and are kept; the same command continues" in said
    reported = json.loads(Path("o/summary.json").read_text())["schemes"]
    assert sum(len(scheme["runs"]) for scheme in reported) == len(list(Path("out/runs").glob("[0-9a-f]*.json"))) > 0


def test_what_is_missing_for_a_cluster_is_said_with_the_remedy(here: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    # An interpreter that finds no packages.
    bare.write_text(f"#!/bin/sh\nexec {sys.executable} -S \"$@\"\n")
    bare.chmod(0o755)

    def failure(*words: str, python: Path) -> dict[str, Any]:
        environment = {**os.environ, "KNEE_PYTHON": str(python)}
        done = subprocess.run(
            [program(), *WORDS, *words, "--json"], cwd=here, env=environment, capture_output=True, text=True, check=False
        )
        told: dict[str, Any] = json.loads(done.stderr.splitlines()[-1])
        assert done.returncode == told["status"] != 0
        return told

    assert "make wheel" in failure("--on", "ray", python=bare)["remedy"]
    assert "KNEE_PYTHON" in failure("--on", "ray", python=tmp_path / "none")["remedy"]
    assert "--on ray" in failure("--store", "s3://bucket/runs", python=bare)["remedy"]
    assert "objects" in failure("--on", "ray", "--objects", python=bare)["message"]
