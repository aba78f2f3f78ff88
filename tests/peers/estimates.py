#!/usr/bin/env python3
"""How well filereel knows how long a command takes: estimates against real times.

    estimates.py [--filereel PATH] [--folder DIR] [--only NAME …] [--volumes ext4,xfs,directory,model]

Runs twelve commands on three kinds of volumes, and reads the progress line on a terminal of its own. Prints for
each what it expected at the start, what it expected when the first repetition had ended, the real time, the
error of that expectation, and the largest error from then on.

A volume "model" is an ext4 file system on the model drive (tests/model_drive), a slow disk: seeks of 4 to 8 ms and
100 MB/s. Its speed does not depend on the machine.

Needs root for images and the model drive.
"""
import contextlib
import fcntl
import os
import pathlib
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time

from peers import argument_parser

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "model_drive"))
from drive import ModelDrive, why_not  # noqa: E402

RATED = """
files: {count: 16, size: 1 MiB}
threads: [{count: 2, access: {size: 4 KiB, random: 100 %}, rate: 100/s}]
stop: {operations: 700}
"""
THINKING = """
files: {count: 200, size: 64 KiB}
do: [read, overwrite]
think: 20 ms
"""
SEQUENTIAL = """
files: {count: 4, size: 64 MiB}
access: {size: 128 KiB, reads: [0 %, 100 %]}
sync: {at_end: true}
"""
# Names and arguments; {near}, {against}: volumes, {fs}: the option --fs, if it applies.
COMMANDS = {
    "FC-Test": "run --set programs --scale 0.1 --runs 5 --near {near} {fs}",
    "two file sets": "run --set mp3,windows --scale 0.06 --runs 4 --near {near} {fs}",
    "time limit, sweep": "run random-read --scale 0.05 --time 1s --sweep depth=1,4 --runs 5 --near {near} {fs}",
    "sequential sweep": "run sequential.yaml --runs 6 --near {near} {fs}",
    "rate": "run rated.yaml --runs 4 --near {near} {fs}",
    "pauses": "run thinking.yaml --runs 4 --near {near} {fs}",
    "in turns": "run --set programs --scale 0.05 --runs 4 --near {near} --against {against} {fs}",
    "automatic": "run --set programs --scale 0.05 --runs auto --budget 40s --near {near} {fs}",
    "replay": "replay app-git-clone {near} --runs 6 {fs}",
    "replay, natural": "replay app-git-clone {near} --pace natural --runs 6 {fs}",
    "replay, tree verified": "replay app-git-clone {near} --verify tree --runs 6 {fs}",
    "predict": "predict app-git-clone {near} {against} {fs}",
}
DISK = {
    "size": "2GiB", "slots": 1,
    "read": {"latency": {"min": "4ms", "max": "8ms"}, "rate": "100MB/s"},
    "write": {"latency": {"min": "1ms", "max": "2ms"}, "rate": "100MB/s"},
    "flush": {"latency": "8ms"},
}
UNITS = {"s": 1, "min": 60, "h": 3600, "ms": 1e-3, "µs": 1e-6}
LINE = re.compile(r"^\s*\d+ %  (.*?)\s(\S+ (?:s|ms|min \d+ s|h \d+ min)) left\s*$")
REPETITION = re.compile(r" (?:run )?(\d+)(?:/\d+)?(?:  |$)")


def seconds_of(text):
    """"1 min 05 s" as 65."""
    return sum(float(number) * UNITS[unit] for number, unit in re.findall(r"([\d.]+) (\w+|µs)", text))


def progress_of(command, folder):
    """The real time, and the progress: time, repetition, expected whole time."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 200, 0, 0))  # room for whole names
    began = time.monotonic()
    running = subprocess.Popen(command, cwd=folder, stderr=theirs, stdout=subprocess.DEVNULL)
    os.close(theirs)
    looks, rest = [], ""
    while True:
        if select.select([ours], [], [], 0.1)[0]:
            try:
                text = os.read(ours, 65536).decode(errors="replace")
            except OSError:  # closed by its end
                break
            now = time.monotonic() - began
            *lines, rest = re.split(r"[\r\n]|\x1b\[[0-9;]*[A-Za-z]", rest + text)
            for line in lines + [rest]:
                found = LINE.match(line)
                if found:
                    number = REPETITION.search(found[1])
                    looks.append((now, int(number[1]) if number else 1, now + seconds_of(found[2])))
    code = running.wait()
    if code not in (0, 4):
        sys.exit(f"{' '.join(command)}: exit code {code}")
    return time.monotonic() - began, looks


def volumes_of(kind, folder, cleanup):
    """near, against and the option for the file system."""
    if kind == "model":
        if reason := why_not():
            sys.exit(f"the model drive {reason}")
        near, against = (cleanup.enter_context(ModelDrive(DISK)).device for _ in range(2))
        return near, against, "--fs ext4"
    if kind == "directory":
        for name in ("near", "against"):
            os.makedirs(os.path.join(folder, name), exist_ok=True)
        return "near", "against", ""
    return "image:near.img,size=2G", "image:against.img,size=2G", f"--fs {kind}"


def main():
    parser = argument_parser(__doc__)
    parser.add_argument("--folder", default="/var/tmp")
    parser.add_argument("--only", nargs="*", default=list(COMMANDS))
    parser.add_argument("--volumes", default="ext4,xfs,directory")
    args = parser.parse_args()
    worst = 0
    print(f"{'command':22} {'volume':10} {'start':>8} {'after 1':>8} {'real':>8} {'error':>7} {'most':>7}")
    for name in args.only:
        for kind in args.volumes.split(","):
            folder = tempfile.mkdtemp(dir=args.folder)
            try:
                for file, text in (("rated.yaml", RATED), ("thinking.yaml", THINKING),
                                   ("sequential.yaml", SEQUENTIAL)):
                    with open(os.path.join(folder, file), "w") as out:
                        out.write(text)
                with contextlib.ExitStack() as cleanup:
                    near, against, fs = volumes_of(kind, folder, cleanup)
                    words = COMMANDS[name].format(near=near, against=against, fs=fs).split()
                    for device in {near, against} & set(words):
                        if device.startswith("/dev/"):
                            words += ["--destroy", device]
                    real, looks = progress_of([args.filereel, *words], folder)
            finally:
                shutil.rmtree(folder)
            later = [whole for _, repetition, whole in looks if repetition > 1]
            if not later:
                sys.exit(f"{name} on {kind}: no progress after the first repetition")
            errors = [whole / real - 1 for whole in later]
            worst = max(worst, *map(abs, errors))
            print(f"{name:22} {kind:10} {looks[0][2]:7.1f}s {later[0]:7.1f}s {real:7.1f}s {errors[0]:+7.0%} "
                  f"{max(errors, key=abs):+7.0%}", flush=True)
    print(f"largest error from the first completed repetition on: {worst:.0%}")


if __name__ == "__main__":
    main()
