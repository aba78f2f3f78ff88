#!/usr/bin/env python3
"""Reads 4 KiB at random: filereel's workloads beside fio and sysbench, cached and direct.

    workload_speed_peers.py [--filereel PATH] [--place DIR] [--size-mib 1024] [--seconds 3] [--rounds 7]
                            [--cases cached-1,cached-32,direct-1,direct-32]

All read one and the same file, which filereel makes anew for each round, because where a file lies
(in memory, on the device) changes the price of a read by tens of per cents. In a round filereel reads
first and last, and the others take turns in between, in changing order; its IOPS are the mean of both,
so that a device that gets faster or slower helps nobody. Each ratio is filereel's IOPS by the other's
within a round, and what is printed is the median of the rounds. filereel and fio run for a second
before they are measured, which sysbench 1.0 cannot; filereel reads for five more seconds after it has
written the file.

  depth 1   filereel's blocking engine; fio with psync, and with io_uring at iodepth 1; sysbench
            fileio (rndrd). One thread.
  depth 32  filereel's io_uring engine; fio with io_uring as it comes (fio), and at its best (batches
            of 32, registered files and buffers: fio best).

All record latencies: fio with gtod_reduce=0 as it comes, sysbench's percentile as it comes. fio draws
its offsets without a map (--norandommap) and by a fixed seed (--randrepeat), as filereel does.
Needs fio, sysbench and room for the file on the file system of DIR; the machine should be idle.
"""
import json
import os
import re
import statistics
import subprocess
import tempfile
import time

from peers import argument_parser, machine, run, spread, verdict

LENGTH = 4096
TARGET = 1.0
WARM_UP_S = 1
SETTLE_S = 5
START_S = 1.5  # that a contestant takes to begin and end
CASES = {f"{'direct' if direct else 'cached'}-{depth}": (direct, depth)
         for direct in (False, True) for depth in (1, 32)}


def recipe(arguments, direct, depth, pause_s):
    reads = (f"access: {{size: {LENGTH} B, random: 100 %}}, direct: {'true' if direct else 'false'}, "
             f"caches: keep")
    measured = f"{reads}, depth: {depth}, warm_up: {WARM_UP_S} s, stop: {{time: {arguments.seconds} s}}"
    return (f"files: {{count: 1, size: {arguments.size_mib} MiB}}\nruns: 1\nphases:\n"
            f"  - {{name: settle, measured: false, {reads}, depth: {depth}, stop: {{time: {SETTLE_S} s}}}}\n"
            f"  - {{name: first, {measured}}}\n"
            f"  - {{name: pause, measured: false, {reads}, think: {pause_s} s, stop: {{time: {pause_s} s}}}}\n"
            f"  - {{name: last, {measured}}}\n")


def iops_of(result, phase):
    """Of a phase that has been measured, else None."""
    try:
        with open(result) as file:
            measurements = json.load(file)["measurements"]
    except FileNotFoundError:
        return None
    for one in measurements:
        if one["operation"] == phase and one["samples"]:
            sample = one["samples"][-1]
            return sample["latency"]["read"]["count"] / sample["elapsed_s"]
    return None


def read_round(arguments, place, direct, depth, turn):
    """IOPS by contestant: filereel before and after the others."""
    plan, result = place + ".yaml", place + ".json"
    if os.path.exists(result):
        os.remove(result)
    count = len(contestants(arguments, "", direct, depth))
    pause_s = count * (arguments.seconds + WARM_UP_S + START_S)
    with open(plan, "w") as file:
        file.write(recipe(arguments, direct, depth, pause_s))
    ours = subprocess.Popen([arguments.filereel, "--quiet", "run", plan, "--near", place, "--keep",
                             "--json", result], stdout=subprocess.DEVNULL)
    while (first := iops_of(result, "first")) is None:
        if ours.poll() is not None:
            raise SystemExit(f"filereel ended with {ours.returncode}")
        time.sleep(0.02)
    begun = time.monotonic()
    others = contestants(arguments, only_file(place, arguments.size_mib << 20), direct, depth)
    iops = {who: others[who]() for who in list(others)[::1 if turn % 2 == 0 else -1]}
    if time.monotonic() - begun > pause_s - 0.5:
        raise SystemExit(f"the others took longer than {pause_s} s: is the machine busy?")
    if ours.wait() != 0:
        raise SystemExit(f"filereel ended with {ours.returncode}")
    return {"filereel": statistics.mean([first, iops_of(result, "last")]), **iops}


