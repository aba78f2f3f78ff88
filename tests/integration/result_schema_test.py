"""Results are what docs/result.schema.json says: real ones, and those of older schema versions."""

import copy
import json
import pathlib
import signal
import unittest

try:
    import jsonschema
except ImportError:
    jsonschema = None

from support import IntegrationTest, main, needs, wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = sorted((ROOT / "tests/replay/golden").glob("*-v[123].json"))


def load_validator():
    schema = json.loads((ROOT / "docs/result.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


class Base:

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.validator = load_validator()

    def assert_valid(self, result):
        found = jsonschema.exceptions.best_match(self.validator.iter_errors(result))
        self.assertIsNone(found, found and f"{list(found.absolute_path)}: {found.message[:500]}")

    def assert_invalid(self, result):
        self.assertFalse(self.validator.is_valid(result))


@unittest.skipUnless(jsonschema, "needs Python's jsonschema")
class Older(Base, unittest.TestCase):

    def test_it_takes_the_kept_results_of_each_version(self):
        self.assertGreaterEqual(len(GOLDEN), 4)
        for path in GOLDEN:
            with self.subTest(path.name):
                result = json.loads(path.read_text())
                self.assertEqual(f"-v{result['schema_version']}", path.stem[-3:])
                self.assert_valid(result)

    def test_it_refuses_what_is_misspelt_missing_or_of_another_kind(self):
        good = json.loads((ROOT / "tests/replay/golden/result-v1.json").read_text())
        self.assert_valid(good)

        def changed(change):
            result = copy.deepcopy(good)
            change(result)
            return result

        sample = lambda result: result["measurements"][0]["samples"][0]
        for change in (
                lambda r: r.update(schema_version=3),
                lambda r: r.update(schema_version=6),
                lambda r: r.pop("overhead_ns_per_operation"),
                lambda r: r.pop("started"),
                lambda r: r.update(started="yesterday"),
                lambda r: r.update(lable="A"),
                lambda r: r.update(label="A"),  # is of schema 2
                lambda r: r["host"].update(cores="8"),
                lambda r: r["volumes"][0].update(role="middle"),
                lambda r: r["volumes"][0]["device"].update(size=-1),
                lambda r: r["plan"]["operations"].append("remove"),
                lambda r: r["plan"].update(jobs=[]),  # is of schema 3
                lambda r: r["warnings"][0].pop("next_step"),
                lambda r: r["warnings"][0].update(code="Not Cold"),
                lambda r: r["measurements"][0].update(file_sistem="ext4"),
                lambda r: r["measurements"][0].update(kind="fc-test"),  # is of schema 3
                lambda r: r["measurements"][0]["parameters"].pop("threads"),
                lambda r: r["measurements"][0]["summary"].update(kb_per_s={"median": 1}),
                lambda r: sample(r).pop("durable_s"),
                lambda r: sample(r).update(cached_before=1.5),
                lambda r: sample(r).update(condition={}),
                lambda r: sample(r)["latency"]["write"].pop("p99_9_us"),
                lambda r: sample(r)["divergences"].pop("count"),
        ):
            with self.subTest(change.__code__.co_firstlineno):
                self.assert_invalid(changed(change))


@unittest.skipUnless(jsonschema, "needs Python's jsonschema")
class Written(Base, IntegrationTest):
    """All that is written now is of schema 8."""

    def assert_result(self, name="r.json"):
        result = self.result(name)
        self.assertEqual(result["schema_version"], 8)
        self.assert_valid(result)
        return result

    def assert_refused_when(self, result, *changes):
        for change in changes:
            with self.subTest(change.__code__.co_firstlineno):
                other = copy.deepcopy(result)
                change(other)
                self.assert_invalid(other)

    def kinds(self, result):
        return [job["kind"] for job in result["plan"]["jobs"]]

    @needs("ext4")
    def test_of_fc_test(self):
        near, far = self.scratch / "near.img", self.scratch / "far.img"
        self.filereel("run", "--near", f"image:{near}", "--far", f"image:{far}", "--fs", "ext4",
                      "--set", "iso", "--scale", "0.002", "--runs", "2", "--verify", "tree", "--json",
                      "r.json")
        result = self.assert_result()
        self.assertEqual(self.kinds(result), ["fc-test"])
        self.assertEqual(len(result["measurements"]), 5)
        self.assertIn("tree", result["measurements"][0]["samples"][0])
        near.unlink()
        far.unlink()
        self.assert_refused_when(
            result,
            lambda r: r["host"].pop("clock_source"),
            lambda r: r["volumes"][0].pop("drives"),
            lambda r: r["volumes"][0]["device"].pop("transport"),
            lambda r: r["measurements"][0]["samples"][0].pop("conditions"),
            lambda r: r["measurements"][0]["samples"][0]["conditions"].update(cpu=1),
            lambda r: r["measurements"][0]["samples"][0].update(reel={}),
            lambda r: r["measurements"][0]["samples"][0]["tree"].pop("entries"),
            lambda r: r["measurements"][0]["summary"]["mb_per_s"].pop("outliers"),
            lambda r: r["measurements"][0].update(runs_ended="bored"),
            lambda r: r["measurements"][0].update(kind="reel"),
            lambda r: r["measurements"][0].pop("kind"),
            lambda r: r["measurements"][0]["parameters"].update(threads=1),
            lambda r: r.update(overhead_ns_per_operation=0),
            lambda r: r["plan"].update(workload="fc-test"),
            lambda r: r["plan"]["jobs"][0].pop("kind"),
            lambda r: r["plan"]["jobs"][0].update(sets=["iso"]),
            lambda r: r["plan"]["jobs"][0]["settings"].pop("block_size"),
            lambda r: r["plan"]["jobs"][0]["settings"].update(time="1 s"),
        )

    def test_of_fc_test_with_a_sweep(self):
        self.filereel("run", "fc-test", "--set", "iso", "--scale", "0.002", "--engine", "null",
                      "--sweep", "threads=1,2", "--runs", "1", "--json", "r.json")
        result = self.assert_result()
        job, = result["plan"]["jobs"]
        self.assertEqual(job["sweep"], [{"name": "threads", "values": ["1", "2"]}])
        self.assertNotIn("threads", job["settings"])
        self.assertEqual({sweep["set"] for sweep in result["sweeps"]}, {"iso"})
        self.assert_refused_when(result, lambda r: r["sweeps"][0].pop("set"))

    @needs("ext4")
    def test_of_a_workload_on_several_volumes(self):
        volumes = ["--near", self.folder("a"), "--far", self.folder("b"), "--far", self.folder("c")]
        self.filereel("run", "fio-matrix-random", *volumes, "--scale", "0.001", "--time", "0.05s",
                      "--sweep", "depth=2", "--sweep", "reads=50%", "--sweep", "run.size=4KiB",
                      "--json", "r.json")
        result = self.assert_result()
        self.assertEqual([one["operation"] for one in result["measurements"]],
                         ["run", "run near", "run far", "run far-2"])
        self.assertEqual([one["role"] for one in result["volumes"]], ["near", "far", "far-2"])
        self.assert_refused_when(result, lambda r: r["volumes"][2].update(role="far-8"))

    def test_of_a_workload_with_a_sweep(self):
        near = self.scratch / "near.img"
        self.filereel("run", "random-read", "--near", f"image:{near}", "--scale", "0.01", "--time",
                      "0.05s", "--sweep", "depth=1,4", "--runs", "1", "--json", "r.json")
        result = self.assert_result()
        self.assertEqual(self.kinds(result), ["workload"])
        self.assertTrue(result["sweeps"])
        near.unlink()
        self.assert_refused_when(
            result,
            lambda r: r["sweeps"][0].update(mb_per_s=[["1"]]),
            lambda r: r["plan"]["jobs"][0]["sweep"][0].update(values=[]),
            lambda r: r["plan"]["jobs"][0]["settings"].update(block_size="4 KiB"),
            lambda r: r["measurements"][0].update(replay={}),
        )

    def test_of_a_replay(self):
        self.filereel("replay", "app-file-write", self.folder("near"), "--verify", "tree", "--remove",
                      "--runs", "1", "--json", "r.json")
        result = self.assert_result()
        self.assertEqual(self.kinds(result), ["trace"])
        sample = result["measurements"][0]["samples"][0]
        self.assertIn("reel", sample)
        self.assertIn("tree", sample)
        self.assertGreater(result["measurements"][0]["replay"]["recorded_s"], 0)
        self.assert_refused_when(
            result,
            lambda r: r["measurements"][0].pop("replay"),
            lambda r: r["measurements"][0]["replay"].pop("recorded_s"),
            lambda r: r["measurements"][0]["replay"].update(warm=False),
            lambda r: r["measurements"][0]["samples"][0].pop("reel"),
            lambda r: r["measurements"][0]["samples"][0]["reel"].update(
                tree=r["measurements"][0]["samples"][0]["tree"]),  # is of schemas 1 and 2
            lambda r: r["plan"]["jobs"][0]["settings"].update(copy_method="readwrite"),
        )

    def test_of_a_replay_with_a_sweep_and_a_pace(self):
        self.filereel("replay", "app-file-write", "--engine", "null", "--pace", "100x", "--sweep",
                      "order=resource,strict", "--runs", "1", "--json", "r.json")
        result = self.assert_result()
        self.assertEqual([one["parameters"] for one in result["measurements"]],
                         [{"order": "resource"}, {"order": "strict"}])
        self.assertIn("lateness", result["measurements"][0]["samples"][0]["reel"])
        self.assertEqual(result["volumes"], [])

    def suite(self):
        plan = self.scratch / "suite.yaml"
        plan.write_text("runs: auto\nmost_runs: 5\nscale: 0.002\njobs:\n"
                        "  - iso\n"
                        "  - {job: random-read, time: 20 ms, sweep: {depth: [1, 2]}}\n"
                        "  - {job: app-file-write, verify: tree}\n")
        return plan

    def test_of_a_suite_and_of_a_second_volume(self):
        self.filereel("run", self.suite(), "--near", self.folder("near"), "--against",
                      self.folder("against"), "--label", "one", "--against-label", "other",
                      "--note", "of a test", "--hide-serial", "--json", "r.json", "--against-json",
                      "b.json", status=None)
        for name, label in (("r.json", "one"), ("b.json", "other")):
            result = self.assert_result(name)
            self.assertTrue(result["complete"])
            self.assertEqual(result["label"], label)
            self.assertEqual(self.kinds(result), ["fc-test", "workload", "trace"])
            self.assertEqual(result["plan"]["auto_runs"]["most"], 5)
            self.assertEqual({one["kind"] for one in result["measurements"]},
                             {"fc-test", "workload", "trace"})
            self.assertTrue(all("runs_ended" in one for one in result["measurements"]))

    def test_of_a_run_that_was_interrupted(self):
        run = self.start("run", "--near", self.folder("near"), "--set", "iso", "--scale", "0.01",
                         "--runs", "1000", "--json", "r.json")
        self.assertTrue(wait_until(lambda: self.steps_measured() > 0, 60))
        run.kill(signal.SIGINT)
        self.assertEqual(run.finish().code, 130)
        result = self.assert_result()
        self.assertFalse(result["complete"])


if __name__ == "__main__":
    main()
