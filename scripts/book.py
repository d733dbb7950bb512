#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Stages the book for mdBook, and checks what mdBook made of it.

    scripts/book.py stage FOLDER [--studio FILE]    pages of docs/SUMMARY.md into FOLDER/src
    scripts/book.py check FOLDER                    every link of the HTML pages in FOLDER leads somewhere

Pages stay where they are in the repository, and their links are those of the repository. In the book a link to a page of the book leads
to its chapter, a page of the repository's root is a chapter below `project/`, and another file is copied as text below `sources/`, so that the
book is complete without a network. A line `<!-- studio: PRESET -->` becomes the studio with that preset, if there is a studio.
"""

import html.parser
import os
import re
import shutil
import sys
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
LINK = re.compile(r"(!?\[(?:[^\]\[]|\[[^\]]*\])*\])\(([^)\s]+)\)")
STUDIO = re.compile(r"^<!-- studio: ([a-z0-9-]+) -->$", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def fail(text: str) -> None:
    sys.exit(f"error: {text}")


def chapters() -> dict[Path, str]:
    """The pages of the summary, and where they are in the book."""
    found = {}
    for _, target in LINK.findall((DOCS / "SUMMARY.md").read_text(encoding="utf-8")):
        page = (DOCS / target).resolve()
        if not page.is_file():
            fail(f"docs/SUMMARY.md names {target}, which is not there")
        inside = page.is_relative_to(DOCS)
        found[page] = page.relative_to(DOCS).as_posix() if inside else f"project/{page.name.lower()}"
    return found


class Stage:
    def __init__(self, folder: Path, studio: Path | None):
        self.src, self.studio, self.chapters = folder / "src", studio, chapters()
        shutil.rmtree(folder, ignore_errors=True)
        self.src.mkdir(parents=True)
        for name in ["book.toml", "book.css"]:
            shutil.copy(DOCS / name, folder / name)
        if studio:
            (self.src / "live").mkdir()
            shutil.copy(studio, self.src / "live/studio.html")

    def target(self, page: Path, place: str, address: str) -> str:
        """The address of a link of a page, in the book."""
        if re.match(r"[a-z]+:|#|mailto:", address):
            return address
        name, _, mark = address.partition("#")
        file = (page.parent / unquote(name)).resolve()
        if not file.exists():
            fail(f"{page.relative_to(ROOT)}: {address} leads nowhere")
        if file in (DOCS / "README.md", DOCS / "SUMMARY.md"):
            there = "README.md" if place == "SUMMARY.md" else "index.html"
        elif file in self.chapters:
            there = self.chapters[file]
        elif file.is_relative_to(DOCS) and file.is_file():
            there = file.relative_to(DOCS).as_posix()
            self.copy(file, there)
        else:
            # mdBook treats every file whose name ends in `.md`, even before another extension, as a chapter.
            there = f"sources/{file.relative_to(ROOT).as_posix().removesuffix('.md')}.txt"
            self.copy(file, there)
        relative = os.path.relpath(there, os.path.dirname(place) or ".")
        return f"{relative}#{mark}" if mark else relative

    def copy(self, file: Path, there: str) -> None:
        to = self.src / there
        to.parent.mkdir(parents=True, exist_ok=True)
        if file.is_dir():
            names = sorted(one.relative_to(ROOT).as_posix() for one in file.rglob("*") if one.is_file())
            to.write_text("\n".join(names) + "\n", encoding="utf-8")
        else:
            shutil.copy(file, to)

    def page(self, page: Path, place: str) -> None:
        text = page.read_text(encoding="utf-8")
        code = []

        def hide(match: re.Match[str]) -> str:
            code.append(match.group(0))
            return f"\0{len(code) - 1}\0"

        text = FENCE.sub(hide, text)
        text = LINK.sub(lambda link: f"{link[1]}({self.target(page, place, link[2])})", text)
        text = STUDIO.sub(lambda line: self.frame(place, line[1]), text)
        text = re.sub("\0(\\d+)\0", lambda number: code[int(number[1])], text)
        to = self.src / place
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(text, encoding="utf-8")

    def frame(self, place: str, preset: str) -> str:
        if not (ROOT / f"crates/kneepoint-web/presets/{preset}.toml").is_file():
            fail(f"{place}: the studio has no preset {preset}")
        if not self.studio:
            return "> *`make studio book` puts the studio here.*"
        address = os.path.relpath(f"live/studio.html#{preset}", os.path.dirname(place) or ".")
        return f'<iframe class="studio" loading="lazy" title="The studio: {preset}" src="{address}"></iframe>'

    def run(self) -> None:
        for page, place in self.chapters.items():
            self.page(page, place)
        self.page(DOCS / "SUMMARY.md", "SUMMARY.md")
        missing = {page.resolve() for page in DOCS.rglob("*.md")} - set(self.chapters) - {DOCS / "SUMMARY.md"}
        if missing:
            fail(f"docs/SUMMARY.md lacks {', '.join(str(page.relative_to(ROOT)) for page in sorted(missing))}")


class Reader(html.parser.HTMLParser):
    """The identifiers and links of an HTML page."""

    def __init__(self) -> None:
        super().__init__()
        self.marks: set[str] = set()
        self.links: set[str] = set()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.marks.add(value)
            if name in ("href", "src") and value and (tag != "link" or value.endswith(".html")):
                self.links.add(value)


def check(folder: Path) -> None:
    pages = {}
    for path in sorted(folder.rglob("*.html")):
        # The studio, and mdBook's frame of the table of contents.
        if path.name in ("studio.html", "toc.html"):
            continue
        reader = Reader()
        reader.feed(path.read_text(encoding="utf-8"))
        pages[path.resolve()] = reader
    faults = []
    for path, reader in pages.items():
        # The only page whose addresses begin at the root of a server.
        if path.name in ("404.html", "print.html"):
            continue
        for link in sorted(reader.links):
            if re.match(r"[a-z]+:|//|data:", link):
                continue
            name, _, mark = link.partition("#")
            there = (path.parent / unquote(name)).resolve() if name else path
            if not there.exists():
                faults.append(f"{path.relative_to(folder.resolve())}: {link} leads nowhere")
            elif mark and there in pages and unquote(mark) not in pages[there].marks:
                faults.append(f"{path.relative_to(folder.resolve())}: {link} has no such heading")
    if faults:
        fail("\n".join(faults))
    print(f"{len(pages)} pages, and every link leads somewhere")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["stage", folder]:
            Stage(Path(folder), None).run()
        case ["stage", folder, "--studio", studio]:
            Stage(Path(folder), Path(studio) if Path(studio).is_file() else None).run()
        case ["check", folder]:
            check(Path(folder))
        case _:
            fail(__doc__ or "")
