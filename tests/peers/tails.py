#!/usr/bin/env python3
"""How surely `filereel compare` finds stalls that leave the time as it was.

    tails.py [--filereel PATH] [--pairs 20] [--runs 10] [--share 0.001] [--length 200ms] [--time 1.2s]
             [--keep FILE]
    tails.py --resample FILE [--comparisons 100]

Measures random reads and sysbench's rndrw on a model drive (tests/model_drive) in blocks of runs, by turns as
it should be and with stalls: one read in 1 / SHARE takes so much longer. All other reads are faster, so
that the mean stays the same. Each pair of neighbouring blocks is compared, and the slowest
operations of each result are held against the drive's own log: each of its stalls that fell into a measured
step must be among them, and nothing else may be as slow.

--keep writes the blocks, and --resample deals the runs of such a file out by chance: ten of each kind
against ten (A/B), and ten as it should be against ten others (A/A).

Needs root, loop devices, FUSE and the model drive (built with the tests).
"""
import collections
import json
import lzma
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from peers import MEMORY, argument_parser, machine, run

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "model_drive")]
from false_alarms import Comparer, name_of, part_of, share  # noqa: E402

USUAL_US = 300
# What is measured, and the share of the stalls' time by which other reads are faster, so that the mean stays:
# found by trying, since short waits cost the machine more or less than they last.
WORKLOADS = {"random-read": 0.97, "rndrw": 0.91}
DRIVE = """
size: 1GiB
seed: {seed}
slots: 8
read: {{latency: {{median: {read_us}us, sigma: 0.05}}}}
write: {{latency: 20us}}
flush: {{latency: 100us}}
"""
STALLS = "stalls: [{{kinds: [read], length: {length_ms}ms, every: {every}}}]\n"
RNDRW = """
description: sysbench's rndrw on 16 files of 4 MiB, past the page cache
files: {count: 16, size: 4 MiB, content: zeros}
access: {size: 16 KiB, ratio: 1.5, random: 100 %}
direct: true
sync: {every: 100, files: all, at_end: true}
stop: {time: 10 s}
"""


def script(args, seed, stalls, compensate=0):
    taken_us = compensate * args.share * args.length * 1e6 if stalls else 0
    text = DRIVE.format(seed=seed, read_us=round(USUAL_US - taken_us))
    if stalls:
        text += STALLS.format(length_ms=round(args.length * 1e3), every=round(1 / args.share))
    return text


def measure(args, drive, folder, workload):
    """A block of runs."""
    path = os.path.join(folder, "block.json")
    of_file = os.path.join(folder, workload + ".yaml")
    run(args.filereel, "-q", "run", of_file if os.path.exists(of_file) else workload, "--sweep", "depth=1",
        "--scale", "0.05", "--time", args.time, "--runs", str(args.runs), "--near", drive.device, "--destroy",
        drive.device, "--fs", "ext4", "--json", path)
    with open(path) as file:
        return json.load(file)


def samples_of(result):
    return [sample for one in result["measurements"] for sample in one["samples"]]


def check_slowest(result, log, length_s):
    """How many stalls the drive's log and the result have in common, and how many only one has."""
    stalls = sorted(one.arrival_ns * 1e-9 for one in log if one.stalls)
    slow = sorted(sample["started_s"] + one["at_s"] for sample in samples_of(result)
                  for one in sample["slowest"] if one["latency_us"] >= 0.95e6 * length_s)
    if not slow:
        return 0, 0, 0
    near = lambda a, b: abs(a - b) < 0.02
    # The two clocks differ by a constant: that with which most agree.
    begin = max((stall - slow[0] for stall in stalls), default=0,
                key=lambda begin: sum(any(near(stall - begin, one) for one in slow) for stall in stalls))
    measured = [stall - begin for stall in stalls if any(
        sample["started_s"] <= stall - begin < sample["started_s"] + sample["elapsed_s"] - length_s
        for sample in samples_of(result))]
    alone = [one for one in slow if not any(near(one, stall - begin) for stall in stalls)]
    missed = [stall for stall in measured if not any(near(stall, one) for one in slow)]
    for name, times in ("result", alone), ("drive's log", missed):
        if times:
            print(f"    only in the {name}, seconds since the run began:", *(f"{one:.3f}" for one in times))
    return len(slow) - len(alone), len(missed), len(alone)


