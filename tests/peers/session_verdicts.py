#!/usr/bin/env python3
"""How often `filereel compare` cries wolf between sessions of the same volume, and what it finds.

    session_verdicts.py collect FOLDER [--kinds memory,disk,mixed,drives] [--minutes 100] [--every 60]
                        [--runs 8] [--disk DIRECTORY] [--compiler] [--job JOBS] [--fs NAMES] [--scale F]
    session_verdicts.py evaluate FOLDER… [--comparisons 300]
    session_verdicts.py evaluate TIMES.json…

collect measures sessions of FC-Test (programs, ext4) in turns with a control volume, until the time is
over. The kinds of volume and control:

    memory   an image in memory, an image in memory
    disk     an image on a disk, an image on the same disk
    mixed    an image on a disk, an image in memory
    drives   a model drive (tests/model_drive), another model drive

With --compiler a C++ compiler runs all the time, in as many processes as there are CPUs.

evaluate compares sessions of a series with each other. A series is a folder of results, or a file with the
times alone: a list of sessions, each {OPERATION: [microseconds, …]} or {"volume": …, "control": …} of these. All are of the same volume, so each verdict other
than "same" and "cannot tell" is false (A/A). Then one operation of the new side, another one in each
comparison, is made slower by a factor, and "slower" is right for it (A/B). What is indicated is counted
apart: in A/A as false, in A/B as right for that operation if it is not proven. The rest is missed. Sessions are
compared

    control    with the control, one session on each side
    nothing    without it
    three      without it, three sessions on each side
    history    without it, one session on each side; eight others are the history
    in turns   the volume with the control, as `run --against` does, with both roles; not of mixed.
               Each job on each file system is a comparison of its own

and by the time between them: at most 15 minutes, or at least an hour. The sessions of "three" and
"history" are drawn at random, and get times 20 minutes apart, which a series is too short for. The bound
is that of the share of false alarms, one-sided, 95 % (Clopper and Pearson); comparisons of one series have
sessions in common, so it is a lower limit. "ranks" (of FC-Test) are verdicts without pairs, by the test of
Mann and Whitney and Holm's correction alone.

Rankings of three sessions are false if any two of them have an order. Trends are those of a history of
eight sessions, of which the last four have another firmware, and of two sessions: how often the change by
firmware is larger than its margin of 95 %.

Needs root.
"""
import collections
import concurrent.futures
import contextlib
import datetime
import glob
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

from peers import MEMORY, argument_parser, machine

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "model_drive"))
sys.path.insert(0, str(HERE.parent))

import made_result

MINUTES = 60
NEAR, FAR = 15 * MINUTES, 60 * MINUTES  # seconds between sessions
ANY = (0, math.inf)
# How to compare, the time between the sessions, its name, and by what one operation is slower then.
WAYS = (("nothing", (1, NEAR), "minutes", (1.3, 1.5, 2, 2.5, 3)),
        ("nothing", (FAR, math.inf), "an hour", ()),
        ("control", (1, NEAR), "minutes", (1.05, 1.1, 1.2, 1.3, 2)),
        ("control", (FAR, math.inf), "an hour", ()),
        ("three", ANY, "drawn", (1.3,)),
        ("history", ANY, "drawn", (1.3,)),
        ("in turns", ANY, "same session", (1.05, 1.1)))
# So slow that the processor hardly matters.
MODEL = """
size: 1GiB
slots: 4
seed: {seed}
read: {{latency: {{median: 2ms, sigma: 0.05}}, rate: 200MB/s}}
write: {{latency: {{median: 2ms, sigma: 0.05}}, rate: 200MB/s}}
flush: {{latency: 10ms}}
"""
BUSY = r"""
#include <algorithm>
#include <map>
#include <regex>
#include <string>
int main(int count, char** texts) {
  std::map<std::string, std::regex> all;
  for (int i = 0; i < count; ++i) all[texts[i]] = std::regex(texts[i]);
  return static_cast<int>(all.size());
}
"""


