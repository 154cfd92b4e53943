#!/usr/bin/env bash
# Checks formatting and runs static analysis. Exits non-zero on any finding.
#   scripts/lint.sh [FILE.cc...]   only these sources; all by default
# A source that passed is not analysed again until it, or anything it includes, changes.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files '*.cc' '*.h' | xargs clang-format --dry-run -Werror
# clang cannot read the compiler's precompiled headers, so it gets commands without them.
cmake --preset release -B build/lint -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON >/dev/null
mkdir -p build/lint/passed
export settings
settings=$(clang-tidy --version; cat .clang-tidy)

# What a source says once everything it includes is in it decides whether it was seen before.
analyse() {
  local source=$1 command stamp
  command=$(python3 - "$source" <<'PYTHON'
import json, os, shlex, sys
entries = json.load(open("build/lint/compile_commands.json"))
entry = next((e for e in entries if os.path.realpath(os.path.join(e["directory"], e["file"])) == os.path.realpath(sys.argv[1])), None)
if entry:
    words = shlex.split(entry["command"])
    del words[words.index("-o"):words.index("-o") + 2]
    print("cd", shlex.quote(entry["directory"]), "&&", shlex.join([w for w in words if w != "-c"]), "-E -P")
PYTHON
)
  if [[ -z $command ]]; then
    echo "lint: $source is not part of the build, and not analysed" >&2
    return 0
  fi
  stamp=build/lint/passed/$( { echo "$settings"; eval "($command)"; cat "$source"; } | sha256sum | cut -d ' ' -f 1)
  [[ -e $stamp ]] && return 0
  clang-tidy --quiet -p build/lint "$source"
  touch "$stamp"
}
export -f analyse

# Outside projects (tests/consumer) are not in the compilation database.
sources=("$@")
[[ $# -gt 0 ]] || mapfile -t sources < <(git ls-files '*.cc' | grep -v '^tests/consumer/')
printf '%s\n' "${sources[@]}" | xargs -P "$(nproc)" -I '{}' bash -euc 'analyse "$1"' bash '{}'
