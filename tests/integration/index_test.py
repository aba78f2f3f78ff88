#!/usr/bin/env python3
"""Indexes and rankings: as calculated by hand (index_by_hand.csv), and of real runs."""

import csv
import json
import pathlib

from support import IntegrationTest, main, why_not

HERE = pathlib.Path(__file__).resolve().parent


def measurement(kind, workload, operation, samples):
    how = {"order": "resource", "pace": "asap", "engine": "blocking", "depth": 0,
           "verify": "results", "clients": 1, "recorded_s": 1.0}
    return {"kind": kind, "workload": workload, "set": "" if kind == "trace" else "iso",
            "operation": operation, "file_system": "ext4", "driver": "kernel", "parameters": {},
            "samples": samples, **({"replay": how} if kind == "trace" else {})}


def sample(run, seconds, megabytes, latency=None):
    return {"run": run, "started_s": 0, "elapsed_s": seconds, "durable_s": seconds,
            "bytes": megabytes * 1_000_000, "files": 4, "operations": 400, "cold_method": "remount",
            "moved_no_data": False, "divergences": {"count": 0, "examples": []},
            "latency": latency or {}}


def reads(seconds, megabytes, count):
    return {"read": {"count": count, "errors": 0, "bytes": megabytes * 1_000_000, "p50_us": 1.0,
                     "p90_us": 1.0, "p95_us": 1.0, "p99_us": 1.0, "p99_9_us": 1.0, "p99_99_us": 1.0,
                     "max_us": 1.0, "total_us": seconds * 1e6}}


def job(kind, name):
    return {"kind": kind, "name": name, "scale": 1.0, "warm": False,
            "overhead_ns_per_operation": 0.0, "settings": {}}


class IndexTest(IntegrationTest):
    def setUp(self):
        super().setUp()
        with open(HERE / "index_by_hand.csv", newline="") as file:
            self.lines = list(csv.DictReader(file))
        for name in ("a", "b", "c"):
            self.write_result(name)

    def by_hand(self, what, result):
        return [line for line in self.lines if (line["what"], line["result"]) == (what, result)]

    def write_result(self, name):
        measurements = []
        accesses = {line["of"]: int(line["amount"]) for line in self.by_hand("accesses", name)}
        for what in ("time", "busy"):
            for line in self.by_hand(what, name):
                runs = [(run, float(line[f"run {run}"])) for run in range(1, 6)]
                megabytes = int(line["amount"])
                if what == "time":
                    list_of = [sample(run, time, megabytes) for run, time in runs]
                    measurements.append(measurement("fc-test", "fc-test", line["of"], list_of))
                else:
                    list_of = [sample(run, 10.0, megabytes,
                                      reads(time, megabytes, accesses[line["of"]]))
                               for run, time in runs]
                    measurements.append(measurement("trace", line["of"], "replay", list_of))
        result = {
            "schema_version": 4, "filereel": {"version": "0.1.0"},
            "started": "2024-02-29T12:00:00Z", "label": name,
            "host": {"cpu": "A Processor", "cores": 8, "memory": 16000000000, "kernel": "6.1.0"},
            "volumes": [], "complete": True, "warnings": [],
            "plan": {"name": "by hand", "file_systems": ["ext4"], "runs": 5,
                     "jobs": [job("fc-test", "fc-test"), job("trace", "app"),
                              job("trace", "boot")]},
            "measurements": measurements}
        (self.scratch / f"{name}.json").write_text(json.dumps(result))

    def figures(self, index):
        return {entry["name"]: entry for entry in index["entries"]}

    def assert_by_hand(self, what, entries, member):
        lines = [line for line in self.lines if line["what"] == what]
        self.assertEqual(len(lines), 3)
        for line in lines:
            entry = entries[line["result"]]
            self.assertAlmostEqual(entry[member] / float(line["figure"]), 1, places=6,
                                   msg=line["calculation"])

    def test_indexes_are_those_calculated_by_hand(self):
        self.filereel("compare", "a.json", "b.json", "c.json", "--index", "files=fc-test",
                      "--index", "recorded:storage=*", "--reference", "a", "--json", "i.json")
        files, recorded = self.result("i.json")["indexes"]
        self.assertEqual((files["name"], files["unit"], files["reference"]), ("files", "MB/s", "a"))
        self.assert_by_hand("index", self.figures(files), "value")
        self.assert_by_hand("relative", self.figures(files), "relative")
        self.assert_by_hand("storage", self.figures(recorded), "value")
        self.assert_by_hand("busy MB/s", self.figures(recorded), "mb_per_s")
        self.assert_by_hand("access us", self.figures(recorded), "access_us")
        for entry in files["entries"] + recorded["entries"]:
            interval = entry["interval_95"]
            self.assertLessEqual(interval["low"], entry["value"])
            self.assertLessEqual(entry["value"], interval["high"])
        again = self.filereel("compare", "a.json", "b.json", "c.json", "--json", "-").out
        self.assertEqual(again, self.filereel("compare", "a.json", "b.json", "c.json", "--json",
                                              "-").out)

    def test_two_results_have_indexes_too_relative_to_the_base(self):
        self.filereel("compare", "a.json", "b.json", "--index", "files=fc-test", "--json", "i.json",
                      status=None)
        index = self.result("i.json")["indexes"][0]
        self.assertAlmostEqual(index["entries"][1]["relative"], 125.992105, places=5)

    def test_the_file_systems_of_a_real_run_are_ranked_and_compared(self):
        if why_not("ext4", "xfs"):
            self.skipTest(why_not("ext4", "xfs"))
        self.filereel("run", "--near", "image:near.img,size=400M", "--fs", "ext4,xfs", "--set",
                      self.many_small_files(100), "--runs", "5", "--operations", "create,read",
                      "--json", "r.json")
        self.filereel("compare", "r.json", "--json", "ranking.json")
        ranking = self.result("ranking.json")
        self.assertEqual(ranking["entries"], ["ext4", "xfs"])
        self.assertEqual(len(ranking["rankings"]), 2)
        self.filereel("compare", "r.json", "--fs", "ext4,xfs", "--json", "c.json", status=None)
        comparison = self.result("c.json")
        self.assertEqual(len(comparison["measurements"]), 2)
        self.assertEqual(comparison["changes"][0],
                         {"kind": "file system", "what": "file system", "base": "ext4",
                          "new": "xfs"})

    def test_directories_on_different_file_systems_are_compared_across_them(self):
        finished = self.filereel(
            "run", "--near", self.folder("near"), "--against", self.memory_folder(100), "--set",
            self.many_small_files(50), "--runs", "1", "--operations", "create,read", "--json",
            "near.json", "--against-json", "against.json", status=None)
        self.assertIn(finished.code, (0, 4), finished)
        self.assertIn("file system: ", finished.out)
        self.assertIn("-> tmpfs", finished.out)
        self.filereel("compare", "near.json", "against.json", "--json", "c.json", status=None)
        self.assertEqual(len(self.result("c.json")["measurements"]), 2)


if __name__ == "__main__":
    main()
