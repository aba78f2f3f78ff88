"""filereel record, from the outside: how it begins and ends, what it says and returns."""

import json
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import unittest

from support import (FILEREEL, THOROUGH, IntegrationTest, call, find, have, main, no_bpf, tree_shape,
                     wait_until)

NO_BPF = no_bpf()
SMALL = 64_000_000  # bytes, the least that --memory takes
LONGER = ("300 ms", "1 s", "5 s", "20 s")  # until a machine that is busy has done something, too


CALLS = pathlib.Path(os.environ.get("CALLS", "calls"))

# Fills the recorder's ring, then makes events of each kind that are lost.
LOSSES = """
import mmap, os, socket, sys, threading, time
with open("file", "wb") as file:
    file.write(bytes(1 << 20))
one = os.open("file", os.O_RDONLY)
there, here = socket.socketpair()
open("begun", "w").close()
while not os.path.exists("go"):
    time.sleep(0.01)
for i in range(200000):
    os.posix_fadvise(one, i, 4096, os.POSIX_FADV_RANDOM)
threads = [threading.Thread(target=time.sleep, args=(0.2,)) for _ in range(3)]
for thread in threads:
    thread.start()
os.mkdir("made")
os.rename("made", "moved")
os.read(one, 100)
with open("file", "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as pages:
    sum(pages[at] for at in range(0, 1 << 20, 4096))
passer = os.open("file", os.O_RDONLY)
for thread in threads:
    thread.join()
for _ in range(3):
    child = os.fork()
    if child == 0:
        os.execvp("true", ["true"])
    os.waitpid(child, 0)
if os.path.exists(sys.argv[1]):
    os.mkdir("ring")
    child = os.fork()
    if child == 0:
        os.execv(sys.argv[1], [sys.argv[1], "ring"])
    os.waitpid(child, 0)
open("done", "w").close()
while not os.path.exists("end"):
    time.sleep(0.01)
"""


