"""Finds numbers in texts whose nouns and verbs do not agree with them: "1 files", "1 results differ". Such
texts are made by filesets/system/wording.h.
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "prose"))
import texts  # noqa: E402

NOUNS = """accesses axes bytes calls characters clients combinations copies cores differences directories disks
entries errors events files groups holes hosts intervals items jobs keys levels lines links measurements names numbers
objects operations packages pages pairs parts paths phases points processes programs reads records reels repetitions
requests results rounds runs samples sessions sets slots stalls steps threads tools values volumes words
writes""".split()
COUNT = re.compile(r"(?P<before>\S*) ?\{[^{}]*\} (?:%s|are|were|have|differ)\b" % "|".join(NOUNS))
# Before a number that is a limit or the larger end of a range, or the last of two subjects.
PLURAL = {"most", "than", "exceed", "exceeds", "to", "or", "and"}

# What looks like a count and is none: the number is a name, a size, or no whole number.
NO_COUNTS = {
    "traces/export/fio_iolog.cc: {} operations",
    "traces/workload/access_pattern.cc: accesses of {} do not fit",
    "traces/workload/sweep.cc: a sweep of {:.0f} points",
    "traces/edit/copies.cc: need {} paths",
    "replay/compare/comparison.cc: of the {} {} runs",
    "replay/compare/comparison_text.cc: those of a quiet {} differ",
    "replay/compare/prediction.cc: the {} repetitions needed",
    "replay/report/conclusions.cc: all {} measurements",
    "tools/cli/record_command.cc: {} runs without the privileges",
    "tools/cli/session_files.cc: the settings of {} are",
    "traces/workload/recipe_text.cc: every {} accesses",
}


def faults_of_counts(file, source, no_counts=NO_COUNTS):
    exempt = [one.partition(": ")[2] for one in no_counts if one.startswith(file + ": ")]
    for text in texts.literals(texts.CPP, ("raw", "text"), source, file):
        for found in COUNT.finditer(text.prose):
            known = any(text.prose.find(one, max(0, found.start() - len(one)), found.end() + len(one)) >= 0
                        for one in exempt)
            if found["before"] not in PLURAL and not known:
                yield (f"{file}:{text.line}: '{found[0].strip()}' is wrong for 1: use "
                       "filesets/system/wording.h")
