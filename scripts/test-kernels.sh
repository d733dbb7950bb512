#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
# Boots kernels of Debian in an emulated machine and runs kernel programs there: scripts/kernels/init says what. Kernels are
# unpacked below target/ and not installed. The table of docs/kernel.md is renewed with --write.
#
# The machine is QEMU without KVM, which any host can run. Its timing is that of an emulated processor: numbers that
# depend on delays mean nothing there, and none are asserted.
#
# Where QEMU or Debian's packages are missing it says SKIPPED and why, and succeeds: KNEE_KERNELS=required makes that a failure.

set -eu
cd "$(dirname "$0")/.."

kernels='linux-image-cloud-amd64 linux-image-6.12-cloud-amd64'
# In the order in which their names sort, none needs a later one.
modules='veth tun sch_tbf sch_ingress cls_bpf inet_diag tcp_diag'
tools='sh ip tc ss nsenter sysctl'
out=target/kernels
patience=1200

skipped() {
    echo "==================================================================" >&2
    echo "SKIPPED: kernel programs were NOT tried in $1: $2" >&2
    echo "Remedy:  $3" >&2
    echo "==================================================================" >&2
    [ "${KNEE_KERNELS:-}" != required ]
}

# Nothing can be tried.
stop() {
    skipped 'other kernels' "$@"
    exit
}

[ "$(uname -m)" = x86_64 ] || stop "this machine is $(uname -m)" 'run it on x86_64'
command -v qemu-system-x86_64 > /dev/null ||
    stop 'QEMU is missing' 'apt-get install -y --no-install-recommends qemu-system-x86'
command -v apt-get > /dev/null ||
    stop 'Debian packages cannot be had without apt-get' 'run it on Debian or Ubuntu'

# unpack PACKAGE: into its own folder, whose name it prints.
unpack() {
    folder=$PWD/$out/$1
    [ -d "$folder" ] || {
        mkdir -p "$folder.part"
        (cd "$folder.part" && apt-get download -q "$1" && dpkg -x ./*.deb . && rm ./*.deb) > "$folder.log" 2>&1 || return 1
        mv "$folder.part" "$folder"
    }
    echo "$folder"
}

# The package of an image for which an empty package stands.
image() {
    apt-cache depends "$1" 2> /dev/null | sed -n 's/.*Depends: \(linux-image-.*\)$/\1/p' | head -n 1
}

# copy FILE PLACE: a program with its libraries.
copy() {
    mkdir -p "$root/$(dirname "$2")"
    cp -L "$1" "$root/$2"
    for library in $(ldd "$1" | grep -o '/[^ ]*'); do
        mkdir -p "$root/$(dirname "$library")"
        cp -nL "$library" "$root/$library"
    done
}

mkdir -p "$out"
cargo build --locked -p kneepoint-cli --features bpf
tests=$(cargo test --locked -p kneepoint-linux --features bpf --test machine --no-run --message-format=json |
    sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1)
busybox=$(unpack busybox-static) ||
    stop "apt-get does not download busybox-static ($out/busybox-static.log)" 'apt-get update'
busybox=$busybox/bin/busybox

root=$PWD/$out/root
rm -rf "$root"
copy "$busybox" bin/busybox
copy target/debug/knee usr/bin/knee
copy "$tests" bin/tests
strip "$root/usr/bin/knee" "$root/bin/tests"
for tool in $tools; do
    copy "$(command -v "$tool")" "usr/bin/$tool"
done
cp scripts/kernels/init "$root/init"
chmod +x "$root/init"
mkdir -p "$root/modules"

# run PACKAGE: boots it, and leaves what it printed in $out/PACKAGE.console.
run() {
    folder=$(unpack "$1") || return 1
    rm -f "$root"/modules/*
    for module in $modules; do
        find "$folder" -name "$module.ko*" -exec cp {} "$root/modules/" \;
    done
    ! ls "$root"/modules/*.xz > /dev/null 2>&1 || xz -d "$root"/modules/*.xz
    (cd "$root" && find . | "$busybox" cpio -o -H newc 2> /dev/null) > "$out/initramfs"
    echo "$1: booted in an emulated machine, a few minutes"
    timeout "$patience" nice -n 5 qemu-system-x86_64 -accel tcg -cpu max -smp 2 -m 2048 -nographic -no-reboot \
        -kernel "$folder"/boot/vmlinuz-* -initrd "$out/initramfs" -append 'console=ttyS0 panic=-1 quiet' \
        < /dev/null 2>&1 | tr -d '\r' > "$out/$1.console" || true
}

row() {
    results="$out/$1.console"
    count() { grep -c "^KNEE $1" "$results" || true; }
    skips=$(sed -n 's/^KNEE SKIPPED: \(.*\)/\1/p' "$results" | sed ':a;N;$!ba;s/\n/; /g')
    echo "| $(sed -n 's/^.*KNEE kernel //p' "$results") | $(count ok) | $(count FAILED) | ${skips:-nothing} |"
}

table=$out/table
echo '| kernel | steps passed | failed | not possible there |' > "$table"
echo '|---|---:|---:|---|' >> "$table"
failed=
for meta in $kernels; do
    package=$(image "$meta")
    if [ -z "$package" ] || ! run "$package"; then
        skipped "$meta" "apt-get does not download it ($out/$package.log)" 'apt-get update' || failed=1
        continue
    fi
    grep '^KNEE' "$out/$package.console" | sed 's/^KNEE /  /'
    grep -q '^KNEE end' "$out/$package.console" || {
        echo "$package: the machine did not come to the end; see $out/$package.console" >&2
        failed=1
    }
    ! grep -q '^KNEE FAILED' "$out/$package.console" || failed=1
    row "$package" >> "$table"
done
cat "$table"
if [ "${1:-}" = --write ]; then
    sed -i -e "/^<!-- kernels -->/,/^<!-- end of kernels -->/{/^<!--/!d}" -e "/^<!-- kernels -->/r $table" docs/kernel.md
fi
[ -z "$failed" ]