@contextlib.contextmanager
def compiler(folder):
    """Compiles a program over and over, on all CPUs."""
    source = os.path.join(folder, "busy.cc")
    with open(source, "w") as file:
        file.write(BUSY)
    loop = f"while :; do c++ -O2 -c -o /dev/null {source}; done"
    started = [subprocess.Popen(["bash", "-c", loop], start_new_session=True)
               for _ in range(os.cpu_count())]
    try:
        yield
    finally:
        for one in started:
            os.killpg(one.pid, 15)
            one.wait()


def options(kind, scale, disk, drives):
    """Those for volume and control."""
    def image(folder, name):
        return f"image:{folder}/filereel-{name}.img,size=1500M"
    more = ["--scale", scale or ("0.005" if kind == "drives" else "0.05")]
    if kind == "drives":
        near, control = [drive.device for drive in drives]
        more += ["--destroy", near, "--destroy", control]
    else:
        near = image(MEMORY if kind == "memory" else disk, "volume")
        control = image(disk if kind == "disk" else MEMORY, "control")
    return ["--near", near, "--control", control, *more]


def collect(args, folder):
    kinds = args.kinds.split(",")
    os.makedirs(folder, exist_ok=True)
    end = time.monotonic() + args.minutes * MINUTES
    number = 0
    with contextlib.ExitStack() as stack:
        work = stack.enter_context(tempfile.TemporaryDirectory(dir=args.disk))
        drives = []
        if "drives" in kinds:
            from drive import ModelDrive
            drives = [stack.enter_context(ModelDrive(MODEL.format(seed=seed))) for seed in (1, 2)]
        if args.compiler:
            stack.enter_context(compiler(work))
        while time.monotonic() < end:
            begin = time.monotonic()
            number += 1
            for kind in kinds:
                path = os.path.join(folder, f"{kind}-{number:04}.json")
                subprocess.run([args.filereel, "-q", "run", *args.job.split(), *options(kind, args.scale, work, drives),
                                "--fs", args.fs, "--runs", str(args.runs),
                                "--json", path], stdout=subprocess.DEVNULL, check=True)
            time.sleep(max(0, args.every - (time.monotonic() - begin)))
    for name in ("volume", "control"):
        pathlib.Path(f"{MEMORY}/filereel-{name}.img").unlink(missing_ok=True)


def begun(result):
    return datetime.datetime.fromisoformat(result["started"].rstrip("Z")).timestamp()


def slim(result):
    """Without what compare does not read."""
    for one in result["measurements"] + result["control"]["measurements"]:
        for sample in one["samples"]:
            for name in ("slowest", "course"):
                sample.pop(name, None)
    return result


def result_of_times(number, session):
    """A session of a file with times, 10 s after the one before: the series is "minutes" apart."""
    begin = datetime.datetime(2026, 1, 1) + datetime.timedelta(seconds=10 * number)

    def made(sides, first):
        one = made_result.result({name: [time / 1e6 for time in times] for name, times in sides.items()},
                                 started=begin.isoformat() + "Z", session=str(number))
        for measurement in one["measurements"]:
            measurement["kind"] = "fc-test"
            for sample in measurement["samples"]:
                sample["started_s"] = 2 * sample["run"] + first
        return one
    result = made(session.get("volume", session), 0)
    if "control" in session:
        control = made(session["control"], 1)
        result["control"] = {name: control[name] for name in ("volumes", "warnings", "measurements")}
    return result


def load(folder):
    """The sessions by kind, in order."""
    if folder.endswith(".json"):
        with open(folder) as file:
            return {"times": [result_of_times(*one) for one in enumerate(json.load(file))]}
    kinds = collections.defaultdict(list)
    for path in sorted(glob.glob(os.path.join(folder, "*-[0-9]*.json"))):
        with open(path) as file:
            result = json.load(file)
        if result["complete"]:
            kinds[os.path.basename(path).rsplit("-", 1)[0]].append(slim(result))
    return kinds


def parts_of(result):
    """Each job on each file system as a result of its own."""
    parts = collections.defaultdict(list)
    for one in result["measurements"]:
        parts[one["workload"], one["file_system"]].append(one)
    return [{**result, "measurements": part} for part in parts.values()]


def without_control(result):
    return {name: value for name, value in result.items() if name != "control"}


