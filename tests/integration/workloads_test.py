"""Every workload that `filereel list` names runs at a small scale, and its result holds its sweep."""

import itertools
import json
import math
import pathlib

from support import IntegrationTest, main, needs, thorough

CATALOG = pathlib.Path(__file__).resolve().parents[2] / "traces/catalogue"
SCALE, TIME = 0.002, "20ms"
LONG_TIME = "300ms"  # for machines that are too busy to begin within TIME
MOST_RECORDED = 200e6  # bytes that a recording that is replayed here may have and write
# Those that fill the volume have no size that could be scaled.
SCALES = {"iometer-workstation-roundup": 1, "zones": 1}
VOLUME = {"iometer-workstation-roundup": "64M", "zones": "64M"}
# The lengths of the axes, in their order.
SHAPES = {
    "atto": [15], "cached-direct": [2, 6, 6], "cached-direct-sequential": [2, 2], "cached-maximum": [6],
    "database-67-33": [9], "exchange": [9], "fc-pattern": [2, 5],
    "fio-matrix-random": [3, 3, 3], "fio-matrix-sequential": [3, 3, 3], "iometer-database": [11, 9],
    "iometer-fileserver": [9], "iometer-webserver": [9], "iometer-workstation": [9],
    "iometer-workstation-roundup": [6], "multi-stream": [2, 4, 4], "mysql-mix": [3], "overwrite-files": [2],
    "queue-matrix": [2, 6, 6], "queue-matrix-sequential": [2, 6, 6], "random-block-size": [2, 16],
    "random-read": [4], "response-time": [2], "sequential-block-size": [2, 16], "sysbench-fileio-large": [3],
    "sysbench-ratio": [9], "zones": [2, 20],
}
# The ends of the axes of large sweeps, which daily tests stay with.
ENDS = {
    "atto": {"write.size": "512 B,8 MiB"},
    "cached-direct": {"run.count": "1,32", "depth": "1,32"},
    "database-67-33": {"depth": "1,256"},
    "exchange": {"depth": "1,256"},
    "fc-pattern": {"pattern.size": "1 KiB,1 MiB"},
    "fio-matrix-random": {"reads": "0 %,50 %", "depth": "2,8"},
    "fio-matrix-sequential": {"reads": "0 %,50 %", "depth": "2,8"},
    "iometer-database": {"reads": "100 %,0 %", "depth": "1,256"},
    "iometer-fileserver": {"depth": "1,256"},
    "iometer-webserver": {"depth": "1,256"},
    "iometer-workstation": {"depth": "1,256"},
    "iometer-workstation-roundup": {"depth": "1,32"},
    "multi-stream": {"depth": "1,8"},
    "queue-matrix": {"run.count": "1,32", "depth": "1,32"},
    "queue-matrix-sequential": {"run.count": "1,32", "depth": "1,32"},
}
# Its idle times take 36 minutes: write_cache_test.py shortens them.
ELSEWHERE = {"write-cache"}
# What the catalogue is asked to have, whatever else it has.
NAMES = """
    atto cached-direct cached-direct-sequential cached-maximum create-files database-67-33 exchange
    fc-pattern fio-matrix-random fio-matrix-sequential iometer-database iometer-fileserver
    iometer-webserver iometer-workstation
    iometer-workstation-roundup multi-stream mysql-mix mysql-review naspt-content-creation
    naspt-directory-copy-from naspt-directory-copy-to naspt-file-copy-from naspt-file-copy-to
    naspt-hd-playback naspt-hd-playback-2x naspt-hd-playback-4x naspt-hd-playback-and-record
    naspt-hd-record naspt-office-productivity naspt-photo-album overwrite-files
    pcmark-vantage-application-loading pcmark-vantage-defender pcmark-vantage-gaming
    pcmark-vantage-media-center pcmark-vantage-media-player pcmark-vantage-movie-maker
    pcmark-vantage-photo-gallery pcmark-vantage-startup pcmark05-application-loading
    pcmark05-file-write pcmark05-general-use pcmark05-startup pcmark05-virus-scan queue-matrix
    queue-matrix-sequential random-block-size response-time rewrite-files sequential-block-size
    sysbench-fileio sysbench-fileio-large sysbench-ratio
    winbench-business winbench-highend zones""".split()


def shape(matrix):
    """The lengths of nested lists; fails where they are not all alike."""
    if not isinstance(matrix, list):
        return []
    shapes = [shape(one) for one in matrix]
    assert all(one == shapes[0] for one in shapes), "ragged"
    return [len(matrix)] + shapes[0]


def flat(matrix):
    return itertools.chain.from_iterable(map(flat, matrix)) if isinstance(matrix, list) \
        else [matrix]


