"""Runs that go on until they are precise, two volumes in turn, and the block level beneath."""

import os
import re
import shutil
import signal
import unittest

from support import FILEREEL, IntegrationTest, call, find, have, main, needs, wait_until

STEPS = "create,read"


class Runs(IntegrationTest):

    def small_set(self):
        return self.many_small_files(60, "16 KiB")

    def plan(self, text):
        path = self.scratch / "plan.yaml"
        path.write_text(f"sets: [{self.small_set()}]\noperations: [create, read]\n{text}")
        return path

    def ended(self, name="r.json"):
        return {one["runs_ended"] for one in self.result(name)["measurements"]}

    def samples(self, name="r.json"):
        return [len(one["samples"]) for one in self.result(name)["measurements"]]


class Automatic(Runs):

    def test_runs_end_when_all_is_precise(self):
        done = self.filereel("run", self.plan("runs: auto\n"), "--near", self.folder("near"),
                             "--precision", "100%", "--json", "r.json")
        if self.ended() != {"precise"}:
            self.skipTest("too noisy here")  # a median may be off by its own size
        self.assertLess(max(self.samples()), 100)
        self.assertGreaterEqual(min(self.samples()), 5)
        self.assertEqual(self.result()["plan"]["runs"], max(self.samples()))
        self.assertIn("intervals of 2 of 2 measurements within 100 %", done.out)

    def test_runs_end_with_the_budget(self):
        done = self.filereel("run", self.plan("runs: auto\nmost_runs: 10000\n"), "--near",
                             self.folder("near"), "--precision", "0.01%", "--budget", "1s",
                             "--json", "r.json")
        self.assertIn("budget", self.ended())
        self.assertIn("no further one fits into the budget", " ".join(done.out.split()))
        self.assertTrue(self.result()["complete"])

    def test_runs_end_when_there_are_as_many_as_there_may_be(self):
        self.filereel("run", self.plan("runs: auto\nprecision: 0.01 %\nmost_runs: 6\n"),
                      "--near", self.folder("near"), "--json", "r.json")
        self.assertIn("most", self.ended())
        self.assertEqual(self.samples(), [6, 6])

    def test_workloads_end_with_the_budget_too(self):
        self.filereel("run", "random-read", "--scale", "0.002", "--time", "50ms", "--sweep",
                      "depth=1", "--near", self.folder("near"), "--runs", "auto", "--precision",
                      "0.01%", "--budget", "2s", "--json", "r.json")
        self.assertIn("budget", self.ended())

    def test_an_interrupted_automatic_run_keeps_what_there_is(self):
        running = self.start("run", self.plan("runs: auto\nprecision: 0.01 %\n"
                                              "most_runs: 10000\nbudget: 1 h\n"),
                             "--near", self.folder("near"), "--json", "r.json")
        self.assertTrue(wait_until(lambda: self.steps_measured() >= 4, 60))
        running.kill(signal.SIGINT)
        finished = running.finish()
        self.assertEqual(finished.code, 130, finished)
        self.assertFalse(self.result()["complete"])
        self.assertNotIn("runs_ended", self.result()["measurements"][0])


