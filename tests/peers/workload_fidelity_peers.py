#!/usr/bin/env python3
"""Whether our workloads do what their originals do: sysbench fileio and fio's file server of IOMeter.

    workload_fidelity_peers.py [--filereel PATH] [--recorder PATH] [--folder DIR] [--files 128]
                               [--requests 8000] [--mix-requests 100000]

sysbench runs each of its six modes on --files files of 1 MiB, by 16 KiB and by 4 KiB; filereel runs the
same phase of its sysbench-fileio and sysbench-fileio-large with files of that size; both are recorded with
filereel record (by --recorder, the filereel that is tested unless said). Compared are the number of opened files, reads, writes and syncs,
the sizes of accesses, the order of reads, writes and syncs (which comes after which), the order of files
in syncs and sequential modes, and in random modes alignment and uniformity of the positions.

fio then runs the job that its examples call iometer-file-access-server, and filereel its
iometer-fileserver: compared are the share of each size, of reads, of positions by alignment, and how even
the positions are spread. Counts may differ by 1 %, shares by one percentage point.

Needs root for recording, sysbench and fio.
"""
import collections
import itertools
import json
import os
import re
import shutil
import tempfile

import yaml

from peers import MEMORY, ROOT, argument_parser, run

CATALOG = os.path.join(ROOT, "traces/catalogue")
BLOCKS = {"sysbench-fileio": 16 << 10, "sysbench-fileio-large": 4 << 10}
MODES = ("seqwr", "seqrewr", "seqrd", "rndrd", "rndwr", "rndrw")
FILE_BYTES = 1 << 20
EVERY = 100  # requests between two syncs of all files
MOST = 0.01
BINS = 16
MOST_CHI_SQUARE = 44.3  # for BINS - 1 degrees of freedom; by chance once in 10,000 runs

FIO_JOB = """[server]
filename={file}
size={size}
bssplit=512/10:1k/5:2k/5:4k/60:8k/2:16k/4:32k/4:64k/10
rw=randrw
rwmixread=80
direct=1
ioengine=io_uring
iodepth=64
number_ios={requests}
# Else it ends when it has moved as much as the file holds.
io_size=1t
# IOMeter draws positions again and again; fio would cut accesses where they meet earlier ones.
norandommap=1
"""


def number_of(name):
    """The number that a file's name ends with: files are numbered from 0."""
    digits = re.search(r"([0-9]+)$", name)
    return int(digits[1]) if digits else 0


Access = collections.namedtuple("Access", "kind file offset length")


class Recording:
    """What a program did to the files whose names a test accepts, in order."""

    def __init__(self, arguments, folder, is_ours, command):
        reel, text = os.path.join(folder, "app.reel"), os.path.join(folder, "app.jsonl")
        run(arguments.recorder, "-q", "record", "--backend", "bpf", "-o", reel, "--", *command,
            cwd=folder)
        run(arguments.recorder, "export", reel, "--format", "jsonl", "-o", text)
        self.done = []
        self.open = {}  # by number of the open file, the number in its name
        with open(text) as lines:
            header = json.loads(next(lines))
            lost = sum(n for what, n in header["lost"].items() if what.startswith("events lost"))
            if lost:
                raise SystemExit(f"{command[0]}: {lost} events were lost while recording")
            for line in lines:
                self.take(json.loads(line), is_ours)
        os.remove(reel)
        os.remove(text)

    def take(self, one, is_ours):
        kind = one.get("operation")
        if kind == "open" and one.get("result", -1) >= 0 and is_ours(one["path"], one["flags"]):
            self.open[one["file"]] = number_of(one["path"])
        elif kind == "close":
            self.open.pop(one["file"], None)
        elif kind in ("read", "write") and one.get("file") in self.open:
            if one.get("result") != one["length"]:
                raise SystemExit(f"an access fell short: {one}")
            self.done.append(Access(kind, self.open[one["file"]], one["offset"], one["length"]))
        elif kind in ("fsync", "fdatasync") and one.get("file") in self.open:
            self.done.append(Access("sync", self.open[one["file"]], 0, 0))

    def of(self, *kinds):
        return [one for one in self.done if one.kind in kinds]


