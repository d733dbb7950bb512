#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
# Compiles the laboratory and its engine for wasm32-unknown-unknown, and its controllers for x86_64-unknown-none too, which has
# no operating system and so no standard library.
#
# 1. With the toolchain's target, which is added if it is missing and can be had.
# 2. Else, on Debian, with its compiler and the library's sources, unpacked below target/ and not installed.
# 3. Else it says SKIPPED and why, and succeeds: KNEE_WASM=required makes that a failure.

set -eu
cd "$(dirname "$0")/.."

out=target/wasm
tools=$out/toolchain
packages='rustc-web rust-web-src libstd-rust-web-dev'

skipped() {
    echo "==================================================================" >&2
    echo "SKIPPED: $crate was NOT compiled for $triple: $1" >&2
    echo "Remedy:  rustup target add $triple" >&2
    echo "==================================================================" >&2
    [ "${KNEE_WASM:-}" != required ]
}

has_target() {
    [ -d "$(rustc --print sysroot)/lib/rustlib/$triple" ]
}

# Every package that the compiler needs to run, by name: its own library and LLVM carry a version in theirs.
needed() {
    echo "$packages" | tr ' ' '\n'
    library=$(apt-cache depends libstd-rust-web-dev | sed -n 's/.*Depends: \(libstd-rust-web-[0-9.]*\)$/\1/p')
    echo "$library"
    apt-cache depends "$library" | sed -n 's/.*Depends: \(libllvm[0-9.]*\)$/\1/p'
}

unpack() {
    mkdir -p "$tools/packages"
    (cd "$tools/packages" && apt-get download $(needed)) || return 1
    for package in "$tools"/packages/*.deb; do
        dpkg-deb -x "$package" "$tools/root" || return 1
    done
    # Cargo runs the compiler that RUSTC names: Debian's with its libraries next to it.
    root=$PWD/$tools/root/usr
    {
        echo '#!/bin/sh'
        echo "LD_LIBRARY_PATH='$root/lib/x86_64-linux-gnu:$(echo "$root"/lib/llvm-*/lib | tr ' ' ':')' \\"
        echo "exec '$root/bin/rustc' --sysroot '$root' \"\$@\""
    } >"$tools/rustc"
    chmod +x "$tools/rustc"
    "$tools/rustc" --version
}

# check CRATE TRIPLE LIBRARIES [ARGUMENTS]: LIBRARIES are those that have to be built where the target is missing.
check() {
    crate=$1 triple=$2 libraries=$3
    shift 3
    if ! has_target && command -v rustup >/dev/null; then
        echo "adding the target $triple"
        timeout 120 rustup target add "$triple" || echo "it could not be added" >&2
    fi
    if has_target; then
        cargo build -p "$crate" --target "$triple" --target-dir "$out" "$@"
    elif command -v apt-get >/dev/null && [ "$(uname -m)" = x86_64 ]; then
        if [ ! -x "$tools/rustc" ]; then
            rm -rf "$tools"
            unpack >&2 || {
                rm -rf "$tools"
                skipped "no target, and Debian's compiler could not be had"
                return
            }
        fi
        # The library is compiled from its sources, which a stable compiler does by a setting.
        RUSTC="$PWD/$tools/rustc" RUSTC_BOOTSTRAP=1 cargo build -p "$crate" --target "$triple" \
            --target-dir "$out" -Z build-std="$libraries" "$@"
    else
        skipped "the toolchain lacks the target and it could not be added"
        return
    fi
    echo "$crate compiles for $triple"
}

check kneepoint-cc x86_64-unknown-none core,alloc "$@"
check kneepoint-cc wasm32-unknown-unknown std,panic_abort "$@"
check kneepoint-sim wasm32-unknown-unknown std,panic_abort "$@"
check kneepoint wasm32-unknown-unknown std,panic_abort "$@"

# The contents of a page: the engine with every controller, discipline and source.
program=$out/wasm32-unknown-unknown/dist/examples/every_pair.wasm
if has_target; then
    cargo build -p kneepoint-sim --example every_pair --target wasm32-unknown-unknown --target-dir "$out" --profile dist \
        --config profile.dist.debug=false --config profile.dist.strip=true
    echo "the whole engine: $(wc -c <"$program") bytes, $(gzip -9c "$program" | wc -c) with gzip"
fi
