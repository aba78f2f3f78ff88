"""Work that a volume cannot do: no rank, no prediction, and a line that says what failed."""

import json

from support import IntegrationTest, call, main, needs

DIRECT = "O_WRONLY|O_CREAT|O_DIRECT"
BLOCKS = [f'pwrite64(3, "", 512, {512 * i}) = 512' for i in range(40)]


class FailedWork(IntegrationTest):

    def reel(self, *calls, name="app"):
        lines = "".join(f"1700000000.{i:06} {one} <0.000010>\n" for i, one in enumerate(calls))
        (self.scratch / f"{name}.strace").write_text(lines)
        self.filereel("import", f"{name}.strace", "-o", f"{name}.reel", "--cwd", "/d")
        return f"{name}.reel"

    def written(self, *calls):
        """A reel that creates a file for direct I/O and does the calls on it."""
        return self.reel(f'openat(AT_FDCWD, "/d/f", {DIRECT}, 0644) = 3', *calls, "close(3) = 0")

    def device(self, name, sector):
        """A loop device with sectors of that size."""
        with open(self.scratch / name, "wb") as file:
            file.truncate(64 << 20)
        device = call("losetup", "-f", "--show", "-b", str(sector), self.scratch / name).strip()
        self.addCleanup(call, "losetup", "-d", device)
        return device

    def failed(self, name="r.json"):
        """What failed in all samples of the first measurement."""
        samples = self.result(name)["measurements"][0]["samples"]
        return [sample.get("failed_calls", []) for sample in samples]

    def warnings(self, name="r.json"):
        return [one["text"] for one in self.result(name)["warnings"]
                if one["code"] == "calls-failed"]

    def run_reel(self, reel, device, name, status=0):
        return self.filereel("run", reel, "--near", device, "--destroy", device, "--fs", "ext4",
                             "--runs", "5", "--json", name, status=status)

    @needs("ext4")
    def test_direct_writes_that_a_drive_refuses_have_no_rank_in_any_order(self):
        reel = self.written(*BLOCKS)
        large, small = self.device("large.img", 4096), self.device("small.img", 512)
        done = self.run_reel(reel, large, "bad.json", status=1)
        failed = [{"volume": "near", "operation": "write", "error": "EINVAL", "count": 40}]
        self.assertEqual(self.failed("bad.json"), [failed] * 5)
        line = f"write on {large} (near, ext4) failed with EINVAL: 40 times a run, in 5 of 5 runs"
        self.assertIn(line, done.err.splitlines()[-1])
        self.assertEqual(len(self.warnings("bad.json")), 1)
        self.assertTrue(self.warnings("bad.json")[0].startswith(line))
        for name in ("good.json", "other.json"):
            self.run_reel(reel, small, name)
        for order in (["bad", "good", "other"], ["good", "bad", "other"], ["good", "other", "bad"]):
            files = [f"{name}.json" for name in order]
            done = self.filereel("compare", *files, "--json", "c.json")
            for one in self.result("c.json")["rankings"]:
                ranks = {entry["name"]: entry for entry in one["entries"]}
                # Whether the good ones have ranks depends on the machine's noise.
                for name in ("good.json", "other.json"):
                    self.assertIn("ratio", ranks[name], order)
                    self.assertNotIn("reason", ranks[name], order)
                self.assertEqual(ranks["bad.json"]["rank"], 0)
                self.assertIn(line, ranks["bad.json"]["reason"])
            for index in self.result("c.json").get("indexes", []):
                self.assertEqual(index["measurements"], [], order)
        self.filereel("history", "h", "add", "bad.json", "good.json", "other.json")
        told = json.loads(self.filereel("history", "h", "trend", "--json").out)
        for device in told["devices"]:
            self.assertIn(line, device["left_out"][0])
            for series in device["measurements"]:
                self.assertEqual(len(series["points"]), 2)

    @needs("ext4")
    def test_a_drive_that_refuses_the_writes_has_no_prediction(self):
        reel = self.written(*BLOCKS)
        large, small = self.device("large.img", 4096), self.device("small.img", 512)
        words = ["predict", reel, large, small, "--destroy", large, "--destroy", small,
                 "--json", "p.json"]
        done = self.filereel(*words, status=1)
        self.assertIn("EINVAL: 40 times a run", done.err.splitlines()[-1])
        told = {one["volume"]: one for one in self.result("p.json")["predictions"]}
        self.assertEqual(told[small]["rank"], 1)
        self.assertEqual(told[large]["rank"], 0)
        self.assertIn(f"write on {large}", told[large]["reason"])
        self.filereel(*words, "--allow-divergence")

    @needs("ext4")
    def test_a_volume_that_is_full_before_the_end(self):
        folder = self.folder("small")
        call("mount", "-t", "tmpfs", "-o", "size=8M", "tmpfs", folder)
        self.addCleanup(call, "umount", "-l", folder)
        calls = ['openat(AT_FDCWD, "/d/f", O_WRONLY|O_CREAT, 0644) = 3']
        for i in range(24):  # nothing is left in the end, so that the reel is not refused
            calls.append(f'pwrite64(3, "", 1048576, {1048576 * i}) = 1048576')
        calls += ["ftruncate(3, 0) = 0", "close(3) = 0"]
        done = self.filereel("replay", self.reel(*calls), folder, "--json", "r.json", status=1)
        self.assertIn("ENOSPC", done.err.splitlines()[-1])
        for failed in self.failed():
            self.assertEqual([(one["operation"], one["error"]) for one in failed],
                             [("write", "ENOSPC")])
            self.assertGreaterEqual(failed[0]["count"], 14)  # of 24; 8 fit

    @needs("exfat")
    def test_links_on_exfat(self):
        reel = self.reel('openat(AT_FDCWD, "/d/f", O_WRONLY|O_CREAT, 0644) = 3', "close(3) = 0",
                         *[f'link("/d/f", "/d/l{i}") = 0' for i in range(3)],
                         'symlink("f", "/d/s") = 0')
        self.filereel("run", reel, "--near", "image:e.img,size=64M", "--fs", "exfat", "--runs", "1",
                      "--json", "r.json", status=1)
        told = {one["operation"]: one for one in self.failed()[0]}
        self.assertEqual((told["link"]["count"], told["symlink"]["count"]), (3, 1))
        self.assertEqual(len(self.warnings()), 2)

    @needs("ext4")
    def test_an_error_that_the_trace_has_is_none(self):
        reel = self.written('pwrite64(3, "", 512, 0) = -1 EINVAL (Invalid argument)')
        large = self.device("large.img", 4096)
        self.run_reel(reel, large, "r.json")
        self.assertEqual(self.failed(), [[]] * 5)
        self.assertEqual(self.warnings(), [])


if __name__ == "__main__":
    main()
