#!/usr/bin/env python3
"""Compares filereel with what people use, in one run, on tmpfs and on ext4.

    fc_test_peers.py [--filereel PATH] [--set programs] [--scale 1] [--rounds 5]

Creating: a plain C loop (the limit) and `tar xf` of the same set. Copying: the C loop, `cp -r` with
read and write (--reflink=never), `rsync -aW`, and by copy_file_range `cp -r` as it is. All are timed
until their last call returned, with warm caches, in rotating order; ratios are of medians and of the best
rounds. Needs root (it mounts), a C compiler, tar and rsync.
"""
import json
import os
import shutil
import statistics
import tempfile
import time

from peers import argument_parser, compile_c, mounted, mounted_ext4, run, touch_memory


def timed(*command):
    start = time.monotonic()
    run(*command)
    return time.monotonic() - start


class Place:
    """A directory on one file system, emptied between the contestants."""

    def __init__(self, path):
        self.path = path

    def fresh(self):
        for name in os.listdir(self.path):
            if name != "lost+found":
                shutil.rmtree(os.path.join(self.path, name))
        os.sync()


def filereel(args, place, operations, method="readwrite"):
    """Seconds by operation."""
    target = os.path.join(place.path, "filereel")
    result = json.loads(run(args.filereel, "-q", "run", "--near", target, "--set", args.set,
                            "--scale", str(args.scale), "--runs", "1", "--warm", "--operations",
                            ",".join(operations), "--copy-method", method, "--json", "-"))
    return {one["operation"]: one["samples"][0]["elapsed_s"] for one in result["measurements"]}


def contestants(args, place, work, rows):
    """Functions that run one contestant each, on an empty place."""
    listing, archive, loop = (os.path.join(work, name) for name in ("list", "tar", "plain_loop"))
    source, copy = os.path.join(place.path, "from"), os.path.join(place.path, "to")

    def ours():
        times = filereel(args, place, ["create", "copy-near"])
        rows["create", "filereel"].append(times["create"])
        rows["copy, read/write", "filereel"].append(times["copy-near"])

    def ours_in_kernel():
        times = filereel(args, place, ["create", "copy-near"], "copy_file_range")
        rows["copy, in kernel", "filereel"].append(times["copy-near"])

    def plain_loop():
        rows["create", "C loop"].append(float(run(loop, "create", listing, source)))
        os.sync()  # filereel waits for the create step to be durable, too
        rows["copy, read/write", "C loop"].append(float(run(loop, "copy", listing, source, copy)))

    def unpacked():
        os.mkdir(source)
        seconds = timed("tar", "xf", archive, "-C", source)
        os.sync()
        return seconds

    def tar_and_cp():
        rows["create", "tar xf"].append(unpacked())
        rows["copy, read/write", "cp -r --reflink=never"].append(
            timed("cp", "-r", "--reflink=never", source, copy))

    def rsync():
        unpacked()
        rows["copy, read/write", "rsync -aW"].append(timed("rsync", "-aW", source + "/", copy))

    def cp():
        unpacked()
        rows["copy, in kernel", "cp -r"].append(timed("cp", "-r", source, copy))

    return [ours, ours_in_kernel, plain_loop, tar_and_cp, rsync, cp]


def compare(args, place, work):
    kinds = {"create": ["filereel", "C loop", "tar xf"],
             "copy, read/write": ["filereel", "C loop", "cp -r --reflink=never", "rsync -aW"],
             "copy, in kernel": ["filereel", "cp -r"]}
    rows = {(kind, who): [] for kind, all_of in kinds.items() for who in all_of}
    everyone = contestants(args, place, work, rows)
    for turn in range(args.rounds + 1):
        # In another order each round: memory that was just given back costs whoever comes next.
        for contestant in everyone[turn % len(everyone):] + everyone[:turn % len(everyone)]:
            place.fresh()
            touch_memory(args.bytes)
            contestant()
        if turn == 0:  # warmed up; not counted
            for times in rows.values():
                times.clear()
    for kind, all_of in kinds.items():
        ours = statistics.median(rows[kind, "filereel"])
        best = min(rows[kind, "filereel"])
        print(f"  {kind}")
        for who in all_of:
            times = rows[kind, who]
            middle = statistics.median(times)
            ratio = "" if who == "filereel" else (
                f"   filereel takes {ours / middle:.2f} x, at best {best / min(times):.2f} x")
            print(f"    {who:<22} {middle:7.3f} s ({min(times):.3f} to {max(times):.3f}){ratio}")


def main():
    parser = argument_parser(__doc__)
    parser.add_argument("--set", default="programs")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=6)
    args = parser.parse_args()

    with tempfile.TemporaryDirectory(prefix="filereel-peers-") as work:
        shared = os.path.join(work, "tmpfs")
        os.mkdir(shared)
        with mounted("-t", "tmpfs", "-o", "size=80%", "tmpfs", shared):
            sources = os.path.join(shared, "sources")  # in memory, so that no one waits for a disk
            os.mkdir(sources)
            compile_c("plain_loop.c", sources)
            tree = os.path.join(sources, "tree")
            run(args.filereel, "-q", "populate", args.set, tree, "--scale", str(args.scale))
            run("tar", "cf", os.path.join(sources, "tar"), "-C", tree, ".")
            with open(os.path.join(sources, "list"), "w") as listing:
                for folder, folders, files in os.walk(tree):
                    inside = os.path.relpath(folder, tree)
                    prefix = "" if inside == "." else inside + "/"
                    if prefix:
                        listing.write(f"d {inside}\n")
                    for name in sorted(files):
                        size = os.path.getsize(os.path.join(folder, name))
                        listing.write(f"f {size} {prefix}{name}\n")
            size = sum(os.path.getsize(os.path.join(f, n)) for f, _, all_ in os.walk(tree)
                       for n in all_)
            shutil.rmtree(tree)
            args.bytes = size
            print(f"set {args.set}, {size} bytes, median of {args.rounds} rounds")

            place = os.path.join(shared, "place")
            os.mkdir(place)
            print("tmpfs")
            compare(args, Place(place), sources)

            mount = os.path.join(work, "ext4")
            with mounted_ext4(os.path.join(work, "ext4.img"), 4 * size + (512 << 20), mount):
                print("ext4")
                compare(args, Place(mount), sources)


if __name__ == "__main__":
    main()
