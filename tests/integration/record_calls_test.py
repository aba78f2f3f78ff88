"""Programs for each family of system calls: recorded, replayed on ext4, and the trees compared."""

import json
import os
import pathlib
import re
import stat
import unittest

from support import VolumesTest, have, main, needs, no_bpf, thorough

CALLS = pathlib.Path(os.environ.get("CALLS", "calls"))
MISSING = {"bpf": no_bpf(), "strace": None if have("strace") else "needs strace"}
BACKENDS = list(MISSING)

RING = "strace sees no requests of io_uring"
# The program of each family, and the backends that cannot see what it does, with the reason.
PROGRAMS = {
    "access_lists": {},
    "append_two": {},
    "blocked_calls": {},
    "chdir_race": {},
    "chdir_rename_race": {},
    "copy_file_range": {},
    "deleted_names": {},
    "descriptor_numbers": {},
    "dup_fork": {},
    "durability": {},
    "exec_cloexec": {},
    "failures": {},
    "holes": {},
    "links": {},
    "limits": {},
    "locks": {},
    "many_names": {},
    "metadata": {},
    "mmap_shared": {},
    "native_aio": {},
    "no_append": {},
    "nodes": {},
    "open_ways": {},
    "pass_descriptor": {},
    "path_descriptors": {},
    "removed_directory": {},
    "rename_above": {},
    "rename_flags": {},
    "reused_numbers": {},
    "sendfile": {},
    "shared_directory": {},
    "spawn": {},
    "splices": {},
    "thread_files": {},
    "tmpfile_link": {},
    "unlink_open": {},
    "uring_data": {"strace": RING},
    "uring_no_append": {"strace": RING},
    "uring_paths": {"strace": RING},
    "uring_sqpoll": {"strace": RING},
    "vectors": {},
    "xattrs": {},
}

# Those whose calls come in the same order each time. (Only BPF shows which removed directory is opened
# again.)
ONE_AFTER_THE_OTHER = [
    "access_lists", "copy_file_range", "deleted_names", "durability", "exec_cloexec", "failures", "holes", "limits",
    "links", "many_names", "metadata", "mmap_shared", "native_aio", "no_append", "nodes", "open_ways",
    "path_descriptors", "rename_above", "rename_flags", "sendfile", "shared_directory", "spawn",
    "splices", "tmpfile_link", "unlink_open", "vectors", "xattrs",
]


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


def undecided_names(operations, folder):
    """The names in the folder that several renames may have given last, which overlap, and the names
    that these files had before."""
    renames, top = {}, os.fsencode(folder) + b"/"
    for one in operations:
        if one["operation"] == "rename" and one.get("result") == 0:
            renames.setdefault(os.fsencode("/" + one["path"]), []).append(one)
    found = {}
    for path, ones in renames.items():
        last_begin = max(one["start_us"] for one in ones)
        last = [one["old_path"] for one in ones if one["start_us"] + one["duration_us"] >= last_begin]
        if len(last) > 1 and path.startswith(top):
            found[path[len(top):]] = last
    return found


def size_by_name(path):
    """Of a file that thread_files made."""
    thread, file = re.search(r"thread (\d+) file (\d+)$", path).groups()
    return 100 * int(thread) + int(file)


