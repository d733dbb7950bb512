#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Estimates of memory against measurements: runs the settings below and puts their table into docs/memory.md, between the lines that name it.

    KNEE=target/release/knee scripts/memory.py

Measured is the greatest resident size of the process, less that of the same program with an idle link. Needs Linux and Python 3 alone.
"""

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KNEE = (ROOT / os.environ.get("KNEE", "target/release/knee")).resolve()
PAGE = ROOT / "docs" / "memory.md"
MEGABYTE = 1e6


def flows(count, cc, more=""):
    return f'[[flows]]\ncount = {count}\ncc = "{cc}"\n{more}'


def case(what, setting, seconds, path, traffic, sample="0s", queue="droptail"):
    """A run: its name, its setting in words, its scenario and its interval of samples."""
    text = f'queue = "{queue}"\n[run]\nduration = "{seconds}s"\n[topology]\nkind = "dumbbell"\n{path}\n{traffic}'
    return what, setting, text, sample


def path(rate, rtt, more=""):
    return f'rate = "{rate}"\nrtt = "{rtt}"\n{more}'


LINUX = '[tcp]\npreset = "linux"\n'
MINIMAL = 'access = "minimal"\n'
DEEP = path("1gbit", "50ms", 'buffer = "1000000pkt"\n')
GROUPS = "".join(flows(4, "bbr", f'name = "g{number}"\n') for number in range(30))
CASES = [
    case("many Reno flows with hosts of their own", "50 000 flows, 1 Gbit/s, 50 ms, 4 s", 4, path("1gbit", "50ms"), flows(50_000, "reno")),
    case("many BBR flows, `access = \"minimal\"`", "90 000 flows, 1 Gbit/s, 50 ms, 4 s", 4, path("1gbit", "50ms", MINIMAL), flows(90_000, "bbr")),
    case("a deep drop-tail buffer", "20 SACK, 1 Gbit/s, 50 ms, 10⁶ packets, 60 s", 60, DEEP, flows(20, "sack")),
    case("a deep buffer under DRR", "the same", 60, DEEP, flows(20, "sack"), queue="drr"),
    case("a round trip above the first timeout", "20 SACK, 1 Gbit/s, 2 s, 60 s", 60, path("1gbit", "2s"), flows(20, "sack")),
    case("more of them", "100 SACK, 10 Gbit/s, 2 s, 60 s", 60, path("10gbit", "2s"), flows(100, "sack")),
    case("Linux hosts, CUBIC", "10 flows, 4 Gbit/s, 500 ms, 30 s", 30, path("4gbit", "500ms"), LINUX + flows(10, "cubic")),
    case("Linux hosts, BBR", "10 flows, 2 Gbit/s, 500 ms, 30 s", 30, path("2gbit", "500ms"), LINUX + flows(10, "bbr")),
    case("datagrams above the rate", "400 Mbit/s on 100 Mbit/s, 200 ms, 10⁵ packets, 30 s", 30, path("100mbit", "200ms", 'buffer = "100000pkt"\n'), '[[cbr]]\nrate = "400mbit"\n'),
    case("datagrams against transfers", "the same and 20 SACK", 30, path("100mbit", "200ms", 'buffer = "100000pkt"\n'), '[[cbr]]\nrate = "400mbit"\n' + flows(20, "sack")),
    case("samples", "30 groups of 4 BBR flows, 100 Mbit/s, 60 ms, 100 s, `--sample 1ms`", 100, path("100mbit", "60ms"), GROUPS, "1ms"),
    case("fewer samples", "20 SACK, 150 Mbit/s, 60 ms, 100 s, `--sample 1ms`", 100, path("150mbit", "60ms"), flows(20, "sack"), "1ms"),
    case("web pages", "20 000 sessions, 1 Gbit/s, 100 ms, 60 s", 60, path("1gbit", "100ms"), '[[web]]\nsessions = 20000\ncc = "sack"\n'),
    case("flows that arrive", "load 0.9 of 1 Gbit/s, 20 kB, 60 s", 60, path("1gbit", "50ms"), '[[arrivals]]\nload = 0.9\nsize = "20kb"\ncc = "sack"\n'),
    case("a hundred flows", "SACK, 150 Mbit/s, 60 ms, 60 s", 60, path("150mbit", "60ms"), flows(100, "sack")),
]
IDLE = '[run]\nduration = "1s"\n[topology]\nkind = "dumbbell"\nrate = "1mbit"\nrtt = "20ms"\n[[cbr]]\nrate = "1kbit"\n'


def call(*words):
    return subprocess.run([KNEE, *words], check=True, capture_output=True, text=True).stdout


def measured(folder, text, sample):
    """The estimate and the greatest resident size, in bytes."""
    file = folder / "case.toml"
    file.write_text(text)
    words = ["run", file, "--seeds", "1", "--sample", sample]
    estimate = json.loads(call(*words, "--dry-run", "--json"))["memory_bytes"]
    child = subprocess.Popen([KNEE, *words, "--fresh", "--store", folder / "runs", "--out", folder / "out"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        raise SystemExit(f"knee ended with status {status}:\n{text}")
    return estimate, usage.ru_maxrss * 1024


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _, idle = measured(folder, IDLE, "0s")
        version = call("--version").splitlines()[0].split(maxsplit=1)[1]
        lines = [
            f"One run each by the release build of version {version}, without samples unless they are named. Measured is the greatest resident size",
            f"of the process less the {idle / MEGABYTE:.0f} MB that it has for an idle link.",
            "",
            "| run | setting | estimate, MB | measured, MB | ratio |",
            "|---|---|---:|---:|---:|",
        ]
        for what, setting, text, sample in CASES:
            estimate, size = measured(folder, text, sample)
            size = max(size - idle, 1)
            lines.append(f"| {what} | {setting} | {estimate / MEGABYTE:.0f} | {size / MEGABYTE:.0f} | {estimate / size:.2f} |")
            print(lines[-1], flush=True)
    begin, end = "<!-- table -->", "<!-- end -->"
    page = re.sub(f"{begin}.*?{end}", "\n".join([begin, *lines, end]), PAGE.read_text(), flags=re.S)
    PAGE.write_text(page)


main()
