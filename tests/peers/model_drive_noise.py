#!/usr/bin/env python3
"""What FUSE and the loop driver add to the latencies of the model drive (tests/model_drive).

    model_drive_noise.py [--seconds 5]

fio makes direct requests of 4 KiB to the raw loop device: reads and writes one at a time, and writes each
followed by a flush. First the drive has no latency: all that is seen is noise. Then one of 500 us, and
with 16 requests in flight four slots, which can serve no more than four per latency. The drive's own log
tells how much of it comes from the drive: how late it answers. Needs root, fio and libfuse 3. On a busy
machine the 99th percentiles say how busy it is.
"""
import json
import os
import statistics
import sys

from peers import HERE, argument_parser, machine, run, verdict

sys.path.insert(0, os.path.join(os.path.dirname(HERE), "model_drive"))
from drive import ModelDrive, why_not  # noqa: E402

SIZE = "1GiB"
LATENCY_US = 500
SLOTS, DEPTH = 4, 16


def fio(device, seconds, pattern, *options):
    """What fio says of its one job."""
    report = json.loads(run(
        "fio", "--name=noise", f"--filename={device}", f"--rw={pattern}", "--bs=4k", "--direct=1",
        "--size=256M", f"--runtime={seconds}", "--time_based", "--ioengine=psync", "--randseed=1",
        "--percentile_list=50:99:99.9", "--output-format=json", *options))
    return report["jobs"][0]


def microseconds(latencies):
    """The median, the 99th and the 99.9th percentile."""
    return [latencies["percentile"][f"{share:.6f}"] / 1000 for share in (50, 99, 99.9)]


def show(what, latencies):
    half, tail, far = microseconds(latencies)
    print(f"  {what}: p50 {half:.1f} us, p99 {tail:.1f} us, p99.9 {far:.1f} us", flush=True)
    return half


def lateness(operations):
    """Of answers, in microseconds: median and 99th percentile, of those that found a free slot."""
    late = [(one.taken_ns - one.service_ns) / 1000 for one in operations]
    parts = statistics.quantiles(late, n=100)
    return f"answers late by p50 {parts[49]:.1f} us, p99 {parts[98]:.1f} us (the drive's log)"


def measure(drive, seconds, latency):
    """Gives the medians of reads, writes and flushes."""
    since = drive.set({"size": SIZE, **{kind: {"latency": latency}
                                        for kind in ("read", "write", "flush")}})
    read = show("read", fio(drive.device, seconds, "randread")["read"]["clat_ns"])
    write = show("write", fio(drive.device, seconds, "randwrite")["write"]["clat_ns"])
    synced = fio(drive.device, seconds, "randwrite", "--fsync=1")
    flush = show("flush after a write", synced["sync"]["lat_ns"])
    print(f"  {lateness(drive.log(since))}")
    return read, write, flush


def main():
    parser = argument_parser(__doc__)
    parser.add_argument("--seconds", type=int, default=5, help="of each measurement")
    seconds = parser.parse_args().seconds
    if why_not():
        raise SystemExit(why_not())
    print(machine())
    with ModelDrive({"size": SIZE}) as drive:
        fio(drive.device, 1, "write", "--bs=1M", "--time_based=0")  # memory that is not there is slower
        print("no latency:")
        noise = measure(drive, seconds, "0")
        print(f"a latency of {LATENCY_US} us:")
        seen = measure(drive, seconds, f"{LATENCY_US}us")
        print(f"{SLOTS} slots, {LATENCY_US} us, {DEPTH} requests in flight:")
        drive.set({"size": SIZE, "slots": SLOTS, "read": {"latency": f"{LATENCY_US}us"}})
        rate = fio(drive.device, seconds, "randread", "--ioengine=libaio",
                   f"--iodepth={DEPTH}")["read"]["iops"]
        ceiling = SLOTS * 1e6 / LATENCY_US
        print(f"  {rate:.0f} reads/s, of {ceiling:.0f} that four slots can serve")
    for kind, without, with_it in zip(("reads", "writes", "flushes"), noise, seen):
        verdict(f"the median of {kind} by {LATENCY_US} us and the noise",
                with_it / (LATENCY_US + without), 1.1, at_most=True)
    verdict("throughput by slots / latency, from below", rate / ceiling, 0.95, at_most=False)
    verdict("throughput by slots / latency, from above", rate / ceiling, 1.0, at_most=True)


if __name__ == "__main__":
    main()
