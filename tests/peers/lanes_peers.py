#!/usr/bin/env python3
"""Replays traces of 16 threads on all cores: filereel, and a C program with the same threads and calls.

    lanes_peers.py [--filereel PATH] [--threads 16] [--scale 1] [--rounds 11] [--only NAME,…]

Both do the same small calls on the same files on a tmpfs, in the same threads. The traces are written
as strace text and imported; the C program reads the same steps as numbers. Where threads of the trace
depend on each other, filereel keeps the orders that it finds in it (--order resource), and the C
program the same ones with futexes, of which it calls one only if somebody sleeps. The C program runs
twice: a waiting thread sleeps at once, or yields its core some times before ("yielding", as waits of the
C++ library do). In each round filereel makes the files anew and replays; the C program follows on these
very files, in changing order. Ratios are taken within a round and are the medians of the rounds; the
larger of the two counts.

  own       each thread reads and writes a file of its own, without orders
  open      each thread opens, reads and closes a file of its own, without orders
  chain     in each round, thread i reads what thread i-1 wrote in that round, and writes its own
  ring      a token: thread i reads what the thread before wrote, and writes it; one runs at a time
  readers   one thread writes a block, which all others read, before it writes the next

A hop of the ring wakes a thread. It is compared with a futex round trip of two threads in C, which
wakes two, where the scheduler places these. Round trips on two cores and on one are printed, too.
Needs a C compiler; the machine should be idle.
"""
import array
import os
import shutil
import statistics
import tempfile

from peers import MEMORY, argument_parser, compile_c, machine, replayed, run, spread, verdict

LENGTH, FILE_SIZE = 512, 1 << 20
TARGET, HOP_TARGET = 1.10, 2.0
READ, WRITE, OPEN, CLOSE, WAIT, SIGNAL = range(6)
FIRST_FD, MAIN = 3, 100
YIELDS = 4


