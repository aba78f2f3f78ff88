"""Several clients: real processes of mpirun on one directory. Their figures add up, and if one dies, hangs or
loses its target, the run ends, keeps its results and leaves nothing behind."""

import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import time
import unittest

from support import FILEREEL, IntegrationTest, call, have, main, needs, thorough

WORKLOAD = """files: {name: data, count: 4, size: 1 MiB}
access: {size: 4 KiB, random: 100 %%, reads: %s}
stop: {%s}
"""
LONG = WORKLOAD % ("50 %", "time: 1 s")
SFTP_SERVER = "/usr/lib/openssh/sftp-server"
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class ClientsTest(IntegrationTest):
    """Runs filereel with mpirun."""

    program = FILEREEL

    def setUp(self):
        super().setUp()
        if not have("mpirun"):
            self.skipTest("needs mpirun")

    def command(self, count, *arguments, wrap=(), json="r.json"):
        binary = pathlib.Path(self.program).resolve()
        return ["-np", str(count), *wrap, str(binary), "run", *arguments, "--clients", "mpi", "--json", json]

    def mpirun(self, *commands):
        """A command of all clients, or one for each client."""
        words = commands[0] if len(commands) == 1 else self.by_rank(commands)
        return subprocess.Popen(["mpirun", "--oversubscribe", *words], cwd=self.scratch,
                                env=self.environment(**AS_ROOT), stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)

    def by_rank(self, commands):
        """A script that runs the command of the client. With colons between commands, mpirun of Debian 13 (Open
        MPI 5.0.7) crashes: `mpirun -np 1 true : -np 1 true`."""
        cases = "".join(f"{rank}) exec {shlex.join(command[2:])} ;;\n" for rank, command in enumerate(commands))
        self.script("by-rank", f"case $OMPI_COMM_WORLD_RANK in\n{cases}esac")
        return ["-np", str(len(commands)), str(self.scratch / "by-rank")]

    def script(self, name, text):
        (self.scratch / name).write_text(f"#!/bin/sh\n{text}\n")
        (self.scratch / name).chmod(0o755)

    def launch(self, count, *arguments, **more):
        return self.mpirun(self.command(count, *arguments, **more))

    def measure(self, count, *arguments, wrap=(), timeout=110):
        process = self.launch(count, *arguments, wrap=wrap)
        try:
            output = process.communicate(timeout=timeout)[0]
        finally:
            process.kill()
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
            self.assertLess(clients["start_skew_us"], 60e6)
            self.assertEqual(sample["divergences"]["count"], 0)


