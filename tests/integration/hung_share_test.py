#!/usr/bin/env python3
"""A share whose server does not respond: what does not concern it does not wait for it, and what waits
says so. The share is one of sshfs, the server a process that is stopped for a while."""

import contextlib
import os
import select
import shutil
import signal
import subprocess
import threading
import time
import unittest

from support import IntegrationTest, call, main, needs, needs_share, wait_until

MIB = 1 << 20
PATIENCE = 30  # seconds, for what takes a few
UNCACHED = ["-o", "dir_cache=no"]  # or sshfs answers for the server
ATTRIBUTES_LAST = 1.2  # seconds: then the kernel asks the driver again


class Hung(IntegrationTest):

    memory = 500

    @contextlib.contextmanager
    def stopped(self):
        """The server stopped; it goes on in any case."""
        pid = int((self.scratch / "server.pid").read_text())
        late = threading.Timer(90, os.kill, [pid, signal.SIGCONT])
        late.start()
        os.kill(pid, signal.SIGSTOP)
        try:
            yield pid
        finally:
            late.cancel()
            os.kill(pid, signal.SIGCONT)

    def small_run(self, *arguments):
        return ["run", *arguments, "--set", self.many_small_files(5), "--runs", "1"]


@needs_share
class Others(Hung):
    """What does not concern the share."""

    def test_leases_on_it_hold_up_nothing(self):
        with self.share(options=UNCACHED) as (point, served):
            self.kill_run_on(point)
            (lease,) = self.leases()
            self.assertEqual(lease[0], "left")
            silent = f"on {point}, which does not respond"
            with self.stopped():
                listed = self.filereel("clean", "--list", timeout=PATIENCE)
                self.assertEqual(listed.out.split(),
                                 ["hung", "work", "directory", f"{lease[2]}:", *silent.split()])
                done = self.filereel(*self.small_run("--near", self.folder("local")),
                                     timeout=PATIENCE)
                self.assertEqual(done.err.count("does not respond"), 1, done)
                self.assertIn(f"leftovers of killed runs stay {silent}", done.err)
                self.assertIn(silent, self.filereel("clean", status=1, timeout=PATIENCE).out)
                self.filereel("populate", "set.yaml", "tree", timeout=PATIENCE)
            self.assertEqual(self.leases(), [lease])
            self.filereel("clean", timeout=PATIENCE)
            self.assertEqual(os.listdir(served), [])

    def test_nor_do_files_that_were_kept_on_it(self):
        with self.share(options=UNCACHED) as (point, _):
            self.filereel(*self.small_run("--near", point, "--keep"))
            self.assertEqual([state for state, _, _ in self.leases()], ["kept"])
            with self.stopped():
                listed = self.filereel("clean", "--list", timeout=PATIENCE)
                self.assertIn(f"{point}: on {point}, which does not respond", listed.out)
                done = self.filereel(*self.small_run("--near", self.folder("local")),
                                     timeout=PATIENCE)
                self.assertNotIn("respond", done.err)
            self.assertEqual([state for state, _, _ in self.leases()], ["kept"])

    def test_nor_one_by_a_link(self):
        with self.share(options=UNCACHED) as (point, _):
            self.kill_run_on(point)
            link = self.scratch / "link"
            link.symlink_to(point)
            for lease in os.scandir(self.state):
                with open(lease.path, "r+") as file:
                    text = file.read().replace(f"path {point}/", f"path {link}/")
                    file.seek(0)
                    file.truncate()
                    file.write(text)
            with self.stopped():
                self.assertIn(f"on {point}, which", self.filereel("clean", "--list",
                                                                  timeout=PATIENCE).out)

    @needs("ext4")
    def test_nor_processes_and_loop_devices_with_files_on_it(self):
        image = self.scratch / "drive"
        with open(image, "wb") as file:
            file.truncate(200 * MIB)
        with self.share(options=UNCACHED) as (point, _), contextlib.ExitStack() as stack:
            with open(point / "drive", "wb") as file:
                file.truncate(4 * MIB)
            stack.enter_context(self.loop(point / "drive"))
            device = stack.enter_context(self.loop(image))
            with open(point / "drive", "rb") as file:
                holder = subprocess.Popen(["sleep", "300"], stdin=file)
            stack.callback(holder.wait)
            stack.callback(holder.kill)
            time.sleep(ATTRIBUTES_LAST)
            with self.stopped():
                self.filereel(*self.small_run("--near", device, "--destroy", device, "--fs", "ext4"),
                              timeout=PATIENCE)

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_nor_does_a_recording_for_a_share_that_is_mounted_twice(self):
        with self.share(options=UNCACHED) as (point, _):
            other = self.folder("other")
            call("mount", "--bind", point, other)
            try:
                time.sleep(ATTRIBUTES_LAST)
                with self.stopped():
                    self.filereel("record", "-o", "a.reel", "--", "true", timeout=PATIENCE)
            finally:
                self.assertTrue(wait_until(lambda: subprocess.call(["umount", other]) == 0, 10, 0.05))


