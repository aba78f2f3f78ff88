"""prose_test.py must see faults, or it tests nothing; and texts.py must see texts."""

import pathlib
import unittest

from prose_test import HERE, faults_of_phrases, faults_of_spelling, faults_of_style, read_banned
from texts import Text, of_cpp, of_javascript, of_man_page, of_markdown, of_yaml

BANNED = list(read_banned((HERE / "banned.txt").read_text()))

# Texts of earlier versions, which must not come back.
OLD = [
    "Do a reel again on a volume, with a stopwatch",
    "Put a reel several times one after another",
    "Leave out what memory maps read and write",
    "So many copies at the same time",
    "the run of the new ended before all was measured",
    "only nearly in the trace",
    "the replay is not what the trace was",
    "came out in two groups",
    "belongs into one of the phases, or there are none",
    "names a second phase so",
    "what kind of file set this is cannot be told",
    "takes 123 ns per operation itself",
    "every result is that of the trace",
    "Its threads lie in an array, in one of two places that a thread's number gives",
    "the path stands twice in the set",
    "is exchanged for something else right now: look who does that",
]


def prose(texts):
    return [text.prose for text in texts]


class Prose(unittest.TestCase):

    def test_old_texts_are_banned(self):
        for old in OLD:
            with self.subTest(old):
                self.assertTrue(list(faults_of_phrases([Text("a.cc", 1, old)], BANNED)))

    def test_a_fault_says_where_it_is(self):
        self.assertEqual(list(faults_of_phrases([Text("a.md", 7, "With a stopwatch")], BANNED)),
                         ["a.md:7: 'stopwatch': write time it"])

    def test_misspelt_words_are_found_once(self):
        texts = [Text("a.md", 1, "a recieved file"), Text("b.md", 2, "recieved"), Text("c.md", 3, "io_uring iolog")]
        self.assertEqual([fault.split(": a ")[0] for fault in faults_of_spelling(texts, {"iolog"})],
                         ["a.md:1: 'recieved'"])

    def test_accepted_words_without_a_text_are_found(self):
        self.assertEqual(list(faults_of_spelling([Text("a.md", 1, "a file")], {"iolog"})),
                         ["words.txt: no text has 'iolog'; remove it"])

    def test_american_spelling_is_found(self):
        self.assertTrue(list(faults_of_spelling([Text("a.md", 1, "the color")], set())))

    def test_style_is_found(self):
        config = (HERE / "proselint.json").read_text()
        texts = [Text("a.md", 1, "A file."), Text("b.md", 5, "It goes without saying that it is very unique.")]
        faults = list(faults_of_style(texts, config))
        self.assertTrue(faults)
        self.assertTrue(all(fault.startswith("b.md:5: ") for fault in faults))


class Texts(unittest.TestCase):

    def test_markdown_without_code(self):
        source = "# A title\n\nOne `code` over\ntwo lines.\n\n    a command\n\n- an item\n- the next\n\n```\nmore code\n```\n"
        self.assertEqual(prose(of_markdown(source, "a.md")), ["A title", "One X over two lines.", "an item", "the next"])

    def test_literals_without_placeholders(self):
        source = '#include "a b.h"\nf("cannot open {}: "\n  "the {:.3g} reason"); // "no text"\ng("key");\n'
        self.assertEqual(list(of_cpp(source, "a.cc")), [Text("a.cc", 2, "cannot open X: the X reason")])

    def test_scripts_of_the_page(self):
        self.assertEqual(prose(of_javascript("f(`${n} of the runs`); g('no figures here');", "a.js")),
                         ["X of the runs", "no figures here"])

    def test_man_pages_without_macros(self):
        source = '.SH OPTIONS\n.TP\n\\fB\\-\\-pid\\fR \\fIN\\fR\nRecords this\nprocess.\n'
        self.assertEqual(prose(of_man_page(source, "a.1")), ["OPTIONS", "X X Records this process."])

    def test_catalogue_entries(self):
        self.assertEqual(prose(of_yaml("description: Random reads\nsize: 4 KiB  # assumed here\n", "a.yaml")),
                         ["Random reads", "assumed here"])


if __name__ == "__main__":
    unittest.main()
