"""What limits or stops filereel is in the result: control groups, processors, SIGSTOP."""

import os
import pathlib
import signal
import time
import unittest

from support import IntegrationTest, find, main, no_bpf, wait_until

CPU = "/sys/fs/cgroup/cpu"
# Reads of cached files: a second of processor time.
WORK = """files: {count: 4, size: 1 MiB}
access: {size: 4 KiB, random: 100 %}
stop: {time: 1 s}
"""
# Half a second of processor time between two writes.
BUSY = """
import time
for name in "ab":
    with open(name, "w") as file:
        file.write(name)
    while time.process_time() < 0.5:
        pass
"""


def quota_file():
    """Where a group with a quota can be made, and how the quota is written; None if nowhere."""
    if os.geteuid() != 0:
        return None
    if os.path.exists(f"{CPU}/cpu.cfs_quota_us"):
        return CPU, "cpu.cfs_quota_us", "30000"
    controllers = "/sys/fs/cgroup/cgroup.subtree_control"
    if os.path.exists(controllers) and "cpu" in pathlib.Path(controllers).read_text().split():
        return "/sys/fs/cgroup", "cpu.max", "30000 100000"
    return None


def freezers():
    """Where groups that freeze can be made, with the file for it and the texts to freeze and thaw."""
    if os.geteuid() != 0:
        return []
    found = [("/sys/fs/cgroup/freezer", "freezer.state", "FROZEN", "THAWED")]
    found = [one for one in found if os.path.exists(f"{one[0]}/cgroup.procs")]
    for root in "/sys/fs/cgroup", "/sys/fs/cgroup/unified":
        if os.path.exists(f"{root}/cgroup.controllers"):
            found.append((root, "cgroup.freeze", "1", "0"))
    return found


