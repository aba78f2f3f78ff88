"""Several clients: real processes of mpirun on one directory. Their figures add up, and if one dies, hangs or
loses its target, the run ends, keeps its results and leaves nothing behind."""

import os
import pathlib
import signal
import subprocess
import time

from support import FILEREEL, IntegrationTest, have, main, needs

WORKLOAD = """files: {name: data, count: 4, size: 1 MiB}
access: {size: 4 KiB, random: 100 %%, reads: %s}
stop: {%s}
"""
LONG = WORKLOAD % ("50 %", "time: 1 s")
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class Clients(IntegrationTest):

    def setUp(self):
        super().setUp()
        if not have("mpirun"):
            self.skipTest("needs mpirun")

    def command(self, count, *arguments, wrap=()):
        binary = pathlib.Path(FILEREEL).resolve()
        return ["mpirun", "--oversubscribe", "-np", str(count), *wrap, str(binary), "run", *arguments,
                "--clients", "mpi", "--json", "r.json"]

    def launch(self, count, *arguments, wrap=()):
        return subprocess.Popen(self.command(count, *arguments, wrap=wrap), cwd=self.scratch,
                                env={**os.environ, **AS_ROOT}, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)

    def measure(self, count, *arguments):
        process = self.launch(count, *arguments)
        output = process.communicate(timeout=110)[0]
        self.assertEqual(process.returncode, 0, output)
        return output, self.result()

    def samples(self, result):
        return [sample for one in result["measurements"] for sample in one["samples"]]

    def check_sums(self, result, count):
        self.assertTrue(result["complete"])
        for sample in self.samples(result):
            clients = sample["clients"]
            self.assertEqual(len(clients["each"]), count)
            for member in ("bytes", "files", "operations"):
                self.assertEqual(sample[member], sum(one[member] for one in clients["each"]))
                self.assertLessEqual(clients[f"first_ended_{member}"], sample[member])
            ends = [one["start_s"] + one["elapsed_s"] for one in clients["each"]]
            self.assertAlmostEqual(sample["elapsed_s"], max(ends))
            self.assertAlmostEqual(clients["first_ended_s"], min(ends))
            self.assertEqual(min(one["start_s"] for one in clients["each"]), 0)
            self.assertEqual(sample["divergences"]["count"], 0)

    def test_file_sets_of_all_clients_add_up(self):
        for count in (2, 5):
            with self.subTest(clients=count):
                _, result = self.measure(count, "mp3", "--scale", "0.01", "--near", "target", "--runs",
                                              "2", "--verify", "tree")
                self.check_sums(result, count)
                for sample in self.samples(result):
                    self.assertEqual(sample["tree"]["differences"], 0)
                    each = sample["clients"]["each"]
                    self.assertEqual({one["bytes"] for one in each}, {sample["bytes"] // count})
                    self.assertEqual({one["files"] for one in each}, {sample["files"] // count})
                self.assertFalse((self.scratch / "target").exists())

    def test_a_workload_has_the_operations_of_all_clients_in_its_histograms(self):
        (self.scratch / "w.yaml").write_text(WORKLOAD % ("100 %", "operations: 500"))
        _, result = self.measure(4, "w.yaml", "--near", "target", "--runs", "1")
        self.check_sums(result, 4)
        sample, = self.samples(result)
        self.assertEqual([one["operations"] for one in sample["clients"]["each"]], [500] * 4)
        self.assertEqual(sample["latency"]["read"]["count"], 2000)
        self.assertEqual(sample["latency"]["read"]["bytes"], 2000 * 4096)

    def test_a_recording_is_replayed_by_each_client(self):
        _, result = self.measure(3, "app-git-clone", "--near", "target", "--runs", "1", "--verify", "tree")
        self.check_sums(result, 3)
        sample, = self.samples(result)
        self.assertEqual(sample["tree"]["differences"], 0)
        self.assertEqual(len({one["operations"] for one in sample["clients"]["each"]}), 1)

    def test_kept_files_lie_in_a_directory_for_each_client_with_content_of_its_own(self):
        self.measure(2, "mp3", "--scale", "0.01", "--operations", "create", "--near", "target", "--runs", "1",
                     "--keep")
        target = self.scratch / "target"
        self.assertEqual(sorted(one.name for one in target.iterdir()), ["client-0", "client-1"])
        first, second = (sorted(one for one in (target / name).rglob("*") if one.is_file())
                         for name in ("client-0", "client-1"))
        self.assertEqual([one.relative_to(target / "client-0") for one in first],
                         [one.relative_to(target / "client-1") for one in second])
        self.assertNotEqual(first[0].read_bytes(), second[0].read_bytes())

    def test_staggered_clients_start_one_after_the_other(self):
        (self.scratch / "w.yaml").write_text(WORKLOAD % ("100 %", "operations: 50"))
        _, result = self.measure(3, "w.yaml", "--near", "target", "--runs", "1", "--stagger", "300ms")
        each = self.samples(result)[0]["clients"]["each"]
        for i in (0, 1, 2):
            self.assertGreaterEqual(each[i]["start_s"], 0.3 * i - 0.2)
        self.assertGreater(self.samples(result)[0]["elapsed_s"], 0.4)

    def test_what_needs_a_shared_directory_is_refused(self):
        for arguments, text in ((["--near", "image:a.img"], "needs a directory that all clients see"),
                                ([], "needs --near")):
            done = self.filereel("run", "mp3", "--scale", "0.01", "--clients", "mpi", *arguments, status=2)
            self.assertIn(text, done.stderr)
        done = self.filereel("run", "mp3", "--stagger", "1s", status=2)
        self.assertIn("--stagger needs --clients mpi", done.stderr)

    def begin(self, wrap=()):
        """A run with at least one sample, and the processes of its clients."""
        (self.scratch / "w.yaml").write_text(LONG)
        process = self.launch(4, "w.yaml", "--near", "target", "--runs", "30", "--client-timeout", "3s",
                             wrap=wrap)
        end = time.monotonic() + 40
        while not (self.scratch / "r.json").exists() and time.monotonic() < end:
            time.sleep(0.1)
        self.assertIsNone(process.poll(), "it has ended early")
        return process, self.clients_of(process.pid)

    def clients_of(self, parent):
        found = []
        for task in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                fields = (task / "stat").read_text().rpartition(")")[2].split()
                name = os.readlink(task / "exe")
            except OSError:
                continue
            if int(fields[1]) == parent and name == str(pathlib.Path(FILEREEL).resolve()):
                found.append(int(task.name))
        return sorted(found)

    def check_end(self, process, began):
        output = process.communicate(timeout=60)[0]
        self.assertNotEqual(process.returncode, 0, output)
        self.assertLess(time.monotonic() - began, 30, output)
        result = self.result()
        self.assertFalse(result["complete"])
        self.assertTrue(self.samples(result))
        end = time.monotonic() + 20  # the janitor waits for killed processes
        while (self.scratch / "target").exists() and time.monotonic() < end:
            time.sleep(0.1)
        self.assertFalse((self.scratch / "target").exists())
        return output

    def test_a_killed_client_ends_the_run(self):
        process, clients = self.begin()
        self.assertEqual(len(clients), 4)
        began = time.monotonic()
        os.kill(clients[2], signal.SIGKILL)
        self.check_end(process, began)

    def test_a_stopped_client_ends_the_run(self):
        process, clients = self.begin()
        self.assertEqual(len(clients), 4)
        began = time.monotonic()
        os.kill(clients[2], signal.SIGSTOP)
        output = self.check_end(process, began)
        self.assertRegex(output, r"filereel: client 2 \([^)]*\) has not answered for 3")

    @needs("ext4")
    def test_a_client_that_loses_its_target_ends_the_run(self):
        """Its own mount namespace, so that the others keep theirs."""
        with self.ext4_volume(300) as folder:
            (self.scratch / "wrap").write_text(
                "#!/bin/sh\n"
                'if [ "$OMPI_COMM_WORLD_RANK" = 1 ]; then\n'
                f"  unshare -m sh -c '(sleep 8; umount -l {folder}) & exec \"$@\"' - \"$@\"\n"
                "else\n"
                '  exec "$@"\n'
                "fi\n")
            (self.scratch / "wrap").chmod(0o755)
            (self.scratch / "w.yaml").write_text(LONG)
            began = time.monotonic()
            process = self.launch(3, "w.yaml", "--near", f"{folder}/target", "--runs", "30", "--client-timeout",
                                 "5s", wrap=[str(self.scratch / "wrap")])
            output = process.communicate(timeout=90)[0]
            self.assertNotEqual(process.returncode, 0, output)
            self.assertLess(time.monotonic() - began, 60)
            self.assertRegex(output, r"filereel: client 1 \([^)]*\): .*was unmounted or replaced")
            self.assertTrue(self.samples(self.result()))
            self.assertFalse(os.path.exists(f"{folder}/target"))


if __name__ == "__main__":
    main()
