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
GOLDEN = sorted((ROOT / "tests/replay/golden").glob("*-v1.json"))


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

    def test_it_takes_the_kept_results_of_schema_1(self):
        self.assertGreaterEqual(len(GOLDEN), 4)
        for path in GOLDEN:
            with self.subTest(path.name):
                result = json.loads(path.read_text())
                self.assertEqual(result["schema_version"], 1)
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
                lambda r: r.pop("started"),
                lambda r: r.update(started="yesterday"),
                lambda r: r.update(lable="A"),
                lambda r: r.update(label="A"),  # is of schema 2
                lambda r: r["host"].update(cores="8"),
                lambda r: r["volumes"][0].update(role="middle"),
                lambda r: r["volumes"][0]["device"].update(size=-1),
                lambda r: r["plan"]["operations"].append("remove"),
                lambda r: r["warnings"][0].pop("next_step"),
                lambda r: r["warnings"][0].update(code="Not Cold"),
                lambda r: r["measurements"][0].update(file_sistem="ext4"),
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
    """All that is written now is of schema 2."""

    def assert_result(self):
        result = self.result()
        self.assertEqual(result["schema_version"], 2)
        self.assert_valid(result)
        return result

    @needs("ext4")
    def test_of_fc_test(self):
        near, far = self.scratch / "near.img", self.scratch / "far.img"
        self.filereel("run", "--near", f"image:{near}", "--far", f"image:{far}", "--fs", "ext4",
                      "--set", "iso", "--scale", "0.002", "--runs", "2", "--json", "r.json")
        result = self.assert_result()
        self.assertEqual(len(result["measurements"]), 5)
        near.unlink()
        far.unlink()
        self.assert_misspelling_is_found(result)

    def assert_misspelling_is_found(self, result):
        for change in (
                lambda r: r["host"].pop("clock_source"),
                lambda r: r["volumes"][0].pop("drives"),
                lambda r: r["volumes"][0]["device"].pop("transport"),
                lambda r: r["measurements"][0]["samples"][0].pop("conditions"),
                lambda r: r["measurements"][0]["samples"][0]["conditions"].update(cpu=1),
                lambda r: r["measurements"][0]["summary"]["mb_per_s"].pop("outliers"),
                lambda r: r["measurements"][0].update(runs_ended="bored"),
                lambda r: r["plan"]["parameters"].pop("block_size"),
        ):
            with self.subTest(change.__code__.co_firstlineno):
                other = copy.deepcopy(result)
                change(other)
                self.assert_invalid(other)

    @needs("ext4")
    def test_of_a_workload_with_a_sweep(self):
        near = self.scratch / "near.img"
        self.filereel("run", "random-read", "--near", f"image:{near}", "--scale", "0.01", "--time",
                      "0.05s", "--sweep", "depth=1,4", "--runs", "1", "--json", "r.json")
        result = self.assert_result()
        self.assertTrue(result["sweeps"])
        near.unlink()
        wrong = copy.deepcopy(result)
        wrong["sweeps"][0]["mb_per_s"] = [["1"]]
        self.assert_invalid(wrong)

    def test_of_a_replay(self):
        self.filereel("replay", "app-file-write.reel", self.folder("near"), "--verify", "tree", "--remove",
                      "--json", "r.json")
        result = self.assert_result()
        self.assertIn("reel", result["measurements"][0]["samples"][0])
        result["plan"]["parameters"]["copy_method"] = "readwrite"
        self.assert_invalid(result)

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