@needs_share
class Gone(Hung):
    """Leases whose files are gone."""

    def check(self, target, removed):
        self.filereel(*self.small_run("--near", target, "--keep"))
        self.assertEqual([state for state, _, _ in self.leases()], ["kept"])
        shutil.rmtree(removed)
        self.assertEqual([state for state, _, _ in self.leases()], ["gone"])
        self.filereel("clean")
        self.assertEqual(self.leases(), [])

    def test_are_deleted_by_the_next_command(self):
        self.check(self.folder("local"), self.scratch / "local")

    def test_are_deleted_on_a_share(self):
        with self.share() as (point, served):
            self.check(point / "new", served / "new")

    def test_are_kept_without_the_share_and_on_another_one(self):
        with self.share() as (point, served):
            self.filereel(*self.small_run("--near", point / "new", "--keep"))
        self.filereel("clean")
        self.assertEqual([state for state, _, _ in self.leases()], ["offline"])
        (self.scratch / "served").rename(self.scratch / "first")
        with self.share(host="127.0.0.2") as (point, _):
            self.filereel("clean")
            self.assertEqual([state for state, _, _ in self.leases()], ["offline"])
        shutil.rmtree(self.scratch / "served")
        (self.scratch / "first").rename(self.scratch / "served")
        with self.share() as (point, _):
            self.assertEqual([state for state, _, _ in self.leases()], ["kept"])
            shutil.rmtree(point / "new")
            self.filereel("clean")
        self.assertEqual(self.leases(), [])

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_are_kept_where_a_mount_point_is_missing(self):
        point = self.folder("stick")
        call("mount", "-t", "tmpfs", "tmpfs", point)
        try:
            self.filereel(*self.small_run("--near", point, "--keep"))
        finally:
            call("umount", point)
        point.rmdir()
        self.filereel("clean")
        self.assertEqual([state for state, _, _ in self.leases()], ["offline"])


@needs_share
class Unmounted(Hung):
    """A directory that should be a share, or the reverse."""

    def test_is_refused_by_the_history_of_a_share(self):
        local = self.folder("local")
        into = ["--history", self.scratch / "history", "--device", "My NAS", "--firmware", "1"]
        with self.share() as (point, _):
            self.filereel(*self.small_run("--near", point / "new", *into))
            self.filereel(*self.small_run("--near", point / "new", *into))
        for target in (point, local):
            done = self.filereel(*self.small_run("--near", target, *into), status=2)
            self.assertRegex(done.err, rf"was measured on \S*{self.scratch}/served, but {target} is not on a share")
        self.filereel(*self.small_run("--near", local, *into[:3], "Disk", *into[4:]))
        with self.share() as (point, _):
            done = self.filereel(*self.small_run("--near", point, *into[:3], "Disk", *into[4:]), status=2)
            self.assertRegex(done.err, "was measured on a drive, but .* is on a share")


