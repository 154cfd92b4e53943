#!/usr/bin/env bash
# Runs tests of the page of tra view that need Node: web_test.sh WEB units | web_test.sh WEB browser PROGRAM. Exits with 77,
# and says why, where they cannot run.
set -euo pipefail
cd "$1"
skip() {
  echo "skipped: $1"
  exit 77
}
command -v node >/dev/null || skip "there is no node; scripts/setup.sh --browser installs it"
[[ -d node_modules ]] || skip "web/node_modules is missing; run: cd web && npm install"
case $2 in
  browser) exec node browser/explorer.mjs "$3" ;;
  units)
    [[ $(node -p 'parseInt(process.versions.node)') -ge 20 ]] || skip "the unit tests of the page need Node 20 or newer"
    node_modules/.bin/biome check --error-on-warnings .
    node_modules/.bin/tsc
    exec node_modules/.bin/vitest run
    ;;
esac
