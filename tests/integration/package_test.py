"""The package of Debian is built, installed beside the system, used, and removed again."""

import gzip
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from support import find, main

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from document_links import faults_of_links  # noqa: E402

BUILD = os.environ.get("BUILD", "")
ROOT = pathlib.Path(__file__).resolve().parents[2]


def call(*command, **options):
    done = subprocess.run([str(one) for one in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=240, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command} exited with {done.returncode}: {done.stdout}")
    return done.stdout


@unittest.skipUnless(BUILD, "BUILD is not set to the folder of the build")
@unittest.skipUnless(find("cpack") and find("dpkg-deb") and find("dpkg-shlibdeps"),
                     "cpack, dpkg-deb or dpkg-shlibdeps is missing")
class Package(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="filereel-package-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        call("cpack", "--config", f"{BUILD}/CPackConfig.cmake", "-G", "DEB", "-B",
             cls.folder / "made", cwd=cls.folder)
        (cls.package,) = (cls.folder / "made").glob("*.deb")
        cls.root = cls.folder / "root"
        call("dpkg-deb", "-x", cls.package, cls.root)

    def field(self, name):
        return call("dpkg-deb", "-f", self.package, name).strip()

    def files(self):
        return {str(path.relative_to(self.root)) for path in self.root.rglob("*")
                if path.is_file()}

    def test_it_is_called_as_packages_are(self):
        version = call(self.root / "usr/bin/filereel", "--version").split()[1]
        self.assertEqual(self.field("Package"), "filereel")
        self.assertEqual(self.field("Version"), f"{version}-1")
        architecture = call("dpkg", "--print-architecture").strip()
        self.assertEqual(self.package.name, f"filereel_{version}-1_{architecture}.deb")
        for program in ("e2fsprogs", "ntfs-3g", "dosfstools", "fusefat", "strace", "fio"):
            self.assertIn(program, self.field("Recommends"))

    def test_it_contains_program_pages_completion_and_documents(self):
        files = self.files()
        pages = {f"usr/share/man/man1/{path.name}.gz" for path in (ROOT / "docs/man").glob("*.1")}
        self.assertGreater(len(pages), 10)
        documents = {f"usr/share/doc/filereel/docs/{path.name}"
                     for path in (ROOT / "docs").glob("*.md")}
        wanted = pages | documents | {
            "usr/bin/filereel",
            "usr/share/bash-completion/completions/filereel",
            "usr/share/zsh/vendor-completions/_filereel",
            "usr/share/fish/vendor_completions.d/filereel.fish",
            "usr/share/doc/filereel/README.md",
            "usr/share/doc/filereel/copyright",
            "usr/share/doc/filereel/changelog.gz",
            "usr/share/doc/filereel/changelog.Debian.gz",
        }
        if os.path.exists(f"{BUILD}/filereel_mpi.so"):
            wanted.add("usr/libexec/filereel/filereel_mpi.so")
        self.assertEqual(wanted - files, set())
        others = [name for name in files - wanted
                  if not name.startswith("usr/share/doc/filereel/docs/")]
        self.assertEqual(others, [])

    def test_links_of_documents_lead_to_what_is_installed(self):
        documents = sorted((self.root / "usr/share/doc/filereel").rglob("*.md"))
        self.assertGreater(len(documents), 20)
        self.assertEqual(faults_of_links(documents, pathlib.Path.exists), [])

    def test_packed_files_have_no_date_and_the_text_of_ours(self):
        for path in self.root.rglob("*.gz"):
            data = path.read_bytes()
            self.assertEqual(data[4:8], bytes(4), path.name)
            gzip.decompress(data)
        page = self.root / "usr/share/man/man1/filereel.1.gz"
        self.assertEqual(gzip.decompress(page.read_bytes()),
                         (ROOT / "docs/man/filereel.1").read_bytes())

    def test_it_depends_on_every_library_that_it_loads(self):
        depends = self.field("Depends")
        self.assertNotIn("mpi", depends)  # loaded on request
        loaded = re.findall(r"=> (/\S+)", call("ldd", self.root / "usr/bin/filereel"))
        self.assertTrue(loaded)
        for library in loaded:
            owners = set()
            for path in {library, os.path.realpath(library), library.removeprefix("/usr"),
                         os.path.realpath(library).removeprefix("/usr")}:
                done = subprocess.run(["dpkg-query", "-S", path], capture_output=True, text=True)
                owners |= set(re.findall(r"^([^:]+):", done.stdout, re.MULTILINE))
            direct = pathlib.Path(library).name in call(
                "readelf", "-d", self.root / "usr/bin/filereel")
            if owners and direct:
                self.assertTrue(any(owner in depends for owner in owners), library)

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_it_installs_runs_and_is_removed_without_a_trace(self):
        # A root of its own: nothing of this system's is touched.
        root = self.folder / "system"
        admin = root / "var/lib/dpkg"
        for name in ("info", "updates", "triggers"):
            (admin / name).mkdir(parents=True)
        for name in ("status", "available"):
            (admin / name).touch()
        dpkg = ["dpkg", f"--root={root}", f"--log={self.folder}/dpkg.log", "--force-depends"]
        call(*dpkg, "-i", self.package)
        program = root / "usr/bin/filereel"
        near = self.folder / "near"
        near.mkdir()
        table = call(program, "run", "--near", near, "--set", "iso", "--scale", "0.001",
                     "--runs", "1", "--json", self.folder / "r.json", "-q")
        self.assertIn("MB/s (elapsed)", table)
        history = call(program, "history", self.folder / "drives", "add", self.folder / "r.json")
        self.assertRegex(history, r"^\S+/\S+/\S+-fc-test\n$")
        call(*dpkg, "--purge", "filereel")
        left = [path for path in (root / "usr").rglob("*")] if (root / "usr").exists() else []
        self.assertEqual(left, [])

    @unittest.skipUnless(find("lintian"), "lintian is missing")
    def test_lintian_finds_no_error(self):
        done = subprocess.run(["lintian", "--fail-on", "error", self.package], capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    main()