def summary(name, counts, of):
    found = sum(count for verdict, count in counts.items() if verdict.startswith("slower"))
    print(f"  {name}: {dict(counts)}, slower in {share(found, of)}", flush=True)


def trimmed(result):
    """What a comparison needs."""
    for sample in samples_of(result):
        sample.pop("slowest", None)
        sample.pop("course", None)
    return result


def really(args, comparer, folder):
    from drive import ModelDrive

    pathlib.Path(folder, "rndrw.yaml").write_text(RNDRW)
    verdicts = collections.defaultdict(collections.Counter)
    kept = {"usual": [], "stalls": []}
    found = collections.Counter()
    with ModelDrive(script(args, 0, False)) as drive:
        for pair in range(args.pairs):
            block = {}
            for kind in ("usual", "stalls") if pair % 2 == 0 else ("stalls", "usual"):
                for workload, compensate in WORKLOADS.items():
                    since = drive.set(script(args, pair + 1, kind == "stalls", compensate))
                    one = measure(args, drive, folder, workload)
                    if kind == "stalls":
                        found.update(dict(zip(("both", "only the drive's log", "only the result"),
                                              check_slowest(one, drive.log(since), args.length))))
                    whole = block.setdefault(kind, one)
                    if whole is not one:
                        whole["measurements"] += one["measurements"]
                        whole["plan"]["jobs"] += one["plan"]["jobs"]
                kept[kind].append(trimmed(block[kind]))
            _, said = comparer.compare(block["usual"], block["stalls"])
            for one, verdict in said.items():
                verdicts[one][verdict] += 1
            print(f"  pair {pair + 1}: {said}; stalls: {dict(found)}", flush=True)
    for one, counts in verdicts.items():
        summary(one, counts, args.pairs)
    usual, stalls = (joined(kept[kind]) for kind in ("usual", "stalls"))
    for before, after in zip(usual["measurements"], stalls["measurements"]):
        change = 100 * (each_us(after) / each_us(before) - 1)
        print(f"  {name_of(before)}: {change:+.1f} % time per operation, the mean of all runs")
    if args.keep:
        with lzma.open(args.keep, "wt") as file:
            json.dump(kept, file)


def joined(blocks):
    """One result with the runs of all."""
    whole = dict(blocks[0])
    whole["measurements"] = [{**one, "samples": [sample for block in blocks
                                                 for sample in block["measurements"][i]["samples"]]}
                             for i, one in enumerate(whole["measurements"])]
    return whole


def resample(args, comparer):
    with lzma.open(args.resample, "rt") as file:
        kept = {kind: joined(blocks) for kind, blocks in json.load(file).items()}
    chance = random.Random(20240229)
    runs = {kind: len(one["measurements"][0]["samples"]) for kind, one in kept.items()}
    print(f"{os.path.basename(args.resample)}: {runs} runs")
    alarms, counts = 0, collections.defaultdict(collections.Counter)
    for _ in range(args.comparisons):
        dealt = chance.sample(range(runs["usual"]), 2 * args.runs)
        stalled = sorted(chance.sample(range(runs["stalls"]), args.runs))
        base = part_of(kept["usual"], sorted(dealt[:args.runs]))
        code, _ = comparer.compare(base, part_of(kept["usual"], sorted(dealt[args.runs:])))
        alarms += code == 4
        _, said = comparer.compare(base, part_of(kept["stalls"], stalled))
        for one, verdict in said.items():
            counts[one][verdict] += 1
    print(f"  A/A: false alarms {share(alarms, args.comparisons)}")
    for one, verdicts in counts.items():
        summary(f"A/B, {one}", verdicts, args.comparisons)


def each_us(measurement):
    samples = measurement["samples"]
    return 1e6 * sum(one["elapsed_s"] for one in samples) / sum(one["operations"] for one in samples)


def seconds(text):
    number, unit = re.fullmatch(r"([0-9.]+)(ms|s)", text).groups()
    return float(number) * {"ms": 1e-3, "s": 1}[unit]


def main():
    parser = argument_parser(__doc__)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--share", type=float, default=0.001)
    parser.add_argument("--length", type=seconds, default=0.2)
    parser.add_argument("--time", default="1.2s")
    parser.add_argument("--keep")
    parser.add_argument("--resample")
    parser.add_argument("--comparisons", type=int, default=100)
    args = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        comparer = Comparer(args.filereel, folder)
        (resample if args.resample else really)(args, comparer, *([] if args.resample else [folder]))


if __name__ == "__main__":
    main()
