"""Interrupted runs that are resumed (--resume): killed at any moment, they end with the measurements of a run
that was not."""

import collections
import json
import signal
import unittest

from support import IntegrationTest, main, needs, wait_until

PLAN = """sweep: {fill: [0 %, 30 %, 60 %]}
runs: 2
file_systems: [ext4]
jobs:
  - job: SET
  - {job: random-read, scale: 0.002, time: 30 ms, sweep: {depth: [1, 4]}}
"""


def shape(result):
    """The measurements with the repetitions of their samples."""
    return collections.Counter(
        (one["workload"], one["set"], one["operation"], one["file_system"], json.dumps(one["parameters"]),
         tuple(sample["run"] for sample in one["samples"])) for one in result["measurements"])


@needs("ext4")
class Resumed(IntegrationTest):

    def setUp(self):
        super().setUp()
        small = self.many_small_files(20, "16 KiB")
        (self.scratch / "plan.yaml").write_text(PLAN.replace("SET", str(small)))
        self.command = ["run", "plan.yaml", "--near", "image:disk,size=64M"]

    def samples(self, name="r.json"):
        try:
            return sum(len(one["samples"]) for one in self.result(name)["measurements"])
        except (FileNotFoundError, AssertionError, ValueError):
            return 0

    def kill_after(self, count, *said, number=signal.SIGKILL):
        run = self.start(*self.command, *said)
        self.assertTrue(wait_until(lambda: self.samples() >= count or run.ended(), 60))
        self.assertFalse(run.ended(), "it was too fast")
        run.kill(number)
        run.finish()

    def test_a_killed_run_ends_with_the_measurements_of_one_that_was_not(self):
        self.filereel(*self.command, "--json", "whole.json")
        wanted = shape(self.result("whole.json"))
        self.assertEqual(len(wanted), 3 * 4 + 3 * 2)
        self.kill_after(1, "--json", "r.json")
        before = self.samples()
        for count in (before + 3, before + 9, before + 15):
            self.kill_after(min(count, 32), "--resume", "r.json")
        done = self.filereel(*self.command, "--resume", "r.json")
        self.assertIn("[run-resumed]", done.out + done.err)
        result = self.result()
        self.assertTrue(result["complete"])
        self.assertEqual(shape(result), wanted)
        starts = [sample["started_s"] for one in result["measurements"] for sample in one["samples"]]
        self.assertTrue(all(start >= 0 for start in starts), starts)
        done = self.filereel(*self.command, "--resume", "r.json", status=2)
        self.assertIn("is complete: there is nothing to resume", done.err)

    def test_what_was_measured_is_kept(self):
        self.kill_after(16, "--json", "r.json", number=signal.SIGINT)
        self.assertFalse(self.result()["complete"])
        kept = {sample["started_s"]: sample["elapsed_s"] for one in self.result()["measurements"]
                for sample in one["samples"] if sample["run"] == 1}
        self.filereel(*self.command, "--resume", "r.json")
        after = {sample["started_s"]: sample["elapsed_s"] for one in self.result()["measurements"]
                 for sample in one["samples"]}
        self.assertEqual({start: after.get(start) for start in kept}, kept)

    def test_jobs_whose_writes_are_part_of_the_condition_begin_anew(self):
        self.command = [*self.command, "--steady"]
        self.kill_after(20, "--json", "r.json")
        self.filereel(*self.command, "--resume", "r.json")
        result = self.result()
        self.assertTrue(result["complete"])
        for one in result["measurements"]:
            runs = [sample["run"] for sample in one["samples"]]
            self.assertGreaterEqual(len(runs), 5)
            self.assertEqual(runs, list(range(runs[0], runs[0] + len(runs))))
            self.assertEqual(runs[0] - 1, len(one.get("earlier_rounds", [])))

    def test_another_command_is_refused_and_changes_nothing(self):
        self.kill_after(3, "--json", "r.json")
        before = (self.scratch / "r.json").read_bytes()
        for said, what in ((["--runs", "5"], "options, file sets, recipes or reels have changed"),
                           (["--warm"], "the settings of"), (["--fill", "10%", "--sweep", "rest=0,1ms"], "the sweep of"),
                           (["--json", "x.json"], "omit --json"), (["--sessions", "2"], "--sessions"),
                           (["--with-block-baseline"], "--with-block-baseline")):
            with self.subTest(said=said):
                done = self.filereel(*self.command, *said, "--resume", "r.json", status=2)
                self.assertIn(what, done.err)
        done = self.filereel("run", "plan.yaml", "--near", "image:other,size=64M", "--resume", "r.json", status=2)
        self.assertIn("near is image:disk", done.err)
        self.assertEqual((self.scratch / "r.json").read_bytes(), before)
        self.filereel(*self.command, "--resume", "missing.json", status=None)
        self.assertFalse((self.scratch / "missing.json").exists())

    def changed(self, change):
        """A killed run's result with a change, and what --resume says to it."""
        result = json.loads(self.before)
        change(result)
        (self.scratch / "r.json").write_text(json.dumps(result))
        return self.filereel(*self.command, "--resume", "r.json", status=None)

    def test_a_result_that_was_edited_or_is_of_another_machine_is_refused(self):
        self.kill_after(17, "--json", "r.json")  # in the second repetition of FC-Test
        self.before = (self.scratch / "r.json").read_bytes()

        def another_kernel(result):
            result["host"]["kernel"] = "1.0"

        def without_a_step(result):
            del result["measurements"][1]

        def other_steps(result):
            for one in result["measurements"]:
                if one["operation"] == "read":
                    one["operation"] = "delete"

        def twice(result):
            result["measurements"] = [one for one in result["measurements"] for _ in range(2)]

        for change, what in ((another_kernel, "the kernel was 1.0"), (without_a_step, "other measurements"),
                             (other_steps, "other measurements"), (twice, "other measurements")):
            with self.subTest(change.__name__):
                done = self.changed(change)
                self.assertIn(done.code, (2, 3), done)
                self.assertIn(what, done.err)

        def reversed_order(result):
            result["measurements"].reverse()

        def without_samples(result):
            for one in result["measurements"]:
                one["samples"] = []

        def with_too_many(result):
            for one in result["measurements"]:
                one["samples"] *= 50

        for change in (reversed_order, without_samples, with_too_many):
            with self.subTest(change.__name__):
                self.assertIn(self.changed(change).code, (0, 1, 2, 3))

    def test_volumes_in_turns_are_resumed_together(self):
        self.command = ["run", "plan.yaml", "--near", "image:disk,size=64M", "--against", "image:other,size=64M",
                        "--control", "image:third,size=64M", "--against-json", "b.json", "--sweep", "fill=0%,30%"]
        self.kill_after(5, "--json", "r.json")
        self.filereel(*self.command, "--resume", "r.json", status=None)
        for name in ("r.json", "b.json"):
            result = self.result(name)
            self.assertTrue(result["complete"])
            self.assertEqual({len(one["samples"]) for one in result["measurements"]}, {2})
            self.assertEqual(len(result["measurements"]), 2 * 4 + 2 * 2)


if __name__ == "__main__":
    main()
