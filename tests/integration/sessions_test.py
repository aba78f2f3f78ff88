"""Several sessions of one command, spread over time: none is lost or measured twice when the command is interrupted or
killed and repeated.

A copy command of the test holds the second session until it is told to go on, so that signals arrive there for sure.
"""

import json
import os
import signal

from support import IntegrationTest, call, main, needs, wait_until

LONG = "10min"  # a pause that no test waits for
HELD = ('if [ -d "{0}/h" ] && [ -e "{0}/hold" ]; then touch "{0}/held"; '  # after the first session, which is in h
        'while [ -e "{0}/hold" ]; do sleep 0.02; done; fi; ')
COPY = "cp -a {from}/. {to}"
WITH_ERRORS = ("bash", "-c", 'exec "$@" 2>errors', "bash")


class Sessions(IntegrationTest):

    def setUp(self):
        super().setUp()
        self.set = self.many_small_files(10, "4 KiB")

    def command(self, count, *more, near=None):
        """Short sessions on an image."""
        return ["run", "--near", near or f"image:{self.scratch}/near.img", "--fs", "ext4", "--set", self.set,
                "--operations", "create,copy-near", "--copy-command", HELD.format(self.scratch) + COPY, "--runs", "1",
                "--sessions", str(count), "--json", "r.json", "--history", "h", *more]

    def complete(self, *numbers):
        """The bytes of the results of these sessions, which are complete."""
        for number in numbers:
            self.assertTrue(self.result(f"r-{number}.json")["complete"])
        return [(self.scratch / f"r-{number}.json").read_bytes() for number in numbers]

    def stored(self):
        """The bytes of all results in the history."""
        return sorted(path.read_bytes() for path in (self.scratch / "h").glob("*/*/*.json"))

    def results(self):
        return sorted(name for name in os.listdir(self.scratch) if name.endswith(".json"))

    def check_all(self, *numbers):
        """These sessions are complete and once in the history, and there are no others."""
        self.assertEqual(self.results(), [f"r-{number}.json" for number in numbers])
        self.assertEqual(self.stored(), sorted(self.complete(*numbers)))
        self.assert_nothing_left()
        self.check_leases()

    def check_leases(self):
        """The image stays, and nothing is in use or left."""
        self.assertEqual({state for state, _, _ in self.leases()}, {"kept"})

    def start_until(self, condition, *arguments):
        running = self.start(*arguments, wrap=WITH_ERRORS)
        self.assertTrue(wait_until(lambda: running.ended() or condition(), 60, 0.01), self.errors())
        self.assertFalse(running.ended(), self.errors())
        return running

    def errors(self):
        return (self.scratch / "errors").read_text() if (self.scratch / "errors").exists() else ""

    def start_until_pause(self, *arguments):
        (self.scratch / "errors").unlink(missing_ok=True)
        return self.start_until(lambda: "begins in" in self.errors(), *arguments)

    def start_until_held(self, *arguments):
        (self.scratch / "hold").touch()
        return self.start_until((self.scratch / "held").exists, *arguments)

    def go_on(self):
        (self.scratch / "hold").unlink()
        (self.scratch / "held").unlink()


