#!/usr/bin/env bash
# Formatting and static analysis; needs a configured build/release. Exits non-zero on any finding.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files '*.cc' '*.h' | xargs clang-format --dry-run -Werror
# Outside projects (tests/consumer) are not in the compilation database.
git ls-files '*.cc' | grep -v '^tests/consumer/' | xargs -P "$(nproc)" -n 1 clang-tidy --quiet -p build/release
