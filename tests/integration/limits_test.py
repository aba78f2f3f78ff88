#!/usr/bin/env python3
"""Input that asks for too much: refused in one line, in little memory and time."""

import json
import os
import pathlib
import resource
import subprocess
import sys
import unittest

from support import FILEREEL, IntegrationTest, main

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import made_result  # noqa: E402

MOST_MEMORY = 1500 << 20  # bytes of addresses: what asks for more fails, and not the machine
SECONDS = 120  # against hangs; each takes a second or two on an idle machine


class LimitsTest(IntegrationTest):

    memory = 0

    def limited(self, *arguments, stdin=subprocess.DEVNULL, seconds=SECONDS):
        """Runs filereel within limits; gives its exit, output and lines of error."""
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        done = subprocess.run([FILEREEL, *map(str, arguments)], stdin=stdin, capture_output=True,
                              text=True, errors="replace", timeout=seconds, cwd=self.scratch,
                              env=self.environment(), preexec_fn=limit)
        return done.returncode, done.stdout, done.stderr.splitlines()

    def refused(self, *arguments, words=(), status=3, **options):
        code, out, lines = self.limited(*arguments, **options)
        self.assertEqual((code, out, len(lines)), (status, "", 1), (out[:500], lines[:5]))
        self.assertTrue(lines[0].startswith("filereel: "), lines)
        for word in words:
            self.assertIn(word, lines[0])

    def sparse(self, name):
        with open(self.scratch / name, "wb") as file:
            file.truncate(20 << 30)
        return name

    def with_times(self, name, times):
        (self.scratch / name).write_text(json.dumps(made_result.result({"create": times})))
        return name

    def text(self, name, text):
        (self.scratch / name).write_text(text)
        return name


class Results(LimitsTest):

    def setUp(self):
        super().setUp()
        self.with_times("r.json", [2 + i / 100 for i in range(10)])

    def test_times_that_nothing_can_take_are_refused(self):
        for time in (1e300, 1e-320, -2.0):
            name = self.with_times("x.json", [time * (1 + i / 100) for i in range(10)])
            words = [name, "elapsed_s"]
            with self.subTest(time):
                self.refused("compare", name, "r.json", words=words)
                self.refused("compare", "r.json", name, words=words)
                self.refused("report", name, "-o", "r.html", words=words)
                self.refused("report", name, "r.json", "-o", "r.html", words=words)
                self.refused("show", name, words=words)
                self.refused("history", "h", "add", name, words=words)
        for text in ("1e999", "NaN", "Infinity", "null"):
            good = (self.scratch / "r.json").read_text()
            self.text("x.json", good.replace('"durable_s": 2.0', f'"durable_s": {text}'))
            with self.subTest(text):
                self.refused("compare", "x.json", "r.json", words=["x.json"])

    def test_the_shortest_and_the_longest_times_compare_and_are_reported(self):
        names = [self.with_times(f"{time}.json", [time * (1 + i / 1000) for i in range(10)])
                 for time in (1e-9, 1.0, 1e9)]
        for base in names:
            for fresh in names:
                with self.subTest(base=base, fresh=fresh):
                    code, out, lines = self.limited("compare", base, fresh, "--json", "-")
                    self.assertEqual(lines, [])
                    row = json.loads(out)["measurements"][0]
                    expected = float(fresh[:-5]) / float(base[:-5])
                    self.assertAlmostEqual(row["ratio"] / expected, 1, places=9)
                    self.assertEqual(row["verdict"], "same" if expected == 1 else
                                     "slower" if expected > 1 else "faster")
                    self.assertEqual(code, 4 if expected > 1 else 0)
                    self.assertEqual(self.limited("report", base, fresh, "-o", "r.html")[0], 0)

    def test_standard_input_without_end_is_refused(self):
        with open("/dev/zero", "rb") as zero:
            self.refused("compare", "-", "r.json", stdin=zero, words=["standard input", "256 MB"])
            self.refused("compare", "r.json", "-", stdin=zero, words=["standard input", "256 MB"])
        with subprocess.Popen(["yes", "[1,"], stdout=subprocess.PIPE) as endless:
            self.refused("compare", "-", "r.json", stdin=endless.stdout,
                         words=["standard input", "256 MB"])
            endless.kill()

    def test_sparse_files_are_refused_by_their_size(self):
        name = self.sparse("huge.json")
        for arguments in (["compare", name, "r.json"], ["compare", "r.json", name],
                          ["report", name, "-o", "r.html"], ["history", "h", "add", name]):
            with self.subTest(arguments[0]):
                self.refused(*arguments, words=[name, "256 MB"], seconds=5)

    def test_sparse_files_in_a_history_are_told_and_passed_over(self):
        self.assertEqual(self.limited("history", "h", "add", "r.json")[0], 0)
        self.sparse("h/huge.json")
        code, out, lines = self.limited("history", "h", "list")
        self.assertEqual(code, 0, lines)
        self.assertIn("fc-test", out)
        self.assertIn("256 MB", "".join(lines) + out)
        self.assertEqual(self.limited("history", "h", "trend")[0], 0)

    def test_json_that_is_deep_or_of_very_many_values_is_refused(self):
        good = (self.scratch / "r.json").read_text()
        self.text("deep.json", good.replace('"parameters": {}', '"parameters": {"a": ' +
                                            "[" * 1000000 + "]" * 1000000 + "}", 1))
        self.refused("compare", "deep.json", "r.json", words=["deep.json", "levels"])
        self.text("many.json", good[:-1] + ', "x": [' + "[]," * 20000000 + "0]}")
        self.refused("compare", "many.json", "r.json", words=["many.json", "values"])


