"""Recording 32-bit system calls: of 32-bit programs, and of 64-bit ones that make them."""

import json
import os
import pathlib
import subprocess
import unittest

from support import IntegrationTest, call, have, main, no_bpf, tree_shape

NO_BPF = no_bpf()
SOURCE = pathlib.Path(__file__).parent / "compat_calls.c"
# Neither needs a C library for 32 bits.
KINDS = {"32-bit": ["-m32"], "64-bit": ["-no-pie", "-Wno-pointer-to-int-cast"]}
LOST = "calls of 32-bit programs: record them with --backend strace"
CALLS = 1500  # about files, of `compat_calls many`


@unittest.skipUnless(os.uname().machine == "x86_64", "makes calls of i386")
@unittest.skipUnless(have("cc"), "needs cc")
class CompatTest(IntegrationTest):

    def program(self, kind):
        """The program that makes 32-bit calls; those of a kind that cannot run here are skipped."""
        program = self.scratch / kind
        call("cc", "-O1", "-ffreestanding", "-fno-stack-protector", "-fno-pie", "-nostdlib", "-static",
             *KINDS[kind], "-o", program, SOURCE)
        trial = self.folder(f"trial of {kind}")
        try:
            done = subprocess.run([program], cwd=trial, check=False)
        except OSError as error:
            self.skipTest(f"the kernel runs no 32-bit programs: {error}")
        if done.returncode < 0:
            self.skipTest(f"the kernel takes no 32-bit calls: signal {-done.returncode}")
        self.assertEqual(done.returncode, 0)
        return program

    def recorded(self, program, *arguments, backend="auto"):
        """What `record` said of the program, in a folder of its own, and what the reel knows."""
        done = self.filereel("record", "--backend", backend, "-o", self.scratch / "app.reel", "--",
                             program, *arguments, cwd=self.folder(f"work of {program.name}"))
        return done, json.loads(self.filereel("show", "app.reel", "--json").out)


@unittest.skipIf(NO_BPF, NO_BPF)
class CompatCallsByBpf(CompatTest):

    def test_calls_about_files_are_counted_and_the_way_to_record_them_is_named(self):
        for kind in KINDS:
            with self.subTest(kind=kind):
                done, known = self.recorded(self.program(kind), "many", backend="bpf")
                self.assertIn(f"not in the trace: {LOST} ({CALLS})\n", done.err)
                self.assertEqual(known["lost"], {LOST: CALLS})
                self.assertIn(f"{LOST} ({CALLS})",
                              " ".join(self.filereel("show", "app.reel").out.split()))

    @unittest.skipUnless(have("strace"), "needs strace")
    def test_auto_takes_strace_for_a_32_bit_program_and_says_why(self):
        program = self.program("32-bit")
        done, known = self.recorded(program, "many")
        self.assertIn("recording with strace, several times slower: BPF does not record 32-bit programs\n",
                      done.err)
        self.assertEqual(known.get("lost", {}), {})
        self.assertEqual(known["writes"]["accesses"], 749)


@unittest.skipUnless(have("strace"), "needs strace")
class CompatCallsByStrace(CompatTest):

    def test_all_of_their_forms_are_recorded_and_replay_to_an_equal_tree(self):
        for kind in KINDS:
            with self.subTest(kind=kind):
                work = self.scratch / f"work of {kind}"
                _, known = self.recorded(self.program(kind), backend="strace")
                self.assertEqual(known.get("lost", {}), {})
                lines = self.filereel("show", "app.reel", "--operations").out.splitlines()
                self.check_operations([line.split(None, 4)[4] for line in lines])
                target = self.folder(f"again for {kind}")
                done = self.filereel("replay", "app.reel", target, "--verify", "tree")
                self.assertIn("the tree matches the trace", done.out)
                self.assertEqual(tree_shape(f"{target}{work}"), tree_shape(work))

    def check_operations(self, operations):
        """Where the numbers of two words stand, or a structure that is another one for 32 bits."""
        for wanted in ["write file=0 offset=4294967301 length=5 = 5",
                       "truncate file=0 offset=4294967297 = 0",
                       "lock file=0 flags=0xa offset=7 length=3 = 0",
                       "read file=0 offset=2 length=3 = 3", "read file=0 offset=5 length=6 hole = 6",
                       "read file=0 offset=1 length=4 = 4", "read file=0 offset=1 length=6 hole = 6",
                       "fallocate file=0 flags=0x0 offset=0 length=9000 = 0",
                       "fadvise file=0 flags=0x3 offset=0 length=4096 = 0",
                       "sync_file_range file=0 flags=0x2 offset=0 length=4096 = 0",
                       "copy_range file=1 source=0 offset=0 length=3 second=1 method=sendfile = 3",
                       "getdents file=0 offset=5 length=8192 = 0"]:
            self.assertIn(wanted, operations)
        self.assertTrue([line for line in operations if line.startswith("utimens ")
                         and line.endswith(" offset=1000000000000 second=2000000000000 = 0")])
        # Each open has its close, before the end of the thread.
        self.assertEqual(operations[-2].split()[0], "rename")
        self.assertEqual(operations[-1], "exit = 0")


if __name__ == "__main__":
    main()