class Clients(ClientsTest):
    """A few clients."""

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

    def coloured(self, *words):
        """What processes of mpirun print when nothing forbids colours; its pseudo-terminal looks like a terminal."""
        environment = self.environment(**AS_ROOT)
        del environment["NO_COLOR"]
        done = subprocess.run(["mpirun", "--oversubscribe", "-np", "2", pathlib.Path(FILEREEL).resolve(), "run",
                               "iso", "--scale", "0.01", "--runs", "2", *words], cwd=self.scratch, env=environment,
                              capture_output=True, text=True, timeout=110)
        return done.returncode, done.stdout + done.stderr

    def test_no_escape_codes_get_into_the_output_of_mpirun(self):
        code, output = self.coloured("--near", "target", "--clients", "mpi")
        self.assertEqual(code, 0, output)
        self.assertIn("2 clients on 1 host", output)
        self.assertNotIn("\033", output)

    def test_processes_without_clients_mpi_get_a_hint_once(self):
        (self.scratch / "target").mkdir()
        _, output = self.coloured("--near", "target")
        self.assertEqual(output.count("mpirun started 2 runs, which know nothing of each other; use --clients mpi"), 1,
                         output)
        self.assertNotIn("\033", output)

    def test_a_copied_program_names_its_missing_part(self):
        bin = self.scratch / "bin"
        bin.mkdir()
        shutil.copy(pathlib.Path(FILEREEL).resolve(), bin / "filereel")
        done = subprocess.run([bin / "filereel", "run", "iso", "--near", "target", "--clients", "mpi"],
                              cwd=self.scratch, env=self.environment(), capture_output=True, text=True, timeout=60)
        if "built without MPI" in done.stderr:
            self.skipTest("needs a filereel with MPI")
        self.assertEqual(done.returncode, 1, done)
        line, = done.stderr.splitlines()
        self.assertIn(f"cannot find filereel_mpi.so, filereel's part for MPI, in {bin} or /", line)

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

    @unittest.skipUnless(os.geteuid() == 0 and os.path.exists("/dev/fuse") and os.path.exists(SFTP_SERVER)
                         and have("sshfs"), "needs root, FUSE, sshfs and sftp-server")
    def test_each_client_has_a_mount_of_its_own(self):
        """By sshfs, which lists a directory once each time it is opened."""
        export, nas = self.scratch / "export", self.scratch / "nas"
        export.mkdir()
        nas.mkdir()
        self.script("ssh", f"exec {SFTP_SERVER}")
        mount = f"sshfs -o ssh_command={self.scratch}/ssh server:{export} {nas}"
        self.script("wrap", f"exec unshare -m sh -c '{mount} && \"$@\"; code=$?; umount {nas}; exit $code' - "
                            '"$@"')
        _, result = self.measure(2, "mp3", "--scale", "0.01", "--near", "nas/target", "--runs", "1", "--verify",
                                 "tree", wrap=[str(self.scratch / "wrap")])
        self.check_sums(result, 2)
        self.assertEqual(result["volumes"][0]["file_system"], "fuse.sshfs")
        for sample in self.samples(result):
            self.assertEqual(sample["tree"]["differences"], 0)
        self.assertEqual(os.listdir(export), [])

    def test_staggered_clients_start_one_after_the_other(self):
        (self.scratch / "w.yaml").write_text(WORKLOAD % ("100 %", "operations: 50"))
        _, result = self.measure(3, "w.yaml", "--near", "target", "--runs", "1", "--stagger", "300ms")
        each = self.samples(result)[0]["clients"]["each"]
        for i in (0, 1, 2):
            self.assertGreaterEqual(each[i]["start_s"], 0.3 * i - 0.2)
        self.assertGreater(self.samples(result)[0]["elapsed_s"], 0.4)

    def test_clients_share_a_file_set_and_each_has_a_part_of_it(self):
        _, alone = self.measure(1, "programs", "--scale", "0.02", "--near", "target", "--far", "far", "--runs", "1")
        _, result = self.measure(3, "programs", "--scale", "0.02", "--near", "target", "--far", "far", "--runs",
                                 "2", "--share", "--verify", "tree", "--threads", "2")
        self.check_sums(result, 3)
        wanted = {one["operation"]: one["samples"][0] for one in alone["measurements"]}
        self.assertEqual(len(wanted), 5)
        for one in result["measurements"]:
            for sample in one["samples"]:
                self.assertEqual(sample["bytes"], wanted[one["operation"]]["bytes"])
                self.assertEqual(sample["files"], wanted[one["operation"]]["files"])
                self.assertEqual(sample["tree"]["differences"], 0)
                # Files are distributed by size, so that all clients have about the same work.
                each = [client["bytes"] for client in sample["clients"]["each"]]
                if sample["bytes"]:
                    self.assertLess(max(each) - min(each), 0.15 * sample["bytes"])
        settings = result["plan"]["jobs"][0]["settings"]
        self.assertEqual((settings["clients"], settings["share"]), ("3", "true"))

    def test_clients_read_the_same_files_and_write_separate_parts_of_one_file(self):
        (self.scratch / "w.yaml").write_text(
            "files: {name: one, count: 1, size: 12 MiB}\n"
            "phases:\n"
            "  - {name: read, access: {size: 64 KiB, reads: 100 %}}\n"
            "  - {name: write, access: {size: 64 KiB, reads: 0 %}}\n"
            "  - {name: again, access: {size: 64 KiB, reads: 100 %}}\n")
        _, result = self.measure(3, "w.yaml", "--near", "target", "--runs", "1", "--share", "--verify", "content",
                                 "--keep")
        self.check_sums(result, 3)
        read, write, again = (one["samples"][0] for one in result["measurements"])
        for whole in (read, again):
            self.assertEqual([one["bytes"] for one in whole["clients"]["each"]], [12 << 20] * 3)
        self.assertEqual([one["bytes"] for one in write["clients"]["each"]], [4 << 20] * 3)
        self.assertEqual([one.name for one in (self.scratch / "target/shared/one").iterdir()], ["f000000"])

    def test_clients_create_and_remove_files_in_one_directory(self):
        (self.scratch / "w.yaml").write_text(
            "files: {name: data, count: 90, size: 4 KiB, exist: false}\n"
            "phases:\n"
            "  - {name: create, do: [create]}\n"
            "  - {name: look, do: [stat]}\n"
            "  - {name: remove, do: [remove]}\n")
        _, result = self.measure(4, "w.yaml", "--near", "target", "--runs", "1", "--share", "--shift", "1")
        self.check_sums(result, 4)
        for one in result["measurements"]:
            self.assertEqual(one["samples"][0]["files"], 90)
        stats = result["measurements"][1]["samples"][0]["latency"]["stat"]
        self.assertEqual((stats["count"], stats.get("errors", 0)), (90, 0))

    def test_a_shift_reads_the_files_of_another_client(self):
        """Whose content differs: with --verify content, one's own would be a failure."""
        _, result = self.measure(3, "mp3", "--scale", "0.01", "--operations", "create,read,delete", "--near",
                                 "target", "--runs", "2", "--shift", "2", "--verify", "content")
        self.check_sums(result, 3)
        self.assertEqual(result["plan"]["jobs"][0]["settings"]["shift"], "2")
        output, result = self.measure(2, "app-git-clone", "mp3", "--scale", "0.01", "--near", "target", "--runs", "1",
                                      "--shift", "1")
        self.assertIn("--shift does not apply to app-git-clone", output)

    def test_a_sweep_over_the_number_of_clients_works_for_all_kinds_of_jobs(self):
        (self.scratch / "w.yaml").write_text(WORKLOAD % ("100 %", "operations: 100"))
        (self.scratch / "plan.yaml").write_text(
            "jobs: [{job: w.yaml, name: w}, {job: app-git-clone}, {job: mp3, scale: 0.01}]\n"
            "sweep: {clients: [1, 3]}\nruns: 1\n")
        output, result = self.measure(4, "plan.yaml", "--near", "target")
        self.assertTrue(result["complete"], output)
        for one in result["measurements"]:
            sample, = one["samples"]
            count = int(one["parameters"]["clients"])
            self.assertEqual(len(sample["clients"]["each"]), count)
            self.assertEqual(sample["operations"], sum(one["operations"] for one in sample["clients"]["each"]))
        counts = {(one["workload"], one["parameters"]["clients"]) for one in result["measurements"]}
        self.assertEqual(len(counts), 6)
        process = self.launch(2, "plan.yaml", "--near", "target")
        output = process.communicate(timeout=60)[0]
        self.assertEqual(process.returncode, 2, output)
        self.assertIn("w needs 3 clients, not 2: use mpirun -np 3", output)

    def test_reels_are_distributed_over_the_clients(self):
        _, result = self.measure(3, "app-git-clone", "app-general-use", "--reel-per-client", "--near", "target", "--runs",
                                 "1", "--verify", "tree")
        self.check_sums(result, 3)
        sample, = self.samples(result)
        self.assertEqual(sample["tree"]["differences"], 0)
        operations = [one["operations"] for one in sample["clients"]["each"]]
        self.assertEqual(operations[0], operations[2])
        self.assertNotEqual(operations[0], operations[1])
        self.assertEqual(result["plan"]["jobs"][0]["name"], "app-git-clone+app-general-use")

    def test_two_directories_are_measured_in_turns(self):
        _, result = self.measure(2, "mp3", "--scale", "0.01", "--near", "target", "--against", "other", "--runs",
                                 "2", "--against-json", "o.json")
        self.check_sums(result, 2)
        self.check_sums(self.result("o.json"), 2)
        self.assertFalse((self.scratch / "other").exists())

    def test_what_needs_a_shared_directory_is_refused(self):
        for arguments, text in ((["--near", "image:a.img"], "needs a directory that all clients see"),
                                ([], "needs --near")):
            done = self.filereel("run", "mp3", "--scale", "0.01", "--clients", "mpi", *arguments, status=2)
            self.assertIn(text, done.err)
        for option in (["--stagger", "1s"], ["--share"], ["--shift", "1"], ["--reel-per-client"]):
            done = self.filereel("run", "mp3", *option, status=2)
            self.assertIn(f"{option[0]} needs --clients mpi", done.err)

    def check_refused(self, process, pattern):
        output = process.communicate(timeout=60)[0]
        self.assertNotEqual(process.returncode, 0, output)
        self.assertRegex(output, pattern)
        self.assertEqual(output.count("filereel: "), 1, output)
        self.assertFalse((self.scratch / "target").exists())

    def test_a_result_that_cannot_be_written_ends_the_run(self):
        process = self.launch(2, "mp3", "--scale", "0.01", "--near", "target", json="missing/r.json")
        self.check_refused(process, "missing/r.json")

    def test_clients_with_different_plans_are_refused(self):
        (self.scratch / "a.yaml").write_text(WORKLOAD % ("100 %", "operations: 50"))
        (self.scratch / "b").mkdir()
        for second in (["b/a.yaml"], ["a.yaml", "--runs", "4"], ["a.yaml", "--shift", "1"]):
            (self.scratch / "b/a.yaml").write_text(WORKLOAD % ("100 %", "operations: 60"))
            with self.subTest(second=second):
                process = self.mpirun(*(self.command(1, *plan, "--near", "target") for plan in (["a.yaml"], second)))
                self.check_refused(process, r"the plan of client 1 \([^)]*\) differs from that of client 0")

    def test_the_same_plan_may_lie_at_another_path(self):
        (self.scratch / "b").mkdir()
        for name in ("a.yaml", "b/a.yaml"):
            (self.scratch / name).write_text(WORKLOAD % ("100 %", "operations: 50"))
        process = self.mpirun(*(self.command(1, plan, "--near", "target") for plan in ("a.yaml", "b/a.yaml")))
        output = process.communicate(timeout=60)[0]
        self.assertEqual(process.returncode, 0, output)
        self.check_sums(self.result(), 2)

    def test_warnings_of_other_clients_are_in_the_result(self):
        self.filereel("cut", "app-git-clone", "--output", "whole.reel")
        whole = (self.scratch / "whole.reel").read_bytes()
        (self.scratch / "torn.reel").write_bytes(whole[:len(whole) * 9 // 10])
        _, result = self.measure(3, "whole.reel", "torn.reel", "--reel-per-client", "--near", "target", "--runs", "1")
        torn, = (one for one in result["warnings"] if one["code"] == "trace-torn")
        self.assertRegex(torn["text"], r"^client 1 \([^)]*\): ")

    def test_the_files_of_the_fewest_clients_are_twice_the_memory_of_the_server(self):
        (self.scratch / "w.yaml").write_text(WORKLOAD % ("100 %", "operations: 50"))
        _, result = self.measure(4, "w.yaml", "--near", "target", "--runs", "1", "--server-memory", "8 MiB",
                                 "--sweep", "clients=2,4")
        self.assertAlmostEqual(result["plan"]["jobs"][0]["scale"], 2, delta=0.1)

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_files_that_fill_a_volume_are_of_one_size_for_all_clients(self):
        (self.scratch / "nas").mkdir()
        call("mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(self.scratch / "nas"))
        try:
            (self.scratch / "w.yaml").write_text("files: {name: data, fill: 50 %}\naccess: {size: 64 KiB}\n"
                                                 "stop: {operations: 50}\n")
            for more in ([], ["--share"], ["--shift", "1"]):
                _, result = self.measure(4, "w.yaml", "--near", "nas/target", "--runs", "2", *more)
                self.check_sums(result, 4)
        finally:
            call("umount", str(self.scratch / "nas"))

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
        """The processes, in the order of their ranks."""
        program, found = os.path.realpath(FILEREEL), {}
        for task in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                fields = (task / "stat").read_text().rpartition(")")[2].split()
                if int(fields[1]) != parent or os.readlink(task / "exe") != program:
                    continue
                environment = (task / "environ").read_bytes()
            except OSError:
                continue
            found[int(re.search(rb"OMPI_COMM_WORLD_RANK=(\d+)", environment)[1])] = int(task.name)
        return [found[rank] for rank in sorted(found)]

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
            self.script(
                "wrap",
                'if [ "$OMPI_COMM_WORLD_RANK" = 1 ]; then\n'
                f"  unshare -m sh -c '(sleep 8; umount -l {folder}) & exec \"$@\"' - \"$@\"\n"
                "else\n"
                '  exec "$@"\n'
                "fi")
            (self.scratch / "w.yaml").write_text(LONG)
            began = time.monotonic()
            process = self.launch(3, "w.yaml", "--near", f"{folder}/target", "--runs", "30", "--client-timeout",
                                 "5s", wrap=[str(self.scratch / "wrap")])
            output = process.communicate(timeout=90)[0]
            self.assertNotEqual(process.returncode, 0, output)
            self.assertLess(time.monotonic() - began, 60)
            self.assertRegex(output, r"filereel: client 1 \([^)]*\): .*was unmounted")
            self.assertTrue(self.samples(self.result()))
            self.assertFalse(os.path.exists(f"{folder}/target"))


class OneToManyClients(ClientsTest):
    """Every count of clients, on a disk's file system and in memory."""

    memory = 6000
    COUNTS = (1, 2, 4, 8, 16, 64)
    JOBS = {"mp3": ["--scale", "0.005", "--operations", "create,read,copy-near,delete", "--verify", "tree"],
            "random-read": ["--scale", "0.05", "--time", "300ms", "--sweep", "depth=4"],
            "sysbench-fileio": ["--scale", "0.005", "--time", "300ms"],
            "app-git-clone": ["--verify", "tree"]}

    @thorough("1 to 64 clients of four jobs on two file systems")
    @needs("ext4")
    def test_counts_and_bytes_are_those_of_all_clients(self):
        memory = self.folder("memory")
        call("mount", "-t", "tmpfs", "-o", "size=5000M", "tmpfs", memory)
        self.addCleanup(call, "umount", memory)
        with self.ext4_volume(5000) as disk:
            for place, kind in ((disk, "ext4"), (memory, "tmpfs")):
                for job, options in self.JOBS.items():
                    alone = None
                    for count in self.COUNTS:
                        with self.subTest(place=kind, job=job, clients=count):
                            alone = self.check(place, kind, job, options, count, alone)

    def check(self, place, kind, job, options, count, alone):
        _, result = self.measure(count, job, "--near", f"{place}/target", "--runs", "1", *options, timeout=300)
        self.check_sums(result, count)
        self.assertEqual(result["volumes"][0]["file_system"], kind)
        for one in result["measurements"]:
            sample, = one["samples"]
            kinds = {name: latency["count"] for name, latency in sample["latency"].items()}
            print(f"{kind}, {job}, {one['operation']}, {count} clients: {sample['operations']} operations, "
                  f"{sample['bytes']} bytes, start skew {sample['clients']['start_skew_us']:.0f} µs, "
                  f"clock error {sample['clients']['clock_error_us']:.0f} µs", flush=True)
            if "--time" in options:
                self.assertEqual(kinds.get("read", 0) + kinds.get("write", 0), sample["operations"])
            elif alone:
                self.assertEqual(kinds, {name: count * n for name, n in alone[one["operation"]].items()})
        return alone or {one["operation"]: {name: latency["count"] for name, latency in
                                            one["samples"][0]["latency"].items()}
                         for one in result["measurements"]}


if __name__ == "__main__":
    main()
