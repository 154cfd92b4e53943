#!/usr/bin/env bash
# Runs the harnesses one after the other: run.sh BUILD SECONDS [NAME...]. Inputs that are worth keeping gather in
# BUILD/corpus, findings in BUILD/found; the run fails if there are any.
set -euo pipefail
seeds=$(dirname "${BASH_SOURCE[0]}")/seeds
build=$1 seconds=$2
shift 2
[[ $# -gt 0 ]] || set -- $(ls "$seeds")
# Containers that cross into libraries that are not instrumented, such as LibTorch, look overflowed. Debian's PCRE2 and
# OpenSSL keep what they allocate once.
export ASAN_OPTIONS=detect_container_overflow=0:detect_leaks=0
failed=()
for name in "$@"; do
  mkdir -p "$build/corpus/$name" "$build/found"
  "$build/bin/fuzz_$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 -max_len=65536 -print_final_stats=1 \
    -artifact_prefix="$build/found/$name-" "$build/corpus/$name" "$seeds/$name" || failed+=("$name")
done
if [[ ${#failed[@]} -gt 0 ]]; then
  echo "tra: found something with: ${failed[*]}; the inputs are in $build/found" >&2
  exit 1
fi
