"""Figures of every second while a run goes on: --live and --live-json."""

import json
import os
import re
import signal
import subprocess

from support import FILEREEL, IntegrationTest, call, find, main, mount_image, needs, wait_until

READS = """files: {name: data, count: 1, size: 4 MiB}
access: {size: 4 KiB, random: 100 %}
stop: {operations: 500}
"""
TIMED = """files: {name: data, count: 1, size: 4 MiB}
access: {size: 4 KiB, random: 100 %, reads: 0 %}
warm_up: 50 ms
stop: {time: 300 ms}
"""
ROW = re.compile(r" +[\d.]+ s +\S+ ops/s +\S+ MB/s  p50 .+  p99 .+  max .+")


class Live(IntegrationTest):

    def setUp(self):
        super().setUp()
        (self.scratch / "reads.yaml").write_text(READS)
        (self.scratch / "timed.yaml").write_text(TIMED)
        self.folder("near")

    def run_live(self, name, *more):
        return self.filereel("run", name, "--near", "near", "--json", "r.json", *more)

    def lines(self, text):
        return [json.loads(line) for line in text.splitlines()]

    def check_sums(self, lines):
        """The lines of each sample add up to what the result says of it."""
        for measurement in self.result()["measurements"]:
            for sample in measurement["samples"]:
                mine = [line for line in lines if line["part"] == "measured"
                        and line["job"] == measurement["workload"]
                        and line.get("set", "") == measurement["set"]
                        and line.get("point", {}) == measurement["parameters"]
                        and line["operation"] == measurement["operation"]
                        and line["run"] == sample["run"]]
                self.assertEqual(sum(line["operations"] for line in mine),
                                 sum(one["count"] for one in sample["latency"].values()))
                if measurement["operation"] == "delete":
                    continue
                self.assertEqual(sum(line["bytes"] for line in mine), sample["bytes"])

    def check_order(self, lines):
        times = [line["t_s"] for line in lines]
        self.assertEqual(times, sorted(set(times)))
        for line in lines:
            self.assertGreater(line["interval_s"], 0)
            self.assertEqual("p99_us" in line, line["operations"] > 0)
            if line["operations"] > 0:
                self.assertLessEqual(line["p50_us"], line["p99_us"])
                self.assertLessEqual(line["p99_us"], line["max_us"])

    def test_json_on_standard_output_adds_up_to_the_result(self):
        done = self.run_live("reads.yaml", "--runs", "2", "--sweep", "run.size=4KiB,16KiB",
                             "--live-json", "-")
        lines = self.lines(done.out)
        self.assertEqual(len({(line["point"]["size"], line["run"]) for line in lines}), 4)
        self.check_order(lines)
        self.check_sums(lines)
        self.assertIn("operations/s", done.err)  # the table makes room

    def test_fc_test_adds_up_too(self):
        self.many_small_files(50)
        self.filereel("run", "fc-test", "--set", "set.yaml", "--near", "near", "--runs", "2",
                      "--json", "r.json", "--live-json", "live.jsonl", "-q")
        lines = self.lines((self.scratch / "live.jsonl").read_text())
        self.assertEqual({line["set"] for line in lines}, {"many"})
        self.assertEqual({line["operation"] for line in lines},
                         {"create", "read", "copy-near", "delete"})
        self.check_order(lines)
        self.check_sums(lines)

    def test_a_warm_up_is_none_of_what_is_measured(self):
        self.run_live("timed.yaml", "--runs", "1", "--live-json", "live.jsonl")
        lines = self.lines((self.scratch / "live.jsonl").read_text())
        self.check_order(lines)
        self.check_sums(lines)

    def test_lines_appear_on_standard_error_under_the_name_of_the_step(self):
        done = self.run_live("reads.yaml", "--runs", "2", "--live")
        told = done.err.splitlines()
        rows = [i for i, line in enumerate(told) if ROW.fullmatch(line)]
        self.assertGreaterEqual(len(rows), 2, done)
        self.assertRegex(told[rows[0] - 1], r"reads\.yaml .*1/2$")
        self.assertIn("operations/s", done.out)

    def test_quiet_leaves_json_only(self):
        done = self.run_live("reads.yaml", "--runs", "1", "--live", "--live-json", "-", "-q")
        self.assertEqual(done.err, "")
        self.check_sums(self.lines(done.out))

    def test_two_volumes_in_turn_are_told_apart(self):
        self.folder("against")
        done = self.filereel("run", "reads.yaml", "--near", "near", "--against", "against", "--runs",
                             "1", "--live-json", "live.jsonl", status=None)
        self.assertIn(done.code, (0, 4), done)
        lines = self.lines((self.scratch / "live.jsonl").read_text())
        self.assertEqual(len({line["volume"] for line in lines}), 2)

    def test_a_recorded_trace_has_lines(self):
        (self.scratch / "app.strace").write_text(
            '1700000000.000000 openat(AT_FDCWD, "/d/f", O_RDWR|O_CREAT, 0644) = 3 <0.000010>\n'
            '1700000000.001000 pwrite64(3, "", 8192, 0) = 8192 <0.000010>\n'
            "1700000000.003000 close(3) = 0 <0.000010>\n")
        self.filereel("import", "app.strace", "-o", "app.reel")
        done = self.filereel("replay", "app.reel", "near", "--runs", "1", "--json", "r.json",
                             "--live-json", "-")
        lines = self.lines(done.out)
        self.check_sums(lines)
        self.assertEqual(sum(line["bytes"] for line in lines), 8192)

    def test_a_reader_that_goes_away_ends_nothing(self):
        reading, writing = os.pipe()
        os.close(reading)
        try:
            done = subprocess.run(
                [FILEREEL, "run", "reads.yaml", "--near", "near", "--runs", "1", "--json", "r.json",
                 "--live-json", "-"], cwd=self.scratch, env=self.environment(), stdout=writing,
                stderr=subprocess.PIPE, timeout=60, check=False)
        finally:
            os.close(writing)
        self.assertEqual(done.returncode, 0, done)
        self.assertTrue(self.result()["complete"])

    def test_json_that_cannot_be_written_is_a_failure_after_the_table(self):
        done = subprocess.run(
            ["sh", "-c", '"$0" "$@" >/dev/full', FILEREEL, "run", "reads.yaml", "--near", "near",
             "--runs", "1", "--json", "r.json", "--live-json", "-", "-q"], cwd=self.scratch,
            env=self.environment(), capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 1, done)
        self.assertEqual(done.stderr, "filereel: cannot write to standard output: No space left on "
                         "device\n")
        self.assertTrue(self.result()["complete"])

    @needs("ext4")
    def test_a_stall_shows_while_it_lasts(self):
        if not find("fsfreeze"):
            self.skipTest("needs fsfreeze")
        point = self.scratch / "frozen"
        mount_image(self.scratch / "image", point, 64)
        self.addCleanup(call, "umount", "-l", point)
        (self.scratch / "writes.yaml").write_text(
            TIMED.replace("warm_up: 50 ms\n", "").replace("300 ms", "60 s"))
        path = self.scratch / "live.jsonl"
        running = self.start("run", "writes.yaml", "--near", point, "--runs", "1", "--live-json",
                             path, "--live")

        def lines():
            return [json.loads(line) for line in path.read_text().splitlines()]

        self.assertTrue(wait_until(lambda: path.exists() and lines(), 30))
        call("fsfreeze", "--freeze", point)
        try:
            self.assertTrue(wait_until(lambda: lines()[-1]["operations"] == 0, 30))
            self.assertFalse(running.ended())
        finally:
            call("fsfreeze", "--unfreeze", point)
        # What was stuck comes at last, with the time it took.
        self.assertTrue(wait_until(lambda: max(line.get("max_us", 0) for line in lines()) > 500_000,
                                   30))
        running.kill(signal.SIGINT)
        done = running.finish()
        self.assertEqual(done.code, 130, done)
        self.assertRegex(done.err, r" s +0 ops/s +- MB/s  p50 +-  p99 +-  max +-\n")


if __name__ == "__main__":
    main()