class Work:
    """The steps of all threads, as strace text in the order of the trace and as numbers by thread."""

    def __init__(self, threads, files, size=FILE_SIZE):
        self.steps = [array.array("q") for _ in range(threads)]
        self.signals = [0] * threads
        self.files, self.calls, self.waits = files, 0, 0
        self.lines = []
        for file in range(files):
            self.lines.append(f'{MAIN} openat(AT_FDCWD, "/f{file}", O_RDWR) = {FIRST_FD + file}')
            # Tells the importer the size.
            self.lines.append(f'{MAIN} pread64({FIRST_FD + file}, ""..., {LENGTH}, {size - LENGTH}) = {LENGTH}')
        self.lines += [f"{MAIN} clone(child_stack=0x7f, flags=CLONE_VM|CLONE_FS|CLONE_FILES|"
                       f"CLONE_SIGHAND|CLONE_THREAD) = {MAIN + 1 + thread}" for thread in range(threads)]

    def _add(self, thread, kind, file, offset, length):
        self.steps[thread].extend((kind, file, offset, length))

    def _call(self, thread, kind, file, offset, length, text):
        self._add(thread, kind, file, offset, length)
        self.lines.append(f"{MAIN + 1 + thread} {text}")
        self.calls += 1

    def read(self, thread, file, offset, fd=None):
        fd = FIRST_FD + file if fd is None else fd
        self._call(thread, READ, file, offset, LENGTH, f'pread64({fd}, ""..., {LENGTH}, {offset}) = {LENGTH}')

    def write(self, thread, file, offset):
        self._call(thread, WRITE, file, offset, LENGTH,
                   f'pwrite64({FIRST_FD + file}, ""..., {LENGTH}, {offset}) = {LENGTH}')

    def open(self, thread, file, fd):
        self._call(thread, OPEN, file, 0, 0, f'openat(AT_FDCWD, "/f{file}", O_RDWR) = {fd}')

    def close(self, thread, file, fd):
        self._call(thread, CLOSE, file, 0, 0, f"close({fd}) = 0")

    def signal(self, thread):
        """What the thread has done so far; others can wait for it."""
        self._add(thread, SIGNAL, 0, 0, 0)
        self.signals[thread] += 1

    def wait(self, thread, other):
        """For the last signal of another thread."""
        if self.signals[other] > 0:
            self._add(thread, WAIT, other, self.signals[other], 0)
            self.waits += 1

    def store(self, name):
        with open(name + ".strace", "w") as file:
            file.write("\n".join(self.lines) + "\n")
        with open(name + ".steps", "wb") as file:
            array.array("q", (self.files, len(self.steps))).tofile(file)
            for steps in self.steps:
                array.array("q", (len(steps) // 4,)).tofile(file)
                steps.tofile(file)


def places(turn):
    """Offsets that jump about in a file."""
    return turn * 7919 % (FILE_SIZE // LENGTH) * LENGTH


def own(threads, scale):
    work = Work(threads, threads)
    for turn in range(int(12_000 * scale)):
        for thread in range(threads):
            work.read(thread, thread, places(2 * turn))
            work.write(thread, thread, places(2 * turn + 1))
    return work


def opens(threads, scale):
    work = Work(threads, threads)
    for turn in range(int(6_000 * scale)):
        for thread in range(threads):
            fd = FIRST_FD + threads + thread
            work.open(thread, thread, fd)
            work.read(thread, thread, places(turn), fd)
            work.close(thread, thread, fd)
    return work


def chain(threads, scale):
    rounds = int(10_000 * scale)
    work = Work(threads, threads, rounds * LENGTH)
    for turn in range(rounds):
        for thread in range(threads):
            if thread > 0:
                work.wait(thread, thread - 1)
                work.read(thread, thread - 1, turn * LENGTH)
            work.write(thread, thread, turn * LENGTH)
            work.signal(thread)
    return work


def ring(threads, scale):
    work = Work(threads, 1)
    for hop in range(int(32_000 * scale)):
        thread = hop % threads
        work.wait(thread, (thread - 1) % threads)
        work.read(thread, 0, 0)
        work.write(thread, 0, 0)
        work.signal(thread)
    return work


def readers(threads, scale):
    work = Work(threads, 1)
    for _ in range(int(4_000 * scale)):
        for reader in range(1, threads):
            work.wait(0, reader)
        work.write(0, 0, 0)
        work.signal(0)
        for reader in range(1, threads):
            work.wait(reader, 0)
            work.read(reader, 0, 0)
            work.signal(reader)
    return work


KINDS = {"own": own, "open": opens, "chain": chain, "ring": ring, "readers": readers}


def compare(arguments, folder, loop, name):
    """Prints the rows of a kind; gives the ratio, and filereel's nanoseconds per call."""
    work = KINDS[name](arguments.threads, arguments.scale)
    base = os.path.join(folder, name)
    work.store(base)
    run(arguments.filereel, "--quiet", "import", base + ".strace", "-o", base + ".reel")
    place = os.path.join(folder, "place-" + name)
    contestants = {"C": "0", "yielding": str(YIELDS)}
    times = {who: [] for who in ("filereel", *contestants)}
    waits = set()
    for turn in range(arguments.rounds):
        sample = replayed(arguments.filereel, base + ".reel", place, "--warm", "--runs", "1")
        waits.add(sample["reel"]["waits"])
        times["filereel"].append(sample["elapsed_s"] * 1e9 / work.calls)
        for who in (sorted(contestants), sorted(contestants, reverse=True))[turn % 2]:
            seconds = float(run(loop, "run", base + ".steps", place, contestants[who]))
            times[who].append(seconds * 1e9 / work.calls)
        shutil.rmtree(place)  # filereel does not touch files that others changed
    print(f"  {name}: {work.calls} calls; waits: C {work.waits}, filereel {', '.join(map(str, waits))}")
    print(f"    filereel  {spread(times['filereel'], '6.0f')} ns per call")
    worst = 0
    for who in contestants:
        ratios = [ours / theirs for ours, theirs in zip(times["filereel"], times[who])]
        print(f"    {who:<9} {spread(times[who], '6.0f')} ns per call, filereel {spread(ratios, '.3f')} x",
              flush=True)
        worst = max(worst, statistics.median(ratios))
    return worst, statistics.median(times["filereel"])


def main():
    parser = argument_parser(__doc__)
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(KINDS))
    arguments = parser.parse_args()
    print(f"{run(arguments.filereel, '--version').strip()}; {run('cc', '--version').splitlines()[0]}; "
          f"{machine()}")
    print(f"{arguments.threads} threads, calls of {LENGTH} bytes on tmpfs; medians and extremes of "
          f"{arguments.rounds} rounds")
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        loop = compile_c("lanes_loop.c", folder)
        ratios, costs = {}, {}
        for name in arguments.only:
            ratios[name], costs[name] = compare(arguments, folder, loop, name)
        trips = {where: statistics.median(float(run(loop, "trips", "20000", *option))
                                          for _ in range(arguments.rounds))
                 for where, option in (("as placed", ()), ("on two cores", ("0", "1")),
                                       ("on one core", ("0", "0")))}
    print("  futex round trip: " + ", ".join(f"{ns:.0f} ns {where}" for where, ns in trips.items()))
    for name, ratio in ratios.items():
        verdict(f"{name}, filereel by the C program", ratio, TARGET, at_most=True)
    if "ring" in costs:
        hop = 2 * costs["ring"]  # a read and a write
        print(f"  hop of the ring: {hop:.0f} ns")
        verdict("hop of the ring by a futex round trip", hop / trips["as placed"], HOP_TARGET, at_most=True)


if __name__ == "__main__":
    main()
