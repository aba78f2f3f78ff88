#!/usr/bin/env python3
"""Compares mysql-mix and mysql-review with a recording of a MariaDB server that does the same statements.

    mysql_mix_peers.py [--filereel PATH] [--make-mysql-reel PATH] [--folder DIR] [--mixes insert,…]
                       [--transactions 30000] [--connections N] [--flush 1] [--sync-binlog 1]
                       [--buffer-pool 64] [--no-doublewrite] [--no-native-aio] [--no-fulltext] [--keep DIR]
                       [--recordings 1]

For each mix (inserts only, updates by key only, the mixture of all kinds of mysql-mix, the nine
statements of mysql-review, which has nine connections) a server is filled with
200,000 rows, settled with 20,000 transactions and recorded with `filereel record --pid` for so many
more; its durable defaults are in force unless options say otherwise. Then mysql-mix is made with the
same options. It is told how fast the device was while recording (the means of the recorded
latencies, and of the processors' time of a word that the full-text index wrote), and the processors'
time of a statement (for mysql-review also of rows that scans look at and lock, by the same factor: the
others that use the processors slow all of them down) is chosen so that both took equally long.

Printed for each mix: per committed transaction syncs, bytes of redo log and binary log, page writes
and their bytes, bytes of doublewrites, and reads, of the recording and the model, and their ratio,
which has to be within 15 %; then the most frequent sizes of both. A server does not read equally many pages each
time: of several recordings of a mix the medians of the ratios have to be within 15 %. Needs
mariadb-server, and root for BPF.
"""
import collections
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

from mariadb_server import Server
from mysql_statements import MIXES, fill, is_review, run_mix, status_bytes
from peers import ROOT, argument_parser, machine, run

SETTLING, MOST_OFF = 20_000, 0.15
BETWEEN_WORDS = 150  # binlog writes without a read by it: the full-text index does not write words
WORDS_OF_COMMIT = 3  # nearly all commits of these mixes add one document
DOUBLEWRITE = range(1 << 20, 3 << 20)  # where it lies in ibdata1
STATEMENT = 470_000  # nanoseconds, of MysqlTiming
# By kind of file and operation, the name of the time of mysql-mix.
TIMES = {("redo", "write"): "redo_write", ("redo", "fdatasync"): "redo_sync",
         ("binlog", "write"): "binlog_write", ("binlog", "fdatasync"): "binlog_sync",
         ("page", "read"): "page_read", ("page", "write"): "page_write",
         ("page", "fdatasync"): "data_sync", ("doublewrite", "write"): "doublewrite_time"}
FIGURES = ["syncs", "redo bytes", "binlog bytes", "page writes", "page bytes",
           "doublewrite bytes", "reads"]
DETAILS = ["redo writes", "binlog writes", "doublewrites", "redo syncs", "binlog syncs",
           "data syncs", "asynchronous reads"]


def kind_of(one, path):
    """What an operation is for."""
    name = os.path.basename(path)
    if name.startswith("ib_logfile"):
        return "redo"
    if name.startswith("binlog"):
        return "binlog"
    if one["operation"] == "write" and name == "ibdata1" and one["offset"] in DOUBLEWRITE:
        return "doublewrite"
    return "page" if name == "ibdata1" or name.endswith(".ibd") else "other"


def table_of(name):
    """The same for both, by the name of a file of pages."""
    if name in ("t.ibd", "items.ibd"):
        return "table"
    return "words" if "_INDEX_" in name else name.split("_")[-1]


