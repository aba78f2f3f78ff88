"""Random sequences of runs, kills and changes by the user on a few places, so that they collide. After
every step nothing of the user's may be gone or changed (ownership_model.py says what that is).

FILEREEL_SEED and FILEREEL_STEPS repeat a sequence. When exactly a signal comes is up to the machine, so
the same seed may have to be tried a few times."""

import collections
import contextlib
import os
import random
import signal
import time
import traceback

from ownership_model import Harm, Model, Targets, WORK
from ownership_user import DEFAULT_IMAGES, FOLDERS, IMAGES, OUTPUTS, PLACES, User
from support import (IntegrationTest, attached_loops, call, have, kernel_has, main, mounted_below,
                     processes_with, thorough, wait_until, why_not)

CODES = {0, 1, 2, 3, 130}  # that are documented and can come here
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
# Whatever the user does comes so long after filereel's last step: what both do within one grain of the
# file system's times cannot be told apart everywhere.
GRAIN_S = 0.015

REEL = """\
1.0 mkdir("/original", 0755) = 0 <0.000010>
1.1 openat(AT_FDCWD, "/original/file", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 3 <0.000010>
1.2 write(3, "hello"..., 5) = 5 <0.000010>
1.3 close(3) = 0 <0.000010>
1.4 symlink("file", "/original/link") = 0 <0.000010>
1.5 mkdir("/original/sub", 0500) = 0 <0.000010>
1.6 openat(AT_FDCWD, "/letter", O_WRONLY|O_CREAT|O_TRUNC, 0600) = 3 <0.000010>
1.7 close(3) = 0 <0.000010>
"""
SET = "name: tiny\ngroups:\n  - count: 4\n    size: 3 KiB\n"


class Command:
    """A command line, what it may work on, and what it leaves."""

    def __init__(self, *arguments, folders=(), images=(), outputs=(), remembers=True, cleans=True,
                 ends=False):
        self.arguments = arguments
        self.folders, self.images, self.outputs = folders, images, outputs
        self.remembers = remembers  # what it left in folders it may clear again
        self.cleans = cleans        # up what killed ones left
        self.ends = ends            # always by itself

    def kind(self):
        return self.arguments[0] + ("-image" if self.images else "")


