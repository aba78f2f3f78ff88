#!/usr/bin/env python3
"""What changes with the number of clients: measured here, and simulated up to 10,000.

    clients_scale.py [--filereel PATH] [--most 64] [--simulate 64,1000,10000] [--no-simulation]

Measures runs of many tiny steps with 1, 2, 4 … processes on this machine: time per step, start skew,
error of the clocks, size of the result, processor time of the first client and of the others; and the
time to create and remove a directory for each client. From these it derives the costs of a message and of
merging a sample, and simulates meetings and starts (clients_simulation.py): first on the cores of this
machine, to compare with the measured times, then on networks of machines. Needs mpirun.
"""
import itertools
import json
import os
import statistics
import subprocess
import tempfile
import time

from clients_simulation import Clients, Costs, Network, Scheme, lead_s
from peers import MEMORY, MPI_ENVIRONMENT, argument_parser, machine, run

FEW, MANY = 10, 50  # steps; the difference leaves out the start and the end of a run
MESSAGES = 2 * 3  # of a client in a step, at the first client; on one machine there are no pings
TINY = "{{name: s{0}, caches: keep, do: [stat], stop: {{operations: 1}}}}"
RICH = ("{{name: s{0}, caches: keep, stop: {{time: 0.3 s}}, rate: 3000/s, access: {{random: 100 %, "
        "reads: 50 %, sizes: [{{size: 4 KiB, share: 60 %}}, {{size: 64 KiB, share: 40 %}}]}}}}")
LONG = "{{name: s{0}, caches: keep, stop: {{time: 3 s}}, access: {{size: 4 KiB, random: 100 %}}}}"
WITH_PID = 'echo $$ >"$0/pid-$OMPI_COMM_WORLD_RANK"; exec "$@"'
NETWORKS = {"cluster, 2 µs": 2e-6, "cluster, 50 µs": 50e-6, "LAN, 200 µs": 200e-6}
SCHEMES = {"star, as built": Scheme(),
           "tree of 16": Scheme(fan_out=16, lead=lambda clients: 5e-3 + 2e-6 * clients)}


class Watched:
    """The processor time of a process, as last seen while it ran: of its first thread, which measures
    and merges, and of the busiest other one, which communicates."""

    def __init__(self, pid_file):
        self.pid_file, self.main, self.by_thread = pid_file, 0, {}

    def look(self):
        try:
            with open(self.pid_file) as file:
                self.main = int(file.read() or 0)
            tasks = f"/proc/{self.main}/task"
            for thread in os.listdir(tasks):
                with open(f"{tasks}/{thread}/schedstat") as file:
                    self.by_thread[int(thread)] = int(file.read().split()[0]) * 1e-9
        except (FileNotFoundError, ProcessLookupError):
            pass  # not yet, or no longer

    def seconds(self):
        return (self.by_thread[self.main],
                max(seconds for thread, seconds in self.by_thread.items() if thread != self.main))


class Run:
    """One run of `steps` steps like `step`."""

    def __init__(self, arguments, processes, steps, step=TINY):
        folder = tempfile.mkdtemp(dir=arguments.folder)
        recipe, result = os.path.join(folder, "w.yaml"), os.path.join(folder, "r.json")
        with open(recipe, "w") as file:
            file.write("files: {count: 1, size: 1 MiB}\nruns: 1\nphases:\n"
                       + "".join(f"  - {step.format(i)}\n" for i in range(steps)))
        watched = [Watched(os.path.join(folder, f"pid-{i}")) for i in range(min(processes, 2))]
        begin = time.monotonic()
        with subprocess.Popen(
                ["mpirun", "-np", str(processes), "--oversubscribe", "sh", "-c", WITH_PID, folder,
                 arguments.filereel, "-q", "run", recipe, "--near", os.path.join(folder, "place"),
                 "--clients", "mpi", "--json", result], env=MPI_ENVIRONMENT,
                stdout=subprocess.DEVNULL) as process:
            while process.poll() is None:
                for one in watched:
                    one.look()
                time.sleep(0.02)
        if process.returncode != 0:
            raise SystemExit(f"filereel ended with {process.returncode}")
        self.wall_s = time.monotonic() - begin
        self.threads_s = [one.seconds() for one in watched]
        with open(result) as file:
            self.samples = [one["samples"][0] for one in json.load(file)["measurements"]]
        starts = [one["started_s"] for one in self.samples]
        self.first_s = starts[0]
        self.step_s = statistics.median(b - a for a, b in zip(starts, starts[1:])) if steps > 1 else 0
        self.clients = [one["clients"] for one in self.samples if "clients" in one]
        self.sample_bytes = statistics.median(len(json.dumps(one)) for one in self.samples)
        self.each_bytes = statistics.median(
            len(json.dumps(each)) for one in self.clients for each in one["each"]) if self.clients else 0


