"""Places that cannot take what they are named for: attributes, quotas, other programs that remove the
work, and outputs that are no regular files or have another format's suffix."""

import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import threading
import unittest

from support import FILEREEL, IntegrationTest, call, have, main, needs, wait_until

STEPS = ["--operations", "create,read,delete", "--runs", "1"]


class Attributes(IntegrationTest):

    @contextlib.contextmanager
    def attribute(self, letter, path):
        call("chattr", f"+{letter}", path)
        try:
            yield
        finally:
            call("chattr", f"-{letter}", path)

    @unittest.skipUnless(have("chattr"), "needs chattr")
    @needs("ext4")
    def test_a_protected_directory_is_refused_before_anything_is_measured(self):
        self.many_small_files(20)
        fileset = self.scratch / "set.yaml"
        with self.ext4_volume(64) as volume:
            target = volume / "target"
            target.mkdir()
            for letter, word in (("a", "append-only"), ("i", "immutable")):
                with self.attribute(letter, target):
                    for command in (["run", "--set", fileset, "--near", target, *STEPS],
                                    ["run", "--set", fileset, "--near", target / "new", *STEPS],
                                    ["populate", fileset, target],
                                    ["run", "--set", fileset, "--near", f"image:{target}/x.img", "--fs",
                                     "ext4", *STEPS],
                                    ["run", "--set", fileset, "--near", volume / "near", *STEPS,
                                     "--json", target / "r.json"],
                                    ["capture", self.folder("d"), "-o", target / "d.fileset"]):
                        with self.subTest(command, letter=letter):
                            done = self.filereel("-q", *command, status=None)
                            self.assert_refused(done, 1, target, word, f"chattr -{letter}")
                            self.assertEqual(done.out, "")
                self.assertEqual(os.listdir(target), [])
        self.assertEqual(self.leases(), [])


class Quotas(IntegrationTest):

    def refused_for_quota(self, volume):
        self.many_small_files(400, "256 KiB")  # 100 MB
        done = self.filereel("-q", "run", "--set", "set.yaml", "--near", volume, *STEPS, status=None)
        self.assert_refused(done, 1, "quota", "raise the quota")
        self.assertNotIn("volume is full", done.err)

    @contextlib.contextmanager
    def volume_of(self, kind, megabytes, options):
        image, point = self.scratch / "quota.img", self.folder("quota")
        with open(image, "wb") as file:
            file.truncate(megabytes << 20)
        call(f"mkfs.{kind}", "-q", image)
        with self.loop(image) as device:
            told = call("mount", "-t", kind, "-o", options, device, point, status=None)
            if not os.path.ismount(point):
                self.skipTest(f"needs a kernel with quotas for {kind}: {told.splitlines()[0]}")
            try:
                yield point
            finally:
                call("umount", "-l", point, status=None)
                wait_until(lambda: not os.path.ismount(point), 5)

    @needs("btrfs")
    def test_a_quota_group_of_btrfs_is_named(self):
        with self.volume_of("btrfs", 700, "rw") as volume:
            call("btrfs", "subvolume", "create", volume / "sub")
            call("btrfs", "quota", "enable", volume)
            call("btrfs", "qgroup", "limit", "30M", volume / "sub")
            self.refused_for_quota(volume / "sub")

    @unittest.skipUnless(have("xfs_quota"), "needs xfs_quota")
    @needs("xfs")
    def test_a_project_quota_of_xfs_is_named(self):
        with self.volume_of("xfs", 700, "prjquota") as volume:
            (volume / "sub").mkdir()
            call("xfs_quota", "-x", "-c", f"project -s -p {volume}/sub 42", volume)
            call("xfs_quota", "-x", "-c", "limit -p bhard=110m 42", volume)
            with open(volume / "sub" / "ballast", "wb") as file:
                file.write(bytes(5 << 20))
            self.many_small_files(400, "256 KiB")
            target = volume / "sub" / "target"
            for command in (["run", "--set", "set.yaml", "--near", target, *STEPS],
                            ["run", "--set", "set.yaml", "--near", f"image:{target}.img,size=200M", "--fs",
                             "ext4", *STEPS], ["populate", "set.yaml", target]):
                with self.subTest(command[0]):
                    done = self.filereel("-q", *command, status=None)
                    self.assert_refused(done, 1, "project quota", "raise the quota")

    @needs("btrfs")
    def test_an_output_beyond_a_quota_is_one_line(self):
        with self.volume_of("btrfs", 700, "rw") as volume:
            call("btrfs", "subvolume", "create", volume / "sub")
            call("btrfs", "quota", "enable", volume)
            call("btrfs", "qgroup", "limit", "16K", volume / "sub")
            done = self.filereel("-q", "capture", "/usr/include", "-o", volume / "sub" / "a.fileset",
                                 status=None)
            self.assert_refused(done, 1, "quota", "raise the quota")


