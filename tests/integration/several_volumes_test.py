"""Workloads on several volumes at once: figures of all and of each, files on each, and the same in every
table, report and comparison."""

import csv
import shutil

from support import IntegrationTest, digest, main, needs

MIXED = """files: {name: data, count: 3, size: 1 MiB, volumes: %s}
access: {size: [4 KiB, 16 KiB], random: 100 %%, reads: 50 %%}
direct: true
depth: 4
stop: {operations: 600}
"""
READS = """files: {name: data, count: 3, size: 1 MiB, volumes: [near, far]}
do: [read]
"""


class SeveralVolumes(IntegrationTest):

    def measure(self, text, *volumes, status=0):
        (self.scratch / "w.yaml").write_text(text)
        named = ["--near", volumes[0]]
        for volume in volumes[1:]:
            named += ["--far", volume]
        finished = self.filereel("run", "w.yaml", *named, "--runs", "2", "--json", "r.json",
                                 status=status)
        return finished, self.result()

    def samples(self, result):
        """By operation and point: the samples."""
        return {(one["operation"], *one["parameters"].values()): one["samples"]
                for one in result["measurements"]}

    def check_sums(self, result, roles):
        """What is done on each volume adds up to what is done on all."""
        samples = self.samples(result)
        points = {key[1:] for key in samples}
        self.assertEqual(len(points), 2)
        for point in points:
            for run, whole in enumerate(samples["run", *point]):
                parts = [samples[f"run {role}", *point][run] for role in roles]
                self.assertEqual(whole["operations"], 600)
                for part in parts:
                    self.assertEqual(part["operations"], 600 / len(roles))
                    self.assertEqual(part["run"], whole["run"])
                    self.assertLessEqual(part["elapsed_s"], whole["elapsed_s"])
                self.assertEqual(whole["bytes"], sum(part["bytes"] for part in parts))
                for kind in ("read", "write"):
                    for member in ("count", "bytes"):
                        self.assertEqual(whole["latency"][kind][member],
                                         sum(part["latency"][kind][member] for part in parts))
                    self.assertEqual(whole["latency"][kind]["max_us"],
                                     max(part["latency"][kind]["max_us"] for part in parts))
                self.assertEqual(whole["divergences"]["count"], 0)

    @needs("ext4")
    def test_two_images_are_formatted_filled_and_measured_together_and_apart(self):
        images = [self.scratch / name for name in ("a.img", "b.img")]
        targets = [f"image:{image},size=64M" for image in images]
        finished, result = self.measure(MIXED % "[near, far]", *targets)
        self.check_sums(result, ["near", "far"])
        self.assertEqual([one["role"] for one in result["volumes"]], ["near", "far"])
        self.assertEqual({one["file_system"] for one in result["measurements"]}, {"ext4"})
        for word in ("w.yaml:", "w.yaml run near:", "w.yaml run far:"):
            self.assertIn(word.removesuffix(":"), finished.out)
        # Each has a loop device of its own, with counters of its own.
        for point in ("4 KiB", "16 KiB"):
            samples = self.samples(result)
            whole, near, far = (samples[name, point][0] for name in ("run", "run near", "run far"))
            for member in ("device_bytes_read", "device_bytes_written"):
                self.assertEqual(whole[member], near[member] + far[member])
            self.assertGreaterEqual(near["device_bytes_read"], near["latency"]["read"]["bytes"])
        self.assert_nothing_left()

    @needs("ext4")
    def test_both_images_hold_the_files_with_contents_of_their_own(self):
        images = [self.scratch / name for name in ("a.img", "b.img")]
        (self.scratch / "w.yaml").write_text(READS)
        self.filereel("run", "w.yaml", "--near", f"image:{images[0]},size=64M", "--far",
                      f"image:{images[1]},size=64M", "--runs", "1", "--keep", "--verify", "content",
                      "--json", "r.json")
        self.assertEqual(self.result()["measurements"][0]["samples"][0]["files"], 6)
        digests = []
        for image in images:
            self.check_clean("ext4", image)
            with self.mounted("ext4", image) as point:
                files = sorted((point / "data").iterdir())
                self.assertEqual([file.name for file in files],
                                 ["f000000", "f000001", "f000002"])
                self.assertEqual({file.stat().st_size for file in files}, {1 << 20})
                digests += [digest(file) for file in files]
        self.assertEqual(len(set(digests)), 6)

    def test_directories_are_volumes_as_well_and_are_left_empty(self):
        folders = [self.folder(name) for name in ("a", "b", "c")]
        _, result = self.measure(MIXED % "[near, far, far-2]", *folders)
        self.check_sums(result, ["near", "far", "far-2"])
        self.assertEqual([list(folder.iterdir()) for folder in folders], [[], [], []])

    def test_on_one_volume_nothing_is_split(self):
        near = self.folder("near")
        operations = []
        for volumes in ("[near]", "near", "all"):
            with self.subTest(volumes):
                _, result = self.measure(MIXED % volumes, near)
                self.assertEqual([one["operation"] for one in result["measurements"]],
                                 ["run", "run"])
                operations.append({key: [(one["operations"], one["bytes"],
                                          one["latency"]["read"]["count"]) for one in samples]
                                   for key, samples in self.samples(result).items()})
        text = (MIXED % "near").replace(", volumes: near", "")
        _, result = self.measure(text, near)
        operations.append({key: [(one["operations"], one["bytes"], one["latency"]["read"]["count"])
                                 for one in samples]
                           for key, samples in self.samples(result).items()})
        self.assertEqual(operations, [operations[0]] * 4)

    def test_reports_tables_and_comparisons_take_the_parts_like_all_else(self):
        folders = [self.folder(name) for name in ("a", "b")]
        self.measure(MIXED % "all", *folders)
        names = {"run", "run near", "run far"}
        self.filereel("report", "r.json", "--csv", "r.csv")
        with open(self.scratch / "r.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual({row["operation"] for row in rows}, names)
        shutil.copy(self.scratch / "r.json", self.scratch / "s.json")
        compared = self.filereel("compare", "r.json", "s.json", status=None)
        for name in ("run near", "run far"):
            self.assertIn(name, compared.out)
            self.assertIn(name, self.filereel("show", "r.json").out)

    def test_a_workload_on_far_needs_it(self):
        (self.scratch / "w.yaml").write_text(READS)
        finished = self.filereel("run", "w.yaml", "--near", self.folder("a"), status=None)
        self.assert_refused(finished, 2, "--far")
        finished = self.filereel("run", "w.yaml", "--near", self.folder("a"), "--far",
                                 self.folder("a"), status=None)
        self.assert_refused(finished, 2, "are the same")

    def test_without_named_volumes_there_are_two_of_its_own(self):
        (self.scratch / "w.yaml").write_text(READS.replace("[near, far]", "all"))
        self.filereel("run", "w.yaml", "--runs", "1", "--json", "r.json")
        self.assertEqual(len(self.result()["measurements"]), 3)
        self.assert_nothing_left()


if __name__ == "__main__":
    main()
