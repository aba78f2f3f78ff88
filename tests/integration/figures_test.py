#!/usr/bin/env python3
"""Figures of one result agree: ten results of real runs, each as table, page, Markdown, CSV and JSON. Every number
of them is compared with what follows from the samples, and with the same number elsewhere."""

import contextlib
import csv
import io
import json
import math
import pathlib
import re
import statistics
import subprocess

from support import FILEREEL, IntegrationTest, attached_loops, call, have, main, why_not
from report_test import numbers

AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
DATA = re.compile(r'<script type="application/json" id="report-data">(.*?)</script>', re.DOTALL)
PERCENTILES = ["p50_us", "p90_us", "p95_us", "p99_us", "p99_9_us", "p99_99_us", "max_us"]
RATES = ["mb_per_s", "read_mb_per_s", "written_mb_per_s", "mb_per_s_elapsed", "files_per_s",
         "operations_per_s", "transactions_per_s"]
# Percentiles and maxima of one kind of operation: kind, name in samples.
OF_KIND = {f"{kind}_{short}_us": (kind, f"{short}_us") for kind in ("read", "write")
           for short in ("p50", "p99", "p99_9", "max")}
OF_KIND.update({f"{kind}_p99_us": (kind, "p99_us") for kind in ("fsync", "fdatasync")})
BUCKET = 1.009  # a value of a histogram is known to 0.8 %
FILES = """files: {count: 60, size: 16 KiB}
phases:
  - {name: get, do: [read]}
  - {name: mostly, choose: [{share: 90 %, do: [read]}, {share: 10 %, do: [overwrite]}]}
  - {name: both, do: [read, {step: overwrite, sync: fsync}, stat]}
  - {name: copies, do: [copy]}
"""
TIMED = """files: {count: 2, size: 1 MiB}
access: {size: 4 KiB, random: 100 %, reads: 70 %}
sync: {every: 16}
stop: {time: 50 ms}
"""
SWEEP = """files: {size: 1 MiB}
access: {size: [4 KiB, 16 KiB], random: 100 %, reads: [100 %, 50 %]}
stop: {operations: 200}
"""


def middle(name, values):
    """The median; of rates, the harmonic mean joins the two in the middle."""
    if not name.endswith(("_per_s", "_per_s_elapsed")) or not all(values):
        return statistics.median(values)
    return 1 / statistics.median(1 / value for value in values)


def moved(sample):
    """What the calls read, wrote and copied."""
    return [sample["latency"].get(kind, {}).get("bytes", 0) for kind in ("read", "write", "copy_range")]


def has_failed(sample):
    return sample["reel"]["ended_early"] if "reel" in sample else sample["divergences"]["count"] > 0


READERS = {"open", "close", "read", "stat", "getdents", "access", "readlink", "seek", "fadvise"}


def has_written(measurement):
    """Whether there is something to make durable."""
    if measurement["kind"] == "fc-test":
        return measurement["operation"] != "read"
    return any(not has_failed(sample) and not set(sample["latency"]) <= READERS for sample in measurement["samples"])


