"""The limits of file systems: those of docs/file-systems.md, tried on real volumes at the limit and just
beyond it, and what filereel does with jobs that exceed them."""

import contextlib
import os
import pathlib
import re
import subprocess
import unittest

from support import (FILE_SYSTEMS, IntegrationTest, call, find, have, kernel_has, main, needs,
                     wait_until)

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "file-systems.md"
KINDS = {"ext4": "ext4", "xfs": "xfs", "btrfs": "btrfs", "ntfs3": "ntfs", "ntfs-3g": "ntfs",
         "vfat": "fat32", "fusefat": "fat32", "exfat": "exfat", "mount.exfat-fuse": "exfat"}
SECOND = 10**9


def tables():
    """The limits by driver and title."""
    limits, drivers = {}, []
    for line in DOCUMENT.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] == "limit":
            drivers = cells[1:]
        elif line.startswith("| ") and drivers and len(cells) == len(drivers) + 1:
            for driver, text in zip(drivers, cells[1:]):
                limits.setdefault(driver, {})[cells[0]] = text
    return limits


LIMITS = tables()


def size_of(text):
    units = {"KiB": 10, "MiB": 20, "GiB": 30, "TiB": 40, "PiB": 50, "EiB": 60}
    parts = [int(number) << units.get(unit, 0)
             for number, unit in re.findall(r"(\d+) ?(\w+)?", text)]
    return parts[0] - parts[1]


def why_not(driver):
    """Why this driver cannot be tested here; None if it can."""
    if os.geteuid() != 0:
        return "needs root"
    if driver == "tmpfs":
        return None
    maker, kernel_name, fuse, _ = FILE_SYSTEMS[KINDS[driver]]
    if not os.path.exists("/dev/loop-control"):
        return "needs loop devices"
    if not have(maker):
        return f"{maker} is missing"
    if driver == kernel_name:
        return None if kernel_has(driver) else f"the kernel has no driver {driver}"
    return None if have(fuse[0]) and os.path.exists("/dev/fuse") else f"{driver} is missing"


