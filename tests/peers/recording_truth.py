#!/usr/bin/env python3
"""Records real programs, replays them on ext4 and xfs, and compares each tree with the real one.

  recording_truth.py FILEREEL [--backend bpf|strace] [--rounds N] [PROGRAM...]

Each program runs in a folder of its own. The recorder compares the recording with the real tree
(`record --strict`); this script compares the trees of the replays with the real one by itself: kinds, sizes,
permissions, links and hard links. Programs that are not installed are skipped. Needs root. With --rounds, the
recordings are made several times, and only the first ones are replayed.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile

TREE = "mkdir -p src/a src/b/c; for i in 1 2 3 4 5 6 7 8 9; do seq $((i*200)) >src/a/$i.txt; " \
    "seq $((i*50)) >src/b/c/$i.c; done; ln -s ../a/1.txt src/b/link; ln src/a/2.txt src/b/hard; "
SPARSE = "truncate -s 64M big; dd if=/dev/urandom of=big bs=8k count=2 seek=1000 conv=notrunc status=none; "

# By name: what is made before the recording, and the recorded script.
PROGRAMS = {
    "cp -a": (TREE, "cp -a src dst"),
    "cp sparse": (SPARSE, "cp big copy"),
    "rsync": (TREE, "rsync -a src/ dst"),
    "rsync sparse": (SPARSE, "rsync -S big copy"),
    "tar": (TREE, "tar cf t.tar src; mkdir out; tar xf t.tar -C out"),
    "tar sparse": (SPARSE, "tar -Scf t.tar big; mkdir out; tar -xf t.tar -C out"),
    "qemu-img": (SPARSE, "qemu-img convert -O qcow2 big big.qcow2; qemu-img convert -O raw big.qcow2 back"),
    "gzip": (TREE, "gzip -r src; gunzip -r src"),
    "bzip2": (TREE, "bzip2 src/a/*.txt"),
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


def untouched(folder):
    """The files that are as old as they were made, under whatever name: moved with their folder."""
    found = set()
    for parent, folders, files in os.walk(folder, topdown=False):
        paths = [os.path.relpath(os.path.join(parent, name), folder) for name in folders + files]
        found |= {path for path in paths[len(folders):]
                  if os.lstat(os.path.join(folder, path)).st_mtime == OLD}
        if paths and found.issuperset(paths):
            found.add(os.path.relpath(parent, folder))
    return found


def differences(before, real, made, alone):
    """What the program left alone may be missing from the replay. Hard links from before are several
    files in a trace, which says so."""
    found = [path for path in made if path not in real]
    for path, state in real.items():
        kept = -1 if path in before else None
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
        self.reel = folder / "a.reel"

    def filereel(self, *words, cwd=None):
        return subprocess.run([self.arguments.filereel, *map(str, words)], cwd=cwd, text=True,
                              capture_output=True, errors="replace", check=False)

    def record(self, name):
        """The folder in which the program ran, its tree before, and the run of the recorder."""
        before, script = PROGRAMS[name]
        work = self.folder / "w"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        subprocess.run(["sh", "-c", before], cwd=work, check=True)
        for path, _, files in os.walk(work):
            for one in files:
                os.utime(os.path.join(path, one), (OLD, OLD), follow_symlinks=False)
        found = tree_of(work)
        done = self.filereel("record", "--backend", self.arguments.backend, "--strict", "-o", self.reel,
                             "--", "sh", "-c", script.replace("SENDFILE", str(self.sendfile)), cwd=work)
        return work, found, done

    def replay(self, work, before, point):
        target = point / "t"
        target.mkdir()
        done = self.filereel("replay", self.reel, target, "--runs", "1", "--verify", "tree")
        found = differences(before, tree_of(work), tree_of(f"{target}{work}"),
                            untouched(work))
        shutil.rmtree(target)
        if done.returncode != 0:
            found.append(f"exit {done.returncode}: {(done.stderr + done.stdout)[-300:]}")
        return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("filereel", type=os.path.abspath)
    parser.add_argument("--backend", default="bpf")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("programs", nargs="*", default=list(PROGRAMS))
    arguments = parser.parse_args()
    bad = recordings = 0
    with tempfile.TemporaryDirectory(prefix="filereel-truth-", dir="/var/tmp") as scratch:
        folder = pathlib.Path(scratch)
        with volume("ext4", folder) as ext4, volume("xfs", folder) as xfs:
            truth = Truth(arguments, folder)
            for turn in range(arguments.rounds):
                for name in arguments.programs:
                    if not shutil.which(PROGRAMS[name][1].split()[0]):
                        print(f"{name}: not installed")
                        continue
                    work, before, done = truth.record(name)
                    recordings += 1
                    said = done.stderr
                    if "differs from reality" in said or done.returncode != 0:
                        bad += 1
                        print(f"{name}: exit {done.returncode}: {said}")
                    if turn > 0:
                        continue
                    check = json.loads(truth.filereel("show", truth.reel, "--json").stdout)
                    found = {point.name: truth.replay(work, before, point) for point in (ext4, xfs)}
                    bad += any(found.values())
                    print(f"{name}: {check['operations']} operations, {check['check']['names']} names "
                          f"compared, {check['check']['differing']} differ; replays: "
                          + "; ".join(f"{kind} {'equal' if not rest else rest[:5]}"
                                      for kind, rest in found.items()), flush=True)
    print(f"{recordings} recordings, {bad} with differences")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