class Figures:
    def __init__(self, filereel, reel):
        self.counts, self.sizes = collections.Counter(), collections.defaultdict(collections.Counter)
        self.files = collections.Counter()
        self.clients, self.word_reads = set(), []
        latencies, paths = collections.defaultdict(list), {}
        begin = end = None
        with subprocess.Popen([filereel, "export", reel, "--format", "jsonl"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as export:
            for line in export.stdout:
                one = json.loads(line)
                operation = one.get("operation")
                if operation == "open" and "file" in one:
                    paths[one["file"]] = one["path"]
                if operation not in ("read", "write", "fdatasync"):
                    continue
                kind = kind_of(one, paths.get(one["file"], ""))
                if kind == "other":
                    continue
                if kind == "binlog" or begin is None:
                    begin = begin or one["start_us"]
                    end = one["start_us"]
                if (kind, operation) in TIMES:
                    latencies[TIMES[kind, operation]].append(one["duration_us"] * 1000)
                self.count(one, kind, operation, os.path.basename(paths[one["file"]]))
                if kind == "binlog":
                    self.clients.add(one["thread"])
                elif operation == "read" and "_INDEX_" in paths[one["file"]]:
                    self.word_reads.append((one["start_us"], one["duration_us"],
                                            self.counts["binlog writes"], one["thread"]))
        self.seconds = (end - begin) / 1e6
        self.times = {name: statistics.mean(of) for name, of in latencies.items()}

    def time_of_word(self, commits):
        """Nanoseconds of a word that the full-text index writes, without its reads. Its reads tell
        when it is at work: between two times 641 documents come. Clients read for searches."""
        busy, end, logged = 0, 0, -BETWEEN_WORDS
        for begin, duration, binlog_writes, thread in self.word_reads:
            if thread in self.clients:
                continue
            if binlog_writes - logged < BETWEEN_WORDS:
                busy += begin - end
            end, logged = begin + duration, binlog_writes
        return busy * 1000 / (WORDS_OF_COMMIT * commits)

    def count(self, one, kind, operation, name):
        if operation == "fdatasync":
            self.counts["syncs"] += 1
            self.counts[f"{'data' if kind in ('page', 'doublewrite') else kind} syncs"] += 1
            return
        if operation == "read":
            self.counts["reads"] += 1
            self.counts["asynchronous reads"] += one.get("asynchronous", False)
            self.sizes["reads"][one["result"]] += 1
        else:
            self.counts[f"{kind} bytes"] += one["result"]
            self.counts["doublewrites" if kind == "doublewrite" else f"{kind} writes"] += 1
            self.sizes[f"{kind} writes"][one["result"]] += 1
        if kind == "page":
            self.files[operation, table_of(name)] += 1


def server_options(arguments):
    options = [f"--innodb-flush-log-at-trx-commit={arguments.flush}",
               f"--sync-binlog={arguments.sync_binlog}",
               f"--innodb-buffer-pool-size={arguments.buffer_pool}M"]
    if not arguments.doublewrite:
        options.append("--skip-innodb-doublewrite")
    if not arguments.native_aio:
        options.append("--skip-innodb-use-native-aio")
    return options


def connections_of(arguments, mix):
    return arguments.connections or (9 if is_review(MIXES[mix]) else 4)


def commits_of(server):
    return int(server.query("show global status like 'Binlog_commits'").split()[1])


def record(arguments, folder, mix, reel):
    """Commits while recorded."""
    server = Server(folder, *server_options(arguments))
    try:
        fill(server, MIXES[mix], arguments.fulltext)
        run_mix(server, folder, MIXES[mix], SETTLING, connections_of(arguments, mix), 1)
        before = commits_of(server)
        recorder = subprocess.Popen([arguments.filereel, "record", "-o", reel, "--backend", "bpf",
                                     "--pid", str(server.process.pid)], stderr=subprocess.PIPE,
                                    text=True)
        recorder.stderr.readline()  # "recording with …": from here on nothing is missed
        run_mix(server, folder, MIXES[mix], arguments.transactions, connections_of(arguments, mix), 2)
        commits = commits_of(server) - before
        recorder.send_signal(signal.SIGINT)
        said = recorder.stderr.read()
        if recorder.wait() != 0:
            raise SystemExit(f"filereel record failed: {said}")
        print(f"      {mix}: {server.query('select count(*) from t.t').strip()} rows at the end")
        return commits
    finally:
        server.stop()


def processor_times(mix, factor):
    """In nanoseconds. The times of rows are in proportion to that of a statement, as the server took
    them on a machine with nothing else to do."""
    times = {"statement": STATEMENT}
    if is_review(MIXES[mix]):
        times |= {"scanned_row": 150, "locked_row": 300}
    return {name: ns * factor for name, ns in times.items()}


def make_model(arguments, mix, times, reel):
    shares = [f"{name}={share}" for name, share in MIXES[mix].items()]
    run(arguments.make_mysql_reel, *shares, *(f"{name}={int(ns)}" for name, ns in times.items()),
        f"transactions={arguments.transactions}",
        f"connections={connections_of(arguments, mix)}", f"flush_log_at_commit={arguments.flush}",
        f"sync_binlog={arguments.sync_binlog}", f"doublewrite={int(arguments.doublewrite)}",
        f"native_aio={int(arguments.native_aio)}", f"fulltext={int(arguments.fulltext)}",
        f"buffer_pool={arguments.buffer_pool << 20}", f"row_bytes={status_bytes(MIXES[mix])}", reel)
    return json.loads(run(arguments.filereel, "show", "--json", reel))


def fit_model(arguments, mix, recorded, reel):
    """Makes the reel that takes as long as the recording; gives its commits."""
    low, high = 0, recorded.seconds * 1e9 * connections_of(arguments, mix) / arguments.transactions
    for _ in range(16):
        statement = (low + high) / 2
        times = recorded.times | processor_times(mix, statement / STATEMENT)
        shown = make_model(arguments, mix, times, reel)
        longer = shown["duration_s"] / recorded.seconds
        if abs(longer - 1) < 0.01:
            break
        low, high = (low, statement) if longer > 1 else (statement, high)
    print(f"      {recorded.seconds:.1f} s recorded, {shown['duration_s']:.1f} s simulated "
          f"with {statement / 1000:.0f} us of processor a statement; means in us:",
          ", ".join(f"{name} {ns / 1000:.3g}" for name, ns in sorted(recorded.times.items())))
    return int(shown["facts"]["commits"])


def histogram(sizes):
    total = sum(sizes.values())
    return "  ".join(f"{size}: {count / total:.1%}" for size, count in sizes.most_common(6))


def compare(mix, recorded, commits, model, model_commits):
    """Prints both; gives the ratios of the figures."""
    print(f"      per commit of {mix}: {commits} recorded, {model_commits} simulated")
    ratios = {}
    for name in FIGURES + DETAILS:
        a, b = recorded.counts[name] / commits, model.counts[name] / model_commits
        if a == b == 0:
            continue
        ratio = b / a if a else float("inf")
        if name in FIGURES:
            ratios[name] = ratio
        print(f"      {name:20} {a:12.4f} {b:12.4f}  ratio {ratio:.3f}")
    for name in sorted(set(recorded.files) | set(model.files)):
        a, b = recorded.files[name] / commits, model.files[name] / model_commits
        if max(a, b) >= 0.005:
            print(f"      {name[0]:5} {name[1]:14} {a:12.4f} {b:12.4f}")
    for name in sorted(recorded.sizes):
        print(f"      sizes of {name}: recorded  {histogram(recorded.sizes[name])}")
        print(f"      {'':{len(name) + 10}} simulated {histogram(model.sizes[name])}")
    return ratios


def judge(mix, of_recordings):
    """Whether the medians of the ratios are good."""
    good = True
    for name in of_recordings[0]:
        ratios = sorted(ratios[name] for ratios in of_recordings if name in ratios)
        median = statistics.median(ratios)
        mark = "PASS:" if abs(median - 1) <= MOST_OFF else "FAIL:"
        good = good and mark == "PASS:"
        print(f"{mark} {mix}: {name:20} ratio {median:.3f}, of {len(ratios)} recordings "
              f"{ratios[0]:.3f} to {ratios[-1]:.3f}")
    return good


def record_and_simulate(arguments, mix, number):
    folder = tempfile.mkdtemp(prefix="mysql-mix-", dir=arguments.folder)
    try:
        kept = arguments.keep or folder
        os.makedirs(kept, exist_ok=True)
        name = mix if number == 1 else f"{mix}-{number}"
        reel, noted = (os.path.join(kept, f"{name}{end}") for end in (".reel", ".commits"))
        if not os.path.exists(noted):
            commits = record(arguments, folder, mix, reel)
            with open(noted, "w") as file:
                file.write(str(commits))
        with open(noted) as file:
            commits = int(file.read())
        recorded = Figures(arguments.filereel, reel)
        if recorded.word_reads:
            recorded.times["word"] = recorded.time_of_word(commits)
        made = os.path.join(kept, f"{name}-simulated.reel")
        model_commits = fit_model(arguments, mix, recorded, made)
        return compare(mix, recorded, commits, Figures(arguments.filereel, made), model_commits)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argument_parser(__doc__)
    parser.add_argument("--make-mysql-reel", type=os.path.abspath,
                        default=os.path.join(ROOT, "build/release/tests/make_mysql_reel"))
    parser.add_argument("--folder", default=tempfile.gettempdir())
    parser.add_argument("--mixes", default=",".join(MIXES))
    parser.add_argument("--transactions", type=int, default=30_000)
    parser.add_argument("--connections", type=int, help="4, of mysql-review 9")
    parser.add_argument("--buffer-pool", type=int, default=64, help="MiB")
    parser.add_argument("--flush", type=int, default=1, choices=[0, 1, 2])
    parser.add_argument("--sync-binlog", type=int, default=1)
    parser.add_argument("--no-doublewrite", dest="doublewrite", action="store_false")
    parser.add_argument("--no-native-aio", dest="native_aio", action="store_false")
    parser.add_argument("--no-fulltext", dest="fulltext", action="store_false")
    parser.add_argument("--recordings", type=int, default=1, help="of each mix")
    parser.add_argument("--keep", help="a directory for the reels; those that are there are not "
                                       "recorded again")
    arguments = parser.parse_args()
    # The recorder is stopped by it, also where this runs in the background.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print(machine())
    good = True
    for mix in arguments.mixes.split(","):
        numbers = range(1, arguments.recordings + 1)
        good = judge(mix, [record_and_simulate(arguments, mix, i) for i in numbers]) and good
        sys.stdout.flush()
    if not good:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