class Table:
    """Lines of ours and theirs, and whether all agree."""

    def __init__(self, ours, theirs):
        self.good = True
        print(f"{'':46} {theirs:>12} {ours:>12}")

    def line(self, what, theirs, ours, good):
        self.good = self.good and good
        form = "{:.3f}".format if isinstance(ours, float) else str
        print(f"{what:46} {form(theirs):>12} {form(ours):>12}{'' if good else '   DIFFERS'}")

    def count(self, what, theirs, ours):
        self.line(what, theirs, ours, abs(theirs - ours) <= MOST * max(theirs, ours))

    def share(self, what, theirs, ours):
        self.line(what + ", %", 100 * theirs, 100 * ours, abs(theirs - ours) <= MOST)

    def equal(self, what, theirs, ours):
        """Of two sequences, the share that agrees from place to place."""
        both = list(itertools.zip_longest(theirs, ours))
        same = sum(1 for a, b in both if a == b) / len(both) if both else 1.0
        self.line(what + ", % alike", 100.0, 100 * same, same >= 1 - MOST)

    def even(self, what, theirs, ours):
        """Chi-square of positions, each a share of the space."""
        values = [chi_square(theirs), chi_square(ours)]
        self.line(f"{what}, chi-square below {MOST_CHI_SQUARE}", *values,
                  max(values) < MOST_CHI_SQUARE)


def chi_square(shares):
    bins = collections.Counter(min(int(share * BINS), BINS - 1) for share in shares)
    expected = len(shares) / BINS
    return sum((bins[i] - expected) ** 2 / expected for i in range(BINS))


def catalogue_recipe(name):
    with open(os.path.join(CATALOG, name + ".yaml")) as file:
        return yaml.safe_load(file)


def run_ours(arguments, folder, recipe):
    """Records filereel while it runs a recipe on a directory."""
    path, volume = os.path.join(folder, "recipe.yaml"), os.path.join(folder, "volume")
    with open(path, "w") as file:
        yaml.safe_dump(recipe, file, sort_keys=False)
    os.mkdir(volume)
    makes = any(not group.get("exist", True) for group in recipe["files"])

    def is_ours(name, flags):
        # Files that exist before the phase are made by filereel, which is not part of it.
        return "/volume/" in name and name.count("/volume/") == 1 and not flags & os.O_DIRECTORY \
            and (makes or not flags & os.O_CREAT)
    recording = Recording(arguments, folder, is_ours,
                          [arguments.filereel, "-q", "run", path, "--near", volume, "--runs", "1"])
    shutil.rmtree(volume)
    return recording


def sysbench_recipe(name, mode, files, requests):
    """The phase of the catalogue's recipe, with files and an end as asked for."""
    recipe = catalogue_recipe(name)
    phase = next(one for one in recipe["phases"] if one["name"] == mode)
    groups = recipe["files"] if isinstance(recipe["files"], list) else [recipe["files"]]
    group = next(one for one in groups if one["name"] == phase.get("files", one["name"]))
    group.update(count=files, size=f"{FILE_BYTES} B", exist=mode != "seqwr")
    if mode != "seqwr":
        phase["stop"] = {"operations": requests}
    return {"files": [group], "phases": [phase]}


def run_sysbench(arguments, folder, block, mode, requests):
    place = os.path.join(folder, "sysbench")
    os.mkdir(place)
    common = ["sysbench", "fileio", f"--file-num={arguments.files}",
              f"--file-total-size={arguments.files * FILE_BYTES}", f"--file-block-size={block}"]
    run(*common, "prepare", cwd=place)
    # --events counts the sync of each file too.
    events = requests
    if mode not in ("seqrd", "rndrd"):
        events += requests // EVERY * arguments.files
    recording = Recording(arguments, place, lambda name, flags: "/test_file." in name,
                          [*common, f"--file-test-mode={mode}", f"--events={events}", "--time=0",
                           "--threads=1", "run"])
    shutil.rmtree(place)
    return recording