@needs_share
class Waiting(Hung):
    """What waits for the share says so, and what ends it."""

    ABORT = r"('mount -t fusectl none /sys/fs/fuse/connections' and then )?'echo 1 > /sys/fs/fuse/connections/\d+/abort'"

    def read_line(self, running):
        """The next line that it writes to standard error."""
        readable, _, _ = select.select([running.process.stderr], [], [], PATIENCE)
        self.assertTrue(readable, "it says nothing")
        return running.process.stderr.readline().decode()

    def skip_until(self, running, word):
        while word not in (line := self.read_line(running)):
            self.assertNotEqual(line, "")
        return line

    def test_before_the_first_step(self):
        with self.share() as (point, _):
            with self.stopped():
                running = self.start(*self.small_run("--near", point))
                line = self.skip_until(running, "respond")
                self.assertRegex(line, rf"^filereel: {point} \(fuse.sshfs\) does not respond; .*{self.ABORT}")
            self.assertEqual(running.finish(PATIENCE).code, 0)

    def test_in_a_step_and_when_interrupted(self):
        with self.share() as (point, served):
            running = self.start("run", "--near", point, "--set", self.many_small_files(20000),
                                 "--runs", "1")
            wait_until(lambda: (self.work_folder(served) / "original").exists(), 60)
            with self.stopped():
                self.skip_until(running, f"{point} (fuse.sshfs) does not respond; waiting for it")
                for _ in range(2):
                    running.kill(signal.SIGINT)
                    line = self.skip_until(running, "interrupted")
                    self.assertRegex(line, rf"interrupted; {point} \(fuse.sshfs\) does not respond: "
                                           rf"filereel ends when it does, or after {self.ABORT}")
            self.assertEqual(running.finish(PATIENCE).code, 130)
            self.filereel("clean", timeout=PATIENCE)
            self.assertEqual(os.listdir(served), [])

    def test_of_populate(self):
        with self.share() as (point, _):
            with self.stopped():
                running = self.start("populate", self.many_small_files(5), point / "new")
                self.skip_until(running, f"{point} (fuse.sshfs) does not respond; waiting for it")
            self.assertEqual(running.finish(PATIENCE).code, 0)
            self.filereel("clean", timeout=PATIENCE)

    def test_a_removed_work_directory_is_named(self):
        with self.share() as (point, served):
            running = self.start("run", "--near", point, "--set", self.many_small_files(20000),
                                 "--runs", "1")
            wait_until(lambda: (self.work_folder(served) / "original").exists(), 60)
            work = self.work_folder(served).parent.name
            os.rename(served / work, self.scratch / "removed")  # at once
            done = running.finish(PATIENCE)
            self.assertEqual(done.code, 1, done)
            self.assertRegex(done.err, f"{point}/{work}[^ ]* was removed by another program during the run")
            for arguments in (["clean", "--list"], ["clean"]):
                listed = self.filereel(*arguments)
                self.assertNotIn("changed", listed.out + listed.err)
                self.assertNotIn("left", listed.out)


@needs_share
@unittest.skipUnless(os.geteuid() == 0, "needs root")
class Full(Hung):
    """sshfs says EIO or EPERM where the server is full."""

    def test_is_said_by_all_outputs_in_the_same_words(self):
        served = self.folder("served")
        call("mount", "-t", "tmpfs", "-o", "size=24M", "tmpfs", served)
        try:
            with self.share() as (point, _):
                size = "1 MiB"
                reel = self.write_set(f"name: big\ngroups:\n  - count: 10\n    size: {size}\n")
                running = self.start("run", "--near", point, "--set", reel, "--runs", "100", "--json",
                                     self.scratch / "r.json", "--html", self.scratch / "r.html")
                wait_until(lambda: (self.work_folder(served) / "original").exists(), 60)
                with open(served / "other", "wb", buffering=0) as file:  # also what a step frees
                    def fill():
                        with contextlib.suppress(OSError):
                            file.write(b"x" * MIB)
                        return running.ended()
                    wait_until(fill, 60)
                done = running.finish(PATIENCE)
            self.assertEqual(done.code, 1, done)
            words = ", and the volume has no free space"
            self.assertIn(f"error{words}; the volume is full: ", done.err)
            self.assertIn(words, " ".join(done.out.split()))
            self.assertNotIn("dmesg", done.out + done.err)
            result = self.result()
            errors = {call["error"] for one in result["measurements"] for sample in one["samples"]
                      for call in sample.get("failed_calls", [])}
            self.assertTrue(errors and all(one.endswith(words) for one in errors), errors)
        finally:
            call("umount", "-l", served)


if __name__ == "__main__":
    main()
