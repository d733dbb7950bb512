# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The program and the package agree on their versions, and faults of a sweep are reported before any run."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import SMALL, program

import kneepoint as knee
import kneepoint._sweep

WORDS = ["compare", "reno", "--rate", "5mbit", "--flows", "2", "--duration", "4s", "--seeds", "1"]


# A package that works for an hour after its first line.
STRANGER = """
import time
print('{}', flush=True)
print('{{"done": 1, "total": 2, "message": ""}}', flush=True)
time.sleep(3600)
"""


def test_the_module_without_a_job_says_what_it_is_for(here: Path) -> None:
    for given in ("", "{}", "[1]", "text"):
        done = subprocess.run(
            [sys.executable, "-m", "kneepoint"], input=given, capture_output=True, text=True, check=False
        )
        assert done.returncode == 2 and done.stdout == ""
        assert "Traceback" not in done.stderr and "knee --help" in done.stderr


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"__init__.py": ""}, "a package called kneepoint that does not answer as this version: "),
        ({"__init__.py": "raise ImportError"}, "a package called kneepoint that does not answer as this version: "),
        ({"__init__.py": "", "__main__.py": STRANGER.format('{"kneepoint": "9.9.9"}')}, "has version 9.9.9 of the package"),
    ],
)
def test_another_package_of_this_name_is_noticed(here: Path, files: dict[str, str], message: str) -> None:
    folder = here / "other" / "kneepoint"
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    environment = {**os.environ, "KNEE_PYTHON": sys.executable, "PYTHONPATH": str(here / "other")}
    done = subprocess.run(
        [program(), *WORDS, "--on", "ray", "--json"], cwd=here, env=environment, capture_output=True, text=True, check=False
    )
    told: dict[str, Any] = json.loads(done.stderr.splitlines()[-1])
    assert done.returncode == told["status"] == 1
    assert message in told["message"] and "make wheel" in told["remedy"] and "KNEE_PYTHON" in told["remedy"], told
    assert [path.name for path in Path("out").iterdir()] == ["runs"], "no directory of a report"


def test_an_option_is_named_as_python_writes_it() -> None:
    with pytest.raises(knee.UsageError, match="`s3://bucket/runs` is not a directory") as caught:
        knee.compare("reno", **SMALL, store="s3://bucket/runs")
    assert 'store="out/runs"' in str(caught.value) and 'on="ray"' in str(caught.value)
    assert "--" not in str(caught.value)


def test_what_cannot_be_swept_is_refused_before_ray_is_asked(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(knee.UsageError, match='`on="ray"`: .*packets.*\n.*leave out `pcap`'):
        knee.compare("reno", **SMALL, on="ray", pcap="r1-r2", out="report")
    assert not Path("report").exists()
    with pytest.raises(knee.UsageError, match="10001"):
        knee.compare("reno", **SMALL, on="slurm")
    assert not Path("out").exists()
    with pytest.raises(knee.UsageError, match="expected one of compare, coexist, run, reproduce"):
        knee.sweep("markov")
    with pytest.raises(knee.UsageError, match="--on"):
        knee.markov(on="ray")
    with pytest.raises(knee.UsageError, match="pip install"):
        knee.compare("reno", **SMALL, on="ray")
    assert kneepoint._sweep._address("ray://head") == "ray://head:10001"
    assert kneepoint._sweep._address("ray://head:7") == "ray://head:7" and kneepoint._sweep._address("ray") is None


def test_a_shard_that_leaves_runs_to_others_says_so(here: Path) -> None:
    study: dict[str, Any] = {**SMALL, "seeds": 4}
    with pytest.raises(knee.RunError, match="2 of 4 runs are kept; 2 are left to the other shards"):
        knee.compare("reno", **study, shard="1/2", out="report")
    assert not Path("report").exists()
    assert len(knee.compare("reno", **study, shard="2/2").rows) == 4
