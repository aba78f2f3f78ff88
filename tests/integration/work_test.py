"""Work is identified by its content: edited, moved and renamed files, in results that were measured."""

import json

from support import IntegrationTest, main

RECIPE = """description: Small files
files: {name: data, count: 8, size: 16 KiB}
phases:
  - name: read
    do: [read]
"""
# The same in other words.
REWRITTEN = """# A comment.
phases: [{do:   [read], name: "read"}]
files:
  - size: 16384 B
    count: 8
    name: data
"""
EDITED = RECIPE.replace("count: 8", "count: 9")
SET = """name: tiny
groups:
  - path: d
    files: [{path: a, size: 10000}, {path: b, size: 20000}]
"""
IOLOG = "fio version 2 iolog\nf add\nf open\nf write 0 4096\nf write 4096 4096\nf close\n"


class Work(IntegrationTest):

    def setUp(self):
        super().setUp()
        self.folder("near")

    def write(self, text, name):
        path = self.scratch / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)

    def measure(self, result, *what, runs=3):
        self.filereel("run", *what, "--near", "near", "--runs", str(runs), "--json", result, "-q")
        return self.result(result)

    def compare(self, base, new, compared=True):
        """The comparison as JSON if anything can be compared, otherwise the message. Slower or not does not matter."""
        finished = self.filereel("compare", base, new, "--json", "-", status=None)
        if not compared:
            self.assert_refused(finished, 3, "nothing to compare")
            return finished.err
        self.assertIn(finished.code, (0, 4), finished)
        return json.loads(finished.out)

    def names(self, comparison):
        return [one["workload"] for one in comparison["measurements"]]

    def codes(self, comparison):
        return [one["code"] for one in comparison["warnings"]]

    def test_a_result_tells_what_its_jobs_do(self):
        result = self.measure("a.json", self.write(RECIPE, "cases/mixed.yaml"), "small-files", runs=1)
        recipe, files = result["plan"]["work"]
        self.assertEqual((recipe["job"], recipe["file"]), ("mixed.yaml", "mixed.yaml"))
        self.assertEqual(recipe["description"], "Small files")
        self.assertEqual(recipe["does"], ["data: 8 files of 16 KiB", "read: ends after 1 pass",
                                          "  1 thread on data: read by 128 KiB"])
        self.assertEqual((files["job"], files["set"]), ("fc-test", "small-files"))
        self.assertNotIn("file", files)
        self.assertNotIn(str(self.scratch) + "/cases", json.dumps(result))
        for one in result["measurements"]:
            self.assertRegex(one["work"], "^[0-9a-f]{16}$")

    def test_the_same_recipe_by_another_path_and_in_other_words_is_compared(self):
        here = self.write(RECIPE, "mixed.yaml")
        self.measure("a.json", "mixed.yaml")
        self.measure("b.json", here)
        there = self.write(REWRITTEN, "elsewhere/mixed.yaml")
        self.measure("c.json", there)
        for new in ("b.json", "c.json"):
            comparison = self.compare("a.json", new)
            self.assertEqual(self.names(comparison), ["mixed.yaml"])
            self.assertNotIn("work-unknown", self.codes(comparison))
            self.assertFalse([one for one in comparison["changes"] if "recipe" in one["what"]])

    def test_an_edited_recipe_is_not_compared(self):
        self.write(RECIPE, "mixed.yaml")
        self.write(RECIPE, "other.yaml")
        self.measure("a.json", "mixed.yaml", "other.yaml")
        self.write(EDITED, "mixed.yaml")
        self.measure("b.json", "mixed.yaml", "other.yaml")
        comparison = self.compare("a.json", "b.json")
        reasons = {one["workload"]: one.get("reason", "") for one in comparison["measurements"]}
        self.assertEqual(reasons["mixed.yaml"], "different work: the recipe of mixed.yaml changed")
        self.assertNotIn("different work", reasons["other.yaml"])
        self.assertIn({"kind": "other", "what": "recipe of mixed.yaml", "base": "data: 8 files of 16 KiB",
                       "new": "data: 9 files of 16 KiB"}, comparison["changes"])

    def test_a_renamed_copy_is_compared(self):
        self.write(RECIPE, "mixed.yaml")
        self.measure("a.json", "mixed.yaml")
        self.write(RECIPE, "copy.yaml")
        self.measure("b.json", "copy.yaml")
        comparison = self.compare("a.json", "b.json")
        self.assertEqual(self.names(comparison), ["mixed.yaml"])
        self.assertIn("renamed-file", self.codes(comparison))

    def test_two_recipes_of_one_file_name_are_measured_together(self):
        result = self.measure("a.json", self.write(RECIPE, "one/mixed.yaml"), self.write(EDITED, "two/mixed.yaml"), runs=1)
        self.assertEqual([job["name"] for job in result["plan"]["jobs"]],
                         ["mixed.yaml", str(self.scratch / "two/mixed.yaml")])

    def test_an_edited_file_set_is_not_compared(self):
        path = self.write(SET, "set.yaml")
        user = self.write("files: {set: set.yaml}\ndo: [read]\n", "user.yaml")
        for name, what in (("a.json", path), ("u.json", user)):
            self.measure(name, what)
        self.write("# A comment.\n" + SET, "set.yaml")
        for name, base, what in (("b.json", "a.json", path), ("v.json", "u.json", user)):
            self.measure(name, what)
            self.compare(base, name)
        self.write(SET.replace("10000", "15000").replace("20000", "15000"), "set.yaml")  # as many bytes
        for name, base, what, words in (("c.json", "a.json", path, "the file set tiny changed"),
                                        ("w.json", "u.json", user, "the recipe of user.yaml changed")):
            self.measure(name, what)
            self.assertIn(words, self.compare(base, name, compared=False))

    def test_another_trace_of_the_same_name_is_not_compared(self):
        self.write(IOLOG, "log")
        self.filereel("import", "log", "-o", "app.reel")
        self.measure("a.json", "app.reel")
        (self.scratch / "moved").mkdir()
        (self.scratch / "app.reel").rename(self.scratch / "moved/app.reel")
        self.measure("b.json", "moved/app.reel")
        self.assertEqual(self.names(self.compare("a.json", "b.json")), ["app"])
        self.write(IOLOG.replace("write 4096", "write 8192"), "log")  # as many bytes and operations
        self.filereel("import", "log", "-o", "app.reel")
        self.measure("c.json", "app.reel")
        self.assertIn("the trace app changed", self.compare("a.json", "c.json", compared=False))

    def test_sessions_notice_an_edited_recipe(self):
        command = ["run", "mixed.yaml", "--near", "near", "--runs", "1", "--json", "r.json", "-q"]
        self.write(RECIPE, "mixed.yaml")
        self.filereel(*command, "--sessions", "2")
        self.write(REWRITTEN, "mixed.yaml")
        self.filereel(*command, "--sessions", "3")
        self.write(EDITED, "mixed.yaml")
        refused = self.filereel(*command, "--sessions", "4", status=None)
        self.assert_refused(refused, 2, "the recipe of mixed.yaml has changed", "8 files", "9 files")

    def test_a_history_has_a_trend_for_each_content(self):
        for number, text in enumerate((RECIPE, EDITED, RECIPE, EDITED)):
            self.write(text, "mixed.yaml")
            self.measure(f"{number}.json", "mixed.yaml", runs=1)
            self.filereel("history", "h", "add", f"{number}.json", "--device", "drive")
        trend = json.loads(self.filereel("history", "h", "trend", "--json").out)
        series = [one for one in trend["devices"][0]["measurements"] if not one["unit"].startswith("µs")]
        self.assertEqual([len(one["points"]) for one in series], [2, 2])
        self.assertNotEqual(series[0]["options"], series[1]["options"])

    def test_page_and_markdown_tell_what_is_done(self):
        self.write(RECIPE, "mixed.yaml")
        self.measure("a.json", "mixed.yaml", runs=1)
        self.filereel("report", "a.json", "-o", "a.html", "--markdown", "a.md")
        line = "Small files; data: 8 files of 16 KiB; read: ends after 1 pass; 1 thread on data: read by 128 KiB"
        self.assertIn(f"- mixed.yaml: {line}", (self.scratch / "a.md").read_text().replace("\\", ""))
        self.assertIn("1 thread on data: read by 128 KiB", (self.scratch / "a.html").read_text())


if __name__ == "__main__":
    main()
