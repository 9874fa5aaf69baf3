#!/bin/sh
# `llambda tokenize` on a vocabulary without weights.   tokenize_test.sh DRIVER SOURCE_DIR
set -u
driver=$1
vocab="$2/tests/golden/bpe_tiny.gguf"
failed=0

check() { # check NAME EXPECTED ARGUMENTS...: standard output is EXPECTED
  name=$1
  expected=$2
  shift 2
  got=$("$driver" tokenize "$vocab" "$@" </dev/null 2>&1)
  if [ "$got" = "$expected" ]; then echo "ok   $name"; else printf 'FAIL %s\n     expected %s\n     got %s\n' "$name" "$expected" "$got"; failed=1; fi
}
exits() { # exits NAME CODE ARGUMENTS...
  name=$1
  code=$2
  shift 2
  "$driver" tokenize "$@" >/dev/null 2>&1 </dev/null
  got=$?
  if [ "$got" -eq "$code" ]; then echo "ok   $name"; else echo "FAIL $name: exit code $got, expected $code"; failed=1; fi
}

check "ids" "757 64" -p a --ids
check "no bos" "64" -p a --ids --no-bos
check "pieces" "     64  'a'
    198  '\\n'
    756  '<|end|>'" -p "a
<|end|>" --no-bos --special
check "typed control tokens stay text" "27 91" -p "<|" --ids --no-bos
check "an empty text" "757" -p "" --ids
check "a text that is not UTF-8" "    187  '\\xFF'" -p "$(printf '\377')" --no-bos
if [ "$(printf 'a' | "$driver" tokenize "$vocab" --ids)" = "757 64" ]; then echo "ok   standard input"; else echo "FAIL standard input"; failed=1; fi
file=$(mktemp)
printf 'aa' >"$file"
check "a file" "64 64" -f "$file" --ids --no-bos
rm -f "$file"
exits "a file that is not there" 1 "$vocab.none" -p a
exits "a text that is not there" 1 "$vocab" -f "$vocab.none"
exits "a file without a vocabulary" 1 "$2/tests/golden/golden_blocks.gguf" -p a
exits "a text twice" 2 "$vocab" -p a -f b
exit $failed
