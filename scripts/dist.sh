#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
# A release of `knee` with profile guidance, in dist/:
#
#     scripts/dist.sh train, and build with the counts scripts/dist.sh --profile FILE     build with an earlier
#     training; the same sources then give the same bytes
#
# 1. `knee` and the benchmark are built with counters.
# 2. They run what users run: every case, discipline, recovery and controller of `make bench`, and each kind of study with
#    every observer.
# 3. They are built again, laid out for the branches that were taken, stripped and without the paths of this machine.
#
# dist/bench is the benchmark, which `make bench` compares with the ordinary build. Its training takes a second compared
# with the minutes of `knee`'s, so its counts weigh more: all counts together decide which code is hot.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/reproducible.sh
features=${FEATURES:-}
weight=200
dist=$PWD/dist work=$PWD/target/guidance
target=$(rustc -vV | sed -n 's/^host: //p')
merge=$(rustc --print sysroot)/lib/rustlib/$target/bin/llvm-profdata
[ -x "$merge" ] || rustup component add llvm-tools

# build DIRECTORY FLAG…: both programs with these flags besides those of .cargo/config.toml.
build() {
  local directory=$1
  shift
  # shellcheck disable=SC2086
  cargo build --profile dist --locked -p kneepoint-cli -p xtask $features --target "$target" --target-dir "$directory" \
    --config "$(rustflags "$@")" \
    --config 'profile.dist.debug=false' --config 'profile.dist.strip=true'
}

mkdir -p "$dist" "$work"
if [ "${1:-}" = --profile ]; then
  cp "$2" "$dist/knee.profdata"
else
  rm -rf "$work/counts" "$work/bench" "$work/out"
  build "$work/counting" "-Cprofile-generate=$work/counts"
  knee=$work/counting/$target/dist/knee
  echo "Training"
  LLVM_PROFILE_FILE=$work/bench/%m-%p.profraw "$work/counting/$target/dist/xtask" bench --train
  (
    mkdir -p "$work/out" && cp -r scenarios "$work/out/" && cd "$work/out"
    "$knee" compare --fresh --seeds 1 --duration 60s --series csv --out compare
    "$knee" coexist --fresh --quick --out coexist
    "$knee" run scenarios/comparison.toml --fresh --seeds 1 --series parquet --out run
    "$knee" run scenarios/web.toml --fresh --seeds 1 --objects --out web
    "$knee" run scenarios/parking-lot.toml --fresh --seeds 1 --out parking-lot
    "$knee" run scenarios/cellular.toml --fresh --seeds 1 --out cellular
    "$knee" reproduce pert.fig3 pert.fig12 adaptive-pert.tab5 pisa.tab52 ratcp.fig5 --quick --fresh --out reproduce
    "$knee" predict scenarios/comparison.toml --seeds 1 --fresh --out predict
  ) > /dev/null
  "$merge" merge -o "$work/bench.profdata" "$work/bench"
  "$merge" merge -o "$work/knee.profdata" "$work/counts"
  "$merge" merge -o "$dist/knee.profdata" --weighted-input="$weight,$work/bench.profdata" "$work/knee.profdata"
fi
build "$work/guided" "-Cprofile-use=$dist/knee.profdata" "${REMAP[@]}"
cp "$work/guided/$target/dist/knee" "$dist/"
cp "$work/guided/$target/dist/xtask" "$dist/bench"
share dist/knee
package "$target" dist/knee
