# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Controllers, queue disciplines and sources of traffic in Python, for exploration.

    import kneepoint as knee

    @knee.controller("gentle", decrease=knee.Parameter(0.3, 0.01, 0.99, "The fraction by which a loss reduces the window."))
    class Gentle:
        def __init__(self, start, decrease):
            self.window, self.decrease = start.initial_window, decrease

        def on_ack(self, ack):
            self.window += ack.credit / self.window

        def on_loss(self, loss):
            self.window = max(loss.flight * (1 - self.decrease), 2.0)

        def on_timeout(self, timeout):
            self.window = 1.0

    knee.compare("gentle", "gentle:decrease=0.5", "reno")

The contracts are those of the Rust library: `Controller`, `Discipline`, `Source` have every method. Times are in seconds, rates in bits per
second, data in bytes, windows in packets. An object is made for each flow, queue or member, and lives in one run.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple, Optional, Protocol, TypeVar, Union

from . import _native
from ._fingerprint import fingerprint
from ._native import (
    Ack,
    Advised,
    Arrival,
    Cue,
    Departure,
    Ecn,
    Facts,
    Loss,
    Request,
    Rng,
    Site,
    Start,
    Tick,
    Timeout,
)
from .errors import UsageError

__all__ = [
    "Ack",
    "Advised",
    "Arrival",
    "Controller",
    "Cue",
    "Decision",
    "Departure",
    "Discipline",
    "Ecn",
    "Facts",
    "Loss",
    "Parameter",
    "Request",
    "Rng",
    "Site",
    "Source",
    "Start",
    "Tick",
    "Timeout",
    "controller",
    "queue",
    "source",
]

Decision = Optional[Literal["pass", "mark", "drop"]]
"""The fate of a packet; None lets it pass. A mark is a drop where the sender would not understand it."""


class Parameter(NamedTuple):
    """A parameter with a range and a sentence. The type is the default's.

    True is true or false, 3 a whole number, 0.5 a number, "5ms", "10mbit" and "1500B" a time, a rate and data, which are written in
    scenarios with any unit and arrive as seconds, bits per second and bytes.
    """

    default: Union[bool, int, float, str]
    least: Union[int, float, str, None] = None
    most: Union[int, float, str, None] = None
    about: str = ""


class Controller(Protocol):
    """A congestion control of one flow: `__init__(self, start, **parameters)`, and these methods.

    Optional attributes, read when it is made: `marks`, "classic", "each" or "scalable", the ECN codepoint of its packets and the echo;
    `wanted`, "nothing", "rate" or "change", the explicit feedback; `steers_recovery`. `pacing`, in packets per second or None, is read
    after each signal if it exists by then. Optional methods: `on_ecn(ecn)`, without which a mark is a loss; `on_advice(advised)`.
    """

    @property
    def window(self) -> float:
        """Packets that may be outstanding, read after each signal."""

    def on_ack(self, ack: Ack, /) -> object:
        """An acknowledgement arrived, in order or duplicate. `start.rng` may be drawn from."""

    def on_loss(self, loss: Loss, /) -> object:
        """A loss episode begins."""

    def on_timeout(self, timeout: Timeout, /) -> object:
        """Start over from one packet."""


class Discipline(Protocol):
    """A queue discipline of one first-in-first-out queue: `__init__(self, facts, **parameters)`, and this method.

    Optional methods: `on_departure(departure)`, which decides as `on_arrival` does; `on_tick(tick)` every `interval_s`; `on_idle(tick)`,
    when the link found the queue empty. Several queues and their order are Rust's.
    """

    def on_arrival(self, arrival: Arrival, /) -> Decision:
        """Decides on an arriving packet. `facts.rng` may be drawn from."""


class Source(Protocol):
    """A source of traffic, one member of a group: `__init__(self, site, **parameters)`, and these.

    `[[NAME]]` is its section in a scenario. Attributes, read when it is made: `kind`: "datagrams" by default, "streams"
    for one connection per member, "sessions" for as many as it opens, "process" for the same with one member;
    `packet_bytes`, the greatest
    datagram; `pressing_bps`, the rate of one that ignores congestion. The section of "datagrams" and "streams" has `count`, how many
    members there are, each with a pair of hosts; the section of "sessions" has `sessions` and `nodes`, the section of
    "process" has `nodes`: the number of servers and clients that make the pairs.
    """

    @property
    def wakeup_s(self) -> Optional[float]:
        """The expiry of its timer, or None, read after each cue."""

    def on(self, cue: Cue, now_s: float, /) -> Union[Request, Iterable[Request], None]:
        """Handles an input. `site.rng` may be drawn from."""


