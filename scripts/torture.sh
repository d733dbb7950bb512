#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
# The bench of faults: every reader is fuzzed, and the trials of the tests are repeated many times. `make torture` runs
# it for an hour.
#
#     PART="fuzz disk" MINUTES=10 READERS="har capture" JOBS=2 scripts/torture.sh
#     scripts/torture.sh keep       minimises what the fuzzer found and takes it into the corpus of the repository
#
# Inputs that reach new code stay in a folder outside the repository, where the next run starts.
# It ends after the first part that fails, with status 1 and the way to reproduce the failure.

set -eu -o pipefail
cd "$(dirname "$0")/.."

PART=${PART:-fuzz flips kills pairs signals disk descriptors}
MINUTES=${MINUTES:-60}
JOBS=${JOBS:-1}
CARGO=${CARGO:-cargo}
CACHE=${KNEE_TORTURE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kneepoint/torture}
HOST=$(rustc -vV | sed -n 's/^host: //p')
TARGET=${CARGO_TARGET_DIR:-target}
export BIN=$TARGET/$HOST/torture/torture CACHE CORPUS=crates/torture/corpus DICTIONARIES=crates/torture/dictionaries

# $1 of an hour, for the minutes there are.
share() { echo $(($1 * MINUTES / 60 > 1 ? $1 * MINUTES / 60 : 1)); }

say() { printf '%s\n' "$*" | tee -a "$CACHE/summary"; }

# The program that feeds readers, with coverage: the flags of cargo-fuzz without a sanitizer, which a stable compiler has.
build() {
    for tool in c++ rustc; do
        command -v $tool > /dev/null || { echo "Fuzzing needs $tool, which was not found: apt-get install -y g++" >&2; exit 1; }
    done
    local coverage='-Cpasses=sancov-module' option
    for option in level=4 inline-8bit-counters pc-table trace-compares; do
        coverage+=" -Cllvm-args=-sanitizer-coverage-$option"
    done
    local bpf=
    if command -v clang > /dev/null && pkg-config --exists libelf zlib; then bpf=,bpf; fi
    RUSTFLAGS="--cfg fuzzing $coverage" $CARGO build --locked --profile torture --target "$HOST" -p kneepoint-torture --features "fuzz$bpf"
}

# The readers that were asked for: name, longest input, dictionary, folders of seeds. A blank at the end of a line would make xargs
# take the next line for its continuation.
readers() {
    env -u KNEE_READER "$BIN" 2> /dev/null | awk -v asked=" ${READERS:-} " 'asked == "  " || index(asked, " " $1 " ") { $1 = $1; print }'
}

# fuzz SECONDS NAME LONGEST DICTIONARY SEEDS…: a line with what happened; the status is that of libFuzzer.
fuzz() {
    local seconds=$1 name=$2 longest=$3 log=$CACHE/logs/$2 status=0 words=()
    mkdir -p "$CACHE/grown/$name" "$CACHE/logs" "$CACHE/crashes"
    if [ "$4" != - ]; then words=("-dict=$DICTIONARIES/$4"); fi
    KNEE_READER=$name "$BIN" "$CACHE/grown/$name" "$CORPUS/$name" "${@:5}" "${words[@]}" -max_len="$longest" -timeout=20 \
        -rss_limit_mb=3000 -max_total_time="$seconds" -print_final_stats=1 -artifact_prefix="$CACHE/crashes/$name-" > "$log" 2>&1 || status=$?
    # shellcheck disable=SC2016
    awk -v name="$name" '
        /^stat::number_of_executed_units/ { executed = $2 } /^stat::average_exec_per_sec/ { rate = $2 }
        /^stat::new_units_added/ { found = $2 } /^stat::peak_rss_mb/ { peak = $2 } /Test unit written to/ { crash = $NF }
        END {
            if (!executed) executed = 0
            printf "  %-14s %11d executions %7d/s %6d new inputs %5d MB", name, executed, rate, found, peak
            print crash ? "   FAILED: " crash : ""
        }' "$log" | tee -a "$CACHE/summary"
    return $status
}
export -f fuzz

part_fuzz() {
    build || return 1
    local table count seconds
    table=$(readers)
    count=$(wc -l <<< "$table")
    seconds=$((MINUTES * 60 * ($(wc -w <<< "$PART") > 1 ? 2 : 3) / 3 * JOBS / count))
    say "fuzz: $count readers for $seconds s each"
    xargs -P "$JOBS" -L 1 bash -c 'fuzz "$@"' _ "$seconds" <<< "$table" || return 1
}

