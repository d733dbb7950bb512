#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What runs without Rust, in dist/: static programs for x86-64 and AArch64 as archives and Debian packages, the wheel, bills of materials, and their sums.
#
#     scripts/portable.sh          build them
#     scripts/portable.sh check    build their commit again in another folder, and compare with the sums
#
# A static program runs on any Linux of its machine. It has no kernel programs: the libraries of their loader are not static.
# Linker and C library come with Rust's targets; clang compiles for both machines the C code that `knee replay` runs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/reproducible.sh

CARGO=${CARGO:-cargo}
TARGETS=(x86_64-unknown-linux-musl aarch64-unknown-linux-musl)
# As Debian calls their machines.
declare -A DEBIAN=([x86_64-unknown-linux-musl]=amd64 [aarch64-unknown-linux-musl]=arm64)
PROFILE=${PROFILE:-dist}
SUMS=$PWD/dist/SHA256SUMS

fail() {
  echo "error: $1" >&2
  echo "help: $2" >&2
  exit 1
}

programs() {
  local target options=()
  command -v clang > /dev/null || fail "clang, which compiles for other machines, was not found" "sudo make linux"
  for target in "${TARGETS[@]}"; do
    [ -d "$(rustc --print sysroot)/lib/rustlib/$target" ] || rustup target add "$target"
    # The C code needs the compiler's own headers alone.
    export "CC_${target//-/_}=clang" "CFLAGS_${target//-/_}=-ffreestanding -nostdlibinc"
    options+=(--target "$target" --config "target.$target.linker='rust-lld'")
  done
  $CARGO build --profile "$PROFILE" --locked -p kneepoint-cli --bin knee --target-dir target/portable "${options[@]}" \
    --config "$(rustflags "${REMAP[@]}")" --config "profile.$PROFILE.debug=false" --config "profile.$PROFILE.strip=true"
  share "target/portable/$(uname -m)-unknown-linux-musl/$PROFILE/knee"
  for target in "${TARGETS[@]}"; do
    package "$target" "target/portable/$target/$PROFILE/knee"
    debian "${DEBIAN[$target]}" "target/portable/$target/$PROFILE/knee"
    bill "$target"
  done
}

# The commit that sums belong to; `-dirty` after it if not all was committed.
commit() {
  git describe --always --dirty --abbrev=40 --exclude '*'
}

build() {
  local from
  # Before the build: it takes long, and the folder may go on meanwhile.
  from=$(commit)
  rm -f dist/knee-*-musl.tar.gz dist/*.deb dist/*.cdx.json dist/*.whl "$SUMS"
  programs
  scripts/python.sh wheel
  shopt -s nullglob
  (cd dist && { echo "# $from" && sha256sum -- *-musl.tar.gz *.deb *.cdx.json *.whl; } > "$SUMS")
  echo "dist/SHA256SUMS"
}

check() {
  local commit there
  [ -f "$SUMS" ] || fail "there is no dist/SHA256SUMS to compare with" "make portable"
  commit=$(sed -n '1s/^# //p' "$SUMS")
  [[ $commit != *-dirty ]] || fail "dist/ was built from changes that are not committed" "commit them, then make portable"
  there=$(mktemp -d)
  # shellcheck disable=SC2064
  trap "rm -rf '$there'" EXIT
  git clone -q --no-checkout . "$there/elsewhere"
  git -C "$there/elsewhere" checkout -q --detach "$commit"
  # Nothing that was compiled here is taken.
  env -u CARGO_TARGET_DIR "$there/elsewhere/scripts/portable.sh"
  (cd "$there/elsewhere/dist" && sha256sum --check "$SUMS")
}

case ${1:-build} in
  build | check) "${1:-build}" ;;
  *)
    echo "usage: scripts/portable.sh [check]" >&2
    exit 2
    ;;
esac
