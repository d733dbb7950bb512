# SPDX-License-Identifier: Apache-2.0 OR MIT
import os
from collections.abc import Sequence
from typing import Any, Optional

__version__: str

class Rows:
    """A table. Dataframes read it by the Arrow C interface: `polars.DataFrame(rows)`, `pyarrow.table(rows)`."""

    @property
    def columns(self) -> list[str]:
        """The names of the columns, which contain the units."""

    @property
    def definitions(self) -> dict[str, dict[str, str]]:
        """The definitions of the columns that have one, by name."""

    def __len__(self) -> int: ...
    def __getitem__(self, column: str) -> list[Any]: ...
    def to_polars(self) -> Any: ...
    def to_pandas(self) -> Any: ...
    def to_pyarrow(self) -> Any: ...
    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object: ...
    def __arrow_c_array__(self, requested_schema: Optional[object] = None) -> tuple[object, object]: ...
    def __arrow_c_schema__(self) -> object: ...
    def _repr_html_(self) -> str: ...

class Answer:
    """The answer of a verb."""
    text: str
    """The report in the terminal's form."""
    html: str
    """The report as a page."""
    json: str
    """The outcome as `--json` prints it."""
    figures: list[tuple[str, str]]
    """Names and SVG files of the charts."""
    unfinished: Optional[str]
    """The reason why runs are missing, if some are."""
    def names(self) -> list[str]: ...
    def table(self, name: Optional[str] = None) -> Optional[Rows]: ...
    def warnings(self) -> list[str]: ...

class Call:
    """A verb at work."""
    def __init__(
        self,
        words: list[str],
        input: Optional[str] = None,
        files: bool = False,
        only: Optional[list[str]] = None,
        algorithms: Sequence[object] = ...,
    ) -> None: ...
    def wait(self, seconds: float) -> bool: ...
    def stop(self) -> None: ...
    def progress(self) -> Optional[tuple[int, int, str]]: ...
    def remarks(self) -> list[str]: ...
    def warnings(self) -> list[str]: ...
    def answer(self) -> Answer: ...

def fault(name: str, content: bytes) -> Optional[tuple[str, bool]]: ...
def keep(folder: str | os.PathLike[str], name: str, content: bytes) -> Optional[tuple[str, bool]]: ...
def verbs() -> str: ...
def schema() -> str: ...
def check(text: str, origin: str, algorithms: Sequence[object] = ...) -> int: ...
def check_algorithms(algorithms: Sequence[object]) -> None: ...

class Episode:
    """One run of a scenario in steps. Between them the window of one transfer is set."""
    def __init__(
        self,
        text: str,
        seed: int,
        group: Optional[str] = None,
        under: Optional[str] = None,
        algorithms: Sequence[object] = ...,
    ) -> None: ...
    @property
    def over(self) -> bool: ...
    def set(
        self, window: Optional[float] = None, factor: Optional[float] = None, pacing: Optional[float] = None
    ) -> None: ...
    def advance(self, seconds: float) -> dict[str, float]: ...

class Rng:
    """Random numbers of the run: the same for the same seed. They can be drawn in `on_ack`, `on_arrival`, `on_departure` and `on`."""

    def uniform(self) -> float:
        """A number from 0 to 1, without 1."""

    def chance(self, p: float) -> bool:
        """Whether an event of probability `p` happens."""

    def between(self, least: float, most: float) -> float:
        """A number between two."""

    def exponential(self, mean: float) -> float:
        """An exponential with this mean."""

    def pareto(self, mean: float, shape: float) -> float:
        """A Pareto of this mean and shape, above 1."""

class Start:
    """The initial conditions of a controller; windows are in packets."""

    initial_window: float
    """The window of a fresh connection."""
    initial_ssthresh: float
    """The slow-start threshold; infinite unless an experiment sets it."""
    slow_start: str
    """The growth of the window below the threshold."""
    version: str
    """The version of a controller that runs: "published" or "linux"."""
    rng: Rng
    """The random numbers of the flow."""

class Ack:
    """An acknowledgement arrived."""

    now_s: float
    """The time."""
    rtt_s: Optional[float]
    """The round-trip time it measures, where it measures one."""
    one_way_s: Optional[float]
    """The time from sender to receiver that it measures, where it measures one; the clocks may differ by a constant."""
    acked: int
    """Packets newly acknowledged in order; zero for a duplicate."""
    delivered: int
    """Packets known to have arrived, in order or not."""
    resent: int
    """Packets retransmitted so far."""
    marked: int
    """Marked packets according to this acknowledgement, for `marks` that are echoed one by one."""
    credit: float
    """Packets by which this acknowledgement may grow the window: zero while something else limits the sender, or losses are repaired."""
    limited: bool
    """Whether the sender had nothing more to send."""
    una: int
    """The first packet not yet acknowledged in order."""
    next: int
    """The next packet never sent so far."""
    in_flight: int
    """Packets outstanding."""
    recovering: bool
    """Whether losses are being repaired."""

