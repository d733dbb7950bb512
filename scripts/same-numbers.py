#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Shows that two builds give the same numbers, bit for bit.

    scripts/same-numbers.py record target/release/knee before/    everything that must not change, by this build
    scripts/same-numbers.py compare before/ after/                what differs between two recordings

Recorded are the rows of `knee compare` at its defaults, of every scenario in scenarios/, of every experiment under
experiments/ with --quick, and of the recorded validation settings (which `xtask validate --scenarios` prints). A number of
the first recording that the second has under the same labels must be equal as text; a missing number is a difference;
new columns, labels and rows are not. KNEE_XTASK is the xtask to ask; KNEE_SAME=compare,scenarios,experiments,validation
takes a part. Needs Python 3 alone.
"""

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PARTS = os.environ.get("KNEE_SAME", "compare,scenarios,experiments,validation").split(",")
# The cost of a run, not its result.
COSTS = {"cpu_seconds", "events"}


def call(*command):
    print("+", *command, flush=True)
    subprocess.run([str(part) for part in command], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)


def record(knee, out):
    knee, out = Path(knee).resolve(), Path(out).resolve()
    if "compare" in PARTS:
        call(knee, "compare", "--out", out / "compare")
    if "scenarios" in PARTS:
        for file in sorted((ROOT / "scenarios").glob("*.toml")):
            call(knee, "run", file, "--out", out / "scenarios" / file.stem)
    if "experiments" in PARTS:
        files = sorted((ROOT / "experiments").glob("*/*.toml"))
        # A publication's file has the readings that its experiments share; live ones are for the kernel.
        files = [file for file in files if file.name != "publication.toml" and file.parent.name != "live"]
        call(knee, "reproduce", *files, "--quick", "--alternatives", "false", "--out", out / "experiments")
    if "validation" in PARTS:
        settings = out / "settings"
        settings.mkdir(parents=True, exist_ok=True)
        xtask = os.environ.get("KNEE_XTASK", "cargo run --quiet --locked -p xtask --").split()
        arguments = ["validate", "--scenarios", "--seeds", "1"]
        printed = subprocess.run([*xtask, *arguments], check=True, cwd=ROOT, capture_output=True, text=True).stdout
        for place, text in enumerate(re.split(r'^(?=name = "[^"]*"\n\n\[run\])', printed, flags=re.M)[1:]):
            file = settings / f"{place:03}.toml"
            file.write_text(text)
            call(knee, "run", file, "--sample", "0s", "--out", out / "validation" / file.stem)


def lines(file):
    """Each number of a table, by its name."""
    with open(file, newline="") as text:
        rows = list(csv.DictReader(text))
    if rows and "metric" in rows[0]:
        for row in rows:
            labels = {key: value for key, value in row.items() if key not in ("mean", "half_width", "seeds") and value}
            for key in ("mean", "half_width"):
                yield (json.dumps(labels, sort_keys=True), key), row[key]
        return
    for row in rows:
        name = json.dumps({key: row[key] for key in ("scheme", "seed") if key in row}, sort_keys=True)
        for key, value in row.items():
            if key not in COSTS and key not in ("scheme", "seed"):
                yield (name, key), value


def compare(before, after):
    before, after = Path(before), Path(after)
    tables = [file for file in sorted(before.rglob("*.csv")) if file.name == "runs.csv" or file.parent.name == "data"]
    same = different = 0
    for table in tables:
        place = table.relative_to(before)
        if not (after / place).exists():
            print(f"{place}: gone")
            different += 1
            continue
        now = dict(lines(after / place))
        shown = 0
        for name, value in lines(table):
            if now.get(name) == value:
                same += 1
                continue
            different += 1
            shown += 1
            if shown <= 5:
                print(f"{place}: {name[1]} of {name[0]}: {value} is now {now.get(name, 'gone')}")
        if shown > 5:
            print(f"{place}: and {shown - 5} more")
    print(f"{len(tables)} tables, {same} numbers equal, {different} different")
    return different == 0 and same > 0


def main():
    match sys.argv[1:]:
        case ["record", knee, out]:
            record(knee, out)
        case ["compare", before, after]:
            sys.exit(0 if compare(before, after) else 1)
        case _:
            sys.exit(__doc__)


main()
