"""Text from anywhere on the terminal: whatever stands in results, file sets, reels, traces and on the
command line, no byte of it controls the terminal or passes for a line of filereel's own."""

import copy
import json
import os
import pathlib
import pty
import re
import subprocess
import sys

from support import FILEREEL, IntegrationTest, import_formats, main

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import made_result  # noqa: E402 (its folder is not a package)

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "replay/golden"
# Sets a title, colours, is bold, reverses, deletes, ends the line and passes for the next one.
TITLE, CSI, REVERSED = "\033]0;title\a", "\u009b31m", "\u202e"
HOSTILE = f"x{TITLE}{CSI}{REVERSED}\x7f\u2028\u2066\ufeff\033[1mBOLD\r\x08\nFAKE\n"
IN_A_PATH = HOSTILE.replace("/", "").encode() + b"\x9b31m\xff"
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
                    "\ufeff]")
OWN = re.compile(r"\033\[(0|1|31|32)m|\r\033\[K|\r(?=\n)")  # what filereel itself tells a terminal


def fields(value, path=()):
    """Every way to a string in the JSON, names of members included."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield path + (name,), True
            yield from fields(member, path + (name,))
    elif isinstance(value, list):
        for number, member in enumerate(value):
            yield from fields(member, path + (number,))
    elif isinstance(value, str):
        yield path, False


def spoilt(document, path, is_name, text):
    document = copy.deepcopy(document)
    parent = document
    for step in path[:-1]:
        parent = parent[step]
    if is_name:
        parent[path[-1] + text] = parent.pop(path[-1])
    else:
        parent[path[-1]] += text
    return document


class Text(IntegrationTest):

    def check(self, *arguments, status=None):
        """Runs the command on pipes; the text that people get is harmless."""
        done = subprocess.run([FILEREEL, *arguments], cwd=self.scratch, env=self.environment(),
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        self.assertIn(done.returncode, (0, 1, 2, 3, 4) if status is None else (status,), done)
        for text in (done.stdout, done.stderr):
            self.check_text(text, arguments)
        if done.returncode in (1, 2, 3):
            self.assertEqual(done.stderr.count(b"\n"), 1 + done.stderr.count(b"recording"), done)
        return done

    def check_text(self, text, what, data=False):
        shown = text.decode()  # or it is not UTF-8
        self.assertIsNone(UNSAFE.search(shown), (what, text))
        if not data:
            self.assertNotRegex(shown, "(?m)^FAKE", what)

    def check_on_terminal(self, *arguments, data=False):
        """The same on a terminal, with colours, where data for programs is for people, too. Such
        data keeps its lines."""
        master, terminal = pty.openpty()
        environment = self.environment()
        del environment["NO_COLOR"]
        process = subprocess.Popen([FILEREEL, *arguments], cwd=self.scratch, env=environment,
                                   stdin=subprocess.DEVNULL, stdout=terminal, stderr=terminal)
        os.close(terminal)
        text = b""
        try:
            while piece := os.read(master, 1 << 16):
                text += piece
        except OSError:  # its end
            pass
        os.close(master)
        process.wait(60)
        shown = text.decode()
        self.assertNotIn("\033[1mBOLD", shown)
        self.check_text(OWN.sub("", shown).encode(), arguments, data)

    def write(self, name, document):
        text = document if isinstance(document, bytes) else json.dumps(document).encode()
        (self.scratch / name).write_bytes(text)

    def results(self):
        for file in sorted(GOLDEN.glob("*.json")):
            yield file.name, json.loads(file.read_bytes())
        yield "made", made_result.result({"create": [1, 2, 3], "read": [1, 2, 3]}, label="a")


class Results(Text):

    def test_no_string_of_a_result_reaches_the_terminal_as_it_is(self):
        seen = set()
        for name, document in self.results():
            for path, is_name in fields(document):
                kind = (tuple("#" if isinstance(step, int) else step for step in path), is_name)
                if (name, kind) in seen:
                    continue
                seen.add((name, kind))
                with self.subTest(result=name, path=path, name=is_name):
                    self.write("r.json", spoilt(document, path, is_name, HOSTILE))
                    self.write("good.json", document)
                    self.check("show", "r.json")
                    self.check("compare", "good.json", "r.json")

    def test_no_string_of_all_reaches_the_terminal_as_it_is(self):
        for name, document in self.results():
            with self.subTest(name):
                usable = document
                for path, is_name in fields(document):
                    if is_name:
                        continue
                    spoilt_too = spoilt(usable, path, False, HOSTILE)
                    self.write("r.json", spoilt_too)
                    if subprocess.run([FILEREEL, "show", "r.json"], cwd=self.scratch,
                                      capture_output=True, timeout=60).returncode == 0:
                        usable = spoilt_too
                self.write("r.json", usable)
                self.write("other.json", spoilt(usable, ("host", "cpu"), False, "other"))
                self.check("history", "kept", "add", "r.json", "other.json")
                for command in (["show", "r.json"], ["compare", "r.json", "other.json"],
                                ["compare", "r.json", "r.json"], ["history", "kept"],
                                ["history", "kept", "trend"], ["history", "kept", "compare", "1", "2"],
                                ["report", "r.json", "-o", "r.html"]):
                    self.check(*command)
                    self.check_on_terminal(*command)
                for command in (["show", "r.json", "--json"], ["report", "r.json", "--csv", "-"],
                                ["report", "r.json", "--markdown", "-"],
                                ["compare", "r.json", "other.json", "--json", "-"],
                                ["history", "kept", "list", "--json"],
                                ["history", "kept", "trend", "--json"]):
                    self.check_on_terminal(*command, data=True)
                (self.scratch / "kept").rename(self.scratch / f"kept-{name}")

    def test_a_result_that_is_not_utf_8_is_refused_harmlessly(self):
        text = json.dumps(made_result.result({"create": [1.0]}, label="LABEL")).encode()
        for bad in (b"\x9b31m", b"\xff", b"\033[31m", b"\xc2\x9b\""):
            self.write("r.json", text.replace(b"LABEL", bad))
            self.check("show", "r.json")
            self.check("compare", "r.json", "r.json")


class FileSets(Text):

    def test_no_string_of_a_file_set_reaches_the_terminal_as_it_is(self):
        document = {"name": "many", "description": "described", "source": "from",
                    "groups": [{"path": "d", "count": 2, "size": "1 KiB", "content": "text",
                                "extensions": [{"name": "ext", "share": "100 %"}]},
                               {"files": [{"path": "one.txt", "size": "1 B"}]}]}
        self.write("set.yaml", b"# a set\n" + json.dumps(document).encode())
        self.check("show", "set.yaml", status=0)
        for path, is_name in fields(document):
            with self.subTest(path=path, name=is_name):
                self.write("set.yaml", b"# a set\n" +
                           json.dumps(spoilt(document, path, is_name, HOSTILE)).encode())
                self.check("show", "set.yaml")
                self.check("-q", "run", "--set", "set.yaml", "--near", "near", "--runs", "1",
                           "--operations", "create")
        self.write("set.yaml", b"# a set\n" + json.dumps(document).encode().replace(b"many",
                                                                                 b"\x9b31m"))
        self.check("show", "set.yaml")

    def test_no_name_below_a_captured_tree_reaches_the_terminal_as_it_is(self):
        tree = os.fsencode(self.folder("tree"))
        for name in (IN_A_PATH, b"file." + IN_A_PATH, b"dir" + IN_A_PATH):
            pathlib.Path(os.fsdecode(tree + b"/" + name)).write_text("some")
        os.mkfifo(tree + b"/fifo" + IN_A_PATH)
        self.check("capture", "tree", "-o", "t.fileset")
        self.check("show", "t.fileset", status=0)
        self.check_on_terminal("show", "t.fileset")
        self.check("run", "--set", "t.fileset", "--near", "near", "--runs", "1")
        self.check_on_terminal("run", "--set", "t.fileset", "--near", "near", "--runs", "1")
        self.check("populate", "t.fileset", "there", status=0)
        self.check("populate", "t.fileset", "tree")


class Reels(Text):

    def recorded(self, *more):
        program = self.scratch / "program"
        program.mkdir(exist_ok=True)
        link = os.fsencode(program) + b"/" + IN_A_PATH
        if not os.path.lexists(link):
            os.symlink("/bin/sh", link)
        return ["record", *more, "-o", "a.reel", "--", link, "-c",
                b"echo >'" + IN_A_PATH + b"'; mv '" + IN_A_PATH + b"' b; exit 3"]

    def test_no_string_of_a_reel_reaches_the_terminal_as_it_is(self):
        for backend in ("auto", "strace"):
            self.check(*self.recorded("--backend", backend), status=0)
            self.check("show", "a.reel", status=0)
            self.check_on_terminal("show", "a.reel")
            self.check("replay", "a.reel", f"there-{backend}", "--verify", "tree")
        self.check("record", "--under", IN_A_PATH, "--", "true", status=1)
        self.check("record", "--", b"./nothing" + IN_A_PATH, status=1)
        self.check("show", "a.reel", "--operations", status=0)
        for command in (["show", "a.reel", "--json"], ["show", "a.reel", "--operations"],
                        ["export", "a.reel", "--format", "jsonl"],
                        ["export", "a.reel", "--format", "fio"],
                        ["export", "a.reel", "--format", "chrome"]):
            self.check_on_terminal(*command, data=True)

    def test_what_differs_in_a_replay_is_told_harmlessly(self):
        self.check(*self.recorded(), status=0)
        os.rename(self.scratch / "a.reel", self.scratch / "b.reel")
        there = self.folder("there")
        self.check("replay", "b.reel", there, "--json", "r.json")
        self.check("show", "r.json")
        self.check("replay", "b.reel", there)

    def test_no_string_of_a_trace_reaches_the_terminal_as_it_is(self):
        traces = {
            "fio": b"fio version 2 iolog\n/aX add\n/aX open\n/aX read 0 4096\n/aX close\n",
            "strace": b'1 1700000000.000000 openat(AT_FDCWD, "/aX", O_RDONLY) = 3</aX> <0.1>\n',
            "dbench": b'NTCreateX "\\aX" 0x1 0x1 1 SUCCESS\nClose 1 SUCCESS\n',
        }
        self.assertEqual(set(traces), set(import_formats()))
        for kind, text in traces.items():
            self.write("t.log", text.replace(b"X", b""))
            for at in range(len(text)):
                if at % 3:
                    continue
                with self.subTest(kind, at=at):
                    self.write("t.log", text[:at] + b"\033]0;t\a\x9b31m\xe2\x80\xae\x7f" + text[at:])
                    self.check("import", "t.log", "-o", "t.reel")
                    self.check("import", "t.log", "-o", "t.reel", "--format", kind)

    def test_no_workload_or_plan_reaches_the_terminal_as_it_is(self):
        documents = {
            "workload": {"description": "d", "source": "s", "notes": "n",
                         "files": [{"name": "many", "count": 2, "size": "8 KiB"}],
                         "phases": [{"name": "p", "stop": {"time": "10 ms"}, "threads": [
                             {"files": "many", "access": {"size": "4 KiB", "random": "100 %"}}]}]},
            "plan": {"description": "d", "workload": "fc-test", "sets": ["mp3"],
                     "operations": ["create"]},
        }
        for kind, document in documents.items():
            self.write("w.yaml", document)
            self.check("run", "w.yaml", "--near", "near", "--scale", "0.001", "--runs", "1", status=0)
            for path, is_name in fields(document):
                with self.subTest(kind, path=path, name=is_name):
                    self.write("w.yaml", spoilt(document, path, is_name, HOSTILE))
                    self.check("run", "w.yaml", "--near", "near", "--scale", "0.001", "--runs", "1")


class CommandLine(Text):

    def test_names_of_what_is_not_there_are_told_harmlessly(self):
        bad = IN_A_PATH
        self.write("good.json", made_result.result({"create": [1.0]}))
        for command in (
                [bad], ["--" + HOSTILE], ["run", bad], ["run", "--near", bad + b"/a/b"],
                ["run", "--near", b"image:" + bad + b"/a.img"], ["run", "--set", bad],
                ["run", "--fs", bad], ["run", "--operations", bad], ["run", "--block-size", bad],
                ["run", "--copy-method", bad], ["run", "--runs", bad], ["run", "--budget", bad],
                ["run", "--threads", bad], ["run", "random-read", "--sweep", bad],
                ["run", "random-read", "--sweep", bad + b"=1"], ["run", "random-read", "--time", bad],
                ["run", "--near", "good.json"], ["run", "--json", bad + b"/r.json"],
                ["run", "--json", "a" + HOSTILE, "--html", "a" + HOSTILE],
                ["run", "--near", "near", "--destroy", bad, "--fs", bad],
                ["replay", bad, "there"], ["replay", "good.json", bad], ["replay", bad],
                ["replay", "x.reel", "--pace", bad], ["replay", "x.reel", "--order", bad],
                ["replay", "x.reel", "--engine", bad], ["replay", "x.reel", "--verify", bad],
                ["show", bad], ["show", bad, "--operations"], ["capture", bad, "-o", "t.fileset"],
                ["capture", ".", "-o", bad + b"/t"], ["populate", bad, "there"],
                ["populate", "mp3", bad + b"/a/b"], ["import", bad, "-o", "t.reel"],
                ["import", "good.json", "-o", "t.reel", "--format", bad],
                ["import", "good.json", "-o", bad + b"/t.reel"],
                ["export", bad, "--format", "jsonl"], ["export", bad, "--format", bad],
                ["cut", bad, "-o", "t.reel"], ["cut", "x.reel", "-o", "t", "--from", bad],
                ["merge", bad, bad, "-o", "t.reel"], ["repeat", bad, "-o", "t", "--times", "2"],
                ["anonymise", bad, "-o", "t.reel"], ["record", "--backend", bad, "--", "true"],
                ["record", "--pid", bad], ["record", "-o", bad + b"/t.reel", "--", "true"],
                ["record", "--duration", bad, "--", "true"], ["compare", bad, bad],
                ["compare", "good.json", "good.json", "--threshold", bad],
                ["compare", "good.json", "good.json", "--junit", bad + b"/j.xml"],
                ["report", bad, "-o", "r.html"], ["report", "good.json", "-o", bad + b"/r.html"],
                ["history", bad], ["history", "kept", "add", bad],
                ["history", "kept", "compare", bad, bad], ["completion", bad]):
            with self.subTest(command):
                done = self.check(*command)
                self.assertNotEqual(done.returncode, 0, done)

    def test_what_was_made_is_told_harmlessly(self):
        for command in (["capture", "tree", "-o", b"t" + IN_A_PATH],
                        ["populate", "mp3", b"p" + IN_A_PATH, "--scale", "0.001"],
                        ["record", "-o", b"r" + IN_A_PATH, "--", "true"],
                        ["show", b"r" + IN_A_PATH], ["show", b"t" + IN_A_PATH],
                        ["cut", b"r" + IN_A_PATH, "-o", b"c" + IN_A_PATH],
                        ["replay", b"r" + IN_A_PATH, b"d" + IN_A_PATH],
                        ["run", "--set", "mp3", "--scale", "0.001", "--runs", "1", "--near",
                         b"n" + IN_A_PATH, "--label", HOSTILE, "--note", HOSTILE]):
            self.folder("tree")
            with self.subTest(command):
                self.check(*command)
                self.check_on_terminal(*command)


if __name__ == "__main__":
    main()
