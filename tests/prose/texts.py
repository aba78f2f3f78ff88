"""Finds the texts that users read: documents, man pages, string literals, catalogue entries, the report's page.

Each is a Text: where it is, and its prose without code, markup and placeholders.
"""

import json
import pathlib
import re
import typing

LAYERS = ["filesets", "traces", "replay", "tools"]


class Text(typing.NamedTuple):
    file: str
    line: int
    prose: str


# A literal, or something that could be taken for the start of one.
CPP = re.compile(r'R"(?P<mark>\w*)\((?P<raw>.*?)\)(?P=mark)"|"(?P<text>(?:[^"\\\n]|\\.)*)"'
                 r"|//[^\n]*|/\*.*?\*/|'(?:[^'\\\n]|\\x[0-9a-fA-F]+|\\.)'", re.DOTALL)
JAVASCRIPT = re.compile(r'"(?P<double>(?:[^"\\\n]|\\.)*)"|\'(?P<single>(?:[^\'\\\n]|\\.)*)\''
                        r"|`(?P<template>(?:[^`\\]|\\.)*)`|//[^\n]*|/\*.*?\*/", re.DOTALL)
WORD = re.compile(r"[A-Za-z]{2,}")


def is_prose(text):
    """Neither a word nor a list of words (between blanks, for searching) nor a script."""
    return (" " in text.strip() and len(WORD.findall(text)) >= 2 and not (text[0] == text[-1] == " ")
            and "\n  " not in text)


def literals(pattern, groups, source, file):
    """Literals with nothing but blanks between them are one text."""
    parts, line, end = [], 0, None
    for match in pattern.finditer(source):
        text = next((match[group] for group in groups if match[group] is not None), None)
        if text is None:
            continue
        before = source[source.rfind("\n", 0, match.start()) + 1:match.start()]
        if before.lstrip().startswith("#include"):
            continue
        if end is None or source[end:match.start()].strip():
            if parts:
                yield Text(file, line, "".join(parts))
            parts, line = [], source.count("\n", 0, match.start()) + 1
        parts.append(text)
        end = match.end()
    if parts:
        yield Text(file, line, "".join(parts))


def of_literals(pattern, groups, source, file):
    for text in literals(pattern, groups, source, file):
        prose = re.sub(r"\\[nt]", " ", text.prose).replace('\\"', '"')
        prose = re.sub(r"\$\{(?:[^{}]|\{[^{}]*\})*\}", "X", prose)  # JavaScript's placeholders
        prose = re.sub(r"\{[^{}]*\}", "X", prose)  # those of fmt
        if is_prose(prose):
            yield text._replace(prose=prose)


def paragraphs(lines, file):
    """Lines up to an empty one are one text, so that a phrase may go over the end of a line."""
    start, words = 0, []
    for number, line in enumerate([*lines, ""], 1):
        if line.strip():
            start = start if words else number
            words.append(line.strip())
        elif words:
            yield Text(file, start, " ".join(words))
            words = []


def of_markdown(source, file):
    source = re.sub(r"^```.*?^```$", lambda code: "\n" * code[0].count("\n"), source,
                    flags=re.DOTALL | re.MULTILINE)
    source = re.sub(r"``.+?``|`[^`]+`", lambda code: "X" + "\n" * code[0].count("\n"), source)
    source = re.sub(r"\]\([^)\s]*\)", "]", source)
    source = re.sub(r"<?https?://\S+", "X", source)
    lines, is_code, after_blank = [], False, True
    for line in source.split("\n"):
        indented = line.startswith("    ")
        is_code = indented and (is_code or after_blank)
        after_blank = not line.strip()
        if is_code or re.fullmatch(r"[|\s:-]+", line):
            lines.append("")
        elif line.lstrip().startswith(("|", "#", "- ", "* ")):
            lines += ["\0" + line]  # a text of its own
        else:
            lines.append(line)
    for text in paragraphs(lines, file):
        line = text.line
        for part in text.prose.split("\0"):
            if part.strip():
                yield Text(file, line, part.strip(" |#*-"))
                line += 1 if "\0" in text.prose else 0


def of_man_page(source, file):
    lines = []
    for line in source.split("\n"):
        if re.match(r"\.(SH|SS|TP|PP|P|RS|RE|nf|fi|EX|EE|TH|br|sp|\\\")", line):
            lines.append(line.split(" ", 1)[1] if line.startswith((".SH ", ".SS ")) else "")
        elif re.match(r"\.(B|I|BR|IR|RB|RI|BI)\b", line):
            lines.append("X")
        else:
            lines.append(re.sub(r"\\f[BI].*?\\f[RP]", "X", line).replace(r"\-", "-").replace(r"\&", "").replace(r"\(aq", "'"))
    return paragraphs(lines, file)


def of_yaml(source, file):
    """Values of the keys that people read, and comments."""
    key = re.compile(r"^\s*(?:- )?(?:description|notes?|source|title): *(.*)$")
    for number, line in enumerate(source.split("\n"), 1):
        value, comment = key.match(line), re.search(r"(?:^|\s)# (.*)$", line)
        for prose in [value and value[1], comment and comment[1]]:
            if prose and is_prose(prose):
                yield Text(file, number, prose)


def of_schema(source, file):
    def descriptions(value):
        if isinstance(value, dict):
            for key, inner in value.items():
                if key == "description" and isinstance(inner, str):
                    yield inner
                yield from descriptions(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from descriptions(inner)
    for prose in descriptions(json.loads(source)):
        at = source.find(json.dumps(prose, ensure_ascii=False)[1:-1])
        yield Text(file, source.count("\n", 0, max(at, 0)) + 1, prose)


def of_cpp(source, file):
    return of_literals(CPP, ["raw", "text"], source, file)


def of_javascript(source, file):
    return of_literals(JAVASCRIPT, ["double", "single", "template"], source, file)


KINDS = {".md": of_markdown, ".1": of_man_page, ".yaml": of_yaml, ".json": of_schema, ".h": of_cpp, ".cc": of_cpp,
         ".js": of_javascript}


def all_texts(root):
    root = pathlib.Path(root)
    paths = [*root.glob("*.md"), *root.glob("docs/**/*"), *root.glob("tests/**/README.md")]
    for layer in LAYERS:
        paths += root.glob(f"{layer}/**/*")
    for path in sorted(paths):
        if path.is_file() and path.suffix in KINDS:
            yield from KINDS[path.suffix](path.read_text(), path.relative_to(root).as_posix())
