#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Our experiment with a level for every row of results.csv, its figures, and the section of docs/validation.md that has both.

    python3 rows.py > rows.toml
    python3 rows.py --ours DATA.csv > ours.csv
    python3 rows.py --page

Options of the agent in ns-2 (apert.cc) become settings of ours; `WITHOUT` lists options that have none.
"""

import csv
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent

# The defaults of the agent: the "literal" reading.
DEFAULTS = {"maxq_src": "0", "step": "1", "hs_step": "0", "safe_factor": "0", "compete_frac": ".5", "loss_beta": "1", "after_loss": "1",
            "increase_on_response": "0", "min_cwnd": "1", "ss_floor": "2", "carry": "0", "limited": "0", "period": "5", "ramp": "1",
            "third_frac": ".65", "pprime_src": "0", "full_compete": "0", "maxq_init": ".02", "loss_floor": "1"}
# The agents of these batches took samples of duplicate acknowledgements by default.
HEARD = ["r0", "ex1"]
HEAD = """# Our figures for the rows of results.csv, which ns-2 made: each level is a row. `rows.py` prints this file.

[experiment]
id = "streams-beside-ns2"
title = "Live streams compared with ns-2's"
source = "Kneepoint; the rows of results.csv"

[run]
duration = "300s"
measure = "30s..300s"
sample = "never"
seeds = 3

[topology]
kind = "dumbbell"
rate = "25mbit"
rtt = "100ms"
delay = "30ms"
access_rate = "10mbit"
buffer = "149pkt" # ns-2's queue of 150 holds one less

[tcp]
window_validation = false
crossing = "doubled"
max_window = 20
initial_window = 2

[[video]]
name = "video"
count = 24
cc = "reno"
rate = "300kbit"
size = "1kb"
start = "0s..10s"

[[flows]]
name = "ftp"
count = 24
cc = "reno"
start = "0s..10s"

[[flows]]
name = "back"
direction = "reverse"
count = 24
cc = "reno"
start = "0s..10s"

[[web]]
name = "http"
sessions = 300
cc = "reno"
model = "readers"
gap = "4960ms"
multiple = "1kb"
greatest = "2mb"
start = "0s..6s"

[sweep]
row = [
"""
TAIL = """]

[figure]
x = "row"
panels = ["goodput_bps[group=ftp] / flows[group=ftp] / 300e3", "goodput_bps[group=video] / flows[group=video]", "drop_ratio[group=video]", "streams_on_time_share[group=video, startup=5s]", "streams_on_time_share[group=video, startup=11s]"]
tables = ["goodput_bps[group=ftp] / flows[group=ftp] / 300e3", "goodput_bps[group=video] / flows[group=video]", "drop_ratio[group=video]", "streams_on_time_share[group=video, startup=5s]", "streams_on_time_share[group=video, startup=11s]"]
"""


def agent(row):
    """The agent's options; of one that is given twice, the last counts."""
    words = row["options"].split()
    heard = {"sample_dup": "1" if row["batch"] in HEARD and not row["tag"].endswith("nodup") else "0"}
    return DEFAULTS | heard | dict(zip(words[::2], words[1::2]))


def controller(row, set):
    if row["cc"] != "pert":
        return {"reno": "reno", "opert": "pert", "cubic": "cubic:era=2006"}[row["cc"]]
    step, high = float(set["step"]), float(set["hs_step"]) or float(set["step"])
    if set["ramp"] == "0":
        step = high = 32
    compete = float(set["compete_frac"])
    full = max(float(set["full_compete"]) or float(set["third_frac"]), compete)
    flag = lambda value: "true" if value != "0" else "false"
    settings = {"greatest_of": "samples" if set["maxq_src"] == "1" else "average", "compete_step": f"{step:g}", "high_speed_step": f"{high:g}",
                "safe_factor": f'{float(set["safe_factor"]):g}', "compete": f"{compete:g}", "full_compete": f"{full:g}", "loss_beta": flag(set["loss_beta"]),
                "loss_counts": flag(set["after_loss"]), "grow_on_response": flag(set["increase_on_response"]), "min_window": set["min_cwnd"],
                "min_threshold": set["ss_floor"], "step_rtts": set["period"]}
    return "pert-adaptive:" + ",".join(f"{name}={value}" for name, value in settings.items())


def level(number, row):
    """A level: its name is the row's number, from one, and its tag."""
    set = agent(row)
    is_pert = row["cc"] in ["pert", "opert"]
    levels = {"name": f'{number} {row["tag"]}', "run.duration": f'{row["dur"]}s', "run.measure": f'30s..{row["dur"]}s', "video.video.cc": controller(row, set)}
    if row["win"] != "20":
        levels["tcp.max_window"] = int(row["win"])
    if is_pert:
        levels["video.video.tcp.echo"] = "in-order" if set["sample_dup"] == "1" else "rfc7323"
    if set["carry"] == "1":
        levels["video.video.tcp.crossing"] = "carried"
    if set["limited"] == "1" or "control_increase_" in set:
        levels["video.video.tcp.window_validation"] = True
    if "delack" in row["tag"]:
        levels["tcp.delayed_ack"] = True
    if "norev" in row["tag"] or row["tag"].startswith("three"):
        levels["flows.back.count"] = 0
    if row["tag"].startswith("three"):
        # Noise of a packet's time (`overhead_`), and a web that offers 2 Mbit/s.
        levels |= {"tcp.jitter": "333us", "web.http.gap": "13600ms"}
    if row["pkt"] == "200/200":
        levels |= {"video.video.size": "200b", "video.video.tcp.payload": "200b", "flows.*.tcp.payload": "200b"}
    if row["cc"] == "cubic":
        levels["video.video.tcp.header"] = "50b"
    quoted = lambda value: str(value).lower() if isinstance(value, (bool, int)) else f'"{value}"'
    return "    { " + ", ".join(f'{key if key == "name" else chr(34) + key + chr(34)} = {quoted(value)}' for key, value in levels.items()) + " },\n"