# counted VARIABLE NUMBER: the tests in files that take their number of trials from a variable.
counted() {
    local variable=$1 number=$2 file crate place status=0
    local files
    files=$(grep -rl "$variable" crates/*/src crates/*/tests --include='*.rs' || true)
    if [ -z "$files" ]; then say "  no test takes its number of trials from $variable"; return; fi
    for file in $files; do
        crate=$(cut -d / -f 2 <<< "$file")
        place=${file#crates/*/}
        case $place in
            src/*) place="--lib $(sed 's,^src/,,; s,\.rs$,,; s,/mod$,,; s,/,::,g' <<< "$place")" ;;
            tests/*/main.rs) place="--test $(cut -d / -f 2 <<< "$place")" ;;
            tests/*/*) place="--test $(cut -d / -f 2 <<< "$place") $(basename "$place" .rs)::" ;;
            *) place="--test $(basename "$place" .rs)" ;;
        esac
        # shellcheck disable=SC2086
        try "$file, $variable=$number" env "$variable=$number" "$CARGO" test --locked -q -p "$crate" $place || status=1
    done
    return $status
}

# try WHAT COMMAND…: whether a command succeeds; its output is kept.
try() {
    local what=$1 log
    log=$CACHE/logs/$(tr -c 'a-z0-9\n' - <<< "${1,,}")
    mkdir -p "$CACHE/logs"
    if "${@:2}" > "$log" 2>&1; then say "  $what: $(grep -o '[0-9]* passed' "$log" | tail -1)"; else say "  FAILED: $what: $log"; return 1; fi
}

part_flips() { counted KNEE_TORTURE_FLIPS "$(share 10000)"; }
part_kills() { counted KNEE_TORTURE_KILLS "$(share 500)"; }
part_pairs() {
    if [ "$(id -u)" != 0 ]; then say "  SKIPPED: emulations need root"; return; fi
    counted KNEE_TORTURE_PAIRS "$(share 1000)"
}
part_signals() { try "interrupts" "$CARGO" test --locked -q -p kneepoint-cli --test knee stopping::; }

# A study that writes all kinds of files.
study() {
    cat << END
[run]
duration = "2s"
measure = "1s..2s"
sample = "10ms"
[topology]
kind = "dumbbell"
rate = "1mbit"
rtt = "20ms"
[[flows]]
count = 2
cc = "pert"
END
}

# survives WHAT COMMAND…: knee ends by itself, without a panic, and says why if it fails. Without memory Rust's allocator ends a program.
survives() {
    local said status=0
    said=$("${@:2}" 2>&1 > /dev/null) || status=$?
    if [[ $said == *"memory allocation of"* ]]; then status=1; fi
    case $status in 0 | 1 | 2) ;; *) say "  FAILED: $1: status $status: ${*:2}: $said"; return 1 ;; esac
    if [[ $said == *panicked* ]] || { [ $status != 0 ] && [ -z "$said" ]; }; then say "  FAILED: $1: ${*:2}: $said"; return 1; fi
}

# A folder with the program and the study, which goes when this script ends.
HERE=
leave() {
    if [ -n "$HERE" ]; then
        umount "$HERE/disk" 2> /dev/null || true
        rm -rf "$HERE"
    fi
}
trap leave EXIT
enter() {
    leave
    HERE=$(mktemp -d)
    mkdir "$HERE/disk"
    study > "$HERE/study.toml"
    "$CARGO" build --locked -q -p kneepoint-cli && cp "$TARGET/debug/knee" "$HERE/knee"
}

# result DIRECTORY: its files that have something in them.
result() { (cd "$1" && find . -type f -size +0 | sort); }

# A disk that is full after some kilobytes: afterwards a file is either whole or absent.
part_disk() {
    if [ "$(id -u)" != 0 ]; then say "  SKIPPED: a small disk needs root"; return; fi
    enter || return 1
    local tried=0 full=0 size disk=$HERE/disk whole
    "$HERE/knee" run "$HERE/study.toml" --store "$HERE/runs" --out "$HERE/free" --pcap r1-r2 > /dev/null 2>&1
    whole=$(result "$HERE/free")
    for size in $(seq 4 "$((1200 / $(share 100)))" 1200); do
        tried=$((tried + 1))
        mount -t tmpfs -o "size=${size}k" tmpfs "$disk"
        survives "a disk of $size kB" "$HERE/knee" run "$HERE/study.toml" --store "$disk/runs" --out "$disk/out" --pcap r1-r2 || return 1
        if [ ! -e "$disk/out" ]; then
            full=$((full + 1))
        elif [ "$(result "$disk/out")" != "$whole" ]; then
            say "  FAILED: a disk of $size kB: a part of a result stays: $(result "$disk/out")"
            return 1
        fi
        umount "$disk"
    done
    say "  $tried disks, $full too small: refused, and nothing stays"
}

# Few descriptors, and little memory: from the least that loads the program.
part_descriptors() {
    enter || return 1
    local limit tried=0
    for limit in --nofile={4..40} --as={60..400..20}000000; do
        tried=$((tried + 1))
        survives "prlimit $limit" prlimit "$limit" "$HERE/knee" run "$HERE/study.toml" --store "$HERE/runs" --fresh --out "$HERE/out" \
            || return 1
        rm -rf "$HERE/out"
    done
    say "  $tried limits"
}

# Adds the fuzzer's findings to the repository: the fewest and shortest inputs that reach the same code.
keep() {
    build
    local name longest words seeds
    readers | while read -r name longest words seeds; do
        # shellcheck disable=SC2086
        KNEE_READER=$name "$BIN" -set_cover_merge=1 -use_counters=0 -max_len=300 "$CORPUS/$name" $seeds "$CACHE/grown/$name" 2>&1 | tail -1
    done
}

mkdir -p "$CACHE"
: > "$CACHE/summary"
if [ "${1:-}" = keep ]; then keep; exit; fi
for part in $PART; do
    say "$part"
    if ! "part_$part"; then
        echo "make torture: $part failed; the lines above name what reproduces it. A reader's input: KNEE_READER=NAME $BIN FILE" >&2
        exit 1
    fi
done
awk '/ executions / { inputs += $2 } END { if (inputs) printf "%d inputs in all\n", inputs }' "$CACHE/summary"
echo "make torture: everything survived"
