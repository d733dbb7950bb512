#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Two pages of a study's report: what it found, and everything.

    scripts/page.py out/ratcp/report.md docs/ratcp.md "RATCP, reproduced"

The first page has verdicts, causes, the claims that fail with the reason, and the pictures. `docs/ratcp-in-full.md` is the report as `knee reproduce` wrote it: all
claims, numbers, readings and the manifest. The script fails if it does not find as many failed claims as the report counts.
"""

import re
import sys
from pathlib import Path

SECTION = re.compile(r"^## (.+)$", re.M)
PICTURE = re.compile(r"^!\[([^\]]*)\]\(([^)]+)\)$", re.M)
FAILS = "**fails**"


def anchor(heading):
    """The anchor that readers of Markdown give a heading."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def sections(report):
    """The introduction, and headings with their texts."""
    first, *rest = SECTION.split(report)
    return first, list(zip(rest[::2], rest[1::2]))


def introduction(text, whole):
    """As it is, but links to sections lead to the whole report."""
    return re.sub(r"\]\(#", f"]({whole}#", text)


def cells(line):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1])]


def claims(text):
    """The rows of the table of claims, by the titles of its columns, which depend on what the claims have."""
    lines = iter(text.split("\n"))
    for line in lines:
        if line.startswith("| claim |"):
            titles = cells(line)
            next(lines)
            for row in lines:
                if not row.startswith("|"):
                    break
                yield dict(zip(titles, cells(row)))


def failures(parts, whole):
    lines = ["| claim | why it fails |", "|---|---|"]
    for heading, text in parts:
        for row in claims(text):
            if row["verdict"].startswith(FAILS):
                lines.append(f"| [{heading}]({whole}#{anchor(heading)}) {row['claim']} | {row['why']} |")
    return lines if len(lines) > 2 else []


def pictures(parts, whole):
    for heading, text in parts:
        for title, file in PICTURE.findall(text):
            yield f"[{heading}]({whole}#{anchor(heading)}): {title}.\n\n![{title}]({file})"


def pages(report, title, whole):
    first, parts = sections(report)
    heading, intro = first.split("\n", 1)
    failed = failures(parts, whole)
    counted = re.search(r"(\d+) fail,", intro)
    if not heading.startswith("# ") or not counted:
        sys.exit("error: this is no report of `knee reproduce`")
    found = max(0, len(failed) - 2)
    if found != int(counted[1]):
        sys.exit(f"error: {found} claims that fail were found, and the report has {counted[1]}")
    short = [f"# {title}", introduction(intro, whole).strip()]
    short.append(f"All claims with their numbers, the readings of what publications leave open, and the command: [the whole report]({whole}).")
    if failed:
        short += ["## Claims that fail", "\n".join(failed)]
    shown = list(pictures(parts, whole))
    if shown:
        short += ["## Pictures", *shown]
    return "\n\n".join(short) + "\n", f"# {title}, in full\n{intro}" + "".join(f"## {name}{text}" for name, text in parts)


def main(report, page, title):
    page = Path(page)
    whole = page.with_name(f"{page.stem}-in-full.md")
    short, full = pages(Path(report).read_text(), title, whole.name)
    page.write_text(short)
    whole.write_text(full)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
