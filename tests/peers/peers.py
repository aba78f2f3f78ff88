"""What the scripts beside this one share: running programs, reading results, saying a verdict."""
import argparse
import json
import os
import statistics
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MEMORY = "/dev/shm"  # a tmpfs


def run(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, **more).stdout


def argument_parser(description):
    """With the option that all have."""
    parser = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filereel", type=os.path.abspath,
                        default=os.path.join(ROOT, "build/release/filereel"))
    return parser


def compile_c(name, folder):
    """Builds a C program that lies here; gives its path."""
    program = os.path.join(folder, os.path.splitext(name)[0])
    run("cc", "-O2", "-Wall", "-o", program, os.path.join(HERE, name))
    return program


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
        raise SystemExit(f"{reel}: {differ} results differ from the trace")
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
