"""What people meet: no privileges, and JSON for programs."""

import json
import os
import shutil
import stat
import subprocess
import unittest

from support import IntegrationTest, find, have, main, needs

NOBODY = 65534
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]


def user_namespaces():
    return subprocess.call([find("setpriv"), *AS_NOBODY[1:], "unshare", "-U", "-m", "true"],
                           stderr=subprocess.DEVNULL) == 0


@unittest.skipUnless(os.geteuid() == 0 and have("setpriv"), "needs root and setpriv")
class WithoutPrivileges(IntegrationTest):

    def setUp(self):
        super().setUp()
        os.chmod(self.base, 0o755)
        os.chown(self.scratch, NOBODY, NOBODY)
        os.mkdir(f"{self.scratch}-state", 0o700)
        os.chown(f"{self.scratch}-state", NOBODY, NOBODY)
        # The binary may lie where nobody else may look.
        self.binary = self.scratch / "filereel"
        shutil.copy(find_binary(), self.binary)
        os.chmod(self.binary, 0o755)

    def as_nobody(self, *arguments, wrap=()):
        done = subprocess.run([*wrap, *AS_NOBODY, self.binary, *arguments], cwd=self.scratch,
                              env=self.environment(FILEREEL_STATE_DIR=f"{self.scratch}-state"),
                              stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def check_default_run(self, what, wrap=()):
        done = self.as_nobody("run", "--scale", "0.001", "--runs", "1", "--json", "r.json",
                              wrap=wrap)
        self.assertIn(f"volumes: {what[0]} and {what[1]}, removed at the end", done.stderr)
        result = self.result()
        self.assertTrue(result["complete"])
        self.assertEqual({one["target"] for one in result["volumes"]}, set(what))
        self.assertEqual(sorted(os.listdir(self.scratch)), ["filereel", "r.json"])
        self.assert_nothing_left()
        return result

    @unittest.skipIf(os.path.exists("/dev/fuse") and os.stat("/dev/fuse").st_mode & stat.S_IWOTH,
                     "everybody may use FUSE here")
    def test_who_may_mount_nothing_measures_directories(self):
        result = self.check_default_run(["filereel-near", "filereel-far"])
        self.assertEqual({one["target_kind"] for one in result["volumes"]}, {"directory"})
        self.assertIn("none (directories only)", self.as_nobody("doctor").stdout)

    @unittest.skipUnless(os.path.exists("/dev/fuse") and have("fuse2fs", "mkfs.ext4", "unshare"),
                         "needs FUSE, fuse2fs and unshare")
    def test_who_may_use_fuse_measures_images_in_a_user_namespace(self):
        if not user_namespaces():
            self.skipTest("needs user namespaces")
        fuse = self.scratch.parent / "fuse"
        os.mknod(fuse, 0o666 | stat.S_IFCHR, os.stat("/dev/fuse").st_rdev)
        os.chmod(fuse, 0o666)
        self.addCleanup(os.unlink, fuse)
        wrap = ["unshare", "-m", "sh", "-c", 'mount --bind "$0" /dev/fuse && exec "$@"', fuse]
        result = self.check_default_run(["image:filereel-near.img", "image:filereel-far.img"], wrap)
        kinds = {one["file_system"]: one["driver"] for one in result["volumes"]}
        self.assertEqual(kinds.get("ext4"), "fuse2fs")
        # What cannot be used is said and not tried.
        unavailable = [one["text"] for one in result["warnings"]
                       if one["code"] == "file-system-unavailable"]
        self.assertEqual(len(kinds) + len(unavailable), 3, unavailable)
        doctor = self.as_nobody("doctor", wrap=wrap).stdout
        self.assertIn("image files with FUSE drivers only", doctor)
        for line in doctor.splitlines():
            words = line.split()
            if words and words[0] in ("ext4", "ntfs", "fat32"):
                self.assertEqual(words[0] in kinds, words[4] != "none", line)


def find_binary():
    return shutil.which(os.environ.get("FILEREEL", "filereel"))


class Programs(IntegrationTest):

    def test_json_on_standard_output_is_all_that_stands_there(self):
        near, far = self.folder("near"), self.folder("far")
        finished = self.filereel("run", "--near", near, "--far", far, "--set", "mp3,install",
                                 "--scale", "0.001", "--runs", "2", "--json", "-")
        result = json.loads(finished.out)
        self.assertEqual(result["schema_version"], 8)
        self.assertTrue(result["complete"])
        self.assertEqual(len(result["measurements"]), 10)
        self.assertTrue(finished.out.startswith("{") and finished.out.endswith("}\n"))
        self.assertIn("MB/s (elapsed)", finished.err)
        self.assertEqual(sorted(os.listdir(self.scratch)), ["far", "near"])

    def test_quiet_json_says_nothing_else_at_all(self):
        finished = self.filereel("--quiet", "run", "--near", self.folder("near"), "--set", "mp3",
                                 "--scale", "0.001", "--runs", "1", "--operations", "create,read",
                                 "--json", "-")
        self.assertTrue(json.loads(finished.out)["complete"])
        self.assertEqual(finished.err, "")

    @needs("ext4")
    def test_json_of_a_run_without_targets_has_its_remarks_on_standard_error(self):
        finished = self.filereel("run", "--fs", "ext4", "--set", "mp3", "--scale", "0.001",
                                 "--runs", "1", "--json", "-")
        self.assertTrue(json.loads(finished.out)["complete"])
        self.assertIn("volumes: image:filereel-near.img", finished.err)
        self.assertEqual(os.listdir(self.scratch), [])


if __name__ == "__main__":
    main()
