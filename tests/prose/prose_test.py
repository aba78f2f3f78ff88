"""What users read is plain English: no banned phrases, no spelling mistakes, nothing that proselint minds.

prose_test.py DIR prints a line for each fault in the tree at DIR, and exits with 1 if there is any. Banned phrases are
listed in banned.txt, words that aspell does not know in words.txt, checks of proselint in proselint.json.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from texts import all_texts

HERE = pathlib.Path(__file__).parent
# Words with letters only, or with an apostrophe; names of code have others.
WORD = re.compile(r"(?<![\w.$%/\\@-])[A-Za-z]+(?:'[a-z]+)?(?![\w/\\@]|[.-]\w)")


def read_banned(text):
    for line in text.splitlines():
        if line and not line.startswith("#"):
            phrase, better = line.split("\t")
            yield re.compile(phrase), better


def faults_of_phrases(texts, banned):
    for text in texts:
        for phrase, better in banned:
            for match in phrase.finditer(text.prose.lower()):
                yield f"{text.file}:{text.line}: '{match[0]}': write {better}"


def spelled(word):
    """Words that are worth a look: no acronyms, no names of code."""
    return len(word) > 1 and not any(letter.isupper() for letter in word[1:])


def misspelt(words):
    """Those that aspell does not know: British English with -ise."""
    found = subprocess.run(["aspell", "list", "--lang=en_GB-ise", "--encoding=utf-8"], input="\n".join(sorted(words)),
                           capture_output=True, text=True, check=True)
    return set(found.stdout.split())


def faults_of_spelling(texts, accepted):
    places = {}
    for text in texts:
        for word in filter(spelled, WORD.findall(text.prose)):
            places.setdefault(word.removesuffix("'s"), text)
    unknown = {word for word in misspelt(places) if word.lower() not in accepted}
    for word in sorted(unknown):
        yield f"{places[word].file}:{places[word].line}: '{word}': a spelling mistake? If not, add it to words.txt"
    for word in sorted(accepted - {place.lower() for place in places}):
        yield f"words.txt: no text has '{word}'; remove it"


def faults_of_style(texts, config):
    """`config`: proselint's, which it reads from the user's directory."""
    with tempfile.TemporaryDirectory() as directory:
        user = pathlib.Path(directory)
        (user / "proselint").mkdir()
        (user / "proselint/config").write_text(config)
        prose = user / "prose.txt"  # one text a line
        prose.write_text("".join(" ".join(text.prose.split()) + "\n\n" for text in texts))
        done = subprocess.run(["proselint", "--json", str(prose)], capture_output=True, text=True, check=False,
                              env=os.environ | {"XDG_CONFIG_HOME": directory, "XDG_CACHE_HOME": directory})
        for error in json.loads(done.stdout)["data"]["errors"]:
            text = texts[(error["line"] - 1) // 2]
            yield f"{text.file}:{text.line}: {error['message']} [{error['check']}]"


def main(root):
    texts = list(all_texts(root))
    accepted = {word.lower() for word in (HERE / "words.txt").read_text().split()}
    config = (HERE / "proselint.json").read_text()
    faults = [*faults_of_phrases(texts, list(read_banned((HERE / "banned.txt").read_text()))),
              *faults_of_spelling(texts, accepted), *faults_of_style(texts, config)]
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
