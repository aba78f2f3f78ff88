"""filereel __complete, and the stubs that ask it, loaded by the real shells."""

import os
import pathlib
import subprocess
import tempfile
import unittest

from support import FILEREEL, find, main

# Gives bash's answer to words, the last of which is being typed, as readline splits them.
BASH = r"""
source "$SCRIPT"
complete -p filereel >/dev/null || exit 9
compopt() { :; }  # works only when readline asks
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_filereel "$1" 2>&1
((${#COMPREPLY[@]})) && printf '%s\n' "${COMPREPLY[@]}"
exit 0
"""

# Types a line into a real zsh and reads what it lists.
ZSH = r"""
emulate -L zsh
zmodload zsh/zpty || exit 9
zpty shell "zsh -f -i"
zpty -w shell "PS1=READY; fpath=($FOLDER \$fpath); autoload -U compinit; compinit -u -d $FOLDER/dump"
zpty -w shell "LISTMAX=10000; zstyle ':completion:*' list-prompt ''; setopt no_beep; bindkey '^I' list-choices; stty columns 200; cd $FOLDER"
zpty -w shell "print LOA''DED"
zpty -r shell text '*LOADED*'
zpty -w -n shell "$1"$'\t'
sleep $2
zpty -w shell $'\x15'"print E''ND"
zpty -r shell text '*END*'
print -r -- "$text"
zpty -d shell
"""


class Completion(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="filereel-completion-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        for shell, name in (("bash", "filereel.bash"), ("zsh", "_filereel"),
                            ("fish", "filereel.fish")):
            text = subprocess.run([FILEREEL, "completion", shell], capture_output=True, text=True,
                                  check=True).stdout
            (cls.folder / name).write_text(text)
        cls.work = cls.folder / "work"
        (cls.work / "folder").mkdir(parents=True)
        (cls.work / "a file.json").touch()
        (cls.work / "near.img").touch()
        path = f"{pathlib.Path(FILEREEL).resolve().parent}:{os.environ['PATH']}"
        cls.environment = {**os.environ, "PATH": path, "HOME": str(cls.folder)}