class Removed(IntegrationTest):

    def start_run(self):
        self.many_small_files(400)
        self.folder("near")
        (self.scratch / "r.json").unlink(missing_ok=True)
        running = self.start("-q", "run", "--set", "set.yaml", "--near", "near", "--operations",
                             "create,read,copy-near", "--runs", "500", "--json", "r.json")
        self.assertTrue(wait_until(lambda: self.steps_measured() >= 2 or running.ended(), 60))
        return running

    def check_end(self, running, *words):
        done = running.finish()
        self.assertEqual(done.code, 1, done)
        self.assertEqual(len(done.err.splitlines()), 1, done)
        self.assertNotIn("dmesg", done.err)
        for word in words:
            self.assertIn(word, done.err)

    def test_a_work_directory_that_is_removed_is_named(self):
        running = self.start_run()
        work = self.work_folder(self.scratch / "near")
        while work.exists():
            shutil.rmtree(work, ignore_errors=True)
        self.check_end(running, "another program", work.name)
        self.assertEqual(os.listdir(self.scratch / "near"), [])

    def test_a_target_that_is_removed_renamed_or_replaced_is_named(self):
        near, moved = self.scratch / "near", self.scratch / "moved"
        running = self.start_run()
        os.rename(near, moved)
        self.check_end(running, "was renamed to", str(moved), "another program")
        os.rename(moved, near)
        running = self.start_run()
        os.rename(near, moved)
        near.mkdir()
        (near / "mine").touch()
        self.check_end(running, "was renamed to", "another program")
        self.assertEqual(os.listdir(near), ["mine"])

    def test_files_that_are_removed_in_the_work_are_another_programs_doing(self):
        running = self.start_run()
        work = self.work_folder(self.scratch / "near")
        while not running.ended():
            for name in ("original", "copy"):
                shutil.rmtree(work / name, ignore_errors=True)
        self.check_end(running, "another program")


