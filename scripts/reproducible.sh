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

# rustflags FLAG…: the argument of cargo's --config that adds these flags to the ones in .cargo/config.toml.
rustflags() {
  local flags
  flags=$(printf ',"%s"' "$@")
  echo "target.'cfg(all())'.rustflags=[${flags#,}]"
}

VERSION=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)

# share PROGRAM: manual pages and completion scripts, made by a program of this machine, into target/share.
share() {
  rm -rf target/share
  mkdir -p target/share/{man/man1,bash-completion/completions,zsh/vendor-completions,fish/vendor_completions.d}
  "$1" man --out target/share/man/man1 > /dev/null
  "$1" completions bash > target/share/bash-completion/completions/knee
  "$1" completions zsh > target/share/zsh/vendor-completions/_knee
  "$1" completions fish > target/share/fish/vendor_completions.d/knee.fish
}

# archive FOLDER: a tar of its contents, the same bytes for the same files.
archive() {
  tar --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$SOURCE_DATE_EPOCH" -C "$(dirname "$1")" -c "$(basename "$1")" \
    | gzip -9n
}

# package TARGET PROGRAM: dist/knee-VERSION-TARGET.tar.gz, a folder with the program, its licences, README.md and the pages that it leads to,
# and the output of `share`.
package() {
  local name=knee-$VERSION-$1
  rm -rf "target/packages/$name"
  mkdir -p "target/packages/$name" dist
  cp -r LICENSE-APACHE LICENSE-MIT README.md ARCHITECTURE.md CHANGELOG.md CITATION.cff CONTRIBUTING.md DESIGN.md SECURITY.md docs "$2" target/share "target/packages/$name/"
  archive "target/packages/$name" > "dist/$name.tar.gz"
  echo "dist/$name.tar.gz"
}

# debian ARCHITECTURE PROGRAM: dist/knee_VERSION_ARCHITECTURE.deb, where dpkg-deb is.
debian() {
  local root=target/packages/knee_${VERSION}_$1
  if ! command -v dpkg-deb > /dev/null; then
    echo "SKIPPED: no Debian package for $1, because dpkg-deb was not found." >&2
    return
  fi
  rm -rf "$root"
  mkdir -p "$root"/DEBIAN "$root"/usr/bin "$root"/usr/share/doc/knee
  cp "$2" "$root/usr/bin/knee"
  cp -r target/share/. "$root/usr/share/"
  gzip -9n "$root"/usr/share/man/man1/*.1
  cp LICENSE-MIT LICENSE-APACHE "$root/usr/share/doc/knee/"
  cat > "$root/usr/share/doc/knee/copyright" <<'END'
Kneepoint is licensed under Apache-2.0 or MIT, as you like: LICENSE-APACHE, LICENSE-MIT.
The licences of the crates inside are in the bill of materials of the release.
END
  gzip -9nc CHANGELOG.md > "$root/usr/share/doc/knee/changelog.gz"
  cat > "$root/DEBIAN/control" <<END
Package: knee
Version: $VERSION
Architecture: $1
Section: net
Priority: optional
Maintainer: The Kneepoint authors <root@localhost>
Installed-Size: $(du -sk --apparent-size "$root/usr" | cut -f1)
Description: congestion-control laboratory
 Compares, designs and runs congestion controls and queue disciplines: a packet
 simulator, an emulator for real programs, reports, and published experiments.
END
  chmod -R u=rwX,go=rX "$root"
  find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
  dpkg-deb -Zgzip --root-owner-group --build "$root" "dist/knee_${VERSION}_$1.deb" > /dev/null
  echo "dist/knee_${VERSION}_$1.deb"
}

# bill TARGET: dist/knee-VERSION-TARGET.cdx.json, the bill of materials in the form of CycloneDX, where cargo-cyclonedx is.
bill() {
  local made=crates/kneepoint-cli/knee_bin.cdx.json
  if ! cargo cyclonedx --version > /dev/null 2>&1; then
    echo "SKIPPED: no bill of materials, because cargo-cyclonedx was not found: cargo install --locked cargo-cyclonedx" >&2
    return
  fi
  cargo cyclonedx -q --format json --spec-version 1.5 --describe binaries --no-build-deps --target "$1" --manifest-path crates/kneepoint-cli/Cargo.toml
  # Without paths of this machine.
  sed "s,path+file://$PWD,path+file://.,g" "$made" > "dist/knee-$VERSION-$1.cdx.json"
  # It writes one for each program of the workspace.
  find crates examples -name '*.cdx.json' -delete
  echo "dist/knee-$VERSION-$1.cdx.json"
}
