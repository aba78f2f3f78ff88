"""Which entries of a tree are the user's and which are filereel's, from looks at the tree before and
after each step of either (ownership_machine_test.py).

What appears in a step of filereel's is filereel's, until a step of the user's changes it, and all else
is the user's for ever. filereel may change or remove only what is its own and is in the step's way: a
directory or image that the command names and that an earlier one left, and what a killed one left."""

import collections
import ctypes
import hashlib
import os
import re
import stat
import struct

from support import mounted_below

# Working directories and files of filereel's, and what it has moved aside to remove it. What the user puts
# into them goes with them.
WORK = re.compile(r"\.filereel-([0-9a-f]{32}(\.part)?|aside-[0-9a-f]+-[0-9a-f]+)")

AT_FDCWD, AT_SYMLINK_NOFOLLOW, STATX_ALL = -100, 0x100, 0xfff
STATX = struct.Struct("<IIQIIIHHQQQQ" + "qIi" * 4 + "IIIIQ")  # statx(2), as far as it is used
LIBC = ctypes.CDLL(None, use_errno=True)

# `identity` and `parent`: device, inode number and time of birth, of it and of its directory. Times in
# ns. `content`: a digest, or what a symbolic link holds.
Entry = collections.namedtuple("Entry", "identity parent name mode size modified changed links content")


class Harm(Exception):
    """filereel did what it promises not to do."""


class Targets:
    """What a command may work on, by paths below the tree's root."""

    def __init__(self, folders=(), images=(), outputs=()):
        self.folders, self.images, self.outputs = set(folders), set(images), set(outputs)
        self.identities = set()  # of the folders, also of those that were moved while it ran


def statx(path, buffer=ctypes.create_string_buffer(256)):
    if LIBC.statx(AT_FDCWD, os.fsencode(path), AT_SYMLINK_NOFOLLOW, STATX_ALL, buffer) != 0:
        raise OSError(ctypes.get_errno(), path)
    (_, _, _, links, _, _, mode, _, inode, size, _, _, _, _, _, born, born_ns, _, changed, changed_ns, _,
     modified, modified_ns, _, _, _, major, minor, _) = STATX.unpack_from(buffer)
    identity = (major << 32 | minor, inode, born * 10 ** 9 + born_ns)
    return identity, mode, size, modified * 10 ** 9 + modified_ns, changed * 10 ** 9 + changed_ns, links


def top_of(path):
    return path.partition("/")[0]


def and_above(path):
    """The path and those of the directories that it lies in."""
    while path:
        yield path
        path = path.rpartition("/")[0]


