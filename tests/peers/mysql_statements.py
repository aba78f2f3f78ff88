"""The statements of a mysql-mix for a real server: the same table, words and shares as those of
traces/mysql (docs/mysql-mix.md)."""
import os
import random
import subprocess
import time

ROWS, VOCABULARY, WORDS = 200_000, 100_000, 3
KINDS = ["insert", "update-key", "update-text", "delete-key", "delete-range", "select-key",
         "select-text", "select-scan"]
# Shares in percent.
MIXES = {"insert": {"insert": 100},
         "update": {"update-key": 100},
         "mixture": {"insert": 20, "update-key": 20, "update-text": 1, "delete-key": 5,
                     "delete-range": 1, "select-key": 42, "select-text": 10, "select-scan": 1}}
TABLE = ("create table t (id int unsigned auto_increment primary key, time int, uid int, "
         "status varchar(32){}) engine=innodb")


class Statements:
    def __init__(self, seed):
        self.random = random.Random(seed)
        letters = random.Random(42)
        self.words = sorted({"".join(letters.choices("abcdefghijklmnopqrstuvwxyz", k=7))
                             for _ in range(VOCABULARY)})

    def time(self):
        return 1_700_000_000 + self.random.randrange(10_000_000)

    def status(self):
        return " ".join(self.random.choices(self.words, k=WORDS))

    def row(self):
        return f"({self.time()},{self.random.randrange(100_000, 1_000_000)},'{self.status()}')"

    def one(self, kind):
        key, word = self.random.randint(1, ROWS), self.random.choice(self.words)
        if kind == "insert":
            return f"insert into t (time,uid,status) values {self.row()};"
        if kind == "update-key":
            return f"update t set time={self.time()},status='{self.status()}' where id={key};"
        if kind == "update-text":
            return (f"update t set time={self.time()},status='{self.status()}' "
                    f"where match(status) against('{word}');")
        if kind == "delete-key":
            return f"delete from t where id={key};"
        if kind == "delete-range":
            return f"delete from t where id between {key} and {key + 9};"
        if kind == "select-key":
            return f"select * from t where id={key};"
        if kind == "select-text":
            return f"select * from t where match(status) against('{word}');"
        return f"select count(*),sum(uid) from t where time<{self.time()};"

    def mixed(self, shares, count):
        return [self.one(kind) for kind in self.random.choices(list(shares), shares.values(),
                                                               k=count)]


def fill(server, fulltext=True):
    """Makes the table with its rows."""
    server.query("create database t")
    server.query("use t; " + TABLE.format(", fulltext key(status)" if fulltext else ""))
    statements = Statements(7)
    with subprocess.Popen(server.client("t"), stdin=subprocess.PIPE, text=True) as client:
        for _ in range(ROWS // 500):
            rows = ",".join(statements.row() for _ in range(500))
            client.stdin.write(f"insert into t (time,uid,status) values {rows};\n")


def run_mix(server, folder, shares, count, connections, seed):
    """Does so many transactions over all connections; gives the seconds that they took."""
    files = []
    for number in range(connections):
        files.append(os.path.join(folder, f"statements-{number}"))
        with open(files[-1], "w") as file:
            mine = count // connections + (number < count % connections)
            file.write("\n".join(Statements(seed * 1000 + number).mixed(shares, mine)) + "\n")
    begin = time.monotonic()
    clients = [subprocess.Popen(server.client("--force", "t"), stdin=open(name),
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
               for name in files]
    for client in clients:
        client.wait()
    return time.monotonic() - begin
