#!/usr/bin/env python3
"""Makes results of runs that never were, for the tests of what compares and shows results.

    made_result.py [--runs 10] [--seed 1] [--noise 0.01] [--slower create=1.1] [--firmware 1.07]
                   [--kernel 6.1.0] [--incomplete] [--label TEXT] [--fs ext4] [--fs xfs=1.3]
                   [--session made] > result.json

Results of one session were measured in turns, and are compared in pairs.
"""
import argparse
import json
import random
import sys

STEPS = {"create": 2.0, "read": 1.5, "copy-near": 3.0, "copy-far": 2.8, "delete": 0.2}


def sample(run, seconds, started=0):
    return {"run": run, "started_s": started, "elapsed_s": seconds * 0.9, "durable_s": seconds,
            "bytes": 800000000, "files": 120, "operations": 6000, "cold_method": "remount",
            "moved_no_data": False, "divergences": {"count": 0, "examples": []}, "latency": {}}


def result(seconds, firmware="1.07", kernel="6.1.0", complete=True, label="", set_name="programs",
           started="2024-02-29T12:00:00Z", file_system="ext4", session="made", begin=0):
    """`seconds`: by operation, the time until durable of each run. `begin`: of the first one."""
    drive = {"name": "sdb", "model": "Fast Disk 3", "serial": "S123", "firmware": firmware}
    return {
        "schema_version": 2, "filereel": {"version": "0.1.0"}, "started": started, "label": label,
        "session": session,
        "host": {"cpu": "A Processor", "cores": 8, "memory": 16000000000, "kernel": kernel},
        "volumes": [{"role": "near", "target": "/dev/sdb1", "target_kind": "block device",
                     "file_system": file_system, "driver": "kernel", "mount_options": "rw,relatime",
                     "age": "fresh", "size": 64000000000, "device": drive, "drives": [drive]}],
        "plan": {"name": "fc-test", "workload": "fc-test", "file_systems": [file_system],
                 "sets": [set_name], "operations": list(seconds),
                 "runs": max(map(len, seconds.values())), "parameters": {"scale": 1.0}},
        "complete": complete, "warnings": [],
        "measurements": [{"workload": "fc-test", "set": set_name, "operation": operation,
                          "file_system": file_system, "driver": "kernel", "parameters": {},
                          "samples": [sample(run, float(time), begin + 10 * run) for run, time in
                                      enumerate(times, 1)]}
                         for operation, times in seconds.items()]}


def merged(results):
    """One result with the file systems of all."""
    first = results[0]
    for other in results[1:]:
        first["volumes"] += other["volumes"]
        first["measurements"] += other["measurements"]
        first["plan"]["file_systems"] += other["plan"]["file_systems"]
    return first


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--noise", type=float, default=0.01)
    parser.add_argument("--slower", action="append", default=[], metavar="STEP=FACTOR")
    parser.add_argument("--firmware", default="1.07")
    parser.add_argument("--kernel", default="6.1.0")
    parser.add_argument("--incomplete", action="store_true")
    parser.add_argument("--label", default="")
    parser.add_argument("--session", default="made")
    parser.add_argument("--fs", action="append", default=[], metavar="NAME=FACTOR")
    arguments = parser.parse_args()
    factors = {name: float(factor) for name, factor in
               (one.split("=") for one in arguments.slower)}
    chance = random.Random(arguments.seed)
    results = []
    for one in arguments.fs or ["ext4"]:
        name, _, factor = one.partition("=")
        seconds = {step: [round(mean * factors.get(step, 1) * float(factor or 1) *
                                (1 + chance.gauss(0, arguments.noise)), 6)
                          for _ in range(arguments.runs)] for step, mean in STEPS.items()}
        if arguments.incomplete:  # as if it was interrupted in the last run's second step
            for step in list(STEPS)[1:]:
                seconds[step].pop()
        results.append(result(seconds, arguments.firmware, arguments.kernel,
                              not arguments.incomplete, arguments.label, file_system=name,
                              session=arguments.session, begin=10000 * len(results)))
    json.dump(merged(results), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