class Answers(Completion):

    def ask(self, *words):
        done = subprocess.run([FILEREEL, "__complete", *words], capture_output=True, text=True,
                              cwd=self.work, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout.splitlines()

    def test_candidates_stand_for_the_whole_word_and_have_descriptions(self):
        self.assertEqual([line.split("\t")[0] for line in self.ask("--", "rep")],
                         ["replay", "report", "repeat"])
        self.assertRegex(self.ask("--", "run", "--ne")[0], r"\A--near\t[A-Z].*")
        self.assertEqual(self.ask("--", "replay", "x", "--verify=t"), ["--verify=tree"])
        self.assertEqual(self.ask("--", "run", "--fs=ext4,nt"), ["--fs=ext4,ntfs", ":nospace"])
        self.assertEqual(self.ask("--", "run", "--runs", ""), ["auto"])
        self.assertEqual(self.ask("--", "run", "--label", ""), [])

    def test_directives_say_where_names_of_files_begin(self):
        self.assertEqual(self.ask("--", "compare", ""), [":files\t"])
        self.assertIn("app-compile.reel", self.ask("--", "cut", "app-c"))
        self.assertEqual(self.ask("--", "cut", "x", "--output=d/x"), [":files\t--output="])
        self.assertEqual(self.ask("--", "cut", "x", "-od/x"), [":files\t-o"])
        self.assertEqual(self.ask("--", "capture", "x"), [":directories\t"])
        self.assertEqual(self.ask("--", "run", "--near=image:x"), [":files\t--near=image:"])
        self.assertEqual(self.ask("--", "run", "--near", "im"),
                         ["image:", ":nospace", ":files\t"])

    def test_directives_say_where_another_program_begins(self):
        self.assertEqual(self.ask("--", "record", "--", "ls", "--", "-"), [":command\t2"])
        self.assertEqual(self.ask("--", "record", "-o", "x", "t"), [":command\t3"])

    def test_what_is_no_command_line_has_no_answer(self):
        for words in ([], ["--"], ["--", "nothing-like-it", ""], ["--", "replay", "app", "d", "more", ""],
                      ["--", "history", "d", "nothing-like-it", ""], ["--", "completion", ""],
                      ["--", "re\nrun"], ["--", "run", "--no-such="], ["--no-such"],
                      ["--", "\udcff", ""]):
            self.assertEqual(self.ask(*words), [], words)

    def test_it_is_not_in_the_help(self):
        for name in ("", "completion"):
            done = subprocess.run([FILEREEL, *name.split(), "--help"], capture_output=True, text=True)
            self.assertNotIn("__complete", done.stdout)

    def test_stubs_are_short_and_have_no_options_in_them(self):
        for name in ("filereel.bash", "_filereel", "filereel.fish"):
            text = (self.folder / name).read_text()
            self.assertLess(len(text.splitlines()), 40)
            self.assertNotIn("--near", text)


class Bash(Completion):

    def bash(self, *words):
        done = subprocess.run(["bash", "--norc", "-c", BASH, "bash", *words], cwd=self.work,
                              capture_output=True, text=True, timeout=60,
                              env={**self.environment, "SCRIPT": str(self.folder / "filereel.bash")})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.splitlines()

    def test_commands(self):
        self.assertEqual(set(self.bash("filereel", "re")),
                         {"record", "replay", "repeat"} | set(self.bash("filereel", "repo")))
        self.assertNotIn("completion", self.bash("filereel", ""))
        self.assertIn("run", self.bash("filereel", "-q", ""))

    def test_options_of_the_command_and_those_of_all(self):
        self.assertEqual(self.bash("filereel", "run", "--ne"), ["--near"])
        self.assertEqual(self.bash("filereel", "run", "--qu"), ["--quiet"])
        self.assertEqual(self.bash("filereel", "--ver"), ["--version"])
        self.assertEqual(self.bash("filereel", "run", "--vers"), [])
        self.assertEqual(self.bash("filereel", "replay", "--rem"), ["--remove"])
        self.assertEqual(self.bash("filereel", "replay", "--nea"), [])

    def test_words(self):
        self.assertEqual(self.bash("filereel", "replay", "--verify", "t"), ["tree"])
        self.assertEqual(self.bash("filereel", "replay", "--verify", "=", "t"), ["tree"])
        self.assertEqual(self.bash("filereel", "import", "x", "--format", "dben"), ["dbench"])
        self.assertEqual(self.bash("filereel", "export", "x", "--format", "c"), ["chrome"])

    def test_names_of_the_catalogue(self):
        self.assertEqual(self.bash("filereel", "run", "random-r"), ["random-read"])
        self.assertEqual(self.bash("filereel", "run", "fc-t"), ["fc-test"])
        self.assertEqual(self.bash("filereel", "run", "-q", "--warm", "fc-t"), ["fc-test"])
        self.assertEqual(self.bash("filereel", "run", "--near", "x", "fc-t"), ["fc-test"])
        self.assertEqual(self.bash("filereel", "replay", "app-gam"), ["app-gaming.reel"])
        self.assertEqual(self.bash("filereel", "show", "prog"), ["programs"])

    def test_lists(self):
        self.assertEqual(self.bash("filereel", "run", "--fs", "ext4,nt"), ["ext4,ntfs"])
        self.assertNotIn("ext4,ext4", self.bash("filereel", "run", "--fs", "ext4,"))
        self.assertEqual(self.bash("filereel", "run", "--operations", "create,copy-n"),
                         ["create,copy-near"])

    def test_files_folders_and_images(self):
        self.assertEqual(self.bash("filereel", "show", "a "), ["a file.json"])
        self.assertEqual(self.bash("filereel", "capture", "f"), ["folder"])
        self.assertEqual(self.bash("filereel", "capture", "n"), [])
        self.assertEqual(self.bash("filereel", "run", "--near", "i"), ["image:"])
        self.assertEqual(self.bash("filereel", "run", "--near", "image", ":", "n"), ["near.img"])
        self.assertEqual(self.bash("filereel", "run", "--near", "=", "image", ":", "n"),
                         ["near.img"])
        self.assertEqual(self.bash("filereel", "replay", "x.reel", "fo"), ["folder"])

    def test_commands_behind_an_argument(self):
        self.assertEqual(self.bash("filereel", "history", "fo"), ["folder"])
        self.assertEqual(set(self.bash("filereel", "history", "folder", "")),
                         {"add", "list", "compare", "trend", "report"})
        self.assertEqual(self.bash("filereel", "history", "folder", "trend", "--dev"), ["--device"])
        self.assertEqual(self.bash("filereel", "history", "folder", "add", "a"), ["a file.json"])
        self.assertEqual(self.bash("filereel", "history", "folder", "add", "b", "a"),
                         ["a file.json"])

    def test_programs_to_record(self):
        self.assertIn("true", self.bash("filereel", "record", "--", "tru"))
        self.assertEqual(self.bash("filereel", "record", "--", "cat", "ne"), ["near.img"])
        self.assertEqual(self.bash("filereel", "record", "-o", "ne"), ["near.img"])

    def test_an_alias_or_a_program_that_is_gone_asks_the_one_of_the_path(self):
        self.assertEqual(self.bash("~/gone/filereel", "run", "--ne"), ["--near"])
        self.assertEqual(self.bash(os.path.abspath(FILEREEL), "run", "--ne"), ["--near"])


@unittest.skipUnless(find("fish"), "fish is missing")
class Fish(Completion):

    def fish(self, line):
        script = self.folder / "filereel.fish"
        done = subprocess.run(["fish", "--no-config", "-c", f"source {script}; complete -C $argv",
                               line], cwd=self.work, capture_output=True, text=True, timeout=60,
                              env=self.environment)
        self.assertEqual(done.stderr, "")
        return [one.split("\t")[0] for one in done.stdout.splitlines()]

    def test_commands_options_and_words(self):
        self.assertLessEqual({"record", "replay", "repeat"}, set(self.fish("filereel re")))
        self.assertNotIn("completion", self.fish("filereel "))
        self.assertEqual(self.fish("filereel run --ne"), ["--near"])
        self.assertEqual(self.fish("filereel run --qu"), ["--quiet"])
        self.assertEqual(self.fish("filereel replay x --verify tr"), ["tree"])
        self.assertIn("random-read", self.fish("filereel run random-r"))
        self.assertIn("ext4,ntfs", self.fish("filereel run --fs ext4,nt"))
        self.assertEqual(self.fish("filereel capture fo"), ["folder/"])
        self.assertIn("trend", self.fish("filereel history folder tr"))
        self.assertEqual(self.fish("filereel history folder trend --dev"), ["--device"])

    def test_files_images_and_programs(self):
        self.assertIn("a file.json", self.fish("filereel show a"))
        self.assertEqual(self.fish("filereel capture ne"), [])
        self.assertEqual(self.fish("filereel cut x -one"), ["-onear.img"])
        self.assertEqual(self.fish("filereel run --near im"), ["image:"])
        self.assertEqual(self.fish("filereel run --near=image:n"), ["--near=image:near.img"])
        self.assertIn("true", self.fish("filereel record -o x -- tru"))
        self.assertEqual(self.fish("filereel record -o x -- cat ne"), ["near.img"])

    def test_an_alias_or_a_program_that_is_gone_asks_the_one_of_the_path(self):
        self.assertEqual(self.fish("~/gone/filereel run --ne"), ["--near"])
        self.assertEqual(self.fish(f"{FILEREEL} run --ne"), ["--near"])


@unittest.skipUnless(find("zsh"), "zsh is missing")
class Zsh(Completion):

    def assert_listed(self, line, *words):
        for pause in ("0.2", "1", "5", "20"):  # what is typed too soon keeps the list from being shown
            done = subprocess.run(["zsh", "-f", "-c", ZSH, "zsh", line, pause], capture_output=True,
                                  text=True, timeout=60, errors="replace",
                                  env={**self.environment, "FOLDER": str(self.folder), "TERM": "dumb"})
            self.assertEqual(done.returncode, 0, done.stderr)
            if all(word in done.stdout for word in words):
                return
        self.fail(f"{words} after {line}: {done.stdout}")

    def test_it_is_a_script(self):
        done = subprocess.run(["zsh", "-n", self.folder / "_filereel"], capture_output=True,
                              text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_commands_options_and_words(self):
        self.assert_listed("filereel r", "record", "replay", "repeat")
        self.assert_listed("filereel run --f", "Second volume, for copies")
        self.assert_listed("filereel replay x --verify ", "content")
        self.assert_listed("filereel run --fs ext4,", "btrfs")
        self.assert_listed("filereel run r", "random-read")
        self.assert_listed("filereel history folder ", "trend")
        self.assert_listed("filereel history folder trend --d", "--device")

    def test_files_images_and_programs(self):
        self.assert_listed("filereel show f", "filereel.bash", "filereel.fish")
        self.assert_listed("filereel capture w", "work/")
        self.assert_listed("filereel cut x -of", "filereel.bash", "filereel.fish")
        self.assert_listed("filereel run --near im", "image:")
        self.assert_listed("filereel run --near=image:f", "filereel.bash", "filereel.fish")
        self.assert_listed("filereel record -o x -- tru", "truncate")
        self.assert_listed("filereel record -o x -- cat f", "filereel.bash", "filereel.fish")


if __name__ == "__main__":
    main()
