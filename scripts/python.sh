#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
# The Python package: `wheel` builds it as it is released, `test` builds it quickly and tests it, `notebooks` runs the examples and the
# sweeps on Ray.
set -eu -o pipefail
cd "$(dirname "$0")/.."

CARGO=${CARGO:-cargo}
# Of the program that tests have: with the same features as the tests in Rust, which then have compiled nearly everything.
FEATURES=${FEATURES:-}
VENV=target/python
PACKAGE=crates/kneepoint-py
# The wheel has its name and version in it, so a release is built by this one.
MATURIN="maturin==1.16.0"
# Tests that take minutes.
LONG="$PACKAGE/tests/test_notebooks.py $PACKAGE/tests/test_sweep.py $PACKAGE/tests/test_kills.py"

skip() {
  {
    echo "======================================================================"
    echo "SKIPPED: the Python package is not $1, because $2."
    echo "$3"
    echo "======================================================================"
  } >&2
  exit 0
}

# An environment of our own, with these packages.
environment() {
  command -v python3 > /dev/null || skip "$1" "python3 was not found" "Install Python 3.10 or later, with venv and pip."
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' || skip "$1" "python3 is older than 3.10" "Install a later one."
  python3 -c 'import ensurepip, venv' 2> /dev/null || skip "$1" "python3 has no venv" "apt-get install -y python3-venv    (Debian, Ubuntu)"
  [ -x $VENV/bin/python ] || python3 -m venv $VENV
  shift
  $VENV/bin/python -m pip install -q --disable-pip-version-check "$@" > target/pip.log 2>&1 \
    || skip "built" "pip could not install $*" "$(tail -3 target/pip.log)"
}

# build PROFILE FOLDER WHEELS AUDIT [OPTION…]: the program into the package's data, and the wheel. Both packages are selected, so that
# cargo chooses the features that maturin's build has, and common dependencies are compiled once.
build() {
  local profile=$1 folder=$2 wheels=$3 audit=$4
  shift 4
  $CARGO build --profile "$profile" --locked "$@" -p kneepoint-cli -p kneepoint-py --bin knee
  mkdir -p $PACKAGE/data/scripts
  cp "${CARGO_TARGET_DIR:-target}/$folder/knee" $PACKAGE/data/scripts/knee
  rm -f "$wheels"/*.whl
  $VENV/bin/maturin build -q --profile "$profile" --auditwheel "$audit" --locked "$@" -m $PACKAGE/Cargo.toml --out "$wheels"
}

# install: the wheel of the tests.
install() {
  # shellcheck disable=SC2086
  build dev debug target/wheels skip $FEATURES
  $VENV/bin/python -m pip install -q --disable-pip-version-check --force-reinstall --no-deps target/wheels/*.whl
}

case ${1:-} in
  wheel)
    environment built $MATURIN
    . scripts/reproducible.sh
    build wheel wheel dist repair --config "$(rustflags "${REMAP[@]}")"
    ls dist/*.whl
    ;;
  test)
    environment tested $MATURIN pytest mypy jsonschema numpy polars pandas pyarrow "gymnasium>=1"
    install
    # shellcheck disable=SC2086
    $VENV/bin/python -m pytest -q -rs $PACKAGE/tests $(printf -- '--ignore %s ' $LONG)
    ;;
  notebooks)
    environment tested $MATURIN pytest mypy numpy polars pandas pyarrow "gymnasium>=1" "ray[client]>=2" fsspec nbclient ipykernel matplotlib
    install
    # shellcheck disable=SC2086
    $VENV/bin/python -m pytest -q -rs $LONG
    ;;
  *)
    echo "usage: scripts/python.sh wheel|test|notebooks" >&2
    exit 2
    ;;
esac
