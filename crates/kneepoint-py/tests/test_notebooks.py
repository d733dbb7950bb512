# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Every notebook runs from beginning to end in an empty directory, and docs/notebooks.md shows what it shows."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("nbformat")
pytest.importorskip("nbclient")
sys.path.insert(0, str(Path(__file__).parents[1]))

import pages  # noqa: E402

REMEDY = "write it again with `python crates/kneepoint-py/pages.py`"


def test_there_are_six_and_each_is_on_the_page() -> None:
    assert len(pages.NOTEBOOKS) == 6
    titles = [line for line in pages.PAGE.read_text().splitlines() if line.startswith("## ")]
    assert [title.split()[1].rstrip(".") for title in titles] == ["1", "2", "3", "4", "5", "6"], REMEDY


@pytest.mark.parametrize("path", pages.NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_the_page_shows_its_question_picture_and_answer(path: Path) -> None:
    notebook = pages.executed(path)
    assert any("text/html" in output.get("data", {}) for output in pages.outputs(notebook)), "it shows something"
    shown = pages.section(path, notebook)
    assert shown.text in pages.PAGE.read_text(), REMEDY
    if shown.picture:
        assert shown.figure.read_text() == shown.picture, REMEDY


def test_notebooks_are_kept_without_outputs() -> None:
    for path in pages.NOTEBOOKS:
        assert '"output_type"' not in path.read_text(), f"{path.name}: clear its outputs"
