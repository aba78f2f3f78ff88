"""Predictions of run times: filereel predict."""

import json
import os

from support import IntegrationTest, main, needs, no_bpf

WORK = """
import os, time
for i in range(40):
    with open(f'{i}', 'wb') as file:
        file.write(b'x' * 50000)
        os.fsync(file.fileno())
    end = time.perf_counter() + 0.001
    while time.perf_counter() < end:
        pass
"""
TIMED = """1700000000.000000 openat(AT_FDCWD, "/d/f", O_RDWR|O_CREAT, 0644) = 3 <0.000010>
1700000000.001000 pwrite64(3, "", 8192, 0) = 8192 <0.000010>
1700000000.060000 close(3) = 0 <0.000010>
"""
# The read ends before the end of the file.
DIFFERENT = """1700000000.000000 openat(AT_FDCWD, "/d/f", O_RDWR|O_CREAT, 0644) = 3 <0.000010>
1700000000.001000 pwrite64(3, "", 8192, 0) = 8192 <0.000010>
1700000000.002000 pread64(3, "", 4096, 0) = 100 <0.000010>
"""


class Predictions(IntegrationTest):

    def folder(self, name):
        (self.scratch / name).mkdir(exist_ok=True)
        return self.scratch / name

    def reel_of(self, lines, name="app"):
        (self.scratch / f"{name}.strace").write_text(lines)
        self.filereel("import", f"{name}.strace", "-o", f"{name}.reel", "--cwd", "/d")
        return f"{name}.reel"

    def predict(self, *words, **options):
        return self.filereel("predict", *words, "--json", "p.json", **options)

    def prediction(self):
        return json.loads((self.scratch / "p.json").read_text())

    def test_directories_take_turns_and_are_ranked(self):
        done = self.predict(self.reel_of(TIMED), self.folder("a"), self.folder("b"))
        self.assertRegex(done.out, r"(?m)^app\.reel: \d\S* ms where it was recorded$")
        self.assertRegex(done.out, r"no significant difference|Fastest")
        # Its pauses are not waits: nothing is known about the accuracy.
        self.assertIn("ACCURACY UNKNOWN", done.out)
        self.assertIn("In the replays:", done.out)
        told = self.prediction()
        self.assertIn("waits", told["accuracy_unknown"])
        self.assertEqual({one["volume"] for one in told["predictions"]},
                         {str(self.folder("a")), str(self.folder("b"))})
        for one in told["predictions"]:
            self.assertEqual(len(one["samples_s"]), 5)
            self.assertGreaterEqual(one["median_s"], 0.05)  # pace think
            self.assertLess(one["interval_95"]["low"], one["median_s"] * 1.0001)
        starts = [[sample["started_s"] for sample in result["measurements"][0]["samples"]]
                  for result in told["results"]]
        for run in range(5):  # A B, B A, A B …
            self.assertEqual(starts[0][run] < starts[1][run], run % 2 == 0, starts)
        self.assertEqual({result["measurements"][0]["replay"]["pace"]
                          for result in told["results"]}, {"think"})
        self.assertEqual(os.listdir(self.folder("a")) + os.listdir(self.folder("b")), [])

    def test_results_that_differ_allow_no_prediction(self):
        reel = self.reel_of(DIFFERENT)
        done = self.predict(reel, self.folder("a"), status=1)
        self.assertIn("no prediction: 1 of 4 results differs", " ".join(done.out.split()))
        self.assertIn("verification failed", done.err)
        self.assertEqual(self.prediction()["predictions"][0]["rank"], 0)
        self.predict(reel, self.folder("a"), "--allow-divergence")
        self.assertEqual(self.prediction()["predictions"][0]["rank"], 1)

    @needs("ext4", "xfs")
    def test_a_recorded_program_is_predicted_on_images(self):
        if no_bpf():
            self.skipTest(no_bpf())
        there = self.folder("program")
        (self.scratch / "work.py").write_text(WORK)
        self.filereel("record", "--backend", "bpf", "-o", self.scratch / "app.reel", "--under", there, "--",
                      "python3", self.scratch / "work.py", cwd=there)
        done = self.predict(self.scratch / "app.reel", "image:a.img,size=400M",
                            "image:b.img,size=400M", "--fs", "ext4,xfs")
        told = self.prediction()
        self.assertEqual({(one["volume"], one["file_system"]) for one in told["predictions"]},
                         {(f"image:{name}.img", kind) for name in "ab" for kind in ("ext4", "xfs")})
        if "accuracy" in told:  # the reel has the waits of threads
            self.assertNotIn("UNKNOWN", done.out)
            for one in told["predictions"]:
                width = one["interval_95"]["high"] / one["median_s"]
                self.assertGreater(width, 1 + 1.9 * told["accuracy"]["single"])
        self.assertEqual(min(one["rank"] for one in told["predictions"]), 1)


if __name__ == "__main__":
    main()
