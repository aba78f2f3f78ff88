#!/usr/bin/env python3
"""Replays dbench's load file: filereel and dbench itself, in turns, on a tmpfs.

    dbench_peers.py [--filereel PATH] [--load /usr/share/dbench/client.txt] [--clients 1,2]
                    [--seconds 10] [--passes 1] [--rounds 5]

The unit is the same for both: lines of the load file done in a second, by all clients together. A line
is an operation of a file server's client and becomes 2.7 system calls on average; filereel's reel
holds the calls that dbench makes for it, so both make the same ones.

  dbench    Runs for --seconds after a warm-up of a fifth of them, over the load file again and again.
            Lines: the sum of "Count" in its table, which begins anew after the warm-up and leaves out
            the cleanup. Seconds: those asked for; it looks at the clock once a second and stops at
            the first look after them, some milliseconds late. It reads and parses its lines
            meanwhile, because that is how it works.
  filereel  Replays the reel of the load file --passes times over (`filereel repeat`), with the
            clients at once (`--clients`), order `resource`, every result compared. Lines: those of
            the load file by passes by clients. Seconds: from the first operation to the end of the
            last, with the first pass, with the content of the writes made meanwhile, and what is
            beyond the schedule's window read and compiled.
Neither sleeps: the load file has no times and no "Sleep", dbench gets no target rate, and filereel's
pace is `asap`. Both empty their directory as the last line of each pass says. Needs dbench; the
machine should be idle and have a core for each client.
"""
import os
import re
import shutil
import statistics
import tempfile

from peers import MEMORY, argument_parser, machine, replayed, run, spread, verdict

TARGET = 1.2


def count_lines(load):
    """The lines that are operations. Refuses a load file that would have dbench wait."""
    lines = 0
    with open(load) as file:
        for line in file:
            words = line.split()
            if len(words) < 2 or words[0].startswith("#"):
                continue
            if words[0][0].isdigit() or words[0] == "Sleep":
                raise SystemExit(f"{load} has times: its replay says nothing about speed")
            lines += 1
    return lines


def dbench_rate(arguments, place, clients):
    os.mkdir(place)
    text = run("dbench", "-c", arguments.load, "-D", place, "-t", str(arguments.seconds),
               str(clients))
    shutil.rmtree(place)
    table = text[text.index("AvgLat"):]
    counts = re.findall(r"^ \w+ +(\d+) +[\d.]+ +[\d.]+$", table, re.MULTILINE)
    return sum(map(int, counts)) / arguments.seconds


def compare(arguments, folder, lines, clients):
    """Prints the rows for so many clients; gives the ratio."""
    place = os.path.join(folder, "place")

    def ours():
        sample = replayed(arguments.filereel, os.path.join(folder, "long.reel"), place, "--warm",
                          "--clients", str(clients))
        shutil.rmtree(place)
        return lines * arguments.passes * clients / sample["elapsed_s"]

    contestants = {"filereel": ours, "dbench": lambda: dbench_rate(arguments, place, clients)}
    rates = {"filereel": [], "dbench": []}
    for turn in range(arguments.rounds):
        for who in (sorted(contestants), sorted(contestants, reverse=True))[turn % 2]:
            rates[who].append(contestants[who]())
    ratio = statistics.median(rates["filereel"]) / statistics.median(rates["dbench"])
    print(f"  {clients} client{'s' if clients > 1 else ''}")
    for who in ("filereel", "dbench"):
        print(f"    {who:<9} {spread(rates[who], '8.0f')} lines/s")
    print(f"    filereel does {ratio:.3f} x as many", flush=True)
    return ratio


def main():
    parser = argument_parser(__doc__)
    parser.add_argument("--load", default="/usr/share/dbench/client.txt")
    parser.add_argument("--clients", default="1,2")
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--passes", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    lines = count_lines(arguments.load)
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        run(arguments.filereel, "--quiet", "import", arguments.load, "-o", "one.reel", cwd=folder)
        run(arguments.filereel, "--quiet", "repeat", "one.reel", "--times", str(arguments.passes),
            "-o", "long.reel", cwd=folder)
        version = re.search(r"dbench version \S+", run("dbench", "--usage"))
        print(f"{run(arguments.filereel, '--version').strip()}; {version.group()}; {machine()}")
        print(f"{arguments.load}, {lines} lines, on tmpfs; medians and extremes of "
              f"{arguments.rounds} rounds", flush=True)
        worst = min(compare(arguments, folder, lines, int(clients))
                    for clients in arguments.clients.split(","))
    verdict("lines per second, filereel by dbench", worst, TARGET, at_most=False)


if __name__ == "__main__":
    main()
