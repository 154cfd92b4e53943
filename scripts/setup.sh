#!/usr/bin/env bash
# Installs every Debian package that building, testing and measuring tra needs.
#   scripts/setup.sh           install what is missing
#   scripts/setup.sh --check   only report what is missing (exit 1 if anything is)
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
  libgtest-dev                                        # tests
  python3-dev python3-torch python3-numpy             # the Python package and its tests
  clang-format clang-tidy                             # make format, make lint
)

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true)
  [[ $status == "install ok installed" ]] || missing+=("$package")
done
if [[ ${#missing[@]} -eq 0 ]]; then exit 0; fi

echo "tra: missing packages: ${missing[*]}" >&2
if [[ ${1:-} == --check ]]; then exit 1; fi

if ! command -v apt-get >/dev/null; then
  echo "tra: no apt-get here; install the equivalents of the packages above, then build with cmake --preset release" >&2
  exit 1
fi
if [[ $(id -u) -eq 0 ]]; then
  as_root=()
elif command -v sudo >/dev/null; then
  as_root=(sudo)
else
  echo "tra: neither root nor sudo; ask an administrator to run: apt-get install ${missing[*]}" >&2
  exit 1
fi
"${as_root[@]}" apt-get update -q
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
