#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
# Makes a short report with every verb that writes one: $OUT/NAME/report.html. One that this machine cannot make is named, with the reason.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
knee=$(realpath "${KNEE:-target/release/knee}")
out=${OUT:-out}/pages
mkdir -p "$out"
out=$(realpath "$out")
store=${KNEE_STORE:-$out/runs}
export KNEE_STORE=$store

# report NAME ARGUMENTS…: the report of a call. It must be there afterwards.
report() {
  local name=$1 said=$out/$1.log
  shift
  rm -rf "${out:?}/$name"
  if ! "$knee" "$@" --out "$out/$name" > "$said" 2>&1 || [ ! -e "$out/$name/report.html" ]; then
    echo "FAILED: knee $* --out $out/$name" >&2
    tail -n 20 "$said" >&2
    failed=1
  fi
}

# live NAME ARGUMENTS…: the same for verbs that need root and this kernel's namespaces.
live() {
  local name=$1 said=$out/$1.log
  shift
  rm -rf "${out:?}/$name"
  "$knee" "$@" > "$said" 2>&1
  if [ ! -e "$out/$name/report.html" ]; then
    echo "SKIPPED: the report of knee $1, which needs root and an emulated link: $(grep -m 1 . "$said")" >&2
  fi
}

failed=0
short=(--rate 20mbit --rtt 40ms --duration 20s)
report compare compare pert sack/droptail cubic/red-ecn "${short[@]}" --flows 4 --seeds 3
report hunt hunt vegas --evaluations 192 --for use,starvation
report compare-names compare 'pert:t1=3ms,decrease=0.25/self-configuring-red' 'pert:t1=4ms,decrease=0.25/self-configuring-red' \
  'cubic/red:ecn=true' "${short[@]}" --flows 2 --seeds 2
report compare-one compare cubic "${short[@]}" --flows 2 --seeds 2
report compare-web compare --workload web --duration 30s --seeds 2 sack/pi sack/cake
report compare-fluid compare pert --overlay fluid "${short[@]}" --flows 8 --seeds 2
report compare-deep compare pert sack/droptail cubic/red-ecn "${short[@]}" --flows 4 --seeds 3 --buffer 2bdp
report plot plot "$out/compare"
report diff diff "$out/compare" "$out/compare-deep"
report diff-apart diff "$out/compare" "$out/compare-names"
report coexist coexist cubic sack vegas --buffers 0.5bdp,1bdp --flows 2,4 --rate 10mbit --duration 10s --seeds 2
report plot-coexist plot "$out/coexist"
report run-grid run scripts/pages/grid.toml
report run-map run scripts/pages/map.toml
report run-capacity run scenarios/cellular.toml --seeds 2
report run-players run scenarios/streaming-adaptive.toml --seeds 2 --set run.duration=60s --set run.measure=0s..60s
report run-capture run scenarios/mixed-rtt.toml --seeds 1 --set run.duration=30s --set run.measure=5s..30s --pcap s1-r1 --pcap r1-s1
report run-lot run scenarios/parking-lot.toml --seeds 2 --set run.duration=20s --set run.measure=5s..20s
report reproduce reproduce pert.fig6 pert.fig4 pert.fig13a pert.tab1 ratcp.fig4 rfc7928.07-bursts --quick --seeds 2
report predict predict --seeds 1
report predict-capture predict "$out"/run-capture/captures/pert-seed1-*.pcapng
report fluid-run fluid run pert
report fluid-stability fluid stability pert --x rtt=20ms..500ms:16:log --y flows=1..100:16:log
report markov markov --along arrivals=0.1..4:5
live emulate emulate --rate 10mbit --delay 5ms --duration 4s --out "$out/emulate" -- bash -c 'for packet in {1..200}; do echo "$packet" > "/dev/udp/$KNEE_PEER/9"; sleep 0.01; done'
live live live scripts/pages/live.toml --repetitions 2 --out "$out/live"
live live-video live video --length 10s --repetitions 2 --quick --out "$out/live-video"
exit "$failed"