class Volume:
    """A fresh file system with a driver, which can be mounted again."""

    def __init__(self, test, driver):
        self.test, self.driver = test, driver
        self.point = test.folder("point")
        self.stack = contextlib.ExitStack()
        if driver == "tmpfs":
            call("mount", "-t", "tmpfs", "tmpfs", self.point)
            self.program = None
            return
        kind = KINDS[driver]
        maker, self.kernel_name, self.fuse, _ = FILE_SYSTEMS[kind]
        image = test.scratch / "image"
        with open(image, "wb") as file:
            file.truncate(400 << 20)
        options = {"ext4": ["-q", "-F", "-b", "4096", "-I", "256"], "xfs": ["-q"], "btrfs": ["-q"],
                   "ntfs": ["-q", "-Q", "-F"], "fat32": ["-F", "32", "-s", "8", "-n", "FILEREEL"],
                   "exfat": []}[kind]
        call(maker, *options, image)
        self.device = self.stack.enter_context(test.loop(image))
        self.mount()

    def mount(self):
        self.program = None
        if self.driver == self.kernel_name:
            call("mount", "-t", self.driver, self.device, self.point)
            return
        command = [find(self.fuse[0]), *self.fuse[1:], *self.test.foreground(self.fuse[0]),
                   self.device, self.point]
        self.program = subprocess.Popen(command, env=self.test.environment(),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if not wait_until(lambda: os.path.ismount(self.point), 10):
            self.program.kill()
            raise AssertionError(f"{self.driver} does not mount")

    def unmount(self):
        if not wait_until(lambda: subprocess.call(["umount", self.point],
                                                  stderr=subprocess.DEVNULL) == 0, 5, 0.05):
            call("umount", "-l", self.point)
        if self.program:
            self.program.wait(30)

    def again(self):
        if self.driver != "tmpfs":
            self.unmount()
            self.mount()

    def close(self):
        self.unmount()
        self.stack.close()

    def path(self, name):
        return os.path.join(os.fsencode(self.point), os.fsencode(name))


class OnRealVolumes(IntegrationTest):
    """What the document allows works, and what it refuses fails: on the file system, not in a model."""

    memory = 900

    def fails(self, attempt, *arguments):
        with self.assertRaises(OSError):
            attempt(*arguments)

    def create(self, name):
        path = self.volume.path(name)
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        self.assertIn(os.fsencode(name), os.listdir(os.path.dirname(path)))
        os.unlink(path)

    def is_new_fusefat(self):
        """Version 0.3 supports other characters than ASCII, and does not show the label as a file."""
        return self.driver == "fusefat" and b"FILEREEL" not in os.listdir(self.volume.path(""))

    def check_largest_file(self, text):
        most = size_of(text)
        if self.driver in ("fusefat", "mount.exfat-fuse", "vfat", "exfat"):
            self.skipTest("a file without holes of this size takes too long to write")

        def write_up_to(size):
            file = os.open(self.volume.path("large"), os.O_CREAT | os.O_RDWR)
            try:
                self.assertEqual(os.pwrite(file, b"x", size - 1), 1)
                self.assertEqual(os.fstat(file).st_size, size)
            finally:
                os.close(file)
                os.unlink(self.volume.path("large"))
        write_up_to(most)
        self.fails(write_up_to, min(most + 1, 2**63))

    def check_longest_name(self, text):
        most, unit = text.split()
        most = int(most)
        self.create("n" * most)
        self.fails(self.create, "n" * (most + 1))
        if unit == "ASCII" and self.is_new_fusefat():
            self.create("\u00e4")  # but filereel writes the same names with all versions
        elif unit == "ASCII":
            self.fails(self.create, "\u00e4")
        elif unit == "bytes":
            self.create("\u00e4" * (most // 2))
            self.fails(self.create, "\u00e4" * (most // 2 + 1))
        else:
            self.create("\u00e4" * most)
            self.fails(self.create, "\u00e4" * (most + 1))
            self.create("\U0001f600" * (most // 2))
            self.fails(self.create, "\U0001f600" * (most // 2 + 1))

    def check_names(self, text):
        odd = ["a:b", "a\\b", "<", "?", "a\x01", "x.", "x ", "CON", "COM\u00b9", b"\xff"]
        escaped = ["a%3Ab", "a%5Cb", "%3C", "%3F", "a%01", "x%2E", "x%20", "CO%4E", "COM%C2%B9", "%FF"]
        for name in escaped if text == "Windows" else odd:
            self.create(name)
        if text == "Windows":
            self.fails(self.create, b"\xff")

    def check_names_in_the_root(self, text):
        files = ["$MFT", "$MFTMirr", "$LogFile", "$Volume", "$AttrDef", "$Bitmap", "$Boot", "$BadClus",
                 "$Secure", "$UpCase", "$Extend"]
        exist = {"any": [], "label": ["FILEREEL", "filereel"], "`$MFT` \u2026": files}[text]
        if text == "label" and self.is_new_fusefat():
            exist = []
        for name in exist:
            self.fails(self.create, name)
        for name in set(files) - set(exist):
            self.create(name)

    def check_text_of_a_symbolic_link(self, text):
        def link(target):
            path = self.volume.path("link")
            os.symlink(target, path)
            try:
                self.assertEqual(os.readlink(path), target)
            finally:
                os.unlink(path)
        if text == "none":
            return self.fails(link, b"t")
        link(b"t" * int(text))
        self.fails(link, b"t" * (int(text) + 1))
        if LIMITS[self.driver]["names"] == "Windows":
            link(b"%FF/a%3Ab")
            return self.fails(link, b"\xff")
        return link(b"\xff/a:b")

    def check_hard_links_of_a_file(self, text):
        os.mkdir(self.volume.path("links"))
        with open(self.volume.path("file"), "w"):
            pass

        def link(number):
            os.link(self.volume.path("file"), self.volume.path(f"links/{number}"))
        if text == "none":
            return self.fails(link, 1)
        most = int(text)
        if most > 100_000 or self.driver == "ntfs-3g":
            for number in range(1, 300):
                link(number)
            self.skipTest("so many hard links take too long to create")
        for number in range(1, most):
            link(number)
        self.assertEqual(os.stat(self.volume.path("file")).st_nlink, most)
        return self.fails(link, most)

    def check_entries_of_a_directory(self, text):
        os.mkdir(self.volume.path("many"))

        def create(number):
            name = f"many/{number:06}" + "n" * 249
            os.close(os.open(self.volume.path(name), os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        if text == "any":
            for number in range(3200):
                create(number)
            return
        if self.driver != "vfat":
            self.skipTest("so many names take too long to create")
        fit = (int(text) - 2) // 21
        for number in range(fit):
            create(number)
        self.fails(create, fit)

    def check_value_of_an_attribute(self, text):
        path = self.volume.path("attributes")
        with open(path, "w"):
            pass

        def attribute(size):
            os.setxattr(path, "user.a", b"v" * size)
            self.assertEqual(len(os.getxattr(path, "user.a")), size)
            os.removexattr(path, "user.a")
        if text == "none":
            return self.fails(attribute, 1)
        attribute(int(text))
        return self.fails(attribute, int(text) + 1)

    def stored(self, times):
        """The times in ns, as they are read after another mount; None where they are refused."""
        found = []
        for number, time in enumerate(times):
            path = self.volume.path(f"time{number}")
            with open(path, "w"):
                pass
            with contextlib.suppress(OSError, OverflowError):
                os.utime(path, ns=(time, time))
                found.append(path)
                continue
            found.append(None)
        self.volume.again()
        return [path and os.stat(path).st_mtime_ns for path in found]

    def check_times(self, earliest, latest, unit):
        number, name = unit.split()
        unit = int(number) * {"ns": 1, "ms": 10**6, "s": SECOND}[name]
        first = -9223372036 if earliest == "any" else int(earliest)
        last = 9223372036 if latest == "any" else int(latest)
        within = [first * SECOND, last * SECOND, 10**18, 10**18 + unit - 1, 10**18 + unit,
                  10**18 + 3 * unit - 1]
        beyond = [(first - 1) * SECOND] * (earliest != "any") + [(last + 1) * SECOND] * (latest != "any")
        found = self.stored(within + beyond)
        self.assertEqual(found[:len(within)], [time // unit * unit for time in within])
        for time, stored in zip(beyond, found[len(within):]):
            self.assertNotEqual(stored, time)

    def check(self, driver):
        reason = why_not(driver)
        if reason:
            self.skipTest(reason)
        self.driver = driver
        self.volume = Volume(self, driver)
        self.addCleanup(self.volume.close)
        limits = dict(LIMITS[driver])
        times = [limits.pop(one) for one in ("earliest time, s", "latest time, s", "unit of times")]
        with self.subTest("times"):
            self.check_times(*times)
        for title, text in limits.items():
            with self.subTest(title, text=text):
                getattr(self, "check_" + title.replace(" ", "_"))(text)


for one in LIMITS:
    if one != "others":
        setattr(OnRealVolumes, "test_" + re.sub(r"\W", "_", one),
                lambda self, driver=one: self.check(driver))


class Jobs(IntegrationTest):
    """What exceeds a limit is refused before anything is formatted, or is changed and counted."""

    def capture(self, *links):
        """A file set with these links: path and text."""
        tree = self.folder("tree")
        for path, text in links:
            path = os.path.join(os.fsencode(tree), path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if text is None:
                with open(path, "w") as file:
                    file.write("x")
            else:
                os.symlink(text, path)
        self.filereel("capture", tree, "-o", "set.fileset")
        return ["--set", "set.fileset"]

    def reel(self, *calls):
        lines = "".join(f"{1700000000 + i}.000000 {one} <0.000010>\n" for i, one in enumerate(calls))
        (self.scratch / "app.strace").write_text(lines)
        self.filereel("import", "app.strace", "-o", "app.reel", "--cwd", "/")
        return ["app.reel"]

    def run_on(self, kind, job, *more, status=0):
        return self.filereel("run", *job, "--near", "image:near.img", "--fs", kind, "--runs", "1",
                             "--json", "r.json", *more, status=status)

    def assert_refused_on(self, kind, job, *words):
        before = sorted(os.listdir(self.scratch))
        self.assert_refused(self.run_on(kind, job, status=None), 1, *words)
        self.assertEqual(sorted(os.listdir(self.scratch)), before)

    def warnings(self, code):
        return [one["text"] for one in self.result()["warnings"] if one["code"] == code]

    @needs("xfs", "ext4")
    def test_a_text_that_is_too_long_is_refused_before_anything_is_formatted(self):
        files = self.capture((b"d/l", b"t" * 1025))
        self.assert_refused_on("ext4,xfs", files, "link d/l", "1025 bytes", "1023")
        self.run_on("ext4", files, "--operations", "create")
        reel = self.reel(f'symlink("{"t" * 1025}", "l") = 0')
        os.unlink(self.scratch / "near.img")
        os.unlink(self.scratch / "r.json")
        self.assert_refused_on("xfs", reel, "link l", "1025 bytes", "1023")
        failed = self.reel(f'symlink("{"t" * 1025}", "l") = -1 ENAMETOOLONG (File name too long)')
        self.run_on("xfs", failed)

    @needs("xfs")
    def test_populate_refuses_it_before_it_creates_anything(self):
        files = self.capture((b"a", None), (b"l", b"t" * 1025))
        image, point = self.scratch / "xfs.img", self.folder("xfs")
        with open(image, "wb") as file:
            file.truncate(400 << 20)
        call("mkfs.xfs", "-q", image)
        with self.loop(image) as device:
            call("mount", "-t", "xfs", device, point)
            self.addCleanup(call, "umount", "-l", point, status=None)
            refused = self.filereel("populate", files[1], point / "tree", status=None)
            self.assert_refused(refused, 1, "link l", "1025 bytes", "1023")
            self.assertEqual(os.listdir(point), [])
            call("umount", point)

    @needs("exfat")
    def test_a_directory_on_exfat_has_no_links_whatever_its_driver(self):
        files = self.capture((b"a", None), (b"l", b"a"))
        image = self.scratch / "exfat.img"
        with open(image, "wb") as file:
            file.truncate(400 << 20)
        call("mkfs.exfat", image)
        with self.mounted("exfat", image, read_only=False) as root:
            refused = self.filereel("populate", files[1], root / "tree", status=None)
            self.assert_refused(refused, 1, "l is a symbolic link")
            self.assertEqual(os.listdir(root), [])
            self.filereel("run", *files, "--near", root, "--runs", "1", "--json", "r.json",
                          "--operations", "create")
        self.assertIn("symbolic links: 1 link left out", self.warnings("downgraded")[0])

    @needs("ext4")
    def test_populate_counts_times_that_ext4_changes(self):
        tree = self.memory_folder(10)
        for name, time in (("old", -5 * 10**9), ("new", 10**9)):
            (tree / name).write_text(name)
            os.utime(tree / name, ns=(time * SECOND, time * SECOND))
        self.filereel("capture", tree, "-o", "set.fileset")
        with self.ext4_volume(32) as volume:
            done = self.filereel("populate", "set.fileset", volume / "tree")
            self.assertIn("1 entry with times that the file system rejected or changed",
                          done.out + done.err)
            self.assertEqual(os.stat(volume / "tree" / "new").st_mtime_ns, 10**18)

    @needs("ntfs")
    def test_links_on_ntfs_lead_to_the_escaped_names(self):
        files = self.capture((b"d/a:b", None), (b"d/COM\xc2\xb9", None), (b"one", b"d/a:b"),
                             (b"d/two", b"../d/COM\xc2\xb9"), (b"three", b"\xff/nowhere"))
        self.run_on("ntfs", files, "--operations", "create,copy-near")
        texts = [one for one in self.warnings("names-escaped") if "texts" in one]
        self.assertEqual(len(texts), 1)
        self.assertIn("3 texts", texts[0])
        with self.mounted("ntfs", self.scratch / "near.img") as root:
            for folder in ("original", "copy"):
                tree = os.fsencode(root / folder)
                self.assertEqual(os.readlink(tree + b"/one"), b"d/a%3Ab")
                self.assertEqual(os.readlink(tree + b"/d/two"), b"../d/COM%C2%B9")
                self.assertEqual(os.readlink(tree + b"/three"), b"%FF/nowhere")
                for link in (b"/one", b"/d/two"):
                    self.assertEqual(os.stat(tree + link).st_size, 1)

    @needs("ntfs")
    def test_a_reel_with_texts_and_names_of_others_runs_on_ntfs(self):
        reel = self.reel('symlink("\\377:", "l") = 0', 'readlink("l", "\\377:", 4096) = 2',
                         'mkdir("$MFT", 0777) = 0',
                         'openat(AT_FDCWD, "$LogFile", O_RDWR|O_CREAT, 0644) = 3', 'close(3) = 0')
        self.run_on("ntfs", reel, "--verify", "tree")
        with self.mounted("ntfs", self.scratch / "near.img") as root:
            self.assertEqual(os.readlink(root / "l"), "%FF%3A")
            self.assertEqual(sorted(os.listdir(root)), ["%24LogFile", "%24MFT", "l"])

    @needs("fat32")
    def test_a_reel_with_a_file_too_large_for_fat32_is_refused_before_anything_is_formatted(self):
        opened = 'openat(AT_FDCWD, "big", O_RDWR|O_CREAT, 0644) = 3'
        for grow in ("ftruncate(3, 4294967296) = 0", 'pwrite64(3, "x", 1, 4294967295) = 1',
                     "fallocate(3, 0, 0, 4294967296) = 0"):
            with self.subTest(grow):
                reel = self.reel(opened, grow, "ftruncate(3, 1) = 0", "close(3) = 0")
                self.assert_refused_on("fat32", reel, "big has", "4294967295 bytes")

    @needs("fat32")
    def test_times_and_attributes_that_fat32_does_not_have_are_counted(self):
        reel = self.reel('openat(AT_FDCWD, "f", O_RDWR|O_CREAT, 0644) = 3', "close(3) = 0",
                         'utimensat(AT_FDCWD, "f", [{tv_sec=0, tv_nsec=0}, '
                         '{tv_sec=0, tv_nsec=0}], 0) = 0',
                         'setxattr("f", "user.a", "vvv", 3, 0) = 0')
        self.run_on("fat32", reel)
        texts = self.warnings("downgraded")
        self.assertEqual(len(texts), 2, texts)
        self.assertIn("times", texts[0])
        self.assertIn("attributes of 3 bytes", texts[1])

    @needs("fat32")
    def test_too_many_names_for_a_directory_of_fat32_are_refused_before_anything_is_formatted(self):
        files = ["--set", self.write_set("name: many\ngroups:\n  - {path: d, count: 70000, size: 1, "
                                         "directories: {depth: 0}}\n")]
        self.assert_refused_on("fat32", files, "directory d", "65536")
        work = self.scratch / "w.yaml"
        work.write_text("files: {count: 70000, size: 1 B}\ndo: [stat]\n")
        self.assert_refused_on("fat32", [work], "65536")


if __name__ == "__main__":
    main()
