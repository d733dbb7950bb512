# SPDX-License-Identifier: Apache-2.0 OR MIT
# Sourced by scripts that build what is given away: the same commit and tools give the same bytes, in any folder, at any time.

# The time of files in packages; without git, the earliest that a wheel can have.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || echo 315532800)}
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC CARGO_INCREMENTAL=0
umask 022

# Paths of this machine, as programs are to have them.
REMAP=(
  "--remap-path-prefix=$PWD=."
  "--remap-path-prefix=${CARGO_TARGET_DIR:-$PWD/target}=./target"
  "--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"
)

# rustflags FLAG…: what cargo's --config takes to use these flags besides those of .cargo/config.toml.
rustflags() {
  local flags
  flags=$(printf ',"%s"' "$@")
  echo "target.'cfg(all())'.rustflags=[${flags#,}]"
}

# package TARGET PROGRAM: dist/knee-VERSION-TARGET.tar.gz, a folder with the program, its licences and README.md.
package() {
  local name
  name=knee-$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)-$1
  mkdir -p dist
  tar --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$SOURCE_DATE_EPOCH" --transform "s,^\(.*/\)\?,$name/," \
    -c LICENSE-APACHE LICENSE-MIT README.md "$2" | gzip -9n > "dist/$name.tar.gz"
  echo "dist/$name.tar.gz"
}