def compare_mode(arguments, folder, name, mode):
    block = BLOCKS[name]
    # seqwr makes the files in one pass.
    requests = arguments.files * FILE_BYTES // block if mode == "seqwr" else arguments.requests
    theirs = run_sysbench(arguments, folder, block, mode, requests)
    ours = run_ours(arguments, folder, sysbench_recipe(name, mode, arguments.files, requests))
    print(f"\n{name}, {mode}, {requests} requests of {block >> 10} KiB")
    table = Table("filereel", "sysbench")
    table.count("files that are used", len({one.file for one in theirs.done}),
                len({one.file for one in ours.done}))
    for kind in ("read", "write", "sync"):
        table.count(kind + "s", len(theirs.of(kind)), len(ours.of(kind)))
    for kind in ("read", "write"):
        lengths = [collections.Counter(one.length for one in each.of(kind)) for each in (theirs, ours)]
        for length in sorted(lengths[0] | lengths[1]):
            table.count(f"{kind}s of {length} bytes", *(each[length] for each in lengths))
    table.equal("order of reads, writes and syncs", [one.kind for one in theirs.done],
                [one.kind for one in ours.done])
    table.equal("order of the files that are synced", [one.file for one in theirs.of("sync")],
                [one.file for one in ours.of("sync")])
    places = [[(one.file, one.offset) for one in each.of("read", "write")] for each in (theirs, ours)]
    if mode.startswith("seq"):
        table.equal("files and positions", *places)
        return table.good
    table.equal("positions that are multiples of requests", *([at % block for _, at in each]
                                                              for each in places))
    table.even("positions", *([(file + at / FILE_BYTES) / arguments.files for file, at in each]
                              for each in places))
    return table.good


def run_fio(arguments, folder, size):
    place = os.path.join(folder, "fio")
    os.mkdir(place)
    data, job = os.path.join(place, "data"), os.path.join(place, "job.fio")
    with open(data, "wb") as file:
        file.write(bytes(size))
    with open(job, "w") as file:
        file.write(FIO_JOB.format(file=data, size=size, requests=arguments.mix_requests))
    recording = Recording(arguments, place, lambda name, flags: name.endswith("/fio/data"),
                          ["fio", job])
    shutil.rmtree(place)
    return recording


def alignment(position):
    """The largest power of two that divides it, up to 64 KiB."""
    return min(position & -position, 64 << 10) if position else 64 << 10


def compare_mix(arguments, folder):
    size = 256 << 20
    recipe = catalogue_recipe("iometer-fileserver")
    recipe["files"] = [{"count": 1, "size": f"{size} B"}]
    recipe["depth"] = 64
    recipe["stop"] = {"operations": arguments.mix_requests}
    del recipe["warm_up"]
    theirs, ours = run_fio(arguments, folder, size), run_ours(arguments, folder, recipe)
    print(f"\nfile server of IOMeter, {arguments.mix_requests} requests")
    table = Table("filereel", "fio")
    table.count("requests", len(theirs.done), len(ours.done))
    table.share("reads", *(len(each.of("read")) / len(each.done) for each in (theirs, ours)))
    lengths = [collections.Counter(one.length for one in each.done) for each in (theirs, ours)]
    for length in sorted(lengths[0] | lengths[1]):
        table.share(f"of {length} bytes", *(each[length] / each.total() for each in lengths))
    aligned = [collections.Counter(alignment(one.offset) for one in each.done)
               for each in (theirs, ours)]
    for power in sorted(aligned[0] | aligned[1]):
        table.share(f"at multiples of {power}", *(each[power] / each.total() for each in aligned))
    table.even("positions", *([one.offset / size for one in each.done] for each in (theirs, ours)))
    return table.good


def main():
    parser = argument_parser(__doc__)
    parser.add_argument("--recorder", type=os.path.abspath)
    parser.add_argument("--folder", default=MEMORY)
    parser.add_argument("--files", type=int, default=128)
    parser.add_argument("--requests", type=int, default=8000)
    parser.add_argument("--mix-requests", type=int, default=100000)
    parser.add_argument("--only", help="one mode, or mix")
    arguments = parser.parse_args()
    arguments.recorder = arguments.recorder or arguments.filereel
    good = True
    with tempfile.TemporaryDirectory(prefix="reel-fidelity-", dir=arguments.folder) as folder:
        for name in BLOCKS:
            for mode in MODES:
                if arguments.only in (None, mode):
                    good = compare_mode(arguments, folder, name, mode) and good
        if arguments.only in (None, "mix"):
            good = compare_mix(arguments, folder) and good
    print("\n" + ("PASS: they do the same" if good else "FAIL: they differ"))
    raise SystemExit(0 if good else 1)


if __name__ == "__main__":
    main()
