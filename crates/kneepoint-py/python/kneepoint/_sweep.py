# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Studies whose runs are made elsewhere. The unit of work and of resumption is the kept run, under the hash of its inputs.

    plan      the verb names the runs that are missing in the store
    work      workers make batches of them, each run exactly as one machine would, and send the files back
    keep      the driver puts each file into the store the moment it arrives
    answer    the verb reads every run back

A driver that dies leaves its store; the same call resumes there. A worker that dies loses the batch it had, which goes elsewhere.
"""

from __future__ import annotations

import importlib
import logging
import os
import platform
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Optional

from . import _native, _verbs, algorithms
from ._progress import Display, Shown, warn
from ._result import Result
from .errors import Interrupted, KneepointError, Part, RunError, UsageError

# The work of a batch, in kilobytes that the measured links can carry: a few seconds on a core.
BATCH = 1_000_000
# Concurrent batches for each core: enough that none of them waits for the driver.
AHEAD = 2
# Kept runs, without a word on where.
USUAL = "out/runs"
# The default address where a cluster listens to clients.
PORT = 10001

# The suffix of damaged files that are set aside, as in the binary.
SET_ASIDE = (".bad", ".bad2", ".bad3")

# Names, with the work and the bytes of memory of each.
Runs = list[tuple[str, int, int]]


def sweep(
    verb: str,
    *words: Any,
    on: str = "ray",
    store: Optional[str | os.PathLike[str]] = None,
    progress: Shown = None,
    **options: Any,
) -> Result:
    """Answers `verb` with its runs made on a cluster: `on="ray"`, or `on="ray://host:port"` for one that is running, by default at
    port 10001. The verb is one that makes many runs: "compare", "coexist", "run" or "reproduce".

    `store` is a directory, or a URL that fsspec supports, such as `s3://bucket/runs`. All other words belong to the verb:
    `knee.sweep("run", "my.toml", seeds=1000)`.
    """
    sweeping = {name: one for name, one in _verbs.VERBS.items() if one._takes("on")}
    if verb not in sweeping:
        raise UsageError(f"`{verb}` does not sweep", f"expected one of {', '.join(sweeping)}")
    fresh, jobs = bool(options.pop("fresh", False)), options.pop("jobs", None)
    spoken, text = sweeping[verb]._spoken(words, options)
    display = Display(progress)
    kept = opened(os.fspath(store) if store is not None else os.environ.get("KNEE_STORE") or USUAL)
    spoken = [*spoken, f"--store={kept.folder}", f"--on={on}"]
    try:
        if fresh:
            make(on, spoken, text, _part([*spoken, "--fresh"], text, []), kept, display, jobs)
        # A verb may request more runs after the first ones.
        while missing := _part(spoken, text, []):
            make(on, spoken, text, kept.fetch(missing), kept, display, jobs)
    except KeyboardInterrupt:
        raise Interrupted("stopped; finished runs are kept, and the same call resumes there") from None
    finally:
        display.close()
    result = Result(_verbs.answered(spoken, text, options.get("out") is not None, False))
    result._kept = kept
    return result


def _everywhere(word: str) -> str:
    """A file by its whole path: workers are in other directories."""
    return os.path.abspath(word) if "." in word and os.path.isfile(word) else word


def _part(words: list[str], text: Optional[str], names: list[str]) -> Runs:
    """Makes the runs of these names; without names it makes none, and returns those that are not kept yet."""
    call = algorithms.call(words, text, False, names)
    try:
        while not call.wait(0.05):
            pass
    except KeyboardInterrupt:
        call.stop()
        raise
    finally:
        warn(call)
    try:
        call.answer()
    except Part as part:
        return part.missing
    # Nothing was missing.
    return []


def work(words: list[str], text: Optional[str], names: list[str]) -> list[tuple[str, bytes]]:
    """Makes runs on this machine, one after another, and returns their files."""
    with tempfile.TemporaryDirectory(prefix="kneepoint-") as folder:
        _part([*words, f"--store={folder}", "--jobs=1"], text, names)
        files = [Path(folder, f"{name}.json") for name in names]
        if not all(file.exists() for file in files):
            message = f"a worker on {platform.node()} does not find runs of this study"
            raise RunError(message, "install one version of the package everywhere, and scenarios on the same paths")
        return [(file.name, file.read_bytes()) for file in files]


def _batches(missing: Runs) -> Iterator[list[str]]:
    """Names in batches of about the same work, in the order in which the study wants them."""
    batch: list[str] = []
    load = 0
    for name, cost, _ in missing:
        batch.append(name)
        load += cost
        if load >= BATCH:
            yield batch
            batch, load = [], 0
    if batch:
        yield batch


def _reason(failure: Exception) -> str:
    """The line of Ray's message that gives the reason: the last one if the first only announces a traceback."""
    lines = [line.strip() for line in str(failure).splitlines() if line.strip()] or [type(failure).__name__]
    return lines[-1] if lines[0].endswith(":") else lines[0]


