# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The examples of the pages on Python run, and `help` shows what its pages promise."""

import contextlib
import io
import pydoc
import re
from pathlib import Path
from typing import Any

import pytest

import kneepoint as knee
import kneepoint.algorithms
from kneepoint.algorithms import Cue, Request

DOCS = Path(__file__).parents[3] / "docs"
# The names that the examples of a page define, and the number of examples tested elsewhere, because they need a
# cluster.
PAGES = [
    ("python.md", {"Gentle", "Cap", "Pings", "scenario", "env"}, 1),
    ("tutorials/notebook.md", {"result", "rows", "scenario", "study", "Gentle", "drawn"}, 0),
]


@pytest.mark.parametrize(("page", "left", "elsewhere"), PAGES)
def test_the_examples_of_the_page_run_in_their_order(
    page: str, left: set[str], elsewhere: int, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("gymnasium")
    pytest.importorskip("polars")
    # Shorter than on the page.
    for name, short in {"compare": {"duration": "8s", "seeds": 1}, "run": {"seeds": 1}}.items():
        verb = getattr(knee, name)

        def shortened(*words: Any, verb: Any = verb, short: Any = short, **options: Any) -> knee.Result:
            return verb(*words, **{**options, **short})  # type: ignore[no-any-return]

        monkeypatch.setattr(knee, name, shortened)
    names: dict[str, Any] = {"__name__": "page"}
    text_of_page = (DOCS / page).read_text(encoding="utf-8")
    examples = re.findall(r"^```python\n(.*?)^```$", text_of_page, re.MULTILINE | re.DOTALL)
    alone = [text for text in examples if 'on="ray' not in text]
    for place, text in enumerate(alone):
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(text, f"docs/{page}, example {place + 1}", "exec"), names)
    assert len(alone) == len(examples) - elsewhere >= 5
    assert left <= set(names)


def test_help_has_a_sentence_on_each_field_of_a_signal() -> None:
    named = [getattr(kneepoint.algorithms, name) for name in kneepoint.algorithms.__all__]
    signals = [one for one in named if isinstance(one, type) and one.__module__ == "kneepoint._native"]
    variants = [one for family in (Cue, Request) for one in vars(family).values() if isinstance(one, type)]
    assert {"Ack", "Departure", "Loss"} <= {signal.__name__ for signal in signals} and len(variants) == 7
    for signal in [*signals, *variants]:
        assert signal.__doc__, signal
        for name, field in [item for one in signal.__mro__[:-1] for item in vars(one).items()]:
            assert name.startswith("_") or field.__doc__, f"{signal.__name__}.{name}"
    assert "The round-trip time it measures" in pydoc.render_doc(kneepoint.algorithms.Ack)
    assert "Whether its sender understands marks." in pydoc.render_doc(kneepoint.algorithms.Arrival)