class Workloads(LimitsTest):

    def run_refused(self, text, *words, options=()):
        self.refused("run", self.text("w.yaml", text), "--near", self.folder("near"), *options,
                     words=words)
        self.assertEqual(list(self.folder("near").iterdir()), [])

    def test_threads_of_all_groups_together_are_limited(self):
        group = "  - {count: 1000, access: {size: 4 KiB, random: 100 %}}\n"
        self.run_refused("files: {size: 64 MiB}\nthreads:\n" + group * 100,
                         "w.yaml:7:5", "5000 threads", "4096")

    def test_files_and_buffers_are_limited(self):
        self.run_refused("files:\n  - {name: a, count: 20000000, size: 1 B}\n"
                         "  - {name: b, count: 20000000, size: 1 B}\ndo: [stat]\n",
                         "w.yaml:3:5", "40000000 files", "20000000")
        self.run_refused("files: {size: 1 GiB}\ncount: 64\naccess: {size: 1 GiB}\n",
                         "w.yaml:1:1", "16 GiB")
        self.text("set.yaml", "name: s\ngroups: [{count: 1000, size: 1 KiB}]\n")
        self.run_refused(f"files: {{set: {self.scratch}/set.yaml}}\ndo: [stat]\n",
                         "set.yaml", "20000000", options=["--scale", "25000"])

    def test_sweeps_of_the_command_line_are_limited(self):
        text = "files: {size: 1 MiB}\naccess: {size: 4 KiB}\ncount: 1\nseed: 1\n"
        for keys in (["count=" + ",".join(map(str, range(1, 1001))),
                      "seed=" + ",".join(map(str, range(1000)))],
                     ["seed=" + ",".join(map(str, range(10001)))]):
            options = [word for key in keys for word in ("--sweep", key)]
            self.run_refused(text, "w.yaml", "10000", options=options)
        self.run_refused(text, "w.yaml", "1024", options=["--sweep", "count=1,100000"])

    def test_aliases_that_multiply_are_counted_with_all_that_they_stand_for(self):
        letters = "abcdefghijkl"
        text = "a: &a [" + ", ".join("x" * 10) + "]\n" + "".join(
            f"{one}: &{one} [{', '.join(['*' + before] * 10)}]\n"
            for before, one in zip(letters, letters[1:]))
        self.run_refused(text, "w.yaml", "4000000 values")

    def test_files_without_end_are_refused(self):
        for name in ("w.yaml", "s.fileset", "s.fls", "s.ptn", "r.reel"):
            with self.subTest(name):
                os.symlink("/dev/zero", self.scratch / name)
                self.refused("show" if name != "w.yaml" else "run", name, words=[name])


class Options(LimitsTest):

    def test_numbers_of_options_are_limited(self):
        for options, status in ((["--scale", "1e9"], 2), (["--threads", "1000000"], 2),
                                (["--scale", "nan"], 2), (["--runs", "1000000000"], 2)):
            with self.subTest(options):
                self.refused("run", "--set", "programs", "--near", self.folder("near"), *options,
                             words=["--" if status == 2 and options[0] != "--scale" else "scale"],
                             status=status)


if __name__ == "__main__":
    main()
