#!/bin/sh
# The driver and a model's program as a user meets them: exit codes, what goes to which stream, the cache, refusals, the
# embedded model, an older CPU.   cli_test.sh DRIVER PROGRAM SOURCE_DIR
set -u
driver=$1
program=$2
source=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LLAMBDA_CACHE_DIR="$work/cache of programs"
model="$source/tests/golden/gqa_odd.gguf"
default="$source/examples/default_model/default.gguf"
failed=0

check() { # check NAME CONDITION...
  name=$1
  shift
  if "$@"; then echo "ok   $name"; else echo "FAIL $name"; failed=1; fi
}
exits() { # exits CODE COMMAND...: stdout to $work/out, stderr to $work/err
  code=$1
  shift
  "$@" >"$work/out" 2>"$work/err" </dev/null
  got=$?
  [ "$got" -eq "$code" ] || { echo "     exit code $got, expected $code: $*"; sed 's/^/     /' "$work/err" | head -5; return 1; }
}
says() { grep -q -- "$1" "$work/err"; }
prints() { grep -q -- "$1" "$work/out"; }
empty() { [ ! -s "$1" ]; }

# usage and refusals
check "no command is a usage error" exits 2 "$driver"
check "an unknown option is a usage error" exits 2 "$driver" run "$model" --nonsense
check "a temperature below zero is a usage error" exits 2 "$driver" run "$model" --temp -1
check "help is no error" exits 0 "$driver" --help
check "a file that is not there" exits 1 "$driver" run "$work/none.gguf"
check "... is named" says "none.gguf"
printf 'GGUF\003\000\000\000' >"$work/short.gguf"
check "inspect: a file that is not sound" exits 1 "$driver" inspect "$work/short.gguf"
check "... one line on stderr" [ "$(wc -l <"$work/err")" -eq 1 ]
check "... says what and where" says "short.gguf: truncated"
check "inspect: a sound one" exits 0 "$driver" inspect "$model"
check "... shows tensors" prints "blk.0.attn_q.weight"
check "... shows the plan" prints "kv_cache"
check "inspect as JSON" exits 0 "$driver" inspect --json "$model"
check "... parses" sh -c "command -v python3 >/dev/null || exit 0; python3 -c 'import json,sys; json.load(open(sys.argv[1]))[\"plan\"][\"total\"]' '$work/out'"
check "inspect refuses a model it could not run, politely" exits 0 "$driver" inspect "$source/tests/golden/gqa_odd.expect.gguf"
check "... and says what is supported" prints "one of: llama"

# compile once, then from the cache
check "run compiles and generates" exits 0 "$driver" run "$model" -p ab -n 4 --temp 0 --context 32 --arch avx2
check "... figures go to stderr" says "tok/s"
check "... nothing of progress in a pipe" sh -c "! grep -q compiling '$work/err'"
cp "$work/out" "$work/first"
binary=$(find "$LLAMBDA_CACHE_DIR" -name model -type f)
stamp=$(stat -c %Y.%i "$binary")
start=$(date +%s%N)
check "the second time too" exits 0 "$driver" run "$model" -p ab -n 4 --temp 0 --context 32 --arch avx2
milliseconds=$((($(date +%s%N) - start) / 1000000))
check "... with the program of the first ($milliseconds ms)" [ "$(stat -c %Y.%i "$binary")" = "$stamp" ]
check "... and the same text" cmp -s "$work/out" "$work/first"
check "options go through the driver" exits 0 "$driver" run "$model" -p ab -n 4 --temp 0 --context 32 --arch avx2 --stop "no such text" \
  --logit-bias 5-1 -l 6+0.5 --top-n-sigma -1 --presence-penalty -0.5 --logprobs 1 --json
check "... all of them" says '"logprobs":\[{.*"top":\[{'
check "other options, another program" exits 0 "$driver" build "$model" -o "$work/program" --context 16 --arch avx2
check "... which knows its limits" sh -c "'$work/program' plan | grep -q 'context 16'"
check "wrong model for a program: refused" exits 1 "$work/program" run -m "$default" -p a
check "... with the list of differences" says "hidden: expected 40, got 192"
check "... all of them" sh -c "[ \$(grep -c expected '$work/err') -gt 20 ]"
check "an unsupported file: refused before any compiler runs" exits 1 env CXX=/bin/false "$driver" run "$source/tests/golden/gqa_odd.expect.gguf"
check "a compiler that is not there" exits 1 "$driver" run "$model" --cxx "$work/no-compiler" -n 1

