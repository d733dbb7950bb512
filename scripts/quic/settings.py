# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The settings of docs/linux.md between hosts of noq and of quinn, compared with the simulator's TCP and the kernel's recorded figures:

    settings.py KNEE [--page FILE] [--repetitions N] [--at-once N] [--only WORD] [--era ERA]

For each setting a stack has the laboratory's controllers, in the version of Linux where they have several, as the other hosts of the comparison, then its own. Use is the share of the
link after the first 5 s of 20, the queue is in packets. With --page the table goes into FILE.
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
OWN = {
    "noq": {"reno": "noq:reno", "cubic": "noq:cubic", "bbr": "noq:bbr3"},
    "quinn": {"reno": "quinn:reno", "cubic": "quinn:cubic", "bbr": "quinn:bbr"},
}
# Controllers with a version of Linux.
VERSIONS = ("cubic", "bbr")
FIGURES = ("utilization", "queue_mean_packets")
LIMIT = 0.1


def recorded():
    """The kernel's means, by setting in the order of their recording."""
    runs = {}
    for line in (ROOT / "validation/linux/results.jsonl").read_text().splitlines():
        run = json.loads(line)
        if not run["spoiled"]:
            runs.setdefault(run["setting"], []).append((run["utilization"], run["queue"]))
    return {name: [sum(one) / len(one) for one in zip(*all_)] for name, all_ in runs.items()}


def scenario(name, era):
    """The scenario of `2 cubic + 2 bbr, 20 Mbit/s, 40 ms, 1 BDP`: transfers start a fifth of a second after one another, controllers by turns."""
    mix, rate, rtt, buffer = name.split(", ")
    parts = [part.split() for part in mix.split(" + ")]
    packets = round(float(rate.split()[0]) * 1e6 / 12_000 * float(rtt.split()[0]) / 1000 * float(buffer.split()[0]))
    text = 'name = "setting"\nqueue = "droptail"\n[run]\nduration = "20s"\nmeasure = "5s..20s"\n[topology]\nkind = "dumbbell"\naccess = "minimal"\n'
    text += f'rate = "{rate.split()[0]}mbit"\nrtt = "{rtt.split()[0]}ms"\nbuffer = "{packets}pkt"\n[tcp]\npreset = "linux"\njitter = "50us"\n'
    turns = [(place, cc) for count, cc in parts for place in range(int(count))]
    for place, (_, cc) in enumerate(sorted(turns, key=lambda turn: turn[0])):
        version = f'{{ kind = "{cc}", era = "{era}" }}' if cc in VERSIONS else f'"{cc}"'
        text += f'[[flows]]\nname = "{cc}{place}"\ncc = {version}\ncount = 1\nstart = "{place * 0.2:.1f}s"\n'
    return text, sorted({cc for _, cc in parts})


def table(name, command, file):
    """The rows of a program's table."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{name}: {done.stderr}")
    with open(file) as lines:
        return list(csv.DictReader(lines))


def run(knee, name, stack, own, asked):
    """Use and queue between hosts of a stack, or of the simulator without one."""
    text, controllers = scenario(name, asked.era if stack else "auto")
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "setting.toml"
        file.write_text(text)
        if not stack:
            # `knee live` would leave out the hosts' jitter, without which flows are in step.
            command = [knee, "run", file, "--seeds", str(asked.repetitions), "--out", f"{folder}/out"]
            [row] = table(name, command, f"{folder}/out/summary.csv")
            return [float(row[figure]) for figure in FIGURES]
        command = [knee, "live", file, "--on", stack, "--repetitions", str(asked.repetitions), "--out", f"{folder}/out"]
        if own:
            command += ["--cc-map", ",".join(f"{cc}={OWN[stack][cc]}" for cc in controllers)]
        rows = table(name, command, f"{folder}/out/live.csv")
        measured = {row["metric"]: float(row["measured"]) for row in rows if row["of"] == "r1-r2"}
        return [measured[figure] for figure in FIGURES]


def near(one, other):
    """Whether use and queue are within a tenth, or within a packet and a half."""
    (use, queue), (use2, queue2) = one, other
    return abs(use - use2) <= LIMIT * use2 and abs(queue - queue2) <= max(LIMIT * queue2, 1.5)


def cell(pair):
    use, queue = pair
    return f"{100 * use:.1f} / {queue:.1f}"


def marked(one, other):
    return cell(one) if near(one, other) else f"**{cell(one)}**"


def heading(stack, own):
    if not stack:
        return "TCP in the simulator"
    return f"{stack} with its own" if own else f"{stack} with ours"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("knee")
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--only", default="", help="settings with this in their names")
    parser.add_argument("--era", default="linux", choices=("linux", "auto"), help="the version of controllers in stacks")
    asked = parser.parse_args()
    kernel = {name: figures for name, figures in recorded().items() if asked.only in name}
    columns = [(None, False)] + [(stack, own) for stack in OWN for own in (False, True)]

    def all_of(name):
        figures = [run(asked.knee, name, *column, asked) for column in columns]
        print(name, *map(cell, figures), sep=" | ", file=sys.stderr, flush=True)
        return figures

    with concurrent.futures.ThreadPoolExecutor(asked.at_once) as pool:
        found = dict(zip(kernel, pool.map(all_of, kernel)))
    text = (
        f"{len(found)} settings, {asked.repetitions} seeds each; use in percent / queue in packets; within 10 % in both, or a packet and a half of queue, are:\n\n"
        "| | of TCP in the simulator | of the kernel |\n|---|--:|--:|\n"
    )
    for place, (stack, own) in enumerate(columns):
        of_kernel = sum(near(figures[place], kernel[name]) for name, figures in found.items())
        of_tcp = sum(near(figures[place], figures[0]) for figures in found.values()) if stack else ""
        text += f"| {heading(stack, own)} | {of_tcp} | {of_kernel} |\n"
    text += "\n**Bold**: beyond it, ours of TCP, a stack's own of ours in it.\n\n"
    text += f"| setting | kernel | {' | '.join(heading(*column) for column in columns)} |\n|---|{'--:|' * (len(columns) + 1)}\n"
    for name, (tcp, *rest) in found.items():
        cells = [cell(kernel[name]), cell(tcp)]
        for ours, theirs in zip(rest[::2], rest[1::2]):
            cells += [marked(ours, tcp), marked(theirs, ours)]
        text += f"| {name} | {' | '.join(cells)} |\n"
    print(text)
    if asked.page:
        page = asked.page.read_text()
        before, rest = page.split(MARKS[0])
        asked.page.write_text(before + MARKS[0] + text + MARKS[1] + rest.split(MARKS[1])[1])


if __name__ == "__main__":
    main()
