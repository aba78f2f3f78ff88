#!/usr/bin/env python3
"""Copying a tree: filereel beside the programs that people copy with, on tmpfs and on ext4.

    copy_peers.py [--filereel PATH] [--peers-folder DIR] [--set programs] [--scale 0.3] [--rounds 7]
                  [--threads 1,2] [--cases tmpfs,ext4-warm,ext4-cold] [--methods readwrite,copy_file_range]

filereel's copy-near beside cp, rsync -aW, tar | tar, xcp, fcp and cpz (Rust crates). Programs are looked up
in --peers-folder and in PATH; those that are not installed are left out. With N threads, everyone may use N
processors (taskset). filereel then runs --threads N, xcp --workers N, and fcp and cpz with
RAYON_NUM_THREADS=N. cp, rsync and tar have no such option.

Each copies the same tree within one file system, in rotating order: on tmpfs, and on ext4 in an image in
memory, with warm caches or after sync and dropping all caches. The tree is created right before, as filereel
does: on tmpfs, copying one that has been there for a while takes a tenth less time. `elapsed` ends with the last call of
filereel, or the end of the program, whose start is included; `durable` with the syncfs after it. Ratios are
of medians, in pairs of a round, and of the best rounds. Needs root.
"""
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time

from peers import (MEMORY, argument_parser, machine, mounted, mounted_ext4, run, spread, touch_memory,
                   verdict)

TARGET = 1.0
CASES = ["tmpfs", "ext4-warm", "ext4-cold"]
TIMES = {"tmpfs": ["elapsed"], "ext4": ["elapsed", "durable"]}
# Programs by name: the command, where {n} is the number of threads.
PEERS = {
    "cp": "cp -r {from}/. {to}",
    "rsync": "rsync -aW {from}/ {to}/",
    "tar": "tar -C {from} -cf - . | tar -C {to} -xf -",
    "xcp": "xcp --no-progress --workers {n} -r -T {from} {to}/tree",
    "fcp": "RAYON_NUM_THREADS={n} fcp {from} {to}/tree",
    "cpz": "RAYON_NUM_THREADS={n} cpz {from} {to}/tree",
}


def cpus(threads):
    return "taskset", "-c", f"0-{threads - 1}"


def size_of(tree):
    return sum(os.lstat(os.path.join(folder, name)).st_size
               for folder, _, names in os.walk(tree) for name in names)


