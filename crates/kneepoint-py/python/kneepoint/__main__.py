# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The driver of `knee --on`: reads a job from standard input, and has its missing runs made and kept.

Standard output has lines of JSON: one that greets, then progress, or a failure. `crates/kneepoint-bench/src/cluster.rs` is the other side.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, TextIO

from . import __version__, _sweep
from ._progress import Display, Progress
from .errors import KneepointError, UsageError


USAGE = """\
`python -m kneepoint` makes the runs of `knee --on`, which starts it and gives it a job.
help: run `knee --help`, or `import kneepoint` in Python and `help(kneepoint)`"""


def main() -> int:
    try:
        job = None if sys.stdin.isatty() else json.load(sys.stdin)
    except ValueError:
        job = None
    if not isinstance(job, dict) or "missing" not in job:
        print(USAGE, file=sys.stderr)
        return 2
    with os.fdopen(os.dup(1), "w") as out:
        # Output of others must not come between the lines.
        os.dup2(2, 1)
        try:
            drive(job, out)
        except KeyboardInterrupt:
            return 130
        except KneepointError as failure:
            status = 2 if isinstance(failure, UsageError) else 1
            say(out, status=status, message=failure.message, remedy=failure.remedy)
            return status
    return 0


def drive(job: dict[str, Any], out: TextIO) -> None:
    """Makes the runs that neither the folder nor the store has."""
    say(out, kneepoint=__version__)
    say(out, done=0, total=1, message="waiting for the cluster")
    kept = _sweep.opened(job["url"] or job["folder"], job["folder"])
    missing: _sweep.Runs = [(name, cost, memory) for name, cost, memory in job["missing"]]
    wanted = missing if job["fresh"] else kept.fetch(missing)
    kept.offer(job["kept"])

    def show(progress: Progress) -> None:
        # A thousandth is fine enough for a bar.
        say(out, done=round(1000 * progress.fraction), total=1000, message=progress.message)

    _sweep.make(job["on"], job["words"], job["input"], wanted, kept, Display(show), job["jobs"])


def say(out: TextIO, **line: Any) -> None:
    print(json.dumps(line), file=out, flush=True)


if __name__ == "__main__":
    sys.exit(main())
