#!/usr/bin/env python3
"""filereel compare on results of other firmware, of real runs and of an interrupted one."""

import json
import mmap
import os
import pathlib
import signal
import subprocess
import sys

from support import FILEREEL, IntegrationTest, call, find, main, needs, wait_until

HERE = pathlib.Path(__file__).resolve().parent
SCHEMA = HERE / "junit.xsd"


class CompareTest(IntegrationTest):
    def made(self, name, *options):
        """A result of runs that never were."""
        path = self.scratch / name
        with open(path, "w") as file:
            subprocess.run([sys.executable, HERE.parent / "made_result.py", *options], stdout=file,
                           check=True)
        return path

    def compared(self, base, new, status):
        """What the JSON says; the JUnit XML lies in c.xml."""
        self.filereel("compare", base, new, "--json", "c.json", "--junit", "c.xml", status=status)
        return self.result("c.json")

    def verdicts(self, comparison):
        return {one["operation"]: one["verdict"] for one in comparison["measurements"]}

    def assert_junit(self, path="c.xml"):
        if not find("xmllint"):
            self.skipTest("needs xmllint")
        call("xmllint", "--noout", "--schema", SCHEMA, self.scratch / path)

    def test_other_firmware_that_is_as_fast_passes(self):
        comparison = self.compared(self.made("a.json"),
                                   self.made("b.json", "--seed", "2", "--firmware", "1.08"), 0)
        self.assertEqual(set(self.verdicts(comparison).values()), {"same"})
        self.assertEqual([one["what"] for one in comparison["changes"]], ["firmware (near)"])
        self.assert_junit()

    def test_other_firmware_that_slows_one_operation_fails(self):
        slow = self.made("b.json", "--seed", "2", "--firmware", "1.08", "--slower", "create=1.05")
        comparison = self.compared(self.made("a.json"), slow, 4)
        verdicts = self.verdicts(comparison)
        self.assertEqual([name for name, verdict in verdicts.items() if verdict == "slower"],
                         ["create"])
        self.assertEqual(comparison["overall"], "slower")
        self.assert_junit()

    def test_the_validator_refuses_what_is_no_report(self):
        if not find("xmllint"):
            self.skipTest("needs xmllint")
        self.compared(self.made("a.json"), self.made("b.json", "--slower", "read=2"), 4)
        text = (self.scratch / "c.xml").read_text()
        (self.scratch / "bad.xml").write_text(text.replace("<testcase name", "<testcase title"))
        with self.assertRaises(AssertionError):
            self.assert_junit("bad.xml")

    def test_names_of_any_bytes_make_valid_files(self):
        for name in ("a.json", "b.json"):
            text = self.made(name).read_text()
            (self.scratch / name).write_text(
                text.replace('"set": "programs"', r'"set": "<&>\"\u0001\ufffe ü \ud83d\ude00"'))
        self.assertEqual(len(self.compared("a.json", "b.json", 0)["measurements"]), 5)
        self.assert_junit()

    def test_two_real_runs_of_the_same_are_not_slower_for_certain(self):
        """One run each shows nothing, whatever the machine did meanwhile."""
        for name in ("a", "b"):
            self.filereel("run", "--near", self.folder(name), "--set",
                          self.many_small_files(50), "--runs", "1", "--operations", "create,read",
                          "--json", f"{name}.json")
        comparison = self.compared("a.json", "b.json", 0)
        self.assertEqual(self.verdicts(comparison),
                         {"create": "cannot tell", "read": "cannot tell"})
        self.assertTrue(all(one["runs_needed"] > 1 for one in comparison["measurements"]))
        self.assertEqual(comparison["changes"], [])

    def has_direct_io(self, folder):
        path, page = folder / "direct", mmap.mmap(-1, 4096)
        try:
            file = os.open(path, os.O_CREAT | os.O_RDWR | os.O_DIRECT)
        except OSError:
            return False
        finally:
            path.unlink(missing_ok=True)
        try:
            return os.pwrite(file, page, 4096) == os.preadv(file, [page], 4096) == 4096
        except OSError:
            return False
        finally:
            os.close(file)

    @needs("ext4", "fat32")
    def test_direct_io_is_not_compared_with_the_page_cache_in_its_place(self):
        (self.scratch / "w.yaml").write_text("""
files: {size: 2 MiB}
phases:
  - {name: past, access: {size: 4 KiB, random: 100 %}, direct: true, stop: {operations: 300}}
  - {name: through, access: {size: 4 KiB, random: 100 %}, stop: {operations: 300}}
""")
        image, has_direct = self.scratch / "v.img", {}
        for kind, maker in (("ext4", ["mkfs.ext4", "-q"]), ("fat32", ["mkfs.fat", "-F", "32"])):
            with open(image, "wb") as file:
                file.truncate(300 << 20)
            call(*maker, image)
            with self.mounted(kind, image, read_only=False) as point:
                has_direct[kind] = self.has_direct_io(point)
                self.filereel("run", "w.yaml", "--near", point / "target", "--runs", "6", "--json",
                              f"{kind}.json")
            known = [one.get("without_direct_io", False)
                     for one in self.result(f"{kind}.json")["measurements"]]
            self.assertEqual(known, [not has_direct[kind], False])
        done = self.filereel("compare", "ext4.json", "fat32.json", "--json", "c.json", status=None)
        self.assertIn(done.code, [0, 4])
        reasons = {one["operation"]: one.get("reason", "")
                   for one in self.result("c.json")["measurements"]}
        refused = "direct I/O in some results, the page cache in others"
        self.assertEqual(refused in reasons["past"], not all(has_direct.values()), reasons)
        self.assertNotIn(refused, reasons["through"])

    def test_a_run_that_was_interrupted_compares_and_is_marked(self):
        options = ("--set", self.many_small_files(300), "--operations", "create,read", "--json")
        self.filereel("run", "--near", self.folder("a"), "--runs", "6", *options, "a.json")
        running = self.start("run", "--near", self.folder("b"), "--runs", "1000", *options, "b.json")
        self.assertTrue(wait_until(lambda: self.steps_measured("b.json") >= 12, 60, 0.05))
        running.kill(signal.SIGINT)
        self.assertEqual(running.finish().code, 130)
        shown = self.filereel("compare", "a.json", "b.json", "--json", "c.json", status=None)
        self.assertIn(shown.code, (0, 4), shown)
        self.assertNotIn("[incomplete]", self.filereel("compare", "a.json", "a.json").out)
        self.assertIn("[incomplete]", shown.out)
        comparison = self.result("c.json")
        self.assertFalse(comparison["complete"])
        self.assertIn("incomplete", [one["code"] for one in comparison["warnings"]])
        self.assertEqual([one["base"]["samples"] for one in comparison["measurements"]], [6, 6])
        self.assertTrue(all(one["new"]["samples"] >= 5 for one in comparison["measurements"]))

    def test_a_result_of_standard_input_compares(self):
        path = self.made("a.json")
        with open(path) as file:
            out = subprocess.run([FILEREEL, "compare", "-", path, "--json", "-"], stdin=file,
                                 stdout=subprocess.PIPE, check=True)
        self.assertEqual(json.loads(out.stdout)["overall"], "same")


if __name__ == "__main__":
    main()
