#!/usr/bin/env bash
# Checks that the attention kernels of this tree compute bit for bit what those of another revision do: builds the
# fingerprints program (tests/kernels/fingerprints.cc) of both, and compares what the two print on this machine.
#   scripts/same_bits.sh REVISION     # exit 1, with the first differences, where any bit differs
set -euo pipefail
cd "$(dirname "$0")/.."
if [[ $# -ne 1 ]]; then
  echo "usage: scripts/same_bits.sh REVISION" >&2
  exit 2
fi
revision=$(git rev-parse --verify --quiet "$1^{commit}") || {
  echo "same_bits: no revision '$1' here; git log lists them" >&2
  exit 2
}
work=$PWD/build/same-bits
mkdir -p "$work"
if [[ ! -d $work/$revision ]]; then
  git worktree prune
  git worktree add --detach "$work/$revision" "$revision" >/dev/null
fi

# Prints the fingerprints of the tree $1, built in $2: kernels and their tests only, no LibTorch.
fingerprints() {
  cmake -S "$1" -B "$2" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTRA_OPS=OFF -DTRA_BENCH=OFF >/dev/null
  cmake --build "$2" --target kernels_fingerprints >/dev/null
  "$2/tests/kernels/kernels_fingerprints" | sort  # rules may be printed in another order
}

fingerprints "$work/$revision" "$work/build-$revision" >"$work/before.txt"
fingerprints "$PWD" "$work/build" >"$work/after.txt"
if ! diff "$work/before.txt" "$work/after.txt" >"$work/differences.txt"; then
  echo "same_bits: $(grep -c '^>' "$work/differences.txt") of $(wc -l <"$work/after.txt") lines differ from ${revision:0:12}:" >&2
  head -n 4 "$work/differences.txt" >&2
  exit 1
fi
echo "same_bits: all $(wc -l <"$work/after.txt") lines are those of ${revision:0:12}"
