#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
# scripts/quic.sh clients [ARGS…]: installs curl_cffi and aioquic below target/, builds quic-go's client, and lets them fetch from `knee quic serve`
# over an emulated link with every controller (scripts/quic/clients.py). Needs root, Go, python3 with venv, and their package indexes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
knee=$(realpath "${KNEE:-target/release/knee}")
place=$(realpath --no-symlinks --canonicalize-missing "${CARGO_TARGET_DIR:-target}/quic")
# The versions named above the table; others are tried by changing these.
packages=(curl_cffi==0.17.0 aioquic==1.7.2)

venv() {
  mkdir -p "$place"
  if ! "$place/venv/bin/python" -c 'import curl_cffi, aioquic' 2> /dev/null; then
    python3 -m venv "$place/venv"
    "$place/venv/bin/pip" install --quiet "${packages[@]}"
  fi
}

case ${1:-} in
  venv) venv && echo "$place/venv/bin/python" ;;
  clients)
    shift
    venv
    (cd scripts/quic/go && go build -o "$place/client" .)
    "$place/venv/bin/python" scripts/quic/clients.py "$knee" "$place/venv/bin/python" "$place/client" "$@"
    ;;
  *) sed -n '3,4p' "$0" >&2; exit 2 ;;
esac