class Loss:
    """Packets were lost: once per episode, when the host begins to repair."""

    now_s: float
    """The time."""
    flight: float
    """Packets that were using the path."""
    una: int
    """The first packet not yet acknowledged in order."""
    next: int
    """The next packet never sent so far: the episode ends when it is acknowledged."""

class Timeout:
    """The retransmission timer expired: nothing counts as in flight from here."""

    now_s: float
    """The time."""
    flight: float
    """Packets that were using the path."""
    reported: bool
    """Whether the loss was already reported, so that the threshold must not fall again."""
    next: int
    """The next packet never sent so far."""

class Ecn:
    """The receiver echoed a congestion mark: at most once per window of data."""

    now_s: float
    """The time."""
    flight: float
    """Packets that were using the path."""
    next: int
    """The next packet never sent so far."""

class Advised:
    """The network advised the sender, as requested by `wanted`."""

    now_s: float
    """The time."""
    rate_packets_per_s: Optional[float]
    """The rate that the path allows."""
    change: Optional[float]
    """Packets by which the window should change."""

class Facts:
    """The link of a queue discipline."""

    rate_bps: float
    """The rate of the link."""
    delay_s: float
    """The link's propagation delay."""
    limit_packets: Optional[int]
    """The number of packets that may wait, if packets are counted."""
    limit_bytes: Optional[int]
    """The number of bytes that may wait, if bytes are counted."""
    packet_bytes: int
    """The size of a full packet on the wire."""
    rng: Rng
    """The random numbers of the queue."""

class _Waiting:
    """A packet at a queue."""
    now_s: float
    """The time."""
    flow: int
    """The number of its flow in the run."""
    size_bytes: int
    """Its size on the wire."""
    ect: bool
    """Whether its sender understands marks."""
    scalable: bool
    """Whether its sender answers marks in proportion: ECT(1)."""
    window: Optional[float]
    """The congestion window that its sender announces to queues, in packets, if any."""
    backlog_packets: int
    """The backlog without it."""
    backlog_bytes: int
    """The same in bytes."""

class Arrival(_Waiting):
    """A packet arrived."""

    full: bool
    """Whether there is no room: it is dropped for any decision."""

class Departure(_Waiting):
    """The next packet leaves."""

    waited_s: float
    """The time that it waited."""

class Tick:
    """An interval has passed, or the link found the queue empty."""

    now_s: float
    """The time."""
    backlog_packets: int
    """The backlog."""
    backlog_bytes: int
    """The same in bytes."""

class Site:
    """The initial conditions of a member of a group of traffic."""

    start_s: float
    """The time at which it starts."""
    stop_s: float
    """The end of its traffic; infinite if there is none."""
    pairs: int
    """The number of pairs of hosts that it may use."""
    rng: Rng
    """The random numbers of the member."""

class Cue:
    """An input of a source."""

    class Time(Cue):
        """Its timer expired."""

    class Delivered(Cue):
        """Everything written into a connection so far is acknowledged."""

        __match_args__ = ("connection", "bytes", "at_s")
        connection: int
        """The number that was given to the connection."""
        bytes: int
        """Payload acknowledged since the connection was opened."""
        at_s: float
        """The time at which the client had all of it."""

    class Completed(Cue):
        """A connection ended."""

        __match_args__ = ("connection", "at_s")
        connection: int
        """The number that was given to the connection."""
        at_s: float
        """The time at which the client had everything."""

class Request:
    """A request of a source."""

    class Open(Request):
        """Open a connection: `size_bytes` on it, or what will be written until it is closed."""

        def __init__(self, connection: int, pair: int = 0, size_bytes: Optional[int] = None) -> None: ...

    class Write(Request):
        """Write into an open connection that has no size. `transfer_bytes` is the size of the transfer that ends with it, if one does."""

        def __init__(self, connection: int, size_bytes: int, transfer_bytes: Optional[int] = None) -> None: ...

    class Close(Request):
        """Close an open connection that has no size."""

        def __init__(self, connection: int) -> None: ...

    class Datagram(Request):
        """Send a datagram of this size on the wire, at most `packet_bytes`."""

        def __init__(self, size_bytes: int) -> None: ...
