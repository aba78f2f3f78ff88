"""Output that goes nowhere: standard streams that are closed, broken, full or hung up never stop
filereel half way, and never change what it makes."""

import fcntl
import os
import pty
import signal
import subprocess
import termios
import time

from support import FILEREEL, IntegrationTest, find, main, needs, no_bpf, wait_until

BACKENDS = ["strace"] if no_bpf() else ["bpf", "strace"]
RUN = ["run", "--set", "set.yaml", "--operations", "create,read", "--json", "r.json"]


class Output(IntegrationTest):

    def shell(self, script, *words, status=0):
        """Runs a script of bash, whose $0 is filereel and whose arguments are the words."""
        done = subprocess.run(["bash", "-c", script, FILEREEL, *map(str, words)], cwd=self.scratch,
                              env=self.environment(), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, text=True,
                              errors="replace")
        if status is not None:
            self.assertEqual(done.returncode, status, done)
        return done

    def names(self):
        return sorted(os.listdir(self.scratch))

    def on_terminal(self, *arguments):
        """Starts filereel as the leader of a session with a terminal of its own; gives the process
        and the terminal's other end, whose closing hangs it up."""
        master, terminal = pty.openpty()

        def take_terminal():
            os.setsid()
            fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
        process = subprocess.Popen([FILEREEL, *map(str, arguments)], cwd=self.scratch,
                                   stdin=terminal, stdout=terminal, stderr=terminal,
                                   env=self.environment(), preexec_fn=take_terminal)
        self.pids.append(process.pid)
        os.close(terminal)

        def stop():
            if process.poll() is None:
                process.kill()
                process.wait()
        self.addCleanup(stop)
        return process, master

    def read_some(self, master, word):
        """Reads what the terminal got until the word comes."""
        text = b""
        while word not in text:
            text += os.read(master, 1 << 12)


class Closed(Output):

    def test_a_run_ends_without_its_terminal_and_keeps_its_result(self):
        for where in (["--near", "near"], ["--near", "image:near.img", "--fs", "ext4"]):
            if os.geteuid() != 0 and "image:near.img" in where:
                continue
            with self.subTest(where[1]):
                self.many_small_files(300)
                process, master = self.on_terminal(*RUN, "--runs", "1000", *where)
                self.assertTrue(wait_until(lambda: self.steps_measured() > 2, 60))
                os.close(master)
                self.assertEqual(process.wait(60), 130)
                self.assertFalse(self.result()["complete"])
                self.assertGreater(self.steps_measured(), 2)
                self.assert_nothing_left()
                self.assertNotIn("near.img.filereel", self.names())
                self.assertNotIn("near", self.names())
                (self.scratch / "r.json").unlink()

    def test_a_replay_ends_without_its_terminal(self):
        self.filereel("record", "-o", "a.reel", "--", "sh", "-c", "echo >a; sleep 0.3; echo >b")
        process, master = self.on_terminal("replay", "a.reel", "there", "--json", "r.json",
                                           "--pace", "0.01x")
        self.read_some(master, b"%")
        os.close(master)
        self.assertEqual(process.wait(60), 130)
        self.assert_nothing_left()

    def test_a_recording_without_its_terminal_keeps_its_reel(self):
        for backend in BACKENDS:
            for trap, ends in (("", b""), ("trap '' HUP;", b"")):
                with self.subTest(backend, trap=trap):
                    (self.scratch / "ticks").unlink(missing_ok=True)
                    process, master = self.on_terminal(
                        "record", "--backend", backend, "-o", "q.reel", "--", "sh", "-c",
                        f"{trap} while :; do echo >>ticks; sleep 0.02; done")
                    self.assertTrue(wait_until((self.scratch / "ticks").exists, 60))
                    os.close(master)
                    self.assertIn(process.wait(60), (0, 130))
                    self.assertIn("ticks", self.filereel("show", "q.reel", "--operations").out)
                    self.assertEqual(self.names(), ["q.reel", "ticks"])

    def test_a_run_whose_reader_has_gone_ends_tidily(self):
        self.many_small_files(300)
        for where in ("--near near", "--fs ext4"):
            if os.geteuid() != 0 and where == "--fs ext4":
                continue
            with self.subTest(where):
                before = self.names()
                done = self.shell('exec 3>&1; { "$0" "$@" 2>&1; echo $? >&3; } | head -1 >first',
                                  *RUN, "--runs", "3", *where.split())
                # Where it says nothing before its table, head has a line only from there.
                self.assertIn(done.stdout, ("0\n", "1\n", "130\n"))
                self.assert_nothing_left()
                self.assertLessEqual(set(self.names()), {*before, "r.json", "first"})

    @needs("ext4")
    def test_several_hang_ups_are_one(self):
        folder, mark = self.folder("programs"), self.scratch / "formatting"
        program = folder / "mkfs.ext4"
        program.write_text(f"#!/bin/sh\ntouch '{mark}'\nsleep 1\nexec {find('mkfs.ext4')} \"$@\"\n")
        program.chmod(0o755)
        running = self.start("run", "--fs", "ext4", "--set", self.many_small_files(20), "--json",
                             "r.json",
                             env=self.environment(PATH=f"{folder}:{os.environ['PATH']}"))
        self.assertTrue(wait_until(mark.exists, 60))
        for _ in range(3):  # a shell sends one to its jobs, and the kernel another
            running.kill(signal.SIGHUP)
            time.sleep(0.25)
        self.assertEqual(running.finish().code, 130)
        self.assertEqual(self.names(), ["formatting", "programs", "r.json", "set.yaml"])

    def test_a_run_without_standard_streams_keeps_its_result(self):
        self.many_small_files(20)
        self.shell('"$0" "$@" <&- >&- 2>&-', *RUN, "--near", "near", "--runs", "1", status=1)
        self.assertTrue(self.result()["complete"])
        self.assertEqual(self.names(), ["r.json", "set.yaml"])

    def test_a_table_that_cannot_be_written_is_one_line_and_a_failure(self):
        self.many_small_files(20)
        for command in (["list"], ["doctor"], ["--help"], ["--version"], ["show", "mp3"],
                        ["show", "mp3", "--json"], [*RUN, "--near", "near", "--runs", "1"]):
            with self.subTest(command):
                done = self.shell('"$0" "$@" >/dev/full', "-q", *command, status=1)
                self.assertEqual(done.stderr, "filereel: cannot write to standard output: No space "
                                 "left on device\n")
        self.assertTrue(self.result()["complete"])

    def test_errors_that_nobody_can_read_end_like_others(self):
        for to in ("/dev/full", "&-"):
            self.shell(f'"$0" show nowhere.reel 2>{to}', status=2)
            self.shell(f'"$0" list --nonsense 2>{to}', status=2)


