#!/usr/bin/env python3
# Measures this library and its peers in turn on the same GGUF files (A B A B ...), and writes the medians, the ratios
# and their spread as a table, as JSON and as plots. A peer is any program with llama-bench's options and JSON.
#   bench/compare.py --ours build/examples/llambda --peer llama.cpp=PATH/llama-bench --bandwidth build/bench/bandwidth \
#       -t 1,2 --rounds 3 --json out.json --table out.md --plots DIR FILES...
# Plots need matplotlib (python3-matplotlib); all else is the standard library.
import argparse
import json
import os
import re
import statistics
import subprocess
import sys

OURS = "llambda.hpp"


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


class Ours:
    def __init__(self, driver, arch, extra):
        self.driver, self.arch, self.extra = driver, arch, extra

    def command(self, path, threads, prompt, generate, depth):
        context = depth + max(prompt, generate)
        return [self.driver, "bench", path, "--arch", self.arch, "--context", str(max(1024, context)), *self.extra,
                "-p", str(prompt), "-n", str(generate), "--depth", str(depth), "-t", str(threads), "-r", "1", "-o",
                "json"]

    def measure(self, *case):
        out = json.loads(run(self.command(*case)))
        row = out["results"][0]
        return {"pp": row["pp_tok_s"], "tg": row["tg_tok_s"], "load_s": row["load_seconds"],
                "rss": out["peak_rss_bytes"]}

    def weight_bytes(self, path):
        plan = json.loads(run([self.driver, "inspect", path, "--json"])).get("plan")
        return plan["weights_packed"] if plan else 0


class LlamaBench:
    def __init__(self, program):
        self.program = program

    def measure(self, path, threads, prompt, generate, depth):
        command = [self.program, "-m", path, "-p", str(prompt), "-n", str(generate), "-t", str(threads), "-r", "1",
                   "-ngl", "0", "-o", "json"]
        if depth:
            command += ["-d", str(depth)]
        result = {}
        text = run(command)
        for row in json.loads(text[text.index("["):]):
            result["tg" if row["n_gen"] else "pp"] = row["avg_ts"]
        return result


def middle(values):
    return statistics.median(values)


def spread(values):
    """Half of largest minus smallest, relative to the median."""
    return (max(values) - min(values)) / 2 / middle(values) if len(values) > 1 else 0.0


