#!/usr/bin/env python3
"""What jinja2 (3.1) renders, with the settings of Hugging Face transformers: the goldens of the chat template tests.

  jinja_reference.py snippets FILE.jsonl           rewrite the expected outputs in FILE
  jinja_reference.py chats CASES.json DIR OUT      render every template of DIR for every case

A line of OUT is: template, case, verdict, and for a text its length and FNV-1a hash. Verdicts: text, raised (with the
hash of the message) and failed. The sandbox of transformers forbids changing lists; where a template tries, the verdict
is that of a sandbox that allows it, because such templates are in use.
"""
import copy
import datetime
import json
import os
import sys

import jinja2
import jinja2.ext
import jinja2.sandbox

NOW = datetime.datetime(2024, 7, 6, 15, 4, 5)


class Raised(jinja2.TemplateError):
    pass


class Generation(jinja2.ext.Extension):
    """{% generation %}: marks what the assistant wrote; its body is rendered in a scope of its own."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

    def _body(self, caller):
        return caller()


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def raise_exception(message):
    raise Raised(message)


def environment(kind):
    env = kind(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = NOW.strftime
    return env


STRICT = environment(jinja2.sandbox.ImmutableSandboxedEnvironment)
OPEN = environment(jinja2.sandbox.SandboxedEnvironment)


def render(source, variables):
    """(verdict, text)"""
    for env in (STRICT, OPEN):
        try:
            return "text", env.from_string(source).render(**copy.deepcopy(variables))
        except Raised as e:
            return "raised", str(e)
        except jinja2.exceptions.SecurityError:
            continue
        except Exception as e:  # whatever it is, the template failed
            return "failed", f"{type(e).__name__}: {e}"
    return "failed", "SecurityError"


def fnv1a(text):
    h = 0xCBF29CE484222325
    for byte in text.encode("utf-8", "surrogatepass"):
        h = (h ^ byte) * 0x100000001B3 % 2**64
    return h


def snippets(path):
    with open(path, encoding="utf-8") as f:
        lines = [json.loads(line) for line in f if line.strip()]
    with open(path, "w", encoding="utf-8") as f:
        variables = lines[0]["variables"]
        print(json.dumps({"variables": variables}, ensure_ascii=False), file=f)
        for line in lines[1:]:
            verdict, text = render(line["template"], variables)
            out = {"template": line["template"], verdict: text if verdict != "failed" else True}
            print(json.dumps(out, ensure_ascii=False), file=f)
            if verdict == "failed":
                print(line["template"], "->", text, file=sys.stderr)


def chat_variables(case):
    variables = {"tools": None, "documents": None, "add_generation_prompt": True, "bos_token": "<s>", "eos_token": "</s>"}
    variables.update({k: v for k, v in case.items() if k != "name"})
    return variables


def chats(cases_path, directory, out_path):
    with open(cases_path, encoding="utf-8") as f:
        cases = json.load(f)
    with open(out_path, "w", encoding="utf-8") as out:
        for name in sorted(os.listdir(directory)):
            if not name.endswith(".jinja"):
                continue
            with open(os.path.join(directory, name), encoding="utf-8", newline="") as f:
                source = f.read()
            for case in cases:
                verdict, text = render(source, chat_variables(case))
                size = "" if verdict == "failed" else f" {len(text.encode())} {fnv1a(text):016x}"
                print(f"{name} {case['name']} {verdict}{size}", file=out)


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "snippets":
        snippets(sys.argv[2])
    elif len(sys.argv) == 5 and sys.argv[1] == "chats":
        chats(*sys.argv[2:])
    else:
        sys.exit(__doc__)
