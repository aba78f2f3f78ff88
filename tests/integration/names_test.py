"""Names, sizes and kinds that not every file system holds, and copies that move no data."""

import fcntl
import os
import struct

from support import IntegrationTest, digest, main, needs, tree_digests

LONG = "n" * 251 + ".txt"  # 255 bytes

NAMES = f"""
name: names
groups:
  - path: odd
    files:
      - {{path: "a:b", size: 1000}}
      - {{path: "CON", size: 1001}}
      - {{path: "x.", size: 1002}}
      - {{path: "A", size: 1003}}
      - {{path: "a", size: 1004}}
      - {{path: "{LONG}", size: 1005}}
      - {{path: "Gr\u00fc\u00dfe.txt", size: 1006}}
      - {{path: "50%41", size: 1007}}
      - {{path: "plain.txt", size: 1008}}
"""
# What the names become on a file system with Windows' rules.
ESCAPED = {"a:b": "a%3Ab", "CON": "CO%4E", "x.": "x%2E", "a": "a%~1", "50%41": "50%2541"}
# fusefat takes ASCII only.
ASCII = {**ESCAPED, "Gr\u00fc\u00dfe.txt": "Gr%C3%BC%C3%9Fe.txt"}
SIZES = {"a:b": 1000, "CON": 1001, "x.": 1002, "A": 1003, "a": 1004, LONG: 1005,
         "Gr\u00fc\u00dfe.txt": 1006, "50%41": 1007, "plain.txt": 1008}

KINDS = """
name: kinds
groups:
  - path: k
    files:
      - {path: plain, size: 100 kB}
      - {path: sparse, size: 8 MiB, holes: [{offset: 1 MiB, length: 6 MiB}]}
      - {path: same, hard_link: plain}
      - {path: short, symlink: plain}
      - {path: broken, symlink: ../nowhere}
      - {path: quiet, size: 10, mode: 0400}
"""

FS_IOC_FIEMAP, FIEMAP_SHARED, FIEMAP_SYNC = 0xC020660B, 0x2000, 1


def extents(path):
    """The flags of the file's extents, as the kernel tells."""
    most = 256
    with open(path, "rb") as file:
        request = bytearray(struct.pack("=QQLLLL", 0, 2**64 - 1, FIEMAP_SYNC, 0, most, 0)
                            + bytes(56 * most))
        fcntl.ioctl(file, FS_IOC_FIEMAP, request)
    count = struct.unpack_from("=L", request, 20)[0]
    return [struct.unpack_from("=L", request, 32 + 56 * i + 40)[0] for i in range(count)]


def is_shared(path):
    flags = extents(path)
    return bool(flags) and all(one & FIEMAP_SHARED for one in flags)


class RunsOnImages(IntegrationTest):

    def run_set(self, kind, file_set, *more, operations="create,read,copy-near,copy-far"):
        return self.filereel("run", "--near", "image:near.img", "--far", "image:far.img", "--fs",
                             kind, "--set", file_set, "--runs", "1", "--operations", operations,
                             "--json", "r.json", *more)

    def warnings(self, code):
        return [one["text"] for one in self.result()["warnings"] if one["code"] == code]