def make(
    on: str,
    words: list[str],
    text: Optional[str],
    missing: Runs,
    kept: Store,
    display: Display,
    jobs: Optional[int] = None,
) -> None:
    """Makes runs on Ray, at most `jobs` in parallel, and keeps each batch when it arrives."""
    if not missing:
        return
    try:
        ray: Any = importlib.import_module("ray")
    except ImportError:
        raise UsageError("sweeps need Ray, which is not installed", "pip install 'ray[client]' fsspec") from None
    if not ray.is_initialized():
        # Without an address a cluster of this machine is started, unless RAY_ADDRESS names one.
        address = _address(on)
        local: dict[str, Any] = {} if address or os.environ.get("RAY_ADDRESS") else {"include_dashboard": False}
        try:
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **local)
        except (ConnectionError, RuntimeError, ValueError) as failure:
            message = f"no cluster at {address or on}: {_reason(failure)}"
            raise RunError(message, "look at `ray status` there, and at the address and the port") from None
    # A dead worker's batch is given to another, however often that happens.
    remote = ray.remote(num_cpus=1, max_retries=-1)(algorithms.carried(work))
    costs, batches = {name: cost for name, cost, _ in missing}, _batches(missing)
    memory = {name: taken for name, _, taken in missing}
    _fits(ray, max(memory.values()))
    total, done, finished = sum(costs.values()), 0, 0
    limit = jobs or AHEAD * int(ray.cluster_resources().get("CPU", 1))
    words = [_everywhere(word) for word in words]
    under_way: dict[Any, list[str]] = {}
    try:
        while True:
            while len(under_way) < limit and (batch := next(batches, None)) is not None:
                # A worker makes one run at a time; the scheduler places no more of them on a machine than fit its
                # memory.
                needed = max(memory[name] for name in batch)
                under_way[remote.options(memory=needed).remote(words, text, batch)] = batch
            if not under_way:
                return
            ready, _ = ray.wait(list(under_way), timeout=0.5)
            for reference in ready:
                try:
                    files = ray.get(reference)
                except ray.exceptions.RayTaskError as failure:
                    raise (failure.cause if isinstance(failure.cause, KneepointError) else failure) from None
                for name, content in files:
                    kept.put(name, content)
                batch = under_way.pop(reference)
                finished += len(batch)
                done += sum(costs[name] for name in batch)
            display.update((done, total, f"{finished} of {len(missing)} runs"))
    finally:
        for reference in under_way:
            ray.cancel(reference, force=True)


def _fits(ray: Any, needed: int) -> None:
    """Refuses runs for which no machine of the cluster has memory: the scheduler would wait for one that has."""
    machines = [node["Resources"].get("memory", 0) for node in ray.nodes() if node["Alive"]]
    if needed > max(machines, default=0):
        largest = _size(max(machines, default=0))
        message = f"a run would take about {_size(needed)} of memory, above the {largest} of the largest machine of the cluster"
        raise RunError(message, "a dry run says what takes it: `knee` with the same words and --dry-run")


