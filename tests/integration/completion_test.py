"""The completion scripts, loaded by the real shells."""

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
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_filereel 2>&1
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


class Bash(Completion):

    def bash(self, *words):
        done = subprocess.run(["bash", "--norc", "-c", BASH, "bash", *words], cwd=self.work,
                              capture_output=True, text=True, timeout=60,
                              env={**os.environ, "SCRIPT": str(self.folder / "filereel.bash")})
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
        self.assertEqual(self.bash("filereel", "run", "--ver"), [])
        self.assertEqual(self.bash("filereel", "replay", "--rem"), ["--remove"])
        self.assertEqual(self.bash("filereel", "replay", "--swe"), [])

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
                         {"add", "list", "compare", "trend"})
        self.assertEqual(self.bash("filereel", "history", "folder", "trend", "--dev"), ["--device"])
        self.assertEqual(self.bash("filereel", "history", "folder", "add", "a"), ["a file.json"])
        self.assertEqual(self.bash("filereel", "history", "folder", "add", "b", "a"),
                         ["a file.json"])

    def test_programs_to_record(self):
        self.assertIn("true", self.bash("filereel", "record", "--", "tru"))
        self.assertEqual(self.bash("filereel", "record", "--", "cat", "ne"), ["near.img"])
        self.assertEqual(self.bash("filereel", "record", "-o", "ne"), ["near.img"])


@unittest.skipUnless(find("fish"), "fish is missing")
class Fish(Completion):

    def fish(self, line):
        script = self.folder / "filereel.fish"
        done = subprocess.run(["fish", "--no-config", "-c", f"source {script}; complete -C $argv",
                               line], cwd=self.work, capture_output=True, text=True, timeout=60,
                              env={**os.environ, "HOME": str(self.folder)})
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


@unittest.skipUnless(find("zsh"), "zsh is missing")
class Zsh(Completion):

    def assert_listed(self, line, *words):
        for pause in ("0.2", "1", "5", "20"):  # what is typed too soon keeps the list from being shown
            done = subprocess.run(["zsh", "-f", "-c", ZSH, "zsh", line, pause], capture_output=True,
                                  text=True, timeout=60, errors="replace",
                                  env={**os.environ, "FOLDER": str(self.folder), "TERM": "dumb"})
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
        self.assert_listed("filereel run --f", "Volume to copy to")
        self.assert_listed("filereel replay x --verify ", "content")
        self.assert_listed("filereel run --fs ext4,", "btrfs")
        self.assert_listed("filereel run r", "random-read")
        self.assert_listed("filereel history folder ", "trend")
        self.assert_listed("filereel history folder trend --d", "--device")


if __name__ == "__main__":
    main()
