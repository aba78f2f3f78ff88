#!/usr/bin/env python3
"""Replays an iolog of cached 4 KiB reads: filereel, fio, and a bare C loop of pread.

    iolog_peers.py [--filereel PATH] [--reads 1000000] [--size-mib 64] [--rounds 7]

All three read the same bytes of the same file in the same order, by one thread and pread, from a
tmpfs. In each round filereel makes the file anew and reads first; the C loop and fio follow on that
very file, in changing order, because where a file lies in memory changes the price of a read by tens
of per cents. The ratio is therefore taken within each round, and is the median of the rounds.

  C loop    the offsets lie ready in an array; nothing but pread and a comparison of its result
  direct    the same loop without the C library's wrapper of the call, which filereel leaves out, too
  filereel  the blocking engine with its defaults: each read timed, its latency in a histogram, its
            result compared with the trace; the reel is decoded meanwhile. From before the open until
            after the close, by the number of operations.
  fio       --read_iolog of the same log with its defaults (which record latencies, too), psync, and
            --replay_no_stall. From the job's runtime, which fio gives in milliseconds.
Needs fio and a C compiler; the machine should be idle.
"""
import array
import json
import os
import random
import statistics
import tempfile

from peers import (MEMORY, argument_parser, compile_c, machine, replayed, run, spread, verdict)

LENGTH = 4096
TARGET = 1.15
PATTERNS = ("sequential", "random")


def make_log(folder, pattern, reads, size_mib):
    """An iolog of version 2, and the same offsets for the C loop."""
    pages = size_mib * (1 << 20) // LENGTH
    if pattern == "random":
        random.seed(1)
        offsets = array.array("q", (random.randrange(pages) * LENGTH for _ in range(reads)))
    else:
        offsets = array.array("q", (at % pages * LENGTH for at in range(reads)))
    log = os.path.join(folder, pattern)
    with open(log + ".log", "w") as file:
        file.write("fio version 2 iolog\ndata add\ndata open\n")
        file.writelines(f"data read {offset} {LENGTH}\n" for offset in offsets)
        file.write("data close\n")
    with open(log + ".offsets", "wb") as file:
        offsets.tofile(file)
    return log


def fio_ns(log, place, reads):
    job = json.loads(run("fio", "--name=peer", f"--read_iolog={log}.log", "--ioengine=psync",
                         "--replay_no_stall=1", "--invalidate=0", "--output-format=json",
                         cwd=place))["jobs"][0]
    if job["error"] != 0 or job["read"]["total_ios"] != reads:
        raise SystemExit(f"fio did {job['read']['total_ios']} of {reads} reads")
    return job["read"]["runtime"] * 1e6 / reads


def compare(arguments, folder, loop, pattern):
    """Prints the pattern's rows; gives filereel's ratio to the loop."""
    log = make_log(folder, pattern, arguments.reads, arguments.size_mib)
    run(arguments.filereel, "--quiet", "import", log + ".log", "-o", log + ".reel")
    place = os.path.join(folder, "place")
    data = os.path.join(place, "data")

    def ours():
        sample = replayed(arguments.filereel, log + ".reel", place, "--warm")
        return sample["elapsed_s"] * 1e9 / sample["operations"]

    bare = [loop, data, log + ".offsets", str(LENGTH)]
    contestants = {"C loop": lambda: float(run(*bare)),
                   "direct": lambda: float(run(*bare, "direct")),
                   "fio": lambda: fio_ns(log, place, arguments.reads)}
    times = {who: [] for who in ("filereel", *contestants)}
    for turn in range(arguments.rounds):
        times["filereel"].append(ours())
        for who in (sorted(contestants), sorted(contestants, reverse=True))[turn % 2]:
            times[who].append(contestants[who]())
    print(f"  {pattern}")
    ratio = {who: statistics.median(one / base for one, base in zip(values, times["C loop"]))
             for who, values in times.items()}
    for who in ("C loop", "direct", "filereel", "fio"):
        print(f"    {who:<9} {spread(times[who], '6.0f')} ns per read, {ratio[who]:.3f} x the C loop")
    return ratio["filereel"]


def main():
    parser = argument_parser(__doc__)
    parser.add_argument("--reads", type=int, default=1_000_000)
    parser.add_argument("--size-mib", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    print(f"{run(arguments.filereel, '--version').strip()}; {run('fio', '--version').strip()}; "
          f"{run('cc', '--version').splitlines()[0]}; {machine()}")
    print(f"{arguments.reads} cached reads of {LENGTH} bytes in a file of {arguments.size_mib} MiB "
          f"on tmpfs; medians and extremes of {arguments.rounds} rounds")
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        loop = compile_c("pread_loop.c", folder)
        worst = max(compare(arguments, folder, loop, pattern) for pattern in PATTERNS)
    verdict("time per read, filereel by the C loop", worst, TARGET, at_most=True)


if __name__ == "__main__":
    main()