class Figures:
    """Of a number of processes, from a short run and a long one."""

    def __init__(self, arguments, processes, step=TINY, steps=(FEW, MANY)):
        short, long = (Run(arguments, processes, count, step) for count in steps)
        self.processes, self.long = processes, long
        (self.main_s, self.talk_s), *other = [
            tuple((b - a) / (steps[1] - steps[0]) for a, b in zip(*one))
            for one in zip(short.threads_s, long.threads_s)]
        if not other:
            self.talk_s = 0  # of a thread that works
        # What the first client does more than another.
        self.more_main_s, self.more_talk_s = ((self.main_s - other[0][0], self.talk_s - other[0][1])
                                              if other else (0, 0))

    def row(self):
        skews = sorted(one["start_skew_us"] for one in self.long.clients) or [0]
        lead = lead_s(self.processes) if self.processes > 1 else 0
        return [str(self.processes), f"{self.long.step_s * 1e3:.1f}", f"{lead * 1e3:.1f}",
                f"{self.main_s * 1e3:.2f}", f"{self.talk_s * 1e3:.2f}",
                f"{self.more_main_s * 1e3:.2f}", f"{self.more_talk_s * 1e3:.2f}",
                f"{statistics.median(skews):.0f}", f"{skews[-1]:.0f}",
                f"{self.long.sample_bytes:.0f}", f"{self.long.each_bytes:.0f}",
                f"{self.long.first_s:.2f}", f"{self.long.wall_s:.1f}"]


def table(names, rows):
    print("| " + " | ".join(names) + " |\n|" + "---|" * len(names))
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)


def measure(arguments):
    figures = []
    processes = 1
    while processes <= arguments.most:
        figures.append(Figures(arguments, processes))
        processes *= 2
    print("steps that do nothing; times in ms, skew in µs, sizes in bytes, start and run in s; work "
          "and messages: processor time of the first client, and more than that of the second")
    table(["processes", "step", "of it lead", "work", "messages", "more work", "more messages", "skew",
           "highest", "sample", "each", "start", "run"], [one.row() for one in figures])
    return figures


def derive_costs(arguments, figures):
    """Those of a step that does nothing, and of one of 3 s."""
    several = figures[1:]

    def slope(member):  # the median of those of all pairs, because some runs are disturbed
        return statistics.median((getattr(b, member) - getattr(a, member)) / (b.processes - a.processes)
                                 for a, b in itertools.combinations(several, 2))

    message, merge = slope("more_talk_s") / MESSAGES, slope("more_main_s")
    merge_whole = Figures(arguments, 16, RICH, (4, 24)).more_main_s / 15
    tiny = next(one for one in several if one.processes == 16)
    rich_bytes = Run(arguments, 1, 4, RICH).sample_bytes
    print(f"\nprocessor time of the first client: {message * 1e6:.1f} µs per message; merging takes "
          f"{merge * 1e6:.0f} µs for a sample of {figures[0].long.sample_bytes:.0f} bytes, "
          f"{merge_whole * 1e6:.0f} µs for one of {rich_bytes:.0f} bytes")
    long, alone = Run(arguments, 2, 1, LONG), Run(arguments, 1, 1, LONG)
    print(f"a step of 3 s: a sample has {alone.sample_bytes:.0f} bytes; of it in the merged one "
          f"{long.each_bytes:.0f} for each client")
    short = figures[0].long.sample_bytes
    return [Costs(message, merge, short, tiny.long.each_bytes, short),
            Costs(message, merge_whole, alone.sample_bytes, long.each_bytes, short)]