class InTurn(Runs):

    def against(self, *more, **options):
        return self.filereel("run", "--set", self.small_set(), "--operations", STEPS, "--json",
                             "a.json", "--against-json", "b.json", *more, **options)

    def starts(self, name):
        return [(sample["started_s"], sample["durable_s"])
                for one in self.result(name)["measurements"] for sample in one["samples"]]

    def check_turns(self, runs):
        """No step of one volume overlaps one of the other, and the order alternates."""
        steps = sorted([(*step, "a") for step in self.starts("a.json")]
                       + [(*step, "b") for step in self.starts("b.json")])
        for before, after in zip(steps, steps[1:]):
            self.assertLessEqual(before[0] + before[1], after[0] + 0.001)
        turns = "".join(step[2] for step in steps)[::2]  # two steps each
        self.assertEqual(turns, ("abba" * runs)[:2 * runs])

    @needs("ext4")
    def test_two_images_take_turns_and_are_compared(self):
        a, b = self.scratch / "a.img", self.scratch / "b.img"
        done = self.against("--near", f"image:{a}", "--against", f"image:{b}", "--fs", "ext4",
                            "--runs", "4", status=None)
        self.assertIn(done.code, (0, 4), done)
        for name, image in (("a.json", a), ("b.json", b)):
            result = self.result(name)
            self.assertTrue(result["complete"])
            self.assertEqual(result["label"], f"image:{image}")
            self.assertEqual([one["target"] for one in result["volumes"]], [f"image:{image}"])
            self.assertEqual(self.samples(name), [4, 4])
            self.check_clean("ext4", image)
        self.check_turns(4)
        self.assert_nothing_left()

    def formatted(self, *arguments):
        """The places in which file systems are made, one after another, as numbers from 1."""
        call("strace", "-f", "-o", self.scratch / "calls", "-e", "trace=execve", FILEREEL, "run",
             "--set", self.small_set(), "--fs", "ext4", "--json", "r.json", *arguments,
             cwd=self.scratch, env=self.environment(), status=None)
        self.assertTrue(self.result()["complete"])
        devices = re.findall(r"mkfs.*(/dev/loop\d+).* = 0$", (self.scratch / "calls").read_text(),
                             re.MULTILINE)
        return [list(dict.fromkeys(devices)).index(one) + 1 for one in devices]

    @needs("ext4")
    @unittest.skipUnless(have("strace"), "needs strace")
    def test_images_of_two_sides_change_places_between_repetitions(self):
        self.folder("elsewhere")
        near, against, far = (["--" + role, f"image:{role}.img,size=160M"]
                              for role in ("near", "against", "far"))
        other_size = ["--against", "image:against.img,size=200M"]
        elsewhere = ["--against", "image:elsewhere/against.img,size=160M"]
        each = ["--operations", STEPS, "--runs", "3"]
        # The second side is measured first in the second repetition.
        self.assertEqual(self.formatted(*each, *near, *against), [1, 2, 1, 2, 1, 2])
        self.assertEqual(self.formatted(*each, *near, *other_size), [1, 2, 2, 1, 1, 2])
        self.assertEqual(self.formatted(*each, *near, *elsewhere), [1, 2, 2, 1, 1, 2])
        self.assertEqual(self.formatted("--runs", "2", *near, *far), [1, 2, 1, 2])
        # Far is that of both sides.
        self.assertEqual(self.formatted("--runs", "2", *near, *far, *against),
                         [1, 2, 3, 2, 1, 2, 3, 2])

    @needs("ext4")
    def test_images_that_changed_places_are_those_of_their_names(self):
        for _ in range(2):  # a later run replaces only images that it proves to be its own
            self.filereel("run", "--set", self.small_set(), "--fs", "ext4", "--operations", "create",
                          "--runs", "2", "--near", "image:a.img,size=64M", "--against",
                          "image:b.img,size=64M", "--far", "image:f.img,size=64M", "--against-far",
                          "image:g.img,size=64M", "--json", "r.json", status=None)
            self.assertTrue(self.result()["complete"])
            for name in ("a.img", "b.img", "f.img", "g.img"):
                self.check_clean("ext4", self.scratch / name)
        for name in ("a.img", "b.img"):
            with self.mounted("ext4", self.scratch / name) as root:
                self.assertEqual(sum(path.is_file() for path in root.glob("original/**/*")), 60)

    @needs("ext4")
    def test_an_image_that_a_later_job_does_not_use_keeps_its_files(self):
        (self.scratch / "plan.yaml").write_text(
            f"jobs:\n  - {{job: fc-test, sets: [{self.small_set()}], operations: [create, copy-far]}}\n"
            "  - {job: random-read, scale: 0.002, time: 50 ms, sweep: {depth: [1]}}\n")
        self.filereel("run", "plan.yaml", "--near", "image:a.img", "--far", "image:b.img", "--fs",
                      "ext4", "--runs", "2", "--json", "r.json")
        with self.mounted("ext4", self.scratch / "b.img") as root:
            self.assertEqual(sum(path.is_file() for path in root.glob("copy/**/*")), 60)

    def test_directories_take_turns_and_share_far(self):
        folders = [self.folder(name) for name in ("near", "against", "far")]
        done = self.filereel("run", "--set", self.small_set(), "--runs", "3", "--near", folders[0],
                             "--against", folders[1], "--far", folders[2], "--label", "the old one",
                             "--json", "a.json", "--against-json", "b.json", status=None)
        self.assertIn(done.code, (0, 4), done)
        self.assertEqual(self.result("a.json")["label"], "the old one")
        self.assertEqual(self.samples("a.json"), [3] * 5)
        self.assertEqual(self.samples("b.json"), [3] * 5)
        self.assertEqual([os.listdir(folder) for folder in folders], [[], [], []])

    def three_volumes(self):
        arguments = ["--near", self.folder("a")]
        for name in ("b", "c"):
            arguments += ["--against", self.folder(name), "--against-json", f"{name}.json"]
        return arguments + ["--json", "a.json"]

    def test_more_volumes_take_turns_and_are_ranked(self):
        done = self.filereel("run", "--set", self.small_set(), "--operations", STEPS, "--runs", "3",
                             *self.three_volumes(), "--against-label", "second", "--against-label",
                             "third")
        steps = sorted((start, name) for name in "abc" for start, _ in self.starts(f"{name}.json"))
        self.assertEqual("".join(name for _, name in steps)[::2], "abccbaabc")
        self.assertEqual([self.result(f"{name}.json")["label"] for name in "abc"],
                         [str(self.folder("a")), "second", "third"])
        self.assertNotIn("base: ", done.out)  # two sides are compared, more are ranked
        # Settings, machine and warnings of all come once, between the tables and the ranking.
        self.assertEqual(done.out.count("median, range below"), 1)
        ranked = done.out[done.out.index("median, range below"):]
        self.assertIn("second", ranked)
        self.assertRegex(done.err, "measurements on each of 3 volumes: a ranking needs")

    def test_more_volumes_have_a_file_and_a_label_each_or_none(self):
        volumes = ["--near", self.folder("a"), "--against", self.folder("b"), "--against",
                   self.folder("c")]
        for option, value in (("--against-json", "b.json"), ("--against-label", "b")):
            self.assert_refused(self.filereel("run", "random-read", *volumes, option, value, status=None), 2,
                                "--against names 2 volumes", option, "1 time")
        self.assert_refused(self.filereel("run", "--set", self.small_set(), *volumes, "--far", self.folder("f"),
                                          "--against-far", self.folder("g"), status=None), 2,
                            "--against-far names 1", "for each --against")

    def test_each_of_more_volumes_has_its_own_far_volume(self):
        self.filereel("run", "--set", self.small_set(), "--operations", "create,copy-far", "--runs",
                      "2", *self.three_volumes(), "--far", self.folder("f"), "--against-far",
                      self.folder("g"), "--against-far", self.folder("h"))
        for name, far in zip("abc", "fgh"):
            self.assertEqual([one["target"] for one in self.result(f"{name}.json")["volumes"]],
                             [str(self.folder(name)), str(self.folder(far))])

    def test_a_workload_takes_turns_at_every_point(self):
        done = self.filereel("run", "random-read", "--scale", "0.002", "--time", "50ms", "--sweep",
                             "depth=1,4", "--near", self.folder("near"), "--against",
                             self.folder("against"), "--runs", "2", "--json", "a.json",
                             "--against-json", "b.json", status=None)
        self.assertIn(done.code, (0, 4), done)
        self.assertEqual(self.samples("a.json"), self.samples("b.json"))
        self.assertEqual(set(self.samples("a.json")), {2})

    def test_a_recorded_workload_takes_turns(self):
        done = self.filereel("run", "app-git-clone", "--near", self.folder("near"), "--against",
                             self.folder("against"), "--runs", "2", "--json", "a.json",
                             "--against-json", "b.json", status=None)
        self.assertIn(done.code, (0, 4), done)
        self.assertEqual(self.samples("a.json"), [2])
        self.assertEqual(self.samples("b.json"), [2])

    def test_an_interrupted_run_keeps_both_results(self):
        running = self.start("run", "--set", self.small_set(), "--operations", STEPS, "--runs",
                             "1000", "--near", self.folder("near"), "--against",
                             self.folder("against"), "--json", "a.json", "--against-json", "b.json")
        self.assertTrue(wait_until(lambda: self.steps_measured("b.json") >= 4, 60))
        running.kill(signal.SIGINT)
        finished = running.finish()
        self.assertEqual(finished.code, 130, finished)
        for name in ("a.json", "b.json"):
            self.assertFalse(self.result(name)["complete"])
            self.assertGreater(sum(self.samples(name)), 0)
        self.assertEqual(os.listdir(self.folder("near")), [])
        self.assertEqual(os.listdir(self.folder("against")), [])

    @needs("ext4")
    def test_what_is_not_named_for_destruction_is_refused(self):
        image = self.scratch / "disk"
        with open(image, "wb") as file:
            file.truncate(64 << 20)
        with self.loop(image) as device:
            self.assert_refused(
                self.against("--near", f"image:{self.scratch}/a.img", "--against", device, "--fs",
                             "ext4", "--runs", "1", status=None), 2, device, "--destroy")
        self.assertNotIn("b.json", os.listdir(self.scratch))


