#!/usr/bin/env python3
"""One line per file below a folder: path, type, permissions, size of a file, target of a link; with
--content also a hash of each file's bytes.

    outline.py [--content] FOLDER
"""
import hashlib
import os
import stat
import sys

TYPES = {stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFLNK: "link"}


def entries(folder):
    for here, folders, files in os.walk(os.fsencode(folder)):
        yield from (os.path.join(here, name) for name in folders + files)


def line_of(path, folder, content):
    status = os.lstat(path)
    kind = TYPES.get(stat.S_IFMT(status.st_mode), "other")
    words = [os.fsdecode(os.path.relpath(path, os.fsencode(folder))), kind]
    if kind == "link":
        return " ".join([*words, os.fsdecode(os.readlink(path))])
    words.append(format(stat.S_IMODE(status.st_mode), "04o"))
    if kind == "file":
        words.append(str(status.st_size))
        if content:
            with open(path, "rb") as file:
                words.append(hashlib.sha256(file.read()).hexdigest())
    return " ".join(words)


def outline(folder, content=False):
    return sorted(line_of(path, folder, content) for path in entries(folder))


if __name__ == "__main__":
    print("\n".join(outline(sys.argv[-1], "--content" in sys.argv)))
