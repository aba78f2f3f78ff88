#!/usr/bin/env python3
"""How well a replay at pace `think` predicts a program's run time.

    replay_accuracy.py [--filereel PATH] [--before PATH] [--programs A,B…] [--targets T,U…] [--rounds 5]
                       [--folder DIR] [--json FILE]

In each round, the program runs under filereel record on a new ext4. Then, on each target and in turns, the
program runs without filereel, and filereel replays the recording at pace think. All find the same files, with
cold caches; programs and libraries are outside the recorded folder (--under) and in memory. Printed for each
program and target: the median of the program's seconds, that of the replay's, the error (replay / program - 1)
and its 95 % interval, from resampling both; then the mean |error|, the largest, those of each target, and
those of the programs that were set aside (not looked at while the replay was made more accurate).

Targets, each a new file system on an image in memory or on the model drive (tests/model_drive):

  ext4, xfs, btrfs; ext4-1cpu: one processor for the program, and for the replay of what was recorded on two;
  1ms, 5ms: ext4 on a drive with this latency of reads, writes and flushes, 32 at a time

Short programs run up to four times as often as --rounds. --before PATH is another build of filereel, with
recordings of its own: its replays are compared with the same runs of the program. Needs root and BPF; the
machine should be idle. Programs that are not installed are left out with a remark.
"""
import argparse
import contextlib
import dataclasses
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

from peers import HERE, MEMORY, argument_parser, compile_c, machine, run, sample_of, touch_memory

sys.path.insert(0, os.path.join(os.path.dirname(HERE), "model_drive"))
from drive import ModelDrive, why_not  # noqa: E402

IMAGE = 1 << 30
AIM_MEAN, AIM_MOST, AIM_SAME, AIM_ASIDE = 0.06, 0.15, 0.05, 0.10
RESAMPLES = 2000
LEAST_S, MOST_ROUNDS = 3.0, 4  # a cell has this much time of the program, or this times the rounds


# Inputs of the programs. Each function fills a folder; what it makes depends only on its code.

def small_files(folder, count=6000):
    for i in range(count):
        place = os.path.join(folder, f"dir{i // 200:03}", f"sub{i // 200 % 7}")
        if i % 200 == 0:
            os.makedirs(place)
        with open(os.path.join(place, f"file_{i % 200:05}.c"), "wb") as file:
            file.write(random.Random(i).randbytes(i * 37 % 9000 + 100))


def archive(folder):
    small_files(os.path.join(folder, "tree"))
    run("tar", "cf", os.path.join(folder, "tree.tar"), "-C", folder, "tree")
    shutil.rmtree(os.path.join(folder, "tree"))


def tree(folder):
    small_files(os.path.join(folder, "tree"), 4000)


def python_tree(folder):
    library = os.path.dirname(os.__file__)
    for name in ("json", "email", "http", "unittest", "asyncio", "xml", "logging", "distutils"):
        if os.path.isdir(os.path.join(library, name)):
            shutil.copytree(os.path.join(library, name), os.path.join(folder, "lib", name),
                            ignore=shutil.ignore_patterns("__pycache__", "tests"))


def repository(folder, commits=40):
    place = os.path.join(folder, "origin")
    small_files(place, 2000)
    git = ("git", "-C", place, "-c", "user.name=a", "-c", "user.email=a@b", "-c", "gc.auto=0")
    run("git", "init", "-q", place)
    for i in range(commits):
        with open(os.path.join(place, f"note{i}"), "w") as file:
            file.write("line\n" * (i * 97 % 500))
        run(*git, "add", "-A")
        run(*git, "commit", "-q", "-m", f"change {i}")


def c_files(folder, count=30):
    for i in range(count):
        with open(os.path.join(folder, f"part{i}.c"), "w") as file:
            file.write("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n")
            for j in range(60):
                file.write(f"int f{i}_{j}(int x) {{ int s = {j}; for (int k = 0; k < x; ++k) "
                           f"s += k * s % {j + 3}; printf(\"%d\\n\", s); return s; }}\n")
    with open(os.path.join(folder, "main.c"), "w") as file:
        file.write("int main(void) { return 0; }\n")
    with open(os.path.join(folder, "Makefile"), "w") as file:
        parts = " ".join(f"part{i}.o" for i in range(count))
        file.write(f"program: main.o {parts}\n\tgcc -o $@ $^\n"
                   "%.o: %.c\n\tgcc -O1 -pipe -c -o $@ $<\n")


def text(folder, lines=600_000):
    noise = random.Random(5)
    with open(os.path.join(folder, "text"), "w") as file:
        for _ in range(lines):
            file.write(f"{noise.getrandbits(64):x} {noise.getrandbits(20)} of the text\n")