def figures_of(measurement, sample, cores):
    """The metrics of a sample, as the documentation defines them. Those of one kind of operation are not in it."""
    figures = {}
    until = "durable_s" if has_written(measurement) else "elapsed_s"
    if has_failed(sample):
        return figures

    def add(name, amount, seconds, unit=1):
        if amount and seconds > 0:
            figures[name] = amount / unit / seconds
    read, written, copied = moved(sample)
    if not sample["moved_no_data"]:
        add("mb_per_s", sample["bytes"], sample[until], 1e6)
        add("mb_per_s_elapsed", sample["bytes"], sample["elapsed_s"], 1e6)
        add("read_mb_per_s", read + copied, sample[until], 1e6)
        add("written_mb_per_s", written + copied, sample[until], 1e6)
    add("files_per_s", sample["files"], sample[until])
    if measurement["kind"] != "fc-test":
        add("operations_per_s", sample["operations"], sample["elapsed_s"])
    add("transactions_per_s", sample.get("transactions"), sample["elapsed_s"])
    figures.update(elapsed_s=sample["elapsed_s"], durable_s=sample["durable_s"])
    latencies = sample["latency"]
    count = sum(one["count"] for one in latencies.values())
    if count:
        figures["mean_us"] = sum(one["total_us"] for one in latencies.values()) / count
        figures["max_us"] = max(one["max_us"] for one in latencies.values())
    for kind in ("read", "write"):
        if latencies.get(kind, {}).get("count"):
            figures[f"{kind}_mean_us"] = latencies[kind]["total_us"] / latencies[kind]["count"]
    cpu = sample["cpu_user_s"] + sample["cpu_system_s"] + sample["cpu_driver_s"]
    if sample["elapsed_s"] > 0:
        figures["cpu_share"] = cpu / sample["elapsed_s"] / cores
    if sample["operations"]:
        figures["cpu_s_per_1000_operations"] = cpu / sample["operations"] * 1000
    if "clients" in sample:
        clients = sample["clients"]
        if not sample["moved_no_data"]:
            add("first_ended_mb_per_s", clients["first_ended_bytes"], clients["first_ended_s"], 1e6)
            add("first_ended_operations_per_s", clients["first_ended_operations"], clients["first_ended_s"])
        figures["start_skew_us"] = clients["start_skew_us"]
    return figures


def read_text(text):
    """A number as people see it: its value and the error that its last digit allows."""
    text = text.strip().replace("**", "")
    value, error = 0.0, 0.0
    units = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "%": 0.01, "ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1,
             "min": 60, "h": 3600}
    parts = re.findall(r"(\d+)(\.\d+)?\s*(ns|µs|ms|min|s|h|%|k|M|G)?", text)
    if "".join(re.findall(r"\S", text)) != "".join(a + b + c for a, b, c in parts):
        raise ValueError(text)
    for whole, decimals, unit in parts:
        value += float(whole + decimals) * units[unit]
        error = 0.5 * 10 ** -max(len(decimals) - 1, 0) * units[unit]
        if not decimals and unit in ("ns", "µs", "ms") and len(whole) < 3:  # trailing zeros are left out
            error = 0.5 * 10 ** -(3 - len(whole)) * units[unit]
    return value, error * 1.001