def _size(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB", "TB", "PB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} EB"


def _address(on: str) -> Optional[str]:
    """The address of a cluster that is running, with its port."""
    if not on.startswith("ray://"):
        return None
    return on if re.search(r":\d+$", on) else f"{on}:{PORT}"


class Store:
    """Kept runs in a directory of this machine."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        # The verb makes it.
        self.folder = Path(folder).absolute()

    def fetch(self, missing: Runs) -> Runs:
        """Copies runs that are elsewhere to the directory, and returns the others."""
        return missing

    def offer(self, names: list[str]) -> None:
        """Copies runs of the directory to where they are not."""

    def put(self, name: str, content: bytes) -> None:
        """Keeps a file, if it is the run of that name."""
        if wrong := _native.keep(self.folder, name.removesuffix(".json"), content):
            message = f"a worker sent a file that is not the run {name}: {wrong[0]}"
            raise RunError(message, "install one version of the package everywhere; the same call resumes there")


class _Remote(Store):
    """Kept runs in an object store, with this study's copied to a directory."""

    def __init__(self, url: str, folder: Optional[str]) -> None:
        try:
            url_to_fs: Any = importlib.import_module("fsspec.core").url_to_fs
        except ImportError:
            message = f"store={url!r} needs fsspec, which is not installed"
            raise UsageError(message, "pip install fsspec, or name a directory") from None
        try:
            self._files, self._root = url_to_fs(url)
            self._files.makedirs(self._root, exist_ok=True)
            self._there = {Path(path).name for path in self._files.ls(self._root, detail=False)}
        except (ImportError, ValueError, OSError) as failure:
            raise UsageError(f"store={url!r}: {failure}", "name a directory, or a URL that fsspec can open") from None
        # A separate directory is removed with the last result that reads series from it.
        self._copy = tempfile.TemporaryDirectory(prefix="kneepoint-store-") if folder is None else None
        super().__init__(self._copy.name if self._copy is not None else str(folder))

    def fetch(self, missing: Runs) -> Runs:
        return [run for run in missing if not self._fetched(f"{run[0]}.json")]

    def _fetched(self, name: str) -> bool:
        if name not in self._there:
            return False
        # Only once: a file that cannot be read is made again.
        self._there.remove(name)
        content = self._files.cat_file(f"{self._root}/{name}")
        wrong = _native.fault(name.removesuffix(".json"), content)
        if wrong is None:
            super().put(name, content)
        elif wrong[1]:
            self._set_aside(name, content, wrong[0])
        return wrong is None

    def _set_aside(self, name: str, content: bytes, reason: str) -> None:
        """Keeps a damaged file under another name, if there are few, and says so; the run made again replaces it."""
        free = next((one for one in (name + ending for ending in SET_ASIDE) if one not in self._there), None)
        done = f"{len(SET_ASIDE)} earlier ones are set aside, and this one is replaced"
        if free is not None:
            self._files.pipe_file(f"{self._root}/{free}", content)
            self._there.add(free)
            done = f"it is now {self._root}/{free}"
        place = f"{self._root}/{name}"
        print(f"{place} is not the run that was kept: {reason}; {done}; simulating that run again", file=sys.stderr)

    def offer(self, names: list[str]) -> None:
        for name in (f"{name}.json" for name in names):
            if name not in self._there:
                content = (self.folder / name).read_bytes()
                # A file damaged since it was read is not copied.
                if _native.fault(name.removesuffix(".json"), content) is None:
                    self._files.pipe_file(f"{self._root}/{name}", content)

    def put(self, name: str, content: bytes) -> None:
        super().put(name, content)
        self._files.pipe_file(f"{self._root}/{name}", content)


def opened(place: str, folder: Optional[str] = None) -> Store:
    """The store at a place; for a URL, `folder` has copies."""
    return _Remote(place, folder) if "://" in place else Store(place)