class Names(RunsOnImages):

    def check_names(self, kind, changes):
        finished = self.run_set(kind, self.write_set(NAMES, "names.yaml"))
        self.assertTrue(self.result()["complete"])
        escaped = self.result().get("escaped_names", [])
        if changes:
            self.assertEqual([(one["file_system"], one["set"]) for one in escaped],
                             [(kind, "names")])
            self.assertEqual({one["original"]: one["escaped"] for one in escaped[0]["names"]},
                             {f"odd/{old}": f"odd/{new}" for old, new in changes.items()})
            self.assertEqual(len(self.warnings("names-escaped")), 1)
            self.assertIn(f"{len(changes)} names", self.warnings("names-escaped")[0])
            self.assertIn("names-escaped", finished.out)
        else:
            self.assertEqual(escaped, [])
            self.assertEqual(self.warnings("names-escaped"), [])
        wanted = {changes.get(name, name): size for name, size in SIZES.items()}
        for image, folder in (("near", "original"), ("near", "copy"), ("far", "copy")):
            with self.mounted(kind, self.scratch / f"{image}.img") as root:
                odd = root / folder / "odd"
                self.assertEqual({name: os.stat(odd / name).st_size for name in os.listdir(odd)},
                                 wanted)

    @needs("ext4")
    def test_ext4_keeps_every_name(self):
        self.check_names("ext4", {})

    @needs("ntfs")
    def test_ntfs_gets_escaped_names_and_the_result_lists_them(self):
        self.check_names("ntfs", ESCAPED)

    @needs("fat32")
    def test_fat32_gets_escaped_names_and_the_result_lists_them(self):
        self.check_names("fat32", ASCII)

    @needs("exfat")
    def test_exfat_gets_escaped_names_and_the_result_lists_them(self):
        self.check_names("exfat", ESCAPED)


class SizesAndKinds(RunsOnImages):

    @needs("fat32")
    def test_a_file_too_large_for_fat32_is_refused_before_anything_is_formatted(self):
        large = self.write_set("name: large\ngroups:\n  - files:\n      - {path: a, size: 5 GiB}\n")
        finished = self.filereel("run", "--near", "image:near.img", "--fs", "ext4,fat32", "--set",
                                 large, "--runs", "1", status=None)
        self.assert_refused(finished, 1, "4294967295")
        self.assertEqual(os.listdir(self.scratch), ["set.yaml"])

    @needs("ext4")
    def test_ext4_keeps_links_and_holes(self):
        self.run_set("ext4", self.write_set(KINDS))
        self.assertEqual(self.warnings("downgraded"), [])
        for image, folder in (("near", "original"), ("near", "copy"), ("far", "copy")):
            with self.subTest(image=image, folder=folder), \
                    self.mounted("ext4", self.scratch / f"{image}.img") as root:
                k = root / folder / "k"
                self.assertEqual(os.readlink(k / "short"), "plain")
                self.assertEqual(os.readlink(k / "broken"), "../nowhere")
                plain, same = os.stat(k / "plain"), os.stat(k / "same")
                self.assertEqual((plain.st_ino, plain.st_nlink), (same.st_ino, 2))
                sparse = os.stat(k / "sparse")
                self.assertEqual(sparse.st_size, 8 << 20)
                self.assertLess(sparse.st_blocks * 512, 3 << 20)

    @needs("fat32")
    def test_fat32_counts_what_it_cannot_hold(self):
        self.run_set("fat32", self.write_set(KINDS))
        texts = self.warnings("downgraded")
        self.assertEqual(len(texts), 3, texts)
        for words in ("symbolic links: 2 links left out", "hard links: 1 link left out",
                      "holes: 1 file written in full"):
            self.assertTrue(any(words in text for text in texts), texts)
        with self.mounted("fat32", self.scratch / "near.img") as root:
            for folder in ("original", "copy"):
                self.assertEqual(sorted(os.listdir(root / folder / "k")),
                                 ["plain", "quiet", "sparse"])
            with open(root / "original" / "k" / "sparse", "rb") as file:
                content = file.read()
            self.assertEqual(len(content), 8 << 20)
            self.assertEqual(content[1 << 20:7 << 20], bytes(6 << 20))
            self.assertNotEqual(content[:1 << 20], bytes(1 << 20))

    @needs("ext4", "fat32")
    def test_the_same_set_has_the_same_bytes_on_every_file_system(self):
        files = self.write_set(KINDS)
        digests = {}
        for kind in ("ext4", "fat32"):
            self.run_set(kind, files, operations="create")
            with self.mounted(kind, self.scratch / "near.img") as root:
                digests[kind] = {name: digest(root / "original" / "k" / name)
                                 for name in ("plain", "sparse", "quiet")}
        self.assertEqual(digests["ext4"], digests["fat32"])


