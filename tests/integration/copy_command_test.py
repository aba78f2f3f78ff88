"""Programs that copy in turns with filereel's own methods (--copy-command)."""

import os
import signal

from support import IntegrationTest, call, main, needs, wait_until

COPIES = ["cp -a {from}/. {to}", "tar -C {from} -cf - . | tar -C {to} -xf -"]


def said(*commands):
    return [word for command in commands for word in ("--copy-command", command)]


class CopyCommands(IntegrationTest):

    def setUp(self):
        super().setUp()
        self.set = self.many_small_files(40)

    def run_on(self, near, *more, status=0):
        return self.filereel("run", "--near", near, "--set", self.set, "--runs", "2", "--json", "r.json",
                             *more, status=status)

    def check_figures(self, copies, methods):
        """Every method has its own measurements, of the same work."""
        result = self.result()
        self.assertTrue(result["complete"])
        found = {}
        for one in result["measurements"]:
            if one["operation"] in copies:
                found.setdefault(one["operation"], []).append(one["parameters"]["copy_method"])
                self.assertEqual(len(one["samples"]), 2)
                for sample in one["samples"]:
                    self.assertEqual((sample["files"], sample["bytes"]), (40, 40 * 8192))
                    self.assertGreaterEqual(sample["durable_s"], sample["elapsed_s"])
                    self.assertGreater(sample["elapsed_s"], 0)
        self.assertEqual(found, {one: methods for one in copies})

    @needs("ext4")
    def test_programs_copy_on_ext4_beside_filereel_and_are_shown_compared_and_reported(self):
        self.run_on(f"image:{self.scratch}/near.img", "--far", f"image:{self.scratch}/far.img", "--fs",
                    "ext4", *said(*COPIES))
        self.check_figures(["copy-near", "copy-far"], ["readwrite", *COPIES])
        for command in (["show", "r.json"], ["report", "r.json", "-o", "page.html"],
                        ["compare", "r.json", "r.json"], ["report", "r.json", "--csv", "r.csv"]):
            self.filereel(*command)
        self.assertIn(COPIES[1], self.filereel("show", "r.json").out)
        self.assert_nothing_left()

    def test_programs_copy_in_a_directory_in_memory_in_turns(self):
        near = self.memory_folder(64)
        self.run_on(near, "--sweep", "copy_method=copy_file_range,sendfile", "--threads", "2",
                    *said(*COPIES))
        self.check_figures(["copy-near"], ["copy_file_range", "sendfile", *COPIES])
        starts = {one["parameters"]["copy_method"]: [sample["started_s"] for sample in one["samples"]]
                  for one in self.result()["measurements"] if one["operation"] == "copy-near"}
        methods = ["copy_file_range", "sendfile", *COPIES]
        self.assertEqual(sorted(methods, key=lambda one: starts[one][0]), methods)
        self.assertEqual(sorted(methods, key=lambda one: starts[one][1]), methods[1:] + methods[:1])
        self.assertEqual(os.listdir(near), [])

    @needs("btrfs")
    def test_a_copy_that_shares_its_blocks_is_labelled(self):
        self.set = self.write_set("name: set\ngroups:\n  - {count: 3, size: 1 MiB}\n")
        always, never = (f"cp -a --reflink={how} {{from}}/. {{to}}" for how in ("always", "never"))
        done = self.run_on(f"image:{self.scratch}/near.img,size=256M", "--fs", "btrfs", *said(always, never))
        moved = {one["parameters"]["copy_method"]: {not s["moved_no_data"] for s in one["samples"]}
                 for one in self.result()["measurements"] if one["operation"] == "copy-near"}
        self.assertEqual(moved, {"readwrite": {True}, always: {False}, never: {True}})
        self.assertIn("shared blocks", done.out + done.err)

    def test_a_failure_is_one_line_and_leaves_nothing(self):
        near = self.folder("near")
        for command, words in {
                "false {from} {to}": ["copy-near", "false {from} {to}", "exit status 1"],
                "cp -a {from}/. {to}; echo full >&2; exit 28": ["exit status 28: full"],
                "cp -a {from}/. {to}; kill -9 $$": ["killed by signal 9"],
                "cp -a {from} {to}": ["copy/", "is missing (directory)"],
                "cp -a {from}/. {to}; echo x > {to}/mine": ["copy/mine is unexpected"],
                "tar -C {from}/nosuch -cf - . | tar -C {to} -xf - || true": ["is missing"],
                "cp -a {from}/. {to}; for f in $(find {to} -type f); do "
                "printf x | dd of=$f bs=1 seek=9 conv=notrunc; done": ["has other content"]}.items():
            with self.subTest(command):
                done = self.run_on(near, *said(command), status=1)
                self.assert_refused(done, 1, *words)
                self.assertEqual(os.listdir(near), [])
                self.assert_nothing_left()

    @needs("ext4")
    def test_a_full_volume_is_one_line_and_leaves_nothing(self):
        done = self.run_on(f"image:{self.scratch}/near.img,size=16M", "--fs", "ext4",
                           *said("cp -a {from}/. {to}; head -c 64M /dev/zero > {to}/more"), status=1)
        self.assert_refused(done, 1, "No space left")
        self.assert_nothing_left()

    def test_what_cannot_work_is_refused_before_anything_is_touched(self):
        near = self.folder("near")
        for arguments, code, words in [
                (said("nosuch-1 {from} {to}"), 1, ["nosuch-1 is not installed"]),
                (said("cp -a {from}/. ."), 2, ["--copy-command", "must contain {from} and {to}"]),
                (said(COPIES[0], COPIES[0]), 2, ["different commands"]),
                ([*said(COPIES[0]), "--operations", "create,read"], 2, ["copy-near or copy-far"]),
                ([*said(COPIES[0]), "--engine", "null"], 2, ["null engine"])]:
            with self.subTest(arguments):
                self.assert_refused(self.run_on(near, *arguments, status=code), code, *words)
                self.assertEqual(os.listdir(near), [])

    def test_programs_of_a_plan_that_are_not_installed_are_left_out_with_a_remark(self):
        (self.scratch / "p.yaml").write_text(
            f"jobs:\n  - job: {self.set}\n    copy_command:\n"
            f"      - '{COPIES[0]}'\n      - 'nosuch-1 {{from}} {{to}}'\n")
        done = self.filereel("run", "p.yaml", "--near", self.folder("near"), "--runs", "2", "--json",
                             "r.json")
        self.assertIn("'nosuch-1 {from} {to}' is left out: nosuch-1 is not installed", done.err)
        self.check_figures(["copy-near"], ["readwrite", COPIES[0]])

    def test_ctrl_c_ends_the_program_and_leaves_nothing(self):
        near, mark = self.folder("near"), self.scratch / "mark"
        running = self.start("run", "--near", near, "--set", self.set, "--runs", "1", "--json", "r.json",
                             *said(f"cp -a {{from}}/. {{to}}; touch {mark}; sleep 8642 | sleep 8642"))
        self.assertTrue(wait_until(mark.exists, 60))
        running.kill(signal.SIGINT)
        self.assertEqual(running.finish().code, 130)
        self.assertEqual(os.listdir(near), [])
        self.assertEqual(call("sh", "-c", "pgrep -f '^sleep 8642' || true").strip(), "")
        self.assert_nothing_left()


if __name__ == "__main__":
    main()
