# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Kept runs are read only as they were kept, from any source."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import SMALL

import kneepoint as knee
import kneepoint._sweep
from kneepoint import _native

STUDY: dict[str, Any] = {**SMALL, "seeds": 3}


def runs() -> list[Path]:
    return sorted(Path("out/runs").glob("[0-9a-f]*.json"))


def test_a_damaged_run_is_named_whatever_is_shown_and_made_again(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    first = knee.compare("reno", **STUDY)
    bad, swapped, whole = runs()
    original = bad.read_bytes()
    for bit in range(0, 8 * len(original), 8 * len(original) // 20 + 1):
        content = bytearray(original)
        content[bit // 8] ^= 1 << bit % 8
        bad.write_bytes(content)
        swapped.write_bytes(whole.read_bytes())
        again = knee.compare("reno", **STUDY)
        said = capfd.readouterr().err
        for path in (bad, swapped):
            assert f"{path.name} is not the run that was kept" in said, said
            path.with_name(f"{path.name}.bad").unlink()
        assert again.rows["flow_goodput_bps"] == first.rows["flow_goodput_bps"]


def test_a_pipe_in_the_store_is_refused_and_not_waited_for(here: Path) -> None:
    knee.compare("reno", **STUDY)
    run = runs()[0]
    run.unlink()
    os.mkfifo(run)
    with pytest.raises(knee.RunError, match="is a named pipe"):
        knee.compare("reno", **STUDY)


def test_a_series_is_not_read_from_a_damaged_run(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    result = knee.compare("reno", **STUDY)
    assert len(result["series/reno-seed1"]) > 10
    for run in runs():
        run.write_bytes(run.read_bytes()[:-9])
    with pytest.raises(KeyError):
        result["series/reno-seed1"]


def test_a_file_from_elsewhere_is_kept_only_if_it_is_that_run(here: Path) -> None:
    knee.compare("reno", **STUDY)
    one, other, _ = runs()
    store = kneepoint._sweep.Store("store")
    Path("store").mkdir()
    for content in (other.read_bytes(), one.read_bytes()[1:], b"", b"{}"):
        with pytest.raises(knee.RunError, match="is not the run"):
            store.put(one.name, content)
    assert not list(Path("store").iterdir())
    store.put(one.name, one.read_bytes())
    assert Path("store", one.name).read_bytes() == one.read_bytes()


def test_another_version_is_no_damage(here: Path) -> None:
    knee.compare("reno", **STUDY)
    run = runs()[0]
    plain = json.dumps(json.loads(run.read_text())["record"]).encode()
    assert _native.fault(run.stem, run.read_bytes()) is None
    assert _native.fault(run.stem, plain) == ("another version of knee kept it", False)
    damaged = _native.fault(run.stem, run.read_bytes()[:-1])
    assert damaged is not None and damaged[1]


def test_a_store_at_a_url_sets_damaged_files_aside(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("fsspec")
    knee.compare("reno", **STUDY)
    Path("objects").mkdir()
    for run in runs():
        Path("objects", run.name).write_bytes(run.read_bytes()[:-9])
    names = [(run.stem, 1) for run in runs()]
    for ending in kneepoint._sweep.SET_ASIDE:
        kept = kneepoint._sweep.opened(f"file://{here}/objects")
        assert kept.fetch(names) == names, "all are to be made"
        said = capfd.readouterr().err
        assert all(f"{run.name} is not the run that was kept" in said for run in runs()), said
        assert len(list(Path("objects").glob(f"*.json{ending}"))) == len(names)
    kept = kneepoint._sweep.opened(f"file://{here}/objects")
    assert kept.fetch(names) == names
    assert len(list(Path("objects").iterdir())) == 4 * len(names), "a store is not filled"


def test_processes_of_one_number_share_a_store(here: Path) -> None:
    words = "reno --rate 5mbit --rtt 20ms --flows 2 --duration 5s --seeds 6 --store shared".split()
    program = f"import kneepoint as knee; knee._verbs.answered({['compare', *words]!r}, None, False, False)"
    apart = ["unshare", "--pid", "--fork", sys.executable, "-c", program]
    try:
        allowed = subprocess.run(["unshare", "--pid", "--fork", "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        allowed = False
    if not allowed:
        pytest.skip("PID namespaces need root and unshare")
    children = [subprocess.Popen(apart, stderr=subprocess.PIPE) for _ in range(4)]
    assert [(child.communicate()[1], child.returncode)[1] for child in children] == [0] * 4
    assert len(list(Path("shared").iterdir())) == 6
