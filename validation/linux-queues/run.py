#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Measures the settings of settings.json on User-Mode Linux in virtual time, into results.jsonl.

run.py LINUX LAB [--spare-by-flow LINUX] [--only TEXT] [--jobs N] [--repeat] [--trace]

LINUX is the kernel, LAB the compiled lab.c; validation/README.md says how to build both, and the second kernel. Runs that are in
results.jsonl are not repeated without --repeat. --trace keeps the directory of a run, with TCP_INFO of each flow every
millisecond in `series`.
"""

import argparse
import concurrent.futures
import json
import os
import random
import shutil
import subprocess
import threading
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
SEEDS = (1, 2, 3)
PACKET = 1500
FRAME = 1514
"""HTB counts the header of Ethernet, the simulator does not; CAKE's own shaper leaves it out."""


def commands(setting):
    """The queue discipline on `bott`, and the handle of its parent."""
    rate, queue = setting["rate_mbit"] * 10**6, setting["tc"]
    if queue.startswith("cake"):
        return [f"tc qdisc add dev bott root {queue} bandwidth {rate}bit overhead 0"], "ffffffff"
    return [
        "tc qdisc add dev bott root handle 1: htb default 1",
        f"tc class add dev bott parent 1: classid 1:1 htb rate {rate * FRAME // PACKET}bit burst 15 cburst 15 quantum {FRAME}",
        f"tc qdisc add dev bott parent 1:1 handle 2: {queue}",
    ], "10001"


def prepare(setting, seed, job, lab, trace):
    lines, parent = commands(setting)
    write = lambda name, text: open(f"{job}/{name}", "w").write(text + "\n")
    write("queue", "\n".join(lines))
    half = setting["rtt_ms"] * 500
    # The packet that is sent does not hold up itself in HTB, only the next one.
    service = round(PACKET * 8 / setting["rate_mbit"])
    write("settings", f"LAB={lab}\nAHEAD={half + service}us\nBACK={half}us")
    duration = setting["duration_s"]
    start = random.Random(f"{setting['name']} {seed}")
    plan = [f"parent {parent}", f"from {duration / 4}", f"to {duration * 3 / 4}", f"every {1 if trace else 20}"]
    plan += [f"series {job}/series"] if trace else []
    plan += [f"flow {setting['cc']} {start.uniform(0, duration / 8):.6f}" for _ in range(setting["flows"])]
    write("plan", "\n".join(plan))


def figures(setting, seed, job, kernel):
    with open(f"{job}/result") as file:
        result = json.load(file)
    seconds = setting["duration_s"] / 2
    rate = setting["rate_mbit"] * 10**6
    # CAKE reports the packets as they came, with the header of Ethernet.
    carried = result["bytes"] * PACKET / FRAME
    acked = [flow["acked"] for flow in result["flows"]]
    squares = sum(one * one for one in acked)
    return {
        "setting": setting["name"],
        "seed": seed,
        "jain": round(sum(acked) ** 2 / (len(acked) * squares), 5) if squares else 0.0,
        "drop_ratio": round(result["drops"] / max(1, result["packets"] + result["drops"]), 6),
        "utilization": round(carried * 8 / seconds / rate, 5),
        "queue_packets": round(result["queue"], 3),
        "delay_ms": round(result["queue_bytes"] * PACKET / FRAME * 8e3 / rate, 3),
        "timeouts": result["timeouts"],
        "mark_ratio": round(sum(flow["marked"] for flow in result["flows"]) / max(1, result["packets"]), 6),
        "packets": result["packets"],
        "drops": result["drops"],
        "retransmissions": sum(flow["retransmitted"] for flow in result["flows"]),
        "goodput_mbit": [round(one * 8e-6 / seconds, 5) for one in acked],
        "kernel": kernel,
        "queue": open(f"{job}/shown").read().strip().splitlines()[-1],
    }


def version(linux):
    return subprocess.run([linux, "--version"], capture_output=True, text=True).stdout.strip()


def run(setting, seed, given):
    identity = f"{setting['name']} {seed}"
    # The instance's name and command line are part of the kernel's entropy: both are also the run's.
    job = f"/dev/shm/knee-{zlib.crc32(identity.encode()):08x}"
    shutil.rmtree(job, ignore_errors=True)
    os.makedirs(job)
    prepare(setting, seed, job, os.path.abspath(given.lab), given.trace)
    linux = given.spare_by_flow if setting["spare_by_flow"] else given.linux
    if linux is None:
        print(f"{identity}: left out for want of --spare-by-flow", flush=True)
        return None
    environment = dict(os.environ, TMPDIR="/dev/shm", UML_SEED=str(seed))
    command = [
        "nice", "-n", "10", linux, "rootfstype=hostfs", "rootflags=/", "rw", f"init={HERE}/init.sh", f"JOB={job}",
        "time-travel=inf-cpu", "time-travel-start=1700000000", "mem=768M", "con=null", "con0=null,fd:1", "quiet",
        f"umid={os.path.basename(job)}",
    ]
    with open(f"{job}/console", "w") as console:
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=console, stderr=console, env=environment, timeout=1800)
    try:
        result = figures(setting, seed, job, version(linux))
    except (OSError, ValueError) as error:
        raise SystemExit(f"{identity}: {error}; see {job}/console")
    if given.trace:
        print(f"kept: {job}", flush=True)
    else:
        shutil.rmtree(job)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("linux")
    parser.add_argument("lab")
    parser.add_argument("--spare-by-flow", metavar="LINUX", help="the kernel for the settings that want CoDel to spare by flow")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--repeat", action="store_true")
    parser.add_argument("--trace", action="store_true")
    parser.add_argument("--seeds", type=int, default=len(SEEDS))
    given = parser.parse_args()
    path = f"{HERE}/results.jsonl"
    kept = [json.loads(line) for line in open(path)] if os.path.exists(path) else []
    known = set() if given.repeat or given.trace else {(one["setting"], one["seed"]) for one in kept}
    settings = json.load(open(f"{HERE}/settings.json"))
    wanted = [(one, seed) for seed in SEEDS[: given.seeds] for one in settings if given.only in one["name"]]
    lock = threading.Lock()

    def measure(pair):
        setting, seed = pair
        if (setting["name"], seed) in known:
            return
        result = run(setting, seed, given)
        if result is None:
            return
        shown = {key: result[key] for key in ("jain", "drop_ratio", "utilization", "delay_ms", "timeouts", "mark_ratio")}
        print(f"{setting['name']}, seed {seed}: {shown}", flush=True)
        if given.trace:
            return
        with lock:
            kept[:] = [one for one in kept if (one["setting"], one["seed"]) != (setting["name"], seed)] + [result]
            order = {one["name"]: place for place, one in enumerate(settings)}
            kept.sort(key=lambda one: (order.get(one["setting"], -1), one["seed"]))
            with open(path + ".new", "w") as file:
                file.writelines(json.dumps(one) + "\n" for one in kept)
            os.replace(path + ".new", path)

    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        list(pool.map(measure, wanted))


if __name__ == "__main__":
    main()
