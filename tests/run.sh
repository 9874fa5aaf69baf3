#!/bin/sh
# Builds and runs all tests: ./tests/run.sh [--sanitize | --tsan | --clang | --full] [ctest options]
#   --sanitize  address and undefined-behaviour sanitizers    --tsan  thread sanitizer
#   --clang     with clang++-19                               --full  the plain run, then all of the above
# Installs missing Debian packages where it may; says what to install where it may not.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
. "$root/tests/packages.sh"
need_packages g++ cmake ninja-build ccache libxsimd-dev libboost-dev catch2 libcli11-dev nlohmann-json3-dev libssl-dev \
  binutils qemu-user strace

flavour=plain
case ${1:-} in
  --sanitize | --tsan | --clang | --full) flavour=${1#--}; shift ;;
esac
if [ "$flavour" = full ]; then
  "$0" "$@"
  for f in sanitize tsan clang; do "$0" "--$f" "$@"; done
  exit 0
fi

# Translation units that instantiate a whole model take up to 1.5 GB: fewer jobs where memory is short.
jobs=$(nproc 2>/dev/null || echo 1)
memory=$(awk '/MemAvailable/ {print int($2 / 1500000)}' /proc/meminfo 2>/dev/null || echo 1)
if [ "$memory" -lt "$jobs" ]; then jobs=$((memory > 0 ? memory : 1)); fi

build="$root/build/tests-$flavour"
set -- --output-on-failure "$@"
options="-DCMAKE_BUILD_TYPE=Release"
case $flavour in
  sanitize)
    options="-DCMAKE_BUILD_TYPE=Debug -DLLAMBDA_BUILD_EXAMPLES=OFF"
    export CXXFLAGS="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all"
    set -- "$@" -L unit ;;
  tsan)
    options="-DCMAKE_BUILD_TYPE=Debug -DLLAMBDA_BUILD_EXAMPLES=OFF"
    export CXXFLAGS="-O1 -g -fsanitize=thread"
    set -- "$@" -L unit ;;
  clang)
    need_packages clang-19
    options="$options -DCMAKE_CXX_COMPILER=clang++-19" ;;
esac
launcher=""
if command -v ccache >/dev/null 2>&1; then launcher="-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"; fi
# shellcheck disable=SC2086
cmake -S "$root" -B "$build" -G Ninja $options $launcher >&2
cmake --build "$build" --parallel "$jobs" >&2
cd "$build" && exec ctest "$@"