class Declared(NamedTuple):
    """A parameter with its name."""

    name: str
    default: Any
    least: Any
    most: Any
    about: str


class Algorithm(NamedTuple):
    """An algorithm as the laboratory takes it."""

    kind: str
    name: str
    about: str
    version: Optional[str]
    parameters: list[Declared]
    make: type


C = TypeVar("C", bound=Controller)
D = TypeVar("D", bound=Discipline)
S = TypeVar("S", bound=Source)

_REGISTERED: dict[tuple[str, str], Algorithm] = {}
# In a worker of a cluster, the driver's.
_CARRIED: Optional[list[Algorithm]] = None


def controller(name: str, **parameters: Any) -> Callable[[type[C]], type[C]]:
    """Gives a class the name by which schemes and scenarios choose it, and parameters with their defaults."""
    return _register("controller", name, parameters, "start", ("on_ack", "on_loss", "on_timeout"))


def queue(name: str, **parameters: Any) -> Callable[[type[D]], type[D]]:
    """Gives a queue discipline its name and its parameters."""
    return _register("queue", name, parameters, "facts", ("on_arrival",))


def source(name: str, **parameters: Any) -> Callable[[type[S]], type[S]]:
    """Gives a source of traffic its name, which is also its section's, and its parameters."""
    return _register("source", name, parameters, "site", ("on",))


def _register(
    kind: str, name: str, parameters: dict[str, Any], context: str, methods: tuple[str, ...]
) -> Callable[[Any], Any]:
    def register(make: type) -> type:
        for method in methods:
            if not callable(getattr(make, method, None)):
                raise UsageError(f"the {kind} `{name}` has no method `{method}`", f"add `def {method}(self, ...)`")
        declared = [
            Declared(key, *(one if isinstance(one, Parameter) else Parameter(one))) for key, one in parameters.items()
        ]
        _check_init(f"the {kind} `{name}`", make, context, [one.name for one in declared])
        about = inspect.cleandoc(make.__doc__ or f"{name}: a {kind} in Python.")
        algorithm = Algorithm(kind, name, about, None, declared, make)
        # A later class of the same name, as after a cell is executed again, replaces the earlier one.
        others = [one for key, one in _REGISTERED.items() if key != (kind, name)]
        _native.check_algorithms([*others, algorithm])
        _REGISTERED[kind, name] = algorithm
        return make

    return register


def _check_init(what: str, make: type, context: str, names: list[str]) -> None:
    """Refuses a class that cannot be made of its context and its parameters."""
    try:
        inspect.signature(make).bind(None, **dict.fromkeys(names))
    except TypeError as wrong:
        given = ", ".join(f"`{name}`" for name in [context, *names])
        message = f"{what} cannot be made with {given}: {wrong}"
        raise UsageError(message, f"write `def __init__({', '.join(['self', context, *names])}):`") from None
    except ValueError:
        # Code that is not Python's may have no signature.
        pass


def known(sent: bool = False) -> list[Algorithm]:
    """The algorithms with a hash of their present code, which is part of the name of a kept run. With `sent`, each has to have one."""
    if _CARRIED is not None:
        return _CARRIED
    return [algorithm._replace(version=_version(algorithm, sent)) for algorithm in _REGISTERED.values()]


def call(
    words: list[str], text: Optional[str], files: bool = False, only: Optional[list[str]] = None
) -> _native.Call:
    """A verb at work with the declared algorithms."""
    # A part of the runs is made for a cluster, which keeps them.
    return _native.Call(words, text, files, only, known(sent=only is not None))


def carried(work: Callable[..., Any]) -> Callable[..., Any]:
    """The same function for another process, with the algorithms of this one."""
    own = known(sent=True)

    def there(*arguments: Any) -> Any:
        from kneepoint import algorithms

        algorithms._CARRIED = own
        return work(*arguments)

    return there


def _version(algorithm: Algorithm, sent: bool) -> Optional[str]:
    version, unknown = fingerprint(algorithm.make)
    if not unknown:
        return version
    message = f"the {algorithm.kind} `{algorithm.name}` uses {', '.join(unknown)}, whose content cannot be hashed"
    if sent:
        raise UsageError(message, "use numbers, texts, functions and classes, so that its runs can be kept")
    warnings.warn(f"{message}: its runs are not kept", stacklevel=_callers_level())
    return None


def _callers_level() -> int:
    """The distance on the stack from the caller to the first line outside the package, as `warnings.warn` counts it."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == "kneepoint":
        level, frame = level + 1, frame.f_back
    return level
