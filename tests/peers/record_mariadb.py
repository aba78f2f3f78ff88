#!/usr/bin/env python3
"""Records a MariaDB server under sysbench's oltp_read_write, and compares with not recording it.

    record_mariadb.py [--filereel PATH] [--folder DIR] [--seconds 30] [--rounds 3] [--threads 4]
                      [--replay-on ext4,xfs,ntfs]

The server has its durable defaults (innodb_flush_log_at_trx_commit 1, doublewrite, native AIO), a
binary log with sync_binlog 1 and a buffer pool of 64 MB. Each round runs the load twice on the same
server, once while `filereel record --pid` watches, in turns of order. Printed:

  transactions a second of both, and the ratio of the medians
  what the reel holds between two readings of the server's status counters and of /proc/PID/io, while
  nothing ran: bytes written to the redo log, the binary log, the doublewrite buffer and the tables,
  and syncs, against those counters
  how the last reel replays on fresh volumes, with every result compared

Needs mariadb-server and sysbench, and root for BPF and for volumes; the machine should be idle.
"""
import collections
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import tempfile

from mariadb_server import Server, kind_of
from peers import argument_parser, machine, run, sample_of, spread, verdict

MOST_SLOWER, MOST_OFF = 1 / 0.9, 0.02
TABLES, ROWS = 4, 100000


class SysbenchServer(Server):
    def sysbench(self, arguments, action):
        return run("sysbench", "oltp_read_write", "--db-driver=mysql", "--mysql-user=root",
                   f"--mysql-socket={self.socket}", f"--tables={TABLES}", f"--table-size={ROWS}",
                   f"--threads={arguments.threads}", f"--time={arguments.seconds}", action)

    def load(self, arguments):
        """Transactions a second."""
        text = self.sysbench(arguments, "run")
        return float(re.search(r"transactions:.*\((\d+\.\d+) per sec", text)[1])


def record(arguments, server, reel):
    """Transactions a second while recorded, and what the counters counted meanwhile."""
    before = server.settle()
    recorder = subprocess.Popen([arguments.filereel, "record", "-o", reel, "--backend", "bpf",
                                 "--pid", str(server.process.pid)], stderr=subprocess.PIPE,
                                text=True)
    recorder.stderr.readline()  # "recording with …": from here on nothing is missed
    rate = server.load(arguments)
    after = server.settle()
    recorder.send_signal(signal.SIGINT)
    said = recorder.stderr.read()
    if recorder.wait() != 0:
        raise SystemExit(f"filereel record failed: {said}")
    return rate, {name: after[name] - before[name] for name in after}, said


def sums_of(arguments, reel):
    """Bytes written and syncs by kind of file."""
    paths, written, syncs = {}, collections.Counter(), collections.Counter()
    with subprocess.Popen([arguments.filereel, "export", reel, "--format", "jsonl"],
                          stdout=subprocess.PIPE) as export:
        for line in export.stdout:
            one = json.loads(line)
            operation = one.get("operation")
            if operation == "open" and "file" in one:
                paths[one["file"]] = one["path"]
            elif operation == "write" and isinstance(one["result"], int) and one["result"] > 0:
                written[kind_of(paths[one["file"]])] += one["result"]
            elif operation in ("fsync", "fdatasync"):
                syncs[kind_of(paths[one["file"]])] += 1
    return written, syncs


def compare(what, recorded, counted):
    if counted == 0:
        print(f"      {what}: {recorded} in the reel, nothing counted")
        return
    off = abs(recorded - counted) / counted
    print(f"{'PASS' if off <= MOST_OFF else 'FAIL'}: {what}: {recorded} in the reel, {counted} "
          f"counted, {off:.2%} off")


def check_totals(arguments, reel, counted):
    """Against /proc/PID/io, which counts what calls write (not io_uring), and the server's counters:
    Innodb_data_written counts pages and the doublewrite buffer, not the redo log. Of that
    Innodb_os_log_written counts only what is new, but whole blocks are written again and again."""
    written, syncs = sums_of(arguments, reel)
    for name, count in sorted(written.items()):
        print(f"      {name}: {count} bytes written, {syncs[name]} syncs")
    pages = written["system table space"] + written["tables"]
    compare("bytes of pages and doublewrite (Innodb_data_written)", pages,
            counted["Innodb_data_written"])
    compare("bytes of redo log, binary log and others (wchar of /proc/PID/io)",
            sum(written.values()) - pages, counted["wchar"])
    compare("syncs of InnoDB's files (Innodb_data_fsyncs)",
            syncs["redo log"] + syncs["system table space"] + syncs["tables"],
            counted["Innodb_data_fsyncs"])
    print(f"      new in the redo log (Innodb_os_log_written): {counted['Innodb_os_log_written']}")


def replay(arguments, reel, folder, kind):
    image, result = os.path.join(folder, f"{kind}.img"), os.path.join(folder, f"{kind}.json")
    done = subprocess.run([arguments.filereel, "-q", "replay", reel, f"image:{image},size=3G",
                           "--fs", kind, "--verify", "results", "--json", result],
                          capture_output=True, text=True)
    divergences = sample_of(result)["divergences"] if os.path.exists(result) else {}
    mismatches = divergences.get("by_class", {}).get("mismatch", 0)
    good = done.returncode == 0 and divergences and mismatches == 0
    print(f"{'PASS' if good else 'FAIL'}: replay on {kind}: {divergences.get('count')} results "
          f"differ, {divergences.get('by_class', {})} {done.stderr.strip()[:300]}")


def main():
    parser = argument_parser(__doc__)
    parser.add_argument("--folder", default=tempfile.gettempdir())
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--replay-on", default="ext4,xfs,ntfs")
    arguments = parser.parse_args()
    print(machine())
    folder = tempfile.mkdtemp(prefix="record-mariadb-", dir=arguments.folder)
    try:
        server = SysbenchServer(folder)
        plain, recorded = [], []
        try:
            server.query("create database sbtest")
            server.sysbench(arguments, "prepare")
            server.load(arguments)  # warms the buffer pool
            for i in range(arguments.rounds):
                reel = os.path.join(folder, "mariadb.reel")
                def run_plain():
                    server.settle()
                    plain.append(server.load(arguments))
                if i % 2 == 0:
                    run_plain()
                rate, counted, said = record(arguments, server, reel)
                recorded.append(rate)
                if i % 2 == 1:
                    run_plain()
            print(said.strip())
        finally:
            server.stop()
        print("transactions a second: plain", spread(plain, ".1f"), " recorded",
              spread(recorded, ".1f"))
        verdict("plain against recorded", statistics.median(plain) / statistics.median(recorded),
                round(MOST_SLOWER, 3), True)
        check_totals(arguments, reel, counted)
        for kind in filter(None, arguments.replay_on.split(",")):
            replay(arguments, reel, folder, kind)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