class CopyMethods(RunsOnImages):

    def copy(self, kind, method, operations="create,copy-near,copy-far"):
        files = self.many_small_files(40, "100 KiB")
        finished = self.run_set(kind, files, "--copy-method", method, operations=operations)
        by_operation = {one["operation"]: one for one in self.result()["measurements"]}
        return finished, by_operation

    def check_copy(self, kind, shared, image="near"):
        with self.mounted(kind, self.scratch / f"{image}.img") as root:
            copies = [path for path in (root / "copy").rglob("*") if path.is_file()]
            self.assertEqual(len(copies), 40)
            self.assertEqual({is_shared(path) for path in copies}, {shared})
            if image == "near":
                self.assertEqual(tree_digests(root / "copy"), tree_digests(root / "original"))

    def check_reflink(self, kind):
        finished, found = self.copy(kind, "reflink")
        self.assertNotIn("copy-far", found)
        self.assertTrue(any("copy-far" in text for text in self.warnings("step-skipped")))
        near = found["copy-near"]
        self.assertEqual([one["moved_no_data"] for one in near["samples"]], [True])
        self.assertNotIn("mb_per_s", near["summary"])
        self.assertNotIn("mb_per_s_elapsed", near["summary"])
        self.assertIn("mb_per_s", found["create"]["summary"])
        self.assertIn("no data moved", finished.out)
        self.assertEqual(len(self.warnings("no-data-moved")), 1)
        self.check_copy(kind, True)

    @needs("btrfs")
    def test_a_reflink_on_btrfs_is_never_sold_as_speed(self):
        self.check_reflink("btrfs")

    @needs("xfs")
    def test_a_reflink_on_xfs_is_never_sold_as_speed(self):
        self.check_reflink("xfs")

    @needs("ext4")
    def test_a_reflink_on_ext4_is_reported_as_unsupported(self):
        _, found = self.copy("ext4", "reflink")
        self.assertEqual(found["copy-near"]["samples"], [])
        self.assertEqual(len(self.warnings("copy-method-unsupported")), 1)
        self.assertTrue(self.result()["complete"])

    def check_copy_file_range(self, kind, shared):
        finished, found = self.copy(kind, "copy_file_range", "create,copy-near")
        near = found["copy-near"]
        self.assertEqual([one["moved_no_data"] for one in near["samples"]], [shared])
        self.assertEqual("mb_per_s" in near["summary"], not shared)
        self.assertEqual("no data moved" in finished.out, shared)
        self.check_copy(kind, shared)

    @needs("btrfs")
    def test_copy_file_range_on_btrfs_is_labelled_as_the_extents_say(self):
        self.check_copy_file_range("btrfs", True)

    @needs("xfs")
    def test_copy_file_range_on_xfs_is_labelled_as_the_extents_say(self):
        self.check_copy_file_range("xfs", True)

    @needs("ext4")
    def test_copy_file_range_on_ext4_moves_data(self):
        self.check_copy_file_range("ext4", False)

    @needs("ext4")
    def test_copy_file_range_to_another_volume_moves_data_or_is_reported(self):
        _, found = self.copy("ext4", "copy_file_range")
        if found["copy-far"]["samples"]:
            self.assertFalse(found["copy-far"]["samples"][0]["moved_no_data"])
            self.check_copy("ext4", False, "far")
        else:
            self.assertEqual(len(self.warnings("copy-method-unsupported")), 1)

    @needs("ext4", "btrfs")
    def test_sendfile_moves_data(self):
        for kind in ("ext4", "btrfs"):
            with self.subTest(kind=kind):
                _, found = self.copy(kind, "sendfile")
                for operation in ("copy-near", "copy-far"):
                    self.assertEqual([(s["bytes"], s["moved_no_data"])
                                      for s in found[operation]["samples"]],
                                     [(40 * 100 * 1024, False)])
                    self.assertIn("mb_per_s", found[operation]["summary"])
                self.check_copy(kind, False)
                self.check_copy(kind, False, "far")


if __name__ == "__main__":
    main()
