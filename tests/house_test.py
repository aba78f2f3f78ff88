"""Checks the house:

- which folder may include which, by the list in docs/architecture.md
- whether the files that CONTRIBUTING.md names for contributors exist
- whether flags of a trace are independent of the processor
- whether comments and documents name what exists (house_names.py)
- whether texts with numbers are right for 1 (house_counts.py)
- whether a function is used that shows texts of libraries
- whether links of documents lead to documents that are installed (document_links.py)

house_test.py DIR prints a line for each fault in the tree at DIR, and exits with 1 if there is any.
"""

import graphlib
import pathlib
import re
import sys

import house_counts
import house_names
from document_links import faults_of_links

LAYERS = ["filesets", "traces", "replay", "tools"]  # each may include those before it
SOURCES = {".h", ".cc", ".c"}
INCLUDE = re.compile(r'^\s*#\s*include "([^"]*)/[^"/]*"', re.MULTILINE)
LIST = re.compile(r"^## Folders$.*?^```\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RECIPES = re.compile(r"^## How to add something$(.*?)^## ", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| `([^`]*)` \| `([^`]*)` \|", re.MULTILINE)  # a file, and what stands in it
JSON = re.compile(r"^\s*#\s*include <nlohmann/", re.MULTILINE)
JSON_HEADERS = {"replay/json.h", "replay/json_fwd.h"}  # the library's takes seconds to compile

# What puts a library's text into a message, or lets it throw one.
LIBRARY_TEXT = re.compile(r"\b(?:ZSTD_getErrorName|MPI_Error_string|gai_strerror)\b|\{[^}\n]*\}[^;\n]*dlerror\(\)")
# Boost's functions need the working directory, also for absolute paths, and statx; a loop over a
# directory throws if an entry goes away.
BOOST_PATHS = re.compile(r"\b(?:fs|filesystem)::(?:absolute|canonical|weakly_canonical|current_path|"
                         r"relative|proximate|exists|is_[a-z_]+|status|equivalent|create_director[a-z]+|"
                         r"temp_directory_path)\(|\bsymlink_status\(|for \([^;\n]*: [^;\n]*directory_iterator")
PATHS = "filesets/system/paths.cc"

# Flags of opens that differ by processor, in code that works on those of a trace.
HOST_FLAG = re.compile(r"^[^\"/\n]*\bO_(?:DIRECT|DIRECTORY|NOFOLLOW|LARGEFILE|TMPFILE)\b",
                       re.MULTILINE)
TRACE_FLAGS = "traces/open_flags.h"

# Includes against the list, which are to go: file and folder.
EXCEPTIONS = set()


def layer_of(folder):
    return folder.split("/")[0]


def folder_of(file):
    return file.rpartition("/")[0]


def read_list(document):
    """Folder: the folders that it may include, of those in its layer."""
    allowed = {}
    for line in LIST.search(document)[1].splitlines():
        folder, _, others = line.partition(":")
        layer = layer_of(folder)
        if folder:
            allowed[folder] = {one if one == layer else f"{layer}/{one}" for one in others.split()}
    return allowed


def faults_of_list(allowed, folders):
    for folder in sorted(folders - set(allowed)):
        yield f"{folder} has no line in the list"
    for folder in sorted(set(allowed) - folders):
        yield f"{folder} has a line in the list, but no sources"
    for folder, others in allowed.items():
        for other in sorted(others - set(allowed)):
            yield f"the line of {folder} names {other}, which has no line"
    try:
        graphlib.TopologicalSorter(allowed).prepare()
    except graphlib.CycleError as error:
        yield "the list has a cycle: " + " -> ".join(reversed(error.args[1]))


def may_include(folder, other, allowed):
    if layer_of(folder) != layer_of(other):
        return LAYERS.index(layer_of(other)) < LAYERS.index(layer_of(folder))
    return other == folder or other in allowed.get(folder, set())


def faults_of_includes(sources, allowed, exceptions):
    refused = {(file, other) for file, text in sources.items() for other in INCLUDE.findall(text)
               if layer_of(other) in LAYERS and not may_include(folder_of(file), other, allowed)}
    for file, other in sorted(refused - exceptions):
        yield f"{file} may not include {other}"
    for file, other in sorted(exceptions - refused):
        yield f"{file} does not include {other}: remove it from the exceptions"


def faults_of(sources, document, exceptions=frozenset()):
    """`sources`: text by file name."""
    allowed = read_list(document)
    yield from faults_of_list(allowed, {folder_of(file) for file in sources})
    yield from faults_of_includes(sources, allowed, exceptions)
    for file, text in sources.items():
        if JSON.search(text) and file not in JSON_HEADERS:
            yield f"{file} includes the JSON library: include replay/json.h"
        if LIBRARY_TEXT.search(text):
            yield f"{file} shows the text of a library: translate it (filesets/system/failure_text.h)"
        if file != PATHS and BOOST_PATHS.search(text):
            yield f"{file} uses a function of Boost that fails where ours do not: use those of " \
                  "paths.h"
        if (layer_of(file) == "traces" or folder_of(file) == "replay/schedule") \
                and file != TRACE_FLAGS and HOST_FLAG.search(text):
            yield f"{file} uses a flag that differs by processor: use {TRACE_FLAGS}"


def faults_of_recipes(document, texts_of):
    """`texts_of`: the texts of the files that a pattern matches."""
    rows = ROW.findall(RECIPES.search(document)[1])
    if not rows:
        yield "CONTRIBUTING.md names no files for contributors"
    for name, word in rows:
        texts = texts_of(name.replace("NAME", "*"))
        if not texts:
            yield f"CONTRIBUTING.md names {name}, which is not there"
        elif not any(word in text for text in texts):
            yield f"CONTRIBUTING.md says that {name} holds '{word}'"


def main(root):
    root = root.resolve()
    sources = {path.relative_to(root).as_posix(): path.read_text() for layer in LAYERS
               for path in sorted((root / layer).rglob("*")) if path.suffix in SOURCES}
    document = (root / "docs/architecture.md").read_text()
    faults = list(faults_of(sources, document, EXCEPTIONS))
    faults += faults_of_recipes((root / "CONTRIBUTING.md").read_text(), lambda pattern: [
        path.read_text() for path in root.glob(pattern) if path.is_file()])
    # The changelog tells of what was there.
    files = {file: text for file, text in house_names.tree(root).items() if file != "CHANGELOG.md"}
    faults += house_names.faults_of_names(files)
    documents = [root / "README.md", root / "CHANGELOG.md", *sorted((root / "docs").glob("*.md"))]
    faults += faults_of_links(documents, lambda path: path in documents or path.exists() and (
        path.is_relative_to(root / "docs") and not path.is_relative_to(root / "docs/man")))
    for file, text in sources.items():
        faults += house_counts.faults_of_counts(file, text)
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