def validate(figures, costs):
    """The simulation on the cores of this machine, with the clients' own work as measured."""
    alone = figures[0]
    rows = []
    for one in figures[1:]:
        simulated = Clients(one.processes, costs, Network(0, cores=os.cpu_count()),
                            Scheme()).step(one.main_s - one.more_main_s)
        step = alone.long.step_s - alone.main_s + simulated["all"]
        rows.append([str(one.processes), f"{one.long.step_s * 1e3:.1f}", f"{step * 1e3:.1f}",
                     f"{step / one.long.step_s - 1:+.0%}"])
    print(f"\nsimulated on {os.cpu_count()} cores")
    table(["processes", "step measured, ms", "simulated, ms", "difference"], rows)


def simulate(counts, costs):
    print("\nsimulated with a machine for each client and links of 10 Gbit/s; samples of "
          f"{costs.sample_bytes:.0f} bytes, {costs.each_bytes:.0f} of each client in the result")
    rows = []
    for count in counts:
        for network, latency in NETWORKS.items():
            for scheme, how in SCHEMES.items():
                one = Clients(count, costs, Network(latency), how).step()
                rows.append([str(count), network, scheme, f"{one['barrier'] * 1e3:.1f}",
                             f"{one['pings'] * 1e3:.1f}", f"{one['lead'] * 1e3:.0f}",
                             f"{one['result'] * 1e3:.0f}", f"{one['all']:.2f}",
                             f"{one['skew'] * 1e6:.0f}", f"{one['clock_error'] * 1e6:.0f}",
                             f"{one['result_bytes'] / 1e6:.1f}"])
    table(["clients", "network", "scheme", "barrier, ms", "pings, ms", "lead, ms", "result, ms",
           "all, s", "skew, µs", "clock error, µs", "in the result, MB"], rows)


def directories(counts, place):
    """Creates and removes a directory for each client, in sequence."""
    rows = []
    for count in counts:
        with tempfile.TemporaryDirectory(dir=place) as folder:
            names = [os.path.join(folder, f"client-{i}") for i in range(count)]
            times = [time.monotonic()]
            for action in (os.mkdir, os.rmdir):
                for name in names:
                    action(name)
                times.append(time.monotonic())
            rows.append([str(count), *(f"{(b - a) * 1e3:.1f}" for a, b in zip(times, times[1:]))])
    print(f"\ndirectories of the clients below {place}, ms")
    table(["clients", "create", "remove"], rows)


def main():
    parser = argument_parser(__doc__)
    parser.add_argument("--most", type=int, default=64, help="processes to measure; at least 16")
    parser.add_argument("--simulate", default="64,1000,10000", help="numbers of clients, by commas")
    parser.add_argument("--no-simulation", action="store_true")
    arguments = parser.parse_args()
    counts = [int(one) for one in arguments.simulate.split(",")]
    print(f"{run(arguments.filereel, '--version').strip()}; {machine()}")
    with tempfile.TemporaryDirectory(prefix="filereel-peers-", dir=MEMORY) as folder:
        arguments.folder = folder
        figures = measure(arguments)
        costs, whole = derive_costs(arguments, figures)
    for place in (MEMORY, "/var/tmp"):
        directories(counts, place)
    validate(figures, costs)
    if not arguments.no_simulation:
        simulate(counts, whole)


if __name__ == "__main__":
    main()
