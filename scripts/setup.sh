#!/usr/bin/env bash
# Installs every Debian package that building, testing and measuring tra needs.
#   scripts/setup.sh           install what is missing, and say so in one line before; if nothing is, do and say nothing
#   scripts/setup.sh --check   only say what is missing (exit 1 if anything is)
#   scripts/setup.sh --browser   also what the tests in a browser need; without it they are skipped, so failing is no error
#   scripts/setup.sh --fuzz    also what make fuzz needs
set -euo pipefail

packages=(
  build-essential cmake ninja-build pkg-config git    # toolchain
  libtorch-dev libgloo-dev libprotobuf-dev            # tensors; Debian's Torch CMake files ask for all three
  libdnnl-dev ocl-icd-opencl-dev                      # oneDNN: the matrix products of models; its CMake files ask for OpenCL
  libopenblas0-openmp                                 # LibTorch's other products, on the same threads as the rest
  libhwy-dev                                          # SIMD with run-time dispatch
  libcli11-dev nlohmann-json3-dev libtomlplusplus-dev # command lines, JSON, TOML
  libpcre2-dev libssl-dev                             # the tokenizers' splitting pattern, checksums
  libpng-dev librsvg2-dev fonts-dejavu-core           # pictures as PNG, with text
  libcpp-httplib-dev                                  # the server of tra view
  libgtest-dev                                        # tests
  python3-dev python3-torch python3-numpy             # the Python package and its tests
  clang-format clang-tidy                             # make format, make lint
)

# clang, its libFuzzer and its OpenMP.
if [[ ${1:-} == --fuzz ]]; then packages+=(clang libclang-rt-dev libomp-dev); fi

missing=()
optional=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true)
  [[ $status == "install ok installed" ]] || missing+=("$package")
done
# The page of tra view is committed, so these are for its tests only. Node may come from elsewhere than Debian.
if [[ ${1:-} == --browser ]]; then
  command -v chromium >/dev/null || optional+=(chromium)
  command -v node >/dev/null || optional+=(nodejs)
  command -v npm >/dev/null || optional+=(npm)
fi

# Fetches what web/package-lock.json names. Without a way to the registry the tests in a browser are skipped. npm ci will
# not do: it insists on optional packages for all other platforms, which not every registry has.
fetch_modules() {
  cd "$(dirname "${BASH_SOURCE[0]}")/../web"
  if [[ node_modules/.package-lock.json -nt package-lock.json ]]; then return; fi
  command -v npm >/dev/null && timeout 300 npm install --no-save --ignore-scripts --no-progress --fetch-retries=1 >/dev/null 2>&1 ||
    echo "tra: npm install in web/ failed, so the tests of the page in a browser will be skipped" >&2
}
finish() {
  if [[ $1 == --browser ]]; then fetch_modules; fi
  exit 0
}

if [[ ${#missing[@]} -eq 0 && ${#optional[@]} -eq 0 ]]; then finish "${1:-}"; fi

all=("${missing[@]}" "${optional[@]}")
if [[ ${1:-} == --check ]]; then
  echo "tra: missing Debian packages, which scripts/setup.sh would install: ${all[*]}" >&2
  exit 1
fi
echo "tra: installing the missing Debian packages: ${all[*]}" >&2

if ! command -v apt-get >/dev/null; then
  if [[ ${#missing[@]} -eq 0 ]]; then finish "$1"; fi
  echo "tra: no apt-get here; install the equivalents of the packages above, then build with cmake --preset release" >&2
  exit 1
fi
if [[ $(id -u) -eq 0 ]]; then
  as_root=()
elif command -v sudo >/dev/null; then
  as_root=(sudo)
else
  if [[ ${#missing[@]} -eq 0 ]]; then finish "$1"; fi
  echo "tra: neither root nor sudo; ask an administrator to run: apt-get install ${missing[*]}" >&2
  exit 1
fi
install() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@"; }
"${as_root[@]}" apt-get update -q
if [[ ${#missing[@]} -gt 0 ]]; then install "${missing[@]}"; fi
if [[ ${#optional[@]} -gt 0 ]]; then
  install "${optional[@]}" || echo "tra: ${optional[*]} could not be installed; tests in a browser will be skipped" >&2
fi
finish "${1:-}"
