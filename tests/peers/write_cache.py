#!/usr/bin/env python3
"""Whether `analysis: write-cache` finds what is true of model drives (tests/model_drive).

    write_cache.py [--seeds 20]

Drives with a write cache, each with another size, two other rates and another refill: all four must be
found within 5 %. The first one has 512 MiB at 200 MB/s, then 40, and a refill of 10 MB/s. Then as many drives
with a constant rate, where no cache may be found. On all of them latencies vary, and one write in 1000
stalls for 20 ms. About a minute for each seed; needs root and libfuse 3. On a busy machine, the rates say how busy it is.
"""
import json
import os
import random
import re
import sys
import tempfile

from peers import HERE, argument_parser, machine, run, touch_memory, verdict

sys.path.insert(0, os.path.join(os.path.dirname(HERE), "model_drive"))
from drive import ModelDrive, why_not  # noqa: E402

MB = 1e6
SIZE = 4 << 30
RECIPE = """description: The write cache of a small drive
analysis: write-cache
runs: 1
files: {count: 20, fill: 90 %, exist: false}
phases:
  - {name: write, access: {size: 4 MiB, reads: 0 %, truncate: true}, direct: true, depth: 2}
  - {name: after-10-s, idle: 10 s, access: {size: 1 MiB, reads: 0 %}, direct: true, depth: 4, stop: {time: 10 s}}
"""
NAMES = ["size", "fast", "slow", "refill"]


def parameters(seed):
    """Bytes, and bytes per second."""
    if seed == 1:
        return [512 << 20, 200 * MB, 40 * MB, 10 * MB]
    draw = random.Random(seed).uniform
    fast = draw(80, 200) * MB
    return [draw(256, 768) * MB, fast, fast * draw(0.15, 0.4), draw(8, 15) * MB]


def script(seed, size, fast, slow, refill):
    blocks = int(size) // 4096 * 4096
    return {"size": f"{SIZE}", "seed": seed, "write": {"latency": {"median": "20us", "sigma": 0.5}},
            "stalls": [{"kinds": ["write"], "length": "20ms", "share": 0.001}],
            "write_cache": {"size": f"{blocks}", "fast": f"{int(fast)}/s", "slow": f"{int(slow)}/s",
                            "refill": f"{int(refill)}/s"}}


def measure(filereel, folder, drive_script, limit):
    """What the report says of the cache: a sentence, and rows of what, figure and interval."""
    path = os.path.join(folder, "cache.yaml")
    with open(path, "w") as file:
        file.write(RECIPE)
    with ModelDrive(drive_script) as drive:
        run(filereel, "--quiet", "run", path, "--near", drive.device, "--destroy", drive.device, "--fs", "ext4",
            "--limit", str(int(limit)), "--json", os.path.join(folder, "r.json"))
    page = os.path.join(folder, "r.html")
    run(filereel, "report", os.path.join(folder, "r.json"), "-o", page)
    with open(page) as file:
        data = json.loads(re.search(r'<script[^>]*id="report-data"[^>]*>(.*?)</script>', file.read(), re.DOTALL)[1])
    return data["results"][0]["write_caches"][0]


def figure(rows, beginning):
    """Of the first row that begins like this, in bytes (per second); 0 without one."""
    units = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}
    for what, text, _ in rows:
        if what.startswith(beginning):
            number, unit = re.match(r"(?:at least )?([\d.]+) ([kMG]?B)", text).groups()
            return float(number) * units[unit]
    return 0


def main():
    parser = argument_parser(__doc__)
    parser.add_argument("--seeds", type=int, default=20, help="number of drives of each kind")
    arguments = parser.parse_args()
    if why_not():
        raise SystemExit(why_not())
    print(machine())
    touch_memory(1 << 30)
    within = none = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(1, arguments.seeds + 1):
            size, fast, slow, refill = parameters(seed)
            found = measure(arguments.filereel, folder, script(seed, size, fast, slow, refill), size + slow * 12)
            rows = found["rows"]
            later = [row for row in rows if not row[0].startswith("rate from 0 B")]
            figures = [figure(rows, "size"), figure(rows, "rate from 0 B"), figure(later, "rate from "),
                       figure(rows, "refill")]
            errors = [one / true - 1 for one, true in zip(figures, (size, fast, slow, refill))]
            within += all(abs(error) <= 0.05 for error in errors)
            print(f"  drive {seed}: " + ", ".join(
                f"{name} {true / MB:.1f}: {one / MB:.1f} ({100 * error:+.1f} %)" for name, true, one, error in
                zip(NAMES, (size, fast, slow, refill), figures, errors)), flush=True)
        for seed in range(1, arguments.seeds + 1):
            rate = random.Random(-seed).uniform(30, 200) * MB
            found = measure(arguments.filereel, folder, script(seed, 4096, rate, rate, 1000), rate * 15)
            none += found["finding"].startswith("no write cache found")
            print(f"  constant drive {seed}, {rate / MB:.1f} MB/s: {found['finding']}", flush=True)
    verdict("drives with all parameters within 5 %", within / arguments.seeds, 1, at_most=False)
    verdict("constant drives without a cache", none / arguments.seeds, 1, at_most=False)


if __name__ == "__main__":
    main()