def machine():
    cpu = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    flags = next((line for line in open("/proc/cpuinfo") if line.startswith("flags")), "")
    known = ["avx2", "avx_vnni", "avx512f", "avx512_vnni", "avx512_bf16"]
    return {"cpu": cpu, "cpus": os.cpu_count(), "features": [f for f in known if f" {f}" in flags],
            "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)}


def table(report):
    peers = report["peers"]
    lines = ["| file | threads | depth | test | " + OURS + " tok/s | " +
             " | ".join(f"{p} tok/s | ratio" for p in peers) + " | weights GB/s |",
             "|---|--:|--:|---|--:|" + "--:|--:|" * len(peers) + "--:|"]
    for case in report["cases"]:
        for test in ("pp", "tg"):
            mine = case["tok_s"][OURS].get(test)
            if not mine:
                continue
            name = f"pp{case['prompt']}" if test == "pp" else f"tg{case['generate']}"
            cells = [case["file"], case["threads"], case["depth"], name,
                     f"{middle(mine):.1f} ± {100 * spread(mine):.0f} %"]
            for p in peers:
                theirs = case["tok_s"][p].get(test)
                if theirs:
                    ratios = [a / b for a, b in zip(mine, theirs)]
                    cells += [f"{middle(theirs):.1f} ± {100 * spread(theirs):.0f} %",
                              f"**{middle(ratios):.2f}** ({min(ratios):.2f} to {max(ratios):.2f})"]
                else:
                    cells += ["", ""]
            speed = middle(mine) * case["weight_bytes"] / 1e9
            roof = report["bandwidth"].get(str(case["threads"]))
            share = f" ({100 * speed / roof:.0f} %)" if roof else ""
            cells.append(f"{speed:.1f}{share}" if test == "tg" and not case["depth"] else "")
            lines.append("| " + " | ".join(str(c) for c in cells) + " |")
    return "\n".join(lines) + "\n"


def plots(report, directory):
    import matplotlib
    matplotlib.use("svg")
    import matplotlib.pyplot as plt
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "llambda", "font.size": 9})
    names = [OURS, *report["peers"]]
    colours = ["#0b6e4f", "#c8553d", "#588b8b", "#8a5a83"]

    def bars(test, threads, title, file):
        cases = [c for c in report["cases"] if c["threads"] == threads and not c["depth"] and
                 c["tok_s"][OURS].get(test)]
        if not cases:
            return
        bandwidth = report["bandwidth"].get(str(threads)) if test == "tg" else None
        figure, axis = plt.subplots(figsize=(8, 0.9 + 0.24 * len(cases) * (len(names) + 0.6)))
        height = 0.8 / len(names)
        for i, name in enumerate(names):
            values = [middle(c["tok_s"][name][test]) if c["tok_s"][name].get(test) else 0 for c in cases]
            if bandwidth:
                values = [100 * v * c["weight_bytes"] / 1e9 / bandwidth for v, c in zip(values, cases)]
            at = [k + i * height for k in range(len(cases))]
            axis.barh(at, values, height, label=name, color=colours[i])
            for y, v, c in zip(at, values, cases):
                speed = middle(c["tok_s"][name][test]) if c["tok_s"][name].get(test) else 0
                axis.text(v, y, f" {speed:.0f}", va="center", fontsize=7)
        axis.set_yticks([k + height * (len(names) - 1) / 2 for k in range(len(cases))], [c["file"] for c in cases])
        axis.invert_yaxis()
        axis.set_xlabel("per cent of the measured read bandwidth (figures: tokens a second)" if bandwidth
                        else "tokens a second")
        if bandwidth:
            axis.axvline(100, color="#888", linestyle="--", linewidth=1)
        axis.margins(x=0.08)
        axis.set_title(title)
        axis.legend(loc="best", fontsize=8)
        figure.tight_layout()
        figure.savefig(os.path.join(directory, file), metadata={"Date": None})
        plt.close(figure)

    def curves(key, fixed, label, title, file):
        """Decode speed over `key` for the files measured at more than one of its values."""
        series = {}
        for c in report["cases"]:
            if c[fixed[0]] != fixed[1]:
                continue
            for name in names:
                if c["tok_s"][name].get("tg"):
                    series.setdefault((c["file"], name), {})[c[key]] = middle(c["tok_s"][name]["tg"])
        series = {k: v for k, v in series.items() if len(v) > 1}
        if not series:
            return
        figure, axis = plt.subplots(figsize=(8, 4.5))
        files = sorted({f for f, _ in series})
        styles = ["-", "--", ":", "-."]
        for (f, name), points in sorted(series.items()):
            x = sorted(points)
            axis.plot(x, [points[i] / points[x[0]] if key == "threads" else points[i] for i in x], marker="o",
                      markersize=3, linewidth=1, color=colours[names.index(name)],
                      linestyle=styles[files.index(f) % len(styles)], label=f"{f}, {name}")
        axis.set_xlabel(label)
        axis.set_ylabel("decode, times one thread" if key == "threads" else "decode, tokens a second")
        if key == "threads":
            axis.set_xticks(sorted({c["threads"] for c in report["cases"]}))
        axis.set_ylim(bottom=0)
        axis.set_title(title)
        if len(series) <= 12:
            axis.legend(fontsize=7)
        else:
            axis.legend(handles=[plt.Line2D([], [], color=colours[i], label=n) for i, n in enumerate(names)])
        figure.tight_layout()
        figure.savefig(os.path.join(directory, file), metadata={"Date": None})
        plt.close(figure)

    os.makedirs(directory, exist_ok=True)
    most = max(c["threads"] for c in report["cases"])
    bars("tg", most, f"Decode, {most} threads", "decode.svg")
    bars("pp", most, f"Prefill of {report['cases'][0]['prompt']} tokens, {most} threads", "prefill.svg")
    curves("threads", ("depth", 0), "threads", "Thread scaling of decode", "threads.svg")
    curves("depth", ("threads", most), "tokens already in the context", f"Decode over depth, {most} threads",
           "depth.svg")
    for name in os.listdir(directory):  # matplotlib leaves spaces at line ends
        if name.endswith(".svg"):
            path = os.path.join(directory, name)
            text = open(path).read()
            open(path, "w").write(re.sub(r"[ \t]+$", "", text, flags=re.M))