def lmdb_text(folder, entries=100_000):
    noise = random.Random(6)
    with open(os.path.join(folder, "entries"), "w") as file:
        file.write("VERSION=3\nformat=print\ntype=btree\nmapsize=400000000\nHEADER=END\n")
        for _ in range(entries):
            file.write(f" {noise.getrandbits(64):016x}\n {noise.getrandbits(400):x}\n")
        file.write("DATA=END\n")


def nothing(_):
    pass


SQLITE = """
import sqlite3
base = sqlite3.connect("base.db", isolation_level=None)
base.execute("create table t (k integer primary key, v text)")
for i in range(120):
    base.execute("begin")
    for j in range(10):
        base.execute("insert into t values (?, ?)", (i * 10 + j, "x" * (j * 40)))
    base.execute("commit")
"""

SQLITE_WAL = """
import sqlite3, threading
base = sqlite3.connect("base.db", isolation_level=None)
base.execute("pragma journal_mode = wal")
base.execute("create table t (k integer primary key, v text)")
def work(first):
    mine = sqlite3.connect("base.db", isolation_level=None, timeout=60)
    mine.execute("pragma synchronous = full")
    for i in range(60):
        mine.execute("insert into t values (?, ?)", (first + i, "x" * (i % 10 * 40)))
threads = [threading.Thread(target=work, args=(n * 1000,)) for n in range(3)]
for one in threads: one.start()
for one in threads: one.join()
"""

SHELL = """
i=0
while [ $i -lt 120 ]; do
  echo "line $i" > one.$i
  cp one.$i two.$i
  cat one.$i two.$i | tr a-z A-Z >> all
  grep -c LINE all > count
  mv two.$i three.$i
  i=$((i + 1))
done
"""

REDIS = """
redis-server --port 0 --unixsocket {folder}/socket --dir {folder} --appendonly yes --appendfsync always \
  --save '' --daemonize no --logfile {folder}/log &
until redis-cli -s {folder}/socket ping > /dev/null 2>&1; do sleep 0.02; done
redis-benchmark -q -s {folder}/socket -n 1200 -c 4 -d 300 -t set > /dev/null
redis-cli -s {folder}/socket shutdown nosave
wait
"""

COMMITS = """
git init -q work; cd work
git config user.name a; git config user.email a@b; git config gc.auto 0
i=0
while [ $i -lt 15 ]; do
  echo "text $i" > file$i; echo "more $i" >> all
  git add -A; git commit -q -m "change $i"
  i=$((i + 1))
done
"""


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    kind: str  # for the table
    inputs: object  # fills the folder
    command: tuple  # run in the folder; {folder} is replaced
    needs: str
    aside: bool = False  # not looked at while the replay was made more accurate


PROGRAMS = (
    Program("tar", "one thread, many files", archive, ("tar", "xf", "tree.tar"), "tar"),
    Program("sqlite", "one thread, fsync", nothing, ("python3", "-c", SQLITE), "python3"),
    Program("sqlite-wal", "three threads, fsync", nothing, ("python3", "-c", SQLITE_WAL), "python3"),
    Program("git-clone", "processes with pipes, threads", repository,
            ("git", "clone", "-q", "--no-local", "origin", "copy"), "git"),
    Program("compileall", "two workers, processor", python_tree,
            ("python3", "-m", "compileall", "-q", "-j", "2", "lib"), "python3"),
    Program("make", "forks, processor", c_files, ("make", "-s", "-j2"), "make"),
    Program("shell", "forks", nothing, ("sh", "-c", SHELL), "sh"),
    Program("zstd", "two threads, processor", text, ("zstd", "-q", "-9", "-T2", "text"), "zstd"),
    Program("lmdb", "memory-mapped reads", lmdb_text,
            ("sh", "-c", "mdb_load -n -f entries base; mdb_dump -n -p base > dump"), "mdb_load"),
    Program("redis", "server under load", nothing, ("sh", "-c", REDIS), "redis-server"),
    Program("rsync", "three processes", tree, ("rsync", "-a", "tree/", "copy"), "rsync", True),
    Program("zip", "one thread, processor", tree, ("zip", "-qr", "all.zip", "tree"), "zip", True),
    Program("git-commit", "forks, fsync", nothing, ("sh", "-c", COMMITS), "git"),
    Program("sort", "two threads, temporary files", text,
            ("sort", "--parallel=2", "-S", "8M", "-T", ".", "-o", "sorted", "text"), "sort"),
    Program("cp", "one thread, copies", tree, ("cp", "-r", "tree", "copy"), "cp", True),
    Program("checksums", "two processes at a time, reads", tree,
            ("sh", "-c", "find tree -type f | xargs -P 2 -n 50 sha256sum > sums"), "sha256sum"),
    Program("xz", "two threads, processor", lambda folder: text(folder, 100_000),
            ("xz", "-1", "-T2", "--block-size=1MiB", "text"), "xz"),
)


