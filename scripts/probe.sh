#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
# Renews the table of docs/emulator.md: the emulated link at several rates, measured from outside. As root, on an idle machine.

set -eu
cd "$(dirname "$0")/.."
knee=${KNEE:-target/release/knee}
table=target/probe

{
    echo "$(date +%F), Linux $(uname -r), $(nproc) cores, load $(cut -d ' ' -f 1 /proc/loadavg); 20 ms each way, errors and lateness in µs at p50, p99 and most:"
    echo
    echo '| rate (Mbit/s) | error of the delay, packets 5 ms apart | in a stream | rate of trains: median, least, most | lateness by its own clock |'
    echo '|---:|---:|---:|---:|---:|'
    for rate in 10 100 1000; do
        # The status says whether the emulation was valid; the numbers are wanted in any case.
        "$knee" emulate --probe --rate ${rate}mbit --delay 20ms --json 2> /dev/null | jq -r --arg rate $rate '
            def three: "\(.p50 | round) / \(.p99 | round) / \(.max | round)";
            def two: . * 100 | round / 100;
            "| \($rate) | \(.sparse_error_us | three) | \(.stream_error_us | three) | \(.rate_mbps.median | two), \(.rate_mbps.min | two), \(.rate_mbps.max | two) | \(.lateness_us | three) |"'
    done
} > "$table"
sed -i -e '/^<!-- probe -->/,/^<!-- end of probe -->/{/^<!--/!d}' -e "/^<!-- probe -->/r $table" docs/emulator.md
cat "$table"
