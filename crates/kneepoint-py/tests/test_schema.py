# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The schema of scenarios as an independent validator reads it: the Rust tests have their own validator."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

if sys.version_info < (3, 11):
    pytest.skip("tomllib came with Python 3.11", allow_module_level=True)

import tomllib

SCENARIOS = sorted((Path(__file__).parents[3] / "scenarios").glob("*.toml"))
SMALL: dict[str, Any] = {"topology": {"rate": "1mbit"}, "flows": [{"cc": "reno"}]}


@pytest.fixture
def validator(knee_program: Callable[..., str]) -> Draft202012Validator:
    schema = json.loads(knee_program("schema"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def test_every_scenario_is_taken(validator: Draft202012Validator) -> None:
    assert len(SCENARIOS) >= 6
    for path in SCENARIOS:
        assert not list(validator.iter_errors(tomllib.loads(path.read_text()))), path


def test_what_the_reader_refuses_is_refused(validator: Draft202012Validator) -> None:
    assert validator.is_valid(SMALL)
    for wrong in [
        {"nmae": "x"},
        {"flows": [{"cc": "rno"}]},
        {"flows": [{"cc": "reno", "count": -1}]},
        {"flows": [{"cc": {"kind": "reno", "decrease": 2}}]},
        {"topology": {"kind": "chain", "rtt": "1s", "rate": "1mbit"}},
        {"tcp": {"recovery": "x"}},
    ]:
        assert not validator.is_valid({**SMALL, **wrong}), wrong