class Limits(IntegrationTest):

    def measured(self, name, wrap=(), runs=1):
        (self.scratch / "w.yaml").write_text(WORK)
        self.filereel("run", "w.yaml", "--near", self.folder("near"), "--warm", "--runs", str(runs),
                      "--json", name, wrap=wrap)
        return self.result(name)

    def group_with_quota(self):
        """A new group with 0.3 cores, and the command that enters it."""
        root, file, text = quota_file()
        group = f"{root}/reel-test-{os.getpid()}"
        os.mkdir(group)
        self.addCleanup(os.rmdir, group)
        with open(f"{group}/{file}", "w") as quota:
            quota.write(text)
        return group, ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh"]

    def warnings(self, result, code):
        return [one["text"] for one in result["warnings"] if one["code"] == code]

    def changes(self, base, new):
        self.filereel("compare", base, new, "--json", "c.json", status=None)
        return {one["what"]: (one["base"], one["new"]) for one in self.result("c.json")["changes"]}

    @unittest.skipUnless(find("taskset"), "needs taskset")
    def test_cores_are_those_that_it_may_use(self):
        allowed = sorted(os.sched_getaffinity(0))
        one = self.measured("one.json", wrap=["taskset", "-c", str(allowed[0])])
        self.assertEqual((one["host"]["cores"], one["host"]["cpu_set"]), (1, str(allowed[0])))
        if len(allowed) == 1:
            self.skipTest("needs two processors")
        self.assertEqual(self.measured("all.json")["host"]["cores"], len(allowed))
        told = self.changes("all.json", "one.json")
        self.assertEqual(told["cores"], (str(len(allowed)), "1"))
        self.assertIn("CPU set", told)

    @unittest.skipUnless(quota_file(), "needs root, and control groups with a CPU controller")
    def test_a_quota_of_processor_time(self):
        group, enter = self.group_with_quota()
        result = self.measured("few.json", wrap=enter)
        conditions = result["measurements"][0]["samples"][0]["conditions"]
        self.assertEqual(result["host"]["cpu_quota"], 0.3)
        self.assertEqual(conditions["cpu_quota"], 0.3)
        self.assertGreater(conditions["cpu_throttled_periods"], 0)
        self.assertLessEqual(conditions["cpu_throttled_periods"], conditions["cpu_periods"])
        self.assertGreater(conditions["cpu_throttled_s"], 0)
        self.assertIn("quota of 0.3 cores", self.warnings(result, "cpu-throttled")[0])
        self.measured("all.json")
        told = self.changes("all.json", "few.json")
        self.assertEqual(told["CPU quota"][1], "0.3 cores")
        self.assertEqual(told["CPU throttling"], ("none", "some periods"))
        wait_until(lambda: not pathlib.Path(group, "cgroup.procs").read_text(), 10)

    def predicted(self, reel, **options):
        done = self.filereel("predict", reel, self.folder("predicted"), **options)
        return " ".join(done.out.split())

    def record(self, reel, *command, backend="bpf", **options):
        return self.filereel("record", "--backend", backend, "--under", self.folder("near"), "-o",
                             self.scratch / reel, "--", *command, cwd=self.folder("near"), **options)

    @unittest.skipUnless(quota_file(), "needs root, and control groups with a CPU controller")
    def test_a_quota_during_a_recording_or_a_replay_makes_the_accuracy_unknown(self):
        if no_bpf():
            self.skipTest(no_bpf())
        group, enter = self.group_with_quota()
        told = self.record("q.reel", "python3", "-c", BUSY, wrap=enter)
        self.assertIn("the CPU quota of 0.3 cores made the program wait in", told.err)
        self.assertIn("no known accuracy", told.err)
        self.assertIn("throttled", self.filereel("show", "q.reel").out)
        self.assertIn("ACCURACY UNKNOWN: during the recording, the CPU quota of 0.3 cores",
                      self.predicted("q.reel"))
        told = self.record("good.reel", "python3", "-c", BUSY)
        self.assertNotIn("accuracy", told.err)
        self.assertNotIn("throttled", self.filereel("show", "good.reel").out)
        self.assertIn("ACCURACY UNKNOWN: during the replays, the CPU quota of 0.3 cores",
                      self.predicted("good.reel", wrap=enter))
        wait_until(lambda: not pathlib.Path(group, "cgroup.procs").read_text(), 10)

    def test_a_stop_during_a_recording_makes_the_accuracy_unknown(self):
        # A SIGCONT before the stop would have no effect: so there are more of them.
        stops = (": > b; (until [ -s b ]; do sleep 0.3; kill -CONT $$; done) & "
                 "echo a > a; kill -STOP $$; echo b > b; wait")
        for backend in ("strace",) if no_bpf() else ("bpf", "strace"):
            if backend == "strace" and not find("strace"):
                continue
            with self.subTest(backend):
                told = self.record("s.reel", "sh", "-c", stops, backend=backend)
                self.assertIn("SIGSTOP or Ctrl-Z stopped the program for", told.err)
                shown = " ".join(self.filereel("show", "s.reel").out.split())
                self.assertIn("SIGSTOP or Ctrl-Z stopped the program for", shown)
                self.assertIn("during the recording, SIGSTOP or Ctrl-Z stopped the program",
                              self.predicted("s.reel"))
                told = self.record("s.reel", "sh", "-c", "echo a > a; sleep 0.1; echo b > b; exit 3",
                                   backend=backend)
                self.assertNotIn("stopped", told.err + self.filereel("show", "s.reel").out)
                self.assertIn("the recorded program failed (it exited with 3)",
                              self.predicted("s.reel"))

    def test_a_sample_during_which_it_was_stopped_is_not_used(self):
        (self.scratch / "w.yaml").write_text(WORK)
        running = self.start("run", "w.yaml", "--near", self.folder("near"), "--runs", "2", "--json",
                             "r.json")
        self.assertTrue(wait_until(lambda: self.steps_measured() == 1, 60))
        time.sleep(0.5)  # in the second run, or in the preparation of it
        for _ in range(20):  # some of these fall into the measured second
            if running.ended():
                break
            running.kill(signal.SIGSTOP)
            time.sleep(0.05)
            running.kill(signal.SIGCONT)
            time.sleep(0.1)
        done = running.finish()
        self.assertEqual(done.code, 0, done)
        samples = self.result()["measurements"][0]["samples"]
        self.assertNotIn("stops", samples[0]["conditions"])
        self.assertGreaterEqual(samples[1]["conditions"]["stops"], 1)
        self.assertIn(len(samples), (3, 4))  # one more for each that was stopped, two at most
        stopped = sum("stops" in one["conditions"] for one in samples)
        self.assertIn(f"{stopped} of {len(samples)} samples",
                      self.warnings(self.result(), "run-stopped")[0])

    @unittest.skipUnless(freezers(), "needs root, and control groups that freeze")
    def test_a_sample_during_which_its_group_was_frozen_is_not_used(self):
        """As by `docker pause`, of which no signal and no clock tells."""
        (self.scratch / "w.yaml").write_text(WORK.replace("1 s", "2 s"))
        for root, file, freeze, thaw in freezers():
            with self.subTest(file):
                group = pathlib.Path(root, f"reel-test-{os.getpid()}")
                group.mkdir()
                self.addCleanup(group.rmdir)
                running = self.start("run", "w.yaml", "--near", self.folder("near"), "--runs", "2",
                                     "--json", "r.json", wrap=[
                                         "sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh"])
                self.assertTrue(wait_until(lambda: self.steps_measured() == 1, 60))
                time.sleep(1)  # in the second run, or in the preparation of it
                (group / file).write_text(freeze)
                time.sleep(2)
                (group / file).write_text(thaw)
                self.assertEqual(running.finish().code, 0)
                samples = self.result()["measurements"][0]["samples"]
                # One more repetition takes the place of the second one.
                self.assertEqual([one["conditions"].get("stops") for one in samples], [None, 1, None])
                self.assertIn("1 of 3 samples is not used",
                              self.warnings(self.result(), "run-stopped")[0])
                self.assertTrue(wait_until(lambda: not (group / "cgroup.procs").read_text(), 10))

    def test_a_run_that_was_not_stopped_is_not_marked(self):
        result = self.measured("r.json")
        self.assertNotIn("stops", result["measurements"][0]["samples"][0]["conditions"])
        self.assertEqual(self.warnings(result, "run-stopped"), [])


if __name__ == "__main__":
    main()
