# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs the notebooks of the examples, and writes docs/notebooks.md: the question of each, its picture, its answer.

    python pages.py            runs them and writes the page with its pictures
    python pages.py --check    runs them, and fails if the page is not what it would write

The question is the first cell, the answer the last text that is printed, the picture the last chart. The notebooks are kept without
outputs, so that a change of theirs is a change of their text.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from generated import settle

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted(ROOT.joinpath("examples", "notebooks").glob("*.ipynb"))
PAGE = ROOT / "docs" / "notebooks.md"
FIGURES = ROOT / "docs" / "figures"

HEAD = """# Notebooks

Six questions, each answered in a notebook of [examples/notebooks](../examples/notebooks). `jupyter lab examples/notebooks` opens them where
the [Python package](python.md) is installed. `crates/kneepoint-py/pages.py` ran them and wrote this page.
Their runs are short, a minute where no other time is given, so that each answers in seconds: set a longer `duration` before you conclude who wins.
"""


class Section(NamedTuple):
    """A notebook on the page."""

    text: str
    figure: Path
    picture: str
    """The chart as SVG; empty if there is none."""


def executed(path: Path) -> Any:
    """A notebook with its outputs, run in an empty directory."""
    import nbclient
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory(prefix="kneepoint-") as folder:
        resources = {"metadata": {"path": folder}}
        nbclient.NotebookClient(notebook, timeout=600, resources=resources).execute()
    return notebook


def outputs(notebook: Any) -> Iterator[Any]:
    for cell in notebook.cells:
        yield from cell.get("outputs", [])


def section(path: Path, notebook: Any) -> Section:
    """The part of the page on a notebook that was run."""
    number, _ = path.stem.split("-", 1)
    title, question = notebook.cells[0].source.removeprefix("# ").split("\n", 1)
    printed = [one.text for one in outputs(notebook) if one.output_type == "stream" and one.name == "stdout"]
    charts = [one.data["image/svg+xml"] for one in outputs(notebook) if "image/svg+xml" in one.get("data", {})]
    figure = FIGURES / f"notebook-{path.stem}.svg"
    parts = [f"## {number}. {title}", question.strip()]
    if charts:
        parts.append(f"![{title}](figures/{figure.name})")
    if printed:
        parts.append("\n".join(f"> {line}" for line in printed[-1].strip().splitlines()))
    parts.append(f"[{path.name}](../examples/notebooks/{path.name})")
    return Section("\n\n".join(parts) + "\n", figure, charts[-1].strip() + "\n" if charts else "")


def main() -> int:
    sections = [section(path, executed(path)) for path in NOTEBOOKS]
    files = {PAGE: "\n".join([HEAD, *(one.text for one in sections)])}
    files |= {one.figure: one.picture for one in sections if one.picture}
    return settle(files)


if __name__ == "__main__":
    sys.exit(main())
