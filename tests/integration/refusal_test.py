"""What can be known before a volume is touched is checked before: a refusal leaves devices unformatted, the
images and directories of earlier runs as they were, and nothing new."""

import contextlib
import hashlib
import os
import pathlib
import subprocess
import unittest

from support import FILEREEL, IntegrationTest, call, have, main, needs, tree_digests, wait_until, why_not

MIB = 1 << 20
DEVICE = 200  # MiB


class RefusalTest(IntegrationTest):

    def setUp(self):
        super().setUp()
        self.small = self.write_set("name: small\ngroups: [{count: 3, size: 4 KiB}]\n", "small.yaml")
        self.large = self.write_set("name: large\ngroups: [{count: 3, size: 2 GiB}]\n", "large.yaml")
        self.medium = self.write_set("name: medium\ngroups: [{count: 3, size: 30 MiB}]\n", "medium.yaml")
        self.reel("large.reel", "write", 5_000_000)
        self.reel("small.reel", "write", 1)

    def reel(self, name, action, count, size=4096):
        """A reel whose files existed before, with data in all of their blocks."""
        lines = [f"/data/f{i} {word}" for i in range(2) for word in ("add", "open")]
        lines += [f"/data/f{i % 2} read {i // 2 * size} {size}" for i in range(min(count, 8))]
        lines += [f"/data/f0 {action} {count * 1024} {size}"]
        lines += [f"/data/f{i} close" for i in range(2)]
        log = self.scratch / f"{name}.iolog"
        log.write_text("fio version 2 iolog\n" + "\n".join(lines) + "\n")
        self.filereel("import", log, "-o", name)

    def workload(self, text, name="w.yaml"):
        return self.write_set(text, name)

    @contextlib.contextmanager
    def device(self, name="disk", megabytes=DEVICE):
        image = self.scratch / name
        with open(image, "wb") as file:
            file.truncate(megabytes * MIB)
        call("mkfs.ext4", "-q", "-F", "-L", "DATA", image)
        with self.loop(image) as device:
            yield device

    @staticmethod
    def state_of(device):
        """What formatting would change."""
        call("blockdev", "--flushbufs", device)
        with open(device, "rb") as file:
            begin = file.read(MIB)
        return hashlib.sha256(begin).hexdigest(), call("blkid", "-p", "-o", "export", device)

    def snapshot(self):
        """Everything in the scratch folder that a run could change, and how much room it takes."""
        found = {}
        for path in sorted(self.scratch.rglob("*")):
            info = path.lstat()
            found[str(path)] = (info.st_ino, info.st_mode, info.st_nlink, info.st_size, info.st_blocks,
                                info.st_mtime_ns if not path.is_dir() else 0)
        return found

    def refused(self, *arguments, words=(), status=1, devices=(), wrap=()):
        before, left = ([self.state_of(one) for one in devices], self.snapshot()), self.left_behind()
        destroy = [word for one in devices for word in ("--destroy", one)]
        finished = self.filereel(*arguments, *destroy, status=None, wrap=wrap)
        self.assert_refused(finished, status, *words)
        self.assertEqual(([self.state_of(one) for one in devices], self.snapshot()), before,
                         f"{arguments}: {finished.err}")
        wait_until(lambda: self.left_behind() == left, 5, 0.05)
        self.assertEqual(self.left_behind(), left)

    def kept_directory(self, name="kept"):
        self.filereel("run", self.small, "--near", name, "--operations", "create", "--runs", "1", "--keep")
        return self.scratch / name

    def kept_image(self, name="kept.img", size="64M"):
        self.filereel("run", self.small, "--near", f"image:{name},size={size}", "--fs", "ext4", "--operations",
                      "create", "--runs", "1")
        return f"image:{name}"

    def strangers(self):
        folder = self.folder("strangers")
        (folder / "letter").write_text("mine")
        return folder


