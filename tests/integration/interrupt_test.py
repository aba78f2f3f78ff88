"""Runs that are killed or interrupted: nothing stays that a later run would not clear away."""

import os
import random
import signal
import stat
import time

from support import IntegrationTest, STEPS, THOROUGH, main, needs, wait_until

# A phase may be over before the signal arrives: each try has twice the files of the one before.
TRIES = 8
FILES = 300
# Daily, where one volume is being filled, and where both are mounted.
PHASES = STEPS if THOROUGH else ["create", "copy-far"]


class Interrupted(IntegrationTest):

    def in_phase(self, running, phase):
        """Waits until the run is in the middle of that phase, as far as this shows from outside."""
        def begun():
            if running.ended():
                return True
            if phase in ("create", "copy-near", "copy-far"):
                role = "far" if phase == "copy-far" else "near"
                folder = "original" if phase == "create" else "copy"
                return (self.steps_measured() == STEPS.index(phase)
                        and os.path.isdir(f"{running.mount_point(role)}/{folder}"))
            return self.steps_measured() >= STEPS.index(phase)
        self.assertTrue(wait_until(begun, 120, 0.001), f"{phase} does not begin")
        # The hook for these shows before the volume is mounted again.
        time.sleep(random.uniform(0, 0.1 if phase in ("read", "delete") else 0.02))

    def stop_in(self, phase, arguments, number):
        """Starts a run and ends it in that phase by the signal; gives what became of it."""
        for attempt in range(TRIES):
            (self.scratch / "r.json").unlink(missing_ok=True)
            self.many_small_files(FILES << attempt)
            running = self.start(*arguments)
            self.in_phase(running, phase)
            running.kill(number)
            finished = running.finish()
            if self.steps_measured() == STEPS.index(phase):
                return finished
        self.fail(f"in {TRIES} tries the signal never came during {phase}")

    def run_arguments(self, kind, runs):
        return ["run", "--near", f"image:{self.scratch}/near.img",
                "--far", f"image:{self.scratch}/far.img", "--fs", kind,
                "--set", self.scratch / "set.yaml", "--runs", runs, "--json", "r.json"]


class Killed(Interrupted):

    def names(self):
        """What there is, without what a kill leaves that comes while a result is written."""
        return sorted(name for name in os.listdir(self.scratch) if not name.endswith(".part"))

    def check_kill(self, kind):
        for phase in PHASES:
            with self.subTest(phase=phase):
                finished = self.stop_in(phase, self.run_arguments(kind, 2), signal.SIGKILL)
                self.assertEqual(finished.code, -signal.SIGKILL)
                result = self.result() if phase != "create" else {"complete": False}
                self.assertFalse(result["complete"])
                self.filereel(*self.run_arguments(kind, 1))
                self.assertTrue(self.result()["complete"])
                self.assert_nothing_left()
                self.assertEqual(self.names(),
                                 ["far.img", "near.img", "r.json", "set.yaml"])
                self.check_clean(kind, self.scratch / "near.img")
                self.check_clean(kind, self.scratch / "far.img")

    @needs("ext4")
    def test_a_run_on_ext4_that_was_killed_can_be_repeated(self):
        self.check_kill("ext4")

    @needs("ntfs")
    def test_a_run_on_ntfs_that_was_killed_can_be_repeated(self):
        self.check_kill("ntfs")

    def check_kill_while_formatting(self, kind, maker):
        """A mkfs in front of the real one spoils the image, says so and takes its time."""
        folder, mark = self.folder("programs"), self.scratch / "formatting"
        self.many_small_files(FILES)
        program = folder / maker
        program.write_text("#!/bin/sh\nfor image; do :; done\n"
                           'head -c 3000000 /dev/urandom | dd of="$image" conv=notrunc 2>/dev/null\n'
                           f"touch '{mark}'\nexec sleep 600\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        running = self.start(*self.run_arguments(kind, 1),
                             env=self.environment(PATH=f"{folder}:{os.environ['PATH']}"))
        self.assertTrue(wait_until(mark.exists, 60))
        running.kill()
        self.assertEqual(running.finish().code, -signal.SIGKILL)
        self.filereel(*self.run_arguments(kind, 1))
        self.assertTrue(self.result()["complete"])
        self.assert_nothing_left()
        self.check_clean(kind, self.scratch / "near.img")

    @needs("ext4")
    def test_a_run_that_was_killed_while_ext4_was_made_can_be_repeated(self):
        self.check_kill_while_formatting("ext4", "mkfs.ext4")

    @needs("ntfs")
    def test_a_run_that_was_killed_while_ntfs_was_made_can_be_repeated(self):
        self.check_kill_while_formatting("ntfs", "mkfs.ntfs")

    @needs("ext4", "ntfs")
    def test_the_images_of_a_killed_run_without_targets_go_with_the_next(self):
        arguments = ["run", "--set", "set.yaml", "--runs", "1", "--fs", "ext4,ntfs", "--json",
                     "r.json"]
        for steps in (0, 3, 5, 8) if THOROUGH else (0, 8):  # killed when that many were measured
            with self.subTest(steps=steps):
                for attempt in range(TRIES):
                    (self.scratch / "r.json").unlink(missing_ok=True)
                    self.many_small_files(FILES << attempt)
                    running = self.start(*arguments)
                    wait_until(lambda: running.ended() or (self.steps_measured() >= steps and
                               os.path.isdir(running.mount_point("near") + "/original")), 120)
                    running.kill()
                    if running.finish().code == -signal.SIGKILL:
                        break
                else:
                    self.fail(f"never killed after {steps} steps")
                self.filereel(*arguments)
                self.assert_nothing_left()
                self.assertEqual(self.names(), ["r.json", "set.yaml"])

    @needs("ext4")
    def test_the_files_of_a_killed_run_on_directories_go_with_the_next(self):
        near, far = self.folder("near"), self.folder("far")
        arguments = ["run", "--near", near, "--far", far, "--set", self.scratch / "set.yaml",
                     "--json", "r.json", "--runs"]
        for phase in PHASES:
            with self.subTest(phase=phase):
                for attempt in range(TRIES):
                    (self.scratch / "r.json").unlink(missing_ok=True)
                    self.many_small_files(FILES << attempt)
                    running = self.start(*arguments, "2")
                    self.assertTrue(wait_until(
                        lambda: running.ended() or self.steps_measured() >= STEPS.index(phase)
                        and (self.work_folder(near) / "original").exists(), 60, 0.001))
                    running.kill()
                    killed = running.finish().code == -signal.SIGKILL
                    if killed and self.steps_measured() == STEPS.index(phase):
                        break
                else:
                    self.fail(f"never killed during {phase}")
                self.assertEqual(os.listdir(near), [self.work_folder(near).name])
                self.filereel(*arguments, "1")
                self.assertTrue(self.result()["complete"])
                self.assertEqual(os.listdir(near), [])
                self.assertEqual(os.listdir(far), [])
                self.assert_nothing_left()


