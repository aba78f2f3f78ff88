#!/usr/bin/env python3
"""Creates sets of very many files and compares with a C loop that makes the fewest calls.

    many_files.py [--filereel PATH] [--files 1000000,10000000] [--sizes 0,100] [--fs ext4,xfs,btrfs]
                  [--folder /var/tmp] [--operations create]

First the memory with the default tree (10.2 files per directory) and all steps, on the null engine. Then
for each file system, on a fresh sparse image in FOLDER, filereel and the loop in turn, on the same tree
of 100 files per directory: peak memory per file, seconds from the start of the program to the first file,
and files created per second, by 100,000 files: the first, the median, the last and the slowest of these.
The loop shows the file system's own decline. On ext4 and xfs, 10 million files of 100 bytes take up to
50 GB of FOLDER. Needs root (it mounts), a C compiler, time(1) and the mkfs of each.
"""
import base64
import contextlib
import json
import os
import statistics
import subprocess
import tempfile
import time
import zlib

from peers import argument_parser, compile_c, machine, mounted, run, touch_memory, verdict

STEP = 100_000
BINS = 68  # of latencies, in an interval of a course
PER_DIRECTORY = 100
MEMORY_PER_FILE = 250  # bytes
FIRST_FILE = 20  # seconds, of 10 million
# Enough inodes on ext4; the rest as filereel formats it.
MAKE = {
    "ext4": ["mkfs.ext4", "-q", "-F", "-b", "4096", "-i", "4096", "-E",
             "nodiscard,lazy_itable_init=1,lazy_journal_init=1"],
    "xfs": ["mkfs.xfs", "-q", "-f", "-K"],
    "btrfs": ["mkfs.btrfs", "-q", "-f", "-K"],
}
MOUNT = {"ext4": ["-o", "loop,noinit_itable"], "xfs": ["-o", "loop"], "btrfs": ["-o", "loop"]}


@contextlib.contextmanager
def file_system(folder, kind, files):
    """The root of a fresh one with room for all files."""
    image, mount = os.path.join(folder, "image"), os.path.join(folder, "mount")
    with open(image, "wb") as file:
        file.truncate(files * 8192 + (4 << 30))
    try:
        run(*MAKE[kind], image)
        os.makedirs(mount, exist_ok=True)
        with mounted(*MOUNT[kind], image, mount):
            yield mount
    finally:
        os.unlink(image)


def specification(folder, files, size, tree):
    path = os.path.join(folder, "many.yaml")
    with open(path, "w") as file:
        file.write(f"name: many\ngroups:\n  - {{count: {files}, size: {size}{tree}}}\n")
    return path


def first_file(target, process, begin):
    """Seconds from `begin` until the directory of the set is there."""
    while process.poll() is None:
        folders = [target] + [os.path.join(target, name) for name in os.listdir(target)]
        if any(os.path.isdir(os.path.join(folder, "original")) for folder in folders):
            return time.monotonic() - begin
        time.sleep(0.005)
    raise SystemExit("filereel ended without creating a file")


def started(folder, *command):
    """Starts a program below time(1): a direct child would begin with the peak of this process."""
    peak = os.path.join(folder, "peak")
    return subprocess.Popen(["/usr/bin/time", "-o", peak, "-f", "%M", *command],
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True), peak


def peak_memory(process, peak):
    """Waits for a program; gives its peak memory in bytes."""
    errors = process.communicate()[1]
    if process.returncode != 0:
        raise SystemExit(f"{process.args}: {errors}")
    with open(peak) as file:
        return int(file.read().split()[-1]) * 1024


def numbers(text):
    """See docs/result-json.md."""
    data, list_, at = zlib.decompress(base64.b64decode(text)), [], 0
    while at < len(data):
        value = shift = 0
        while True:
            byte, at = data[at], at + 1
            value |= (byte if shift == 56 else byte & 127) << shift
            shift += 7
            if byte < 128 or shift == 63:
                break
        value = value >> 1 ^ -(value & 1)
        list_ += [value] if value > 0 else [0] * max(-value, 1)
    return list_


