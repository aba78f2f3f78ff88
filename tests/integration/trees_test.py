"""Real trees: captured, made again and measured."""

import glob
import os
import re
import stat
import subprocess
import unittest

from support import (FILEREEL, IntegrationTest, find, forgetting, have, main, needs, needs_share,
                     thorough)

# Trees that most machines have, and what is enough of one; the first that is large enough is taken.
LARGE = ["/usr/share", "/usr/include", "/usr/share/doc"], 20000, 250_000_000
SMALL = [*glob.glob("/usr/share/cmake-*"), "/usr/share/perl", "/usr/include/linux"], 500, 2_000_000


def size_of(folder):
    """Regular files below it and their bytes, each inode once; nothing on other file systems."""
    files = total = 0
    seen, device = set(), os.lstat(folder).st_dev
    for parent, folders, names, descriptor in os.fwalk(os.fsencode(folder)):
        folders[:] = [one for one in folders
                      if os.stat(one, dir_fd=descriptor, follow_symlinks=False).st_dev == device]
        for name in names:
            info = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            if stat.S_ISREG(info.st_mode) and info.st_ino not in seen:
                if info.st_nlink > 1:
                    seen.add(info.st_ino)
                files += 1
                total += info.st_size
    return files, total


class RealTrees(IntegrationTest):

    @needs("ext4", "ntfs")
    def test_a_real_tree_is_captured_and_measured_on_ext4_and_ntfs(self):
        self.check(*SMALL)

    @needs("ext4", "ntfs")
    @thorough("ten times the size of what is captured and measured daily")
    def test_a_large_tree_is_captured_and_measured_on_ext4_and_ntfs(self):
        self.check(*LARGE)

    @needs_share
    def test_a_share_is_captured_whole_while_the_kernel_forgets_its_files(self):
        with self.share() as (point, served), forgetting():
            for number in range(200):
                folder = served / "a" / f"b{number % 10}" / f"c{number}"
                folder.mkdir(parents=True)
                for name in (folder / "f", folder.parent / f"z{number}", served / "a" / f"z{number}"):
                    name.write_text("x")
            captured = self.filereel("capture", point, "-o", "x.fileset")
            self.assertIn("600 files", captured.out)
            self.assertNotIn("changed", captured.out + captured.err)

    def check(self, candidates, enough_files, enough_bytes):
        found = {}
        for folder in filter(os.path.isdir, candidates):
            found[folder] = size_of(folder)
            if found[folder][0] >= enough_files and found[folder][1] >= enough_bytes:
                break
        else:
            if not found:
                self.skipTest("there is no tree to capture")
            folder = max(found, key=found.get)
        files, total = self.capture_at_rest(folder)
        print(f"{folder}: {files} files, {total} bytes", flush=True)
        self.filereel("run", "--near", "image:a.img", "--set", "x.fileset", "--fs", "ext4,ntfs",
                      "--runs", "1", "--operations", "create,read", "--json", "r.json", timeout=200)
        result = self.result()
        self.assertTrue(result["complete"])
        self.assertEqual([(one["file_system"], one["operation"]) for one in result["measurements"]],
                         [("ext4", "create"), ("ext4", "read"), ("ntfs", "create"),
                          ("ntfs", "read")])
        counted = {(one["samples"][0]["files"], one["samples"][0]["bytes"])
                   for one in result["measurements"]}
        self.assertEqual(len(counted), 1)
        (measured_files, measured_bytes), = counted
        self.assertEqual(measured_files, files)
        self.assertEqual(measured_bytes, total)
        self.assert_nothing_left()
        self.check_clean("ntfs", self.scratch / "a.img")

    def capture_at_rest(self, folder):
        """Captures it while nobody changes it; gives its files and bytes."""
        for _ in range(3):
            before = size_of(folder)
            captured = self.filereel("capture", folder, "-o", "x.fileset")
            if size_of(folder) == before:
                files, total = before
                self.assertIn(f"{files} files", captured.out)
                self.assertIn(f"({total} bytes)", captured.out)
                return files, total
        self.skipTest(f"{folder} changes all the time")


