#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
# Runs the scenarios of docs/web.md and puts their tables and figures into it, between the lines that name them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
knee=${KNEE:-target/release/knee}
out=${OUT:-out}/web
page=docs/web.md

for name in web-queues web-queues-ecn web-pages; do
  "$knee" run "scenarios/$name.toml" --out "$out/$name" > /dev/null
  for figure in "$out/$name"/figures/{completion_times,long_against}_*.svg; do
    stem=$(basename "$figure" .svg)
    cp "$figure" "docs/figures/$name-${stem%_*}.svg"
  done
  # The section about short transfers, without its heading and its figures.
  awk '/^## / { inside = /^## Transfers of / } inside && !/^(## |!\[)/' "$out/$name/report.md" |
    awk '/^(The shortest |\|)/ { print; if (!/^\|/) print "" }' > "$out/$name.md"
  awk -v name="$name" -v table="$out/$name.md" '
    $0 == "<!-- " name " -->" { print; print ""; while ((getline line < table) > 0) print line; print ""; skip = 1; next }
    /^<!-- end -->$/ { skip = 0 }
    !skip' "$page" > "$out/page.md"
  cp "$out/page.md" "$page"
done
echo "wrote $page"