class Machine(IntegrationTest):

    memory = 1200

    def setUp(self):
        super().setUp()
        self.tree, self.tools = self.folder("tree"), self.folder("tools")
        self.privileged = why_not("ext4") is None
        if self.privileged:  # as it is usual: filereel sees what the user mounts while it runs
            call("mount", "--make-shared", self.base, status=None)
        self.kinds = {kind: size for kind, size in (("ext4", 20), ("ntfs", 20), ("fat32", 40))
                      if why_not(kind) is None}
        (self.tools / "set.yaml").write_text(SET)
        (self.tools / "a.strace").write_text(REEL)
        self.reel = self.tools / "a.reel"
        self.filereel("import", self.tools / "a.strace", "-o", self.reel)
        self.durations = collections.defaultdict(lambda: 0.1)
        self.history = collections.deque(maxlen=15)

    # filereel's steps

    def choose(self, chance, places):
        """Mostly one that filereel may take."""
        kind = chance.random()
        if kind < 0.2 and set(places) & set(self.user.busy):
            return chance.choice(sorted(set(places) & set(self.user.busy)))
        usable = [place for place in places
                  if all(path == place or self.model.is_made(path) for path in self.model.now
                         if f"{path}/".startswith(f"{place}/"))
                  and (places is FOLDERS or place not in self.model.now or self.model.is_made(place))]
        return chance.choice(usable if usable and kind < 0.7 else places if kind < 0.96 else PLACES)

    def command(self, chance):
        small = ["--set", self.tools / "set.yaml", "--runs", chance.choice("112"), "--warm"]
        keep = ["--keep"] * chance.randint(0, 1)
        if chance.random() < 0.3:
            small += ["--operations", "create"]
        folder, image = self.choose(chance, FOLDERS), self.choose(chance, IMAGES)
        output = chance.choice(OUTPUTS if chance.random() < 0.95 else PLACES)
        kind = chance.choices(["ext4", "ntfs", "fat32"], [7, 2, 1])[0]

        def run_in_folder():
            words, outputs = [], []
            if chance.random() < 0.2:
                words, outputs = ["--json", output], [output]
            folders = [folder]
            if chance.random() < 0.15:
                folders.append(chance.choice(FOLDERS))
                words += ["--far", folders[1]]
            return Command("run", "--near", folder, *words, *small, *keep, folders=folders,
                           outputs=outputs)

        def run_in_image():
            return Command("run", "--near", f"image:{image},size={self.kinds[kind]}M", "--fs", kind,
                           *small, *keep, images=[image])

        def run_without_targets():
            return Command("run", "--fs", "ext4", *small, *keep, images=DEFAULT_IMAGES)

        def replay():
            words = chance.choice([[], ["--keep"], ["--remove"]])
            reel = output if chance.random() < 0.1 and (self.tree / output).is_file() else self.reel
            return Command("replay", reel, folder, "--warm", *words, folders=[folder])

        def replay_in_image():
            return Command("replay", self.reel, f"image:{image},size=20M", "--warm", *keep,
                           images=[image])

        def populate():
            return Command("populate", self.tools / "set.yaml", folder, folders=[folder],
                           remembers=False)

        def write():
            words = chance.choice([["import", self.tools / "a.strace"],
                                   ["export", self.reel, "--format", "jsonl"]])
            return Command(*words, "-o", output, outputs=[output], cleans=False)

        def record():
            # strace that is killed while it begins leaves processes of its own.
            return Command("record", "--backend", "strace", "-o", output, "--", "touch",
                           self.tools / "touched", outputs=[output], cleans=False, ends=True)

        def clean():
            return Command("clean")

        def list_leases():
            return Command("clean", "--list", cleans=False)
        choices = [(run_in_folder, 30), (replay, 16), (populate, 6), (write, 6), (clean, 5),
                   (list_leases, 1)]
        if have("strace"):
            choices.append((record, 1))
        if kind in self.kinds:
            choices += [(run_in_image, 20), (run_without_targets, 3), (replay_in_image, 5)]
        makers, weights = zip(*choices)
        return chance.choices(makers, weights)[0]()

    def targets(self, command):
        def found(paths):
            real = (os.path.relpath(os.path.realpath(self.tree / path), self.tree) for path in paths)
            return {*paths, *real}
        targets = Targets(found(command.folders), command.images, found(command.outputs))
        self.add_identities(targets)
        return targets

    def add_identities(self, targets):
        targets.identities |= {self.model.now[path].identity for path in targets.folders
                               if path in self.model.now}

    def wait_for_changes(self, running, folders, count):
        """Until the folders or the leases have changed that often."""
        def times():
            found = []
            for folder in (self.state, self.tree, *(self.tree / path for path in folders)):
                with contextlib.suppress(OSError):
                    found.append(os.stat(folder).st_mtime_ns)
            return found
        last, deadline = times(), time.monotonic() + 2
        while count and not running.ended() and time.monotonic() < deadline:
            now = times()
            count, last = count - (now != last), now

    def wait_a_while(self, running, command, chance):
        if chance.random() < 0.5:
            running_s = chance.uniform(0, 1.1) * self.durations[command.kind()]
            wait_until(running.ended, running_s, 0.0005)
            return f"after {running_s * 1000:.0f} ms"
        count = chance.randint(1, 12)
        self.wait_for_changes(running, command.folders, count)
        return f"at change {count}"

    def step_of_filereel(self, chance):
        command = self.command(chance)
        targets, self.before = self.targets(command), self.model.now
        self.leased = self.leased_names()
        self.user.busy = (*command.folders, *command.images)
        endings = ["end"] if command.ends else ["end", "kill", "signal", "change"]
        ending = chance.choices(endings, [45, 22, 8, 25][:len(endings)])[0]
        self.loops = attached_loops(self.base) if self.privileged else {}
        began = time.monotonic()
        running = self.start("-q", *command.arguments, cwd=self.tree)
        self.describe("filereel", *command.arguments, "|", ending)
        if ending != "end":
            self.describe_more(self.wait_a_while(running, command, chance))
        if ending == "kill":
            running.kill()
        elif ending == "signal":
            number = chance.choice(SIGNALS)
            self.describe_more(number.name)
            running.kill(number)
        elif ending == "change":
            self.change_meanwhile(running, command, targets, chance)
        finished = running.finish()
        if ending == "end":
            took = time.monotonic() - began
            self.durations[command.kind()] += 0.2 * (took - self.durations[command.kind()])
        self.ended_s = time.monotonic()
        self.describe_more(f"exit {finished.code} {finished.err.strip()}")
        self.check_end(command, targets, ending, running, finished)

    def change_meanwhile(self, running, command, targets, chance):
        running.kill(signal.SIGSTOP)
        wait_until(lambda: self.is_stopped(running), 5, 0.0005)
        if running.ended():
            return
        time.sleep(GRAIN_S)
        known = dict(self.model.work)
        self.model.filereel_did(targets)
        self.add_identities(targets)
        self.model.live = {identity for path, identity in self.model.work.items()
                           if path not in known}
        for _ in range(chance.choice([1, 1, 1, 2, 3])):
            self.describe_more("{" + self.user.act(chance) + "}")
        targets.outputs |= self.targets(command).outputs
        self.add_identities(targets)
        running.kill(signal.SIGCONT)
        if chance.random() < 0.2:
            self.describe_more(self.wait_a_while(running, command, chance), "and killed")
            running.kill()

    @staticmethod
    def is_stopped(running):
        if running.ended():
            return True
        with open(f"/proc/{running.pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] in "Tt"

    def check_end(self, command, targets, ending, running, finished):
        killed = finished.code < 0
        if killed and finished.code != -signal.SIGKILL and ending != "signal":
            raise Harm(f"it crashed: {finished}")
        if not killed and finished.code not in CODES:
            raise Harm(f"no such exit is documented: {finished}")
        errors = [line for line in finished.err.splitlines() if line.startswith("filereel: ")]
        if len(errors) > 1:
            raise Harm(f"more than one line of error: {finished}")
        self.wait_for_nothing(None if killed else running.pid)
        before, live = self.model.now, self.model.live
        self.model.filereel_did(targets)
        self.model.live = set()
        if command.remembers:
            self.model.finished(targets, finished.code == 0)
        else:
            self.model.given(targets, finished.code == 0, self.before)
        if killed:
            return
        for path in self.model.now:
            name = path.rpartition("/")[2]
            hidden = self.model.is_made(path) and WORK.fullmatch(name)
            new = path not in before or self.model.now[path].identity in live
            if not hidden or not new:
                continue
            if finished.code == 1:  # it says so, or it stays on the list
                if "the files remain in" in finished.err:
                    self.model.disown(path)
            elif not mounted_below(self.tree / path):
                raise Harm(f"{path} is left after {finished}")
        if command.cleans and finished.code == 0:
            self.check_cleaned(before, command)

    def check_cleaned(self, before, command):
        self.model.forget_work()
        left = [path for path in self.model.left_work()
                if path in before and path.rpartition("/")[2] in self.leased]
        if command.arguments[0] == "clean" and left:
            raise Harm(f"clean has left {left}")

    def leased_names(self):
        """Of the files and directories that there are leases of."""
        names = set()
        for lease in os.scandir(self.state) if os.path.exists(self.state) else ():
            with contextlib.suppress(OSError), open(lease) as file:
                names |= {line.strip().rpartition("/")[2] for line in file
                          if line.startswith("path ")}
        return names

    def wait_for_nothing(self, ended):
        """No process or loop device of filereel's is left; no mount of one that ended by itself."""
        def left():
            found = processes_with(self.base)
            if self.privileged:
                found.update({device: image for device, image in attached_loops(self.base).items()
                              if device not in self.loops and image.endswith("(deleted)")})
            if ended and os.path.exists(self.state):
                found.update({name: "mount point" for name in os.listdir(self.state)
                              if name.startswith(f"mount-{ended}-")})
            return found
        if not wait_until(lambda: not left(), 10, 0.002):
            raise Harm(f"left behind: {left()}")

    # The machine

    def describe(self, *words):
        self.history.append(f"{self.step:5} ")
        self.describe_more(*words)

    def describe_more(self, *words):
        text = " ".join(str(word) for word in words).replace(f"{self.scratch}/", "")
        self.history[-1] += " " + text

    def step_of_user(self, chance):
        time.sleep(max(0, self.ended_s + GRAIN_S - time.monotonic()))
        self.describe("user:")
        self.describe_more(self.user.act(chance))

    def check_machine(self, steps, seed):
        seed = int(os.environ.get("FILEREEL_SEED", seed))
        steps = int(os.environ.get("FILEREEL_STEPS", steps))
        print(f"FILEREEL_SEED={seed} FILEREEL_STEPS={steps}", flush=True)
        self.model = Model(self.tree)
        kinds = {kind for kind in ("ext4", "vfat") if kernel_has(kind)}
        self.user = User(self.model, self.privileged, kinds)
        self.ended_s = self.step = 0
        self.loops = {}
        try:
            for self.step in range(steps):
                chance = random.Random(f"{seed} {self.step}")
                if self.step % 200 == 199:
                    self.model.forget_digests()
                if chance.random() < 0.45:
                    self.step_of_filereel(chance)
                else:
                    self.step_of_user(chance)
            self.check_last()
        except Exception as error:  # with what led to it
            told = "\n".join(self.history)
            self.fail(f"FILEREEL_SEED={seed}, step {self.step}: {error}\n{told}\n"
                      f"{traceback.format_exc()}")

    def check_last(self):
        """Without what killed ones left, nothing but the user's and what was kept remains."""
        self.describe("the end")
        while self.user.mounts():
            self.user.unmount()
        self.model.forget_digests()
        self.before, self.leased = self.model.now, self.leased_names()
        running = self.start("clean", cwd=self.tree)
        self.check_end(Command("clean"), Targets(), "end", running, running.finish())
        listed = self.filereel("clean", "--list").out.splitlines()
        states = {line.split("  ")[0].strip() for line in listed if line != "nothing"}
        self.assertLessEqual(states, {"kept", "gone", "changed", "offline"}, listed)
        self.assert_nothing_left()

    def test_nothing_of_the_users_is_changed_in_a_few_steps(self):
        self.check_machine(600, seed=1)

    @thorough("10,000 steps")
    def test_nothing_of_the_users_is_changed_in_10000_steps(self):
        self.check_machine(10000, seed=random.SystemRandom().randrange(10**6))


if __name__ == "__main__":
    main()