class EveryWorkload(IntegrationTest):

    def names(self, section):
        """What the list has under a heading; not FC-Test, which is a plan too."""
        lines = iter(self.filereel("list").out.splitlines())
        self.assertIn(section, lines)
        # A description may go on below, further to the right.
        found = [line.split()[0] for line in itertools.takewhile(str.strip, lines) if line[2] != " "]
        return [name for name in found if name != "fc-test"]

    def run_small(self, name, ends, time=TIME):
        image = self.scratch / f"{name}.img"
        size = VOLUME.get(name, "400M")
        timed = [] if name.startswith("mysql-") else ["--time", time]
        for key, values in ends.items():
            timed += ["--sweep", f"{key}={values}"]
        self.filereel("run", name, "--near", f"image:{image},size={size}", "--fs", "ext4",
                      "--scale", SCALES.get(name, SCALE), *timed, "--runs", "1",
                      "--json", f"{name}.json")
        result = self.result(f"{name}.json")
        if time == TIME and not all(one["samples"][0]["operations"]
                                    for one in result["measurements"]):
            return self.run_small(name, ends, LONG_TIME)
        return image, result

    def check(self, name, result, ends):
        self.assertTrue(result["complete"])
        self.assertGreater(len(result["measurements"]), 0)
        for one in result["measurements"]:
            self.assertEqual(one["workload"], name)
            self.assertEqual(len(one["samples"]), 1)
            sample = one["samples"][0]
            self.assertGreater(sample["operations"], 0, one)
            self.assertEqual(sample["divergences"]["count"], 0, sample["divergences"])
        expected = SHAPES.get(name, [])
        self.assertEqual(bool(result.get("sweeps")), bool(expected))
        if ends:
            axes = {axis["name"]: axis["values"] for axis in result["sweeps"][0]["axes"]}
            short = {key.split(".")[-1]: values.split(",") for key, values in ends.items()}
            self.assertEqual(axes, {**axes, **short})
            expected = [2 if key in short else length for key, length in zip(axes, expected)]
        operations = {one["operation"] for one in result["measurements"]}
        self.assertEqual(len(result["measurements"]), math.prod(expected) * len(operations))
        for sweep in result.get("sweeps", []):
            lengths = [len(axis["values"]) for axis in sweep["axes"]]
            self.assertEqual(lengths, expected)
            self.assertEqual(shape(sweep["operations_per_s"]), expected)
            for figure in flat(sweep["operations_per_s"]):
                self.assertGreater(figure, 0)
        self.assertEqual({sweep["operation"] for sweep in result.get("sweeps", [])},
                         operations if expected else set())

    def check_recording(self, name):
        """Those that are too large are read and compiled to the end, but not done."""
        reel = CATALOG / f"{name}.reel"
        content = json.loads(self.filereel("show", reel, "--json").out)
        self.assertTrue(content["complete"])
        self.assertGreater(content["operations"], 0)
        self.assertLessEqual(reel.stat().st_size, 1 << 20)
        if content["initial"]["bytes"] + content["bytes_written"] > MOST_RECORDED:
            self.filereel("replay", reel, "--engine", "null", "--json", f"{name}.json")
            result = self.result(f"{name}.json")
            self.assertEqual(result["measurements"][0]["samples"][0]["divergences"]["count"], 0)
        else:
            image = self.scratch / f"{name}.img"
            self.filereel("run", name, "--near", f"image:{image},size=800M", "--fs", "ext4",
                          "--runs", "1", "--json", f"{name}.json")
            self.check(name, self.result(f"{name}.json"), {})
            image.unlink()

    def check_all(self, names, ends_of):
        for name in names:
            with self.subTest(name):
                ends = ends_of.get(name, {})
                image, result = self.run_small(name, ends)
                self.check(name, result, ends)
                if name == "fc-pattern":
                    self.check_clean("ext4", image)
                image.unlink()
        self.assert_nothing_left()

    @needs("ext4")
    def test_each_runs_at_the_ends_of_its_sweep_without_a_divergence(self):
        names = self.names("Workloads")
        self.assertEqual(set(NAMES) - set(names), set())
        self.check_all([name for name in names if name not in ELSEWHERE], ENDS)

    @needs("ext4")
    @thorough("large sweeps at every point, not only at their ends")
    def test_each_runs_at_every_point_without_a_divergence(self):
        self.check_all(ENDS, {})

    @needs("ext4")
    def test_each_recording_replays_without_a_divergence(self):
        for name in self.names("Recorded programs"):
            with self.subTest(name):
                self.check_recording(name)


if __name__ == "__main__":
    main()