class Model:

    def __init__(self, root):
        self.root = str(root)
        self.digests = {}    # of files, by all that would change with their content
        self.attached = {}   # images that the user has mounted: identity -> path of the mount
        self.hidden = {}     # by mounts of the user's: path of the mount -> (entries, made, work)
        self.made = {}       # filereel's: identity -> Entry as it left it
        self.kept = set()    # identities of directories that filereel may clear again
        self.settled = set()  # and of those that it made and that stay
        self.work = {}       # path of what it works in -> its identity
        self.live = set()    # identities of those of the filereel that runs
        self.touched = set()  # paths of those that the user moved once or put something into
        self.now = self.look()

    # Looking

    def look(self):
        found = {}
        self.read_folder("", statx(self.root)[0], found)
        return found

    def read_folder(self, relative, parent, found):
        for name in os.listdir(f"{self.root}/{relative}"):
            path = f"{relative}/{name}" if relative else name
            identity, mode, size, modified, changed, links = statx(f"{self.root}/{path}")
            if stat.S_ISDIR(mode):
                size = modified = links = 0  # these change with what is put into it
            if identity in self.attached:
                modified = changed = 0  # the kernel writes to it when it likes
            content = self.content_of(path, mode, (identity, size, modified, changed))
            found[path] = Entry(identity, parent, name, mode, size, modified, changed, links, content)
            if stat.S_ISDIR(mode):
                self.read_folder(path, identity, found)

    def content_of(self, path, mode, facts):
        if stat.S_ISLNK(mode):
            return os.readlink(f"{self.root}/{path}")
        if not stat.S_ISREG(mode) or facts[0] in self.attached:
            return None
        if facts not in self.digests:
            with open(f"{self.root}/{path}", "rb") as file:
                self.digests[facts] = hashlib.file_digest(file, "sha256").hexdigest()
        return self.digests[facts]

    def forget_digests(self):
        """The next look reads all files."""
        self.digests = {}

    def is_work(self, path, entries=None):
        """Whether filereel works in it, or in what it lies in."""
        entries = entries or self.now
        return any(above in entries and (self.work.get(above) == entries[above].identity or
                                         entries[above].identity in self.live)
                   for above in and_above(path))

    def is_made(self, path):
        return self.now[path].identity in self.made

    # The user's steps

    def user_did(self):
        """All that differs from the last look is the user's."""
        new = self.look()
        work = {path for path in new if self.is_work(path, new)}
        unchanged = {entry.identity for path, entry in new.items() if self.as_made(entry)}
        for identity in self.made.keys() - unchanged:
            del self.made[identity]
        for path, identity in self.work.items():
            below = [one for one in work if f"{one}/".startswith(f"{path}/")]
            if path not in new or new[path].identity != identity or \
                    any(new[one].identity not in unchanged for one in below):
                self.touched.add(path)
        # What is in there goes with it, but not where something of the user's is mounted in it.
        elsewhere = {entry.identity for path, entry in new.items() if path not in work}
        self.made.update({new[path].identity: new[path] for path in work
                          if new[path].identity not in elsewhere})
        self.now = new

    def as_made(self, entry):
        made = self.made.get(entry.identity)
        if made is None:
            return False
        if stat.S_ISDIR(entry.mode):
            return (made.parent, made.name) == (entry.parent, entry.name)
        return made == entry

    def attach(self, image, point):
        """The user mounts an image: it is theirs."""
        identity = self.now[image].identity
        self.made.pop(identity, None)
        self.attached[identity] = point

    def mounting(self, point):
        """The user mounts something there; to be called before."""
        self.user_did()
        places = collections.Counter(entry.identity for entry in self.now.values())
        covered = {path: entry for path, entry in self.now.items()
                   if f"{path}/".startswith(f"{point}/") and places[entry.identity] == 1
                   and entry.links < 2 and entry.identity not in self.attached}
        made = {entry.identity: self.made[entry.identity] for entry in covered.values()
                if entry.identity in self.made}
        work = {path: identity for path, identity in self.work.items() if path in covered}
        self.hidden[point] = covered, made, work  # without what can be changed elsewhere

    def unmounted(self, point):
        """The user has unmounted it. What it hid must be there still."""
        self.attached = {identity: where for identity, where in self.attached.items()
                         if where != point}
        covered, made, work = self.hidden.pop(point)
        new = self.look()
        for path, entry in covered.items():
            if entry.identity not in made and not self.is_work(path, covered):
                self.check_same(path, entry, new.get(path))
        self.made.update(made)
        self.work.update(work)  # the leases of which were not struck off meanwhile
        for path, entry in new.items():  # nobody but a filereel that had opened it could get there
            if path.startswith(point + "/") and path not in covered:
                self.note_made(path, entry)
        self.user_did()

    # filereel's steps

    def filereel_did(self, targets):
        """Throws Harm if it did what it may not."""
        old, new = self.now, self.look()
        paths, identities = self.free(old, targets)
        for path, entry in old.items():
            if path in paths or entry.identity in identities:
                continue
            if path in targets.outputs and self.replaced(path, old, new):
                continue
            self.check_same(path, entry, new.get(path))
        before = {entry.identity for entry in old.values()}
        for path, entry in new.items():
            if entry.identity not in before:
                self.note_made(path, entry)
            elif entry.identity in self.made:
                self.made[entry.identity] = entry
        self.now = new

    def note_made(self, path, entry):
        self.made[entry.identity] = entry
        if WORK.fullmatch(entry.name):
            self.work[path] = entry.identity

    def free(self, old, targets):
        """The paths, and the identities of what filereel made, that it may change or remove."""
        foreign = {top_of(path) for path, entry in old.items()
                   if "/" in path and path.split("/")[1] != "lost+found"
                   and entry.identity not in self.made and not self.is_work(path, old)}
        paths, identities = set(), set()
        for path, entry in old.items():
            made = entry.identity in self.made
            if self.is_work(path, old):
                paths.add(path)
            elif not made:
                continue
            elif "/" in path:
                top = old[top_of(path)]
                named = top.name in targets.folders or top.identity in targets.identities
                if not named or top.name in foreign or top.identity not in self.kept:
                    continue
            elif stat.S_ISDIR(entry.mode):
                if entry.identity in self.settled:
                    continue
            elif path not in targets.images:
                continue
            if made:
                identities.add(entry.identity)
        return paths, identities

    def replaced(self, path, old, new):
        """Whether an output file was written there, as a whole."""
        now = new.get(path)
        if now is None or now.identity == old[path].identity:
            return False
        return now.identity in self.made or now.identity in self.live or \
            now.identity not in {entry.identity for entry in old.values()}

    def check_same(self, path, entry, now):
        whose = "filereel's own" if entry.identity in self.made else "the user's"
        if now is None:
            raise Harm(f"{whose} {path} is gone: {entry}")
        # Other names of the file may come and go.
        if entry._replace(changed=0, links=0) != now._replace(changed=0, links=0):
            raise Harm(f"{whose} {path} was changed: {entry} -> {now}")

    def finished(self, targets, succeeded):
        """A command is over that may clear later what it left in its folders."""
        roots = self.roots(targets)
        self.kept |= roots
        if succeeded:
            self.settled |= roots

    def given(self, targets, succeeded, before):
        """A command is over that has made what is in its folders for the user."""
        roots = self.roots(targets)
        if succeeded:
            self.settled |= roots
        known = {entry.identity for entry in before.values()}
        for path, entry in self.now.items():
            if "/" in path and self.now[top_of(path)].identity in roots and \
                    entry.identity not in known and not self.is_work(path):
                self.made.pop(entry.identity, None)

    def roots(self, targets):
        return {entry.identity for path, entry in self.now.items()
                if "/" not in path and path in targets.folders} | targets.identities

    def disown(self, path):
        """What filereel said that it leaves to the user."""
        self.work.pop(path, None)
        for below, entry in self.now.items():
            if below == path or below.startswith(path + "/"):
                self.made.pop(entry.identity, None)

    def forget_work(self):
        """A command has looked at all leases: it has struck off those of what was not there."""
        for path, identity in list(self.work.items()):
            parent = path.rpartition("/")[0]
            there = self.now.get(path)
            if (parent in self.now or not parent) and (there is None or there.identity != identity):
                del self.work[path]

    def left_work(self):
        """What of it the next command removes: what the user has not touched nor mounted anything in."""
        mounts = [os.path.relpath(point, self.root) for point in mounted_below(self.root)]
        return [path for path, identity in self.work.items()
                if path in self.now and self.now[path].identity == identity
                and path not in self.touched
                and not any(f"{mount}/".startswith(f"{path}/") for mount in mounts)]