class Recording:
    """What holds for both recorders."""

    def record(self, *arguments, **options):
        return self.filereel("record", "--backend", self.BACKEND, "-o", "app.reel", *arguments, **options)

    def operations(self, reel="app.reel"):
        return self.filereel("show", reel, "--operations").out.splitlines()

    def summary(self, reel="app.reel"):
        return self.filereel("show", reel).out

    def starts(self, *arguments, grace=None):
        """A recording that has begun; programs that are to end have the time `grace`."""
        options = ["--grace", grace] if grace else []
        running = self.start("record", "--backend", self.BACKEND, "-o", "app.reel", *options,
                             *arguments)
        self.addCleanup(lambda: [os.kill(pid, signal.SIGKILL) for pid in running.children()])
        return running

    def wait_for(self, name):
        self.assertTrue(wait_until((self.scratch / name).exists, 60), f"{name} was not made")

    def ticking(self, *trap):
        """A shell that says in a file that it runs, and goes on until it is ended."""
        return ["sh", "-c", "".join(trap) + "touch begun; while :; do echo tick >>ticks; "
                "sleep 0.02; done"]

    def replays(self, *folders):
        """The reel, done again below a fresh folder, makes equal trees."""
        self.filereel("replay", "app.reel", self.folder("again"), "--verify", "tree")
        for folder in folders:
            there = tree_shape(f"{self.scratch}/again{folder}")
            self.assertEqual(there, tree_shape(folder))
            self.assertTrue(there)

    def test_a_script_and_its_children_replay_to_an_equal_tree(self):
        work = self.folder("work")
        done = self.record("--", "sh", "-c", "cd work; mkdir a b; echo one >a/one; cp a/one b/two; "
                           "mv b/two b/three; ln -s ../a/one b/link; cat b/link >>b/three; rm a/one")
        self.assertEqual(done.out, "")
        self.assertIn("recording with " + self.SAID, done.err)
        self.assertIn("app.reel: ", done.err)
        self.replays(work)

    def test_a_pipe_orders_the_replay(self):
        """The reader continues after the writer's work, at any pace."""
        if self.BACKEND != "bpf":
            self.skipTest("strace does not record waits")
        work = self.folder("work")
        self.record("--", "sh", "-c", "cd work; (i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done; "
                    "echo one >first; echo go) | (read word; echo two >second)")
        lines = self.operations()
        first = next(i for i, line in enumerate(lines) if "path=" in line and "/first" in line)
        second = next(i for i, line in enumerate(lines) if "path=" in line and "/second" in line)
        self.assertTrue(any(" wake " in line for line in lines[first:second]), lines)
        self.assertTrue(any(" wait flags=0x0 " in line for line in lines[first:second]), lines)
        self.assertRegex(self.summary(), "waits +recorded")
        self.replays(work)
        self.filereel("replay", "app.reel", self.folder("paced"), "--pace", "think", "--runs", "1",
                      "--verify", "tree", "--json", "r.json")
        sample = self.result()["measurements"][0]["samples"][0]
        self.assertGreater(sample["cpu_user_s"], 0.02)  # the loop of the writer

    def test_the_command_of_a_script_is_the_given_one(self):
        script = self.scratch / "script"
        script.write_text("#!/usr/bin/env sh\nexec true\n")
        script.chmod(0o755)
        for _ in range(3):  # the process shows its interpreter sooner or later
            self.record("--", "./script", "a b")
            self.assertRegex(self.summary(), r"command +\./script a b\n")

    def test_tar_replays_to_an_equal_tree(self):
        source, out = self.folder("source"), self.folder("out")
        for i in range(300):
            (source / f"{i}").write_bytes(b"x" * (i * 37))
        with tarfile.open(self.scratch / "a.tar", "w") as archive:
            archive.add(source, "in")
        self.record("--", "tar", "xf", "a.tar", "-C", "out")
        self.replays(out)
        self.assertNotIn("lost", self.summary())

    def terminal(self):
        """A terminal as programs have it, and its other end."""
        ends = pty.openpty()[::-1]
        for one in ends:
            self.addCleanup(os.close, one)
        return ends

    def record_on(self, ends, *arguments):
        """What the terminal got that filereel's standard output and error are."""
        terminal, other_end = ends
        command = [FILEREEL, "record", "--backend", self.BACKEND, "-o", "app.reel", *arguments]
        subprocess.run([*map(str, command)], cwd=self.scratch, env=self.environment(), check=True,
                       stdin=subprocess.DEVNULL, stdout=terminal, stderr=terminal, timeout=60)
        os.set_blocking(other_end, False)
        return os.read(other_end, 1 << 16).decode().replace("\r\n", "\n")

    def test_a_program_on_the_same_terminal_prints_as_without_recording(self):
        text = self.record_on(self.terminal(), "--", "sh", "-c",
                              "for i in 1 2 3; do echo out $i; sleep 0.1; echo err $i >&2; done; "
                              "printf per; sleep 0.3; echo haps")
        self.assertNotIn("\033", text)
        # The program may have begun to print when it is said by what it is recorded.
        remark, = re.findall("recording with .*\n", text)
        self.assertTrue(text.replace(remark, "").startswith(
            "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\nperhaps\napp.reel: "), text)

    def test_a_process_on_the_same_terminal_prints_as_without_recording(self):
        ends = self.terminal()
        text = self.record_on(ends, "--pid", self.other(stderr=ends[0]).pid, "--duration", "300 ms")
        self.assertNotIn("\033", text)
        self.assertIn("\napp.reel: ", text)

    def test_a_line_of_progress_is_drawn_for_a_process_that_writes_elsewhere(self):
        text = self.record_on(self.terminal(), "--pid", self.other().pid, "--duration", "300 ms")
        self.assertRegex(text, r"\r\033\[K[^\n]* operations ")
        self.assertIn("\r\033[Kapp.reel: ", text)

    def test_what_the_program_prints_is_all_that_is_on_standard_output(self):
        done = self.record("--", "printf", "x\\0y")
        self.assertEqual(done.out, "x\0y")
        self.assertEqual(self.record("-q", "--", "true").err, "")

    def test_standard_input_is_the_programs(self):
        (self.scratch / "input").write_text("from here\n")
        with open(self.scratch / "input") as stdin:
            done = subprocess.run([FILEREEL, "record", "-q", "--backend", self.BACKEND, "-o", "a.reel",
                                   "--", "cat"], cwd=self.scratch, stdin=stdin,
                                  capture_output=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (0, b"from here\n"))
        self.assertTrue([line for line in self.operations("a.reel")
                         if f"path={str(self.scratch)[1:]}/input " in line])

    def test_the_program_has_the_signals_blocked_that_we_had(self):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGINT})
        self.addCleanup(signal.pthread_sigmask, signal.SIG_UNBLOCK, {signal.SIGUSR1, signal.SIGINT})
        done = self.record("--", "grep", "SigBlk", "/proc/self/status")
        blocked = 1 << signal.SIGUSR1 - 1 | 1 << signal.SIGINT - 1
        self.assertEqual(int(done.out.split()[1], 16), blocked)

    def test_calls_with_bad_pointers_and_descriptors_are_counted_by_name(self):
        calls = ("import ctypes, os; c = ctypes.CDLL(None); f = os.open('/etc/passwd', os.O_RDONLY)\n"
                 "a, b = os.pipe(); os.write(b, b'x')\n"
                 "bad, null, n = ctypes.c_void_p(8), ctypes.c_void_p(0), ctypes.c_size_t(5)\n"
                 "for i in range(7):\n"
                 "  c.unlink(bad); c.openat(-5, b'x', 0); c.rename(b'x', bad); c.write(f, b'x', n)\n"
                 "  c.pread(f, bad, n, ctypes.c_long(0)); c.read(a, bad, n); c.close(-1)\n")
        done = self.record("--", sys.executable, "-c", calls)
        reason = "calls with a bad pointer or descriptor: "
        self.assertEqual(sorted(re.findall(reason + r"(\w+ \(\d+\))", done.err)),
                         [f"{name} (7)" for name in ("openat", "pread64", "rename", "unlink", "write")])

    def test_calls_that_are_not_followed_are_counted_by_name(self):
        calls = ("import ctypes, fcntl, os, resource, socket; c = ctypes.CDLL(None)\n"
                 "f = os.open('file', os.O_RDWR | os.O_CREAT)\n"
                 "fcntl.ioctl(f, 0x40086602, b'\\0' * 8)\n"  # FS_IOC_SETFLAGS
                 "fcntl.ioctl(f, 0x80086601, b'\\0' * 8)\n"  # FS_IOC_GETFLAGS
                 "os.mkdir('folder')\n"
                 "d = c.syscall(428, -100, b'folder', 1)\n"  # open_tree, OPEN_TREE_CLONE
                 "if d >= 0: os.close(os.open('x', os.O_CREAT | os.O_WRONLY, dir_fd=d))\n"
                 "resource.setrlimit(resource.RLIMIT_CORE, (1 << 20, 1 << 20))\n"
                 "os.abort()\n")
        done = self.record("--", sys.executable, "-c", calls)
        self.assertIn("unsupported system calls: ioctl FS_IOC_SETFLAGS (1)", done.err)
        if os.geteuid() == 0:
            self.assertIn("unsupported system calls: open_tree (1)", done.err)
            self.assertIn("calls through descriptors of unsupported system calls (1)", done.err)
        pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text()
        if not pattern.startswith("|"):
            self.assertIn("core dumps (1)", done.err)

    def test_the_reel_is_named_after_the_program(self):
        self.filereel("record", "--backend", self.BACKEND, "--", "/bin/echo", "a")
        self.assertTrue((self.scratch / "echo.reel").exists())

    def test_links_that_were_there_before_are_known(self):
        (self.folder("real") / "file").write_text("x")
        (self.scratch / "link").symlink_to("real")
        time.sleep(0.05)
        self.record("--", "sh", "-c", f"test -e {self.scratch}/link/file; touch link/new")
        lines = [line for line in self.operations() if "/real/file" in line]
        self.assertTrue(lines)
        self.assertFalse([line for line in self.operations() if "/link/" in line])

    def test_a_program_that_does_not_exist_is_an_error_and_leaves_nothing(self):
        done = self.record("--", "no-such-program", status=None)
        self.assert_refused(done, 1, "no-such-program", "No such file", "PATH")
        (self.scratch / "text").write_text("#!/bin/sh\n")
        done = self.record("--", "./text", status=None)
        self.assert_refused(done, 1, "./text", "Permission denied", "chmod +x")
        self.assertEqual([path.name for path in self.scratch.iterdir()], ["text"])

    def test_a_recording_begins_with_the_exec_that_succeeds(self):
        self.folder("empty")
        env = self.environment(PATH=f"{self.scratch}/empty:{os.environ['PATH']}")
        self.record("--", "true", env=env)
        lines = [line for line in self.operations() if " exec " in line]
        self.assertEqual(len(lines), 1, lines)
        self.assertNotIn("/empty", "\n".join(self.operations()))

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_a_full_disk_is_an_error_that_says_whether_the_program_goes_on(self):
        disk = self.folder("disk")
        call("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk)
        self.addCleanup(call, "umount", disk)
        done = self.filereel("record", "--backend", self.BACKEND, "-q", "-o", "disk/a.reel", "--",
                             sys.executable, "-c", """
import os, time
os.closerange(0, 3)
open("pid", "w").write(str(os.getpid()))
for i in range(40000):
    try:
        os.stat(os.urandom(16).hex())
    except OSError:
        pass
time.sleep(600)
""", status=None)
        os.kill(int((self.scratch / "pid").read_text()), signal.SIGKILL)
        self.assert_refused(done, 1, "No space left", "continues unrecorded")
        self.assertEqual(list(disk.iterdir()), [])

    def check_little_memory(self, path, count, processes=1, wrap=()):
        """Of processes that ask for a path, an expression in `i` for which no file is there, each
        call is in the reel or counted as lost, and the recording takes no more than --memory."""
        program = f"""
import os
children = []
while len(children) < {processes} - 1:
    children.append(os.fork())
    if not children[-1]:
        children.clear()
        break
for i in range({count}):
    try:
        os.stat({path})
    except OSError:
        pass
for child in children:
    os.waitpid(child, 0)
os._exit(0)
"""
        watch = """
import os, subprocess, sys
status, used = os.wait4(subprocess.Popen(sys.argv[1:]).pid, 0)[1:]
open("most", "w").write(str(used.ru_maxrss * 1024))
sys.exit(os.waitstatus_to_exitcode(status))
"""
        self.record("--memory", SMALL, "--", sys.executable, "-c", program,
                    wrap=[*wrap, sys.executable, "-c", watch])
        self.assertLess(int((self.scratch / "most").read_text()), SMALL)
        recorded = [line for line in self.operations() if " stat " in line and "/nowhere" in line]
        lost = json.loads(self.filereel("show", "app.reel", "--json").out)["lost"]
        counts = [lost[reason] for reason in lost if re.fullmatch("events lost.*: (newf)?stat(at)?", reason)]
        print(len(recorded), "recorded,", lost, flush=True)
        self.assertEqual(len(recorded) + sum(counts), count * processes)
        self.assertGreater(len(recorded), 0)
        self.assertGreater(sum(counts), 0)

    def test_names_beyond_the_memory_are_counted(self):
        self.check_little_memory("f'nowhere{i:0240}'", 30000)
        self.assertIn("not in the trace: events lost for lack of memory (--memory): ",
                      " ".join(self.summary().split()))

    def test_bad_usage_is_refused_in_one_line(self):
        for words, said in [((), "--pid"), (("--pid", os.getpid(), "--", "true"), "--pid"),
                            (("--duration", "5", "--", "true"), "unit"),
                            (("--under", "nowhere", "--", "true"), "nowhere")]:
            done = self.filereel("record", "--backend", self.BACKEND, *words, status=None)
            self.assertIn(done.code, [1, 2, 3])
            self.assert_refused(done, done.code, said)

    def test_a_process_that_does_not_exist_is_an_error(self):
        ended = subprocess.Popen(["true"])
        ended.wait()
        self.assert_refused(self.record("--pid", ended.pid, status=None), 1, ended.pid)

    def test_a_failure_of_the_program_is_told_and_passed_on_if_asked_for(self):
        done = self.record("--", "sh", "-c", "exit 7")
        self.assertIn("sh exited with 7", done.err)
        self.record("--exit-code", "--", "sh", "-c", "exit 7", status=7)
        self.assertIn("killed by signal 9", self.record("--", "sh", "-c", "kill -9 $$").err)
        self.record("--exit-code", "--", "sh", "-c", "kill -9 $$", status=137)
        self.record("--exit-code", "--", "true", status=0)
        self.assertTrue(self.operations())

    def test_a_duration_ends_the_program(self):
        done = self.record("--duration", "1 s", "--grace", "10min", "--", *self.ticking())
        self.assertNotIn("killed", done.err)
        ticks = (self.scratch / "ticks").read_text()
        time.sleep(0.1)
        self.assertEqual((self.scratch / "ticks").read_text(), ticks)
        self.assertIn("path=" + str(self.scratch)[1:] + "/ticks", "\n".join(self.operations()))

    def test_a_duration_does_not_hold_up_a_program_that_ends_before(self):
        self.record("--duration", "1 h", "--", "true")

    def test_an_interrupted_program_leaves_a_whole_reel(self):
        running = self.starts("--", *self.ticking())
        self.wait_for("ticks")
        running.kill(signal.SIGINT)
        done = running.finish()
        self.assertEqual(done.code, 130, done)
        self.assertIn("/ticks", "\n".join(self.operations()))
        self.assertNotIn("TRUNCATED", self.summary())

    @unittest.skipUnless(have("nohup"), "needs nohup")
    def test_a_hangup_that_is_ignored_ends_nothing(self):
        running = self.start("record", "--backend", self.BACKEND, "-o", "app.reel", "--", "sh", "-c",
                             "touch begun; until test -e go; do sleep 0.02; done; echo a >late",
                             wrap=["nohup"])
        self.wait_for("begun")
        running.kill(signal.SIGHUP)
        time.sleep(0.1)
        (self.scratch / "go").touch()
        self.assertEqual(running.finish().code, 0)
        self.assertIn("/late", "\n".join(self.operations()))

    def test_a_program_that_ends_tidily_when_interrupted_is_no_failure(self):
        running = self.starts("--", *self.ticking("trap 'echo bye >bye; exit 0' TERM; "))
        self.wait_for("ticks")
        running.kill(signal.SIGTERM)
        self.assertEqual(running.finish().code, 0)
        self.assertIn("/bye", "\n".join(self.operations()))

    def test_a_program_that_does_not_end_goes_on_and_that_is_told(self):
        # Its end of the pipes would keep this test waiting.
        closing = "exec >/dev/null 2>&1; trap '' TERM; "
        running = self.starts("--exit-code", "--", *self.ticking(closing), grace="500ms")
        self.wait_for("ticks")
        program, = [pid for pid in running.children() if self.runs(pid) == "sh"]
        self.addCleanup(os.kill, program, signal.SIGKILL)
        running.kill(signal.SIGINT)
        done = running.finish()
        self.assertEqual(done.code, 130, done)
        self.assertIn("sh continues unrecorded", done.err)
        self.assertIn("/ticks", "\n".join(self.operations()))
        size = (self.scratch / "ticks").stat().st_size
        self.assertTrue(wait_until(lambda: (self.scratch / "ticks").stat().st_size > size, 60))

    def test_a_program_that_is_stopped_ends_too(self):
        running = self.starts("--", "sh", "-c", "echo $$ >stopped; kill -STOP $$; echo a >on",
                              grace="10min")
        self.wait_for("stopped")
        time.sleep(0.3)
        running.kill(signal.SIGINT)
        done = running.finish()
        self.assertEqual(done.code, 130, done)
        self.assertNotIn("goes on", done.err)

    def test_children_that_outlive_the_program_are_recorded_to_their_end(self):
        self.record("--", "sh", "-c", "(sleep 0.3; echo late >late) &")
        self.assertIn("/late", "\n".join(self.operations()))

    def other(self, **options):
        """A Python program that was there before, with a file open at a position."""
        (self.scratch / "old").write_text("0123456789" * 1000)
        program = subprocess.Popen([sys.executable, "-c", """
import os, threading, time
old = open("old", "rb", buffering=0)
old.read(250)
def work():
    while True:
        open("made", "ab").write(b"x")
        time.sleep(0.02)
threading.Thread(target=work).start()
while True:
    old.read(1)
    time.sleep(0.02)
"""], cwd=self.scratch, **options)

        def stop():
            program.kill()
            program.wait()
        self.addCleanup(stop)
        self.wait_for("made")
        return program

    def test_a_running_process_is_recorded_and_goes_on(self):
        program = self.other()
        for duration in LONGER:
            done = self.record("--pid", program.pid, "--duration", duration)
            self.assertEqual(done.code, 0)
            self.assertIn("was running before the recording", " ".join(done.err.split()))
            self.assertIsNone(program.poll())
            with open(f"/proc/{program.pid}/status") as status:
                self.assertIn("TracerPid:\t0\n", status.read())
            size = (self.scratch / "made").stat().st_size
            self.assertTrue(wait_until(lambda: (self.scratch / "made").stat().st_size > size, 60))
            lines = self.operations()
            offsets = [int(line.split("offset=")[1].split()[0]) for line in lines
                       if " read " in line and "length=1 " in line]
            made = [line for line in lines if "/made" in line]
            if offsets and made:
                break
        self.assertTrue(made)
        self.assertTrue(offsets)
        self.assertGreaterEqual(offsets[0], 250)
        self.assertLess(offsets[-1], 10000)

    def test_the_shell_that_filereel_runs_in_is_recorded_without_filereel(self):
        script = (f'("$0" record --backend {self.BACKEND} -o app.reel --pid $$ --duration 500ms; '
                  "touch over) & until test -e over; do echo a >a; sleep 0.02; done; wait")
        self.filereel(wrap=["sh", "-c", script])
        text = "\n".join(self.operations())
        self.assertIn(f"path={str(self.scratch)[1:]}/a ", text)
        self.assertNotIn("app.reel", text)

    def test_the_recording_of_a_process_ends_with_ctrl_c(self):
        program = self.other()
        for pause in (0.5, 2, 20):  # it may not even have begun
            running = self.starts("--pid", program.pid)
            time.sleep(pause)
            running.kill(signal.SIGINT)
            code = running.finish().code
            self.assertIsNone(program.poll())
            if code == 0 and self.operations():
                break
        self.assertEqual(code, 0)
        self.assertTrue(self.operations())

    def test_a_program_goes_on_when_filereel_is_killed(self):
        # The program does nearly nothing but vfork: who follows it must let go of parent and child.
        forking = "while :; do for i in 1 2 3 4 5 6 7 8; do ./none; done 2>&-; echo tick >>ticks; done"
        for attempt in range(5 if THOROUGH else 2):
            running = self.starts("--", "sh", "-c", forking)
            self.wait_for("ticks")
            time.sleep(0.01 * attempt)
            program, = [pid for pid in running.children() if self.runs(pid) == "sh"]
            try:
                running.kill(signal.SIGKILL)
                running.process.wait()
                size = (self.scratch / "ticks").stat().st_size
                goes_on = wait_until(lambda: (self.scratch / "ticks").stat().st_size > size + 10, 60)
                self.assertTrue(goes_on, self.state_of(program))
            finally:
                os.kill(program, signal.SIGKILL)
            self.assertFalse((self.scratch / "app.reel").exists())
            (self.scratch / "ticks").unlink()

    @staticmethod
    def state_of(pid):
        with open(f"/proc/{pid}/status") as status:
            return "".join(line for line in status if line.startswith(("State", "Tracer", "Sig", "Shd")))

    @staticmethod
    def runs(pid):
        with open(f"/proc/{pid}/comm") as name:
            return name.read().strip()

    def test_only_what_touches_a_directory(self):
        self.folder("in"), self.folder("out")
        self.record("--under", "in", "--", "sh", "-c", "echo a >in/a; echo b >out/b")
        text = "\n".join(self.operations())
        self.assertIn("/in/a", text)
        self.assertNotIn("/out/b", text)


@unittest.skipUnless(have("strace"), "needs strace")
class RecordingByStrace(Recording, IntegrationTest):
    BACKEND, SAID = "strace", "strace"

    def test_the_program_has_one_processor_or_all(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("there is one processor")
        self.assertEqual(self.record("--", "nproc").out, "1\n")
        self.assertNotEqual(self.record("--all-processors", "--", "nproc").out, "1\n")


@unittest.skipIf(NO_BPF, NO_BPF)
class RecordingByBpf(Recording, IntegrationTest):
    BACKEND, SAID = "bpf", "BPF"

    @unittest.skipUnless(have("cc"), "needs cc")
    def test_a_burst_of_small_calls_loses_nothing_whatever_else_runs(self):
        burst, peers = self.scratch / "burst", pathlib.Path(__file__).parents[1] / "peers"
        call("cc", "-O2", "-pthread", "-o", burst, peers / "burst.c")
        for crowd in (0, os.cpu_count()):
            others = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(crowd)]
            try:
                self.record("--", burst, "file", "150000")
            finally:
                for other in others:
                    other.kill()
                    other.wait()
            known = json.loads(self.filereel("show", "app.reel", "--json").out)
            self.assertEqual(known.get("lost", {}), {})
            self.assertGreaterEqual(known["operations"], 300000)

    def test_a_burst_beyond_the_memory_is_counted(self):
        self.check_little_memory("'nowhere' + '/' * 4000", 100000)

    @unittest.skipUnless(os.geteuid() == 0 and have("setpriv"), "needs root and setpriv")
    def test_a_burst_that_is_faster_than_the_recorder_is_counted(self):
        # As in a container without CAP_SYS_NICE: the recorder has no priority over its programs.
        self.check_little_memory(
            "'nowhere' + '/' * 4000", 100000, processes=2,
            wrap=["setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice"])

    def test_lost_events_of_every_kind_are_counted_as_what_they_are(self):
        # The recorder is stopped, so that its ring is full before one event of each kind.
        program = self.scratch / "program.py"
        program.write_text(LOSSES)
        running = self.starts("--memory", "64MB", "--", sys.executable, "-S", program,
                              CALLS / "uring_data")
        self.wait_for("begun")
        os.kill(running.pid, signal.SIGSTOP)
        try:
            self.folder("go")
            self.wait_for("done")
        finally:
            os.kill(running.pid, signal.SIGCONT)
        self.folder("end")
        done = running.finish()
        self.assertEqual(done.code, 0, done)
        known = json.loads(self.filereel("show", "app.reel", "--json").out)
        begin = "events lost while recording: "
        lost = {reason[len(begin):]: number for reason, number in known["lost"].items()
                if reason.startswith(begin)}
        kinds = {"forks", "execs", "exits", "faults", "waits", "wakes", "call starts", "read",
                 "names of open files"}
        if (CALLS / "uring_data").exists():
            kinds |= {"requests", "request completions"}
        self.assertLessEqual(kinds, set(lost), lost)
        self.assertEqual(known["kinds"]["fadvise"]["count"] + lost["fadvise64"], 200000)
        self.assertEqual(lost["forks"], lost["exits"])

    def test_what_recording_adds_to_a_call_is_in_the_reel(self):
        self.record("--", "true")
        self.assertRegex(self.summary(), r"overhead +\d+ ns of the recorder")

    def test_programs_and_libraries_are_mapped_and_their_faults_recorded(self):
        self.record("--", "true")
        faults = [line for line in self.operations() if " fault " in line]
        self.record("--no-faults", "--", "true")
        self.assertTrue(faults)
        self.assertFalse([line for line in self.operations() if " fault " in line])

    @unittest.skipUnless(os.geteuid() == 0 and have("unshare"), "needs root and unshare")
    def test_mounts_are_lost_and_other_mounts_links_not_looked_at(self):
        # A mount below a private one shows nowhere else, whatever the root is: in a chroot it is
        # not always a mount whose propagation could be changed.
        place = self.folder("place")
        call("mount", "--bind", place, place)
        self.addCleanup(call, "umount", "-l", place)
        call("mount", "--make-private", place)
        self.folder("place/there")
        self.record("--", "unshare", "-m", "--propagation", "unchanged", "sh", "-c",
                    "mount -t tmpfs none place/there && ls place/there")
        known = json.loads(self.filereel("show", "app.reel", "--json").out)
        # Newer programs use the newer calls.
        self.assertRegex(" ".join(known["lost"]), r"unsupported system calls: (move_)?mount\b")
        self.assertIn("symbolic links in another mount namespace not resolved",
                      known["approximated"])


@unittest.skipUnless(have("strace", "setpriv") and os.geteuid() == 0, "needs root, strace, setpriv")
class WithoutPrivileges(IntegrationTest):
    NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]

    def test_one_line_says_what_is_missing_and_that_strace_is_used(self):
        os.chmod(self.scratch, 0o777)
        done = self.filereel("record", "-o", "app.reel", "--", "sh", "-c", "echo a >a",
                             wrap=self.NOBODY)
        said, = [line for line in done.err.splitlines() if line.startswith("recording ")]
        self.assertIn("with strace", said)
        self.assertIn("BPF", said)
        self.assertTrue((self.scratch / "app.reel").exists())
        doctor = self.filereel("doctor", wrap=self.NOBODY)
        whole = re.sub(r"\n +", " ", doctor.out)  # lines end at 80 columns
        told, = [line for line in whole.splitlines() if line.startswith("recording ")]
        self.assertEqual(told.split(None, 1)[1], said.split(None, 1)[1])

    def test_bpf_alone_is_refused(self):
        os.chmod(self.scratch, 0o777)
        done = self.filereel("record", "--backend", "bpf", "--", "true", wrap=self.NOBODY,
                             status=None)
        self.assert_refused(done, 1, "BPF", "root")

    def test_a_process_of_somebody_else_is_refused(self):
        os.chmod(self.scratch, 0o777)
        other = subprocess.Popen(["sleep", "60"])
        self.addCleanup(other.wait)
        self.addCleanup(other.kill)
        for process in [other.pid, 1]:
            done = self.filereel("record", "--backend", "strace", "-o", "app.reel", "--pid", process,
                                 wrap=self.NOBODY, status=None)
            self.assert_refused(done, 1, process, f"/proc/{process}/cwd", "denied", "is yours")

    def test_a_program_that_strace_deprives_of_its_privileges_is_named(self):
        os.chmod(self.scratch, 0o777)
        for name in ("plain", "setuid"):
            shutil.copy(find("id"), self.scratch / name)
        os.chmod(self.scratch / "setuid", 0o4755)
        (self.scratch / "script").write_text(f"#! {self.scratch}/setuid\n")
        os.chmod(self.scratch / "script", 0o755)
        said = "runs without the privileges of its file (set-user-ID)"
        counted = "approximated: programs run without the privileges of their file (strace) (1)"
        for user, command, notices in (
                (self.NOBODY, ["./plain"], []), (self.NOBODY, ["./setuid"], [said, counted]),
                (self.NOBODY, ["./script"], [said, counted]),
                (self.NOBODY, ["sh", "-c", f"{self.scratch}/setuid; true"], [counted]),
                (self.NOBODY, ["sh", "-c", "cd /; cd - >/dev/null; ./setuid; true"], [counted]),
                ([*self.NOBODY, "--no-new-privs"], ["./setuid"], []), ([], ["./setuid"], [])):
            with self.subTest(user=user, command=command):
                done = self.filereel("record", "--backend", "strace", "-o", "app.reel", "--",
                                    *command, wrap=user)
                for notice in (said, counted):
                    self.assertEqual(notice in done.err, notice in notices, done)

    @unittest.skipIf(NO_BPF, NO_BPF)
    def test_two_capabilities_are_enough_for_ones_own_processes_alone(self):
        os.chmod(self.scratch, 0o777)
        capable = [*self.NOBODY, "--inh-caps", "+bpf,+perfmon", "--ambient-caps", "+bpf,+perfmon"]

        def start(user):
            other = subprocess.Popen([*user, "sh", "-c", "while :; do echo a >a; sleep 0.02; done"],
                                     cwd=self.scratch)
            self.addCleanup(other.wait)
            self.addCleanup(other.kill)
            self.assertTrue(wait_until((self.scratch / "a").exists, 60))
            return other

        def record(other, duration):
            return self.filereel("record", "--backend", "bpf", "-o", "app.reel", "--pid", other.pid,
                                 "--duration", duration, wrap=capable, status=None)

        other = start([])
        self.assert_refused(record(other, "1 s"), 1, f"/proc/{other.pid}/cwd", "denied",
                            "is yours", "root")
        other.kill()
        (self.scratch / "a").unlink()
        other = start(self.NOBODY)
        for duration in LONGER:
            self.assertEqual(record(other, duration).code, 0)
            shown = self.filereel("show", "app.reel", "--operations").out
            if f"path={str(self.scratch)[1:]}/a " in shown:
                return
        self.fail(shown)


if __name__ == "__main__":
    main()