def numbers(text):
    return [int(n) for n in text.split(",")]


def main():
    p = argparse.ArgumentParser(description="this library and its peers in turn on the same files")
    p.add_argument("files", nargs="*", metavar="FILE.gguf")
    p.add_argument("--ours", metavar="DRIVER", help="the llambda driver")
    p.add_argument("--arch", default="native", help="instruction set of our programs (default native)")
    p.add_argument("--build-option", action="append", default=[], help="more options for our driver, as --kv=f16")
    p.add_argument("--peer", action="append", default=[], metavar="NAME=PATH", help="a llama-bench, repeatable")
    p.add_argument("--bandwidth", metavar="PATH", help="bench/bandwidth, run once a round")
    p.add_argument("-t", "--threads", type=numbers, default=[1, 2])
    p.add_argument("-p", "--n-prompt", type=int, default=512)
    p.add_argument("-n", "--n-gen", type=int, default=128)
    p.add_argument("-d", "--depth", type=numbers, default=[0])
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--json", metavar="FILE", help="write (or with --merge, extend) the measurements")
    p.add_argument("--merge", action="store_true", help="keep what the JSON file has of other cases")
    p.add_argument("--table", metavar="FILE")
    p.add_argument("--plots", metavar="DIR")
    a = p.parse_args()

    report = {"machine": machine(), "peers": [], "bandwidth": {}, "cases": []}
    if a.merge and a.json and os.path.exists(a.json):
        report = json.load(open(a.json))
    if a.files:
        measure(a, report)
    if a.json:
        with open(a.json, "w") as f:
            json.dump(report, f, indent=1)
    text = table(report)
    if a.table:
        with open(a.table, "w") as f:
            f.write(text)
    print(text)
    if a.plots:
        plots(report, a.plots)


def measure(a, report):
    if not a.ours:
        sys.exit("compare.py: --ours DRIVER is needed to measure")
    ours = Ours(a.ours, a.arch, a.build_option)
    programs = {OURS: ours}
    for peer in a.peer:
        name, _, path = peer.partition("=")
        programs[name] = LlamaBench(path)
    report["peers"] = list(dict.fromkeys(report["peers"] + [n for n in programs if n != OURS]))
    cases = []
    for path in a.files:
        size = ours.weight_bytes(path)
        for depth in a.depth:
            for threads in a.threads:
                cases.append((path, {"file": os.path.basename(path).removesuffix(".gguf"), "threads": threads,
                                     "depth": depth, "prompt": a.n_prompt, "generate": a.n_gen, "arch": a.arch,
                                     "weight_bytes": size, "tok_s": {n: {} for n in report["peers"] + [OURS]},
                                     "load_s": [], "rss": []}))
    bandwidth = {}
    for path, case in cases:
        run(ours.command(path, 1, 1, 1, case["depth"]))  # compiles the program where there is none yet
    for r in range(a.rounds):
        if a.bandwidth:
            for line in run([a.bandwidth, *map(str, a.threads)]).splitlines():
                found = re.match(r"(\d+) threads: ([\d.]+) GB/s", line)
                bandwidth.setdefault(found[1], []).append(float(found[2]))
        for path, case in cases:
            for name, program in programs.items():
                got = program.measure(path, case["threads"], case["prompt"], case["generate"], case["depth"])
                for test in ("pp", "tg"):
                    if got.get(test):
                        case["tok_s"][name].setdefault(test, []).append(got[test])
                if name == OURS:
                    case["load_s"].append(got["load_s"])
                    case["rss"].append(got["rss"])
            print(f"round {r + 1}/{a.rounds} {case['file']} {case['threads']} threads depth {case['depth']}: " +
                  ", ".join(f"{n} {case['tok_s'][n]['pp'][-1]:.0f}/{case['tok_s'][n]['tg'][-1]:.1f}"
                            for n in programs if case["tok_s"][n]), file=sys.stderr, flush=True)
    if bandwidth:
        report["bandwidth"] = {k: middle(v) for k, v in bandwidth.items()}

    def key(c):
        return c["file"], c["threads"], c["depth"], c["arch"]
    new = {key(c) for _, c in cases}
    report["cases"] = [c for c in report["cases"] if key(c) not in new] + [c for _, c in cases]


if __name__ == "__main__":
    main()