def ours(path):
    """Means and half-widths of the figures that ns-2's rows have, by row."""
    cells, names = {}, []
    with open(path) as file:
        for line in csv.DictReader(file):
            key = (line["metric"], line["group"], line.get("startup", ""))
            cells.setdefault(line["row"], {})[key] = (float(line["mean"]), float(line["half_width"] or "nan"))
    print("row,room,room_half,rate,rate_half,losses,losses_half,at_5s,at_5s_half,at_11s,at_11s_half")
    for row, cell in cells.items():
        numbers = []
        for key, factor in [(("goodput_bps", "ftp", ""), 1 / cell["flows", "ftp", ""][0] / 300e3), (("goodput_bps", "video", ""), 1 / cell["flows", "video", ""][0] / 1e3),
                            (("drop_ratio", "video", ""), 1), (("streams_on_time_share", "video", "5s"), 1), (("streams_on_time_share", "video", "11s"), 1)]:
            numbers += [f"{factor * number:.4f}" for number in cell[key]]
        print(",".join([row, *numbers]))


HEADING = "## P. Live streams over adaptive PERT, compared with an implementation for ns-2 that was written from the papers alone"
METHOD = """
The network of the video paper: 25 Mbit/s, 100 ms, 150 packets, 24 streams of 300 kbit/s, as many FTP flows each way, 300 readers of the web.
[`validation/ns2-adaptive`](../validation/ns2-adaptive) has ns-2's rows (`results.csv`, one seed each), its agent and scripts, our experiment (`rows.toml`) and our
figures (`ours.csv`, three seeds); `make validate-streams` renews ours. Runs take 70 to 300 s, as ns-2's did. Options of the agent are settings of ours.

Each cell: ours ± half of its 95 % interval over seeds / ns-2's; bold with the number of its reason where ns-2's figure is neither in that interval nor near it (5 % of T/µ and of the streams' rate,
10 % of the losses, 0.15 of the successes).
"""
# A figure: its title, its key in our file, its column in ns-2's, and the limits of agreement: relative and absolute.
FIGURES = [
    ("T/µ", "room", "Tmu", 0.05, 0),
    ("kbit/s of a stream", "rate", "cbr", 0.05, 0),
    ("losses of streams", "losses", "lossC", 0.1, 0),
    ("succeed at 5 s", "at_5s", "succ_5s", 0, 0.15),
    ("at 11 s", "at_11s", "succ_11s", 0, 0.15),
]


def rows_of(name):
    with open(HERE / name) as file:
        return list(csv.DictReader(file))


def page():
    """Writes the section, which ends the page; whether every difference has a reason."""
    reasons = tomllib.loads((HERE / "explanations.toml").read_text())["because"]
    own = {line["row"]: line for line in rows_of("ours.csv")}
    used, missing, lines = set(), [], []
    for number, row in enumerate(rows_of("results.csv"), 1):
        name, cells = f'{number} {row["tag"]}', []
        for _, key, column, part, distance in FIGURES:
            mean, half, other = float(own[name][key]), float(own[name][key + "_half"]), float(row[column])
            digits = 0 if other >= 100 else 3
            text = f"{mean:.{digits}f} ± {half:.{digits}f} / {other:.{digits}f}"
            if abs(mean - other) > max(half, part * other, distance):
                fits = [place for place, one in enumerate(reasons, 1) if number in one["rows"] and key in one["figures"]]
                used.update(fits[:1])
                missing += [] if fits else [f"{name}: {key} is {text}"]
                text = f'**{text}** ({fits[0] if fits else "unexplained"})'
            cells.append(text)
        lines.append(f'| {name} | {row["seed"]} | {row["cc"]} | ' + " | ".join(cells) + " |\n")
    head = "| row | seed | controller | " + " | ".join(figure[0] for figure in FIGURES) + " |\n|---|---:|---|---:|---:|---:|---:|---:|\n"
    told = "".join(f'{place}. {" ".join(one["text"].split())}\n' for place, one in enumerate(reasons, 1) if place in used)
    file = HERE.parent.parent / "docs" / "validation.md"
    before = file.read_text().split(HEADING)[0].rstrip()
    file.write_text(f"{before}\n\n{HEADING}\n{METHOD}\n{head}{''.join(lines)}\nReasons:\n\n{told}")
    missing += [f"reason {place} explains no difference" for place in range(1, len(reasons) + 1) if place not in used]
    print("\n".join(missing) or "every difference has its reason")
    return not missing


def main():
    if sys.argv[1:2] == ["--page"]:
        sys.exit(0 if page() else 1)
    if sys.argv[1:2] == ["--ours"]:
        ours(sys.argv[2])
        return
    with open(HERE / "results.csv") as file:
        rows = list(csv.DictReader(file))
    print(HEAD + "".join(level(number, row) for number, row in enumerate(rows, 1)) + TAIL, end="")


if __name__ == "__main__":
    main()
