#!/usr/bin/env python3
"""How often `filereel compare` cries wolf, and how often it misses one.

    false_alarms.py [--filereel PATH] [--comparisons 200] [--series FILE]   by resampling
    false_alarms.py --real [--pairs 20]                 by running

By resampling: a long real series of runs of one volume (data/series-*.json) stands for runs of two. A/A
deals twenty of its runs out to two results of ten: by chance, in pairs; in turns, as `run --against`
does, in pairs; and one ten after the other, which are two sessions. An alarm is an exit code other than
0. A/B deals out by chance and makes one operation of the new result take 5, 20 and 100 % longer. What is
indicated, but not proven, is counted apart. Since nobody finds 5 % within the noise of the busy machine
that the series comes from, it is also scaled to the noise of quieter ones, and keeps its shape, its course
and what its operations have in common. Noise is the standard deviation of the logarithms, the median of
the operations.

The series of workloads (data/workloads.json.xz) has the histograms of its runs: times, tails and stalls are
judged then. It is dealt out as it is.

Really: filereel creates, reads and deletes files on a file system in user space whose reads take a time of
their own (delayed_folder.py), so that one operation is 5 % slower when they take 5 % longer. For each
pair ten runs of A, of A again and of B are made in turns and compared as groups. Needs root and
python3-fusepy.
"""
import collections
import contextlib
import json
import lzma
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

from peers import MEMORY, argument_parser, machine, run

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import made_result  # noqa: E402

RUNS = 10
FACTOR = 1.05
FACTORS = (FACTOR, 1.2, 2)
READ_S = 0.0015  # so long that nothing else matters
NOISES = [0.01, 0.015, 0.02, 0.03]


def noise_of(times):
    """As a share: the standard deviation of the logarithms."""
    return statistics.stdev(map(math.log, times))


def scaled(series, noise):
    """The series with its logarithms drawn together about their median."""
    logarithms = {name: [math.log(one) for one in times] for name, times in series.items()}
    factor = noise / statistics.median(map(noise_of, series.values()))
    return {name: [math.exp(statistics.median(logs) + factor * (one - statistics.median(logs)))
                   for one in logs] for name, logs in logarithms.items()}


def by_chance(chance, length):
    runs = chance.sample(range(length), 2 * RUNS)
    return sorted(runs[:RUNS]), sorted(runs[RUNS:])


def in_turns(chance, length):
    first = chance.randrange(length - 2 * RUNS + 1)
    return range(first, first + 2 * RUNS, 2), range(first + 1, first + 2 * RUNS, 2)


def one_after_the_other(chance, length):
    first = chance.randrange(length - 2 * RUNS + 1)
    return range(first, first + RUNS), range(first + RUNS, first + 2 * RUNS)


def name_of(measurement):
    """FC-Test's operation; of a workload the phase and the point as well."""
    if measurement["set"]:
        return measurement["operation"]
    return " ".join([pathlib.Path(measurement["workload"]).stem, measurement["operation"],
                     *measurement["parameters"].values()])


def verdict_of(measurement):
    """"slower", "slower (stalls)", "slower indicated" …"""
    asked = (measurement, measurement.get("stalls", {}), measurement.get("tail", {}))
    indicated = next((one["indicated"] for one in asked if "indicated" in one), None)
    if measurement["verdict"] == "cannot tell" and indicated:
        return f"{indicated} indicated"
    changed = measurement["verdict"] in ("slower", "faster") and measurement["aspect"] != "time"
    return measurement["verdict"] + (f" ({measurement['aspect']})" if changed else "")


class Comparer:
    def __init__(self, filereel, folder):
        self.filereel, self.paths = filereel, [os.path.join(folder, name) for name in ("a", "b")]

    def compare(self, base, new):
        """The exit code and the verdicts by operation, of two results that were made."""
        for path, result in zip(self.paths, (base, new)):
            with open(path, "w") as file:
                json.dump(result, file)
        return self.compare_files(*self.paths)

    def compare_files(self, *arguments):
        done = subprocess.run([self.filereel, "compare", *arguments, "--json", "-"],
                              stdout=subprocess.PIPE, check=False)
        if done.returncode not in (0, 4):
            sys.exit(f"filereel compare: exit code {done.returncode}")
        return done.returncode, {name_of(one): verdict_of(one)
                                 for one in json.loads(done.stdout)["measurements"]}


def resampled(comparer, series, deal, count, factor=None):
    """How many of `count` comparisons alarm, how many others indicate a change, and what they say of the
    slowed operation: each in turn."""
    chance = random.Random(20240229)
    alarms = indicated = 0
    said = collections.Counter()
    for number in range(count):
        sides = deal(chance, min(map(len, series.values())))
        base, new = ({name: [times[run] for run in side] for name, times in series.items()}
                     for side in sides)
        slowed = list(series)[number % len(series)]
        if factor:
            new[slowed] = [time * factor for time in new[slowed]]
        session = "other" if deal is one_after_the_other else "made"
        code, verdicts = comparer.compare(made_result.result(base),
                                          made_result.result(new, session=session))
        alarms += code != 0
        indicated += code == 0 and any(one.endswith("indicated") for one in verdicts.values())
        said[verdicts[slowed]] += 1
    return alarms, indicated, said