@needs("ext4")
@unittest.skipUnless(CALLS.is_dir(), "the programs are not built")
class CallsTest(VolumesTest):

    volumes = {"origin": 300, "volume": 300}

    def those_of(self, backend, programs):
        """The programs that can be recorded by it; the others are skipped with the reason."""
        if MISSING[backend]:
            self.skipTest(MISSING[backend])
        found = []
        for program in programs:
            with self.subTest(program=program):
                if not (CALLS / program).exists():
                    self.skipTest(f"{program} is not built")
                if backend not in PROGRAMS[program]:
                    found.append(program)
        if not found:
            self.skipTest(PROGRAMS[programs[0]].get(backend, "not built"))
        return found

    def recorded(self, backend, programs, *options):
        """The reel of a run of the programs, one after the other, and the folder that each has one
        of its own in."""
        top, reel = self.fresh("origin", "work"), self.scratch / f"{backend}.reel"
        for program in programs:
            (top / program).mkdir()
        script = "".join(f"(cd {program} && exec {CALLS / program}) || exit 1\n"
                         for program in programs)
        done = self.filereel("record", "-o", reel, "--backend", backend, "--exit-code", "--strict",
                             *options, "--", "sh", "-c", script, cwd=top)
        print(done.out.strip(), flush=True)
        return reel, top

    def exported(self, reel):
        """The operations of a reel."""
        lines = self.filereel("export", reel, "--format", "jsonl").out.splitlines()[1:]
        return [json.loads(line) for line in lines]

    def check_undecided(self, reel, folder, *trees):
        """strace tells when calls begin and end, not which of two that overlap comes first. Names
        that such renames gave last are taken out of the trees, if the file there is one of theirs."""
        for path, sources in undecided_names(self.exported(reel), folder).items():
            for found in trees:
                self.assertIn(found.pop(path)[1], [size_by_name(source) for source in sources])

    def check(self, backend, *programs):
        programs = self.those_of(backend, programs)
        reel, top = self.recorded(backend, programs)
        target = self.fresh("volume", "target")
        done = self.filereel("replay", reel, target, "--verify", "tree", "--runs", "1", "--json",
                             "r.json", status=None)
        for program in programs:
            with self.subTest(program=program):
                expected, made = tree(top / program), tree(f"{target}{top}/{program}")
                if backend == "strace" and program == "thread_files":
                    self.check_undecided(reel, top / program, expected, made)
                self.assertTrue(expected)
                self.assertEqual(made, expected)
        self.assertEqual(done.code, 0, done)
        sample, = self.result()["measurements"][0]["samples"]
        divergences = sample["divergences"]
        print("by", backend, sample["operations"], "operations,", divergences["count"],
              "divergences", divergences.get("by_class", {}), flush=True)
        self.assertEqual(divergences.get("by_class", {}).get("mismatch", 0), 0, done)
        self.assertEqual(sample["tree"]["differences"], 0, done)

    def operations(self, backend, programs):
        """What the backend makes of the programs, without times."""
        reel, _ = self.recorded(backend, programs, "--no-faults")
        # One may know more than the other of what cannot be compared, and only one knows of waits.
        unlike = ("start_us", "duration_us", "loose", "position")
        return [{key: value for key, value in operation.items() if key not in unlike}
                for operation in self.exported(reel) if operation["operation"] not in ("wait", "wake")]

    def check_alike(self, *programs):
        for backend in BACKENDS:
            programs = self.those_of(backend, programs)
        # In the same folder, one after the other: so paths and the order of directories are the same.
        first, second = [self.operations(backend, programs) for backend in BACKENDS]
        self.assertTrue(first)
        for one, other in zip(first, second):
            self.assertEqual(other, one)
        self.assertEqual(len(first), len(second))


class AllCalls(CallsTest):

    def test_all_replay_to_equal_trees_by_bpf(self):
        self.check("bpf", *PROGRAMS)

    def test_all_replay_to_equal_trees_by_strace(self):
        self.check("strace", *PROGRAMS)

    def test_both_recorders_make_the_same_of_those_whose_calls_have_an_order(self):
        self.check_alike(*ONE_AFTER_THE_OTHER)


@thorough("each program of AllCalls in a recording of its own")
class EachCall(CallsTest):
    """A test for each program and backend."""


def add_tests():
    for program in PROGRAMS:
        for backend in BACKENDS:
            def test(self, backend=backend, program=program):
                self.check(backend, program)
            setattr(EachCall, f"test_{program}_by_{backend}", test)
    for program in ONE_AFTER_THE_OTHER:
        def alike(self, program=program):
            self.check_alike(program)
        setattr(EachCall, f"test_{program}_is_the_same_by_both", alike)


add_tests()

if __name__ == "__main__":
    main()