@unittest.skipUnless(have("zstdcat"), "needs zstdcat")
class RoundTrips(IntegrationTest):

    def odd_tree(self):
        tree = self.folder("tree")
        root = os.fsencode(tree)
        names = [b"plain", b"with blank", b"new\nline", b"back\\slash", b"\xff\xfe not text",
                 "Gr\u00fc\u00dfe".encode(), b"tab\there", b"-dash", b"'quotes\"", b"n" * 255,
                 b"\\x20", b".hidden", b"del\x7f"]
        for folder in (b"", b"sub", b"sub/d\ne e\\p", b"empty"):
            os.makedirs(os.path.join(root, folder), exist_ok=True)
            if folder == b"empty":
                continue
            for number, name in enumerate(names):
                with open(os.path.join(root, folder, name), "wb") as file:
                    file.write(os.urandom(100 + 7000 * number))
        (tree / "nothing").write_bytes(b"")
        (tree / "text").write_text("the same line over and over again\n" * 5000)
        os.symlink(b"new\nline", root + b"/link")
        os.symlink(b"/no/such \xff\\place", root + b"/broken link")
        os.symlink("..", tree / "sub" / "up")
        os.link(tree / "plain", tree / "sub" / "same")
        os.link(tree / "plain", tree / "zz same")
        with open(tree / "sparse", "wb") as file:
            file.truncate(10 << 20)
            file.seek(3 << 20)
            file.write(os.urandom(1 << 20))
        with open(tree / "all hole", "wb") as file:
            file.truncate(5 << 20)
        os.chmod(tree / "plain", 0o640)
        os.chmod(tree / "text", 0o400)
        os.chmod(tree / "sub", 0o750)
        os.chmod(tree / ".hidden", 0o777)
        os.utime(tree / "text", ns=(0, 1083827289123456789))
        os.utime(tree / "nothing", ns=(0, -1_000_000_001))
        os.utime(tree / "link", ns=(0, 1_500_000_000), follow_symlinks=False)
        os.utime(tree / "empty", ns=(0, 946684800_000000000))
        return tree

    def entries(self, name):
        """The lines of a .fileset but for those that say where it comes from."""
        text = subprocess.run([find("zstdcat"), self.scratch / name], check=True,
                              stdout=subprocess.PIPE).stdout
        lines = text.split(b"\n")
        self.assertEqual(lines[0], b"filereel-fileset 1")
        self.assertRegex(lines[-2], rb"^end \d+ [0-9a-f]{16}$")
        return [line for line in lines if not re.match(rb"(name|source|end) ", line)]

    def test_an_odd_tree_survives_capture_and_populate(self):
        tree = self.odd_tree()
        self.filereel("capture", tree, "-o", "first.fileset")
        self.filereel("populate", "first.fileset", "again")
        self.filereel("capture", "again", "-o", "second.fileset")
        self.filereel("populate", "second.fileset", "third")
        first, second = self.entries("first.fileset"), self.entries("second.fileset")
        self.assertEqual(len(first), len(second))
        self.assertEqual(first, second)
        again, third = self.scratch / "again", self.scratch / "third"
        for one in (again, third):
            self.assertEqual(self.metadata(tree), self.metadata(one))

    def metadata(self, folder):
        found = {}
        root = os.fsencode(folder)
        for parent, folders, files in os.walk(root):
            for name in sorted(folders + files):
                path = os.path.join(parent, name)
                info = os.lstat(path)
                relative = os.path.relpath(path, root)
                is_file = stat.S_ISREG(info.st_mode)
                found[relative] = (info.st_mode, info.st_size if is_file else 0, info.st_mtime_ns,
                                   info.st_nlink if is_file else 0,
                                   os.readlink(path) if os.path.islink(path) else b"")
        return found

    def test_a_hundred_thousand_files_are_captured_in_little_memory(self):
        tree = self.folder("many")
        content = b"small\n"
        for i in range(100):
            folder = tree / f"d{i}"
            folder.mkdir()
            descriptor = os.open(folder, os.O_RDONLY)
            for j in range(1000):
                file = os.open(f"f{j}", os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=descriptor)
                os.write(file, content)
                os.close(file)
            os.close(descriptor)
        process = subprocess.Popen([FILEREEL, "--quiet", "capture", tree, "-o", "many.fileset"],
                                   cwd=self.scratch, env=self.environment(),
                                   stdout=subprocess.PIPE, text=True)
        out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stdout.close()
        self.assertEqual(process.returncode, 0, out)
        self.assertIn("100000 files", out)
        self.assertLess(usage.ru_maxrss, 64 << 10)  # KiB
        print(f"peak memory {usage.ru_maxrss} KiB", flush=True)


if __name__ == "__main__":
    main()
