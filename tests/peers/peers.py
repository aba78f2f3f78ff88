"""What the scripts beside this one share: running programs, reading results, saying a verdict."""
import argparse
import contextlib
import json
import os
import statistics
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MEMORY = "/dev/shm"  # a tmpfs
MPI_ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def run(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, **more).stdout


def argument_parser(description):
    """With the option that all have."""
    parser = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filereel", type=os.path.abspath,
                        default=os.path.join(ROOT, "build/release/filereel"))
    return parser


def compile_c(name, folder, compiler="cc"):
    """Builds a C program that lies here; gives its path."""
    program = os.path.join(folder, os.path.splitext(name)[0])
    run(compiler, "-O2", "-Wall", "-o", program, os.path.join(HERE, name))
    return program


def touch_memory(size):
    """Has a virtual machine's host back the free memory again: a guest that reports free pages loses
    them after two seconds, and who touches them next pays several times the price of a copy."""
    with open("/proc/meminfo") as info:
        free = next(int(line.split()[1]) for line in info if line.startswith("MemFree:")) * 1024
    touched = b"x" * min(6 * size, free * 3 // 4)
    del touched


@contextlib.contextmanager
def mounted(*arguments):
    """Of mount; the last one is the directory."""
    run("mount", *arguments)
    try:
        yield
    finally:
        run("umount", arguments[-1])


@contextlib.contextmanager
def mounted_ext4(image, size, folder, *options):
    """A new ext4 in an image file with all its blocks. In memory, these are touched. Options of mkfs."""
    with open(image, "wb") as file:
        if image.startswith(MEMORY):
            for _ in range(size >> 20):
                file.write(bytes(1 << 20))
        else:
            os.posix_fallocate(file.fileno(), 0, size)
    run("mkfs.ext4", "-q", "-F", "-b", "4096", "-E",
        "nodiscard,lazy_itable_init=0,lazy_journal_init=0", *options, image)
    os.makedirs(folder, exist_ok=True)
    with mounted("-o", "loop", image, folder):
        yield


def sample_of(path):
    """The only sample of a result file."""
    with open(path) as file:
        return json.load(file)["measurements"][0]["samples"][0]


def replayed(filereel, reel, target, *options):
    """Replays a reel; gives the sample. Fails where a result is not that of the trace."""
    result = target + ".json"
    run(filereel, "--quiet", "replay", reel, target, *options, "--json", result)
    sample = sample_of(result)
    differ = sample["divergences"]["count"]
    if differ != 0:
        raise SystemExit(f"{reel}: results that differ from the trace: {differ}")
    return sample


def machine():
    """One line about where the figures come from."""
    with open("/proc/loadavg") as load:
        busy = load.read().split()[0]
    return f"Linux {os.uname().release}, {os.cpu_count()} cores, load {busy} at the start"


def spread(values, form):
    """The median and the extremes."""
    low, middle, high = (format(one, form)
                         for one in (min(values), statistics.median(values), max(values)))
    return f"{middle} ({low} to {high})"


def verdict(what, ratio, target, at_most):
    """Prints whether the target is met."""
    good = ratio <= target if at_most else ratio >= target
    print(f"{'PASS' if good else 'FAIL'}: {what}: {ratio:.3f}, target at "
          f"{'most' if at_most else 'least'} {target}")
