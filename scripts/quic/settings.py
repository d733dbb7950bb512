# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The settings of docs/linux.md between hosts of noq, compared with the simulator's TCP and the kernel's recorded figures:

    settings.py KNEE [--page FILE] [--repetitions N] [--at-once N]

For each setting noq has the laboratory's controllers, then its own. Use is the share of the link after the first 5 s of 20, the queue is in packets. With --page the table goes
into FILE.
"""

import argparse
import concurrent.futures
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MARKS = ("<!-- settings -->\n", "<!-- end of settings -->")
OWN = {"reno": "noq:reno", "cubic": "noq:cubic", "bbr": "noq:bbr3"}
LIMIT = 0.1


def recorded():
    """The kernel's means, by setting in the order of their recording."""
    runs = {}
    for line in (ROOT / "validation/linux/results.jsonl").read_text().splitlines():
        run = json.loads(line)
        if not run["spoiled"]:
            runs.setdefault(run["setting"], []).append((run["utilization"], run["queue"]))
    return {name: [sum(one) / len(one) for one in zip(*all_)] for name, all_ in runs.items()}


def scenario(name):
    """The scenario of `2 cubic + 2 bbr, 20 Mbit/s, 40 ms, 1 BDP`: transfers start a fifth of a second after one another, controllers by turns."""
    mix, rate, rtt, buffer = name.split(", ")
    parts = [part.split() for part in mix.split(" + ")]
    packets = round(float(rate.split()[0]) * 1e6 / 12_000 * float(rtt.split()[0]) / 1000 * float(buffer.split()[0]))
    text = 'name = "setting"\nqueue = "droptail"\n[run]\nduration = "20s"\nmeasure = "5s..20s"\n[topology]\nkind = "dumbbell"\naccess = "minimal"\n'
    text += f'rate = "{rate.split()[0]}mbit"\nrtt = "{rtt.split()[0]}ms"\nbuffer = "{packets}pkt"\n[tcp]\npreset = "linux"\njitter = "50us"\n'
    turns = [(place, cc) for count, cc in parts for place in range(int(count))]
    for place, (_, cc) in enumerate(sorted(turns, key=lambda turn: turn[0])):
        text += f'[[flows]]\nname = "{cc}{place}"\ncc = "{cc}"\ncount = 1\nstart = "{place * 0.2:.1f}s"\n'
    return text, sorted({cc for _, cc in parts})


def run(knee, name, own, repetitions):
    """Use and queue of noq and of the simulator."""
    text, controllers = scenario(name)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "setting.toml"
        file.write_text(text)
        command = [knee, "live", file, "--on", "noq", "--repetitions", str(repetitions), "--out", f"{folder}/out"]
        if own:
            command += ["--cc-map", ",".join(f"{cc}={OWN[cc]}" for cc in controllers)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{name}: {done.stderr}")
        with open(f"{folder}/out/live.csv") as lines:
            rows = {row["metric"]: row for row in csv.DictReader(lines) if row["of"] == "r1-r2"}
    figures = [rows["utilization"], rows["queue_mean_packets"]]
    return [[float(row[side]) for row in figures] for side in ("measured", "predicted")]


def near(one, other):
    """Whether use and queue are within a tenth, or within a packet and a half."""
    (use, queue), (use2, queue2) = one, other
    return abs(use - use2) <= LIMIT * use2 and abs(queue - queue2) <= max(LIMIT * queue2, 1.5)


def cell(pair):
    use, queue = pair
    return f"{100 * use:.1f} / {queue:.1f}"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("knee")
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--at-once", type=int, default=2)
    asked = parser.parse_args()
    kernel = recorded()

    def both(name):
        ours, tcp = run(asked.knee, name, False, asked.repetitions)
        theirs, _ = run(asked.knee, name, True, asked.repetitions)
        print(name, ours, tcp, theirs, file=sys.stderr, flush=True)
        return ours, tcp, theirs

    with concurrent.futures.ThreadPoolExecutor(asked.at_once) as pool:
        found = dict(zip(kernel, pool.map(both, kernel)))
    agree = sum(near(ours, tcp) for ours, tcp, _ in found.values())
    to_kernel = sum(near(theirs, kernel[name]) for name, (_, _, theirs) in found.items())
    ours_to_kernel = sum(near(ours, kernel[name]) for name, (ours, _, _) in found.items())
    text = (
        f"{len(found)} settings, {asked.repetitions} seeds each; use in percent / queue in packets. noq with the laboratory's controllers is within 10 % of the simulator's TCP in both (or a "
        f"packet and a half of queue) in **{agree}**, and of the kernel's TCP in {ours_to_kernel}; noq with its own controllers is within that of the kernel in {to_kernel}. **Bold**: beyond it, of "
        "the column to its left.\n\n"
        "| setting | kernel | TCP in the simulator | noq with ours | noq with its own |\n|---|--:|--:|--:|--:|\n"
    )
    for name, (ours, tcp, theirs) in found.items():
        cells = [cell(kernel[name]), cell(tcp), cell(ours) if near(ours, tcp) else f"**{cell(ours)}**"]
        cells.append(cell(theirs) if near(theirs, ours) else f"**{cell(theirs)}**")
        text += f"| {name} | {' | '.join(cells)} |\n"
    print(text)
    if asked.page:
        page = asked.page.read_text()
        before, rest = page.split(MARKS[0])
        asked.page.write_text(before + MARKS[0] + text + MARKS[1] + rest.split(MARKS[1])[1])


if __name__ == "__main__":
    main()