def control_of(result):
    """The control as a result of its own, of the same session."""
    return {**without_control(result), **result["control"]}


def name_of(measurement):
    return " ".join([*(measurement[part] for part in ("workload", "set", "operation", "file_system")),
                     *measurement["parameters"].values()])


def slowed(result, operation, factor):
    def changed(sample):
        return {**sample, **{name: sample[name] * factor for name in ("elapsed_s", "durable_s")}}
    return {**result, "measurements": [
        {**one, "samples": [changed(sample) for sample in one["samples"]]}
        if name_of(one) == operation else one for one in result["measurements"]]}


class Comparer:
    """Compares results in memory; keeps their files in a folder."""

    def __init__(self, filereel, folder):
        self.filereel, self.folder, self.files = filereel, folder, {}

    def write(self, result):
        """Each object once; the path."""
        if id(result) not in self.files:
            path = os.path.join(self.folder, f"{len(self.files)}.json")
            with open(path, "w") as file:
                json.dump(result, file)
            self.files[id(result)] = (path, result)  # keeps it, and so its id
        return self.files[id(result)][0]

    def run(self, *arguments):
        done = subprocess.run([self.filereel, *arguments], stdout=subprocess.PIPE, check=False)
        if done.returncode not in (0, 4):
            sys.exit(f"filereel {arguments[0]}: exit code {done.returncode}")
        return done.stdout

    def measurements(self, base, new, history=()):
        """Of paths."""
        options = []
        for side, paths in (("--base", base), ("--new", new)):
            for path in paths:
                options += [side, path]
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            if history:
                self.run("-q", "history", folder, "add", *history)
                options += ["--history", folder]
            return json.loads(self.run("compare", *options, "--json", "-"))["measurements"]

    def has_order(self, paths):
        """Whether the ranking of these results gives any of them another rank than 1."""
        rankings = json.loads(self.run("compare", *paths, "--json", "-"))["rankings"]
        return any(entry["rank"] > 1 for ranking in rankings for entry in ranking["entries"])

    def beyond_margin(self, before, after):
        """For each series of the trend of two groups of paths: the interval of the change is beyond no change."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            for firmware, paths in (("1", before), ("2", after)):
                self.run("-q", "history", folder, "add", *paths, "--device", "Drive", "--firmware", firmware)
            devices = json.loads(self.run("history", folder, "trend", "--json"))["devices"]
        intervals = [one["firmware_change_interval_95"] for device in devices for one in device["measurements"]]
        return [one["low"] > 0 or one["high"] < 0 for one in intervals]


def bound(false, count):
    """The one-sided 95 % limit of a share."""
    def at_most(share):
        return sum(math.comb(count, k) * share ** k * (1 - share) ** (count - k)
                   for k in range(false + 1))
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if at_most(middle) > 0.05 else (low, middle)
    return high


def mann_whitney(one, other):
    """p, two-sided, exact; ties count half, as if there were none."""
    m, n = len(one), len(other)
    counts = [1] + [0] * (m * n)  # of U: the coefficients of a Gaussian binomial
    for k in range(1, m + 1):
        for u in range(m * n, n + k - 1, -1):
            counts[u] -= counts[u - n - k]
        for u in range(k, m * n + 1):
            counts[u] += counts[u - k]
    u = round(sum((a > b) + (a == b) / 2 for a in one for b in other))
    return min(1, 2 * sum(counts[:min(u, m * n - u) + 1]) / math.comb(m + n, m))


def by_ranks(base, new):
    """The verdicts by operation as compare gave them before it knew pairs."""
    times = [{name_of(one): [sample["durable_s"] for sample in one["samples"]]
              for one in result["measurements"]} for result in (base, new)]
    tests = sorted((mann_whitney(times[0][name], times[1][name]), name) for name in times[0])
    verdicts, largest = {}, 0
    for place, (p, name) in enumerate(tests):
        largest = max(largest, p * (len(tests) - place))
        slower = sorted(times[1][name])[len(times[1][name]) // 2] > sorted(
            times[0][name])[len(times[0][name]) // 2]
        verdicts[name] = "cannot tell" if largest > 0.02 else "slower" if slower else "faster"
    return verdicts


class Tally:
    def __init__(self):
        self.count = self.false = self.found = self.ranks_false = self.ranks_found = 0
        self.false_indicated = self.found_indicated = 0
        self.provable, self.bases, self.aspects = [], collections.Counter(), collections.Counter()

    def add(self, measurements, operation, ranks):
        self.count += 1
        changed = {name_of(one): one["verdict"] for one in measurements
                   if one["verdict"] in ("slower", "faster")}
        self.found += changed.pop(operation, "") == "slower"
        self.false += bool(changed)
        indicated = {name_of(one): one["indicated"] for one in measurements
                     if one["verdict"] == "cannot tell" and "indicated" in one}
        self.found_indicated += indicated.pop(operation, "") == "slower"
        self.false_indicated += bool(indicated)
        self.aspects.update(one["aspect"] for one in measurements if name_of(one) in changed)
        self.provable += [math.expm1(abs(math.log1p(one["provable"]))) if "provable" in one else math.inf
                          for one in measurements]
        self.bases.update(one["basis"] for one in measurements)
        changed = {name: verdict for name, verdict in ranks.items() if verdict != "cannot tell"}
        self.ranks_found += changed.pop(operation, "") == "slower"
        self.ranks_false += bool(changed)

    def line(self, name, factor, with_ranks):
        if not self.count:
            return f"{name:44} no pairs"
        share = 100 / self.count
        provable = sorted(self.provable)[len(self.provable) // 2]
        text = f"{name:44} {self.count:5} false {self.false:3} ({self.false * share:4.1f} %, at most " \
               f"{100 * bound(self.false, self.count):4.1f} %) indicated {self.false_indicated:3} " \
               f"({self.false_indicated * share:4.1f} %)"
        if factor:
            missed = self.count - self.found - self.found_indicated
            text += f" found {self.found:4} ({self.found * share:5.1f} %) indicated {self.found_indicated:4} " \
                    f"({self.found_indicated * share:5.1f} %) missed {missed:4} ({missed * share:5.1f} %)"
        if with_ranks:
            text += f" ranks: false {self.ranks_false}, found {self.ranks_found}"
        if self.aspects:
            text += f" false by {dict(self.aspects)}"
        return text + f" provable {100 * provable:.0f} % by {'/'.join(self.bases)}"


class Series:
    """The sessions of a kind, and what to compare: lists of (base, new, history)."""

    def __init__(self, sessions, chance):
        self.sessions, self.chance = sessions, chance
        self.plain = [without_control(one) for one in sessions]
        self.controlled = all("control" in one for one in sessions)
        self.controls = [control_of(one) for one in sessions] if self.controlled else []
        self.times = [begun(one) for one in sessions]
        self.of_sets = all(one["set"] for one in sessions[0]["measurements"])

    def pairs(self, least, most, count):
        all_pairs = [(i, j) for i in range(len(self.times)) for j in range(i)
                     if least <= self.times[i] - self.times[j] <= most]
        self.chance.shuffle(all_pairs)
        return [pair if self.chance.random() < 0.5 else pair[::-1] for pair in all_pairs[:count]]

    def drawn(self, count):
        """As many random sessions, with times 20 minutes apart."""
        chosen = self.chance.sample(self.plain, count)
        first = datetime.datetime(2026, 1, 1)
        return [{**one, "started": (first + datetime.timedelta(minutes=20 * i)).isoformat() + "Z"}
                for i, one in enumerate(chosen)]

    def deals(self, how, least, most, count):
        if how == "in turns":
            for i in range(len(self.sessions)):
                for near, control in zip(parts_of(self.plain[i]), parts_of(self.controls[i])):
                    yield [near], [control], ()
                    yield [control], [near], ()
        elif how in ("three", "history"):
            for _ in range(count if len(self.sessions) >= 10 else 0):
                if how == "three":
                    chosen = self.drawn(6)
                    yield chosen[:3], chosen[3:], ()
                else:
                    chosen = self.drawn(10)
                    yield chosen[8:9], chosen[9:], chosen[:8]
        else:
            of = self.sessions if how == "control" else self.plain
            for i, j in self.pairs(least, most, count):
                yield [of[i]], [of[j]], ()


def evaluate_one(comparer, pool, name, series, how, distance, factors, count):
    with_ranks = how == "in turns" and series.of_sets
    for factor in [None, *factors]:
        tally = Tally()
        deals = list(series.deals(how, *distance, count))
        jobs = []
        for number, (base, plain, history) in enumerate(deals):
            names = [name_of(one) for one in plain[0]["measurements"]]
            # In turns, there are fewer comparisons: each operation in one.
            changed = [None] if not factor else names if how == "in turns" else [names[number % len(names)]]
            for operation in changed:
                new = [slowed(one, operation, factor) for one in plain] if operation else plain
                ranks = by_ranks(base[0], new[0]) if with_ranks else {}
                paths = [list(map(comparer.write, side)) for side in (base, new, history)]
                jobs.append((pool.submit(comparer.measurements, *paths), operation, ranks))
        for job, operation, ranks in jobs:
            tally.add(job.result(), operation, ranks)
        label = f"{name}, {how}" + (f", x{factor}" if factor else "")
        print(tally.line(label, factor, with_ranks), flush=True)


def share_line(name, false, count):
    if not count:
        return f"{name:44} none"
    return f"{name:44} {count:5} false {false:3} ({100 * false / count:4.1f} %, at most " \
           f"{100 * bound(false, count):4.1f} %)"


def evaluate_rankings(comparer, pool, series, count):
    """Of three sessions in a row, and of three drawn."""
    near = [series.plain[i:i + 3] for i in range(len(series.plain) - 2)]
    for name, groups in (("in a row", near), ("drawn", [series.drawn(3) for _ in range(count)])):
        orders = list(pool.map(comparer.has_order, [list(map(comparer.write, group)) for group in groups]))
        print(share_line(f"rankings of three, {name}", sum(orders), len(orders)), flush=True)


def evaluate_trends(comparer, pool, series, count):
    for each in (1, 4):
        groups = [list(map(comparer.write, series.drawn(2 * each))) for _ in range(count)]
        beyond = list(pool.map(comparer.beyond_margin, [one[:each] for one in groups],
                               [one[each:] for one in groups]))
        flat = [one for of_history in beyond for one in of_history]
        print(share_line(f"trends, {each} and {each} sessions, beyond 95 %", sum(flat), len(flat)), flush=True)


def evaluate(args, folder):
    chance = random.Random(20261127)
    print(machine())
    with tempfile.TemporaryDirectory(dir=MEMORY) as work, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for kind, sessions in load(folder).items():
            comparer = Comparer(args.filereel, work)
            series = Series(sessions, chance)
            print(f"\n{folder} {kind}: {len(sessions)} sessions in "
                  f"{(series.times[-1] - series.times[0]) / MINUTES:.0f} minutes")
            for how, distance, name, factors in WAYS:
                if how == "in turns" and kind == "mixed":
                    continue
                if how in ("in turns", "control") and not series.controlled:
                    continue
                evaluate_one(comparer, pool, name, series, how, distance, () if args.quick else factors,
                             args.comparisons)
            if len(sessions) >= 10:
                evaluate_rankings(comparer, pool, series, args.comparisons)
                evaluate_trends(comparer, pool, series, args.comparisons // 4)


def main():
    parser = argument_parser(__doc__)
    parser.add_argument("what", choices=["collect", "evaluate"])
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--kinds", default="memory,disk,mixed,drives")
    parser.add_argument("--job", default="programs", help="plans, workloads and reels, separated by blanks (programs)")
    parser.add_argument("--fs", default="ext4")
    parser.add_argument("--scale", help="of file sets (0.05, of drives 0.005)")
    parser.add_argument("--minutes", type=float, default=100)
    parser.add_argument("--every", type=float, default=60)
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--disk", default=tempfile.gettempdir())
    parser.add_argument("--compiler", action="store_true")
    parser.add_argument("--comparisons", type=int, default=300)
    parser.add_argument("--quick", action="store_true", help="A/A alone")
    args = parser.parse_args()
    for folder in args.folders:
        (collect if args.what == "collect" else evaluate)(args, folder)


if __name__ == "__main__":
    main()
