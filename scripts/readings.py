#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Readings of adaptive PERT judged over both publications that describe it, each line's for all experiments together:
puts the table into docs/adaptive-pert.md, between the lines that name it.

    KNEE=target/release/knee scripts/readings.py [--seeds N] [--jobs N] [--thesis fig4,fig5,fig8]

Runs are those of `--quick`. `--keep FILE` keeps verdicts, so that a run goes on where another stopped. Needs Python 3.11 alone.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KNEE = (ROOT / os.environ.get("KNEE", "target/release/knee")).resolve()
PAGE = ROOT / "docs" / "adaptive-pert.md"
PUBLICATIONS = ["adaptive-pert", "video"]
VERDICTS = ["holds", "fails", "untestable"]

# Readings by the ids and names of publication.toml, as a short name for the table.
FLOOR = ("small windows", "the threshold is the window", "S ≥ 1")
GROWS = ("small windows", "the responding acknowledgement grows the window", "grows")
DOUBLED = ("crossing", "it belongs to slow start, as in ns-2", "crossing")
AVERAGE = ("greatest delay", "of the average", "average")
ORDER = ("duplicates", "that of the last packet in order, as ns-2's sink does", "echo")
NO_SAMPLE = ("duplicates", "that of the last packet in order, and it is no sample (RFC 7323)", "RFC 7323")
WINDOW = ("window", "20 packets, as ns-2 has it", "window 20")
DELAYED = ("acknowledgements", "every second packet, or after 100 ms", "delayed")
COMBINATIONS = [
    [], [ORDER], [FLOOR], [GROWS], [FLOOR, GROWS], [AVERAGE], [NO_SAMPLE], [DELAYED], [WINDOW], [DOUBLED], [ORDER, WINDOW], [FLOOR, GROWS, WINDOW],
]


def taken(text, combination):
    """The publication's text with these alternatives taken."""
    readings = tomllib.loads(text)["reading"]
    for reading in readings:
        chosen = [name for id, name, _ in combination if id == reading["id"]]
        settings = {}
        for other in reading.get("alternative", []):
            if other["name"] in chosen:
                settings.update(other["set"])
        if settings:
            lines = "".join(f'"{key}" = {json.dumps(value)}\n' for key, value in settings.items())
            # Before the first alternative of the reading.
            place = text.index("[[reading.alternative]]", text.index(f'id = "{reading["id"]}"'))
            text = f"{text[:place]}[reading.set]\n{lines}\n{text[place:]}"
    return text


def verdicts(publication, combination, options):
    """Each claim's verdict."""
    with tempfile.TemporaryDirectory() as folder:
        own = Path(folder) / publication
        shutil.copytree(ROOT / "experiments" / publication, own)
        common = own / "publication.toml"
        common.write_text(taken(common.read_text(), combination))
        wanted = options.thesis.split(",") if options.thesis and publication == PUBLICATIONS[0] else None
        files = sorted(path for path in own.glob("*.toml") if path != common and (wanted is None or path.stem in wanted))
        more = ["--seeds", str(options.seeds)] + (["--jobs", str(options.jobs)] if options.jobs else [])
        command = [KNEE, "reproduce", *files, "--quick", "--json", "--alternatives", "false", "--out", Path(folder) / "out", *more]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    claims = json.loads(done.stdout)["claims"]
    return {f'{claim["experiment"]} {claim["claim"]}': claim["verdict"] for claim in claims}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--thesis", help="these experiments of the thesis alone")
    parser.add_argument("--keep", type=Path, help="a file with the verdicts so far, and to be")
    parser.add_argument("--kept", action="store_true", help="run nothing more: the table of kept results")
    options = parser.parse_args()
    kept = json.loads(options.keep.read_text()) if options.keep and options.keep.is_file() else {}
    for combination in COMBINATIONS:
        name = " + ".join(short for _, _, short in combination) or "as taken"
        for publication in PUBLICATIONS:
            key = f"{publication}: {name}"
            if key not in kept and not options.kept:
                kept[key] = verdicts(publication, combination, options)
                if options.keep:
                    options.keep.write_text(json.dumps(kept, indent=1))
    names = [" + ".join(short for _, _, short in combination) or "as taken" for combination in COMBINATIONS]
    lines = [line(name, kept) for name in names if all(f"{publication}: {name}" in kept for publication in PUBLICATIONS)]
    lines.sort(key=lambda entry: -entry[0])
    head = "| readings | " + " | ".join(f"{name}: hold, fail, open" for name in PUBLICATIONS) + " | hold of both | gained | lost |\n"
    table = head + "|---|---:|---:|---:|---|---|\n" + "".join(text for _, text in lines)
    part = f", of the thesis {options.thesis} alone" if options.thesis else ""
    table = f"Runs of `--quick`, seeds: {options.seeds}{part}.\n\n" + table
    page = PAGE.read_text()
    begin, end = "<!-- readings -->\n", "<!-- end of readings -->"
    PAGE.write_text(re.sub(re.escape(begin) + ".*?" + re.escape(end), lambda _: begin + "\n" + table + "\n" + end, page, flags=re.S))


def line(name, kept):
    """How many claims hold in all, and the line of the table."""
    cells, holding, gained, lost = [], 0, [], []
    for publication in PUBLICATIONS:
        base, own = kept[f"{publication}: as taken"], kept[f"{publication}: {name}"]
        counts = [sum(verdict == wanted for verdict in own.values()) for wanted in VERDICTS]
        cells.append(", ".join(map(str, counts)))
        holding += counts[0]
        gained += [claim for claim in own if own[claim] == "holds" and base[claim] != "holds"]
        lost += [claim for claim in own if own[claim] != "holds" and base[claim] == "holds"]
    short = lambda claims: ", ".join(claim.replace("adaptive-pert.", "").replace("adaptive-pert-", "") for claim in claims) or "–"
    text = f"| {name} | " + " | ".join(cells) + f" | {holding} | {short(gained)} | {short(lost)} |\n"
    return holding, text


if __name__ == "__main__":
    main()
