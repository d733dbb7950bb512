# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Files of the repository that a script makes: written, or with --check compared with what it would write."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path


def settle(files: Mapping[Path, str]) -> int:
    """Writes the files, or compares them; the exit status."""
    if "--check" not in sys.argv:
        for path, text in files.items():
            path.write_text(text, encoding="utf-8")
        return 0
    stale = [path for path, text in files.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        print(f"{path} is not what `python {Path(sys.argv[0]).name}` writes: write it again", file=sys.stderr)
    return 1 if stale else 0
