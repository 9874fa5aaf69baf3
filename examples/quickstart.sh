#!/bin/sh
# Builds the program of the embedded default model and runs it: ./examples/quickstart.sh [PROMPT] [options of `run`]
# Installs missing packages with apt-get where it may; says what to install where it may not.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
. "$root/tests/packages.sh"
need_packages g++ cmake make libxsimd-dev libboost-dev libcli11-dev nlohmann-json3-dev libssl-dev

build=${LLAMBDA_BUILD_DIR:-"$root/build/quickstart"}
echo "building for this machine's CPU in $build (about a minute the first time)" >&2
mkdir -p "$build"
log="$build/build.log"
{
  cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DLLAMBDA_BUILD_TESTS=OFF -DLLAMBDA_ARCH=native &&
    cmake --build "$build" --target default_model --parallel 2
} >"$log" 2>&1 || { cat "$log" >&2; exit 1; }

if [ $# -eq 0 ]; then set -- "In the beginning"; fi
prompt=$1
shift
printf '\n%s' "$prompt"
"$build/examples/default_model" run -p "$prompt" -n 120 --temp 0.7 --top-k 40 --seed 1 "$@"
