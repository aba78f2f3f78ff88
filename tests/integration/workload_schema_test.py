"""The schema of workloads, the catalogue and the parser say the same of what is a workload."""

import json
import pathlib
import unittest

try:
    import jsonschema
    import yaml
except ImportError:
    jsonschema = None

from support import IntegrationTest, main, needs

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CATALOG = sorted((ROOT / "traces/catalogue").glob("*.yaml"))
SAMPLES = HERE / "workloads"


def samples(kind):
    found = sorted((SAMPLES / kind).glob("*.yaml"))
    assert found, kind
    return found


def read(path):
    return yaml.safe_load(path.read_text())


@unittest.skipUnless(jsonschema, "needs Python's jsonschema and yaml")
class Schema(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        schema = json.loads((ROOT / "docs/workload.schema.json").read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        cls.validator = jsonschema.Draft202012Validator(schema)

    def assert_valid(self, path):
        found = jsonschema.exceptions.best_match(self.validator.iter_errors(read(path)))
        self.assertIsNone(found, f"{path.name}: {found and found.message}")

    def test_it_takes_every_workload_of_the_catalogue(self):
        self.assertGreater(len(CATALOG), 40)
        for path in CATALOG:
            with self.subTest(path.name):
                self.assert_valid(path)

    def test_it_takes_the_good_samples(self):
        for path in samples("good"):
            with self.subTest(path.name):
                self.assert_valid(path)

    def test_it_refuses_the_bad_samples(self):
        for path in samples("bad"):
            with self.subTest(path.name):
                self.assertFalse(self.validator.is_valid(read(path)))

    def test_it_takes_what_only_the_parser_can_refuse(self):
        for path in samples("beyond_schema"):
            with self.subTest(path.name):
                self.assert_valid(path)

    def test_every_key_is_described(self):
        def look(value, where):
            if isinstance(value, list):
                for item in value:
                    look(item, where)
            elif isinstance(value, dict):
                for name, one in value.get("properties", {}).items():
                    known = one is False or "description" in one or \
                        one.get("$ref", "").startswith("#/$defs/") or where == "condition"
                    self.assertTrue(known, name)
                for name, one in value.items():
                    look(one, "condition" if name in ("if", "then", "else") else where)
        look(self.validator.schema, "")


@unittest.skipUnless(jsonschema, "needs Python's jsonschema and yaml")
class Catalogue(unittest.TestCase):

    def test_every_workload_says_what_it_is_and_where_it_comes_from(self):
        for path in CATALOG:
            with self.subTest(path.name):
                workload = read(path)
                for key in ("description", "source", "notes"):
                    self.assertTrue(workload.get(key), key)
                self.assertLessEqual(len(workload["description"]), 100)
                self.assertNotIn("\n", workload["description"].strip())

    def test_every_workload_stands_in_the_documents(self):
        text = "".join((ROOT / "docs" / name).read_text()
                       for name in ("catalogue.md", "catalogue-reels.md"))
        for path in CATALOG:
            self.assertIn(f"`{path.stem}`", text)


class Parser(IntegrationTest):

    @needs("ext4")
    def test_it_runs_the_good_samples(self):
        for path in samples("good"):
            with self.subTest(path.name):
                roles = ["near"] + [role for role in ("far", "far-2") if f"{role}]" in path.read_text()]
                images = {role: self.scratch / f"{role}.img" for role in roles}
                volumes = []
                for role, image in images.items():
                    volumes += [f"--{role.removesuffix('-2')}", f"image:{image},size=400M"]
                self.filereel("run", path, *volumes, "--runs", "1", "--json", "r.json")
                self.assertTrue(self.result()["complete"])
                for image in images.values():
                    image.unlink()

    def test_it_refuses_the_others_in_one_line_with_line_and_column(self):
        for path in samples("bad") + samples("beyond_schema"):
            with self.subTest(path.name):
                finished = self.filereel("run", path, "--near", self.folder("near"), status=None)
                self.assert_refused(finished, 3)
                self.assertRegex(finished.err, rf"{path.name}:\d+:\d+: ")


if __name__ == "__main__":
    main()
