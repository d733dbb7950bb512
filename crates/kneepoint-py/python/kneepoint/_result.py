# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The result of a study."""

from __future__ import annotations

import json
from html import escape
from typing import Any, Iterator, Optional

from . import _native
from ._progress import warn


class Result:
    """The result of a study: its tables by name, its report and its charts.

    The result itself reads as its first table: `polars.DataFrame(result)`. In a notebook it shows its report. It is no `Mapping`, or
    dataframes would take its tables for columns.
    """

    def __init__(self, answer: _native.Answer) -> None:
        self._answer = answer
        # A store that lasts as long as its runs may be read.
        self._kept: Any = None

    @property
    def rows(self) -> _native.Rows:
        """The first table. A question that is answered without one has `json()`."""
        rows = self._answer.table()
        if rows is None:
            raise KeyError("this result has no table; json() has the numbers")
        return rows

    def __getitem__(self, name: str) -> _native.Rows:
        """A table, or the sampled state of a run: `result["series/pert-seed1"]`."""
        rows = self._answer.table(name)
        warn(self._answer)
        if rows is None:
            names = ", ".join(f"`{name}`" for name in self._answer.names()) or "none"
            raise KeyError(
                f"no table is called `{name}`, or it was not sampled, or its kept run is gone; there are {names}"
            )
        return rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._answer.names())

    def __len__(self) -> int:
        return len(self._answer.names())

    def __contains__(self, name: object) -> bool:
        return name in self._answer.names()

    def keys(self) -> list[str]:
        """The names of the tables."""
        return self._answer.names()

    def json(self) -> Any:
        """The outcome as `knee --json` prints it, read into Python's types."""
        return json.loads(self._answer.json)

    @property
    def text(self) -> str:
        """The report as a terminal shows it."""
        return self._answer.text

    @property
    def html(self) -> str:
        """The report as a page that loads nothing."""
        return self._answer.html

    @property
    def figures(self) -> dict[str, str]:
        """The charts of the report as SVG, by name."""
        return dict(self._answer.figures)

    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object:
        return self.rows.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self.rows.__arrow_c_schema__()

    def to_polars(self) -> Any:
        """The first table as a `polars.DataFrame`."""
        return self.rows.to_polars()

    def to_pandas(self) -> Any:
        """The first table as a `pandas.DataFrame`."""
        return self.rows.to_pandas()

    def to_pyarrow(self) -> Any:
        """The first table as a `pyarrow.Table`."""
        return self.rows.to_pyarrow()

    def __repr__(self) -> str:
        return self.text.rstrip()

    def _repr_html_(self) -> str:
        # A frame keeps the styles of the report and of the notebook apart.
        return (
            f'<iframe srcdoc="{escape(self.html)}" style="width:100%;height:640px;border:0" '
            'loading="lazy" title="Kneepoint report"></iframe>'
        )