@needs("ext4")
class Complete(Sessions):

    def test_each_session_has_a_result_and_is_in_the_history(self):
        done = self.filereel(*self.command(3))
        self.check_all(1, 2, 3)
        results = [self.result(f"r-{number}.json") for number in (1, 2, 3)]
        self.assertEqual(len({one["plan"]["digest"] for one in results}), 1)
        for number, result in enumerate(results, 1):
            self.assertIn(f"session {number} of 3: r-{number}.json\n", done.out)
            self.assertLess(result["measurements"][0]["samples"][0]["started_s"], 30)

    def test_finished_sessions_are_not_measured_again_and_further_ones_are(self):
        self.filereel(*self.command(2))
        before = self.complete(1, 2)
        done = self.filereel(*self.command(2, "--every", LONG))
        self.assertIn("2 of 2 sessions finished before", done.err)
        self.assertTrue(done.out.startswith("\nThe 2 sessions compared with each other:\n"), done.out)
        self.filereel(*self.command(3))
        self.check_all(1, 2, 3)
        self.assertEqual(self.complete(1, 2), before)

    def test_a_missing_session_is_measured_and_one_that_the_history_lacks_is_added(self):
        self.filereel(*self.command(3))
        kept = self.complete(1, 3)
        (self.scratch / "r-2.json").unlink()
        for path in (self.scratch / "h").glob("*/*/*.json"):
            path.unlink()
        self.filereel(*self.command(3))
        self.check_all(1, 2, 3)
        self.assertEqual(self.complete(1, 3), kept)

    def test_the_names_of_the_user_are_those_in_the_history(self):
        named = self.command(2, "--device", "Fast Disk 3", "--firmware", "1.07")
        self.filereel(*named)
        self.assertEqual(len(list((self.scratch / "h/Fast-Disk-3/1.07").iterdir())), 2)
        self.filereel(*named)
        self.assertEqual(len(self.stored()), 2)
        refused = self.filereel(*named[:-1], "1.08", status=2)
        self.assert_refused(refused, 2, "r-1.json is in the history as Fast-Disk-3/1.07")
        self.assertEqual(len(self.stored()), 2)

    def test_a_page_has_all_sessions_and_volumes_without_a_name_are_removed(self):
        arguments = ["run", "--fs", "ext4", "--set", self.set, "--operations", "create", "--runs", "1", "--sessions",
                     "2", "--json", "r.json", "--html", "page.html"]
        self.filereel(*arguments)
        self.filereel(*arguments)
        self.assertEqual(sorted(os.listdir(self.scratch)), ["page.html", "r-1.json", "r-2.json", "set.yaml"])
        page = (self.scratch / "page.html").read_text()
        for number in (1, 2):
            self.assertIn(self.result(f"r-{number}.json")["started"], page)

    def test_two_volumes_in_turn_are_compared_over_all_sessions(self):
        more = ["--against", f"image:{self.scratch}/other.img", "--against-json", "o.json"]
        for again in (False, True):
            done = self.filereel(*self.command(2, *more), status=None)
            self.assertIn(done.code, (0, 4))
            self.assertEqual(done.out.count("Overall: "), 1 if again else 3)
            self.assertIn("All 2 sessions:", done.out)
            self.assertEqual(self.results(), ["o-1.json", "o-2.json", "r-1.json", "r-2.json"])
            self.assertEqual(len(self.stored()), 4)

    def test_more_volumes_in_turns_are_ranked_over_all_sessions(self):
        more = []
        for name in ("o", "p"):
            more += ["--against", f"image:{self.scratch}/{name}.img", "--against-json", f"{name}.json"]
        done = self.filereel(*self.command(2, *more))
        self.assertIn("All 2 sessions:", done.out)
        self.assertEqual(self.results(),
                         [f"{name}-{number}.json" for name in "opr" for number in (1, 2)])

    def test_a_single_session_goes_into_the_history_without_a_number(self):
        command = self.command(1)
        self.filereel(*command)
        self.assertEqual(self.results(), ["r.json"])
        self.assertIn("digest", self.result()["plan"])  # for --resume
        self.assertEqual(self.stored(), [(self.scratch / "r.json").read_bytes()])
        at = command.index("--json")
        self.filereel(*command[:at], *command[at + 2:])
        self.assertEqual(len(self.stored()), 2)

    def test_the_files_of_a_replay_stay_after_the_last_session(self):
        (self.scratch / "app.strace").write_text(
            '1700000000.000000 openat(AT_FDCWD, "/d/f", O_RDWR|O_CREAT, 0644) = 3 <0.000010>\n'
            '1700000000.001000 pwrite64(3, "", 8192, 0) = 8192 <0.000010>\n')
        self.filereel("import", "app.strace", "-o", "app.reel")
        near = self.folder("near")
        self.filereel("replay", "app.reel", near, "--sessions", "3", "--runs", "1", "--json", "r.json")
        self.complete(1, 2, 3)
        self.assertEqual(len(os.listdir(near)), 1)