class FiguresTest(IntegrationTest):
    def filereel_with(self, *arguments, **more):
        return self.filereel(*arguments, "--json", "r.json", **more)

    def measure(self, *arguments, status=0):
        self.filereel("run", *arguments, "--json", "r.json", status=status)
        return self.check("r.json")

    def folder(self, name="near"):
        path = self.scratch / name
        path.mkdir(exist_ok=True)
        return path

    def write(self, name, text):
        (self.scratch / name).write_text(text)
        return name

    # The identities of a sample.

    def check_sample(self, measurement, sample):
        read, written, copied = moved(sample)
        total = read + written + copied
        calls = sum(one["count"] for one in sample["latency"].values())
        if measurement["kind"] == "fc-test":
            if sample["latency"] and measurement["operation"] in ("create", "read"):
                self.assertEqual(sample["bytes"], total)
            elif sample["latency"] and measurement["operation"].startswith("copy"):
                self.assertEqual(sample["bytes"], written + copied)
        elif measurement["operation"] == "copies":
            self.assertEqual([sample["bytes"]] * 2, [read + copied, written + copied])
        else:
            self.assertEqual(sample["bytes"], total)
        if "reel" in sample:
            reel = sample["reel"]
            self.assertEqual([reel["bytes_read"], reel["bytes_written"], reel["bytes_copied"]],
                             [read, written, copied])
        if sample["latency"]:
            accesses = sum(sample["latency"].get(kind, {}).get("count", 0) for kind in ("read", "write"))
            self.assertIn(sample["operations"], (calls, accesses))
        if "course" in sample and sample["latency"]:
            self.assertEqual(sum(numbers(sample["course"]["operations"])), calls)
            in_course = sum(numbers(sample["course"]["bytes"]))
            self.assertEqual(in_course, 0 if measurement["operation"] == "delete" else sample["bytes"])
        for kind, one in [*sample["latency"].items(), *sample.get("service", {}).items()]:
            with self.subTest(kind):
                levels = [one[name] for name in PERCENTILES]
                self.assertEqual(levels, sorted(levels))
                self.assertLessEqual(one["max_us"], one["total_us"] * (1 + 1e-9))
                self.assertLessEqual(one["total_us"], one["max_us"] * one["count"] * (1 + 1e-9))
        self.assertLessEqual(sample["elapsed_s"], sample["durable_s"] + 1e-9)
        if "clients" in sample:
            each = sample["clients"]["each"]
            for member in ("bytes", "files", "operations"):
                self.assertEqual(sum(one[member] for one in each), sample[member])

    # All outputs of a result file.

    def check(self, name):
        result = self.result(name)
        cores = result["host"]["cores"]
        expected = []
        for one in result["measurements"]:
            for sample in one["samples"]:
                self.check_sample(one, sample)
            expected.append([figures_of(one, sample, cores) for sample in one["samples"]])
        page = json.loads(DATA.search(self.filereel("report", name, "--output", "-").out)[1])
        shown = page["results"][0]["measurements"]
        with_samples = [i for i, one in enumerate(result["measurements"]) if one["samples"]]
        self.assertEqual(len(shown), len(with_samples))
        figures = []
        for at, place in enumerate(with_samples):
            one = result["measurements"][place]
            with self.subTest(f"{one['workload']} {one['operation']} {one['parameters']}"):
                figures.append(self.check_page(one, shown[at], expected[place], page["metrics"]))
                self.check_summary(one, figures[-1])
        headings = {metric["heading"]: metric for metric in page["metrics"]}
        self.check_csv(name, result, expected)
        self.check_matrices(result, [figures[with_samples.index(i)] if i in with_samples else {}
                                     for i in range(len(result["measurements"]))])
        rows = self.check_markdown(name, shown, figures, headings)
        cells = self.check_table(self.filereel("show", name).out, [result["measurements"][i] for i in with_samples], figures,
                                 headings)
        return {"result": result, "page": page, "figures": figures, "rows": rows, "cells": cells}

    def check_page(self, one, shown, expected, metrics):
        """The figures of a measurement on the page follow from its samples."""
        figures = shown["figures"]
        for metric in metrics:
            name = metric["name"]
            values = [sample[name] for sample in expected if name in sample]
            if name in OF_KIND:
                kind, level = OF_KIND[name]
                values = [sample["latency"][kind][level] for sample in one["samples"]
                          if not has_failed(sample) and sample["latency"].get(kind, {}).get("count")]
            elif name in ("slowest_to_fastest_client", "jain_index"):
                continue
            self.assertEqual(name in figures, bool(values), f"{name}: figures_of has no formula for it")
            if not values:
                continue
            median, low, high = figures[name][:3]
            self.assertAlmostEqual(low / (min(values) or 1), 1 if min(values) else 0, 9, name)
            self.assertAlmostEqual(high / (max(values) or 1), 1 if max(values) else 0, 9, name)
            if "max_us" in name:
                self.assertEqual(median, high, name)
            elif name in OF_KIND:
                self.assertTrue(low / BUCKET <= median <= high * BUCKET, name)
            else:
                self.assertAlmostEqual(median / (middle(name, values) or 1), 1 if median else 0, 9, name)
            self.assertTrue(all(low <= bound <= high for bound in figures[name][3:]), name)
        for kind in ("read", "write"):
            levels = [figures[f"{kind}_{level}_us"][0] for level in ("p50", "p99", "p99_9", "max")
                      if f"{kind}_p50_us" in figures]
            self.assertEqual(levels, sorted(levels))
            if levels:
                self.assertLessEqual(levels[-1], figures["max_us"][0])
        for kind in shown["kinds"]:
            latencies = [sample["latency"][kind["kind"]] for sample in one["samples"] if kind["kind"] in sample["latency"]]
            self.assertEqual([kind["count"], kind["bytes"]],
                             [sum(all_of[member] for all_of in latencies) for member in ("count", "bytes")])
            levels = [kind[name] for name in PERCENTILES if name in kind]
            self.assertEqual(levels, sorted(levels))
        for sample, drawn in zip(one["samples"], shown["samples"], strict=True):
            for member in ("run", "elapsed_s", "durable_s", "bytes", "files", "operations"):
                self.assertEqual(sample[member], drawn[member])
        if "replay" in shown and one["samples"]:
            self.assertEqual(shown["replay"]["differ"],
                             sum(sample["divergences"]["count"] for sample in one["samples"]))
        return figures

    def check_summary(self, one, figures):
        """The rates of the JSON."""
        self.assertEqual({name for name in RATES if name in figures}, set(one["summary"]))
        for name, spread in one["summary"].items():
            self.assertEqual([spread[part] for part in ("median", "low", "high")], figures[name][:3])

    def check_csv(self, name, result, expected):
        rows = list(csv.DictReader(io.StringIO(self.filereel("report", name, "--csv", "-").out)))
        samples = [(sample, figures) for one, list_of in zip(result["measurements"], expected, strict=True)
                   for sample, figures in zip(one["samples"], list_of, strict=True)]
        self.assertEqual(len(rows), len(samples))
        for row, (sample, figures) in zip(rows, samples, strict=True):
            for member in ("bytes", "files", "operations", "elapsed_s", "durable_s"):
                self.assertEqual(float(row[member]), sample[member])
            for metric, text in row.items():
                if metric in OF_KIND:
                    kind, level = OF_KIND[metric]
                    value = sample["latency"].get(kind, {}).get(level)
                    if text:
                        self.assertEqual(float(text), value)
                elif metric in figures:
                    self.assertAlmostEqual(float(text) / (figures[metric] or 1), 1 if figures[metric] else 0, 9,
                                           metric)
                elif metric in RATES:
                    self.assertEqual(text, "", metric)

    def check_matrices(self, result, figures):
        """Those of sweeps have the figures of the measurements."""
        for sweep in result.get("sweeps", []):
            axes = sweep["axes"]
            for metric, matrix in sweep.items():
                if metric in ("workload", "set", "file_system", "operation", "axes"):
                    continue
                for one, of_one in zip(result["measurements"], figures, strict=True):
                    if any(one[member] != sweep[member] for member in ("workload", "set", "file_system", "operation")):
                        continue
                    value = matrix
                    for axis in axes:
                        value = value[axis["values"].index(one["parameters"][axis["name"]])]
                    self.assertEqual(value, of_one[metric][0] if metric in of_one else None, metric)

    def assert_shows(self, text, value, unit, what):
        """A text is this value, as far as its digits go."""
        got, error = read_text(text)
        wanted = value * 1e-6 if unit == "us" else value
        self.assertLessEqual(abs(got - wanted), error, f"{what}: {text} for {wanted}")
        self.assertNotRegex(text, r"\de[+-]?\d", what)

    def check_markdown(self, name, shown, figures, headings):
        rows = [[cell.strip() for cell in line.strip("|\n ").split(" | ")]
                for line in self.filereel("report", name, "--markdown", "-").out.splitlines()
                if line.startswith("| ")]
        checked = 0
        columns = None
        for row in rows:
            if row[0] == "measurement":
                columns = row
                continue
            if columns is None or row[0] == "volume" or len(row) != len(columns):
                columns = None if row[0] == "volume" else columns
                continue
            subject = row[0].replace("\\", "").split(" (")[0]
            places = [i for i, one in enumerate(shown) if one["subject"] == subject]
            self.assertEqual(len(places), 1, subject)
            of_one = figures[places[0]]
            for heading, cell in zip(columns[1:], row[1:], strict=True):
                metric = headings[heading]
                if cell in ("–", "no data moved"):
                    self.assertNotIn(metric["name"], of_one)
                    continue
                self.assert_shows(cell.split(" (")[0], of_one[metric["name"]][0], metric["unit"],
                                  f"{subject}: {heading}")
                checked += 1
        return checked

    def check_table(self, text, measured, figures, headings):
        """Rows below headings that are metrics, or titles above the names of steps."""
        titles = {metric["title"].lower(): metric for metric in headings.values()}
        titles.update({name.lower(): metric for name, metric in headings.items()})
        checked, columns, title, section = 0, [], None, ""
        lines = iter(text.splitlines())
        following = iter([*text.splitlines()[1:], ""])
        for line, after in zip(lines, following, strict=True):
            words = re.split(r"  +", line.strip())
            if len(words) == 1 and after.startswith("    "):  # a wide table has labels in lines of their own
                words += re.split(r"  +", after.strip())
                next(lines), next(following)
            if not line.strip() or line.startswith("    ") and columns:
                continue
            head = words[0].lower()
            if not line.startswith(" ") and head in titles and len(words) > 1:
                columns, title = words[1:], titles[head]
                continue
            if not line.startswith(" ") and len(words) > 1 and all(word in headings for word in words[1:]):
                columns, title = words[1:], None
                continue
            if not columns or len(words) != len(columns) + 1:
                columns, section = [], line
                continue
            for column, cell in zip(columns, words[1:], strict=True):
                if cell in ("-", "no data moved"):
                    continue
                metric = title or headings[column]

                def is_meant(one):
                    if title:
                        return one["set"] == words[0] and one["operation"] == column
                    return one["operation"] == words[0] or (list(one["parameters"].values()) == [words[0]] and (
                        one["kind"] != "fc-test" or one["operation"] in section.split()))
                places = [i for i, one in enumerate(measured) if is_meant(one)]
                self.assertEqual(len(places), 1, line)
                self.assert_shows(cell, figures[places[0]][metric["name"]][0], metric["unit"], line)
                checked += 1
        return checked

    # The ten results.

    def test_of_fc_test(self):
        got = self.measure(self.many_small_files(40), "--near", self.folder(), "--far", self.folder("far"), "--runs", "5")
        self.assertEqual(len(got["figures"]), 5)
        self.assertGreaterEqual(got["cells"], 12)
        self.assertGreaterEqual(got["rows"], 20)

    def test_of_steps_on_files(self):
        got = self.measure(self.write("work.yaml", FILES), "--near", self.folder(), "--runs", "2")
        get, mostly, both, copies = got["figures"]
        self.check_reads(get)
        self.assertNotIn("written_mb_per_s", get)
        for one in (mostly, both):  # medians of two: sums of them
            self.assertAlmostEqual((one["read_mb_per_s"][0] + one["written_mb_per_s"][0]) / one["mb_per_s"][0], 1, 9)
        self.assertEqual(copies["read_mb_per_s"], copies["mb_per_s"])
        self.assertEqual(copies["written_mb_per_s"], copies["mb_per_s"])
        self.assertGreaterEqual(got["cells"], 30)

    def test_of_a_recorded_trace(self):
        self.filereel("replay", "app-file-write", self.folder(), "--runs", "2", "--json", "r.json")
        got = self.check("r.json")
        self.check_details(self.filereel("show", "r.json").out, got)

    def check_details(self, text, got):
        """The operations of a replay in the terminal are those of the page."""
        kinds = {one["kind"]: one for one in got["page"]["results"][0]["measurements"][0]["kinds"]}
        rows = [re.split(r"  +", line.strip()) for line in text.splitlines()]
        rows = [row for row in rows if row[0] in kinds and len(row) == 8]
        self.assertEqual({row[0] for row in rows}, set(kinds))
        for kind, count, _, _, *levels in rows:
            self.assertEqual(int(count), kinds[kind]["count"])
            for name, level in zip(("p50_us", "p99_us", "p99_9_us", "max_us"), levels, strict=True):
                self.assert_shows(level, kinds[kind].get(name, 0), "us", f"{kind} {name}")

    def test_of_methods_of_copying(self):
        got = self.measure(self.many_small_files(40), "--near", self.folder(), "--operations", "create,copy-near", "--sweep",
                           "copy_method=readwrite,copy_file_range,sendfile", "--copy-command",
                           "cp -a {from}/. {to}", "--runs", "2")
        amounts = {sample["bytes"] for one in got["result"]["measurements"] for sample in one["samples"]}
        self.assertEqual(len(amounts), 1)

    def test_of_a_phase_that_time_ends(self):
        got = self.measure(self.write("timed.yaml", TIMED), "--near", self.folder(), "--runs", "3")
        self.assertGreaterEqual(got["cells"], 10)

    def test_of_a_sweep(self):
        got = self.measure(self.write("sweep.yaml", SWEEP), "--near", self.folder(), "--runs", "2")
        self.assertEqual(len(got["result"]["measurements"]), 4)
        self.assertTrue(got["result"]["sweeps"])
        for one, figures in zip(got["result"]["measurements"], got["figures"], strict=True):
            if one["parameters"]["reads"] == "100 %":
                self.check_reads(figures, 1024 * int(one["parameters"]["size"].split()[0]))

    def check_reads(self, figures, block=0):
        """Of work that only reads: nothing had to become durable, so all rates end with the calls."""
        for part in (0, 1, 2):
            self.assertEqual(figures["mb_per_s"][part], figures["mb_per_s_elapsed"][part])
            self.assertEqual(figures["mb_per_s"][part], figures["read_mb_per_s"][part])
            if block:
                self.assertAlmostEqual(figures["operations_per_s"][part] * block / 1e6 / figures["mb_per_s"][part], 1, 9)

    def test_of_a_reel_that_only_reads(self):
        """Also of several copies of it."""
        (self.folder() / "there").mkdir(exist_ok=True)
        reads = "".join(f"data read {at * 65536} 65536\n" for at in range(16))
        self.write("read.log", f"fio version 2 iolog\ndata add\ndata open\n{reads}data close\n")
        self.filereel("import", "read.log", "-o", "read.reel")
        for clients in ("1", "2"):
            self.filereel("replay", "read.reel", self.folder() / "there", "--clients", clients, "--runs", "2", "--json",
                          "r.json")
            got = self.check("r.json")
            self.check_reads(got["figures"][0])

    def test_of_several_clients(self):
        if not have("mpirun"):
            self.skipTest("needs mpirun")
        self.write("work.yaml", FILES)
        program = pathlib.Path(FILEREEL).resolve()
        done = subprocess.run(["mpirun", "--oversubscribe", "-np", "2", program, "run", "work.yaml", "--near",
                               self.folder(), "--runs", "2", "--clients", "mpi", "--json", "r.json"],
                              cwd=self.scratch, env=self.environment(**AS_ROOT), capture_output=True, timeout=110)
        if b"built without MPI" in done.stderr + done.stdout:
            self.skipTest("needs a filereel with MPI")
        self.assertEqual(done.returncode, 0, done)
        self.check("r.json")

    def test_of_parts_of_a_drive(self):
        if why_not("ext4"):
            self.skipTest(why_not("ext4"))
        image = self.scratch / "drive.img"
        with open(image, "wb") as file:
            file.truncate(80 << 20)
        call("losetup", "-f", image)
        device, = attached_loops(self.scratch)
        self.addCleanup(call, "losetup", "-d", device)
        got = self.measure(self.write("sweep.yaml", SWEEP.replace("[100 %, 50 %]", "50 %")), "--near",
                           f"{device},size=32M", "--parts", "begin,end", "--fs", "ext4", "--destroy", device,
                           "--runs", "1")
        self.assertGreaterEqual(len(got["result"]["measurements"]), 4)

    def test_of_a_plan_with_an_index(self):
        self.write("work.yaml", FILES)
        plan = self.write("plan.yaml", f"runs: 3\njobs: [work.yaml, {self.many_small_files(40)}]\n"
                          "indexes:\n  - {name: data, of: ['*get*', '*mostly*', '*copies*'], metric: mb_per_s}\n")
        for name in ("a", "b", "c"):
            self.filereel("run", plan, "--near", self.folder(), "--operations", "create,read", "--label", name,
                          "--json", f"{name}.json")
        of_results = {name: self.check(f"{name}.json") for name in ("a", "b", "c")}
        page = json.loads(DATA.search(self.filereel("report", "a.json", "b.json", "c.json", "--output", "-").out)[1])
        self.filereel("compare", "a.json", "b.json", "c.json", "--index", "data:mb_per_s=*get*,*mostly*,*copies*",
                      "--json", "i.json", status=None)
        of_page = next(one for one in page["indexes"] if one["name"] == "data")
        of_comparison = next(one for one in self.result("i.json")["indexes"] if one["name"] == "data")
        for index in (of_page, of_comparison):
            self.assertEqual(len(index["measurements"]), 3)
            for entry in index["entries"]:
                name = next(name for name in of_results if entry["name"].startswith(name))
                parts = []
                for key in index["measurements"]:
                    measurements = of_results[name]["result"]["measurements"]
                    place = next(i for i, one in enumerate(measurements) if one["operation"] == key["operation"]
                                 and one["workload"] == key["workload"])
                    parts.append(of_results[name]["figures"][place]["mb_per_s"][0])
                self.assertAlmostEqual(entry["value"] / math.exp(statistics.mean(map(math.log, parts))), 1, 9)

    def test_of_a_replay_that_diverged(self):
        """Each run differs: the numbers are those of all runs, everywhere."""
        self.filereel("replay", "app-file-write", self.folder(), "--runs", "1", "--json", "r.json")
        result = self.result()
        one = result["measurements"][0]
        example = {"position": 7, "thread": 0, "operation": "open", "path": "a", "expected": 0, "result": -2,
                   "class": "mismatch"}
        one["samples"][0]["divergences"] = {"count": 1, "examples": [example], "by_class": {"mismatch": 1}}
        one["samples"] = [{**one["samples"][0], "run": run} for run in (1, 2, 3)]
        result["plan"]["runs"] = 3
        self.write("r.json", json.dumps(result))
        self.check("r.json")
        operations = 3 * one["samples"][0]["operations"]
        text = self.filereel("show", "r.json").out
        for words in (f"3 of {operations}", "3 results differ from the trace in 3 runs: 3 mismatch",
                      "VERIFICATION FAILED: 3 true mismatches in 3 runs"):
            self.assertIn(words, text)
        markdown = self.filereel("report", "r.json", "--markdown", "-").out
        self.assertIn(f"3 of {operations} results differ in 3 runs", markdown)

    def test_of_a_run_that_failed(self):
        """A volume that is full: the sample has no figures, in no output."""
        if why_not("ext4"):
            self.skipTest(why_not("ext4"))
        with contextlib.ExitStack() as stack:
            point = self.scratch / "small"
            point.mkdir()
            call("mount", "-t", "tmpfs", "-o", "size=1M", "tmpfs", point)
            stack.callback(call, "umount", "-l", point)
            self.write("work.yaml", "files: {count: 1, size: 64 KiB}\ndo: [{step: append, size: 512 KiB}]\n"
                                    "stop: {operations: 8}\n")
            ended = self.filereel("run", "work.yaml", "--near", point, "--runs", "1", "--json", "r.json", status=None)
            self.assertNotEqual(ended.code, 0)
            if (self.scratch / "r.json").exists():
                self.check("r.json")


if __name__ == "__main__":
    main()
