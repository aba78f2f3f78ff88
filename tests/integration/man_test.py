"""Man pages and the help say the same of commands and options, and are pages that man reads."""

import pathlib
import re
import subprocess
import unittest

from support import FILEREEL, find, import_formats, main

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = {path.stem: path for path in (ROOT / "docs/man").glob("*.1")}
SHELLS = "completion"  # is not in the help: packages call it


def help_of(*command):
    done = subprocess.run([FILEREEL, *command, "--help"], capture_output=True, text=True,
                          check=True, timeout=60)
    return done.stdout


def section(text, heading):
    """The lines of a section of the help that begin an entry."""
    lines = text.partition(f"\n{heading}:\n")[2].split("\n\n")[0].split("\n")
    return [line[2:] for line in lines if re.match(r"  \S", line)]


def names_in(line):
    """The options of an entry: -o and --output of "-o,--output FILE"."""
    return {re.sub(r"\{.*\}", "", name) for name in line.split()[0].split(",")}


def groups_of(*command):
    """The options by the heading they stand below."""
    text = help_of(*command)
    groups = {}
    for heading in re.findall(r"^(\S.*):$", text, re.MULTILINE):
        entries = [line for line in section(text, heading) if line.startswith("-")]
        if entries:
            groups[heading] = set().union(*map(names_in, entries))
    return groups


def commands_of(*command):
    return [line.split()[0] for line in section(help_of(*command), "Subcommands")]


def options_of(*command):
    """All options, of the commands below too."""
    found = set().union(*groups_of(*command).values())
    for below in commands_of(*command):
        if command:
            found |= options_of(*command, below)
    return found


def plain(text):
    return re.sub(r"\\f[BIRP]", "", text).replace("\\-", "-").replace("\\&", "")


def documented(page, within=".*"):
    """The options whose description the page has: those behind .TP, in parts with such a heading."""
    lines, heading = [], ""
    for line in plain(PAGES[page].read_text()).splitlines():
        heading = line[4:] if line.startswith((".SH ", ".SS ")) else heading
        if re.fullmatch(within, heading):
            lines.append(line)
    tags = [lines[i + 1] for i, line in enumerate(lines) if line == ".TP"]
    found = set()
    for tag in tags:
        if tag.startswith("-"):
            found |= set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", tag))
    return found


class Pages(unittest.TestCase):

    common = {"-q", "--quiet", "--no-color"}

    def test_each_command_has_a_page_and_each_page_a_command(self):
        commands = {f"filereel-{name}" for name in commands_of()}
        self.assertGreater(len(commands), 10)
        self.assertEqual(commands | {"filereel"}, set(PAGES))

    def test_each_option_of_the_help_stands_in_the_page_and_the_other_way_round(self):
        for name in commands_of():
            with self.subTest(name):
                self.assertEqual(documented(f"filereel-{name}"), options_of(name) | self.common)
        self.assertEqual(documented("filereel"), options_of())

    def test_pages_have_the_groups_of_the_help(self):
        grouped = {name: groups for name in commands_of() if len(groups := groups_of(name)) > 1}
        self.assertEqual(set(grouped), {"run", "replay", "predict", "record", "compare"})
        for name, groups in grouped.items():
            self.assertEqual(groups.pop("Options"), {"-h", "--help"}, name)
            for heading, options in groups.items():
                with self.subTest(name, group=heading):
                    self.assertEqual(documented(f"filereel-{name}", re.escape(heading)), options)

    def test_the_main_page_names_every_command(self):
        text = plain(PAGES["filereel"].read_text())
        for name in commands_of() + [SHELLS]:
            self.assertRegex(text, rf"\b{name}\b")

    def test_the_formats_of_traces_are_in_the_page_and_in_the_document(self):
        page, document = PAGES["filereel-import"].read_text(), (ROOT / "docs/import.md").read_text()
        for name in import_formats():
            self.assertIn(f" {name} ", re.sub(r"[,.()\s]", " ", page), name)
            self.assertIn(f"| `{name}` |", document, name)

    def test_pages_say_their_name_and_the_version(self):
        version = subprocess.run([FILEREEL, "--version"], capture_output=True, text=True,
                                 check=True).stdout.strip()
        for name, path in PAGES.items():
            with self.subTest(name):
                text = path.read_text()
                self.assertRegex(text, rf'\A\.TH {name.upper()} 1 \d{{4}}-\d\d-\d\d "{version}" ')
                self.assertIn(f"\n.SH NAME\n{name} \\- ", text)
                for heading in ("SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "EXAMPLES", "SEE ALSO"):
                    self.assertIn(f"\n.SH {heading}\n", text)

    def test_pages_refer_to_pages_that_there_are(self):
        for name, path in PAGES.items():
            for other in re.findall(r"^\.BR (\S+) \(1\)", plain(path.read_text()), re.MULTILINE):
                self.assertIn(other, set(PAGES) | {"fio", "strace"}, name)

    @unittest.skipUnless(find("mandoc"), "mandoc is missing")
    def test_mandoc_finds_no_fault(self):
        done = subprocess.run(["mandoc", "-Tlint", *PAGES.values()], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    @unittest.skipUnless(find("groff"), "groff is missing")
    def test_groff_warns_of_nothing(self):
        for name, path in PAGES.items():
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", path],
                                  capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)


if __name__ == "__main__":
    main()