class Contest:
    """In a directory of a file system: contestants give their times of one copy by name."""

    def __init__(self, arguments, place, cold, threads):
        self.arguments, self.place, self.cold, self.threads = arguments, place, cold, threads
        self.source = os.path.join(place, "from")

    def filereel(self, method):
        target = os.path.join(self.place, "filereel")
        result = json.loads(run(
            *cpus(self.threads), self.arguments.filereel, "-q", "run", "--near", target, "--set",
            self.arguments.set, "--scale", str(self.arguments.scale), "--runs", "1",
            *([] if self.cold else ["--warm"]), "--operations", "create,copy-near", "--threads",
            str(self.threads), "--copy-method", method, "--json", "-"))
        sample, = next(one for one in result["measurements"]
                       if one["operation"] == "copy-near")["samples"]
        return {"elapsed": sample["elapsed_s"], "durable": sample["durable_s"]}

    def peer(self, command):
        to = os.path.join(self.place, "to")
        os.mkdir(to)
        run(self.arguments.filereel, "-q", "populate", self.arguments.set, self.source, "--scale",
            str(self.arguments.scale))
        command = command.replace("{n}", str(self.threads))
        command = command.replace("{from}", self.source).replace("{to}", to)
        os.sync()
        if self.cold:
            with open("/proc/sys/vm/drop_caches", "w") as file:
                file.write("3")
        start = time.monotonic()
        subprocess.run([*cpus(self.threads), "sh", "-c", command], check=True, capture_output=True)
        elapsed = time.monotonic() - start
        subprocess.run(["sync", "-f", to], check=True)
        durable = time.monotonic() - start
        if size_of(to) != self.arguments.bytes:
            raise SystemExit(f"{command}: the copy is incomplete")
        return {"elapsed": elapsed, "durable": durable}

    def contestants(self):
        everyone = {f"filereel {method}": lambda method=method: self.filereel(method)
                    for method in self.arguments.methods.split(",")}
        for name, command in PEERS.items():
            if shutil.which(name):
                everyone[name] = lambda command=command: self.peer(command)
        return everyone

    def fresh(self):
        for name in ("from", "to", "filereel"):
            shutil.rmtree(os.path.join(self.place, name), ignore_errors=True)
        os.sync()

    def turns(self):
        """A list of times of one round each, by contestant."""
        everyone = self.contestants()
        rounds = {who: [] for who in everyone}
        names = list(everyone)
        for turn in range(self.arguments.rounds + 1):
            # In another order each round: memory that was just given back costs whoever comes next.
            for who in names[turn % len(names):] + names[:turn % len(names)]:
                self.fresh()
                touch_memory(self.arguments.bytes)
                times = everyone[who]()
                if turn > 0:  # the first round warms up
                    rounds[who].append(times)
        self.fresh()
        return rounds

    def compare(self, title, kinds):
        rounds = self.turns()
        for kind in kinds:
            times = {who: [one[kind] for one in all_] for who, all_ in rounds.items()}
            ours = [who for who in times if who.startswith("filereel")]
            print(f"  {kind}, s")
            for who, theirs in times.items():
                print(f"    {who:<24} {spread(theirs, '.3f')}")
            middle = {who: statistics.median(all_) for who, all_ in times.items()}
            best = min((who for who in times if who not in ours), key=middle.get)
            for who in ours:
                pairs = [one / other for one, other in zip(times[who], times[best])]
                print(f"  {who} by {best}, the best of them: in pairs {spread(pairs, '.3f')}, at best "
                      f"{min(times[who]) / min(times[best]):.3f}")
                verdict(f"{title}, {kind}: {who} by {best}", middle[who] / middle[best], TARGET,
                        at_most=True)


def main():
    parser = argument_parser(__doc__)
    parser.add_argument("--peers-folder", type=os.path.abspath, help="programs to compare with")
    parser.add_argument("--set", default="programs")
    parser.add_argument("--scale", type=float, default=0.3)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", default="1,2", help="separated by commas")
    parser.add_argument("--cases", default=",".join(CASES), help="separated by commas")
    parser.add_argument("--methods", default="readwrite,copy_file_range", help="separated by commas")
    arguments = parser.parse_args()
    if arguments.peers_folder:
        os.environ["PATH"] = arguments.peers_folder + os.pathsep + os.environ["PATH"]
    print(f"{run(arguments.filereel, '--version').strip()}; {machine()}; set {arguments.set}, scale "
          f"{arguments.scale}; medians and extremes of {arguments.rounds} rounds")
    for name in PEERS:
        if not shutil.which(name):
            print(f"{name}: not installed")

    with tempfile.TemporaryDirectory(prefix="filereel-peers-", dir=MEMORY) as folder:
        tree = os.path.join(folder, "tree")
        run(arguments.filereel, "-q", "populate", arguments.set, tree, "--scale", str(arguments.scale))
        arguments.bytes = size_of(tree)
        shutil.rmtree(tree)

        def compare_all(system, place):
            for case in [one for one in arguments.cases.split(",") if one.startswith(system)]:
                for threads in map(int, arguments.threads.split(",")):
                    print(f"{case}, {threads} threads", flush=True)
                    contest = Contest(arguments, place, case.endswith("cold"), threads)
                    contest.compare(f"{case}, {threads} threads", TIMES[system])

        place = os.path.join(folder, "tmpfs")
        os.mkdir(place)
        with mounted("-t", "tmpfs", "-o", "size=80%", "tmpfs", place):
            compare_all("tmpfs", place)
        mount = os.path.join(folder, "ext4")
        if "ext4" in arguments.cases:
            with mounted_ext4(os.path.join(folder, "ext4.img"), 4 * arguments.bytes + (512 << 20), mount):
                compare_all("ext4", mount)


if __name__ == "__main__":
    main()
