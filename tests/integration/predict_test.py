"""Predictions of run times: filereel predict."""

import contextlib
import json
import os
import pathlib
import re
import sys

from support import IntegrationTest, call, main, needs, no_bpf

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "model_drive"))
from drive import ModelDrive, needs_drive  # noqa: E402

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
# Four threads that commit; one of them syncs for all that have written meanwhile. Prints its time.
SERVER = """
import os, threading, time
log = os.open('log', os.O_RDWR | os.O_CREAT, 0o644)
turn = threading.Condition()
written = synced = 0
syncing = False

def client():
    global written, synced, syncing
    for _ in range(40):
        with turn:
            os.pwrite(log, b'x' * 4096, written * 4096)
            written += 1
            mine = written
            while synced < mine:
                if syncing:
                    turn.wait()
                    continue
                syncing = True
                upto = written
                turn.release()
                os.fsync(log)
                turn.acquire()
                synced, syncing = upto, False
                turn.notify_all()
        time.sleep(0.001)

begin = time.monotonic()
threads = [threading.Thread(target=client) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(time.monotonic() - begin)
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

    @contextlib.contextmanager
    def mounted_device(self, device):
        point = self.folder("mounted")
        call("mount", device, point)
        try:
            yield point
        finally:
            call("umount", point)

    def prediction(self):
        return json.loads((self.scratch / "p.json").read_text())

    def test_directories_take_turns_and_are_ranked(self):
        done = self.predict(self.reel_of(TIMED), self.folder("a"), self.folder("b"))
        self.assertRegex(done.out, r"(?m)^app\.reel: \d\S* ms where it was recorded$")
        self.assertRegex(done.out, r"no significant difference|Fastest")
        # Its pauses are not waits: nothing is known about the accuracy.
        self.assertIn("ACCURACY UNKNOWN", done.out)
        self.assertIn("In replays of unknown accuracy:", done.out)
        told = self.prediction()
        self.assertIn("waits", told["accuracy_unknown"])
        self.assertEqual({one["volume"] for one in told["predictions"]},
                         {str(self.folder("a")), str(self.folder("b"))})
        for one in told["predictions"]:
            self.assertEqual(len(one["samples_s"]), 6)
            self.assertGreaterEqual(one["median_s"], 0.05)  # pace think
            self.assertLess(one["interval_95"]["low"], one["median_s"] * 1.0001)
        starts = [[sample["started_s"] for sample in result["measurements"][0]["samples"]]
                  for result in told["results"]]
        for run in range(6):  # A B, B A, A B …
            self.assertEqual(starts[0][run] < starts[1][run], run % 2 == 0, starts)
        self.assertEqual({result["measurements"][0]["replay"]["pace"]
                          for result in told["results"]}, {"think"})
        self.assertEqual(os.listdir(self.folder("a")) + os.listdir(self.folder("b")), [])

    def test_results_that_differ_allow_no_prediction(self):
        reel = self.reel_of(DIFFERENT)
        done = self.predict(reel, self.folder("a"), status=1)
        self.assertIn("no prediction: 6 of 24 results differ", " ".join(done.out.split()))
        self.assertIn("verification failed", done.err)
        self.assertEqual(self.prediction()["predictions"][0]["rank"], 0)
        self.predict(reel, self.folder("a"), "--allow-divergence")
        self.assertEqual(self.prediction()["predictions"][0]["rank"], 1)

    def test_a_reel_without_operations_is_refused_and_a_client_is_remembered(self):
        if no_bpf():
            self.skipTest(no_bpf())
        there = self.folder("program")
        reel = self.scratch / "app.reel"
        record = ("record", "--backend", "bpf", "-o", reel, "--under", there, "--")
        self.filereel(*record, "true")
        refused = self.predict(reel, self.folder("a"), status=3)
        self.assertRegex(refused.err, "has no operations on files, so there is nothing to predict")
        done = self.filereel(*record, "sh", "-c", f"echo one >{there}/one; sleep 0.3; cat {there}/one")
        remark = "mostly waited, and hardly used files"
        self.assertIn(remark, done.err)
        for told in (self.filereel("show", reel), self.predict(reel, self.folder("a"))):
            self.assertIn(remark, " ".join(told.out.split()))

    def data_of(self, page):
        text = (self.scratch / page).read_text()
        return json.loads(re.search(r'id="report-data">(.*?)</script>', text)[1])

    def test_a_prediction_is_shown_reported_and_ranked(self):
        folders = [str(self.folder(name)) for name in "ab"]
        done = self.predict(self.reel_of(TIMED), *folders, "--html", "p.html")
        self.assertIn("What takes the time:", done.out)
        shown = self.filereel("show", "p.json")
        self.assertEqual(shown.out.split("\n\n")[0], done.out.split("\n\n")[0])
        self.assertEqual(json.loads(self.filereel("show", "p.json", "--json").out), self.prediction())
        self.filereel("report", "p.json", "-o", "r.html", "--csv", "r.csv")
        page, again = self.data_of("p.html"), self.data_of("r.html")
        told, read = page["predictions"][0], again["predictions"][0]
        for name in ("program", "conclusion", "reliability", "unknown", "limits"):
            self.assertEqual(told[name], read[name])
        for time, of_file in zip(told["times"], read["times"]):  # files have six digits
            self.assertEqual(time["volume"], of_file["volume"])
            self.assertAlmostEqual(time["median_s"], of_file["median_s"], 5)
        self.assertEqual(told["program"], "app.reel")
        self.assertEqual({one["volume"].split(" (")[0] for one in told["times"]}, set(folders))
        self.assertEqual(len(told["limits"]), 2)
        for time in told["times"]:  # so that a volume has one colour on the page
            same = [one for one in page["series"] if one["file_system"] == time["file_system"] and any(
                volume["target"] == time["target"] for volume in page["results"][one["result"]]["volumes"])]
            self.assertEqual(len(same), 1)
        self.assertEqual(page["indexes"], [])  # of one measurement
        # Its ranking is the only answer, and settings of the replays are in tables, not in headlines.
        self.assertNotIn("comparison", page)
        for text in page["findings"]:
            self.assertNotIn("=", text)
        self.assertIn(folders[1], self.filereel("compare", "p.json").out)

    def test_a_prediction_in_place_of_a_result_says_what_to_name_instead(self):
        self.predict(self.reel_of(TIMED), self.folder("a"), self.folder("b"))
        for words in (("compare", "p.json", "p.json"), ("history", self.folder("h"), "add", "p.json")):
            refused = self.filereel(*words, status=3)
            self.assertIn("a prediction", refused.err)
            self.assertIn("filereel replay --json", refused.err)

    @needs_drive()
    @needs("ext4")
    def test_a_server_that_groups_its_commits_is_within_the_interval_on_a_slow_drive(self):
        if no_bpf():
            self.skipTest(no_bpf())
        (self.scratch / "server.py").write_text(SERVER)
        there = self.memory_folder(100)
        self.filereel("record", "--backend", "bpf", "-o", self.scratch / "server.reel", "--under", there, "--",
                      "python3", self.scratch / "server.py", cwd=there)
        with ModelDrive({"size": "300MiB", "flush": {"latency": "15ms"}}) as drive:
            call("mkfs.ext4", "-q", drive.device)
            with self.mounted_device(drive.device) as point:
                (point / "replayed").mkdir()
                (point / "real").mkdir()
                done = self.predict(self.scratch / "server.reel", point / "replayed")
                took = float(call("python3", self.scratch / "server.py", cwd=point / "real"))
        self.assertIn("commits that a server can combine", " ".join(done.out.split()))
        [told] = self.prediction()["predictions"]
        self.assertGreater(told["most_saved"], 0.1)
        self.assertLessEqual(told["interval_95"]["low"], took)
        self.assertLessEqual(took, told["interval_95"]["high"])
        self.assertEqual(self.prediction()["grouped_commits"]["threads"], 4)

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
