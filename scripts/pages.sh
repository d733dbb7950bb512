#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
# Makes a short report with every verb that writes one, and checks each in Chromium with scripts/pages/check.mjs.
# `scripts/pages.sh --shots DIR --only TEXT` keeps pictures, and looks at some; KNEE is the program, OUT the folder of reports.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=${OUT:-out}

browser=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
missing=$(for program in node npm; do command -v "$program" > /dev/null || echo "$program"; done; [ -n "$browser" ] || echo chromium)
if [ -n "$missing" ]; then
  echo "======================================================================"
  echo "SKIPPED: reports are not looked at in a browser; missing:" $missing
  echo "Install it with"
  echo
  echo "    apt-get install -y nodejs npm chromium          (Debian, Ubuntu)"
  echo "======================================================================"
  exit 0
fi

packages=$(mktemp -d)
trap 'rm -rf "$packages"' EXIT
npm install --prefix "$packages" --no-audit --no-fund --silent playwright-core@1.65.1 axe-core@4.14.1

OUT=$out "$here/pages/reports.sh" && made=0 || made=$?
CHROMIUM=$browser KNEE_PAGES_PACKAGES=$packages node "$here/pages/check.mjs" "$out/pages" "$@"
exit "$made"