class Target:
    """A new file system at `mount`, until the context ends. `runner` comes before each command."""

    def __init__(self, name, folder, fs="ext4", latency=None, runner=()):
        self.name, self.fs, self.latency, self.runner = name, fs, latency, runner
        self.mount = os.path.join(folder, "at-" + name)
        self.image = os.path.join(MEMORY, f"accuracy-{os.getpid()}-{name}")
        self.device = None

    @contextlib.contextmanager
    def made(self):
        os.makedirs(self.mount, exist_ok=True)
        with contextlib.ExitStack() as stack:
            if self.latency:
                kinds = {kind: {"latency": self.latency} for kind in ("read", "write", "flush")}
                drive = stack.enter_context(ModelDrive({"size": IMAGE, "slots": 32, **kinds}))
                self.device, options = drive.device, ()
            else:
                touch_memory(IMAGE // 2)
                with open(self.image, "wb") as file:
                    for _ in range(IMAGE >> 20):
                        file.write(bytes(1 << 20))
                stack.callback(os.unlink, self.image)
                self.device, options = self.image, ("-o", "loop")
            self.make_file_system()
            run("mount", *options, self.device, self.mount)
            stack.callback(run, "umount", self.mount)
            yield self

    def make_file_system(self):
        quiet = {"ext4": ("-q", "-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"),
                 "xfs": ("-q", "-f", "-K"), "btrfs": ("-q", "-f", "-K")}[self.fs]
        run("mkfs." + self.fs, *quiet, self.device)



class Cell:
    """One program on one target. `replays` has the seconds of each build."""

    def __init__(self, builds):
        self.program, self.replays = [], {build: [] for build in builds}

    def complete(self, rounds):
        """Short programs have wide intervals, so they run more often."""
        return len(self.program) >= rounds and (
            sum(self.program) >= LEAST_S or len(self.program) >= rounds * MOST_ROUNDS)

    def error(self, build):
        return statistics.median(self.replays[build]) / statistics.median(self.program) - 1

    def interval(self, build):
        replay = self.replays[build]
        chance = random.Random(1)
        errors = sorted(
            statistics.median(chance.choices(replay, k=len(replay))) /
            statistics.median(chance.choices(self.program, k=len(self.program))) - 1
            for _ in range(RESAMPLES))
        return errors[RESAMPLES // 40], errors[-RESAMPLES // 40]


class Bench:
    def __init__(self, arguments, folder):
        self.builds = {"filereel": arguments.filereel}
        if arguments.before:
            self.builds["before"] = arguments.before
        self.folder = folder
        self.watch = compile_c("stopwatch.c", folder)
        self.said = os.path.join(folder, "seconds")
        self.inputs, self.outside = {}, {}

    def prepare(self, program, target):
        """The program's folder on the target, with cold inputs."""
        if program.name not in self.inputs:
            self.inputs[program.name] = os.path.join(self.folder, "in-" + program.name)
            os.makedirs(self.inputs[program.name])
            program.inputs(self.inputs[program.name])
        place = os.path.join(target.mount, "work")
        shutil.rmtree(place, ignore_errors=True)
        run("cp", "-r", self.inputs[program.name], place)
        self.cool(program)
        return place

    def cool(self, program):
        """Empties all caches, as filereel does before a replay. Then reads what the program uses outside of
        its folder, which the replay does not read."""
        run("sync")
        with open("/proc/sys/vm/drop_caches", "w") as file:
            file.write("3")
        for path in self.outside.get(program.name, ()):
            with contextlib.suppress(OSError), open(path, "rb") as file:
                while file.read(1 << 20):
                    pass

    def look_outside(self, program, target):
        """Finds the files that the program uses outside of its folder."""
        reel = os.path.join(self.folder, "outside.reel")
        self.record("filereel", program, target, reel, "/")
        found = set()
        for line in run(self.builds["filereel"], "show", reel, "--operations").splitlines():
            path = "/" + line.partition(" path=")[2].partition(" ")[0]
            if os.path.isfile(path) and not path.startswith(self.folder):
                found.add(path)
        self.outside[program.name] = sorted(found)

    def reel(self, build):
        return os.path.join(self.folder, f"{build}.reel")

    def command(self, program, place):
        return [part.replace("{folder}", place) for part in program.command]

    def record(self, build, program, target, reel, under=None):
        place = self.prepare(program, target)
        done = subprocess.run(
            [*target.runner, self.builds[build], "-q", "record", "--backend", "bpf", "--exit-code",
             "--under", under or place, "-o", reel, "--", *self.command(program, place)],
            cwd=place, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"recording {program.name} failed: {done.stderr[-500:]}")

    def time(self, program, target):
        place = self.prepare(program, target)
        run(*target.runner, self.watch, self.said, *self.command(program, place), cwd=place)
        shutil.rmtree(place)
        with open(self.said) as file:
            return float(file.read())

    def replay(self, build, reel, target):
        place = os.path.join(target.mount, "replay")
        shutil.rmtree(place, ignore_errors=True)
        os.makedirs(place)
        result = os.path.join(self.folder, "result.json")
        run(*target.runner, self.builds[build], "--quiet", "replay", reel, place, "--pace", "think",
            "--runs", "1", "--owners", "--remove", "--allow-divergence", "--json", result)
        sample = sample_of(result)
        if sample["divergences"]["count"] > 0:
            print(f"  {reel}: results that differ: {sample['divergences']['count']}", flush=True)
        return sample["elapsed_s"]


def measure(bench, program, targets, rounds, cells):
    """Adds to the cells of this program."""
    bench.look_outside(program, targets[0])
    for i in range(rounds * MOST_ROUNDS):
        due = [target for target in targets[0 if targets[0].wanted else 1:]
               if not cells.setdefault((program.name, target.name),
                                       Cell(bench.builds)).complete(rounds)]
        if not due:
            return
        for build in bench.builds:
            bench.record(build, program, targets[0], bench.reel(build))
        for target in due:
            cell = cells[program.name, target.name]
            turn = ["program", *bench.builds]
            for what in turn if i % 2 else reversed(turn):
                if what == "program":
                    cell.program.append(bench.time(program, target))
                else:
                    cell.replays[what].append(bench.replay(what, bench.reel(what), target))


def show_cells(program, targets, builds, cells):
    for target in targets:
        cell = cells.get((program.name, target.name))
        for build in builds if cell else ():
            low, high = cell.interval(build)
            print(f"{program.name:11} {target.name:10} {build:8} "
                  f"{statistics.median(cell.program):7.3f} s "
                  f"{statistics.median(cell.replays[build]):7.3f} s  {cell.error(build):+7.1%} "
                  f"({low:+.1%} to {high:+.1%})", flush=True)


def summary(build, programs, cells):
    aside = {one.name for one in programs if one.aside}
    for what, chosen, most in (
            ("all programs", lambda key: True, AIM_MEAN),
            ("on ext4, as recorded", lambda key: key[1] == "ext4", AIM_SAME),
            ("set aside", lambda key: key[0] in aside, AIM_MEAN)):
        errors = [abs(cell.error(build)) for key, cell in cells.items() if chosen(key)]
        if errors:
            print(f"{build}, {what}: mean |error| {statistics.mean(errors):.1%} (aim {most:.0%}), largest "
                  f"{max(errors):.1%}, {len(errors)} cells")


def main():
    parser = argument_parser(__doc__)
    parser.add_argument("--before", help="another build of filereel")
    parser.add_argument("--programs", type=lambda text: text.split(","))
    parser.add_argument("--targets", type=lambda text: text.split(","))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", default="/var/tmp", help="for inputs, reels and mount points")
    parser.add_argument("--json", type=argparse.FileType("w"), help="write all seconds here")
    arguments = parser.parse_args()
    if why_not():
        raise SystemExit(why_not())
    print(machine())
    programs = [one for one in PROGRAMS
                if not arguments.programs or one.name in arguments.programs]
    for one in programs:
        if not shutil.which(one.needs):
            print(f"{one.name}: left out, {one.needs} is not installed")
    programs = [one for one in programs if shutil.which(one.needs)]
    cells = {}
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder, contextlib.ExitStack() as stack:
        bench = Bench(arguments, folder)
        targets = [Target("ext4", folder), Target("xfs", folder, "xfs"),
                   Target("btrfs", folder, "btrfs"), Target("1ms", folder, latency="1ms"),
                   Target("5ms", folder, latency="5ms"),
                   Target("ext4-1cpu", folder, runner=("taskset", "-c", "0"))]
        for one in targets:
            one.wanted = not arguments.targets or one.name in arguments.targets
        targets = [one for one in targets if one.wanted or one is targets[0]]
        for one in targets:
            stack.enter_context(one.made())
        for program in programs:
            measure(bench, program, targets, arguments.rounds, cells)
            show_cells(program, targets, bench.builds, cells)
    for build in bench.builds:
        summary(build, programs, cells)
    if arguments.json:
        json.dump([{"program": program, "target": target, "program_s": cell.program,
                    "replay_s": cell.replays} for (program, target), cell in cells.items()],
                  arguments.json, indent=1)


if __name__ == "__main__":
    main()
