"""house_test.py must see violations, or it tests nothing."""

import pathlib
import tempfile
import unittest

from document_links import faults_of_links
from house_counts import faults_of_counts
from house_names import faults_of_names
from house_test import faults_of, faults_of_recipes

DOCUMENT = """
## Folders

```
filesets:
replay/statistics:
replay:          statistics
replay/compare:  replay statistics
```
"""
SOURCES = {
    "filesets/a.h": "#include <string>\n",
    "replay/a.cc": '#include "filesets/a.h"\n#include "replay/statistics/a.h"\n',
    "replay/statistics/a.h": '#include "generated.h"\n',
    "replay/compare/a.h": '#include "replay/compare/b.h"\n#include "replay/a.h"\n',
}


class House(unittest.TestCase):

    def check(self, *faults, document=DOCUMENT, exceptions=frozenset(), **sources):
        named = {name.replace("__", "/") + ".cc": text for name, text in sources.items()}
        self.assertEqual(list(faults_of(SOURCES | named, document, exceptions)), list(faults))

    def test_a_tree_as_listed_has_no_faults(self):
        self.check()

    def test_an_include_that_points_up_the_house(self):
        self.check("filesets/b.cc may not include replay", filesets__b='#include "replay/a.h"')

    def test_an_include_that_the_list_does_not_allow(self):
        self.check("replay/b.cc may not include replay/compare",
                   replay__b='#include <string>\n# include "replay/compare/a.h"')
        self.check("replay/b.cc may not include replay/nothing", replay__b='#include "replay/nothing/a.h"')

    def test_a_folder_without_a_line_and_a_line_without_a_folder(self):
        self.check("replay/run has no line in the list", replay__run__a="")
        self.check("tools has a line in the list, but no sources",
                   document=DOCUMENT.replace("replay:", "tools:\nreplay:"))
        self.check("the line of replay names replay/run, which has no line",
                   document=DOCUMENT.replace("replay:", "replay: run"))

    def test_a_cycle(self):
        self.check("the list has a cycle: replay -> replay/compare -> replay",
                   document=DOCUMENT.replace("replay:", "replay: compare"))

    def test_exceptions_that_are_used_and_those_that_are_not(self):
        one = {("filesets/b.cc", "replay")}
        self.check(exceptions=one, filesets__b='#include "replay/a.h"')
        self.check("filesets/b.cc does not include replay: remove it from the exceptions",
                   exceptions=one)

    def test_functions_that_show_texts_of_libraries(self):
        text = "replay/b.cc shows the text of a library: translate it (filesets/system/failure_text.h)"
        for call in ("ZSTD_getErrorName(left)", "MPI_Error_string(code, text, &length);",
                     'fmt::format("cannot load: {}", dlerror())'):
            self.check(text, replay__b=call)
        paths = "replay/b.cc uses a function of Boost that fails where ours do not: use those of " \
                "paths.h"
        for call in ("fs::absolute(path)", "boost::filesystem::canonical(path, error)",
                     "fs::exists(path, error)", "one.symlink_status(error)",
                     "for (const auto& one : fs::directory_iterator(folder, ignored)) {"):
            self.check(paths, replay__b=call)
        self.check(replay__b="path_exists(path); fs::directory_iterator one(folder, error);")

    def test_a_flag_of_this_processor_in_the_code_of_traces(self):
        document = DOCUMENT.replace("replay:  ", "traces:\nreplay/schedule:\nreplay:  ")
        more = {"traces__a": "", "replay__schedule__a": "// O_DIRECT, \"O_TMPFILE\"\nf(\"O_DIRECT\");"}
        self.check(document=document, **more)
        for place in ("traces__b", "replay__schedule__b"):
            self.check(f"{place.replace('__', '/')}.cc uses a flag that differs by processor: "
                       "use traces/open_flags.h", document=document, **more,
                       **{place: "  flags |= O_DIRECTORY;"})
        self.check(document=document, replay__c="open(name, O_DIRECT);", **more)

    def test_a_second_place_that_includes_the_json_library(self):
        self.check("replay/b.cc includes the JSON library: include replay/json.h",
                   replay__b="#include <nlohmann/json.hpp>")

    def test_files_that_whoever_adds_something_does_not_find(self):
        files = {"a/one.cc": "kTable", "a/*_job.cc": "class Job"}
        check = lambda rows: list(faults_of_recipes(
            "## How to add something\n\n" + rows + "\n## Else\n| `b` | `c` | |\n",
            lambda pattern: [text for name, text in files.items() if name == pattern]))
        self.assertEqual(check("| `a/one.cc` | `kTable` | |\n| `a/NAME_job.cc` | `Job` | |\n"), [])
        self.assertEqual(check("| `a/two.cc` | `kTable` | |\n| `a/one.cc` | `kOther` | |\n"),
                         ["CONTRIBUTING.md names a/two.cc, which is not there",
                          "CONTRIBUTING.md says that a/one.cc holds 'kOther'"])
        self.assertEqual(check("nothing"), ["CONTRIBUTING.md names no files for contributors"])

    def test_links_of_documents_that_lead_nowhere(self):
        with tempfile.TemporaryDirectory() as folder:
            here = pathlib.Path(folder).resolve()
            (here / "source.cc").touch()
            (here / "two.md").write_text("# Two\n## Options × `kinds`\n")
            one = here / "one.md"
            check = lambda: [fault.split(": ", 1)[1] for fault in faults_of_links(
                [one], lambda path: path.exists() and path.suffix == ".md")]
            one.write_text("[a](two.md) [b](two.md#options--kinds) [c](https://a.b) [d](#here)\n# Here\n    [x](y)\n")
            self.assertEqual(check(), [])
            one.write_text("[a](source.cc) [b](three.md) [c](two.md#three)\n")
            self.assertEqual(check(), [
                "links to source.cc, which is not installed; name the file without a link",
                "links to three.md, which is not installed; name the file without a link",
                "links to two.md#three, a heading that does not exist"])

    def check_names(self, text, *faults, file="filesets/a.h"):
        files = {"filesets/b.h": "struct Tree { int size_; }; void walk_tree(Tree);  // gone_name",
                 "replay/run/c.cc": 'std::string text = "see kept_word";',
                 "tests/d.py": "def python_name(): pass\n", "images/picture.png": None, file: text}
        self.assertEqual([one.removeprefix(f"{file} names ") for one in faults_of_names(files)
                          if one.startswith(file)], list(faults))

    def test_comments_that_name_what_is_there(self):
        self.check_names("// walk_tree (b.h) of filesets/b.h; `Tree::size_`, walk_tree(), kept_word\n"
                         "/* python_name of d.py; size_, and put_* */ int linux_aio;")
        self.check_names("// linux/fs.h, innodb_page_size, bpf_*_kernel.h, https://host/x.h\n")

    def test_comments_that_name_what_is_gone(self):
        gone = "{}, which is not there"
        self.check_names("// as walk_trees does (filesets/c.h)", gone.format("filesets/c.h"),
                         gone.format("walk_trees"))
        self.check_names("int a;  // queued_ and flying_\n// of gone_name", gone.format("queued_"),
                         gone.format("flying_"), gone.format("gone_name"))
        self.check_names("/* by `Tree::Node`, closed() of\n a PathFilter */ char c = '\"';",
                         gone.format("closed"), gone.format("Node"), gone.format("PathFilter"))
        self.check_names("x = 1  # of no_such_name\n", gone.format("no_such_name"), file="tests/e.py")
        self.check_names('"""Of no_such_text."""\nx = """code_in_text"""\n', gone.format("no_such_text"),
                         file="tests/e.py")
        self.check_names("set(x 1)  # as gone.cc does\n", gone.format("gone.cc"), file="cmake/e.cmake")

    def test_documents_that_name_what_is_gone(self):
        gone = "{}, which is not there"
        self.check_names("`c.cc` in `replay/run/`, `walk_tree`\n```\nelse.h\n```\n", file="docs/a.md")
        self.check_names("`b.cc`, `Other`, `other()`", gone.format("b.cc"), gone.format("other"),
                         gone.format("Other"), file="docs/a.md")
        self.check_names("`c.cc`", "c.cc, but not its folder replay/run", file="docs/a.md")

    def test_numbers_whose_words_do_not_agree(self):
        check = lambda text: [one.partition("'")[2].partition("'")[0] for one in faults_of_counts(
            "a.cc", text, {"a.cc: those of {} differ"})]
        self.assertEqual(check('f("{} results differ", n); g("{:>3} "\n  "files"); h("has {} are");'),
                         ["{} results", "{:>3} files", "has {} are"])
        self.assertEqual(check('f("at most {} files, {} to {} runs; {} and {} are the same");'
                               'g("those of {} differ"); h("{} bus"); // "{} files"'), [])


if __name__ == "__main__":
    unittest.main()
