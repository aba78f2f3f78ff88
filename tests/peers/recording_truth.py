#!/usr/bin/env python3
"""Records real programs, replays them on ext4 and xfs, and compares each tree with the real one.

  recording_truth.py FILEREEL [--backend bpf|strace] [--rounds N] [--check tree|content] [PROGRAM...]
  recording_truth.py FILEREEL [--backend bpf|strace] --cost [--pairs N]

Each program runs in a folder of its own. The recorder compares the recording with the real tree
(`record --strict`); this script compares the trees of the replays with the real one by itself: kinds, sizes,
permissions, links and hard links. In recordings of servers, it counts operations that can only come from a
wrong descriptor. Programs that are not installed are named and skipped. Needs root. With --rounds, the
recordings are made several times, and only the first ones are replayed.

With --cost, programs that work in memory are recorded with and without the recorder's comparison, in turns.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import shutil
import stat
import statistics
import subprocess
import sys
import tempfile
import time

TREE = "mkdir -p src/a src/b/c; for i in 1 2 3 4 5 6 7 8 9; do seq $((i*200)) >src/a/$i.txt; " \
    "seq $((i*50)) >src/b/c/$i.c; done; ln -s ../a/1.txt src/b/link; ln src/a/2.txt src/b/hard; "
SPARSE = "truncate -s 64M big; dd if=/dev/urandom of=big bs=8k count=2 seek=1000 conv=notrunc status=none; "

# 20 files from 700 B to 5.6 MB, of which clients get all, and one that is missing.
SERVED = "mkdir html; for i in $(seq 20); do head -c $((i * i * i * 700)) /dev/zero >html/f$i; done; "
CONFIGURATION = "printf 'user root; pid pid; worker_processes %s; events {} http { access_log log; %s " \
    "sendfile on; keepalive_requests 2; server { listen %s; root html; } }' >nginx.conf; "
CLIENTS = "nginx -p $PWD -c nginx.conf -e error; for client in 1 2 3 4 5; do " \
    "curl -s -o /dev/null %s/f[1-21]?[1-2] & clients=\"$clients $!\"; done; wait $clients; " \
    "nginx -p $PWD -c nginx.conf -e error -s quit"
PORT = "127.0.0.1:18480"

MANY = "seq 800000 | split -d -a 4 -l 80 - f; for i in $(seq -w 0 99); do mkdir -p src/$i; mv f$i* src/$i; " \
    "done; "

# By name: what is made before the recording, and the recorded script.
PROGRAMS = {
    "cp -a": (TREE, "cp -a src dst"),
    "cp sparse": (SPARSE, "cp big copy"),
    "rsync": (TREE, "rsync -a src/ dst"),
    "rsync sparse": (SPARSE, "rsync -S big copy"),
    "tar": (TREE, "tar cf t.tar src; mkdir out; tar xf t.tar -C out"),
    "tar sparse": (SPARSE, "tar -Scf t.tar big; mkdir out; tar -xf t.tar -C out"),
    "qemu-img": (SPARSE, "qemu-img convert -O qcow2 big big.qcow2; qemu-img convert -O raw big.qcow2 back"),
    "gzip": (TREE, "gzip -rf src/a; gunzip -r src/a"),
    "bzip2": (TREE, "bzip2 -f src/a/*.txt"),
    "xz": (TREE, "xz -k src/a/*.txt"),
    "zstd": (TREE, "zstd -q --rm src/a/*.txt"),
    "zip": (TREE, "zip -qr t.zip src; unzip -q t.zip -d out"),
    "cpio": (TREE, "find src | cpio -o -H newc >t.cpio 2>/dev/null; mkdir o; cd o; cpio -id <../t.cpio 2>&-"),
    "git": ("", "git init -q g; cd g; git config user.email a@b; git config user.name a; seq 1000 >f; "
                "git add f; git commit -qm a; git gc -q"),
    "gcc": ("echo 'int main(void) { return 0; }' >a.c", "cc -c a.c; cc -o a a.o"),
    "make": ("printf 'a: b\\n\\tcp b a\\nb:\\n\\techo 1 >b\\n' >Makefile", "make -s; touch b; make -s"),
    "sed -i": (TREE, "sed -i s/1/2/ src/a/*.txt"),
    "perl -i": (TREE, "perl -pi -e s/1/2/ src/a/*.txt"),
    "sqlite": ("", "sqlite3 d.db 'create table t(a); insert into t values(1); vacuum'"),
    "python": ("", "python3 -c 'import shelve; s = shelve.open(\"s\"); s[\"a\"] = 1; s.close()'"),
    "compileall": ("mkdir m; echo 'x = 1' >m/x.py", "python3 -m compileall -q m"),
    "venv": ("", "python3 -m venv --without-pip v"),
    "patch": ("seq 100 >a; sed s/50/fifty/ a >b; diff -u a b >d; :", "patch -s a d"),
    "ed": ("seq 10 >a", "printf '5d\\nw\\nq\\n' | ed -s a"),
    "vim": ("seq 10 >a", "vim -u NONE -es -c 'normal dd' -c wq a"),
    "nginx-like sendfile": ("seq 100000 >served", "python3 SENDFILE"),
    "openssl": ("", "openssl genrsa -out k.pem 2048 2>&-; openssl dgst -sha256 k.pem >d"),
    "ssh-keygen": ("", "ssh-keygen -q -t ed25519 -N '' -f k"),
    "gpg": ("mkdir -m 700 h", "gpg -q --homedir h --batch --passphrase '' --quick-gen-key a 2>&-; "
                              "gpgconf --homedir h --kill all"),
    "dpkg-deb": ("mkdir -p p/DEBIAN p/usr; printf 'Package: p\\nVersion: 1\\nArchitecture: all\\n"
                 "Maintainer: a <a@b>\\nDescription: a\\n' >p/DEBIAN/control",
                 "dpkg-deb -b p p.deb >/dev/null; dpkg-deb -x p.deb x"),
    "mke2fs": ("", "mke2fs -q i 8M; debugfs -w -R 'mkdir a' i 2>&-"),
    "dd": (TREE, "dd if=src/a/9.txt of=o bs=100 seek=9 status=none; dd if=/dev/zero of=z bs=1M count=3 "
                 "oflag=direct status=none"),
    "install": (TREE, "install -D -m 750 src/a/1.txt x/y/z; install -d -m 700 q"),
    "mv": (TREE, "mv src dst; mv dst/a dst/b/; mv -f dst/b/a/1.txt dst/b/a/2.txt"),
    "ln": (TREE, "ln src/a/1.txt one; ln -s one two; ln -sf src two; cp -l src/a/3.txt three"),
    "split": (TREE, "cat src/a/* >all; split -b 500 all p.; cat p.* >again; rm p.*"),
    "sort": (TREE, "sort -S 1k -T . src/a/9.txt -o sorted"),
    "shuf": (TREE, "shuf src/a/9.txt -o x; truncate -s 100 x; fallocate -l 50000 x; fallocate -p -l 8192 x"),
    "find -delete": (TREE, "find src -name '*.c' -delete; find src -type d -empty -delete"),
    "rename many": (TREE, "for f in src/a/*; do mv $f $f.new; done; rm -r src/b"),
    "chmod": (TREE, "chmod -R go-rwx src; chmod u+s src/a/1.txt; umask 077; mkdir m; touch m/f"),
    "mkfifo": ("", "mkfifo p; (echo 1 >p &); cat p >o; rm p; mkfifo q"),
    "tee": ("", "seq 1000 | tee a b >c; seq 5 | tee -a a >/dev/null"),
    "ar": (TREE, "ar rc l.a src/a/*.txt; ar d l.a 1.txt; ranlib l.a"),
    "csplit": (TREE, "csplit -s src/a/9.txt 100 200 300"),
    "nginx": (SERVED + CONFIGURATION % (1, "", PORT), CLIENTS % PORT),
    "nginx workers": (SERVED + CONFIGURATION % (4, "", PORT), CLIENTS % PORT),
    "nginx threads": (SERVED + CONFIGURATION % (2, "aio threads;", "unix:socket"),
                      CLIENTS % "--unix-socket socket localhost"),
    "rdiff-backup": (TREE, "rdiff-backup src bak; seq 9 >>src/a/1.txt; rm src/a/3.txt; sleep 1.1; "
                           "rdiff-backup src bak; rdiff-backup -r now bak back"),
    "borg": (TREE, "export BORG_BASE_DIR=$PWD/b; borg init -e none r; borg create r::a src; "
                   "borg create r::b src/a; borg delete r::b; borg compact r; mkdir o; cd o; "
                   "borg extract ../r::a"),
    "restic": (TREE, "export RESTIC_PASSWORD=a XDG_CACHE_HOME=$PWD/c; restic -q -r r init; "
                     "restic -q -r r backup src; rm -r src/b; restic -q -r r backup src; "
                     "restic -q -r r forget --keep-last 1 --prune; restic -q -r r restore latest --target o"),
    "fossil": (TREE, "export HOME=$PWD USER=a; fossil init r.fossil; mkdir c; cd c; fossil open ../r.fossil; "
                     "cp -rL ../src .; fossil add src; fossil commit -m a; fossil mv --hard src/a/1.txt one; "
                     "fossil commit -m b; fossil rebuild; fossil close"),
    "svn": (TREE, "svnadmin create r; svn -q --config-dir s checkout file://$PWD/r c; cp -r src c; cd c; "
                  "svn -q --config-dir ../s add src; svn -q --config-dir ../s commit -m one; "
                  "svn -q --config-dir ../s mv src/a b; svn -q --config-dir ../s commit -m two; "
                  "svnadmin pack ../r"),
    "rcs": ("seq 9 >f", "ci -q -u -t-a f; co -q -l f; seq 99 >f; ci -q -u -mb f; rcs -q -o1.1 f; "
                        "rcsclean -q f"),
    "cvs": (TREE, "export CVSROOT=$PWD/r; cvs -Q init; cd src; rm b/link; cvs -Q import -m a m v r; cd ..; "
                  "cvs -Q co m; cd m; seq 9 >>a/1.txt; cvs -Q commit -m b; rm a/3.txt; cvs -Q rm a/3.txt; "
                  "cvs -Q commit -m c"),
    "mksquashfs": (TREE, "mksquashfs src i -quiet -no-progress; unsquashfs -q -n -d o i"),
    "xorriso": (TREE, "xorriso -as mkisofs -quiet -R -o i src; xorriso -osirrox on -indev i -extract / o"),
    "mtools": (TREE, "mformat -C -i i -f 1440 ::; mcopy -i i src/a/*.txt ::; mdel -i i ::1.txt; "
                     "mmd -i i ::d; mcopy -i i ::2.txt o"),
    "dar": (TREE, "dar -Q -q -c a -R src -s 2k -z; mkdir o; dar -Q -q -x a -R o"),
    "7zz": (TREE, "7zz a -bso0 -bsp0 a.7z src; 7zz d -bso0 -bsp0 a.7z src/a/1.txt; "
                  "7zz x -bso0 -bsp0 -oo a.7z"),
    "redis-server": ("", "redis-server --port 0 --unixsocket s --appendonly yes --save 1 1 >/dev/null & "
                         "until redis-cli -s s ping >/dev/null 2>&1; do sleep 0.1; done; "
                         "redis-cli -s s set a b; redis-cli -s s debug populate 9999; redis-cli -s s save; "
                         "redis-cli -s s bgrewriteaof; sleep 1; redis-cli -s s append a c; "
                         "redis-cli -s s shutdown; wait"),
    "php sessions": ("mkdir s", "for i in 1 2 3; do php -d session.save_path=s -r 'session_start(); "
                                "$_SESSION[\"a\"] = 2; session_regenerate_id(true); session_gc();'; done"),
    "logrotate": ("printf '%s/a { rotate 2\\n compress\\n }\\n%s/b { rotate 3\\n copytruncate\\n }' "
                  "$PWD $PWD >c",
                  "for i in 1 2 3 4; do seq 999 >>a; seq 99 >>b; logrotate -f -s state c; done"),
    "jdupes": (TREE + "cp -r src copy; ", "jdupes -q -r -L src copy"),
    "rdfind": (TREE + "cp -r src copy; ", "rdfind -makesymlinks true src copy >/dev/null"),
    "hardlink": (TREE + "cp -r src copy; ", "hardlink -q -c src copy"),
    "dos2unix": (TREE, "unix2dos -q src/a/*.txt; dos2unix -q -k src/a/1.txt; dos2unix -q -n src/a/2.txt new"),
    "updatedb": (TREE, "updatedb -l 0 -U $PWD/src -o db; seq 9 >src/new; updatedb -l 0 -U $PWD/src -o db"),
    "unison": (TREE, "export UNISON=$PWD/u; unison -batch -silent src dst; seq 9 >src/a/1.txt; "
                     "rm dst/a/3.txt; mv src/b src/c; unison -batch -silent src dst"),
    "gdbmtool": ("seq 999 | sed 's/.*/store & value&/' >c", "gdbmtool -n d <c; echo delete 9 | gdbmtool d; "
                                                            "echo reorganize | gdbmtool d"),
    "db_load": ("seq 9998 >t", "db_load -T -t btree -f t d; db_load -T -t hash -f t h; db_dump d >o"),
    "mdb_load": ("seq 9998 >t; mkdir d", "mdb_load -T -f t d; mkdir o; mdb_copy -c d o"),
    "tdbtool": ("(echo create t; seq 99 | sed 's/.*/insert & v&/') >c", "tdbtool <c >/dev/null; tdbbackup t"),
    "rpm": ("", "rpm --dbpath $PWD/db --initdb; rpm --dbpath $PWD/db --rebuilddb"),
    "shred": (TREE, "shred -n 1 -u src/a/1.txt; shred -n 1 -z src/a/4.txt"),
    "useradd": ("mkdir -p r/etc r/home; touch r/etc/passwd r/etc/group r/etc/shadow r/etc/gshadow",
                "useradd -P $PWD/r -m -k /etc/skel a; usermod -P $PWD/r -c b a; userdel -P $PWD/r a"),
    "exiftool": ("printf 'P6 1 1 255 abc' >a.ppm", "exiftool -q -Comment=a a.ppm; exiftool -q -Comment=bb "
                                                   "-overwrite_original a.ppm"),
}

# Servers that send files to sockets only, and how often all of each file, where that is so.
SERVERS = {"nginx": 10, "nginx workers": 10, "nginx threads": 10, "nginx-like sendfile": None}

# What --cost records.
COSTS = {
    "git": (MANY, "git init -q .; git add src; git -c user.email=a@b -c user.name=a commit -qm a; git gc -q"),
    "tar": (MANY, "tar cf t.tar src; mkdir out; tar xf t.tar -C out"),
    "cp -a": (MANY, "cp -a src dst"),
    "sqlite": ("(echo 'create table t(a);'; seq 1000 | sed 's/.*/insert into t values(&);/') >c",
               "sqlite3 d.db <c"),
}

OLD = 1_700_000_000  # of the files from before

SENDFILE = """
import os, socket
served = os.open("served", os.O_RDONLY)
for i in range(50):
    a, b = socket.socketpair()
    os.sendfile(a.fileno(), served, 0, 9000)
    number = a.detach()
    os.close(number)
    assert os.open(f"o{i}", os.O_WRONLY | os.O_CREAT) == number
    os.write(number, b"x" * i)
    os.close(number)
    b.close()
