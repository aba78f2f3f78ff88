"""The check of recordings against the real tree: errors planted in a trace of strace are all found, an
unaltered one has none."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from support import FILEREEL, IntegrationTest, have, main, no_bpf, remove_tree

# What is recorded: one call of each kind, all in a directory that it makes.
PROGRAM = """
import os
os.umask(0o027)
os.mkdir("w", 0o755)
os.chdir("w")
def put(name, data, mode=0o644, flags=0):
    one = os.open(name, os.O_WRONLY | os.O_CREAT | flags, mode)
    os.write(one, data)
    return one
os.close(put("plain", b"p" * 1000))
os.close(put("moved", b"m" * 10)); os.rename("moved", "new")
os.close(put("gone", b"g")); os.unlink("gone")
os.close(put("runs", b"r", 0o755))
os.close(put("changed", b"c")); os.chmod("changed", 0o600)
sparse = put("sparse", b"s"); os.pwrite(sparse, b"e" * 4096, 1 << 20); os.close(sparse)
cut = put("cut", b"c" * 5000); os.ftruncate(cut, 77); os.close(cut)
os.close(put("again", b"a" * 500)); os.close(put("again", b"b" * 5, 0o644, os.O_TRUNC))
os.close(put("log", b"l" * 100)); os.close(put("log", b"l" * 50, 0o644, os.O_APPEND))
os.close(put("one", b"1")); os.link("one", "two")
os.close(put("left", b"1")); os.link("left", "right"); os.unlink("left")
os.symlink("plain", "link"); os.symlink("other", "link 2")
os.mkdir("folder", 0o710); os.mkdir("folder/deep"); os.close(put("folder/deep/file", b"d"))
os.mkdir("empty"); os.rmdir("empty")
os.mkdir("from"); os.close(put("from/inside", b"i")); os.rename("from", "to")
os.mkfifo("pipe")
os.mkdir("place"); os.chdir("place"); os.close(put("here", b"h")); os.chdir("..")
first = put("first", b""); second = put("second", b"")
os.write(first, b"x" * 30); os.write(second, b"y" * 40)
os.close(first); os.close(second)
room = put("room", b""); os.posix_fallocate(room, 0, 8192); os.close(room)
"""

# Each error: the line to change, and its replacement; "" removes it.
ERRORS = {
    "a lost rename": (r'.*rename\("moved".*\n', ""),
    "a lost rename of a directory": (r'.*rename\("from".*\n', ""),
    "a lost unlink": (r'.*unlink\("gone".*\n', ""),
    "a lost link": (r'.*link\("one", "two".*\n', ""),
    "a lost unlink of one of two names": (r'.*unlink\("left".*\n', ""),
    "a lost symbolic link": (r'.*symlink\("other".*\n', ""),
    "a lost directory": (r'.*mkdir\("folder", 0710.*\n', ""),
    "a lost removal of a directory": (r'.*rmdir\("empty".*\n', ""),
    "a lost write": (r'(.*"p+".*\n)', ""),
    "a lost write at an offset": (r".*pwrite64.*\n", ""),
    "a lost truncation": (r".*ftruncate.*\n", ""),
    "a lost change of permissions": (r'.*chmod\("changed".*\n', ""),
    "a lost allocation": (r".*fallocate.*\n", ""),
    "a lost pipe": (r'.*mknod(at)?\(.*"pipe".*\n', ""),
    "a lost umask": (r".*umask\(027.*\n", ""),
    "another offset": (r"1048576\) += 4096", "1048000000) = 4096"),
    "an offset in a hole": (r"1048576\) += 4096", "524288) = 4096"),
    "another length": (r'("l+"(?:\.\.\.)?), 50\) += 50', r"\1, 60) = 60"),
    "another name": (r'"moved", "new"', '"moved", "old"'),
    "another text of a link": (r'symlink\("other"', 'symlink("another"'),
    "another mode of a file": (r"O_CLOEXEC, 0755", "O_CLOEXEC, 0700"),
    "another mode of a directory": (r'"folder", 0710', '"folder", 0700'),
    "a forgotten O_TRUNC": (r"O_TRUNC\|", ""),
    "a forgotten O_APPEND": (r"O_APPEND\|", ""),
    "a write to another file": (r'("x{30,}.*?\n)(.*?write\()(\d+)', None),
    "an invented file": (r'(.*)mkdir\("place".*\n',
                         r'\1openat(AT_FDCWD, "invented", O_WRONLY|O_CREAT, 0644) = 99' "\n"
                         r"\1close(99) = 0" "\n" r"\g<0>"),
    "an invented directory": (r'(.*)mkdir\("place".*\n', r'\1mkdir("invented", 0755) = 0' "\n" r"\g<0>"),
    "an invented removal": (r'(.*)mkdir\("place".*\n', r'\1unlink("plain") = 0' "\n" r"\g<0>"),
    "an invented write": (r"(.*)(ftruncate\()(\d+)(.*)\n",
                          r'\g<0>' r'\1pwrite64(\3, "x", 1, 900) = 1' "\n"),
}


# Errors that leave the tree as it is: only the content differs.
CONTENT_ERRORS = {
    "a lost write that another one hides": (r'.*pwrite64\(\d+<[^>]*written>, "b.*\n', ""),
    "another offset within the file": (r'("c{8,}.*?, 100, )1000\)', r"\g<1>3000)"),
    "an exchange of two writes": (r"(.*pwrite64.*\"a{8,}.*\n)(.*pwrite64.*\"b{8,}.*\n)", r"\2\1"),
    "other data": (r'"c{8,}"', '"' + "d" * 64 + '"'),
}
CONTENT_PROGRAM = """
import os
one = os.open("written", os.O_RDWR | os.O_CREAT | os.O_EXCL)
os.write(one, b"-" * 8000)
os.pwrite(one, b"a" * 100, 500); os.pwrite(one, b"b" * 100, 500); os.pwrite(one, b"c" * 100, 1000)
os.pwritev(one, [b"v" * 10, b"w" * 90], 5000)
"""


@unittest.skipUnless(have("strace"), "needs strace")
class PlantedErrors(IntegrationTest):
    def setUp(self):
        super().setUp()
        self.text = self.scratch / "a.strace"
        subprocess.run(["strace", "-f", "-ttt", "-T", "-y", "-s", "64", "-o", self.text,
                        sys.executable, "-S", "-c", PROGRAM], cwd=self.scratch, check=True)

    def test_errors_that_show_in_the_content_only(self):
        text = self.scratch / "c.strace"
        (self.scratch / "w").mkdir(exist_ok=True)
        subprocess.run(["strace", "-y", "-s", "64", "-o", text, sys.executable, "-S", "-c", CONTENT_PROGRAM],
                       cwd=self.scratch / "w", check=True)
        text, place = text.read_text(), self.scratch / "w"
        content = ["--check", "content"]
        self.assertEqual(self.compare(text, place, place, content)[0], 0)
        check = json.loads(self.filereel("show", "b.reel", "--json").out)["check"]
        self.assertEqual(check["writes"], 4)
        for error, (line, instead) in CONTENT_ERRORS.items():
            with self.subTest(error):
                altered = re.sub(line, instead, text, count=1)
                self.assertNotEqual(altered, text, "the error was not planted")
                self.assertEqual(self.compare(altered, place, place)[0], 0)
                found, said = self.compare(altered, place, place, content)
                self.assertEqual(found, 1, said)
                self.assertRegex(said, r"/written has other content at byte \d+ than the recording wrote")

    def compare(self, text, cwd=None, tree=None, options=()):
        """The differences that an import of the text finds."""
        altered = self.scratch / "b.strace"
        altered.write_text(text)
        done = self.filereel("import", altered, "-o", "b.reel", "--cwd", cwd or self.scratch,
                             "--compare-with", tree or self.scratch / "w", *options, status=None)
        found = re.search(r"differs from reality in (\d+) file", done.err)
        self.assertEqual(done.code, 1 if found else 0, done)
        return int(found[1]) if found else 0, done.err

    def test_an_unaltered_trace_agrees(self):
        self.assertEqual(self.compare(self.text.read_text())[0], 0)

    def test_each_planted_error_is_found(self):
        text = self.text.read_text()
        for error, (line, instead) in ERRORS.items():
            with self.subTest(error):
                if instead is None:  # the descriptor of the other file
                    writes = re.findall(r'write\((\d+)<[^>]*/(first|second)>', text)
                    numbers = dict((name, number) for number, name in writes)
                    altered = text.replace(
                        f"write({numbers['first']}<{self.scratch}/w/first>, \"x",
                        f"write({numbers['second']}<{self.scratch}/w/second>, \"x", 1)
                else:
                    altered = re.sub(line, instead, text, count=1)
                self.assertNotEqual(altered, text, "the error was not planted")
                found, said = self.compare(altered)
                self.assertGreater(found, 0, said)

    def test_a_copy_of_the_tree_elsewhere(self):
        copy = self.scratch / "copy"
        copy.mkdir()
        subprocess.run(["cp", "-a", "w", copy], cwd=self.scratch, check=True)
        text = self.text.read_text().replace(str(self.scratch), "")
        found, _ = self.compare(text, cwd="/", tree=copy)
        self.assertEqual(found, 0)
        (copy / "w" / "plain").write_text("shorter")
        found, said = self.compare(text, cwd="/", tree=copy)
        self.assertEqual(found, 1)
        self.assertIn("/w/plain has 7 bytes, 1000 in the recording", said)

    def test_a_directory_that_does_not_exist(self):
        done = self.filereel("import", self.text, "-o", "b.reel", "--compare-with", "nowhere", status=1)
        self.assertIn("--compare-with nowhere: No such file or directory; name an existing directory",
                      done.err)


class Recorded:
    def record(self, *words, **options):
        return self.filereel("record", "--backend", self.BACKEND, "-o", "a.reel", *words, **options)

    def test_a_recording_that_agrees(self):
        done = self.record("--strict", "--", sys.executable, "-S", "-c", PROGRAM)
        self.assertNotIn("reality", done.err)
        check = json.loads(self.filereel("show", "a.reel", "--json").out)["check"]
        self.assertTrue(check["done"])
        self.assertGreater(check["names"], 20)
        self.assertEqual(check["differing"], 0)

    def test_the_content_of_what_was_written(self):
        done = self.record("--strict", "--check", "content", "--", sys.executable, "-S", "-c",
                           CONTENT_PROGRAM)
        said = "content compared with reality: the first bytes of 4 writes"
        self.assertIn(said, done.err)
        self.assertNotIn("differs", done.err)
        self.assertIn(said, self.filereel("show", "a.reel").out)
        check = json.loads(self.filereel("show", "a.reel", "--json").out)["check"]
        self.assertEqual(check["writes"], 4)
        done = self.record("--check", "content", "--", "true")
        self.assertIn("content not compared with reality: no write could be compared", done.err)

    def test_the_content_of_appends_to_files_of_unknown_size(self):
        (self.scratch / "old").write_bytes(b"o" * 500)
        (self.scratch / "log").write_bytes(b"l" * 500)
        script = "echo a >>old; echo b >>old; (echo c; /bin/echo d) >>log; echo e"
        with open(self.scratch / "log", "ab") as log:
            done = subprocess.run([FILEREEL, "record", "--backend", self.BACKEND, "-o", "a.reel", "--strict",
                                   "--check", "content", "--", "sh", "-c", script],
                                  cwd=self.scratch, stdout=log, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_messages_in_a_file_that_the_program_looks_at(self):
        with open(self.scratch / "messages", "wb") as messages:
            done = subprocess.run([FILEREEL, "record", "--backend", self.BACKEND, "-o", "a.reel", "--strict",
                                   "--", sys.executable, "-S", "-c", "import os; os.fstat(2)"],
                                  cwd=self.scratch, stderr=messages, check=False)
        said = (self.scratch / "messages").read_text()
        self.assertEqual(done.returncode, 0, said)
        self.assertIn("recording with", said)

    def test_a_change_of_content_that_keeps_the_size(self):
        (self.scratch / "full").write_bytes(b"f" * 100_000)
        self.record("--strict", "--under", self.scratch, "--", "fallocate", "-p", "-o", "4096", "-l",
                    "8192", "full")
        reel = json.loads(self.filereel("show", "a.reel", "--json").out)
        self.assertEqual(reel["initial"]["bytes"], 100_000)

    def test_without_the_check(self):
        self.record("--no-check", "--", "touch", "f")
        self.assertFalse(json.loads(self.filereel("show", "a.reel", "--json").out)["check"]["done"])

    def test_what_changes_after_the_end_is_told_apart(self):
        ticking = subprocess.Popen(["sh", "-c", "while :; do echo x >>ticks; sleep 0.02; done"],
                                   cwd=self.scratch)
        self.addCleanup(ticking.wait)
        self.addCleanup(ticking.kill)
        done = self.record("--strict", "--pid", ticking.pid, "--duration", "500ms")
        self.assertNotIn("differs", done.err)


class Sparse:
    """What a replay writes before it begins: neither holes nor files that were only looked at."""

    def sparse(self, name, size, *data):
        with open(self.scratch / name, "wb") as file:
            file.truncate(size)
            for offset in data:
                file.seek(offset)
                file.write(os.urandom(8192))
        old = 1_700_000_000
        os.utime(self.scratch / name, (old, old))

    def replayed(self, *command):
        """Records the command, replays it, and gives the folder of the replay."""
        self.filereel("record", "--backend", self.BACKEND, "--strict", "--under", self.scratch, "-o",
                      "../a.reel", "--", *command)
        target = self.scratch.parent / f"{self.scratch.name}-replay"
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        self.addCleanup(remove_tree, target)
        for verify in ("content", "tree"):
            self.filereel("replay", "../a.reel", target, "--runs", "1", "--verify", verify)
        return pathlib.Path(f"{target}{self.scratch}")

    def remove(self, name):
        (self.scratch / name).unlink(missing_ok=True)

    def allocated(self, path):
        return os.stat(path).st_blocks * 512

    def test_a_file_without_data_is_copied(self):
        self.sparse("a", 1 << 20)
        made = self.replayed("cp", "a", "b")
        self.assertEqual(os.path.getsize(made / "b"), 1 << 20)
        self.assertEqual(self.allocated(made / "a"), 0)

    def test_a_sparse_file_is_copied_in_each_way(self):
        for way in (["cp"], ["cp", "--sparse=never"], ["rsync", "-S"], ["tar", "-Scf"]):
            if not have(way[0]):
                continue
            with self.subTest(way):
                self.sparse("big", 64 << 20, 0, 20 << 20)
                names = ["t.tar", "big"] if way[0] == "tar" else ["big", "copy"]
                self.remove(names[-1] if way[0] != "tar" else names[0])
                made = self.replayed(*way, *names)
                self.assertEqual(os.path.getsize(made / "big"), 64 << 20)
                self.assertLess(self.allocated(made / "big"), 4 << 20)

    def test_a_file_that_is_only_looked_at_takes_no_space(self):
        (self.scratch / "full").write_bytes(b"f" * (20 << 20))
        made = self.replayed("stat", "full")
        self.assertEqual(os.path.getsize(made / "full"), 20 << 20)
        self.assertEqual(self.allocated(made / "full"), 0)

    def test_a_file_is_written_as_far_as_it_is_used(self):
        for command, least in ((["head", "-c", "100", "full"], 4096), (["cat", "full"], 40 << 20),
                               (["truncate", "-s", "10", "full"], None), (["rm", "full"], None)):
            with self.subTest(command):
                (self.scratch / "full").write_bytes(b"f" * (40 << 20))
                made = self.replayed(*command)
                if least:
                    self.assertGreaterEqual(self.allocated(made / "full"), least)


@unittest.skipIf(no_bpf(), no_bpf())
class RecordedByBpf(Recorded, IntegrationTest):
    BACKEND = "bpf"

    def test_what_other_processes_change_meanwhile_is_told_apart(self):
        (self.scratch / "looked at").write_text("12345")
        marker = self.scratch.parent / f"{self.scratch.name}-marker"
        self.addCleanup(marker.unlink)
        wait = "until [ -e {} ]; do sleep 0.02; done"
        others = "; ".join([wait.format("own/begun"), "echo more >>'looked at'", "mv made moved",
                            "mkdir other",
                            "ln -s made linked", "rm removed", "chmod 600 'also made'", f": >'{marker}'"])
        changing = subprocess.Popen(["sh", "-c", others], cwd=self.scratch)
        self.addCleanup(changing.wait)
        # Times of files are up to 10 ms older than their creation.
        program = "; ".join(["sleep 0.1", "for f in made removed 'also made'; do echo 1 >$f; done",
                             "stat 'looked at' >/dev/null",
                             "mkdir own", ": >own/begun", wait.format(f"'{marker}'")])
        done = self.record("--strict", "--", "sh", "-c", program.replace(">$f", '>"$f"'))
        self.assertNotIn("differs", done.err)
        check = json.loads(self.filereel("show", "a.reel", "--json").out)["check"]
        self.assertEqual(check["differing"], 0)
        said = "\n".join(check["others"])
        for name, program in (("looked at", "sh"), ("made", "mv"), ("moved", "mv"), ("other", "mkdir"),
                              ("linked", "ln"), ("removed", "rm"), ("also made", "chmod")):
            self.assertRegex(said, rf"/{name} .*; changed by {program} \(process \d+\) at \d")
        self.assertEqual(check["by_others"], 7)

    def test_an_error_of_the_recording_is_not_blamed_on_others(self):
        # A call that filereel does not follow.
        script = ("import ctypes, os, time; open('here', 'w').close(); "
                  "fd = ctypes.CDLL(None).syscall(428, -100, b'.', 1); "
                  "os.close(os.open('lost', os.O_CREAT | os.O_WRONLY, dir_fd=fd)); "
                  "[time.sleep(0.02) for i in range(1000) if not os.path.exists('d/lost')]")
        waiting = "until [ -e lost ]; do sleep 0.02; done; mkdir d; : >other; : >d/lost"
        changing = subprocess.Popen(["sh", "-c", waiting], cwd=self.scratch)
        self.addCleanup(changing.wait)
        done = self.record("--strict", "--", sys.executable, "-S", "-c", script, status=1)
        self.assertIn("differs from reality in 1 file:", done.err)
        self.assertIn("/lost exists; the recording does not know it", done.err)
        self.assertRegex(done.err, "/other exists; the recording does not know it; changed by sh ")


@unittest.skipUnless(have("strace"), "needs strace")
class RecordedByStrace(Recorded, IntegrationTest):
    BACKEND = "strace"


@unittest.skipIf(no_bpf(), no_bpf())
class SparseByBpf(Sparse, IntegrationTest):
    BACKEND = "bpf"


@unittest.skipUnless(have("strace"), "needs strace")
class SparseByStrace(Sparse, IntegrationTest):
    BACKEND = "strace"


if __name__ == "__main__":
    main()
