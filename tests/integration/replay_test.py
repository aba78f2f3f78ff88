"""Recorded programs through the command line: import, show, replay, compare."""

import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

from support import (FILEREEL, IntegrationTest, call, have, main, needs, tree_digests,
                     tree_shape, wait_until)

@unittest.skipUnless(have("strace", "tar"), "needs strace and tar")
class Replays(IntegrationTest):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.original = pathlib.Path(cls.base, "original")
        source = cls.original / "source"
        for i in range(8):
            folder = source / f"folder {i}"
            folder.mkdir(parents=True)
            for j in range(6):
                (folder / f"file {j}").write_bytes(os.urandom((i * 4099 + j * 1021) % 20000))
        (source / "link").symlink_to("folder 1/file 1")
        os.link(source / "folder 2" / "file 2", source / "hard link")
        call("tar", "cf", cls.original / "a.tar", "-C", source, ".")
        shutil.rmtree(source)
        (cls.original / "out").mkdir()
        call("strace", "-f", "-ttt", "-T", "-y", "-e", "trace=%file,%desc,%process,%memory", "-o",
             pathlib.Path(cls.base, "tar.strace"), "tar", "xf", "a.tar", "-C", "out",
             cwd=cls.original)
        cls.reel = pathlib.Path(cls.base, "tar.reel")
        call(FILEREEL, "import", pathlib.Path(cls.base, "tar.strace"), "-o", cls.reel, "--cwd",
             cls.original)

    def check_tree(self, target):
        there = tree_shape(str(target) + str(self.original))
        self.assertEqual(there, tree_shape(self.original))
        self.assertGreater(len(there), 50)

    def test_tar_leaves_the_tree_that_it_left_when_it_was_recorded(self):
        target = self.scratch / "target"
        for order in ("resource", "strict"):
            with self.subTest(order=order):
                done = self.filereel("replay", self.reel, target, "--verify", "tree", "--order",
                                     order, "--json", "r.json")
                self.check_tree(target)
                self.assertIn("the tree matches the trace", done.out)
                sample = self.result()["measurements"][0]["samples"][0]
                self.assertEqual(sample["tree"]["differences"], 0)
                self.assertEqual(sample["divergences"]["by_class"].get("mismatch", 0), 0, done)
                self.assertGreater(sample["course"]["intervals"], 0)

    def test_notices_of_runs_and_copies_are_only_where_they_apply(self):
        one, other = self.scratch / "one", self.scratch / "other"
        alone = self.filereel("run", self.reel, "--near", one, "--runs", "1")
        self.assertNotIn("a verdict at", alone.err)
        both = self.filereel("run", self.reel, "--near", one, "--against", other, "--runs", "1")
        self.assertIn("a verdict at", both.err)
        self.assertNotIn("copies to far", both.err)

    def test_a_difference_of_the_tree_fails_the_replay(self):
        torn = self.scratch / "torn.reel"
        torn.write_bytes(self.reel.read_bytes()[:-40])  # its end is found again
        target = self.scratch / "target"
        self.filereel("replay", torn, target, "--verify", "tree")
        self.check_tree(target)

    def test_a_torn_reel_says_so_and_replays_as_far_as_it_goes(self):
        whole = self.reel.read_bytes()
        torn = self.scratch / "torn.reel"
        torn.write_bytes(whole[:len(whole) - 20])
        shown = self.filereel("show", torn)
        self.assertIn("TRUNCATED", shown.out)
        done = self.filereel("replay", torn, self.scratch / "target")
        self.assertIn("trace-torn", done.out)

    def test_a_directory_that_was_replayed_on_is_cleared_by_the_next_replay(self):
        target = self.scratch / "target"
        self.filereel("replay", self.reel, target)
        self.filereel("replay", self.reel, target, "--verify", "tree")
        self.check_tree(target)

    def test_what_somebody_else_put_into_the_directory_stays_and_is_named(self):
        for place in (".", str(self.original)[1:] + "/out"):
            with self.subTest(place=place):
                target = self.folder(f"target-{len(place)}")
                self.filereel("replay", self.reel, target)
                (target / place / "mine").write_text("precious")
                before = tree_digests(target)
                refused = self.filereel("replay", self.reel, target, status=None)
                self.assert_refused(refused, 1, "mine", target)
                self.assertEqual(tree_digests(target), before)

    def test_a_directory_with_files_is_refused_and_left_alone(self):
        target = self.folder("target")
        (target / "mine").write_text("precious")
        before = tree_digests(target)
        refused = self.filereel("replay", self.reel, target, status=None)
        self.assert_refused(refused, 1, target, "empty")
        self.assertEqual(tree_digests(target), before)

    def test_remove_leaves_an_empty_directory(self):
        target = self.folder("target")
        self.filereel("replay", self.reel, target, "--remove")
        self.assertEqual(os.listdir(target), [])

    def test_several_clients_work_apart(self):
        target = self.scratch / "target"
        self.filereel("replay", self.reel, target, "--clients", "3", "--verify", "tree", "--runs",
                      "2", "--json", "r.json")
        self.assertEqual(sorted(os.listdir(target)), ["1", "2", "3"])
        for client in ("1", "2", "3"):
            self.check_tree(target / client)
        self.assertEqual(len(self.result()["measurements"][0]["samples"]), 2)

    def test_the_null_engine_needs_no_volume(self):
        done = self.filereel("replay", self.reel, "--engine", "null")
        self.assertIn("without a volume", done.out)

    @needs("ext4")
    def test_an_image_of_filereel_s_own_is_large_enough(self):
        self.filereel("replay", self.reel, f"image:{self.scratch}/a.img", "--verify", "tree",
                      "--json", "r.json")
        self.assert_nothing_left()
        self.assertEqual(self.result()["volumes"][0]["file_system"], "ext4")
        with self.mounted("ext4", self.scratch / "a.img") as point:
            self.check_tree(point)

    @needs("fat32")
    def test_links_on_fat32_are_counted_and_fail_the_replay(self):
        done = self.filereel("replay", self.reel, f"image:{self.scratch}/a.img,size=300M", "--fs",
                             "fat32", "--verify", "tree", "--json", "r.json", status=1)
        sample = self.result()["measurements"][0]["samples"][0]
        self.assertGreater(sample["divergences"]["by_class"].get("limit", 0), 0, done)
        self.assertGreater(sample["tree"]["left_out"], 0, done)

    def test_operations_are_shown_until_the_reader_goes(self):
        shown = subprocess.run(f"'{FILEREEL}' show '{self.reel}' --operations | head -3",
                               shell=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(shown.stderr, b"")
        self.assertEqual(len(shown.stdout.splitlines()), 3)

    def test_edited_reels_replay(self):
        self.filereel("repeat", self.reel, "--times", "2", "-o", "two.reel")
        self.filereel("anonymise", "two.reel", "-o", "hidden.reel")
        self.filereel("merge", "hidden.reel", self.reel, "--apart", "-o", "three.reel")
        self.filereel("replay", "three.reel", self.scratch / "target", "--verify", "tree")
        self.filereel("cut", self.reel, "--path", self.original / "out", "-o", "part.reel")
        self.filereel("replay", "part.reel", self.scratch / "part", "--verify", "tree")
        there = tree_shape(str(self.scratch / "part") + str(self.original / "out"))
        self.assertEqual(there, tree_shape(self.original / "out"))

    def test_exported_reels_are_not_empty(self):
        for form in ("fio", "jsonl", "chrome"):
            with self.subTest(format=form):
                self.filereel("export", self.reel, "--format", form, "-o", f"x.{form}")
                self.assertGreater((self.scratch / f"x.{form}").stat().st_size, 1000)


@unittest.skipUnless(have("strace"), "needs strace")
class Interruptions(IntegrationTest):

    def slow_reel(self):
        """Of a program that does little, and after a moment nearly nothing for a quarter of an hour."""
        def at(i):
            return 1.7e9 + (i * 0.02 if i < 10 else i)
        lines = [f"{at(i):.6f} openat(AT_FDCWD, \"/d/f{i}\", O_WRONLY|O_CREAT, 0644) = 3"
                 f" <0.000010>\n{at(i) + 0.001:.6f} close(3) = 0 <0.000010>\n"
                 for i in range(1000)]
        (self.scratch / "slow.strace").write_text("".join(lines))
        self.filereel("import", "slow.strace", "-o", "slow.reel")
        return "slow.reel"

    def test_an_interrupted_replay_keeps_what_was_measured_and_can_be_repeated(self):
        reel = self.slow_reel()
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number.name):
                target = self.scratch / number.name
                running = self.start("replay", reel, target, "--pace", "natural", "--json",
                                     "r.json")
                self.assertTrue(wait_until(lambda: (self.work_folder(target) / "d" / "f3").exists(),
                                           60))
                running.kill(number)
                finished = running.finish()
                self.assertEqual(finished.code, 130, finished)
                self.assertIn("interrupted", finished.err)
                self.assertFalse(self.result()["complete"])
                self.filereel("replay", reel, target, "--verify", "tree")
                self.assertEqual(len(os.listdir(target / "d")), 1000)

    def test_a_killed_replay_can_be_repeated(self):
        reel, target = self.slow_reel(), self.scratch / "target"
        running = self.start("replay", reel, target, "--pace", "natural")
        self.assertTrue(wait_until(lambda: (self.work_folder(target) / "d" / "f3").exists(),
                                           60))
        running.kill()
        running.finish()
        self.filereel("replay", reel, target, "--verify", "tree")

    def test_an_interrupted_import_leaves_nothing(self):
        os.mkfifo(self.scratch / "pipe")
        for pause in (0.1, 1, 10):  # the end of the pipe may be seen before the signal
            running = self.start("import", "pipe", "-o", "app.reel", "--format", "strace")
            with open(self.scratch / "pipe", "w") as pipe:
                for i in range(2000):
                    pipe.write(f'{i}.000000 stat("/f{i}", 0x1) = -1 ENOENT (No such file) '
                               "<0.000010>\n")
                pipe.flush()
                running.kill(signal.SIGINT)
                time.sleep(pause)
            finished = running.finish()
            if finished.code == 130:
                break
            (self.scratch / "app.reel").unlink(missing_ok=True)
        self.assertEqual(finished.code, 130, finished)
        self.assertEqual(sorted(os.listdir(self.scratch)), ["pipe"])


if __name__ == "__main__":
    main()
