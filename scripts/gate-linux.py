# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Linux's controllers through the gate, compared with the simulator's of the same name:

    gate-linux.py KNEE [--page FILE] [--out DIR] [--only NAME,…]

Outcomes are kept in DIR, one file of JSON for each suite and subject, and not made again. With --page the table goes into FILE.
"""

import argparse
import json
import pathlib
import subprocess

MARKS = ("<!-- linux -->\n", "<!-- end of linux -->")
SUITES = ("rfc9743", "coexist")
# Linux's name of a controller, and the laboratory's where that differs.
NAMES = {name: name for name in "reno cubic bbr bic cdg htcp hybla illinois lp nv scalable vegas veno westwood yeah pert pert-adaptive pert-pi".split()}
NAMES["highspeed"] = "hstcp"


def outcome(knee, subject, suite, folder):
    """The cases of a suite."""
    kept = folder / f"{subject}-{suite}.json"
    if not kept.exists():
        done = subprocess.run([knee, "gate", "run", subject, "--quick", "--suite", suite, "--json"], capture_output=True, text=True, cwd=folder)
        # 1: a case failed, which is an outcome.
        if done.returncode > 1:
            raise SystemExit(f"{subject}, {suite}: {done.stderr}")
        kept.write_text(done.stdout)
    return json.loads(kept.read_text())["cases"]


def pairs(knee, name, folder):
    """The claims that both can express: the name of each, and the verdicts of Linux and of the simulator."""
    for suite in SUITES:
        ours, theirs = (outcome(knee, subject, suite, folder) for subject in (NAMES[name], f"linux-{name}"))
        for one, other in zip(ours, theirs):
            for here, there in zip(one["claims"], other["claims"]):
                if "not applicable" not in (here["status"], there["status"]):
                    yield f"{one['case']} {here['claim']}", there, here


def table(knee, names, folder):
    """The lines of the table."""
    yield "| controller | claims that both can express | hold in Linux | hold in the simulator | same verdict | others: Linux / simulator |\n|---|--:|--:|--:|--:|---|\n"
    sums = [0, 0]
    for name in names:
        claims = list(pairs(knee, name, folder))
        same = [one for one in claims if one[1]["verdict"] == one[2]["verdict"]]
        others = [f"{claim}: {there['why'].split(',')[0]} / {here['why'].split(',')[0]}" for claim, there, here in claims if there["verdict"] != here["verdict"]]
        hold = [sum(one[side]["verdict"] == "holds" for one in claims) for side in (1, 2)]
        sums = [sums[0] + len(claims), sums[1] + len(same)]
        yield f"| `linux-{name}` | {len(claims)} | {hold[0]} | {hold[1]} | {len(same)} | {'; '.join(others)} |\n"
    yield f"\n{sums[1]} of {sums[0]} verdicts are the same.\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("knee", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/gate-linux"))
    parser.add_argument("--only", type=lambda names: names.split(","), default=list(NAMES))
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    text = "".join(table(asked.knee, asked.only, asked.out))
    print(text, end="")
    if asked.page:
        page = asked.page.read_text()
        before, rest = page.split(MARKS[0])
        after = rest.split(MARKS[1])[1]
        asked.page.write_text(before + MARKS[0] + text + MARKS[1] + after)


if __name__ == "__main__":
    main()
