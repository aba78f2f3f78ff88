"""Input that never comes, is not there or is too much: filereel ends when asked to, in one line."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

from support import FILEREEL, IntegrationTest, call, have, main, wait_until

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import made_result  # noqa: E402 (its folder is not a package)

def waits(process):
    """Whether it is filereel and does nothing any more, as far as this shows from outside."""
    seen = set()
    for _ in range(4):
        with open(f"/proc/{process.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)
        seen.add((fields[0], *fields[1].split()[11:13]))  # the name, and the time that it took
        time.sleep(0.05)
    return len(seen) == 1 and "(filereel" in seen.pop()[0]


class Special(IntegrationTest):

    def test_a_fifo_that_nobody_writes_to_is_refused_or_can_be_interrupted(self):
        fifo, near = self.scratch / "fifo", self.scratch / "near"
        os.mkfifo(fifo)
        os.mkfifo(self.scratch / "fifo.yaml")
        self.filereel("record", "-o", "a.reel", "--", "true")
        self.filereel("run", "--set", "mp3", "--scale", "0.001", "--runs", "1", "--near", near,
                      "--json", "r.json")
        (self.scratch / "plan.yaml").write_text(f"workload: fc-test\nsets: [{fifo}.yaml]\n")
        (self.scratch / "kept").mkdir()
        os.mkfifo(self.scratch / "kept" / "r.json")
        # 2, 3: refused. 130: waits, and ends by one signal.
        for code, command in (
                (3, ["show", "fifo"]), (3, ["show", "fifo.yaml"]), (3, ["show", "--operations", "fifo"]),
                (3, ["run", "--near", near, "--set", "fifo.yaml"]),
                (3, ["run", "--near", near, "--set", "mp3,fifo"]),
                (3, ["run", "--near", near, "plan.yaml"]), (130, ["run", "--near", near, "fifo.yaml"]),
                (3, ["replay", "fifo", near]), (3, ["populate", "fifo", near]),
                (3, ["populate", "fifo.yaml", near]), (3, ["export", "fifo", "--format", "jsonl"]),
                (3, ["cut", "fifo", "-o", "b.reel"]), (3, ["merge", "a.reel", "fifo", "-o", "b.reel"]),
                (3, ["repeat", "fifo", "-o", "b.reel", "--times", "2"]),
                (3, ["anonymise", "fifo", "-o", "b.reel"]), (130, ["import", "fifo", "-o", "b.reel"]),
                (130, ["import", "fifo", "-o", "b.reel", "--format", "strace"]),
                (3, ["import", "a.reel", "--initial", "fifo", "-o", "b.reel"]),
                (130, ["compare", "fifo", "r.json"]), (130, ["compare", "r.json", "fifo"]),
                (130, ["report", "fifo", "-o", "r.html"]), (130, ["history", "new", "add", "fifo"]),
                (0, ["history", "kept"])):
            with self.subTest(command):
                before = sorted(os.listdir(self.scratch))
                running = self.start(*command)
                if code == 130:
                    self.assertTrue(wait_until(lambda: running.ended() or waits(running.process), 20))
                    running.kill(signal.SIGINT)
                finished = running.finish(20)
                # Died by the signal is what a shell calls 130, too.
                self.assertIn(finished.code, (code, -signal.SIGINT if code == 130 else code), finished)
                if code == 3:
                    self.assert_refused(finished, code, "regular file")
                self.assertEqual(sorted(os.listdir(self.scratch)), before)

    def test_a_pipe_that_brings_something_is_read(self):
        self.filereel("run", "--set", "mp3", "--scale", "0.001", "--runs", "1", "--near", "near",
                      "--json", "r.json")
        (self.scratch / "a.log").write_text("fio version 2 iolog\n/a add\n/a open\n/a close\n")
        (self.scratch / "set.yaml").write_text("workload: fc-test\nsets: [mp3]\n")
        for script in ('"$0" import <(sleep 0.2; cat a.log) -o a.reel',
                       'cat a.log | "$0" import - -o a.reel', '"$0" import - -o a.reel <a.log',
                       '"$0" import <(zstd -c a.log) -o a.reel', 'zstd -c a.log | "$0" import - -o a.reel',
                       'mkfifo f; (sleep 0.2; cat a.log >f) & "$0" import f -o a.reel',
                       '"$0" compare <(sleep 0.2; cat r.json) r.json',
                       '"$0" report <(cat r.json) -o r.html', 'cat r.json | "$0" compare - r.json',
                       '"$0" run <(cat set.yaml) --near near --scale 0.001 --runs 1'):
            with self.subTest(script):
                done = subprocess.run(["bash", "-c", script, FILEREEL], cwd=self.scratch, timeout=60,
                                      env=self.environment(), capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done)

    def test_an_import_from_a_pipe_ends_by_one_signal(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            for said in ("", "fio version 2 iolog\\n/a add\\n"):
                process = subprocess.Popen(
                    ["bash", "-c", 'exec "$0" import - -o a.reel < '
                     f'<(printf "{said}"; exec sleep 3 2>/dev/null)', FILEREEL], cwd=self.scratch, env=self.environment(), stderr=subprocess.PIPE,
                    text=True)
                self.assertTrue(wait_until(lambda: waits(process), 20))
                process.send_signal(number)
                self.assertEqual(process.wait(20), 130)
                self.assertEqual(process.stderr.read(), "filereel: interrupted; nothing was written\n")
                process.stderr.close()
                self.assertEqual(os.listdir(self.scratch), [])


class Empty(IntegrationTest):

    def test_an_empty_value_is_not_taken_for_none(self):
        for command in (
                ["run", "--near", ""], ["run", "--near="], ["run", "--far", ""], ["run", "--against", ""],
                ["run", "--against-far", ""], ["run", "--json", ""], ["run", "--html", ""],
                ["run", "--against-json", ""], ["run", "--set", ""], ["run", "--set", "mp3", "--fs", ""],
                ["run", "--destroy", ""], ["run", "--operations", ""], ["run", "--block-size", ""],
                ["run", "--copy-method", ""], ["run", "--time", ""], ["run", "--sweep", ""],
                ["run", "--runs", ""], ["run", "--budget", ""], ["run", "--scale", ""],
                ["run", "--threads", ""], ["run", ""],
                ["replay", ""], ["replay", "a.reel", ""], ["replay", "a.reel", "d", "--fs", ""],
                ["replay", "a.reel", "d", "--engine", ""], ["replay", "a.reel", "d", "--json", ""],
                ["replay", "a.reel", "d", "--destroy", ""], ["record", "-o", "", "--", "true"],
                ["record", "--under", "", "--", "true"], ["record", "--duration", "", "--", "true"],
                ["record", "--backend", "", "--", "true"], ["record", "--pid", ""],
                ["import", "", "-o", "a.reel"], ["import", "a", "-o", ""],
                ["import", "a", "-o", "a.reel", "--initial", ""], ["import", "a", "-o", "b", "--cwd", ""],
                ["export", "", "--format", "fio"], ["export", "a.reel", "--format", "fio", "-o", ""],
                ["capture", "", "-o", "a"], ["capture", ".", "-o", ""], ["populate", "", "d"],
                ["populate", "mp3", ""], ["show", ""], ["cut", "a.reel", "-o", "b", "--from", ""],
                ["cut", "a.reel", "-o", "b", "--to", ""], ["cut", "a.reel", "-o", "b", "--path", ""],
                ["cut", "", "-o", "b"], ["merge", "", "-o", "b"], ["repeat", "a", "-o", "", "--times", "2"],
                ["anonymise", "a.reel", "-o", "b", "--key", ""], ["compare", "", "a"],
                ["compare", "a", "b", "--json", ""], ["compare", "a", "b", "--junit", ""],
                ["compare", "--base", "", "--new", "a"], ["report", "", "-o", "a"],
                ["report", "a", "-o", ""], ["report", "a", "-o", "b", "--csv", ""],
                ["history", ""], ["history", "d", "add", ""], ["history", "d", "compare", "", "2"],
                ["history", "d", "trend", "--device", ""], ["history", "d", "trend", "--fs", ""],
                ["history", "d", "trend", "--set", ""], ["completion", ""]):
            with self.subTest(command):
                finished = self.filereel(*command, status=None)
                self.assert_refused(finished, 2)
                self.assertEqual(os.listdir(self.scratch), [])

    def test_long_values_are_not_quoted_whole(self):
        digits = "9" * 20_000
        for arguments, end in ((["run", "--runs", digits], "must be auto or a number from 1 to 10000"),
                               (["run", "--threads", digits], "must be a number from 1 to 1024"),
                               ([digits], "see filereel --help"),
                               (["run", digits], "run `filereel list` to see the catalogue")):
            done = self.filereel(*arguments, status=None)
            self.assertNotEqual(done.code, 0)
            self.assertLess(len(done.err), 6000)
            self.assertTrue(done.err.endswith(end + "\n"), done.err)

    def test_a_recorded_program_may_have_empty_arguments(self):
        finished = self.filereel("record", "-o", "a.reel", "--", "printf", "<%s>", "", "x", "")
        self.assertEqual(finished.out, "<><x><>")


class Memory(IntegrationTest):

    def test_what_is_too_large_for_the_memory_is_named_in_one_line(self):
        self.write_set("name: big\ngroups:\n  - {count: 3000000, size: 1 KiB}\n", "big.yaml")
        (self.scratch / "big.json").write_text(json.dumps(made_result.result(
            {"create": [1.0] * 20000})))
        before = sorted(os.listdir(self.scratch))
        for kilobytes, name, command in (
                (200000, "big.yaml", ["show", "big.yaml"]),
                (200000, "big.yaml", ["populate", "big.yaml", "there"]),
                (200000, "big.yaml", ["run", "--set", "big.yaml", "--near", "near"]),
                (40000, "big.json", ["show", "big.json"]),
                (40000, "big.json", ["compare", "big.json", "big.json"]),
                (40000, "big.json", ["report", "big.json", "-o", "r.html"]),
                (40000, "big.json", ["history", "kept", "add", "big.json"]),
                (60000, "big.json", ["compare", "big.json", "big.json"]),
                (80000, "big.json", ["compare", "big.json", "big.json"])):
            with self.subTest(command, kilobytes=kilobytes):
                done = subprocess.run(["bash", "-c", f'ulimit -v {kilobytes}; exec "$0" -q "$@"',
                                       FILEREEL, *command], cwd=self.scratch, timeout=60,
                                      env=self.environment(), capture_output=True, text=True)
                self.assertEqual(done.returncode, 1, done)
                self.assertEqual(len(done.stderr.splitlines()), 1, done)
                self.assertRegex(done.stderr, f"'{name}' needs more memory than is available; ")
                self.assertEqual(sorted(os.listdir(self.scratch)), before)


@unittest.skipUnless(have("fio"), "needs fio")
class FioLogs(IntegrationTest):

    def log(self, jobs, size, *options):
        """The name of a log that so many jobs of fio have written."""
        folder = self.scratch / f"{jobs}-{size}"
        folder.mkdir()
        call("fio", "--name=j", "--directory=.", f"--size={size}", "--rw=randrw",
             f"--numjobs={jobs}", f"--write_iolog={folder}/j.log", *options, cwd=folder)
        return folder / "j.log"

    def test_jobs_that_share_a_log_are_refused_or_counted(self):
        # With pauses, neither job ends before the other one begins.
        torn = self.log(2, "4m", "--thinktime=500us")
        self.assert_refused(self.filereel("import", torn, "-o", "a.reel", status=3), 3,
                            "several jobs wrote this log at once", "numjobs=1", "filereel merge")
        done = self.filereel("import", self.log(2, "16k"), "-o", "b.reel")
        self.assertIn("further jobs or runs of fio in one log", done.err)
        done = self.filereel("import", self.log(1, "4m"), "-o", "c.reel")
        self.assertNotIn("further jobs", done.err)
        self.assertIn("direct, sync, iodepth and ioengine are unknown", done.err)


if __name__ == "__main__":
    main()