"""


def missing_programs(script):
    """Those that a script starts and that are not installed."""
    unquoted = re.sub(r"'[^']*'|\"[^\"]*\"", "''", script)
    words = re.findall(r"(?:^|[;|(]|(?<!>)&|\b(?:do|until)\b)\s*([\w./-]+)(?![\w./=-])", unquoted)
    search = 'for p; do command -v "$p" >/dev/null || echo "$p"; done'
    return subprocess.run(["sh", "-c", search, "sh", *words], capture_output=True, text=True,
                          check=False).stdout.split()


def tree_of(folder):
    """By path: what must be equal."""
    found, names = {}, {}
    for parent, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(parent, name)
            info = os.lstat(path)
            relative = os.path.relpath(path, folder)
            kind = stat.S_IFMT(info.st_mode)
            if kind not in (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK):
                continue  # nodes are not made again
            names.setdefault(info.st_ino, []).append(relative)
            found[relative] = (kind, info.st_size if kind == stat.S_IFREG else 0,
                               0 if kind == stat.S_IFLNK else info.st_mode & 0o777,
                               os.readlink(path) if kind == stat.S_IFLNK else "")
    for same in names.values():
        for one in same:
            found[one] += (tuple(sorted(same)) if found[one][0] == stat.S_IFREG else (),)
    return found


@contextlib.contextmanager
def volume(kind, folder):
    image, point = folder / f"{kind}.img", folder / kind
    point.mkdir()
    with open(image, "wb") as file:
        file.truncate(3 << 30)
    force = "-f" if kind == "xfs" else "-F"
    subprocess.run([f"mkfs.{kind}", "-q", force, image], check=True)
    subprocess.run(["mount", "-o", "loop", image, point], check=True)
    try:
        yield point
    finally:
        subprocess.run(["umount", point], check=True)


def inodes_of(folder):
    return {os.lstat(os.path.join(parent, name)).st_ino
            for parent, _, files in os.walk(folder) for name in files}


def untouched(folder, inodes):
    """The files from before that are as old as they were made, under whatever name: moved with their
    folder."""
    found = set()
    for parent, folders, files in os.walk(folder, topdown=False):
        paths = [os.path.relpath(os.path.join(parent, name), folder) for name in folders + files]
        for path in paths[len(folders):]:
            info = os.lstat(os.path.join(folder, path))
            if info.st_mtime == OLD and info.st_ino in inodes:
                found.add(path)
        if paths and found.issuperset(paths):
            found.add(os.path.relpath(parent, folder))
    return found


def differences(before, real, made, alone):
    """What the program left alone may be missing from the replay. Hard links from before are several
    files in a trace, which says so."""
    found = [path for path in made if path not in real]
    for path, state in real.items():
        kept = -1 if path in before or path in alone else None
        if path not in made and (path in alone or before.get(path, ())[:kept] == state[:kept]):
            continue
        if made.get(path, ())[:kept] != state[:kept]:
            found.append(path)
    return sorted(found)


class Truth:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.sendfile = folder / "sendfile.py"
        self.sendfile.write_text(SENDFILE)
        self.work, self.reel, self.temporary = folder / "w", folder / "a.reel", folder / "tmp"
        self.temporary.mkdir()  # in /tmp, others make files
        self.before, self.inodes = {}, set()  # of the work folder
        self.recordings = self.bad = 0
        self.wrong = {}  # operations, by server

    def filereel(self, *words, cwd=None):
        return subprocess.run([self.arguments.filereel, *map(str, words)], cwd=cwd, text=True, check=False,
                              capture_output=True, errors="replace", stdin=subprocess.DEVNULL,
                              env={**os.environ, "TMPDIR": str(self.temporary)})

    def prepare(self, before):
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir()
        subprocess.run(["sh", "-c", before], cwd=self.work, check=True)
        for path, _, files in os.walk(self.work):
            for one in files:
                os.utime(os.path.join(path, one), (OLD, OLD), follow_symlinks=False)
        self.before, self.inodes = tree_of(self.work), inodes_of(self.work)

    def record(self, script, *options):
        """The run of the recorder, and its seconds."""
        begin = time.perf_counter()
        done = self.filereel("record", "--backend", self.arguments.backend, *options, "-o", self.reel, "--",
                             "sh", "-c", script.replace("SENDFILE", str(self.sendfile)), cwd=self.work)
        return done, time.perf_counter() - begin

    def replay(self, point):
        target = point / "t"
        target.mkdir()
        done = self.filereel("replay", self.reel, target, "--runs", "1", "--verify", "tree")
        found = differences(self.before, tree_of(self.work), tree_of(f"{target}{self.work}"),
                            untouched(self.work, self.inodes))
        shutil.rmtree(target)
        if done.returncode != 0:
            found.append(done.stderr.rpartition("filereel: ")[2].strip())
        return found

    def wrong_operations(self, times):
        """Copies between files, changes of served files, and files that were not read as often as served."""
        paths, wrong, read = {}, 0, {}
        for line in self.filereel("export", self.reel, "--format", "jsonl").stdout.splitlines()[1:]:
            one = json.loads(line)
            kind, file = one["operation"], one.get("file")
            if kind == "open":
                paths[file] = "/" + one["path"]
            served = re.search("/html/f|/served$", paths.get(file, ""))
            changes = kind in ("write", "truncate", "allocate")
            wrong += kind == "copy_range" or (changes and served is not None)
            if served and kind == "read":
                read[paths[file]] = read.get(paths[file], 0) + one["result"]
        if times:
            wrong += sum(read.get(str(path), 0) != times * path.stat().st_size
                         for path in (self.work / "html").iterdir())
        return wrong

    def try_program(self, name, points):
        before, script = PROGRAMS[name]
        self.prepare(before)
        done, _ = self.record(script, "--strict", "--check", self.arguments.check)
        self.recordings += 1
        line = name
        if re.search("differs from reality|exited with", done.stderr) or done.returncode != 0:
            self.bad += 1
            line += f": exit {done.returncode}: {done.stderr}"
        if name in SERVERS:
            wrong = self.wrong_operations(SERVERS[name])
            self.bad += wrong > 0
            self.wrong[name] = self.wrong.get(name, 0) + wrong
            line += f": {wrong} wrong operations"
        if points:
            shown = json.loads(self.filereel("show", self.reel, "--json").stdout)
            found = {point.name: self.replay(point) for point in points}
            self.bad += any(found.values())
            line += f": {shown['operations']} operations, {shown['check']['names']} names compared, " \
                f"{shown['check']['differing']} differ; replays: " \
                + "; ".join(f"{kind} {'equal' if not rest else rest[:5]}" for kind, rest in found.items())
            if shown.get("lost"):
                line += "; not in the trace: " + ", ".join(shown["lost"])
        if line != name:
            print(line, flush=True)


def print_cost(truth, pairs):
    for name, (before, script) in COSTS.items():
        truth.prepare(before)
        kept = set(os.listdir(truth.work))
        checked, unchecked = [], []
        for turn in range(pairs):
            turns = [(checked, ()), (unchecked, ("--no-check",))]
            for seconds, options in turns if turn % 2 == 0 else reversed(turns):
                seconds.append(truth.record(script, *options)[1])
                subprocess.run(["rm", "-rf", *set(os.listdir(truth.work)) - kept], cwd=truth.work, check=True)
        ratio = statistics.median(one / other for one, other in zip(checked, unchecked))
        print(f"{name}: {pairs} pairs, median ratio {ratio:.3f}, {statistics.median(checked):.3f} s, "
              f"{statistics.median(unchecked):.3f} s without the comparison", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("filereel", type=os.path.abspath)
    parser.add_argument("--backend", default="bpf")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--check", choices=("tree", "content"), default="tree")
    parser.add_argument("--cost", action="store_true")
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("programs", nargs="*", default=list(PROGRAMS))
    arguments = parser.parse_intermixed_args()
    place = "/dev/shm" if arguments.cost else "/var/tmp"
    with tempfile.TemporaryDirectory(prefix="filereel-truth-", dir=place) as scratch:
        folder = pathlib.Path(scratch)
        truth = Truth(arguments, folder)
        if arguments.cost:
            print_cost(truth, arguments.pairs)
            return
        absent = {name: missing_programs(PROGRAMS[name][1]) for name in arguments.programs}
        for name, programs in absent.items():
            if programs:
                print(f"{name}: not installed: {' '.join(programs)}")
        with volume("ext4", folder) as ext4, volume("xfs", folder) as xfs:
            for turn in range(arguments.rounds):
                for name in arguments.programs:
                    if not absent[name]:
                        truth.try_program(name, (ext4, xfs) if turn == 0 else ())
    for name, wrong in truth.wrong.items():
        print(f"{name}: {wrong} wrong operations in {arguments.rounds} recordings")
    print(f"{truth.recordings} recordings of {sum(not one for one in absent.values())} programs, "
          f"{truth.bad} differences")
    sys.exit(truth.bad > 0)


if __name__ == "__main__":
    main()
