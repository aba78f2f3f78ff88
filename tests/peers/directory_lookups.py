#!/usr/bin/env python3
"""Latency of calls by path in trees of many directories: a C program, and filereel.

    directory_lookups.py [--filereel PATH] [--before PATH] [--directories 10,1000,100000] [--rounds 5]

Each directory has one file. The C program calls stat for each file, by its path and in random order.
filereel replays a trace of these calls, and keeps only some of the directories open. Cold: one pass;
warm: several, after one that is not timed. In each round, filereel makes the files anew on an ext4 in an
image file and replays; then the C program follows on these very files. "before" is another filereel, such
as an older one. Printed are the medians of the rounds of the mean of a call, and filereel's own share of
lookups per call, which is in no latency. Needs root and a C compiler; the machine should be idle.
"""
import fcntl
import os
import random
import shutil
import statistics
import struct
import tempfile

from peers import argument_parser, compile_c, machine, mounted_ext4, replayed, run

TARGET_US, TARGET_SHARE = 1.5, 0.3  # what a latency may differ by: the larger of the two
LEAST_WARM = 20_000  # calls
EXT4_IOC_CHECKPOINT = 0x4004662B


def write_reel(filereel, base, names, passes):
    with open(base + ".names", "w") as file:
        file.writelines(name + "\n" for name in names)
    with open(base + ".strace", "w") as file:
        for _ in range(passes):
            file.writelines(f'1 newfstatat(AT_FDCWD, "/{name}", {{st_mode=S_IFREG|0644, st_size=0, ...}}, 0) = 0\n'
                            for name in names)
    run(filereel, "--quiet", "import", base + ".strace", "-o", base + ".reel")
    return base + ".reel"


def drop_caches(folder):
    """Of ext4, too, which keeps in memory what is still in its journal."""
    os.sync()
    directory = os.open(folder, os.O_RDONLY)
    fcntl.ioctl(directory, EXT4_IOC_CHECKPOINT, struct.pack("I", 0))
    os.close(directory)
    with open("/proc/sys/vm/drop_caches", "w") as file:
        file.write("3")


def figures_of(filereel, reel, target, warm):
    """Mean latency and own share of lookups per call, in µs; the share is None if it is unknown."""
    sample = replayed(filereel, reel, target, "--runs", "1", *(["--warm"] if warm else []))
    stats = sample["latency"]["stat"]
    own = sample.get("lookup_s")
    return stats["total_us"] / stats["count"], None if own is None else own * 1e6 / stats["count"]


def round_of(arguments, loop, base, target, passes, warm):
    """µs per call: of the program, of filereel with its own share, and of the one before."""
    latency, own = figures_of(arguments.filereel, base + ".reel", target, warm)
    if not warm:
        drop_caches(target)
    program = float(run(loop, target, base + ".names", str(passes), *(["warm"] if warm else []))) / 1e3
    before = figures_of(arguments.before, base + ".reel", target, warm)[0] if arguments.before else None
    return program, latency, own, before


def main():
    parser = argument_parser(__doc__)
    parser.add_argument("--before", type=os.path.abspath)
    parser.add_argument("--directories", default="10,1000,100000")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", help="for the image; /var/tmp by default", default="/var/tmp")
    arguments = parser.parse_args()
    good = True
    print(machine())
    print("directories  caches  program  filereel  own share" + ("    before" if arguments.before else ""))
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        loop = compile_c("stat_loop.c", folder)
        mount = os.path.join(folder, "mount")
        with mounted_ext4(os.path.join(folder, "image"), 2 << 30, mount, "-i", "8192"):
            for count in map(int, arguments.directories.split(",")):
                names = [f"d{i:06}/f" for i in range(count)]
                random.Random(1).shuffle(names)
                for warm in (False, True):
                    passes = max(2, LEAST_WARM // count) if warm else 1
                    base = os.path.join(folder, f"{count}-{warm}")
                    write_reel(arguments.filereel, base, names, passes)
                    target = os.path.join(mount, os.path.basename(base))
                    rounds = [round_of(arguments, loop, base, target, passes, warm)
                              for _ in range(arguments.rounds)]
                    shutil.rmtree(target)
                    program, latency, own, before = (
                        None if one[0] is None else statistics.median(one) for one in zip(*rounds))
                    print(f"{count:11,}  {'warm' if warm else 'cold':6}  {program:4.1f} µs  {latency:5.1f} µs"
                          f"  {own:6.2f} µs" + (f"  {before:5.1f} µs" if before else ""), flush=True)
                    good = good and abs(latency - program) <= max(TARGET_US, TARGET_SHARE * program)
    print("met" if good else "missed")
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
