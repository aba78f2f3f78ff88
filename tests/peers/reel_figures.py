#!/usr/bin/env python3
"""Prints what reels and their replay cost, in one run on this machine.

    reel_figures.py [--filereel PATH] [--make-reels PATH] [--files 24000] [--operations 50000000]

  size    bytes per operation of the reel of a recorded `tar xf`, beside strace's text and zstd -3
  long    a reel of many operations replayed by the null engine: rate and greatest memory
  timed   20,000 operations, one every 500 microseconds, at natural pace: total time and lateness
Needs strace, tar and zstd; the machine should be idle.
"""
import json
import os
import random
import subprocess
import tempfile

from peers import MEMORY, ROOT, argument_parser, run, sample_of


def measured(*command):
    """Runs it; gives its greatest memory in bytes."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{command} failed")
    return usage.ru_maxrss << 10


def make_tree(folder, files):
    """Names and sizes like those of installed packages; the content does not matter here."""
    random.seed(1)
    words = [f"{random.choice(['lib', 'doc', 'share', 'icon', 'man', 'test'])}{i}" for i in range(300)]
    for number in range(files):
        path = os.path.join(folder, *random.choices(words[:60], k=random.randint(1, 3)))
        os.makedirs(path, exist_ok=True)
        name = f"{random.choice(words)}-{random.choice(words)}.{random.choice(['h', 'html', 'py', 'gz'])}"
        with open(os.path.join(path, f"{number % 97}{name}"), "wb") as file:
            file.write(bytes(min(int(random.lognormvariate(8.46, 1.8)), 2_000_000)))


def show_size(arguments, folder):
    tree, out = os.path.join(folder, "tree"), os.path.join(folder, "out")
    os.mkdir(out)
    make_tree(tree, arguments.files)
    run("tar", "cf", "a.tar", "-C", tree, ".", cwd=folder)
    run("strace", "-f", "--seccomp-bpf", "-ttt", "-T", "-s", "0", "-e",
        "trace=%file,%desc,%process,%memory,umask", "-o", "trace", "tar", "xf", "a.tar", "-C", out,
        cwd=folder)
    run(arguments.filereel, "--quiet", "import", "trace", "-o", "tar.reel", cwd=folder)
    run("zstd", "-3", "-q", "trace", cwd=folder)
    operations = json.loads(run(arguments.filereel, "show", "--json", "tar.reel",
                                cwd=folder))["operations"]

    def per_operation(name):
        return os.path.getsize(os.path.join(folder, name)) / operations
    print(f"size: {operations} operations; reel {per_operation('tar.reel'):.2f} bytes each, strace "
          f"{per_operation('trace'):.1f}, zstd -3 of it {per_operation('trace.zst'):.2f}")


def show_long(arguments, folder):
    reel, result = os.path.join(folder, "long.reel"), os.path.join(folder, "long.json")
    run(arguments.make_reels, "long", str(arguments.operations), reel)
    memory = measured(arguments.filereel, "--quiet", "replay", reel, "--engine", "null", "--json",
                      result)
    sample = sample_of(result)
    print(f"long: {sample['operations']} operations, "
          f"{sample['operations'] / sample['elapsed_s'] / 1e6:.1f} million a second, at most "
          f"{memory / 1e6:.0f} MB; file {os.path.getsize(reel) / 1e6:.0f} MB")


def show_timed(arguments, folder):
    reel, result = os.path.join(folder, "timed.reel"), os.path.join(folder, "timed.json")
    run(arguments.make_reels, "timed", "20000", "500", reel)
    run(arguments.filereel, "--quiet", "replay", reel, os.path.join(folder, "target"), "--pace",
        "natural", "--json", result)
    sample = sample_of(result)
    late = sample["reel"]["lateness"]
    print(f"timed: {sample['elapsed_s']:.3f} s of 10.000 s; lateness p50 {late['p50_us']:.1f} us, "
          f"p99 {late['p99_us']:.1f} us, max {late['max_us']:.0f} us")


def main():
    parser = argument_parser(__doc__)
    parser.add_argument("--make-reels", type=os.path.abspath,
                        default=os.path.join(ROOT, "build/release/tests/make_reels"))
    parser.add_argument("--files", type=int, default=24000)
    parser.add_argument("--operations", type=int, default=50_000_000)
    parser.add_argument("--only", choices=["size", "long", "timed"])
    arguments = parser.parse_args()
    for name, show in [("size", show_size), ("long", show_long), ("timed", show_timed)]:
        if arguments.only in (None, name):
            with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
                show(arguments, folder)


if __name__ == "__main__":
    main()
