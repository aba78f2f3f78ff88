"""A program for each family of system calls: recorded, replayed on a fresh ext4, trees compared."""

import json
import os
import pathlib
import stat
import unittest

from support import FILEREEL, IntegrationTest, call, have, main, needs

CALLS = pathlib.Path(os.environ.get("CALLS", "calls"))
TRACED = "%file,%desc,%process,%memory,io_submit,io_getevents,io_uring_setup,umask,unshare"
RECORDS = have(FILEREEL) and "\n  record " in call(FILEREEL, "--help")
BACKENDS = ["bpf", "strace"] if RECORDS else ["strace"]

RING = "strace sees no requests of io_uring"
# The program of each family, and the backends that cannot see what it does, with the reason.
PROGRAMS = {
    "append_two": {},
    "chdir_race": {},
    "chdir_rename_race": {},
    "copy_file_range": {},
    "descriptor_numbers": {},
    "dup_fork": {},
    "durability": {},
    "exec_cloexec": {},
    "failures": {},
    "holes": {},
    "links": {},
    "locks": {},
    "many_names": {},
    "metadata": {},
    "mmap_shared": {},
    "native_aio": {},
    "open_ways": {},
    "pass_descriptor": {},
    "rename_above": {},
    "rename_flags": {},
    "sendfile": {},
    "spawn": {},
    "splices": {},
    "thread_files": {},
    "tmpfile_link": {},
    "unlink_open": {},
    "uring_data": {"strace": RING},
    "uring_paths": {"strace": RING},
    "uring_sqpoll": {"strace": RING},
    "vectors": {},
    "xattrs": {},
}

# Those whose calls come in the same order each time.
ONE_AFTER_THE_OTHER = [
    "copy_file_range", "durability", "exec_cloexec", "failures", "holes", "links", "many_names",
    "metadata", "mmap_shared", "native_aio", "open_ways", "rename_above", "rename_flags",
    "sendfile", "spawn", "splices", "tmpfile_link", "unlink_open", "vectors", "xattrs",
]
# Directories are listed in an order that depends on it.
SEED = "8b5f4c1e-94a7-4c7e-9d53-1f2a60c7b3e8"


def tree(folder):
    """Every path below the folder, however deep, with all that a replay must make equal: kind, size,
    mode, attributes with the lengths of their values, and which other names it has."""
    found, names_of = {}, {}
    top = os.fsencode(folder)
    for parent, folders, files, descriptor in os.fwalk(top):
        for name in folders + files:
            info = os.lstat(name, dir_fd=descriptor)
            path = os.path.join(parent, name)[len(top) + 1:]
            mode = oct(info.st_mode & 0o777)
            if stat.S_ISLNK(info.st_mode):
                found[path] = ["link", os.readlink(name, dir_fd=descriptor)]
            elif stat.S_ISDIR(info.st_mode):
                found[path] = ["folder", mode, attributes(name, descriptor)]
            elif stat.S_ISREG(info.st_mode):
                found[path] = ["file", info.st_size, mode, attributes(name, descriptor)]
            else:
                continue  # nodes are not made again
            names_of.setdefault(info.st_ino, []).append(path)
    for names in names_of.values():
        for path in names:
            found[path].append(sorted(names))
    return found


def attributes(name, folder):
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=folder)
    try:
        return sorted((one, len(os.getxattr(descriptor, one))) for one in os.listxattr(descriptor)
                      if one.startswith("user."))
    finally:
        os.close(descriptor)


@needs("ext4")
@unittest.skipUnless(CALLS.is_dir(), "the programs are not built")
class RecordedCalls(IntegrationTest):

    def recorded(self, backend, program, folder, faults=True):
        """The reel of a run of the program in the folder."""
        reel = self.scratch / f"{backend}.reel"
        if RECORDS:
            options = [] if faults else ["--no-faults"]
            done = self.filereel("record", "-o", reel, "--backend", backend, *options, "--",
                                 CALLS / program, cwd=folder)
        else:
            trace = self.scratch / "trace"
            call("strace", "-f", "--seccomp-bpf", "-ttt", "-T", "-y", "-s", "256", "-e",
                 "trace=" + TRACED, "-o", trace, CALLS / program, cwd=folder)
            done = self.filereel("import", trace, "-o", reel, "--cwd", folder)
        print(done.out.strip(), flush=True)
        return reel

    def needed(self, backend, program):
        if not (CALLS / program).exists():
            self.skipTest(f"{program} is not built")
        if backend in PROGRAMS[program]:
            self.skipTest(PROGRAMS[program][backend])
        if backend == "strace" and not have("strace"):
            self.skipTest("needs strace")

    def check(self, backend, program):
        self.needed(backend, program)
        with self.ext4_volume(300, name="origin") as origin:
            work = origin / "work"
            work.mkdir()
            reel = self.recorded(backend, program, work)
            expected = tree(work)
        with self.ext4_volume(300) as volume:
            target = volume / "target"
            target.mkdir()
            done = self.filereel("replay", reel, target, "--verify", "tree", "--json", "r.json",
                                 status=None)
            there = tree(str(target) + str(work))
        self.assertEqual(done.code, 0, done)
        sample, = self.result()["measurements"][0]["samples"]
        divergences = sample["divergences"]
        print(program, "by", backend, sample["operations"], "operations,", divergences["count"],
              "divergences", divergences.get("by_class", {}), flush=True)
        self.assertEqual(divergences.get("by_class", {}).get("mismatch", 0), 0, done)
        self.assertEqual(sample["reel"]["tree"]["differences"], 0, done)
        self.assertTrue(expected)
        self.assertEqual(there, expected)

    def operations(self, backend, program):
        """What the backend makes of the program, without times."""
        with self.ext4_volume(300, name="origin", make=("-E", f"hash_seed={SEED}")) as origin:
            work = origin / "work"
            work.mkdir()
            reel = self.recorded(backend, program, work, faults=False)
        lines = self.filereel("export", reel, "--format", "jsonl").out.splitlines()[1:]
        # One may know more than the other of what cannot be compared.
        unlike = ("start_us", "duration_us", "loose")
        return [{key: value for key, value in json.loads(line).items() if key not in unlike}
                for line in lines]

    def check_alike(self, program):
        for backend in BACKENDS:
            self.needed(backend, program)
        # On file systems of the same name, one after the other: paths are the same then.
        first, *others = [self.operations(backend, program) for backend in BACKENDS]
        self.assertTrue(first)
        for other in others:
            self.assertEqual(other, first)


def add_tests():
    for program in PROGRAMS:
        for backend in BACKENDS:
            def test(self, backend=backend, program=program):
                self.check(backend, program)
            setattr(RecordedCalls, f"test_{program}_by_{backend}", test)
    for program in ONE_AFTER_THE_OTHER:
        @unittest.skipIf(len(BACKENDS) < 2, "there is one backend")
        def alike(self, program=program):
            self.check_alike(program)
        setattr(RecordedCalls, f"test_{program}_is_the_same_by_both", alike)


add_tests()

if __name__ == "__main__":
    main()
