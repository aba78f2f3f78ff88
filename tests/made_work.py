#!/usr/bin/env python3
"""Makes results of workloads that never ran, for the tests of what compares work by its content.

    made_work.py [--seed 1] [--slower 1.0] [--label TEXT] [--older] NAME[@FILE]=DIGEST:LINE|LINE… > result.json

Each job does what its lines say. DIGEST is one digit, which is repeated. The job is of FILE, by default of NAME. An older
result tells neither. All results are of one session, so that they are compared in pairs.
"""
import argparse
import json
import random

RUNS = 10


def sample(run, seconds):
    return {"run": run, "started_s": 10.0 * run, "elapsed_s": seconds * 0.9, "durable_s": seconds, "bytes": 819200,
            "files": 50, "operations": 150, "cold_method": "remount", "moved_no_data": False,
            "divergences": {"count": 0, "examples": []}, "latency": {}}


def job_of(text):
    name, _, rest = text.partition("=")
    digest, _, lines = rest.partition(":")
    name, _, file = name.partition("@")
    return name, file or name.rpartition("/")[2], digest * 16, lines.split("|")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--slower", type=float, default=1)
    parser.add_argument("--label", default="drive")
    parser.add_argument("--older", action="store_true")
    parser.add_argument("jobs", nargs="+", type=job_of)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    plan = {"name": arguments.jobs[0][0], "file_systems": ["ext4"], "runs": RUNS, "jobs": [], "work": []}
    measurements = []
    for name, file, digest, lines in arguments.jobs:
        plan["jobs"].append({"kind": "workload", "name": name, "scale": 1, "warm": False,
                             "overhead_ns_per_operation": 0, "settings": {}})
        plan["work"].append({"job": name, "file": file, "description": "Small files", "does": lines})
        samples = [sample(run, arguments.slower * rng.gauss(2, 0.02)) for run in range(1, RUNS + 1)]
        measurements.append({"kind": "workload", "workload": name, "set": "", "operation": "read",
                             "file_system": "ext4", "driver": "kernel", "parameters": {}, "work": digest,
                             "ends": "work", "samples": samples})
    if arguments.older:
        del plan["work"]
        for one in measurements:
            del one["work"]
    drive = {"name": "sdb", "model": "Fast Disk 3", "serial": "S123", "firmware": "1.07"}
    print(json.dumps({
        "schema_version": 8, "filereel": {"version": "0.1.0"}, "started": "2024-02-29T12:00:00Z", "session": "made",
        "label": arguments.label, "host": {"cpu": "A Processor", "cores": 8, "memory": 16000000000, "kernel": "6.1.0"},
        "volumes": [{"role": "near", "target": "/dev/sdb1", "target_kind": "block device", "file_system": "ext4",
                     "driver": "kernel", "mount_options": "rw", "age": "fresh", "size": 64000000000,
                     "device": drive, "drives": [drive], "layers": []}],
        "plan": plan, "complete": True, "warnings": [], "measurements": measurements}))


if __name__ == "__main__":
    main()
