"""What mkfs chose is in the result, and a comparison names each difference."""

import json

from support import IntegrationTest, call, main, needs

SET = "name: few\ngroups:\n  - {count: 3, size: 4 KiB}\n"


class Features(IntegrationTest):

    def made(self, name, *command):
        """A result of a directory on a file system that this command makes."""
        image, point = self.scratch / f"{name}.img", self.folder(name)
        with open(image, "wb") as file:
            file.truncate(400 << 20)
        call(*command, image)
        call("mount", "-o", "loop", image, point)
        self.addCleanup(call, "umount", point)
        self.write_set(SET)
        self.filereel("run", "set.yaml", "--near", point / "work", "--operations", "create", "--runs",
                      "1", "--json", f"{name}.json")
        volume = self.result(f"{name}.json")["volumes"][0]
        self.assertGreaterEqual(volume["used"], 0)
        self.assertLess(volume["used"], 1)
        return volume["features"]

    def changes(self, base, new):
        self.filereel("compare", f"{base}.json", f"{new}.json", "--json", "c.json", status=None)
        return {one["what"]: (one["base"], one["new"]) for one in self.result("c.json")["changes"]}

    @needs("ext4")
    def test_ext4_with_bigalloc_has_room_for_fewer_files(self):
        """Files take whole clusters, here 128 KiB each: refused before anything is created."""
        self.made("big", "mkfs.ext4", "-qF", "-O", "bigalloc", "-C", "65536")
        self.write_set("name: many\ngroups:\n  - {count: 4000, size: 68 KiB}\n")
        failed = self.filereel("run", "set.yaml", "--near", self.folder("big") / "other", "--operations",
                               "create", "--runs", "1", status=1)
        self.assertIn("not enough space on", failed.err)

    @needs("xfs")
    def test_xfs_with_and_without_reflink(self):
        self.assertIn("reflink", self.made("with", "mkfs.xfs", "-qf", "-m", "reflink=1")["features"])
        self.made("without", "mkfs.xfs", "-qf", "-m", "reflink=0")
        self.assertEqual(self.changes("with", "without")["reflink of xfs (near)"], ("on", "off"))

    @needs("ext4")
    def test_ext4_without_a_journal_and_with_other_blocks(self):
        self.made("usual", "mkfs.ext4", "-qF", "-b", "4096")
        self.made("without", "mkfs.ext4", "-qF", "-b", "4096", "-O", "^has_journal")
        small = self.made("small", "mkfs.ext4", "-qF", "-b", "1024", "-I", "512")
        self.assertEqual((small["block size"], small["inode size"]), ("1024", "512"))
        self.assertEqual(self.changes("usual", "without")["has_journal of ext4 (near)"],
                         ("on", "off"))
        told = self.changes("usual", "small")
        self.assertEqual(told["block size of ext4 (near)"], ("4096", "1024"))
        self.assertEqual(told["inode size of ext4 (near)"], ("256", "512"))
        shown = self.filereel("show", "small.json").out
        self.assertIn("block size 1024", " ".join(shown.split()))

    @needs("btrfs")
    def test_btrfs_with_other_nodes(self):
        self.made("usual", "mkfs.btrfs", "-qf")
        self.made("large", "mkfs.btrfs", "-qf", "-n", "65536")
        self.assertEqual(self.changes("usual", "large")["node size of btrfs (near)"],
                         ("16384", "65536"))

    def check_own(self, kind, **expected):
        """On a volume that filereel formats."""
        self.write_set(SET)
        self.filereel("run", "set.yaml", "--near", "image:own.img,size=400M", "--fs", kind,
                      "--operations", "create", "--runs", "1", "--json", "own.json")
        features = self.result("own.json")["volumes"][0]["features"]
        for name, value in expected.items():
            self.assertEqual(features[name.replace("_", " ")], value, json.dumps(features))

    @needs("ext4")
    def test_own_ext4(self):
        self.check_own("ext4", block_size="4096")

    @needs("fat32")
    def test_own_fat32(self):
        self.check_own("fat32", sector_size="512", table_entries="32 bits")

    @needs("ntfs")
    def test_own_ntfs(self):
        self.check_own("ntfs", cluster_size="4096")

    @needs("exfat")
    def test_own_exfat(self):
        self.check_own("exfat", tables="1")


if __name__ == "__main__":
    main()
