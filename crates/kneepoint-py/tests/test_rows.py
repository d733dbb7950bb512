# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Rows from Python equal the command line's, to the last bit, in every dataframe."""

import gzip
import json
import math
import pickle
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

import kneepoint as knee

SMALL: dict[str, Any] = {"rate": "5mbit", "rtt": "20ms", "flows": 2, "duration": "8s", "seeds": 2}


def words(options: dict[str, Any]) -> list[str]:
    return [word for name, value in options.items() for word in (f"--{name}", str(value))]


def bits(column: list[Any]) -> list[Any]:
    """Numbers by their bits, so that one NaN is like itself, and unlike another."""
    return [struct.pack("<d", value) if isinstance(value, float) else value for value in column]


def table(frame: polars.DataFrame) -> dict[str, list[Any]]:
    return {name: bits(frame[name].to_list()) for name in frame.columns}


def test_a_comparison_has_the_rows_of_the_command_lines_parquet(here: Path, knee_program: Callable[..., str]) -> None:
    result = knee.compare("reno", "pert", **SMALL)
    knee_program("compare", "reno", "pert", *words(SMALL), "--out", "o")
    files = sorted(path.relative_to("o").with_suffix("").as_posix() for path in Path("o").rglob("*.parquet"))
    assert files == sorted(result)
    assert {"runs", "summary", "links", "groups", "series/pert-seed2"} <= set(files)
    for name in files:
        path = Path("o", f"{name}.parquet")
        assert table(polars.DataFrame(result[name])) == table(polars.read_parquet(path)), name
        written, read = pandas.read_parquet(path), result[name].to_pandas()
        assert list(written.columns) == list(read.columns)
        for column in written.columns:
            assert bits(written[column].tolist()) == bits(read[column].tolist()), (name, column)


def test_other_machines_and_other_surfaces_make_the_same_numbers(here: Path, knee_program: Callable[..., str]) -> None:
    result = knee.compare("reno", "pert", **SMALL, store="here")
    knee_program("compare", "reno", "pert", *words(SMALL), "--out", "o", "--store", "there")
    own = polars.DataFrame(result).drop("cpu_seconds")
    assert table(own) == table(polars.read_parquet("o/runs.parquet").drop("cpu_seconds"))
    assert sorted(path.name for path in Path("here").iterdir()) == sorted(path.name for path in Path("there").iterdir())


def test_coexistence_and_a_published_figure_have_the_rows_of_their_files(
    here: Path, knee_program: Callable[..., str]
) -> None:
    some: dict[str, Any] = {"rate": "5mbit", "rtt": "20ms", "duration": "4s", "seeds": 1}
    result = knee.coexist("reno", "pert", buffers=["0.5bdp", "1bdp"], flows=[2], **some)
    knee_program("coexist", "reno", "pert", "--buffers", "0.5bdp,1bdp", "--flows", "2", *words(some), "--out", "c")
    assert table(polars.DataFrame(result)) == table(polars.read_parquet("c/coexistence.parquet"))
    # A figure of fluid models takes no time.
    knee_program("reproduce", "pert.fig13a", "--quick", "--out", "r")
    result = knee.reproduce("pert.fig13a", quick=True)
    (path,) = Path("r/data").glob("*.parquet")
    assert table(polars.DataFrame(result[path.stem])) == table(polars.read_parquet(path))


def test_out_writes_what_the_command_line_writes(here: Path, knee_program: Callable[..., str]) -> None:
    knee.compare("reno", "pert", **SMALL, out="a")
    knee_program("compare", "reno", "pert", *words(SMALL), "--out", "b")
    names = [sorted(path.relative_to(out) for path in Path(out).rglob("*") if path.is_file()) for out in ("a", "b")]
    assert names[0] == names[1]
    for name in names[0]:
        if name.suffix in (".csv", ".parquet", ".svg"):
            assert Path("a", name).read_bytes() == Path("b", name).read_bytes(), name
    manifest = json.loads(Path("a/summary.json").read_text())["manifest"]
    assert manifest["command"].startswith("knee compare reno pert --rate=5mbit")


def test_what_is_not_defined_is_null_in_every_frame(here: Path, knee_program: Callable[..., str]) -> None:
    # A buffer of seconds loses nothing: neither side has a loss ratio.
    some: dict[str, Any] = {"rate": "1mbit", "rtt": "20ms", "duration": "2s", "seeds": 1}
    rows = knee.coexist("reno", "cubic", buffers=["500pkt"], flows=[2], **some).rows
    knee_program("coexist", "reno", "cubic", "--buffers", "500pkt", "--flows", "2", *words(some), "--out", "c")
    for table in (pyarrow.table(rows), pyarrow.parquet.read_table("c/coexistence.parquet")):
        assert table["loss_ratio"].null_count == table.num_rows > 0
        assert table["row"].null_count == 0
    assert all(math.isnan(value) for value in rows["loss_ratio"])
    copied = pickle.loads(pickle.dumps(rows))
    assert pyarrow.table(copied).equals(pyarrow.table(rows))


def test_a_damaged_capture_is_an_exception(here: Path) -> None:
    packed = gzip.compress(bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000"))
    Path("wrong.pcap.gz").write_bytes(packed[:-5] + bytes([packed[-5] ^ 1]) + packed[-4:])
    with pytest.raises(knee.RunError, match=r"wrong\.pcap\.gz` is damaged: its gzip"):
        knee.predict("wrong.pcap.gz")


def test_nothing_is_written_without_out(here: Path) -> None:
    knee.compare("reno", **SMALL)
    assert [path.as_posix() for path in sorted(Path().rglob("*")) if path.is_dir()] == ["out", "out/runs"]


def test_arrow_hands_over_the_same_memory_with_definitions(here: Path) -> None:
    rows = knee.compare("reno", **SMALL).rows
    one, two = pyarrow.table(rows), pyarrow.record_batch(rows)
    column = rows.columns.index("flow_goodput_bps")
    addresses = {
        array.buffers()[1].address for array in (one.column(column).chunk(0), two.column(column))
    }
    assert len(addresses) == 1, "a copy would be elsewhere"
    field = one.schema.field("flow_goodput_bps")
    assert field.metadata[b"better"] == b"more" and field.metadata[b"title"], field.metadata
    assert rows.definitions["queue_mean_packets"]["better"] == "less"
    duckdb = pytest.importorskip("duckdb")
    assert duckdb.sql("select count(*) from one").fetchall() == [(len(rows),)]


def test_a_result_reads_as_its_first_table_and_shows_its_report(here: Path) -> None:
    result = knee.compare("reno", "pert", **SMALL)
    assert polars.DataFrame(result).shape == polars.DataFrame(result["runs"]).shape
    assert result.json()["schemes"][0]["scheme"] == "reno"
    assert "<svg" in result.html and "srcdoc" in result._repr_html_()
    assert "pert" in repr(result) and "<td>" in result.rows._repr_html_()
    assert result.figures["utilization_against_delay"].startswith("<svg")
    with pytest.raises(KeyError, match="series/pert-seed9"):
        result["series/pert-seed9"]
    with pytest.raises(KeyError, match="flow_goodput_bps"):
        result.rows["goodput"]
