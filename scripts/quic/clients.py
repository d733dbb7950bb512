# SPDX-License-Identifier: Apache-2.0 OR MIT
"""QUIC clients that were not written here fetch an object from `knee quic serve` over an emulated link, with every controller: as root

    clients.py KNEE PYTHON GO [--page FILE] [--controllers NAME,…] [--only CLIENT] [--kept FILE] [--at-once N] [--bytes N]

PYTHON has curl_cffi and aioquic, GO is the client of scripts/quic/go. A row of the table is a controller, a column a client; a cell has the goodput in Mbit/s,
or the reason for which there is none. The status is 1 if an object did not arrive whole. With --page the table goes into FILE. With --kept what arrived is kept there, and not
fetched again.
"""

import argparse
import concurrent.futures
import datetime
import hashlib
import json
import os
import pathlib
import platform
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
LINK = ["--rate", "20mbit", "--delay", "20ms", "--down", "loss=1%", "--buffer", "1bdp"]
MARKS = ("<!-- clients -->\n", "<!-- end of clients -->")
PORT = 4433


def expected(size):
    """The checksum of an object that is made: each word of eight bytes is its number."""
    whole = b"".join(word.to_bytes(8, "big") for word in range(size // 8 + 1))
    return hashlib.sha256(whole[:size]).hexdigest()


def clients(python, go):
    script = str(HERE / "client.py")
    return [
        ("curl, ngtcp2", "quinn", [python, script, "curl"]),
        ("aioquic", "quinn", [python, script, "aioquic"]),
        ("quic-go", "quinn", [go]),
        ("aioquic, `hq`", "noq", [python, script, "aioquic-hq"]),
    ]


def objects(text):
    """The objects among lines of JSON and others."""
    for line in text.splitlines():
        if line.startswith("{"):
            try:
                yield json.loads(line)
            except ValueError:
                pass


def fetch(knee, controller, stack, client, size):
    """The data that a client received, or the reason for none."""
    serve = f"{knee} quic serve --listen 0.0.0.0:{PORT} --cc {controller} --stack {stack} --json"
    ask = " ".join(client) + f" https://$KNEE_PEER:{PORT}/{size}"
    # The server needs a moment until it listens.
    command = [knee, "emulate", *LINK, "--server", serve, "--", "sh", "-c", f"sleep 0.5; {ask}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=1000)
    except subprocess.TimeoutExpired:
        return None, "it took more than 1000 s"
    got = next((one for one in objects(done.stdout) if "sha256" in one), None)
    if got is None:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        return None, (lines or ["nothing was said"])[-1]
    if got["sha256"] != expected(size) or got["bytes"] != size:
        return None, "another checksum"
    return got["bytes"] * 8 / got["seconds"] / 1e6, None


def carried(knee):
    """The controllers, and the stacks that carry each, as the page says."""
    page = (HERE.parent.parent / "docs" / "quic.md").read_text()
    table = page.split("<!-- carried -->")[1].split("<!-- end of carried -->")[0]
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0].startswith("`") and cells[1] == "yes":
            yield cells[0].strip("`")


def versions(python, go):
    names = "import importlib.metadata as m; print(' '.join(f'{n} {m.version(n)}' for n in ('curl_cffi', 'aioquic')))"
    told = [subprocess.run([python, "-c", names], capture_output=True, text=True).stdout.strip().replace(" aio", ", aio")]
    module = (HERE / "go" / "go.mod").read_text()
    told.append("quic-go " + module.split("quic-go/quic-go v")[1].split()[0])
    return ", ".join(told)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    for name in ("knee", "python", "go"):
        parser.add_argument(name)
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--controllers")
    parser.add_argument("--only", default="")
    parser.add_argument("--kept", type=pathlib.Path)
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--bytes", type=int, default=10_000_000)
    asked = parser.parse_args()
    if os.geteuid() != 0:
        raise SystemExit("clients.py: the emulator needs root")
    names = asked.controllers.split(",") if asked.controllers else list(carried(asked.knee))
    columns = [column for column in clients(asked.python, asked.go) if asked.only in column[0]]
    kept = json.loads(asked.kept.read_text()) if asked.kept and asked.kept.exists() else {}
    wanted = [(name, column) for name in names for column in columns]

    def run(one):
        name, (title, stack, client) = one
        place = f"{name} {title} {asked.bytes}"
        found = kept.get(place) or fetch(asked.knee, name, stack, client, asked.bytes)
        if found[1] is None:
            kept[place] = found
        if asked.kept:
            asked.kept.write_text(json.dumps(kept))
        print(name, title, *found, file=sys.stderr, flush=True)
        return found

    with concurrent.futures.ThreadPoolExecutor(asked.at_once) as pool:
        found = dict(zip([(name, column[0]) for name, column in wanted], pool.map(run, wanted)))
    failed = {key: why for key, (_, why) in found.items() if why}
    head = "| controller | " + " | ".join(f"{title} ({stack})" for title, stack, _ in columns) + " |\n"
    lines = [head, "|---|" + "--:|" * len(columns) + "\n"]
    for name in names:
        cells = [found[name, title] for title, _, _ in columns]
        cells = [f"{goodput:.1f}" if why is None else why for goodput, why in cells]
        lines.append(f"| `{name}` | " + " | ".join(cells) + " |\n")
    text = (
        f"{datetime.date.today()}, {versions(asked.python, asked.go)}; Linux {platform.release()}: {len(found) - len(failed)} of {len(found)} objects of "
        f"{asked.bytes} bytes arrived with the right checksum; goodput in Mbit/s, connection and start of the client included:\n\n" + "".join(lines)
    )
    print(text)
    if asked.page:
        page = asked.page.read_text()
        before, rest = page.split(MARKS[0])
        after = rest.split(MARKS[1])[1]
        asked.page.write_text(before + MARKS[0] + text + MARKS[1] + after)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
