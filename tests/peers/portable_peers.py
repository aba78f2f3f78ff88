#!/usr/bin/env python3
"""The speed of the portable program beside the package's, which is linked with shared libraries.

    portable_peers.py [--filereel PATH] [--portable PATH] [--make-reels PATH] [--rounds 15]

Both do the same in turns, and each begins every second turn. Printed are their medians and extremes, and
the median of the ratios of the pairs:

  null engine    a reel of 10 million operations without system calls: filereel's own cost
  cached reads   a million 4 KiB reads of a file of 64 MiB on tmpfs, random
  recording      tar unpacks 24,000 files from memory into memory, recorded by BPF; tar's own time
Needs tar and a C compiler, and root for BPF; the machine should be idle.
"""
import os
import statistics
import tempfile
from types import SimpleNamespace

from iolog_peers import make_log
from peers import (MEMORY, ROOT, argument_parser, machine, replayed, run, sample_of, spread,
                   touch_memory, verdict)
from record_peers import Bench

TARGET = 1.02
OPERATIONS, READS = 10_000_000, 1_000_000


def null_engine(arguments, folder):
    reel, result = os.path.join(folder, "long.reel"), os.path.join(folder, "long.json")
    run(arguments.make_reels, "long", str(OPERATIONS), reel)

    def seconds(program):
        run(program, "--quiet", "replay", reel, "--engine", "null", "--runs", "1", "--json", result)
        return sample_of(result)["elapsed_s"]
    return seconds


def cached_reads(arguments, folder):
    log = make_log(folder, "random", READS, 64)
    run(arguments.filereel, "--quiet", "import", log + ".log", "-o", log + ".reel")

    def seconds(program):
        return replayed(program, log + ".reel", os.path.join(folder, "place"), "--warm", "--runs",
                        "1")["elapsed_s"]
    return seconds


def recording(arguments, folder):
    bench = Bench(SimpleNamespace(filereel=arguments.filereel, files=24000), folder)

    def seconds(program):
        bench.filereel = program
        return bench.record()[0]
    return seconds


def compare(arguments, name, seconds):
    programs = [arguments.filereel, arguments.portable]
    times = {program: [] for program in programs}
    for turn in range(arguments.rounds):
        for program in programs if turn % 2 == 0 else reversed(programs):
            touch_memory(128 << 20)
            times[program].append(seconds(program))
    package, portable = (times[program] for program in programs)
    print(f"{name}: package {spread(package, '.3f')} s, portable {spread(portable, '.3f')} s")
    verdict(f"{name}, portable by package", statistics.median(
        one / base for one, base in zip(portable, package)), TARGET, at_most=True)


def main():
    parser = argument_parser(__doc__)
    for option, default in (("--portable", "filereel_portable"), ("--make-reels", "tests/make_reels")):
        parser.add_argument(option, type=os.path.abspath,
                            default=os.path.join(ROOT, "build/release", default))
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    print(machine())
    for measurement in (null_engine, cached_reads, recording):
        with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
            compare(arguments, measurement.__name__.replace("_", " "), measurement(arguments, folder))


if __name__ == "__main__":
    main()
