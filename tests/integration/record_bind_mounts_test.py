"""Recording programs that use one directory by two names, of which one is a bind mount."""

import os
import unittest

from support import IntegrationTest, call, have, main, no_bpf, tree_shape

NO_BPF = no_bpf()
BY_BOTH = """
cd bound; echo abc > one; mkdir inner; cd ..
mv source/one source/inner/two; echo more >> bound/inner/two
ln -s x bound/link; rm source/link; mkdir source/inner/gone; rmdir bound/inner/gone
cd bound/inner; echo z > ../last
"""


class BindMounts:
    """What holds for both recorders."""

    def setUp(self):
        super().setUp()
        self.work = self.folder("work")
        for name in ("source", "bound"):
            (self.work / name).mkdir()

    def bind(self):
        call("mount", "--bind", self.work / "source", self.work / "bound")
        self.addCleanup(call, "umount", "-l", self.work / "bound")

    def record(self, script, status):
        return self.filereel("record", "--backend", self.BACKEND, "--strict", "-o", "app.reel", "--",
                             "sh", "-c", f"cd {self.work}\n{script}", status=status)

    def test_both_names_are_one_directory(self):
        self.bind()
        self.record(BY_BOTH, 0)
        again = self.folder("again")
        self.filereel("replay", "app.reel", again, "--verify", "tree", "--runs", "1")
        self.assertEqual(tree_shape(f"{again}{self.work}/source"), tree_shape(self.work / "source"))
        self.assertEqual(os.listdir(f"{again}{self.work}"), ["source"])

    def test_a_mount_of_the_program_itself_is_reported(self):
        script = "mount --bind source bound; echo abc > bound/one; echo def >> source/one; umount bound"
        done = self.record(script, 1)
        # mount(8) of util-linux 2.39 and later uses open_tree and move_mount.
        self.assertRegex(done.err, "unsupported system calls: (move_)?mount")
        self.assertIn("bound/one is missing", done.err)
        if self.BACKEND == "bpf":
            self.assertIn("files under two names by bind mounts treated as separate files", done.err)


@unittest.skipUnless(os.geteuid() == 0, "needs root, to mount")
@unittest.skipIf(NO_BPF, NO_BPF or "")
class BindMountsByBpf(BindMounts, IntegrationTest):
    BACKEND = "bpf"


@unittest.skipUnless(os.geteuid() == 0, "needs root, to mount")
@unittest.skipUnless(have("strace"), "needs strace")
class BindMountsByStrace(BindMounts, IntegrationTest):
    BACKEND = "strace"


if __name__ == "__main__":
    main()