@unittest.skipUnless(have("fio"), "needs fio")
class BlockLevel(Runs):

    def with_fio(self, script):
        """An environment with the script as fio."""
        folder = self.folder("programs")
        (folder / "fio").write_text(script)
        (folder / "fio").chmod(0o755)
        return self.environment(PATH=f"{folder}:{os.environ['PATH']}")

    def with_short_fio(self):
        """The real one, a tenth of the time."""
        return self.with_fio('#!/bin/sh\nfor word; do\n'
                             '  case $word in --runtime=*) word=--runtime=200ms ;; esac\n'
                             f'  set -- "$@" "$word"; shift\ndone\nexec {find("fio")} "$@"\n')

    def check(self, result, on, block_size):
        found = {one["pattern"]: one for one in result["block_baselines"]}
        self.assertEqual(sorted(found), ["randread", "randwrite", "read", "write"])
        for one in found.values():
            self.assertEqual((one["on"], one["block_size"]), (on, block_size))
            self.assertGreater(one["mb_per_s"], 0)
            self.assertGreater(one["iops"], 0)
            self.assertTrue(one["fio"])
            latency = one["latency"]
            self.assertLess(0, latency["p50_us"])
            self.assertLessEqual(latency["p50_us"], latency["p99_us"])
            self.assertLessEqual(latency["p99_us"], latency["p99_9_us"])
            self.assertLessEqual(latency["mean_us"], latency["max_us"])
            # Little's law: requests in flight = rate × latency; fio also makes content meanwhile.
            in_flight = one["iops"] * latency["mean_us"] / 1e6
            self.assertLess(in_flight, one["depth"] * 1.1)
            self.assertGreater(in_flight, one["depth"] * 0.3)

    @needs("ext4")
    def test_on_an_image_it_is_the_device_beneath(self):
        image = self.scratch / "a.img"
        done = self.filereel("run", "--set", self.small_set(), "--operations", STEPS, "--runs", "1",
                             "--near", f"image:{image},size=256M", "--fs", "ext4", "--block-size",
                             "64K", "--with-block-baseline", "--json", "r.json",
                             env=self.with_short_fio())
        self.check(self.result(), "device", 64 << 10)
        self.assertIn("file/block level", done.out)
        self.check_clean("ext4", image)
        self.assert_nothing_left()

    @needs("ext4")
    def test_in_a_directory_it_is_a_file_that_is_removed(self):
        with self.ext4_volume(200) as root:
            done = self.filereel("run", "--set", self.small_set(), "--operations", STEPS, "--runs",
                                 "1", "--near", root, "--with-block-baseline", "--json", "r.json",
                                 env=self.with_short_fio())
            self.check(self.result(), "file", 128 << 10)
            self.assertIn("file/block level", done.out)
            self.assertEqual(os.listdir(root), ["lost+found"])

    @needs("ext4")
    def test_of_a_workload_it_has_the_size_of_its_accesses(self):
        self.filereel("run", "random-read", "--scale", "0.002", "--time", "50ms", "--sweep",
                      "depth=2", "--near", f"image:{self.scratch}/a.img,size=256M", "--fs", "ext4",
                      "--runs", "1", "--with-block-baseline", "--json", "r.json",
                      env=self.with_short_fio())
        self.check(self.result(), "device", self.result()["measurements"][0]["access"]["block_size"])

    @needs("ext4")
    def test_latencies_compare_where_accesses_are_direct(self):
        (self.scratch / "w.yaml").write_text(
            "files: {count: 1, size: 32 MiB}\nphases:\n" + "".join(
                f"- {{name: {name}, direct: {direct}, access: {{size: 4 KiB, random: 100 %}}, "
                "stop: {time: 300 ms}}\n" for name, direct in [("past", "true"), ("cached", "false")]))
        done = self.filereel("run", "w.yaml", "--near", f"image:{self.scratch}/a.img,size=256M",
                             "--fs", "ext4", "--runs", "1", "--with-block-baseline", "--json",
                             "r.json", env=self.with_short_fio())
        access = {one["operation"]: one["access"] for one in self.result()["measurements"]}
        self.assertIs(access["past"]["latency_comparable"], True)
        self.assertIs(access["cached"]["latency_comparable"], False)
        self.assertIn("latency share", done.out)
        rows = [line for line in done.out.splitlines() if line.startswith("ext4 w.yaml cached")]
        self.assertEqual(rows[0].split()[-3], "-")

    @needs("ext4")
    def test_ctrl_c_ends_fio_and_removes_its_file(self):
        with self.ext4_volume(200) as root:
            running = self.start("run", "--set", self.small_set(), "--near", root,
                                 "--with-block-baseline", "--json", "r.json")
            self.assertTrue(wait_until(running.children, 30))
            running.kill(signal.SIGINT)
            self.assertEqual(running.finish().code, 130)
            self.assertEqual(os.listdir(root), ["lost+found"])

    @needs("ext4")
    def test_where_fio_fails_the_run_goes_on(self):
        done = self.filereel("run", "--set", self.small_set(), "--operations", STEPS, "--runs", "1",
                             "--near", f"image:{self.scratch}/a.img", "--fs", "ext4",
                             "--with-block-baseline", "--json", "r.json",
                             env=self.with_fio("#!/bin/sh\necho 'fio: no way'\nexit 1\n"))
        self.assertIn("block-baseline-failed", done.out)
        self.assertIn("no way", done.out)
        self.assertTrue(self.result()["complete"])
        self.assertNotIn("block_baselines", self.result())


class WithoutFio(Runs):

    @unittest.skipUnless(os.geteuid() == 0 and have("chroot", "ldd"), "needs root, chroot and ldd")
    def test_without_fio_nothing_is_touched(self):
        # Programs are also found outside PATH: so it runs where there are no others.
        root = self.folder("root")
        program = shutil.which(FILEREEL)
        for path in [program, *re.findall(r"(/\S+) \(0x", call("ldd", program))]:
            copy = root / os.path.relpath(path, "/")
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
        (root / "near").mkdir()
        (root / "etc").mkdir()
        (root / "etc/os-release").write_text("ID=debian\n")
        shutil.copy(self.small_set(), root)
        done = self.filereel("run", "--set", "/set.yaml", "--near", "/near", "--with-block-baseline",
                             status=None, wrap=[find("chroot"), root])
        self.assert_refused(done, 1, "apt-get install fio")
        self.assertEqual(os.listdir(root / "near"), [])


if __name__ == "__main__":
    main()