class Descriptors(Output):

    def test_a_reel_is_usable_whichever_standard_streams_are_closed(self):
        folder = self.folder("d")
        (folder / "a").touch()
        for backend in BACKENDS:
            for closed in ("2>&-", "<&-", "<&- 2>&-", ">&-", "<&- >&- 2>&-"):
                with self.subTest(backend, closed=closed):
                    self.shell(f'"$0" record --backend {backend} -o q.reel -- ls d {closed}')
                    shown = self.filereel("show", "q.reel", "--operations").out
                    self.assertIn("/d", shown)
                    self.assertEqual(self.names(), ["d", "q.reel"])

    def test_a_recorded_program_finds_closed_what_the_user_closed(self):
        script = ("for i in 0 1 2; do [ -e /proc/$$/fd/$i ] || closed=\"$closed $i\"; done; "
                  "echo $closed >seen")
        for backend in BACKENDS:
            for closed, seen in (("2>&-", "2"), ("<&-", "0"), (">&-", "1"),
                                 ("<&- >&- 2>&-", "0 1 2"), ("", "")):
                with self.subTest(backend, closed=closed):
                    self.shell(f'"$0" record --backend {backend} -o q.reel -- "$@" {closed}',
                               "bash", "-c", script)
                    self.assertEqual((self.scratch / "seen").read_text().split(), seen.split())


class Signals(Output):

    def ignored(self, name, *wrap):
        """Whether a program that filereel starts ignores the signal."""
        status = (self.scratch / name).read_text()
        mask = int(next(line.split()[1] for line in status.splitlines()
                        if line.startswith("SigIgn:")), 16)
        return {number for number in (signal.SIGPIPE, signal.SIGXFSZ) if mask >> (number - 1) & 1}

    def test_a_recorded_program_has_the_signals_of_its_caller(self):
        for backend in BACKENDS:
            for trap, ignored in (("", set()), ("trap '' PIPE;", {signal.SIGPIPE}),
                                  ("trap '' PIPE XFSZ;", {signal.SIGPIPE, signal.SIGXFSZ}),
                                  ("trap '' XFSZ;", {signal.SIGXFSZ})):
                with self.subTest(backend, trap=trap):
                    self.shell(f'{trap} "$0" record --backend {backend} -o q.reel -- '
                               "cp /proc/self/status seen")
                    self.assertEqual(self.ignored("seen"), ignored)

    def test_a_limit_of_file_sizes_is_an_error_in_one_line(self):
        self.many_small_files(20)
        self.filereel(*RUN, "--near", self.folder("near"), "--runs", "1")
        os.rename(self.scratch / "r.json", self.scratch / "old.json")
        self.filereel("record", "-o", "a.reel", "--", "sh", "-c", "echo >made; rm made")
        (self.scratch / "a.log").write_text("fio version 2 iolog\n/a add\n/a open\n/a close\n")
        before = self.names()
        commands = (["record", "-o", "q.reel", "--", "true"],
                    ["cut", "a.reel", "-o", "q.reel"],
                    ["export", "a.reel", "--format", "jsonl", "-o", "q.json"],
                    ["import", "a.log", "-o", "q.reel"],
                    ["capture", "near", "-o", "q.fileset"],
                    ["report", "old.json", "-o", "q.html"],
                    ["history", "kept", "add", "old.json"],
                    ["compare", "old.json", "old.json", "--json", "q.json"],
                    [*RUN, "--near", "near", "--runs", "1"])
        for command in commands:
            with self.subTest(command[0]):
                done = self.shell('ulimit -f 0; "$0" "$@"', "-q", *command, status=1)
                lines = done.stderr.splitlines()
                self.assertEqual(len(lines), 1, done)
                self.assertRegex(lines[0], "File too large|the limit on file sizes")
                self.assertFalse([name for name in self.names() if name.endswith(".part")])
                self.assertEqual([name for name in self.names() if name != "kept"], before)
        for command in (["list"], ["show", "old.json"]):
            with self.subTest(command[0]):
                done = self.shell('ulimit -f 0; "$0" "$@" >out', "-q", *command, status=1)
                self.assertIn("File too large", done.stderr)


if __name__ == "__main__":
    main()
