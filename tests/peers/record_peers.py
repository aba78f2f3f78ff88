#!/usr/bin/env python3
"""What recording costs: tar under filereel, under perf and under strace, in turns with tar alone.

    record_peers.py [--filereel PATH] [--files 24000] [--rounds 10] [--strace-rounds 2]
                    [--folder DIR]

tar unpacks an archive of --files small files from memory into memory. The time of the program itself
is taken by a small program that starts it and waits for it (tests/peers/stopwatch.c), which is what
is recorded; that of starting and stopping the recorder is the rest of what the command took. Printed:

  the medians of the program's time and its ratio to plain tar; of perf only if it is installed (perf
  record on the tracepoints of system calls, with its defaults)
  start and stop together, and what was lost; the same with every processor kept busy by something else
  a burst of small calls by two threads, and what was lost
  that the reel of tar replays to an equal tree, and reels of git clone, make -j2 and a loop of inserts
  by sqlite with fsync on ext4 (in --folder)

Needs root for BPF; the machine should be idle.
"""
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time

from peers import MEMORY, argument_parser, compile_c, machine, run, sample_of, spread, verdict

MOST, AIM, PERF = 1.25, 1.10, 1.35
MOST_START_STOP = 0.3


def make_archive(folder, files):
    tree = os.path.join(folder, "tree")
    for i in range(files):
        place = os.path.join(tree, f"dir{i // 200:03}", f"sub{i // 200 % 7}", "deep")
        if i % 200 == 0:
            os.makedirs(place)
        with open(os.path.join(place, f"file_number_{i % 200:05}.c"), "wb") as file:
            file.write(b"x" * (i * 37 % 9000 + 100))
    archive = os.path.join(folder, "tree.tar")
    run("tar", "cf", archive, "-C", folder, "tree")
    shutil.rmtree(tree)
    return archive


class Bench:
    def __init__(self, arguments, folder):
        self.filereel, self.folder = arguments.filereel, folder
        self.watch = compile_c("stopwatch.c", folder)
        self.said = os.path.join(folder, "seconds")
        self.out = os.path.join(folder, "out")
        self.reel = os.path.join(folder, "tar.reel")
        self.archive = make_archive(folder, arguments.files)

    def time(self, *recorder):
        """The seconds of tar itself, and of everything."""
        shutil.rmtree(self.out, ignore_errors=True)
        os.mkdir(self.out)
        begin = time.perf_counter()
        done = subprocess.run([*recorder, self.watch, self.said, "tar", "xf", self.archive, "-C",
                               self.out], capture_output=True, text=True)
        everything = time.perf_counter() - begin
        if done.returncode != 0:
            raise SystemExit(f"{recorder} failed: {done.stderr}")
        with open(self.said) as file:
            return float(file.read()), everything

    def record(self, *options):
        return self.time(self.filereel, "-q", "record", "-o", self.reel, "--backend", "bpf",
                         *options, "--")


def lost(filereel, reel):
    text = json.loads(run(filereel, "show", reel, "--json"))
    return sum(count for what, count in text.get("lost", {}).items()
               if what.startswith("events lost"))


def busy():
    return [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(os.cpu_count())]


def compare_tar(bench, arguments):
    perf = shutil.which("perf")
    plain, ours, theirs, around = [], [], [], []
    for _ in range(arguments.rounds):
        plain.append(bench.time()[0])
        program, everything = bench.record()
        ours.append(program)
        around.append(everything - program)
        if perf:
            theirs.append(bench.time(perf, "record", "-q", "-e", "raw_syscalls:*", "-o",
                                     os.path.join(bench.folder, "perf.data"))[0])
    print("tar alone:", spread(plain, ".3f"), "s; recorded:", spread(ours, ".3f"),
          "s; start and stop:", spread(around, ".3f"), "s")
    base = statistics.median(plain)
    verdict("recorded against plain tar", statistics.median(ours) / base, MOST, True)
    verdict("the aim for that", statistics.median(ours) / base, AIM, True)
    if theirs:
        print(f"      under perf record: {statistics.median(theirs) / base:.2f}")
    verdict("start and stop, s", statistics.median(around), MOST_START_STOP, True)
    verdict("events lost", lost(bench.filereel, bench.reel), 0, True)
    faster = [bench.record("--no-faults")[0] for _ in range(3)]
    print(f"      without faults: {statistics.median(faster) / base:.2f}")
    for options in [["strace", "-f", "-o", os.path.join(bench.folder, "trace")],
                    [bench.filereel, "-q", "record", "-o", bench.reel + "2", "--backend", "strace",
                     "--"]]:
        slow = [bench.time(*options)[0] for _ in range(arguments.strace_rounds)]
        if slow:
            name = "filereel's strace backend" if "record" in options else "strace -f"
            print(f"      under {name}: {statistics.median(slow) / base:.1f}")


