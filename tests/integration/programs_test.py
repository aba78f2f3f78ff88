"""Real programs: recorded by strace, imported, replayed on ext4, and the trees compared."""

import os
import pathlib
import shutil
import subprocess
import unittest

from support import (THOROUGH, IntegrationTest, VolumesTest, call, find, have, main, needs,
                     thorough, tree_shape, wait_until)

HERE = pathlib.Path(__file__).resolve().parent
# Only what concerns files: futexes and signals would cost most of the time.
TRACED = "%file,%desc,%process,%memory,io_submit,io_getevents,io_uring_setup,umask"


@needs("ext4")
@unittest.skipUnless(have("strace"), "needs strace")
class RealPrograms(VolumesTest):

    volumes = {"volume": 1500}

    def setUp(self):
        super().setUp()
        self.work = self.folder("work")
        self.clean = {**os.environ, "LC_ALL": "C.UTF-8", "HOME": str(self.folder("home")),
                      "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b",
                      "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}

    def recorded(self, *command, cwd=None, options=()):
        """Runs the command under strace; gives the reel made of it."""
        call("strace", "-f", "--seccomp-bpf", "-ttt", "-T", "-y", "-s", "256", "-e",
             "trace=" + TRACED, "-o", self.scratch / "trace", *command, cwd=cwd or self.work,
             env=self.clean)
        return self.imported(*options, cwd=cwd)

    def imported(self, *options, cwd=None):
        done = self.filereel("import", "trace", "-o", "app.reel", "--cwd", cwd or self.work,
                             *options)
        print(done.out.strip(), flush=True)
        return self.scratch / "app.reel"

    def source_tree(self, name="in", folders=12, files=20):
        """A tree of small and middling files, with links."""
        top = self.folder(name)
        for i in range(folders):
            folder = top / f"folder {i}"
            folder.mkdir()
            for j in range(files):
                size = (i * 7919 + j * 104729) % 30000
                (folder / f"file-{j}.txt").write_bytes(os.urandom(size // 2) + bytes(size // 2))
        (top / "link").symlink_to("folder 1/file-1.txt")
        (top / "folder-link").symlink_to("folder 2")
        os.link(top / "folder 3" / "file-3.txt", top / "hard")
        return top

    def check(self, reel, *outputs):
        """Replays the reel in a fresh folder of an ext4 and compares the folders with the original's."""
        target = self.fresh("volume", "target")
        done = self.filereel("replay", reel, target, "--order", "resource", "--verify", "tree",
                             "--runs", "1", "--json", "r.json", status=None)
        self.assertEqual(done.code, 0, done)
        sample, = self.result()["measurements"][0]["samples"]
        classes = sample["divergences"].get("by_class", {})
        print(sample["operations"], "operations,", sample["divergences"]["count"],
              "divergences", classes, flush=True)
        self.assertEqual(classes.get("mismatch", 0), 0, done)
        for output in outputs:
            there = tree_shape(str(target) + str(output))
            self.assertEqual(there, tree_shape(output))
            self.assertTrue(there)

    def test_tar(self):
        tree = self.source_tree()
        call("tar", "cf", self.work / "a.tar", "-C", tree, ".")
        out = self.work / "out"
        out.mkdir()
        self.check(self.recorded("tar", "xf", "a.tar", "-C", "out"), self.work)

    @unittest.skipUnless(have("git"), "needs git")
    def test_git_clone_and_checkout(self):
        tree = self.source_tree()
        def git(*words, cwd=tree):
            return call("git", *words, cwd=cwd, env=self.clean)
        git("init", "-q", "-b", "main")
        git("add", ".")
        git("commit", "-q", "-m", "one")
        git("checkout", "-q", "-b", "other")
        for i in range(10):
            (tree / f"folder {i}" / "file-1.txt").write_text("changed " * i * 100)
        git("add", ".")
        git("commit", "-q", "-m", "two")
        git("checkout", "-q", "main")
        script = f"git clone -q '{tree}' copy && cd copy && git checkout -q other"
        self.check(self.recorded("sh", "-c", script), self.work / "copy")

    @unittest.skipUnless(have("cc", "make"), "needs cc and make")
    def test_cc_by_make_in_two_processes(self):
        for i in range(6):
            (self.work / f"part{i}.c").write_text(
                f'#include <stdio.h>\n#include "all.h"\nint part{i}(void) '
                f'{{ return printf("{i}\\n"); }}\n')
        (self.work / "all.h").write_text("".join(f"int part{i}(void);\n" for i in range(6)))
        (self.work / "main.c").write_text(
            '#include "all.h"\nint main(void) { return ' +
            " + ".join(f"part{i}()" for i in range(6)) + "; }\n")
        objects = " ".join(f"part{i}.o" for i in range(6)) + " main.o"
        (self.work / "Makefile").write_text(
            f"prog: {objects}\n\tcc -o $@ $^\n%.o: %.c all.h\n\tcc -O1 -c -o $@ $<\n")
        self.check(self.recorded("make", "-j2"), self.work)

    def test_python_with_sqlite_on_a_base_that_was_there_before(self):
        script = self.work / "insert.py"
        script.write_text(
            "import sqlite3\n"
            "base = sqlite3.connect('base.sqlite', isolation_level=None)\n"
            "base.execute('pragma synchronous = full')\n"
            "base.execute('create table if not exists t (n integer primary key, text)')\n"
            "first, = base.execute('select coalesce(max(n) + 1, 0) from t').fetchone()\n"
            "for i in range(first, first + 100):\n"
            "    base.execute('insert into t values (?, ?)', (i, 'x' * (i * 13 % 700)))\n"
            "base.execute('delete from t where n % 3 = 0 and n >= ?', (first,))\n"
            "base.close()\n")
        call("python3", "-B", script, cwd=self.work)
        (self.work / "untouched").write_text("known only by having looked before")
        self.filereel("capture", self.work, "-o", "before.fileset")
        before = ["--initial", "before.fileset", "--at", self.work]
        self.check(self.recorded("python3", "-B", script, options=before), self.work)

    @unittest.skipUnless(have("dpkg", "dpkg-deb"), "needs dpkg")
    def test_dpkg_unpacking_a_package(self):
        package = self.folder("package")
        shutil.copytree(self.source_tree(), package / "usr/share/thing", symlinks=True)
        (package / "DEBIAN").mkdir()
        (package / "DEBIAN/control").write_text(
            "Package: thing\nVersion: 1\nArchitecture: all\nMaintainer: a <a@b>\n"
            "Description: for a test\n")
        call("dpkg-deb", "-b", package, self.work / "thing.deb")
        root = self.work / "root"
        for folder in ["updates", "info"]:
            (root / "var/lib/dpkg" / folder).mkdir(parents=True)
        (root / "var/lib/dpkg/status").touch()
        self.check(self.recorded("dpkg", f"--root={root}", "--log=/dev/null", "--unpack",
                                 self.work / "thing.deb"), root)

    @unittest.skipUnless(have("rsync"), "needs rsync")
    def test_rsync(self):
        tree = self.source_tree()
        (self.work / "out").mkdir()
        (self.work / "out" / "old").write_text("to be deleted")
        self.check(self.recorded("rsync", "-a", "--delete", f"{tree}/", "out/"), self.work)

    @thorough("a large program on files that were there before, as SQLite is a small one")
    @unittest.skipUnless(have("mariadbd", "mariadb-install-db", "mariadb"), "needs MariaDB")
    def test_a_mariadb_start_with_a_short_load(self):
        data, socket = self.work / "data", self.scratch / "sock"
        # As root: the recorded server and its files belong to nobody else.
        options = [f"--datadir={data}", "--user=root"]
        call("mariadb-install-db", "--no-defaults", *options, "--auth-root-authentication-method=normal",
             "--skip-test-db", env=self.clean)
        self.filereel("capture", self.work, "-o", "before.fileset")
        # strace cannot see io_uring, which the server would use for its own I/O.
        server = subprocess.Popen(
            [find("strace"), "-f", "--seccomp-bpf", "-ttt", "-T", "-y", "-s", "256", "-e",
             "trace=" + TRACED, "-o", self.scratch / "trace", find("mariadbd"), "--no-defaults",
             *options, f"--socket={socket}", "--skip-networking", "--innodb-use-native-aio=0",
             "--log-bin=binlog", "--sync-binlog=1", f"--pid-file={self.scratch}/pid",
             "--innodb-buffer-pool-size=16M"],
            cwd=self.work, env=self.clean, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            def answers():
                return subprocess.call([find("mariadb-admin"), "--no-defaults", f"--socket={socket}",
                                        "-uroot", "ping"], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL) == 0
            self.assertTrue(wait_until(answers, 90, 0.5), "the server does not start")
            load = "create database d; use d; create table t (n int primary key, text varchar(500));"
            for i in range(300):
                load += f"insert into t values ({i}, repeat('x', {i}));"
            load += "update t set text = repeat('y', 400) where n % 2 = 0; shutdown;"
            call("mariadb", "--no-defaults", f"--socket={socket}", "-uroot", "-e", load)
            server.wait(90)
        finally:
            if server.poll() is None:
                server.kill()
        # What lies in the folder and is not touched is known only by having looked before.
        self.check(self.imported("--initial", "before.fileset", "--at", self.work), data)


@unittest.skipUnless(have("strace", "cc"), "needs strace and cc")
class FilesPassedBetweenThreads(IntegrationTest):

    FILES, REPLAYS = (10000, 100) if THOROUGH else (3000, 20)

    def keep_awake(self):
        """Lets no processor go to sleep while all threads wait: on some machines waking one takes
        ten times as long as all that a file is passed on with."""
        for _ in range(os.cpu_count()):
            idler = subprocess.Popen(["sh", "-c", "while :; do :; done"])
            self.addCleanup(idler.wait)
            self.addCleanup(idler.kill)
            os.sched_setscheduler(idler.pid, os.SCHED_IDLE, os.sched_param(0))

    def test_resource_order_never_diverges_and_thread_order_does(self):
        self.keep_awake()
        program = self.scratch / "pass_files"
        call("cc", "-O1", "-pthread", "-o", program, HERE / "pass_files.c")
        work = self.folder("work")
        call("strace", "-f", "--seccomp-bpf", "-ttt", "-T", "-e", "trace=%file,%desc,%process",
             "-o", self.scratch / "trace", program, str(self.FILES), cwd=work)
        self.filereel("import", "trace", "-o", "app.reel", "--cwd", work)
        # Memory is the hardest: nothing there hides a missing order by waiting for a disk.
        target = self.memory_folder(500) / "target"
        done = self.filereel("replay", "app.reel", target, "--order", "resource", "--verify",
                             "tree", "--runs", self.REPLAYS, "--json", "r.json", timeout=300)
        samples = self.result()["measurements"][0]["samples"]
        self.assertEqual(len(samples), self.REPLAYS, done)
        self.assertEqual([one["divergences"]["count"] for one in samples], [0] * self.REPLAYS)
        self.assertEqual(tree_shape(str(target) + str(work)), tree_shape(work))
        for _ in range(50):  # by chance the threads may run one after the other
            self.filereel("replay", "app.reel", target, "--order", "thread", "--runs", "1", "--json", "t.json",
                          status=None)
            sample, = self.result("t.json")["measurements"][0]["samples"]
            if sample["divergences"]["count"] > 0:
                return
        self.fail("the order of threads alone never diverges")


if __name__ == "__main__":
    main()
