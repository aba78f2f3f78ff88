"""The statements of mysql-mix and mysql-review for a real server: the same tables, words and shares as
those of traces/mysql (docs/mysql-mix.md)."""
import os
import random
import subprocess
import time

ROWS, VOCABULARY, WORDS = 200_000, 100_000, 3
FOUND_BY_WORD = ROWS * WORDS / VOCABULARY  # rows, on average
FOUND_BY_LETTERS = FOUND_BY_WORD * (1 + VOCABULARY * 4 / 26 ** 4)  # by four letters of some word
TIMES = range(1_700_000_000, 1_710_000_000)
# Shares in percent.
MIXES = {"insert": {"insert": 100},
         "update": {"update-key": 100},
         "mixture": {"insert": 20, "update-key": 20, "update-text": 1, "delete-key": 5,
                     "delete-range": 1, "select-key": 42, "select-text": 10, "select-scan": 1},
         "review": {"insert": 30, "update-key": 20, "update-like": 1, "delete-key": 10,
                    "delete-time": 1, "select-time": 1, "select-key": 35, "select-like": 1,
                    "select-uid": 1}}
TABLE = ("create table t (id int unsigned auto_increment primary key, time int, uid int, "
         "status varchar(32){}) engine=innodb")
REVIEW_TABLE = ("create table t (id int(10) unsigned not null auto_increment primary key, "
                "time int(11) not null, uid int(11) not null, status varchar(32) not null{}) "
                "engine=innodb default charset=cp1251")


def is_review(shares):
    return "delete-time" in shares


def status_bytes(shares):
    return 24 if is_review(shares) else 23


def late_share(shares):
    """The share of new times above the integer of `delete … where time>…` that keeps the table as large
    as it is."""
    if not is_review(shares):
        return 0
    timed = shares["insert"] + shares["update-key"] + shares["update-like"] * FOUND_BY_LETTERS
    return (shares["insert"] - shares["delete-key"]) / timed


class Statements:
    def __init__(self, seed, shares):
        self.random = random.Random(seed)
        self.full_stop = "." if is_review(shares) else ""  # 24 characters in the place of 23
        self.integer = TIMES.stop - 1 - int(late_share(shares) * len(TIMES))
        letters = random.Random(42)
        self.words = sorted({"".join(letters.choices("abcdefghijklmnopqrstuvwxyz", k=7))
                             for _ in range(VOCABULARY)})

    def time(self):
        return TIMES.start + self.random.randrange(len(TIMES))

    def uid(self):
        return self.random.randrange(100_000, 1_000_000)

    def status(self):
        return " ".join(self.random.choices(self.words, k=WORDS)) + self.full_stop

    def row(self, time):
        return f"({time},{self.uid()},'{self.status()}')"

    def first_row(self):
        """Not above the integer."""
        return self.row(TIMES.start + self.random.randrange(self.integer + 1 - TIMES.start))

    def letters(self, word):
        begin = self.random.randrange(4)
        return word[begin:begin + 4]

    def one(self, kind):
        key, word = self.random.randint(1, ROWS), self.random.choice(self.words)
        if kind == "insert":
            return f"insert into t (time,uid,status) values {self.row(self.time())};"
        if kind == "update-key":
            return f"update t set time={self.time()},status='{self.status()}' where id={key};"
        if kind == "update-text":
            return (f"update t set time={self.time()},status='{self.status()}' "
                    f"where match(status) against('{word}');")
        if kind == "update-like":
            return (f"update t set time={self.time()},status='{self.status()}' "
                    f"where status like '%{self.letters(word)}%';")
        if kind == "delete-key":
            return f"delete from t where id={key};"
        if kind == "delete-range":
            return f"delete from t where id between {key} and {key + 9};"
        if kind == "delete-time":
            return f"delete from t where time>{self.integer};"
        if kind == "select-key":
            return f"select * from t where id={key};"
        if kind == "select-text":
            return f"select * from t where match(status) against('{word}');"
        if kind == "select-time":
            return f"select * from t where time>{self.integer};"
        if kind == "select-like":
            return f"select * from t where status like '%{self.letters(word)}%';"
        if kind == "select-uid":
            return f"select * from t where uid>{990_000 + self.uid() // 100};"
        return f"select count(*),sum(uid) from t where time<{self.time()};"

    def mixed(self, shares, count):
        return [self.one(kind) for kind in self.random.choices(list(shares), shares.values(),
                                                               k=count)]


def fill(server, shares, fulltext=True):
    """Makes the table with its rows."""
    server.query("create database t")
    table = REVIEW_TABLE if is_review(shares) else TABLE
    server.query("use t; " + table.format(", fulltext key(status)" if fulltext else ""))
    statements = Statements(7, shares)
    with subprocess.Popen(server.client("t"), stdin=subprocess.PIPE, text=True) as client:
        for _ in range(ROWS // 500):
            rows = ",".join(statements.first_row() for _ in range(500))
            client.stdin.write(f"insert into t (time,uid,status) values {rows};\n")


def run_mix(server, folder, shares, count, connections, seed):
    """Does so many transactions over all connections; gives the seconds that they took."""
    files = []
    for number in range(connections):
        files.append(os.path.join(folder, f"statements-{number}"))
        with open(files[-1], "w") as file:
            mine = count // connections + (number < count % connections)
            file.write("\n".join(Statements(seed * 1000 + number, shares).mixed(shares, mine)) + "\n")
    begin = time.monotonic()
    clients = [subprocess.Popen(server.client("--force", "t"), stdin=open(name),
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
               for name in files]
    for client in clients:
        client.wait()
    return time.monotonic() - begin