def check_tree(bench):
    bench.record()
    target = os.path.join(bench.folder, "target")
    os.mkdir(target)
    run(bench.filereel, "-q", "replay", bench.reel, target, "--verify", "tree")
    there = subprocess.run(["diff", "-rq", target + bench.out, bench.out], capture_output=True,
                           text=True).stdout
    names = [line for line in there.splitlines() if not line.endswith("differ")]
    sizes = [run("find", place, "-type", "f", "-printf", "%P %s\n") for place in
             (target + bench.out, bench.out)]
    equal = not names and sorted(sizes[0].splitlines()) == sorted(sizes[1].splitlines())
    print("PASS" if equal else "FAIL", "the reel of tar replays to an equal tree")
    shutil.rmtree(target)


def check_busy(bench):
    others = busy()
    try:
        bench.record()
        verdict("events lost on busy processors", lost(bench.filereel, bench.reel), 0, True)
    finally:
        for other in others:
            other.kill()
            other.wait()


def check_burst(bench):
    burst = compile_c("burst.c", bench.folder)
    for crowd in ([], busy()):
        begin = time.perf_counter()
        run(bench.filereel, "-q", "record", "-o", bench.reel, "--backend", "bpf", "--", burst,
            os.path.join(bench.folder, "file"), "500000")
        seconds = time.perf_counter() - begin
        for other in crowd:
            other.kill()
            other.wait()
        known = json.loads(run(bench.filereel, "show", bench.reel, "--json"))
        print(f"      a burst of {known['operations']} operations by two threads, {seconds:.1f} s")
        verdict("events lost in it" + (" on busy processors" if crowd else ""),
                lost(bench.filereel, bench.reel), 0, True)


def check_program(bench, name, folder, *command):
    reel = os.path.join(bench.folder, name + ".reel")
    subprocess.run([bench.filereel, "-q", "record", "-o", reel, "--backend", "bpf", "--", *command],
                   check=True, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    target, result = os.path.join(folder, "target"), os.path.join(bench.folder, "result.json")
    os.mkdir(target)
    done = subprocess.run([bench.filereel, "-q", "replay", reel, target, "--verify", "tree", "--json",
                           result], capture_output=True, text=True)
    sample = sample_of(result)
    print("PASS" if done.returncode == 0 and lost(bench.filereel, reel) == 0 else "FAIL",
          f"{name}: {sample['operations']} operations, {lost(bench.filereel, reel)} lost,",
          sample["divergences"].get("by_class", {}), done.stderr.strip()[:200])
    shutil.rmtree(target)


def check_programs(bench, arguments):
    folder = tempfile.mkdtemp(prefix="record-peers-", dir=arguments.folder)
    try:
        origin = os.path.join(folder, "origin")
        os.mkdir(origin)
        for i in range(40):
            with open(os.path.join(origin, f"part{i}.c"), "w") as file:
                file.write(f"#include <stdio.h>\nint part{i}(void) {{ return puts(\"{i}\"); }}\n")
        with open(os.path.join(origin, "Makefile"), "w") as file:
            file.write("all: $(patsubst %.c,%.o,$(wildcard *.c))\n")
        run("git", "-C", origin, "init", "-q")
        run("git", "-C", origin, "add", ".")
        run("git", "-C", origin, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a")
        check_program(bench, "git clone", folder, "git", "clone", "-q", origin, "clone")
        check_program(bench, "make -j2", os.path.join(folder, "clone"), "make", "-j2")
        check_program(bench, "sqlite", folder, "python3", "-c",
                      "import sqlite3\n"
                      "base = sqlite3.connect('base', isolation_level=None)\n"
                      "base.execute('pragma synchronous = full')\n"
                      "base.execute('create table t (n integer primary key, text)')\n"
                      "for i in range(300):\n"
                      "    base.execute('insert into t (text) values (?)', ('x' * i,))\n")
    finally:
        shutil.rmtree(folder)


def main():
    parser = argument_parser(__doc__)
    parser.add_argument("--files", type=int, default=24000)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--strace-rounds", type=int, default=2)
    parser.add_argument("--folder", default=tempfile.gettempdir())
    arguments = parser.parse_args()
    print(machine())
    folder = tempfile.mkdtemp(prefix="record-peers-", dir=MEMORY)
    try:
        bench = Bench(arguments, folder)
        compare_tar(bench, arguments)
        check_tree(bench)
        check_busy(bench)
        check_burst(bench)
        check_programs(bench, arguments)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