# the embedded model
check "embedded: run" exits 0 "$program" run -p "In the beginning" -n 8 --temp 0
cp "$work/out" "$work/greedy"
check "the last of an option given twice counts" exits 0 "$program" run -p "In the beginning" -n 8 --temp 1 --temp 0
check "... as if given once" cmp -s "$work/out" "$work/greedy"
check "... the text alone on stdout" sh -c "! grep -q tok/s '$work/out'"
check "--json: figures are one JSON object on stderr" exits 0 "$program" run -p "In the beginning" -n 8 --temp 0 --json
check "... with the planned bytes" says '"planned_bytes":'
check "--stop: the text ends before it" exits 0 "$program" run -p "In the beginning" -n 8 --temp 0 --stop zzz --stop "earth" --json
check "... wherever its tokens begin" prints '^ of the $'
check "... and the figures say so" says '"finish_reason":"stop"'
check "--logprobs: in the JSON" exits 0 "$program" run -p "In the beginning" -n 2 --temp 0 --logprobs 2 --json
check "... each token and the best" says '"logprobs":\[{"id":[0-9]*,"text":".*","logprob":-.*"top":\[{.*},{.*}\]},{'
check "sampling options" exits 0 "$program" run -p "In the beginning" -n 8 -s 1 --dry-multiplier 0.8 --dry-sequence-breaker none \
  --xtc-probability 0.5 --top-n-sigma 1.5 --typical 0.9 --dynatemp-range 0.3 --presence-penalty 0.2 --frequency-penalty -0.1 -l 300-inf
check "mirostat" exits 0 "$program" run -p "In the beginning" -n 8 -s 1 --mirostat 2 --mirostat-ent 3 --mirostat-lr 0.2
check "a bias that is none" exits 2 "$program" run -p a -n 1 --logit-bias 5x
check "a bias past the vocabulary" exits 1 "$program" run -p a -n 1 --logit-bias 999999+1
check "an empty stop string" exits 2 "$program" run -p a -n 1 --stop ""
check "bench" exits 0 "$program" bench -p 8 -n 4 -r 2 -t 1,2 -o json
check "... a result a thread count" [ "$(grep -c pp_tok_s "$work/out")" -eq 2 ]
check "plan as JSON" exits 0 "$program" plan --json
check "perplexity" exits 0 "$program" perplexity -f "$source/README.md" --window 64
check "a closed stdout is noticed" sh -c "'$program' run -p a -n 200 --ignore-eos 2>'$work/err' | head -c 1 >/dev/null; grep -q closed '$work/err'"
if command -v strace >/dev/null 2>&1 && strace -o /dev/null true 2>/dev/null; then
  strace -f -e trace=open,openat -o "$work/trace" "$program" run -p a -n 2 --temp 0 >/dev/null 2>&1
  check "embedded: no file is opened but libraries and the system's own" \
    sh -c "! grep -v ENOENT '$work/trace' | grep open | grep -v -E '\"(/etc/ld|/lib|/usr/lib|/sys/|/proc/)'"
else
  echo "skipped: no strace"
fi

# an older CPU
if command -v qemu-x86_64 >/dev/null 2>&1; then
  for cpu in Nehalem Haswell,-f16c Haswell,-fma Haswell,-avx2; do
    check "$cpu: refused" exits 69 qemu-x86_64 -cpu "$cpu" "$program" run -p a -n 1
    check "... says what is needed" says "needs AVX2+FMA+F16C"
  done
  check "Haswell: runs" exits 0 qemu-x86_64 -cpu Haswell "$program" run -p "In the beginning" -n 8 --temp 0 -t 1
  check "... the same text" cmp -s "$work/out" "$work/greedy"
else
  echo "skipped: no qemu-x86_64"
fi
exit $failed
