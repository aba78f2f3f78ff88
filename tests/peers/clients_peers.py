#!/usr/bin/env python3
"""Several clients: filereel beside a plain C loop on MPI, and beside IOR and mdtest where they are installed.

    clients_peers.py [--filereel PATH] [--processes 4] [--mib 256] [--files 50000] [--rounds 7]
                     [--shift 0] [--ior PROGRAM] [--mdtest PROGRAM] [--cases tmpfs-warm,ext4-warm,ext4-cold]
                     [--kinds data,metadata]

Data: each process writes a file of its own in pieces of 1 MiB, syncs it, and reads it (IOR -a POSIX -F
-t 1m -e -w -r). Metadata: each creates, stats and removes empty files in a directory of its own (mdtest
-F -u). The plain loop (clients_loop.c) makes exactly these calls, so it is the least that such a program
can cost. It writes one buffer again and again, as IOR does. filereel generates all data, so that no two
pieces are equal; "new data" is a loop whose pieces differ, too, by a copy from a pool.

filereel and the others take turns, in the other order each round. A rate counts the work of all processes
from the first start until the last call has returned. Ratios are filereel's rate by the other's: the
median of the ratios within a round, the ratio of the medians, and that of the best rounds. Warm: nobody
empties caches. Cold: both write back and drop all caches before each phase; IOR and mdtest do not, and are
left out. The ext4 is in an image in memory. The processes of the plain loop yield while they wait for
messages, because there may be more of them than cores. Needs root, a C compiler, mpicc and mpirun.
"""
import json
import os
import re
import shutil
import statistics
import subprocess
import tempfile

from peers import (MEMORY, MPI_ENVIRONMENT, argument_parser, compile_c, machine, mounted_ext4, run,
                   spread, touch_memory, verdict)

TARGET = 1.0
PHASES = {"data": ["write", "read"], "metadata": ["create", "stat", "remove"]}
UNITS = {"data": "MiB/s", "metadata": "files/s"}
FILEREEL, PLAIN, NEW_DATA = "filereel", "plain loop", "new data"
CASES = ["tmpfs-warm", "ext4-warm", "ext4-cold"]

RECIPES = {"data": """files: {{count: 1, size: {mib} MiB, exist: false}}
runs: 1
phases:
  - {{name: write, {caches}access: {{size: 1 MiB, reads: 0 %, truncate: true}}, sync: {{at_end: true}}}}
  - {{name: read, {caches}access: {{size: 1 MiB}}}}
""", "metadata": """files: {{set: {folder}/empty.yaml, exist: false}}
runs: 1
phases:
  - {{name: create, {caches}do: [create]}}
  - {{name: stat, {caches}do: [stat]}}
  - {{name: remove, {caches}do: [remove]}}
"""}
EMPTY_FILES = """name: empty
groups:
  - {{path: tree, count: {files}, size: 0, content: zeros, directories: {{depth: 0}}}}
"""


def mpirun(arguments, *command):
    try:
        return run("mpirun", "-np", str(arguments.processes), "--oversubscribe", "--mca",
                   "mpi_yield_when_idle", "1", *command, env=MPI_ENVIRONMENT)
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"{command[0]}: {error.stderr}") from error


def work_of(arguments, kind):
    """Of all processes: MiB or files."""
    return arguments.processes * (arguments.mib if kind == "data" else arguments.files)