def share(part, whole):
    return f"{part:4} of {whole} = {100 * part / whole:5.1f} %"


def part_of(result, runs):
    """The same result with these runs alone."""
    part = dict(result)
    part["measurements"] = [{**one, "samples": [one["samples"][run] for run in runs]}
                            for one in result["measurements"]]
    return part


def resample_result(path, args, comparer):
    """Of a result whose samples have histograms."""
    with lzma.open(path, "rt") as file:
        series = json.load(file)
    runs = min(len(one["samples"]) for one in series["measurements"])
    print(f"{os.path.basename(path)}: {len(series['measurements'])} measurements, {runs} runs")
    for deal in (by_chance, in_turns, one_after_the_other):
        chance = random.Random(20240229)
        alarms, indicated, slower = 0, 0, collections.Counter()
        for _ in range(args.comparisons):
            base, new = (part_of(series, side) for side in deal(chance, runs))
            code, verdicts = comparer.compare(base, new)
            alarms += code == 4
            indicated += code == 0 and any(one.endswith("indicated") for one in verdicts.values())
            slower.update(verdict for verdict in verdicts.values() if verdict.startswith("slower"))
        print(f"  A/A, {deal.__name__.replace('_', ' ')}: false alarms {share(alarms, args.comparisons)},"
              f" indicated {share(indicated, args.comparisons)} {dict(slower) or ''}", flush=True)


def resample(args, comparer):
    for path in args.series:
        if path.endswith(".xz"):
            resample_result(path, args, comparer)
            continue
        with open(path) as file:
            series = json.load(file)["seconds"]
        noise = statistics.median(map(noise_of, series.values()))
        print(f"{os.path.basename(path)}: {len(series)} operations, noise {100 * noise:.0f} %")
        for noise in [None, *NOISES]:
            these = scaled(series, noise) if noise else series
            name = f"noise of {100 * noise:.1f} %" if noise else "as recorded"
            for deal in (by_chance, in_turns, one_after_the_other):
                alarms, indicated, _ = resampled(comparer, these, deal, args.comparisons)
                print(f"  {name}: A/A, {deal.__name__.replace('_', ' ')}: false alarms "
                      f"{share(alarms, args.comparisons)}, indicated {share(indicated, args.comparisons)}",
                      flush=True)
            for factor in FACTORS:
                _, _, said = resampled(comparer, these, by_chance, args.comparisons, factor)
                print(f"  {name}: A/B, one takes {100 * (factor - 1):.0f} % longer: found "
                      f"{share(said['slower'], args.comparisons)}, indicated "
                      f"{share(said['slower indicated'], args.comparisons)}", flush=True)


def measure(filereel, volume, result):
    """One run, into the file `result`."""
    run(filereel, "-q", "run", "--near", volume, "--set", "programs", "--scale", "0.02", "--operations",
        "create,read,delete", "--runs", "1", "--json", result)
    return result


def really(args, comparer, folder, stack):
    from delayed_folder import DelayedFolder

    below, at = (os.path.join(folder, name) for name in ("below", "at"))
    os.makedirs(os.path.join(below, "volume"))
    os.mkdir(at)
    volume = DelayedFolder(stack, below, at)
    alarms = found = other = 0
    for pair in range(args.pairs):
        sides = {"A": [], "A again": [], "B": []}
        for turn in range(RUNS):
            names = list(sides)
            for name in names[turn % 3:] + names[:turn % 3]:
                volume.read_s.value = READ_S * (FACTOR if name == "B" else 1)
                path = os.path.join(folder, f"{name}-{turn}.json")
                sides[name].append(measure(args.filereel, os.path.join(at, "volume"), path))
        groups = {name: [word for path in paths for word in ("--new", path)]
                  for name, paths in sides.items()}
        base = [word for path in sides["A"] for word in ("--base", path)]
        code, _ = comparer.compare_files(*base, *groups["A again"])
        alarms += code != 0
        _, verdicts = comparer.compare_files(*base, *groups["B"])
        found += verdicts["read"] == "slower"
        other += any(one == "slower" for name, one in verdicts.items() if name != "read")
        print(f"  pair {pair + 1}: A/A exit code {code}; A/B {verdicts}", flush=True)
    print(f"  real A/A: false alarms {share(alarms, args.pairs)}")
    print(f"  real A/B, reads take {100 * (FACTOR - 1):.0f} % longer: found "
          f"{share(found, args.pairs)}, another operation besides {share(other, args.pairs)}")


def main():
    parser = argument_parser(__doc__)
    parser.add_argument("--comparisons", type=int, default=200)
    parser.add_argument("--series", nargs="+",
                        default=sorted(map(str, [*(HERE / "data").glob("series-*.json"),
                                                 HERE / "data/workloads.json.xz"])))
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--pairs", type=int, default=20)
    args = parser.parse_args()
    print(machine())
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(dir=MEMORY))
        comparer = Comparer(args.filereel, folder)
        if args.real:
            really(args, comparer, folder, stack)
        else:
            resample(args, comparer)


if __name__ == "__main__":
    main()