def times_of(sample):
    """Seconds after each 100,000 files. All files take the same number of operations."""
    counts = numbers(sample["course"]["operations"])
    operations = [sum(counts[at:at + BINS]) for at in range(0, len(counts), BINS)]
    per_file = sum(operations) / sample["files"]
    times, done = [], 0.0
    for number, one in enumerate(operations):
        files = one / per_file
        begin = number * sample["course"]["interval_s"]
        # The last interval is cut short by the end.
        end = min(begin + sample["course"]["interval_s"], sample["elapsed_s"])
        while files > 0 and done + files + 0.5 >= (len(times) + 1) * STEP:
            share = ((len(times) + 1) * STEP - done) / files
            times.append(begin + min(share, 1) * (end - begin))
        done += files
    return times


def row(who, times, memory="", first=""):
    rates = [STEP / (end - begin) for begin, end in zip([0.0, *times], times)]
    shown = [rates[0], statistics.median(rates), rates[-1], min(rates)]
    print(f"| {who} | {memory} | {first} | " + " | ".join(f"{one:,.0f}" for one in shown) + " |",
          flush=True)


def run_filereel(args, folder, kind, files, size):
    result = os.path.join(folder, "result.json")
    tree = f", directories: {{files_per_directory: {PER_DIRECTORY}, depth: 1, spread: even}}"
    with file_system(folder, kind, files) as root:
        target = os.path.join(root, "target")
        os.mkdir(target)
        begin = time.monotonic()
        process, peak = started(
            folder, args.filereel, "-q", "run", "--near", target, "--set",
            specification(folder, files, size, tree), "--runs", "1", "--operations",
            args.operations, "--keep", "--json", result)
        first = first_file(target, process, begin)
        memory = peak_memory(process, peak) / files
    with open(result) as file:
        measured = json.load(file)["measurements"]
    created = next(one for one in measured if one["operation"] == "create")
    row("filereel", times_of(created["samples"][0]), f"{memory:.0f}", f"{first:.1f}")
    return memory, first


def run_loop(loop, folder, kind, files, size):
    with file_system(folder, kind, files) as root:
        times = run(loop, root, str(files), str(size), str(PER_DIRECTORY))
    row("C loop", [float(one) for one in times.split()])


def memory_of_all_steps(args, folder, files, size):
    memory = peak_memory(*started(folder, args.filereel, "-q", "run", "--engine", "null", "--set",
                                  specification(folder, files, size, ""), "--runs", "1")) / files
    verdict(f"{files:,} files of {size} bytes, default tree, all steps: bytes of memory per file",
            memory, MEMORY_PER_FILE, at_most=True)


def main():
    parser = argument_parser(__doc__)
    parser.add_argument("--files", default="1000000,10000000")
    parser.add_argument("--sizes", default="0,100")
    parser.add_argument("--fs", default="ext4,xfs,btrfs")
    parser.add_argument("--folder", default="/var/tmp")
    parser.add_argument("--operations", default="create")
    args = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        loop = compile_c("many_loop.c", folder)
        for files in map(int, args.files.split(",")):
            for size in map(int, args.sizes.split(",")):
                memory_of_all_steps(args, folder, files, size)
                for kind in args.fs.split(","):
                    print(f"\n{kind}, {files:,} files of {size} bytes\n\n"
                          "| | memory per file, bytes | first file, s | files/s: first 100,000 | "
                          "median | last | slowest |\n|---|---|---|---|---|---|---|")
                    touch_memory(files * 300)
                    memory, first = run_filereel(args, folder, kind, files, size)
                    touch_memory(files * 300)
                    run_loop(loop, folder, kind, files, size)
                    verdict("memory per file", memory, MEMORY_PER_FILE, at_most=True)
                    verdict("seconds until the first file", first, FIRST_FILE, at_most=True)


if __name__ == "__main__":
    main()