class Contest:
    """One kind of work with warm or cold caches in a directory. Contestants give rates by phase."""

    def __init__(self, arguments, kind, cold, place):
        self.arguments, self.kind, self.cold, self.place = arguments, kind, cold, place
        self.work = work_of(arguments, kind)
        self.skews = {who: [] for who in self.contestants()}  # µs
        self.clock_errors = []  # µs

    def filereel(self):
        recipe, result = (os.path.join(self.arguments.folder, name) for name in ("w.yaml", "r.json"))
        with open(os.path.join(self.arguments.folder, "empty.yaml"), "w") as file:
            file.write(EMPTY_FILES.format(files=self.arguments.files))
        with open(recipe, "w") as file:
            file.write(RECIPES[self.kind].format(mib=self.arguments.mib,
                                                 folder=self.arguments.folder,
                                                 caches="" if self.cold else "caches: keep, "))
        mpirun(self.arguments, self.arguments.filereel, "-q", "run", recipe, "--near", self.place,
               "--clients", "mpi", "--json", result)
        rates = {}
        with open(result) as file:
            for one in json.load(file)["measurements"]:
                sample, = one["samples"]
                rates[one["operation"]] = self.work / sample["elapsed_s"]
                self.skews[FILEREEL].append(sample["clients"]["start_skew_us"])
                self.clock_errors.append(sample["clients"]["clock_error_us"])
        return rates

    def plain_loop(self, name, pieces):
        what = ([str(self.arguments.mib), str(self.arguments.shift), pieces]
                if self.kind == "data" else [str(self.arguments.files)])
        text = mpirun(self.arguments, self.arguments.loop, self.kind, self.place, *what,
                      "cold" if self.cold else "warm")
        rates = {}
        for line in text.splitlines():
            phase, seconds, skew = line.split()
            rates[phase] = self.work / float(seconds)
            self.skews[name].append(float(skew) * 1e6)
        return rates

    def ior(self):
        text = mpirun(self.arguments, self.arguments.ior, "-a", "POSIX", "-F", "-t", "1m", "-b",
                      f"{self.arguments.mib}m", "-e", "-w", "-r", *(["-C"] if self.arguments.shift else []),
                      "-o", os.path.join(self.place, "data"))
        return {phase.lower(): float(rate)
                for phase, rate in re.findall(r"Max (Write|Read):\s+([0-9.]+) MiB/sec", text)}

    def mdtest(self):
        text = mpirun(self.arguments, self.arguments.mdtest, "-F", "-u", "-C", "-T", "-r", "-n",
                      str(self.arguments.files), "-d", os.path.join(self.place, "mdtest"))
        names = {"creation": "create", "stat": "stat", "removal": "remove"}
        return {names[phase]: float(rate)
                for phase, rate in re.findall(r"File (creation|stat|removal)\s*:?\s+([0-9.]+)", text)}

    def contestants(self):
        others = {PLAIN: lambda: self.plain_loop(PLAIN, "same")}
        if self.kind == "data":
            others[NEW_DATA] = lambda: self.plain_loop(NEW_DATA, "new")
        if not self.cold and self.kind == "data" and self.arguments.ior:
            others["IOR"] = self.ior
        if not self.cold and self.kind == "metadata" and self.arguments.mdtest:
            others["mdtest"] = self.mdtest
        return {FILEREEL: self.filereel, **others}

    def turns(self):
        """Rates by contestant and phase, a list of one number for each round."""
        everyone = self.contestants()
        rates = {(who, phase): [] for who in everyone for phase in PHASES[self.kind]}
        for turn in range(self.arguments.rounds + 1):
            for who in list(everyone)[::1 if turn % 2 == 0 else -1]:
                os.makedirs(self.place)
                touch_memory(self.arguments.processes * self.arguments.mib << 20)
                got = everyone[who]()
                shutil.rmtree(self.place, ignore_errors=True)
                for phase in PHASES[self.kind]:
                    rates[who, phase].append(got[phase])
            if turn == 0:  # warmed up; not counted
                for one in (*rates.values(), *self.skews.values(), self.clock_errors):
                    one.clear()
        return rates

    def compare(self, title):
        rates = self.turns()
        verdicts = []
        for phase in PHASES[self.kind]:
            ours = rates[FILEREEL, phase]
            print(f"  {phase}, {UNITS[self.kind]}")
            print(f"    {FILEREEL:<10} {spread(ours, '.0f')}")
            for who in self.contestants():
                if who == FILEREEL or (who == NEW_DATA and phase != "write"):
                    continue
                theirs = rates[who, phase]
                pairs = [one / other for one, other in zip(ours, theirs)]
                print(f"    {who:<10} {spread(theirs, '.0f')}; filereel by it: in pairs "
                      f"{spread(pairs, '.3f')}, of medians "
                      f"{statistics.median(ours) / statistics.median(theirs):.3f}, at best "
                      f"{max(ours) / max(theirs):.3f}", flush=True)
                verdicts.append((f"{title}: {phase}, filereel by {who}", statistics.median(pairs)))
        print("  start skew, µs: " + "; ".join(f"{who} {spread(all_, '.0f')}"
                                               for who, all_ in self.skews.items() if all_)
              + f". Error of filereel's clocks, µs: {spread(self.clock_errors, '.0f')}")
        for what, ratio in verdicts:
            verdict(what, ratio, TARGET, at_most=False)


def main():
    parser = argument_parser(__doc__)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--mib", type=int, default=256, help="of each process")
    parser.add_argument("--files", type=int, default=50000, help="of each process")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--shift", type=int, default=0,
                        help="others read the file of the process this many ranks above")
    parser.add_argument("--ior", type=shutil.which, default=shutil.which("ior"))
    parser.add_argument("--mdtest", type=shutil.which, default=shutil.which("mdtest"))
    parser.add_argument("--cases", default=",".join(CASES), help="separated by commas")
    parser.add_argument("--kinds", default=",".join(PHASES), help="separated by commas")
    arguments = parser.parse_args()
    print(f"{run(arguments.filereel, '--version').strip()}; {machine()}; {arguments.processes} processes "
          f"of {arguments.mib} MiB or {arguments.files} files; medians and extremes of "
          f"{arguments.rounds} rounds", flush=True)
    print(f"IOR: {arguments.ior or 'not installed'}; mdtest: {arguments.mdtest or 'not installed'}")

    cases = [case.split("-") for case in arguments.cases.split(",")]
    size = (arguments.processes * arguments.mib << 20) * 3 // 2 + (1 << 30)
    inodes = 2 * arguments.processes * arguments.files
    with tempfile.TemporaryDirectory(prefix="filereel-peers-", dir=MEMORY) as folder:
        arguments.folder = folder
        arguments.loop = compile_c("clients_loop.c", folder, "mpicc")

        def compare_all(system, base):
            for name, caches in cases:
                for kind in arguments.kinds.split(",") if name == system else []:
                    print(f"{system}, {caches}, {kind}", flush=True)
                    Contest(arguments, kind, caches == "cold",
                            os.path.join(base, "place")).compare(f"{system} {caches}")

        compare_all("tmpfs", folder)
        if any(name == "ext4" for name, _ in cases):
            mount = os.path.join(folder, "ext4")
            with mounted_ext4(os.path.join(folder, "ext4.img"), size, mount, "-N", str(inodes)):
                compare_all("ext4", mount)


if __name__ == "__main__":
    main()
