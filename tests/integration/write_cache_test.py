"""The workload write-cache and its kind, on a model drive with a write cache and on one without."""

import json
import os
import pathlib
import re
import sys
import unittest

from support import IntegrationTest, main, needs, numbers

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/model_drive"))
from drive import ModelDrive, needs_drive  # noqa: E402

MB = 1e6
SIZE, FAST, SLOW, REFILL = 128 << 20, 80 * MB, 16 * MB, 10 * MB
CACHED = {"size": "1GiB", "write_cache": {"size": "128MiB", "fast": "80MB/s", "slow": "16MB/s", "refill": "10MB/s"}}
CONSTANT = {"size": "1GiB", "write_cache": {"size": "4KiB", "fast": "40MB/s", "slow": "40MB/s"}}
IDLE_S = 4
# Of figures that tests in parallel disturb; tests/peers/write_cache.py asks for 5 %.
TOLERANCE = 0.1

WRITE = """description: The write cache of a small drive
analysis: write-cache
runs: 1
files: {count: 10, fill: 90 %, exist: false}
phases:
  - name: write
    access: {size: 2 MiB, reads: 0 %, truncate: true}
    direct: true
    depth: 2
"""
AGAIN = f"""  - name: again
    idle: {IDLE_S} s
    access: {{size: 1 MiB, reads: 0 %}}
    direct: true
    depth: 4
    stop: {{time: 6 s}}
"""


def bytes_of(text):
    number, unit = re.match(r"([\d.]+) ([kMGT]?B)", text).groups()
    return float(number) * {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}[unit]


@needs_drive()
@needs("ext4")
class WriteCache(IntegrationTest):

    def measure(self, drive, recipe, limit):
        (self.scratch / "cache.yaml").write_text(recipe)
        done = self.filereel("run", "cache.yaml", "--near", drive.device, "--destroy", drive.device, "--fs", "ext4",
                             "--limit", limit, "--json", "r.json", timeout=300)
        return done.out, json.loads((self.scratch / "r.json").read_text())

    def figure(self, out, row):
        found = re.search(rf"^{row} +([\d.]+ [kMG]?B)", out, re.MULTILINE)
        self.assertTrue(found, f"{row}:\n{out}")
        return bytes_of(found[1])

    def assert_near(self, found, expected, tolerance=TOLERANCE):
        self.assertLess(abs(found / expected - 1), tolerance, f"{found} instead of {expected}")

    def test_the_parameters_are_those_of_the_drive(self):
        with ModelDrive(CACHED) as drive:
            out, result = self.measure(drive, WRITE + AGAIN, "250MB")
            log = [one for one in drive.log() if one.kind == "write" and one.length >= 64 << 10]
        self.assert_near(self.figure(out, "size"), SIZE)
        self.assert_near(self.figure(out, "rate from 0 B to .*?B"), FAST)
        self.assert_near(self.figure(out, r"rate from [1-9]\S* MB to .*?B"), SLOW)
        self.assert_near(self.figure(out, "refill while idle"), REFILL)
        self.check_idle_time(out, result, log)
        for measurement in result["measurements"]:
            self.check_rates(measurement["samples"][0])
        self.check_reports(out)

    def check_idle_time(self, out, result, log):
        """The drive has seen no data of files meanwhile, and for as long as the table says."""
        first, second = (one["samples"][0] for one in result["measurements"])
        idle = second["started_s"] - first["started_s"] - first["durable_s"]
        self.assertGreaterEqual(idle, IDLE_S)
        self.assertLess(abs(float(re.search(r"back after ([\d.]+) s", out)[1]) - idle), 0.01)
        # In the middle of the log: before the first phase, mkfs has waited for filereel.
        written = log[len(log) // 4:]
        gaps = [later.arrival_ns - earlier.completion_ns for earlier, later in zip(written, written[1:])]
        self.assertGreaterEqual(max(gaps) * 1e-9, IDLE_S)

    def check_rates(self, sample):
        rates = sample["rates"]
        self.assertEqual(rates["interval_s"], 0.5)
        self.assertEqual(rates["intervals"], int(sample["elapsed_s"] / 0.5))
        # What is missing was written after the last whole interval.
        counted = numbers(rates["bytes"])
        self.assertLessEqual(sum(counted), sample["bytes"])
        self.assertLess(sample["bytes"] - sum(counted), 0.5 * FAST * 1.2)

    def check_reports(self, out):
        """Markdown has the rows of the terminal; the page is checked by report_test.py."""
        rows = re.findall(r"^(size|rate from .*?|back after .*?|refill while idle)  +(\S.*?)  +(\S.*)$", out,
                          re.MULTILINE)
        self.assertEqual(len(rows), 5, out)
        self.filereel("report", "r.json", "--markdown", "r.md")
        text = (self.scratch / "r.md").read_text()
        for row in rows:
            self.assertIn(f"| {row[0]} | {row[1]} | {row[2]} |", re.sub(" +", " ", text))

    def test_a_constant_drive_has_none(self):
        with ModelDrive(CONSTANT) as drive:
            out, _ = self.measure(drive, WRITE, "300MB")
        self.assertIn("no write cache found: ", out)
        self.assert_near(self.figure(out, "rate of all .*?B"), 40 * MB)

    def test_the_workload_of_the_catalogue_runs_on_an_image(self):
        idle = ["10-s", "1-min", "5-min", "30-min"]
        shorter = [word for one in idle for word in ("--sweep", f"after-{one}.idle=10ms")]
        self.filereel("run", "write-cache", "--near", "image:disk,size=400M", "--fs", "ext4", "--time", "20ms",
                      "--limit", "250MB", *shorter, "--json", "r.json")
        measurements = self.result()["measurements"]
        self.assertEqual([one["operation"] for one in measurements], ["write", *(f"after-{one}" for one in idle)])
        self.assertEqual(measurements[0]["samples"][0]["bytes"], 200 << 20)
        for one in measurements:
            self.assertGreater(one["samples"][0]["operations"], 0)

    def test_the_limit_is_that_of_all_files(self):
        for limit, expected in (("100MB", 90 << 20), ("15MB", 10 << 20)):
            self.filereel("run", self.recipe(), "--near", "image:disk", "--limit", limit, "--json", "r.json")
            self.assertEqual(self.result()["measurements"][0]["samples"][0]["bytes"], expected)
            self.assertEqual(self.result()["plan"]["jobs"][0]["settings"]["limit"], limit.replace("MB", " MB"))
        self.assert_refused(self.filereel("run", self.recipe(), "--near", "image:disk", "--limit", "1MB", status=None),
                            3, "the limit is too small for 'files'")

    def recipe(self):
        path = self.scratch / "fill.yaml"
        path.write_text(WRITE)
        return path


if __name__ == "__main__":
    main()
