#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The table of docs/media.md, of a claims.json that `knee reproduce experiments/media/*.toml --seeds 5 --out DIR` wrote: media.py DIR."""

import json
import sys


def number(value):
    """Three digits, with a unit of rates."""
    return f"{value / 1e6:.3g} M" if value >= 1e5 else f"{value:.3g}"


claims = json.load(open(f"{sys.argv[1]}/claims.json"))["claims"]
print("| case | expectation | GCC | SCReAMv2 |")
print("|---|---|---|---|")
for claim in claims:
    section = claim["experiment"].split("-")[1]
    cells = {}
    for point in claim["points"]:
        verdict = "holds" if point["holds"] else "**fails**"
        sign = next(sign for sign in ("<=", ">=", "<", ">") if sign in point["check"])
        sign = {"<=": "≤", ">=": "≥"}.get(sign, sign)
        if not point["holds"]:
            sign = {"≤": "not ≤", "≥": "not ≥"}[sign]
        cells[point["at"]["control"]] = f"{verdict}: {number(point['left'])} {sign} {number(point['right'])}"
    print(f"| §{section[0]}.{section[1:]} {claim['claim']} | {claim['text']} | {cells['gcc']} | {cells['scream']} |")
