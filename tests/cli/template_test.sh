#!/bin/sh
# `llambda template`: prompts from a template file and from a GGUF file, marks, refusals.   template_test.sh DRIVER
set -u
driver=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
cd "$work" || exit 1

check() { # check NAME CONDITION...
  name=$1
  shift
  if "$@"; then echo "ok   $name"; else echo "FAIL $name"; failed=1; fi
}
exits() { # exits CODE COMMAND...: stdout to out, stderr to err
  code=$1
  shift
  "$@" >out 2>err </dev/null
  got=$?
  [ "$got" -eq "$code" ] || { echo "     exit code $got, expected $code: $*"; head -5 err; return 1; }
}
says() { grep -q -- "$1" err; }
is() { printf "$1" | cmp - out; }

cat >chat.jinja <<'T'
{{ bos_token }}{% for m in messages %}
    {% if m.role == 'critic' %}{{ raise_exception('No critics, ' ~ m.content) }}{% endif %}
    <|{{ m.role }}|>{{ m.content }}{{ eos_token }}
{% endfor %}
{% if tools %}{{ tools | tojson }}{% endif %}
{%- if add_generation_prompt %}<|assistant|>{% if mood is defined %}{{ mood }}{% endif %}{% endif %}
T
printf '[{"role": "user", "content": "hi </s> \\u00e9\\ud83d\\ude00"}]' >messages.json
printf '{"messages": [{"role": "user", "content": "hi"}], "mood": "glad"}' >request.json
printf '[{"name": "f", "parameters": {"b": 1, "a": 2.0}}]' >tools.json
printf '[{"role": "critic", "content": "sir"}]' >critic.json

check "a template file" exits 0 "$driver" template chat.jinja -f messages.json --bos '<s>' --eos '</s>'
check "... the text byte for byte" is '<s>    <|user|>hi </s> \303\251\360\237\230\200</s>\n<|assistant|>'
check "without the assistant's turn" exits 0 "$driver" template chat.jinja -f messages.json --no-generation-prompt
check "... nothing follows the messages" is '    <|user|>hi </s> \303\251\360\237\230\200\n'
check "a request with variables, tools of their own" exits 0 "$driver" template chat.jinja -f request.json --tools tools.json
check "... keys keep their order" is '    <|user|>hi\n[{"name": "f", "parameters": {"b": 1, "a": 2.0}}]<|assistant|>glad'
check "marks" exits 0 "$driver" template chat.jinja -f messages.json --eos '</s>' --marks
check "... the user's text is not the template's" grep -q '"text": "hi </s>' out
check "... both are told apart" [ "$(grep -c '"template": false' out)" -eq 1 ]
check "messages the template refuses" exits 1 "$driver" template chat.jinja -f critic.json
check "... in the template's words, with the line" says "line 2: No critics, sir"
check "... on one line" [ "$(wc -l <err)" -eq 1 ]
printf '{%% if x %%}' >open.jinja
check "a template that is none" exits 1 "$driver" template open.jinja -f messages.json
check "... what was expected" says "expected '{% endif %}'"
check "messages that are no JSON" exits 1 "$driver" template chat.jinja -f chat.jinja
check "messages that are no list" exits 1 "$driver" template chat.jinja -f /dev/null
head -c 100000 /dev/zero | tr '\0' '[' >deep.json
check "messages that nest too deep" exits 1 "$driver" template chat.jinja -f deep.json
check "no messages: a usage error" exits 2 "$driver" template chat.jinja
check "a file that is not there" exits 1 "$driver" template none.jinja -f messages.json
check "... is named" says "none.jinja"

# a GGUF file with two templates and a vocabulary, made of bytes: length (8 bytes, little-endian), then text
number() { printf "\\$(printf %03o "$1")\\000\\000\\000\\000\\000\\000\\000"; }
text() { number ${#1}; printf '%s' "$1"; }
{
  printf 'GGUF\003\000\000\000'; number 0; number 4
  text tokenizer.chat_template; printf '\010\000\000\000'; text '{{ bos_token }}[{{ messages[0].content }}]'
  text tokenizer.chat_template.tool_use; printf '\010\000\000\000'; text 'tools'
  text tokenizer.ggml.tokens; printf '\011\000\000\000\010\000\000\000'; number 2; text '<unk>'; text '<bos>'
  text tokenizer.ggml.bos_token_id; printf '\004\000\000\000\001\000\000\000'
} >chat.gguf
check "a GGUF file" exits 0 "$driver" template chat.gguf -f request.json
check "... with its token" is '<bos>[hi]'
check "its template of another name" exits 0 "$driver" template chat.gguf -f request.json --name tool_use
check "... is that" is 'tools'
check "a name that is not there" exits 1 "$driver" template chat.gguf -f request.json --name rag
check "... is named" says "missing_key: tokenizer.chat_template.rag"
exit $failed
