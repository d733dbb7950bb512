# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Studies whose runs are made elsewhere. The unit of work and of resumption is the kept run, under the hash of its inputs.

    plan      the verb names the runs that are missing in the store
    work      workers make batches of them, each run exactly as one machine would, and send the files back
    keep      the driver puts each file into the store the moment it arrives
    answer    the verb reads every run back

A driver that dies leaves its store; the same call goes on from there. A worker that dies loses the batch it had, which goes elsewhere.
"""

from __future__ import annotations

import importlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Optional

from . import _verbs, algorithms
from ._progress import Display, Shown
from ._result import Result
from .errors import Interrupted, Part, UsageError

# The work of a batch, in kilobytes that the measured links can carry: a few seconds on a core.
BATCH = 1_000_000
# Batches at once for each core: enough that none of them waits for the driver.
AHEAD = 2

Runs = list[tuple[str, int]]


def sweep(
    verb: str,
    *words: Any,
    on: str = "ray",
    store: Optional[str | os.PathLike[str]] = None,
    progress: Shown = None,
    **options: Any,
) -> Result:
    """Answers `verb` with its runs made on a cluster: `on="ray"`, or `on="ray://host:port"` for one that is running.

    `store` is a directory, or a URL that fsspec knows, such as `s3://bucket/runs`. All other words are those of the verb:
    `knee.sweep("run", "my.toml", seeds=1000)`.
    """
    if on != "ray" and not on.startswith("ray://"):
        raise UsageError(f"on={on!r}: sweeps run on Ray", 'write on="ray", or on="ray://host:port"')
    call = _verbs.Verb(*verb.split())
    options = {name: _everywhere(value) for name, value in options.items()}
    spoken, text = call._spoken(tuple(_everywhere(word) for word in words), options)
    display = Display(progress)
    kept = _store(store)
    spoken = [*spoken, f"--store={kept.folder}"]
    try:
        # A verb may want more runs once it has seen the first.
        while missing := kept.fetch(lambda: _missing(spoken, text)):
            _make(on, spoken, text, missing, kept, display)
    except KeyboardInterrupt:
        raise Interrupted("stopped; finished runs are kept, and the same call goes on from there") from None
    finally:
        display.close()
    result = Result(_verbs.answered(spoken, text, options.get("out") is not None, False))
    result._kept = kept
    return result


def _everywhere(word: Any) -> Any:
    """A file by its whole path: workers are in other directories."""
    if isinstance(word, os.PathLike) or (isinstance(word, str) and "." in word and os.path.isfile(word)):
        return os.path.abspath(word)
    return word


def _missing(words: list[str], text: Optional[str]) -> Runs:
    """The runs that are not kept yet."""
    return _part(words, text, [])


def _part(words: list[str], text: Optional[str], names: list[str]) -> Runs:
    call = algorithms.call(words, text, False, names)
    try:
        while not call.wait(0.05):
            pass
    except KeyboardInterrupt:
        call.stop()
        raise
    try:
        call.answer()
    except Part as part:
        return part.missing
    # Nothing was missing.
    return []


def work(words: list[str], text: Optional[str], names: list[str]) -> list[tuple[str, bytes]]:
    """Makes runs on this machine, one after another, and returns their files."""
    words = [word for word in words if not word.startswith(("--store=", "--jobs="))]
    with tempfile.TemporaryDirectory(prefix="kneepoint-") as folder:
        _part([*words, f"--store={folder}", "--jobs=1"], text, names)
        files = [Path(folder, f"{name}.json") for name in names]
        return [(file.name, file.read_bytes()) for file in files]


def _batches(missing: Runs) -> Iterator[list[str]]:
    """Names in batches of about the same work, in the order in which the study wants them."""
    batch: list[str] = []
    load = 0
    for name, cost in missing:
        batch.append(name)
        load += cost
        if load >= BATCH:
            yield batch
            batch, load = [], 0
    if batch:
        yield batch


def _make(on: str, words: list[str], text: Optional[str], missing: Runs, kept: Any, display: Display) -> None:
    """Makes runs on Ray, and keeps each batch when it arrives."""
    try:
        ray: Any = importlib.import_module("ray")
    except ImportError:
        raise UsageError("sweeps need Ray, which is not installed", "pip install 'kneepoint[ray]'") from None
    if not ray.is_initialized():
        # Without an address a cluster of this machine is started, unless RAY_ADDRESS names one.
        ray.init(address=on if on.startswith("ray://") else None, log_to_driver=False, include_dashboard=False)
    # A dead worker's batch goes elsewhere, however often that happens.
    remote = ray.remote(num_cpus=1, max_retries=-1)(algorithms.carried(work))
    costs, batches = dict(missing), _batches(missing)
    total, done, finished = sum(costs.values()), 0, 0
    cores = int(ray.cluster_resources().get("CPU", 1))
    under_way: dict[Any, list[str]] = {}
    try:
        while True:
            while len(under_way) < AHEAD * cores and (batch := next(batches, None)) is not None:
                under_way[remote.remote(words, text, batch)] = batch
            if not under_way:
                return
            ready, _ = ray.wait(list(under_way), timeout=0.5)
            for reference in ready:
                for name, content in ray.get(reference):
                    kept.put(name, content)
                batch = under_way.pop(reference)
                finished += len(batch)
                done += sum(costs[name] for name in batch)
            display.update((done, total, f"{finished} of {len(missing)} runs"))
    finally:
        for reference in under_way:
            ray.cancel(reference, force=True)


def _store(place: Optional[str | os.PathLike[str]]) -> Any:
    text = os.fspath(place) if place is not None else os.environ.get("KNEE_STORE") or "out/runs"
    return _Remote(text) if "://" in text else _Directory(text)


class _Directory:
    """Kept runs in a directory of this machine."""

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder).absolute()
        self.folder.mkdir(parents=True, exist_ok=True)

    def fetch(self, missing: Any) -> Runs:
        return missing()  # type: ignore[no-any-return]

    def put(self, name: str, content: bytes) -> None:
        # A file appears under its name only when it is whole.
        temporary = self.folder / f".{name}.{os.getpid()}.tmp"
        temporary.write_bytes(content)
        temporary.replace(self.folder / name)


class _Remote(_Directory):
    """Kept runs in an object store, with those of this study copied to a directory."""

    def __init__(self, url: str) -> None:
        try:
            url_to_fs: Any = importlib.import_module("fsspec.core").url_to_fs
        except ImportError:
            message = f"store={url!r} needs fsspec, which is not installed"
            raise UsageError(message, "pip install fsspec, or name a directory") from None
        self._files, self._root = url_to_fs(url)
        # It goes with the last result that reads series from it.
        self._copy = tempfile.TemporaryDirectory(prefix="kneepoint-store-")
        super().__init__(self._copy.name)
        self._files.makedirs(self._root, exist_ok=True)

    def fetch(self, missing: Any) -> Runs:
        kept = {Path(path).name for path in self._files.ls(self._root, detail=False)}
        wanted: Runs = missing()
        for name in (f"{name}.json" for name, _ in wanted):
            if name in kept:
                super().put(name, self._files.cat_file(f"{self._root}/{name}"))
        return missing()  # type: ignore[no-any-return]

    def put(self, name: str, content: bytes) -> None:
        self._files.pipe_file(f"{self._root}/{name}", content)
        super().put(name, content)
