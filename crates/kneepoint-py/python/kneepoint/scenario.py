# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Scenarios made in Python. They are texts in TOML in the end, so that the library's own reader checks them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Optional

from . import _native, algorithms


class Scenario:
    """A scenario from its sections, as TOML has them: tables are dictionaries, repeated sections lists of them.

    >>> knee.Scenario(run={"duration": "20s"}, topology={"kind": "dumbbell", "rate": "10mbit"},
    ...               queue="droptail", flows=[{"cc": "pert", "count": 4}])

    It is checked when it is made; an error names the line in `text`.
    """

    def __init__(self, **sections: Any) -> None:
        self.text = _document(sections)
        _native.check(self.text, "scenario", algorithms.known())

    @classmethod
    def from_toml(cls, text: str) -> "Scenario":
        """A scenario from its text."""
        scenario = cls.__new__(cls)
        scenario.text = text
        _native.check(text, "scenario", algorithms.known())
        return scenario

    def __repr__(self) -> str:
        return f"Scenario.from_toml({self.text!r})"

    def __str__(self) -> str:
        return self.text


def text_of(word: Any) -> Optional[str]:
    """The text of a scenario that is given itself, rather than by the name of its file."""
    if isinstance(word, Scenario):
        return word.text
    # A name of a file has no lines and nothing assigned in it.
    if isinstance(word, str) and "\n" in word and ("=" in word or "[" in word):
        return word
    return None


def _document(sections: Mapping[str, Any]) -> str:
    """Sections as TOML: values at the top, then tables, then repeated sections."""
    top = [f"{_key(name)} = {_value(value)}" for name, value in sections.items() if not _is_section(value)]
    parts = ["\n".join(top)] if top else []
    for name, value in sections.items():
        if isinstance(value, Mapping):
            parts.append(_section(f"[{_key(name)}]", value))
        elif _is_section(value):
            parts.extend(_section(f"[[{_key(name)}]]", one) for one in value)
    return "\n\n".join(parts) + "\n"


def _is_section(value: Any) -> bool:
    repeated = isinstance(value, Sequence) and not isinstance(value, str)
    return isinstance(value, Mapping) or (
        repeated and bool(value) and all(isinstance(one, Mapping) for one in value)
    )


def _section(head: str, fields: Mapping[str, Any]) -> str:
    return "\n".join([head, *(f"{_key(name)} = {_value(value)}" for name, value in fields.items())])


def _key(name: str) -> str:
    bare = name.replace("-", "").replace("_", "")
    return name if bare.isascii() and bare.isalnum() else json.dumps(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # A basic string of TOML is a string of JSON, which leaves one control character as it is.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, float) and math.isnan(value):
        return "nan"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(name)} = {_value(one)}" for name, one in value.items()) + " }"
    if isinstance(value, Sequence):
        return "[" + ", ".join(_value(one) for one in value) + "]"
    raise TypeError(f"a scenario has texts, numbers, lists and dictionaries, and no {type(value).__name__}: {value!r}")
