#!/usr/bin/env bash
# Runs scripts/setup.sh with programs in place of Debian's that only write down how they were called.
set -euo pipefail
setup=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"

fail() {
  echo "setup_test: $1" >&2
  exit 1
}
# Makes a program that counts as root and as Debian, where the given packages are missing.
pretend() {
  cat >"$work/bin/dpkg-query" <<END
#!/bin/sh
for package in $*; do case " \$* " in *" \$package "*) exit 1 ;; esac; done
echo "install ok installed"
END
  printf '#!/bin/sh\necho 0\n' >"$work/bin/id"
  printf '#!/bin/sh\necho "$@" >>"%s/apt"\n' "$work" >"$work/bin/apt-get"
  chmod +x "$work"/bin/*
  rm -f "$work/apt"
}
run() { PATH="$work/bin:$PATH" bash "$setup" "$@" >"$work/said" 2>&1; }

pretend
run || fail "failed where nothing is missing"
[[ ! -e $work/apt ]] || fail "called apt-get where nothing is missing: $(cat "$work/apt")"
[[ ! -s $work/said ]] || fail "said something where nothing is missing: $(cat "$work/said")"
run --check || fail "--check failed where nothing is missing"

pretend libhwy-dev libgtest-dev
run || fail "failed: $(cat "$work/said")"
[[ $(cat "$work/said") == "tra: installing the missing Debian packages: libhwy-dev libgtest-dev" ]] ||
  fail "said $(cat "$work/said")"
grep -q '^install .*libhwy-dev libgtest-dev$' "$work/apt" || fail "called apt-get with $(cat "$work/apt")"

pretend libhwy-dev
if run --check; then fail "--check succeeded where a package is missing"; fi
[[ $(cat "$work/said") == "tra: missing Debian packages, which scripts/setup.sh would install: libhwy-dev" ]] ||
  fail "--check said $(cat "$work/said")"
[[ ! -e $work/apt ]] || fail "--check called apt-get"