class Space(RefusalTest):
    """Jobs of every kind that do not fit."""

    def jobs(self):
        whole = self.workload("files: {size: 6 GiB}\naccess: {size: 4 KiB}\nstop: {operations: 9}\n")
        plan = self.write_set(f"jobs: [{self.small}, {self.large}]\n", "plan.yaml")
        self.filereel("import", self.whole_files(), "-o", "whole.reel")
        return {"FC-Test": ["run", self.large], "workload": ["run", whole], "suite": ["run", plan],
                "several": ["run", self.small, "whole.reel"], "reel": ["run", "whole.reel"],
                "copies": ["run", self.large, "--copy-command", "cp -a {from}/. {to}"]}

    def whole_files(self):
        """A log of reads of a file in full: it takes 6 GB before the first operation."""
        log = self.scratch / "whole.iolog"
        step = 128 * MIB
        log.write_text("fio version 3 iolog\n0 /data/f add\n0 /data/f open\n" + "".join(
            f"1 /data/f read {at} {step}\n" for at in range(0, 48 * step, step)) + "2 /data/f close\n")
        return log

    @needs("ext4")
    def test_every_kind_of_job_on_a_device_on_images_and_in_directories(self):
        kept, image = self.kept_directory(), self.kept_image()
        with self.device() as device:
            places = [device, kept, "image:new.img,size=64M", image + ",size=64M", f"{device},size=64M", "new"]
            for name, job in self.jobs().items():
                for near in places if name == "reel" else places[:3]:
                    with self.subTest(job=name, near=str(near)):
                        formats = [] if near in (kept, "new") else ["--fs", "ext4"]
                        self.refused(*job, "--near", near, *formats, devices=[device],
                                     words=["not enough space", str(near).split(",")[0]])
            for near in (device, "image:new.img,size=64M", image + ",size=64M", kept, "new"):
                with self.subTest(command="replay and predict", near=str(near)):
                    self.refused("replay", "whole.reel", near, words=["not enough space"], devices=[device])
                    self.refused("predict", "whole.reel", near, words=["not enough space"], devices=[device])

    @needs("ext4")
    def test_the_file_system_that_comes_later_is_too_large_for_the_volume(self):
        image = self.kept_image()
        later = [kind for kind in ("xfs", "btrfs") if not why_not(kind)]
        if not later:
            self.skipTest("needs xfs or btrfs")
        with self.device() as device:
            for kind in later:
                for near in (device, "image:new.img,size=64M", image + ",size=64M"):
                    for job in (["run", self.small], ["run", "small.reel"]):
                        with self.subTest(kind=kind, near=near, job=job):
                            self.refused(*job, "--near", near, "--fs", f"ext4,{kind}",
                                         words=["too small for " + kind], devices=[device])

    @needs("ext4")
    def test_what_a_file_system_keeps_for_itself_is_measured_before(self):
        tight = self.write_set("name: tight\ngroups: [{count: 9, size: 60 MiB}]\n", "tight.yaml")
        kinds = [kind for kind in ("xfs", "btrfs") if not why_not(kind)]
        if not kinds:
            self.skipTest("needs xfs or btrfs")
        with self.device(megabytes=600) as device:
            for kind in kinds:
                with self.subTest(kind=kind):
                    self.refused("run", tight, "--near", device, "--fs", kind, "--operations", "create",
                                 words=["not enough space", device], devices=[device])

    @needs("ext4")
    def test_a_volume_beside_near_is_too_small(self):
        kept, image = self.kept_directory(), self.kept_image(size="400M")
        with self.device() as device, self.device("small", 40) as small:
            job = ["run", self.medium, "--fs", "ext4"]
            words = ["not enough space"]
            for near in (image + ",size=400M", device + ",size=190M", "image:new.img"):
                if near.startswith(device):
                    job = ["run", self.medium, "--fs", "ext4", "--operations", "create,copy-far"]
                for option in ("--far", "--against", "--control"):
                    if option != "--far" and near == "image:new.img":
                        continue
                    with self.subTest(near=near, option=option):
                        self.refused(*job, "--near", near, option, small, words=[*words, small],
                                     devices=[device, small])
            with self.ext4_volume(64, name="narrow") as narrow:
                for option in ("--far", "--against"):
                    with self.subTest(near="a directory", option=option):
                        self.refused("run", self.medium, "--near", kept, option, narrow / "new",
                                     words=[*words, narrow])

    @needs("ext4")
    def test_volumes_on_one_file_system_do_not_fit_together(self):
        with self.ext4_volume(320) as volume:
            near, far = volume / "near", volume / "far"
            near.mkdir()
            before = os.statvfs(volume).f_bfree
            self.refused("run", self.medium, "--near", near, "--far", far,
                         words=["not enough space", "together", near, far])
            self.refused("run", self.small, "--near", f"image:{volume}/a.img,size=200M", "--far",
                         f"image:{volume}/b.img,size=200M", "--fs", "ext4", words=["together"])
            self.refused("run", self.medium, "--near", f"image:{volume}/a.img,size=230M", "--far", far, "--fs",
                         "ext4", words=["together"])
            self.assertEqual(os.statvfs(volume).f_bfree, before)
            # What an earlier run has kept makes room.
            for _ in range(2):
                self.filereel("run", self.medium, "--near", near, "--operations", "create,copy-near", "--runs",
                              "1", "--keep")
            for _ in range(2):
                self.filereel("run", self.small, "--near", f"image:{volume}/a.img,size=60M", "--fs", "ext4",
                              "--runs", "1")

    @needs("ext4")
    def test_inodes_are_counted_in_directories_and_on_devices(self):
        with self.ext4_volume(400, make=("-N", "5000")) as volume, self.device() as device:
            (volume / "near").mkdir()
            few = self.many_small_files(20000, "1 B")
            self.refused("run", few, "--near", volume / "near", words=["inodes"])
            many = self.many_small_files(60000, "1 B")
            self.refused("run", many, "--near", device, "--fs", "ext4", words=["not enough"], devices=[device])


