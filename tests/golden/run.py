#!/usr/bin/env python3
"""Golden tests of the command line.

  run.py FILEREEL [NAME...]            compares what filereel does with cases/NAME.txt
  run.py FILEREEL --update [NAME...]   writes what it does now into the cases, to be read in the diff

A case is a text file of sections. What stands before the first one says what the case shows.

  --- setup          lines of shell, run in an empty directory; optional
  --- command        the words of one command line, which runs in that directory
  --- exit           its exit code
  --- stdout         what it prints
  --- stderr         the same
  --- left behind    new files and directories, a line each

Beyond the files: no line for people is wider than 80 columns unless it is a single long word, such as a
path; an error is exactly one line on standard error that begins with "filereel: ", with
nothing on standard output, and the help of every command has an example. That something is slower
(exit code 4) is no error. A comparison shows its table even if a side has failed calls.
In a setup $FILEREEL is the program and $TESTS the folder tests/; {dir} stands for the directory.
"""

import argparse
import concurrent.futures
import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
EXPECTED = ["exit", "stdout", "stderr", "left behind"]
ORDER = ["setup", "command"] + EXPECTED
SECONDS = 60
WIDTH = 80
# Three cells or more with blanks between them. A cell alone may be a long name of the user's.
# What is wrapped, of more than a long word.
PROSE = re.compile(r"(warning|note|label|cannot tell|also changed|base|threshold|scale .*caches).* ")
SHOWS_THE_REST = re.compile(r"filereel (compare|history \S+ compare) ")
TABLE_LINE = re.compile(r"\S {2,}\S.* {2,}\S")


class Case:
    def __init__(self, path):
        self.path = path
        self.name = path.stem
        parts = re.split(r"^--- (.+)\n", path.read_text(), flags=re.MULTILINE)
        self.comment = parts[0]
        self.sections = dict(zip(parts[1::2], parts[2::2]))
        unknown = set(self.sections) - set(ORDER)
        if unknown or "command" not in self.sections:
            sys.exit(f"{path}: unknown sections {sorted(unknown)}, or no command")

    def expected(self, section):
        return self.sections.get(section, "")

    def run(self, program):
        """Returns what happened, by section."""
        with (tempfile.TemporaryDirectory(prefix="filereel-golden-") as folder,
              tempfile.TemporaryDirectory(prefix="filereel-golden-state-") as state):
            environment = {
                "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
                "LC_ALL": "C.UTF-8",
                "FILEREEL": str(program),
                "TESTS": str(HERE.parent),
                "FILEREEL_STATE_DIR": state,
            }
            if "setup" in self.sections:
                subprocess.run(["sh", "-euc", self.sections["setup"]], cwd=folder,
                               env=environment, check=True, stdout=subprocess.DEVNULL,
                               timeout=SECONDS)
            before = tree(folder)
            words = shlex.split(self.sections["command"])
            if words[0] != "filereel":
                sys.exit(f"{self.path}: the command must begin with filereel")
            done = subprocess.run([str(program)] + words[1:], cwd=folder, env=environment,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS)

            def text(data):
                return data.decode("utf-8", "backslashreplace").replace(folder, "{dir}")

            return {
                "exit": f"{done.returncode}\n",
                "stdout": text(done.stdout),
                "stderr": text(done.stderr),
                "left behind": "".join(f"{path}\n" for path in tree(folder) if path not in before),
            }

    def complaints(self, got):
        """What is wrong whatever the case expects."""
        code = int(got["exit"])
        if code not in (0, 4, 130):
            lines = got["stderr"].split("\n")
            if len(lines) != 2 or lines[1] or not lines[0].startswith("filereel: "):
                yield 'an error is exactly one line that begins with "filereel: "'
            if got["stdout"] and not SHOWS_THE_REST.match(self.sections["command"]):
                yield "an error prints nothing on standard output"
        for line in got["stdout"].split("\n"):
            if len(line) > WIDTH and (TABLE_LINE.search(line) or PROSE.match(line)):
                yield f"a line has {len(line)} columns: {line}"
        if code < 0:
            yield f"killed by signal {-code}"
        words = shlex.split(self.sections["command"])
        if "--help" in words and len(words) > 2 and "Example" not in got["stdout"]:
            yield "the help of a command has an example"

    def update(self, got):
        sections = self.sections | got
        text = self.comment
        for name in ORDER:
            body = sections.get(name, "")
            if not body and name != "exit":
                continue
            if not body.endswith("\n"):
                sys.exit(f"{self.path}: {name} does not end with a newline, which cannot be kept")
            text += f"--- {name}\n{body}"
        self.path.write_text(text)


def tree(folder):
    root = pathlib.Path(folder)
    return sorted(str(path.relative_to(root)) for path in root.rglob("*"))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("names", nargs="*", help="cases; all of them if none is named")
    parser.add_argument("--update", action="store_true", help="rewrite the expectations")
    arguments = parser.parse_intermixed_args()
    program = arguments.program.resolve()
    paths = [HERE / "cases" / f"{name}.txt" for name in arguments.names]
    paths = paths or sorted((HERE / "cases").glob("*.txt"))
    if not paths:
        sys.exit("there are no cases")
    failed = 0
    cases = [Case(path) for path in paths]
    # Two at a time: most of a case is waiting for programs to start.
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda case: case.run(program), cases))
    for case, got in zip(cases, results):
        problems = list(case.complaints(got))
        if arguments.update:
            case.update(got)
        else:
            for section in EXPECTED:
                if case.expected(section) != got[section]:
                    problems.append("\n".join(difflib.unified_diff(
                        case.expected(section).splitlines(), got[section].splitlines(),
                        f"{section} expected", f"{section} got", lineterm="")))
        if problems:
            failed += 1
            print(f"FAILED {case.name}: {case.sections['command'].strip()}")
            for problem in problems:
                print("  " + problem.replace("\n", "\n  "))
    print(f"{len(paths)} cases, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