class Signalled(Interrupted):

    def check(self, kind, number, phase):
        finished = self.stop_in(phase, self.run_arguments(kind, 2), number)
        self.assertEqual(finished.code, 130, finished)
        self.assertIn("interrupted", finished.err)
        result = self.result()
        self.assertFalse(result["complete"])
        self.assertEqual(sum(len(one["samples"]) for one in result["measurements"]),
                         STEPS.index(phase))
        self.assert_nothing_left()
        self.filereel(*self.run_arguments(kind, 1))

    @needs("ext4")
    def test_sigint_on_ext4_ends_the_run_tidily(self):
        for phase in PHASES:
            with self.subTest(phase=phase):
                self.check("ext4", signal.SIGINT, phase)

    @needs("ntfs")
    def test_sigterm_on_ntfs_ends_the_run_tidily(self):
        for phase in PHASES if THOROUGH else ["copy-near"]:
            with self.subTest(phase=phase):
                self.check("ntfs", signal.SIGTERM, phase)

    @needs("ext4", "ntfs")
    def test_an_interrupted_run_without_targets_removes_its_images(self):
        running = self.start("run", "--scale", "0.01", "--json", "r.json")
        wait_until(lambda: running.ended() or self.steps_measured() >= 1, 60)
        running.kill(signal.SIGTERM)
        finished = running.finish()
        self.assertEqual(finished.code, 130, finished)
        self.assertFalse(self.result()["complete"])
        self.assertEqual(os.listdir(self.scratch), ["r.json"])
        self.assert_nothing_left()

    def test_an_interrupted_run_leaves_directories_empty_as_they_were(self):
        near, far = self.folder("near"), self.folder("far")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number.name):
                (self.scratch / "r.json").unlink(missing_ok=True)
                running = self.start("run", "--near", near, "--far", far, "--set",
                                     self.many_small_files(FILES), "--runs", "1000", "--json",
                                     "r.json")
                wait_until(lambda: running.ended() or self.steps_measured() >= 2, 60)
                running.kill(number)
                finished = running.finish()
                self.assertEqual(finished.code, 130, finished)
                self.assertFalse(self.result()["complete"])
                self.assertEqual(os.listdir(near), [])
                self.assertEqual(os.listdir(far), [])
                self.assert_nothing_left()

    def test_an_older_result_stays_where_nothing_was_measured(self):
        near, kept = self.folder("near"), self.scratch / "r.json"
        for attempt in range(TRIES):
            kept.write_text("older")
            running = self.start("run", "--near", near, "--set",
                                 self.many_small_files(FILES << attempt), "--operations", "create",
                                 "--runs", "1", "--json", kept)
            wait_until(lambda: running.ended() or (self.work_folder(near) / "original").exists(), 60, 0.001)
            running.kill(signal.SIGINT)
            if running.finish().code == 130:
                break
        else:
            self.fail(f"never interrupted in {TRIES} tries")
        self.assertEqual(kept.read_text(), "older")


if __name__ == "__main__":
    main()