class Limits(RefusalTest):
    """Names, sizes, options and files that the volumes or this machine cannot take."""

    @needs("ext4")
    def test_names_and_sizes_that_a_file_system_cannot_hold(self):
        if why_not("ntfs") and why_not("fat32"):
            self.skipTest("needs ntfs or fat32")
        name = "?" * 120  # 360 characters when escaped
        log = self.scratch / "names.iolog"
        log.write_text(f"fio version 2 iolog\n/{name} add\n/{name} open\n/{name} read 0 4096\n/{name} close\n")
        self.filereel("import", log, "-o", "names.reel")
        tree = self.folder("tree")
        (tree / name).write_text("x")
        self.filereel("capture", tree, "-o", "names.fileset")
        jobs = [["run", "names.reel"], ["run", "names.fileset"], ["run", self.small, "names.reel"]]
        image = self.kept_image()
        with self.device() as device:
            for kind in ("ntfs", "fat32"):
                if why_not(kind):
                    continue
                for job in jobs:
                    for near in (device, image + ",size=64M"):
                        with self.subTest(kind=kind, job=job, near=near):
                            self.refused(*job, "--near", near, "--fs", f"ext4,{kind}",
                                         words=["360 characters"], devices=[device])
                with self.subTest(kind=kind, command="replay"):
                    self.refused("replay", "names.reel", device, "--fs", kind, words=["360 characters"],
                                 devices=[device])

    @needs("ext4", "fat32")
    def test_files_beyond_the_limit_of_fat32(self):
        self.reel("far.reel", "read", 5_000_000)
        with self.device(megabytes=8000) as device:
            for job in (["run", "far.reel"], ["run", self.write_set(
                    "name: one\ngroups: [{count: 1, size: 4 GiB}]\n", "one.yaml")]):
                self.refused(*job, "--near", device, "--fs", "ext4,fat32", words=["limit of 4.29 GB"],
                             devices=[device])

    @needs("ext4")
    def test_images_and_files_that_a_limit_of_sizes_does_not_allow(self):
        limited = ["sh", "-c", 'ulimit -f 20480; exec "$@"', "-"]  # of 512 or 1024 bytes
        self.refused("run", self.small, "--near", "image:new.img,size=64M", "--fs", "ext4", wrap=limited,
                     words=["largest file", "ulimit -f"])
        kept = self.kept_directory()
        for job in (self.medium, self.workload("files: {size: 64 MiB}\naccess: {size: 4 KiB}\n")):
            self.refused("run", job, "--near", kept, wrap=limited, words=["limit on file sizes", "ulimit -f"])

    @needs("ext4")
    def test_open_files_that_the_limit_does_not_allow(self):
        kept, image = self.kept_directory(), self.kept_image()
        log = self.scratch / "open.iolog"
        log.write_text("fio version 2 iolog\n" + "".join(
            f"/d/f{i} {word}\n" for word in ("add", "open") for i in range(300)) + "/d/f0 read 0 4096\n")
        self.filereel("import", log, "-o", "open.reel")
        opens = self.workload("files: {count: 300, size: 4 KiB}\naccess: {size: 4 KiB}\nstop: {operations: 9}\n")
        limited = ["sh", "-c", 'ulimit -n 200; exec "$@"', "-"]
        with self.device() as device:
            for job in ("open.reel", opens):
                for near in (device, image + ",size=64M", kept, "new"):
                    with self.subTest(job=str(job), near=str(near)):
                        self.refused("run", job, "--near", near, wrap=limited, words=["open-file limit"],
                                     devices=[device])

    @needs("ext4")
    def test_a_later_point_of_a_sweep_is_impossible(self):
        kept = self.kept_directory()
        grows = self.workload("files: {size: [1 MiB, 6 GiB]}\naccess: {size: 4 KiB}\nstop: {operations: 9}\n")
        threads = self.workload("files: {size: 64 MiB}\naccess: {size: 4 KiB}\ncount: 100\ndepth: [1, 64]\n"
                                "stop: {operations: 9}\n", "threads.yaml")
        with self.device() as device:
            for near in (device, kept, "image:new.img,size=64M"):
                with self.subTest(near=str(near)):
                    self.refused("run", grows, "--near", near, words=["not enough space"], devices=[device])
                    self.refused("run", threads, "--engine", "blocking", "--near", near, words=["threads"],
                                 status=3, devices=[device])

    @needs("ext4")
    def test_a_long_reel_with_a_fault_at_its_end(self):
        kept, image = self.kept_directory(), self.kept_image()
        log = self.scratch / "long.iolog"
        log.write_text("fio version 2 iolog\n/d/f add\n/d/f open\n" + "".join(
            f"/d/f read {i * 7919 % 4096 * 4096} {4096 + i % 5 * 512}\n" for i in range(300_000)) +
            "/d/f close\n")
        self.filereel("import", log, "-o", "long.reel")
        data = bytearray((self.scratch / "long.reel").read_bytes())
        at = len(data) * 8 // 10
        data[at:at + 64] = bytes(byte ^ 0x5a for byte in data[at:at + 64])
        (self.scratch / "long.reel").write_bytes(data)
        with self.device() as device:
            for near in (device, image + ",size=64M", kept, "new", "image:new.img"):
                with self.subTest(near=str(near)):
                    self.refused("run", self.small, "long.reel", "--near", near, status=3, words=["long.reel"],
                                 devices=[device])

    @needs("ext4")
    def test_programs_and_options_that_cannot_be_used(self):
        kept = self.kept_directory()
        with self.device() as device:
            for near in (device, kept, "new", "image:new.img"):
                formats = [] if near in (kept, "new") else ["--fs", "ext4"]
                with self.subTest(near=str(near)):
                    self.refused("run", self.small, "--near", near, *formats, "--copy-command",
                                 "no-such-program {from} {to}", status=1, words=["no-such-program"],
                                 devices=[device])
                    self.refused("run", "small.reel", "--near", near, *formats, "--depth", "4", "--engine",
                                 "blocking", status=2, words=["--depth"], devices=[device])