def only_file(place, size):
    """The file that the workload has made."""
    found = [os.path.join(folder, name) for folder, _, names in os.walk(place) for name in names
             if os.path.getsize(os.path.join(folder, name)) == size]
    if len(found) != 1:
        raise SystemExit(f"{place} holds {len(found)} files of {size} bytes")
    return found[0]


def fio_iops(arguments, path, direct, engine, depth, *more):
    job = json.loads(run(
        "fio", "--name=peer", f"--filename={path}", "--rw=randread", f"--bs={LENGTH}",
        f"--size={arguments.size_mib}m", f"--ioengine={engine}", f"--iodepth={depth}",
        f"--direct={int(direct)}", "--norandommap", "--randrepeat=1", "--invalidate=0",
        "--gtod_reduce=0", "--time_based", f"--runtime={arguments.seconds}",
        f"--ramp_time={WARM_UP_S}", "--readonly", *more, "--output-format=json"))["jobs"][0]
    if job["error"] != 0:
        raise SystemExit(f"fio: error {job['error']}")
    return job["read"]["iops"]


def sysbench_iops(arguments, path, direct):
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(path, os.path.join(folder, "test_file.0"))
        text = run("sysbench", "fileio", "--file-num=1", f"--file-block-size={LENGTH}",
                   f"--file-total-size={arguments.size_mib}M", "--file-io-mode=sync",
                   "--file-test-mode=rndrd", *(["--file-extra-flags=direct"] if direct else []),
                   "--rand-type=uniform", "--threads=1", f"--time={arguments.seconds}",
                   "--events=0", "run", cwd=folder)
    return float(re.search(r"reads/s:\s+([0-9.]+)", text).group(1))


def contestants(arguments, path, direct, depth):
    if depth == 1:
        return {"fio psync": lambda: fio_iops(arguments, path, direct, "psync", 1),
                "fio io_uring": lambda: fio_iops(arguments, path, direct, "io_uring", 1),
                "sysbench": lambda: sysbench_iops(arguments, path, direct)}
    best = (f"--iodepth_batch_submit={depth}", f"--iodepth_batch_complete_max={depth}",
            "--registerfiles=1", "--fixedbufs=1")
    return {"fio": lambda: fio_iops(arguments, path, direct, "io_uring", depth),
            "fio best": lambda: fio_iops(arguments, path, direct, "io_uring", depth, *best)}


def compare(arguments, folder, case):
    """Prints the case's rows; gives filereel's worst ratio."""
    direct, depth = CASES[case]
    place = os.path.join(folder, case)
    iops = {}
    for turn in range(arguments.rounds):
        for who, value in read_round(arguments, place, direct, depth, turn).items():
            iops.setdefault(who, []).append(value)
    subprocess.run(["rm", "-r", place], check=True)
    print(f"  {case}")
    worst = float("inf")
    for who, values in iops.items():
        note = ""
        if who != "filereel":
            ratio = statistics.median(ours / theirs
                                      for ours, theirs in zip(iops["filereel"], values))
            worst = min(worst, ratio)
            note = f", filereel by it {ratio:.3f}"
        print(f"    {who:<12} {spread([one / 1000 for one in values], '8.1f')} thousand IOPS{note}")
    return worst


def main():
    parser = argument_parser(__doc__)
    parser.add_argument("--place", default="/var/tmp", help="a directory of the file system to use")
    parser.add_argument("--size-mib", type=int, default=1024)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--cases", default=",".join(CASES), help="separated by commas")
    arguments = parser.parse_args()
    print(f"{run(arguments.filereel, '--version').strip()}; {run('fio', '--version').strip()}; "
          f"{run('sysbench', '--version').strip()}; {machine()}")
    print(f"random reads of {LENGTH} bytes in a file of {arguments.size_mib} MiB below "
          f"{arguments.place}; medians and extremes of {arguments.rounds} rounds of "
          f"{arguments.seconds} s")
    with tempfile.TemporaryDirectory(dir=arguments.place) as folder:
        for case in arguments.cases.split(","):
            verdict(f"{case}: IOPS, filereel by the fastest", compare(arguments, folder, case), TARGET,
                    at_most=False)


if __name__ == "__main__":
    main()