@needs("ext4")
class Interrupted(Sessions):

    def check_continues_after_pause(self, number, code):
        running = self.start_until_pause(*self.command(2, "--every", LONG))
        self.assertEqual(self.stored(), sorted(self.complete(1)))
        first = self.complete(1)
        running.kill(number)
        self.assertEqual(running.finish(5).code, code)
        self.check_all(1)
        if code == 130:
            self.assertIn("to continue with session 2 of 2, use the same command", self.errors())
        # The pause goes on where it was: it is counted from the first session.
        running = self.start_until_pause(*self.command(2, "--every", LONG))
        self.assertIn("1 of 2 sessions finished before", self.errors())
        self.assertRegex(self.errors(), "session 2 of 2 begins in (9 min|10 min 00)")
        running.kill(signal.SIGINT)
        self.assertEqual(running.finish(5).code, 130)
        self.check_all(1)
        self.filereel(*self.command(2, "--every", "1s"))
        self.check_all(1, 2)
        self.assertEqual(self.complete(1), first)

    def test_a_pause_that_is_interrupted_continues(self):
        self.check_continues_after_pause(signal.SIGINT, 130)

    def test_a_pause_that_is_killed_continues(self):
        self.check_continues_after_pause(signal.SIGKILL, -9)

    def test_a_volume_that_was_unmounted_in_a_pause_is_not_measured(self):
        """What is below the mount point would be measured under its name."""
        image = self.scratch / "under.img"
        with open(image, "wb") as file:
            file.truncate(64 << 20)
        call("mkfs.ext4", "-q", "-F", image)
        point = self.folder("point")
        with self.loop(image) as device:
            call("mount", device, point)
            running = self.start_until_pause("run", "--near", point / "v", "--set", self.set, "--operations",
                                             "create", "--runs", "1", "--sessions", "2", "--every", "5s",
                                             "--json", "r.json")
            call("umount", point)
            self.assertEqual(running.finish(60).code, 2, self.errors())
        self.assertRegex(self.errors(), "what is mounted at near is .*, not ")
        self.assertEqual(self.results(), ["r-1.json"])
        self.assertEqual(os.listdir(point), [])

    def test_nothing_is_held_in_a_pause(self):
        running = self.start_until_pause(*self.command(2, "--every", LONG))
        self.assertFalse(os.path.exists(running.mount_point()))
        self.assertEqual([line for line in self.left_behind() if not line.startswith("process ")], [])
        self.check_leases()
        self.assertEqual(running.children(), [])
        # Another command can use the volume.
        self.filereel("run", "--near", f"image:{self.scratch}/near.img", "--fs", "ext4", "--set", self.set, "--runs",
                      "1")
        running.kill(signal.SIGTERM)
        self.assertEqual(running.finish(5).code, 130)

    def check_continues_after_session(self, number, code):
        running = self.start_until_held(*self.command(3))
        first = self.complete(1)
        running.kill(number)
        self.go_on()
        self.assertEqual(running.finish().code, code, self.errors())
        self.assertFalse(self.result("r-2.json")["complete"])
        self.assertEqual(self.stored(), sorted(self.complete(1)))
        done = self.filereel(*self.command(3))
        self.assertIn("1 of 3 sessions finished before", done.err)
        self.check_all(1, 2, 3)
        self.assertEqual(self.complete(1), first)

    def test_a_session_that_is_interrupted_is_measured_again(self):
        self.check_continues_after_session(signal.SIGINT, 130)

    def test_a_session_that_is_killed_is_measured_again(self):
        self.check_continues_after_session(signal.SIGKILL, -9)

    def test_a_session_that_fails_ends_the_command_and_the_same_command_continues(self):
        command = self.command(3)
        command[command.index("--copy-command") + 1] = (
            f"[ ! -d '{self.scratch}/h' ] || [ -e '{self.scratch}/good' ] && {COPY}")
        done = self.filereel(*command, status=1)
        self.assertIn("session 2 of 3", done.out)
        self.assertNotIn("session 3 of 3", done.out)
        self.assertEqual(self.stored(), sorted(self.complete(1)))
        first = self.complete(1)
        (self.scratch / "good").touch()
        self.filereel(*command)
        self.check_all(1, 2, 3)
        self.assertEqual(self.complete(1), first)


@needs("ext4")
class Refused(Sessions):

    def refuse(self, arguments, *words):
        """Refused before anything is measured or changed."""
        before = {name: (self.scratch / name).read_bytes() for name in self.results()}
        self.assert_refused(self.filereel(*arguments, status=None), 2, *words)
        self.assertEqual({name: (self.scratch / name).read_bytes() for name in self.results()}, before)

    def test_files_of_something_else_are_refused_with_what_differs(self):
        self.filereel(*self.command(2))
        (self.scratch / "r-2.json").unlink()
        same = self.command(2)

        def changed(option, value):
            at = same.index(option)
            return [*same[:at], option, value, *same[at + 2:]]

        for arguments, words in (
                (changed("--runs", "2"), "the number of runs is 1, not 2"),
                (changed("--fs", "xfs"), "the list of file systems is ext4, not xfs"),
                (changed("--near", "image:other.img"), "not image:other.img"),
                ([*same, "--label", "other"], "the label is none, not other"),
                ([*same, "--scale", "0.5"], "the settings of fc-test are "),
                ([*same, "--sweep", "threads=1,2"], "the sweep of fc-test "),
                ([*same, "--hide-serial"], "--hide-serial differs"),
                (changed("--operations", "create,read,copy-near"), "have changed")):
            with self.subTest(words):
                self.refuse(arguments, "r-1.json is not a session of this command: ", words)
        self.many_small_files(11, "4 KiB")
        self.refuse(same, "the file set many has changed", "10 files", "11 files")

    def test_a_result_of_another_run_and_other_files_are_refused(self):
        self.filereel("run", "--engine", "null", "--set", self.set, "--runs", "1", "--json", "r-2.json")
        self.refuse(self.command(2), "r-2.json is not a session of this command: ")
        (self.scratch / "r-2.json").write_text("{}")
        refused = self.filereel(*self.command(2), status=3)
        self.assertIn("r-2.json", refused.err)
        (self.scratch / "r-2.json").unlink()
        (self.scratch / "r-2.json").mkdir()
        self.assertIn("r-2.json", self.filereel(*self.command(2), status=None).err)
        self.assertEqual(self.results(), ["r-2.json"])
        self.assertFalse((self.scratch / "h").exists())

    def test_a_changed_result_is_not_a_session(self):
        self.filereel(*self.command(2))
        result = self.result("r-1.json")
        result["filereel"]["version"] = "0.0.9"
        (self.scratch / "r-1.json").write_text(json.dumps(result))
        self.refuse(self.command(2), "r-1.json", "the version of filereel is 0.0.9, not ")


if __name__ == "__main__":
    main()