class Targets(RefusalTest):
    """One of several volumes cannot be used."""

    @needs("ext4")
    def test_the_others_are_untouched(self):
        kept, image, strangers = self.kept_directory(), self.kept_image(), self.strangers()
        (self.scratch / "mine.img").write_bytes(b"mine")
        jobs = {"--far": ["run", self.small], "--against": ["run", "small.reel"]}
        with self.device() as device, self.device("other") as foreign:
            for option, job in jobs.items():
                for near in (device, image + ",size=64M", "image:new.img,size=64M"):
                    for other, words in (("image:mine.img", ["mine.img", "exists"]),
                                         ("image:no/such.img", ["no/such.img"]),
                                         (foreign, ["--destroy"]), (near, ["same volume"])):
                        with self.subTest(option=option, near=near, other=other):
                            self.refused(*job, "--near", near, option, other, "--fs", "ext4", words=words,
                                         status=2 if other in (foreign, near) else 1, devices=[device])
                for near in (kept, "new", device, image + ",size=64M"):
                    if option != "--far" and near not in (kept, "new"):
                        continue  # they cannot be compared with directories
                    formats = [] if near in (kept, "new") else ["--fs", "ext4"]
                    for other, words in ((strangers, ["not empty"]), ("no/such", ["no/such"]),
                                         ("/proc/new", ["/proc/new"])):
                        with self.subTest(option=option, near=str(near), other=str(other)):
                            self.refused(*job, "--near", near, option, other, *formats, words=words,
                                         status=2 if other == "/proc/new" else 1, devices=[device])

    def test_a_directory_to_which_something_was_added_keeps_all(self):
        kept = self.kept_directory()
        (kept / "letter").write_text("mine")
        self.refused("run", self.small, "--near", kept, words=["letter"])

    @needs("ext4")
    def test_a_volume_that_is_read_only(self):
        kept = self.kept_directory()
        with self.ext4_volume(64, options="ro", name="fixed") as fixed:
            self.refused("run", self.small, "--near", kept, "--far", fixed, words=[fixed, "read-only"])
            self.refused("run", self.small, "--near", kept, "--far", fixed / "new", words=["read-only"])
            self.refused("run", self.small, "--near", self.kept_image() + ",size=64M", "--far",
                         f"image:{fixed}/a.img,size=64M", "--fs", "ext4", words=["a.img"])


