#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
# Builds the studio, one HTML file with the engine in it, and tests it.
#
#     scripts/studio.sh build          out/studio/index.html, as small as it gets (three minutes)
#     scripts/studio.sh test           types, 200 scenarios in WebAssembly and natively, and the page in Chromium
#     scripts/studio.sh replay KNEE    a million steps of senders in noq to controllers in WebAssembly and natively
#     scripts/studio.sh shots FOLDER   pictures of every preset; `film FOLDER` is a slider dragged
#
# Missing programs are named, and nothing is done without them. CARGO and OUT are those of the Makefile; HASHES is the
# program that runs
# scenarios natively, if it is built already.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cargo=${CARGO:-cargo}
page=${OUT:-out}/studio/index.html
source=crates/kneepoint-web/page
target=${CARGO_TARGET_DIR:-target}
triple=wasm32-unknown-unknown
what=${1:-build}

browser=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
missing=$(
  for program in node npm; do command -v "$program" > /dev/null || echo "$program"; done
  [ -d "$(rustc --print sysroot)/lib/rustlib/$triple" ] || echo "the target $triple"
  [ "$what" = build ] || [ "$what" = replay ] || [ -n "$browser" ] || echo chromium
)
skip() {
  echo "======================================================================"
  echo "SKIPPED: the studio is not made; missing:" "$@"
  echo "Install it with"
  echo
  echo "    apt-get install -y nodejs npm chromium          (Debian, Ubuntu)"
  echo "    rustup target add $triple"
  echo "======================================================================"
  exit 0
}
# shellcheck disable=SC2086
[ -z "$missing" ] || skip $missing

# The packages that its lock names, once.
if ! cmp -s "$source/package-lock.json" "$source/node_modules/.lock"; then
  npm ci --prefix "$source" --no-audit --no-fund --silent --fetch-retries 1 || skip "the packages that npm could not get"
  cp "$source/package-lock.json" "$source/node_modules/.lock"
fi

# Half a minute instead of three: a test is about correctness only.
quick() {
  engine --target-dir "$target/studio" --config profile.web.lto=false --config profile.web.codegen-units=16
}

# engine ARGUMENTS…: the engine as a module, where $wasm is.
engine() {
  "$cargo" rustc -p kneepoint-web --lib --crate-type cdylib --target "$triple" --profile web --locked "$@"
}

case $what in
  build)
    wasm=$target/$triple/web/kneepoint_web.wasm
    engine
    node "$source/build.mjs" "$wasm" "$page"
    ;;
  test)
    wasm=$target/studio/$triple/web/kneepoint_web.wasm
    page=$target/studio/index.html
    quick
    [ -n "${HASHES:-}" ] || "$cargo" build -p kneepoint-web --example hashes --example replays --locked
    hashes=${HASHES:-$target/debug/examples/hashes}
    npm run --prefix "$source" --silent check
    node "$source/build.mjs" "$wasm" "$page"
    node "$source/test/equations.mjs" "$wasm"
    node "$source/test/same.mjs" "$wasm" "$hashes"
    node "$source/test/replay.mjs" "$wasm" "${hashes%hashes}replays"
    CHROMIUM=$browser node "$source/test/play.mjs" "$page"
    ;;
  replay)
    wasm=$target/studio/$triple/web/kneepoint_web.wasm
    quick
    "$cargo" build --release -p kneepoint-web --example replays --locked
    node "$source/test/replay.mjs" "$wasm" "$target/release/examples/replays" "${STEPS:-1000000}" "$2" reno cubic pert pert-pi pert-adaptive bbr bbr3 cdg
    ;;
  shots | film)
    CHROMIUM=$browser node "$source/test/play.mjs" "$page" "--$what" "$2"
    ;;
  *)
    echo "scripts/studio.sh: build, test, replay KNEE, shots FOLDER or film FOLDER, not \`$what\`" >&2
    exit 2
    ;;
esac
