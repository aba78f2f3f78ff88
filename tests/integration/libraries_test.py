"""Messages are filereel's own: no text of a library reaches a user, and no call of one needs a working
directory for absolute paths."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from support import FILEREEL, IntegrationTest, have, import_formats, main

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import made_result  # noqa: E402 (its folder is not a package)

# What texts of Boost, JSON, YAML, CLI11, zstd, fmt, the C++ library, MPI and libbpf contain.
FOREIGN = re.compile(r"boost|filesystem error|json\.exception|yaml-cpp|end of (?:map|seq)|illegal|bad "
                     r"conversion|was not expected|were not expected|is required|Could not convert|"
                     r"std::|basic_|what\(\)|terminate called|frame descriptor|doesn't match checksum|"
                     r"MPI_ERR|libbpf|sto[ilud]|invalid_argument", re.IGNORECASE)
GONE = "the working directory does not exist any more"


class Texts(IntegrationTest):

    def check(self, code, *command, words=(), **options):
        with self.subTest(" ".join(map(str, command))):
            done = self.filereel(*command, status=None, **options)
            self.assertEqual(done.code, code, done)
            self.assertEqual(done.err.count("\n"), 1, done)
            self.assertNotRegex(done.err, FOREIGN)
            for word in words:
                self.assertIn(word, done.err)

    def write(self, name, text):
        path = self.scratch / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def test_results_with_numbers_and_types_that_do_not_fit(self):
        made = json.dumps(made_result.result({"create": [2.0, 2.1, 2.2]}))
        for name, old, new, words in (
                ("huge", '"started":', '"x": 1e400, "started":', ("the number 1e400 at byte",)),
                ("least", '"started":', '"x": -1e999, "started":', ("the number -1e999 at byte",)),
                ("type", '"measurements": [', '"measurements": [7, ', ("measurements[0]",)),
                ("plan", '"plan": {', '"plan": 5, "y": {', ("plan",)),
                ("cut", '"plan"', '"plan', ("invalid JSON at byte",))):
            self.assertIn(old, made)
            path = self.write(f"{name}.json", made.replace(old, new, 1))
            for command in (["show"], ["compare", path], ["report", "-o", "page.html"],
                            ["history", "drives", "add"]):
                self.check(3, *command, path, words=(f"{name}.json: ", *words))

    def test_yaml_that_is_none_and_numbers_that_do_not_fit(self):
        for name, text, words in (
                ("map", "groups: {\n", ("map.yaml:2:1: ", "'}'")),
                ("list", "groups: [1, 2\n", ("list.yaml:2:1: ", "']'")),
                ("tab", "groups:\n\t- x: 1\n", ("tab.yaml:2:2: ",)),
                ("value", "name: a: b\n", ("value.yaml:1:8: ", "quotes")),
                ("anchor", "name: *x\n", ("anchor.yaml:1:7: ",)),
                ("escape", 'name: "\\q"\n', ("escape.yaml:1:10: ", "escape")),
                ("count", "name: n\ngroups:\n  - count: 1e400\n    size: 1\n",
                 ("count.yaml:3:12: ", "'1e400'")),
                ("size", "name: n\ngroups:\n  - count: 1\n    size: 99999999999999999999 GB\n",
                 ("size.yaml:4:11: ", "'99999999999999999999 GB'"))):
            self.check(3, "populate", self.write(f"{name}.yaml", text), self.scratch / "new",
                       words=words)
            self.assertFalse((self.scratch / "new").exists())

    def test_command_lines_that_are_none_and_numbers_that_do_not_fit(self):
        for words, *command in (
                ("unknown option '--frob'", "run", "--frob"), ("unexpected argument 'x'", "list", "x"),
                ("NAME is missing", "show"), ("name a command",), ("--near needs a value", "run", "--near"),
                ("--at needs --initial", "import", "x", "-o", "y", "--at", "/"),
                ("exclude each other", "record", "--check", "tree", "--no-check", "--", "true"),
                ("--self: 'abc' is not a valid value", "compare", "--self=abc"),
                ("--times", "repeat", "a", "-o", "b", "--times", "99999999999999999999"),
                ("--thread", "cut", "a", "-o", "b", "--thread", "1e400"),
                ("--pid", "record", "--pid", "99999999999"), ("1e400", "run", "--scale", "1e400"),
                ("1e400", "run", "--runs", "1e400"), ("1e400", "populate", "mp3", "d", "--scale", "1e400"),
                ("99999999999999999999GB", "run", "--near", "image:x,size=99999999999999999999GB"),
                ("1e400", "compare", "a", "b", "--threshold", "1e400%"),
                ("1e400s", "cut", "app-compile", "-o", "b", "--from", "1e400s"),
                ("1e400s", "run", "--sessions", "2", "--every", "1e400s", "--json", "r.json")):
            self.check(2, *command, words=(words,))
        self.check(3, "run", "random-read", "--sweep", "depth=1e400", words=("'depth'", "'1e400'"))

    def test_traces_with_numbers_that_do_not_fit(self):
        huge = "9" * 30
        traces = (
            ("fio", f"fio version 2 iolog\n/f add\n/f open\n/f read {huge} 4096\n"),
            ("fio3", f"fio version 3 iolog\n{huge} /f add\n"),
            ("dbench", f"0.1 WriteX /f {huge} 512 512 NT_STATUS_OK\n"),
            ("strace", f'1 1.0 openat(AT_FDCWD, "/f", O_RDONLY) = {huge}\n'))
        self.assertLessEqual(set(import_formats()), {name for name, _ in traces})
        for name, text in traces:
            with self.subTest(name):
                done = self.filereel("import", self.write(name, text), "-o", "out.reel", status=None)
                self.assertNotRegex(done.err, FOREIGN)
                self.assertIn(done.code, (0, 3), done)
                if done.code == 3:
                    self.assertRegex(done.err, rf"{name}:\d+: ")

    @unittest.skipUnless(have("zstd"), "needs zstd")
    def test_compressed_data_that_is_damaged(self):
        self.filereel("capture", self.state, "-o", "a.fileset")
        whole = (self.scratch / "a.fileset").read_bytes()
        middle = len(whole) // 2
        bad = whole[:middle] + bytes(byte ^ 0x55 for byte in whole[middle:])
        self.check(3, "show", self.write("bad.fileset", bad), words=("bad.fileset: ",))
        self.check(3, "show", self.write("no.fileset", b"plain text"),
                   words=("no.fileset: byte 0: not a .fileset file",))
        trace = self.write("trace", "".join(f'1 {i}.0 close({i}) = 0\n' for i in range(3000)))
        subprocess.run(["zstd", "-q", str(trace)], check=True)
        packed = bytearray((self.scratch / "trace.zst").read_bytes())
        packed[len(packed) // 2] ^= 0x55
        self.check(3, "import", self.write("bad.zst", bytes(packed)), "-o", "out.reel",
                   words=("bad.zst:", "corrupt zstd data"))


class RemovedWorkingDirectory(IntegrationTest):

    def run_there(self, *command, status=0):
        """From a directory that is removed before filereel starts."""
        gone = self.scratch / "gone"
        gone.mkdir()
        environment = {**os.environ, "FILEREEL_STATE_DIR": str(self.state)}
        script = 'cd "$0" && rmdir "$0" && exec "$@"'
        done = subprocess.run(["sh", "-c", script, str(gone), FILEREEL, *map(str, command)],
                              capture_output=True, text=True, env=environment, timeout=60,
                              stdin=subprocess.DEVNULL)
        self.assertNotRegex(done.stderr, FOREIGN)
        self.assertEqual(done.returncode, status, (command, done.stdout, done.stderr))
        return done

    def test_absolute_paths_work(self):
        here = self.scratch
        shutil.copytree(pathlib.Path(__file__).parent / "workloads", here / "tree")
        quick = ["--scale", "0.001", "--runs", "1"]
        for command in (
                ["doctor"], ["list"], ["show", "mp3"], ["clean", "--list"],
                ["run", "--near", here / "near", "--far", here / "far", "--set", "mp3", *quick, "--json",
                 here / "r.json", "--html", here / "r.html", "--history", here / "drives"],
                ["show", here / "r.json"], ["report", here / "r.json", "-o", here / "page.html"],
                ["compare", here / "r.json", here / "r.json"],
                ["history", here / "drives", "list"],
                ["capture", here / "tree", "-o", here / "tree.fileset"],
                ["populate", here / "tree.fileset", here / "copy"],
                ["record", "-o", here / "a.reel", "--", "cat", here / "r.json"],
                ["replay", here / "a.reel", here / "volume"],
                ["cut", here / "a.reel", "-o", here / "b.reel", "--to", "1h"],
                ["export", here / "a.reel", "--format", "jsonl", "-o", here / "a.jsonl"]):
            with self.subTest(" ".join(map(str, command))):
                self.assertNotIn(GONE, self.run_there(*command).stderr)

    def test_relative_paths_are_refused_in_one_line(self):
        self.filereel("record", "-o", "a.reel", "--", "true")
        reel = self.scratch / "a.reel"
        for code, command in ((1, ["run"]), (1, ["run", "--near", "near", "--set", "mp3"]),
                              (1, ["run", "--near", "image:near.img", "--set", "mp3"]),
                              (2, ["show", "r.json"]), (1, ["replay", reel, "volume"]),
                              (1, ["capture", ".", "-o", "/dev/null/x"]),
                              (1, ["populate", "mp3", "new"]), (1, ["cut", reel, "-o", "b.reel", "--to", "1s"]),
                              (1, ["record", "-o", "b.reel", "--", "true"]),
                              (3, ["compare", "a.json", "b.json"])):
            with self.subTest(" ".join(map(str, command))):
                done = self.run_there(*command, status=code)
                self.assertEqual(done.stderr.count("filereel: "), 1, done.stderr)
                self.assertIn(GONE, done.stderr.splitlines()[-1])


if __name__ == "__main__":
    main()