@unittest.skipUnless(os.geteuid() == 0, "needs root")
class Missing(IntegrationTest):

    def setUp(self):
        super().setUp()
        self.many_small_files(20)
        # On the root file system.
        self.place = pathlib.Path(tempfile.mkdtemp(dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, self.place)
        if call("stat", "-c", "%m", self.place).strip() != "/":
            self.skipTest("/var/tmp is not on the root file system")

    def warned(self):
        done = self.filereel("run", "--set", "set.yaml", "--near", self.place / "data", *STEPS,
                            "--json", "r.json")
        self.assertIn("does not exist: it is created on the ", done.err)
        return [one["text"] for one in self.result()["warnings"] if one["code"] == "mount-missing"]

    def test_a_new_directory_in_place_of_a_mount_is_a_warning(self):
        [text] = self.warned()
        self.assertIn("data was created in an empty directory on the ", text)
        (self.place / "other").mkdir()
        self.assertEqual(self.warned(), [])
        call("mount", "-t", "tmpfs", "tmpfs", self.place / "other")
        try:
            [text] = self.warned()
            self.assertIn("data was created next to mount points on the ", text)
        finally:
            call("umount", self.place / "other")


class Streams(IntegrationTest):

    def shell(self, script, *words, status=0):
        done = subprocess.run(["bash", "-c", script, FILEREEL, *map(str, words)], cwd=self.scratch,
                              env=self.environment(), stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=120)
        self.assertEqual(done.returncode, status, done)
        return done

    def run_of(self, *options):
        self.many_small_files(20)
        return ["-q", "run", "--set", "set.yaml", "--near", "near", *STEPS, *options]

    def check_result(self, text):
        result = json.loads(text)  # one document
        self.assertTrue(result["complete"])
        self.assertEqual(len(result["measurements"]), 3)

    def test_a_result_goes_to_standard_output_by_any_name_once(self):
        for name in ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
            with self.subTest(name):
                self.check_result(self.shell('"$0" "$@"', *self.run_of("--json", name)).stdout)
                self.shell('"$0" "$@" | cat >piped', *self.run_of("--json", name))
                self.check_result((self.scratch / "piped").read_text())
                self.shell('"$0" "$@" >plain', *self.run_of("--json", name))
                self.check_result((self.scratch / "plain").read_text())

    def test_a_result_goes_to_a_substituted_process_or_a_pipe_once(self):
        self.shell('"$0" "$@" --json >(cat >seen; touch end) >table; while [ ! -e end ]; do sleep 0.05; done',
                   *self.run_of())
        self.check_result((self.scratch / "seen").read_text())
        self.assertIn("create", (self.scratch / "table").read_text())
        os.mkfifo(self.scratch / "pipe")
        seen = []
        reader = threading.Thread(target=lambda: seen.append((self.scratch / "pipe").read_text()))
        reader.start()
        self.shell('"$0" "$@"', *self.run_of("--json", "pipe"))
        reader.join(60)
        self.check_result(seen[0])
        self.assertTrue((self.scratch / "pipe").is_fifo())

    def test_pages_and_results_go_to_devices(self):
        self.shell('"$0" "$@"', *self.run_of("--json", "/dev/null", "--html", "/dev/null"))
        self.assertTrue(pathlib.Path("/dev/null").is_char_device())
        done = self.shell('"$0" "$@"', *self.run_of("--json", "r.json", "--html", "/dev/full"), status=1)
        self.assertIn("No space left on device", done.stderr)

    def test_every_command_that_writes_a_file_writes_streams(self):
        (self.folder("d") / "a").write_text("x")
        self.shell('"$0" "$@"', *self.run_of("--json", "r.json"))
        self.shell('"$0" -q record -o /dev/stdout -- true >a.reel')
        for command, name in (("record -o {} -- true", "b.reel"), ("cut a.reel -o {}", "c.reel"),
                              ("merge a.reel a.reel --apart -o {}", "d.reel"),
                              ("repeat a.reel --times 2 -o {}", "e.reel"),
                              ("anonymise a.reel -o {}", "f.reel"), ("capture d -o {}", "g.fileset"),
                              ("export a.reel --format jsonl -o {}", "h.jsonl"),
                              ("report r.json -o {}", "i.html"), ("report r.json --csv {}", "j.csv"),
                              ("report r.json --markdown {}", "k.md"),
                              ("compare r.json r.json --json {}", "l.json"),
                              ("compare r.json r.json --junit {}", "m.xml")):
            for to in ("/dev/stdout", "-"):
                with self.subTest(command, to=to):
                    self.shell(f'"$0" -q {command.format(to)} | cat >{name}')
                    self.assertGreater((self.scratch / name).stat().st_size, 0)
            with self.subTest(command, to="substituted"):
                self.shell(f'"$0" -q {command.format(">(cat >other; touch end)")} >out; '
                           "while [ ! -e end ]; do sleep 0.02; done; rm end")
                self.assertEqual((self.scratch / "other").stat().st_size > 0, True)
            if name.endswith(".reel"):
                self.filereel("show", name)
        self.filereel("populate", "g.fileset", "made")
        self.assertEqual((self.scratch / "made/a").stat().st_size, 1)

    def test_what_cannot_be_written_is_refused_before_any_work(self):
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(str(self.scratch / "socket"))
        os.symlink("loop", self.scratch / "loop")
        self.folder("folder")
        for name, word in (("socket", "is a socket"), ("loop", "symbolic link"), ("folder", "is a directory"),
                           ("/dev/fd/77", "descriptor 77 is not open")):
            with self.subTest(name):
                done = self.filereel(*self.run_of("--json", name), status=None)
                self.assert_refused(done, 1, name, word)
                self.assertFalse((self.scratch / "near").exists())


class Suffixes(IntegrationTest):

    def test_the_suffix_of_another_format_is_refused_before_any_work(self):
        self.folder("d")
        self.many_small_files(5)
        self.filereel("record", "-o", "a.reel", "--", "true")
        run = ["run", "--set", "set.yaml", "--near", "near"]
        for command, own in ((["capture", "d", "-o", "x.yaml"], ".fileset"),
                             (["capture", "d", "-o", "x.YML"], ".fileset"),
                             (["capture", "d", "-o", "x.fls"], ".fileset"),
                             (["capture", "d", "-o", "x.json"], ".fileset"),
                             (["record", "-o", "x.yaml", "--", "touch", "made"], ".reel"),
                             (["record", "-o", "x.fileset", "--", "touch", "made"], ".reel"),
                             (["import", "no.log", "-o", "x.json"], ".reel"),
                             (["cut", "a.reel", "-o", "x.yaml"], ".reel"),
                             (["merge", "a.reel", "-o", "x.html"], ".reel"),
                             (["repeat", "a.reel", "--times", "2", "-o", "x.csv"], ".reel"),
                             (["anonymise", "a.reel", "-o", "x.fileset"], ".reel"),
                             (["export", "a.reel", "--format", "chrome", "-o", "x.reel"], ".json"),
                             (["export", "a.reel", "--format", "fio", "-o", "x.yaml"], ".fio"),
                             ([*run, "--json", "x.html"], ".json"), ([*run, "--html", "x.json"], ".html"),
                             ([*run, "--live-json", "x.csv"], ".jsonl"),
                             ([*run, "--against", "f", "--against-json", "x.reel"], ".json"),
                             (["predict", "a.reel", "near", "--json", "x.md"], ".json"),
                             (["report", "r.json", "-o", "x.md"], ".html"),
                             (["report", "r.json", "--csv", "x.json"], ".csv"),
                             (["report", "r.json", "--markdown", "x.html"], ".md"),
                             (["compare", "r.json", "r.json", "--json", "x.xml"], ".json"),
                             (["compare", "r.json", "r.json", "--junit", "x.json"], ".xml")):
            with self.subTest(command):
                done = self.filereel(*command, status=None)
                self.assert_refused(done, 2, "is the suffix of", f"use {own}")
                self.assertEqual(sorted(os.listdir(self.scratch)), ["a.reel", "d", "set.yaml"])

    def test_names_without_a_known_suffix_are_accepted_and_can_be_used(self):
        (self.folder("d") / "f").write_text("x")
        for name in ("tree", "tree.backup"):
            with self.subTest(name):
                self.filereel("capture", "d", "-o", name)
                self.filereel("populate", name, f"made-{name}")
                self.filereel("record", "-o", f"reel-{name}", "--", "true")
                self.filereel("show", f"./reel-{name}")


if __name__ == "__main__":
    main()