@unittest.skipUnless(have("mpirun"), "needs mpirun")
class Clients(RefusalTest):

    def mpirun(self, *command):
        as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        return subprocess.run(["mpirun", "--oversubscribe", "-np", "2", *map(str, command)], cwd=self.scratch,
                              env=self.environment(**as_root), stdin=subprocess.DEVNULL, timeout=100, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def test_clients_that_do_not_fit_together(self):
        """Each does alone."""
        near = self.memory_folder(128)
        if not os.path.ismount(near):
            self.skipTest("needs a file system of its own")
        run = [pathlib.Path(FILEREEL).resolve(), "run", self.medium, "--operations", "create", "--near", near,
               "--clients", "mpi", "--runs", "1", "--json", "r.json"]
        done = self.mpirun(*run)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("not enough space", done.stdout)
        self.assertEqual(tree_digests(near), {})
        self.assertFalse((self.scratch / "r.json").exists())
        done = self.mpirun(*run, "--share")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertTrue(self.result()["complete"])

    def test_a_client_that_cannot_run_keeps_the_others_from_touching_anything(self):
        kept, narrow = self.kept_directory(), self.memory_folder(1)
        if not os.path.ismount(narrow):
            self.skipTest("needs a file system of its own")
        script = self.scratch / "by-rank"
        script.write_text(f'#!/bin/sh\ncase $OMPI_COMM_WORLD_RANK in 0) near={kept} ;; *) near={narrow} ;; esac\n'
                          f'exec {pathlib.Path(FILEREEL).resolve()} "$@" --near $near --clients mpi\n')
        script.chmod(0o755)
        before = tree_digests(kept)
        done = self.mpirun(script, "run", self.medium, "--operations", "create", "--runs", "1")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("not enough space", done.stdout)
        self.assertEqual(tree_digests(kept), before)


if __name__ == "__main__":
    main()
