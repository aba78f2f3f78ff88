"""A MariaDB server of the scripts beside this one: started in a folder, queried, stopped."""
import os
import subprocess
import time

from peers import run

COUNTERS = ["Innodb_data_written", "Innodb_os_log_written", "Innodb_data_fsyncs"]


class Server:
    """With its durable defaults and a binary log; `options` come last and win."""

    def __init__(self, folder, *options):
        self.socket = os.path.join(folder, "socket")
        self.data = os.path.join(folder, "data")
        run("mariadb-install-db", "--no-defaults", f"--datadir={self.data}", "--user=root",
            "--auth-root-authentication-method=normal", "--skip-test-db")
        self.folder = folder
        self.process = None
        self.start(*options)

    def start(self, *options):
        self.log = open(os.path.join(self.folder, "log"), "a")
        self.process = subprocess.Popen(
            ["/usr/sbin/mariadbd", "--no-defaults", f"--datadir={self.data}",
             f"--socket={self.socket}", "--user=root", "--skip-networking", "--log-bin=binlog",
             "--sync-binlog=1", f"--pid-file={self.folder}/pid", "--innodb-buffer-pool-size=64M",
             *options],
            stdout=self.log, stderr=self.log, cwd=self.folder)
        for _ in range(300):
            if subprocess.run(["mariadb-admin", "--no-defaults", f"--socket={self.socket}", "ping"],
                              capture_output=True).returncode == 0:
                return
            time.sleep(0.2)
        raise SystemExit(f"the server does not start; see {self.log.name}")

    def client(self, *more):
        return ["mariadb", "--no-defaults", f"--socket={self.socket}", "-N", "-B", *more]

    def query(self, text):
        return run(*self.client("-e", text))

    def settle(self):
        """Waits until nothing is written any more."""
        before = None
        while (now := self.counters()) != before:
            before = now
            time.sleep(1)
        return now

    def counters(self):
        found = {}
        for line in self.query("show global status like 'Innodb_%'").splitlines():
            name, value = line.split("\t")
            if name in COUNTERS:
                found[name] = int(value)
        with open(f"/proc/{self.process.pid}/io") as file:
            for line in file:
                name, value = line.split(": ")
                if name == "wchar":
                    found[name] = int(value)
        return found

    def stop(self):
        self.process.terminate()
        self.process.wait(120)


def kind_of(path):
    """What one of the server's files is for."""
    name = os.path.basename(path)
    if name.startswith("ib_logfile"):
        return "redo log"
    if name.startswith("binlog"):
        return "binary log"
    if name.startswith("ibdata"):
        return "system table space"
    return "tables" if name.endswith((".ibd", ".ibt")) or name.startswith("undo") else "others"
