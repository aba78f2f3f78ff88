"""The recipes of docs/guide-file-systems.md find the revision that made a file system slower, with `git bisect run`.

The revisions are mount options of ext4 on a model drive, whose flushes take 5 ms: from one of them on, each write is
synced.
"""

import os
import pathlib
import re
import sys
import unittest

from support import IntegrationTest, call, find, main, needs

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/model_drive"))
from drive import ModelDrive, needs_drive  # noqa: E402

DRIVE = {"size": "256MiB", "flush": {"latency": "5ms"}, "write": {"latency": "1ms"}}
REVISIONS, BAD = 8, 6
GUIDE = (ROOT / "docs/guide-file-systems.md").read_text()


def recipe(name):
    """A script of the guide, which begins with a line that names it."""
    text = re.search(rf"^    #!/bin/sh\n    # {name}.*?(?=^\S)", GUIDE, re.MULTILINE | re.DOTALL)[0]
    return re.sub(r"^    ", "", text, flags=re.MULTILINE)


@needs_drive()
@needs("ext4")
@unittest.skipUnless(find("git"), "git is missing")
class Bisection(IntegrationTest):

    def setUp(self):
        super().setUp()
        self.set = self.many_small_files(10, "4 KiB")
        self.environment = {**os.environ, "HOME": str(self.scratch), "GIT_CONFIG_NOSYSTEM": "1",
                            "PATH": f"{self.scratch}/bin:{os.environ['PATH']}"}
        (self.scratch / "bin").mkdir()
        (self.scratch / "bin/filereel").symlink_to(os.path.abspath(os.environ.get("FILEREEL") or find("filereel")))
        self.sources = self.scratch / "sources"
        self.sources.mkdir()
        self.git("init", "-q")
        for number in range(1, REVISIONS + 1):
            (self.sources / "options").write_text("sync\n" if number >= BAD else "async\n")
            (self.sources / "number").write_text(f"{number}\n")
            self.git("add", ".")
            self.git("-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", f"revision {number}")
            self.git("tag", f"r{number}")
        for name in ("kept", "new"):
            drive = ModelDrive(DRIVE)
            self.enterContext(drive)
            call("mkfs.ext4", "-q", drive.device)
            (self.scratch / name).mkdir()
            call("mount", "-o", "noatime", drive.device, self.scratch / name)
            self.addCleanup(call, "umount", self.scratch / name)
            (self.scratch / name / "test").mkdir()

    def git(self, *words, status=0):
        return call("git", *words, cwd=self.sources, env=self.environment, status=status)

    def script(self, name):
        """The recipe, on this machine: the revision's options are its build."""
        text = recipe(name)
        build = f"mount -o remount,$(cat options) {self.scratch}/new || exit 125\n"
        text = text.replace("\n", "\n" + build, 1).replace("/mnt/", f"{self.scratch}/")
        text = text.replace("--threshold 20%", "--threshold 99%")  # the bad one takes many times as long
        text = text.replace("sysbench-fileio --time 2s", f"--set {self.set} --operations create")
        path = self.scratch / "bisect.sh"
        path.write_text(text)
        path.chmod(0o755)
        return path

    def found_by(self, script):
        self.git("bisect", "start", f"r{REVISIONS}", "r1")
        told = self.git("bisect", "run", script)
        self.assertIn("is the first bad commit", told)
        return self.git("log", "-1", "--format=%s", "refs/bisect/bad").strip(), told

    def test_both_versions_mounted_are_measured_in_turns(self):
        found, told = self.found_by(self.script("Both versions are mounted"))
        self.assertEqual(found, f"revision {BAD}", told)

    def test_another_kernel_is_compared_by_a_control(self):
        script = self.script("The kernel is exchanged")
        self.git("checkout", "-q", "r1")
        call("mount", "-o", "remount,async", self.scratch / "new")
        measure = re.search(r"^filereel run .*\\\n.*$", script.read_text(), re.MULTILINE)[0]
        (self.scratch / "good.sh").write_text(re.sub(r"new\.json.*", "good.json -q", measure))
        call("sh", "-x", self.scratch / "good.sh", cwd=self.sources, env=self.environment)
        found, told = self.found_by(script)
        self.assertEqual(found, f"revision {BAD}", told)


if __name__ == "__main__":
    main()
