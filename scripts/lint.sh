#!/usr/bin/env bash
# Checks formatting and runs static analysis. Exits non-zero on any finding.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files '*.cc' '*.h' | xargs clang-format --dry-run -Werror
# Outside projects (tests/consumer) are not in the compilation database.
# clang cannot read the compiler's precompiled headers, so it gets commands without them.
cmake --preset release -B build/lint -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON >/dev/null
git ls-files '*.cc' | grep -v '^tests/consumer/' | xargs -P "$(nproc)" -n 1 clang-tidy --quiet -p build/lint
