"""Finds names in comments and documents that exist nowhere in the tree: files that were moved, functions, types
and members that were renamed.
"""

import io
import pathlib
import re
import tokenize

SOURCES = {".h", ".cc", ".c"}
SUFFIXES = SOURCES | {".py", ".js", ".md", ".cmake", ".txt", ".yaml", ".json"}
NOT_OURS = {"build", ".git", "corpus", "data", "__pycache__"}
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
HASH_COMMENT = re.compile(r"(?:^|(?<=\s))#(?=\s).*", re.MULTILINE)
WORD = re.compile(r"[A-Za-z_]\w*")
CODE_BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)

FILE = re.compile(r"(?<![\w/.<*}-])((?:[\w.-]+/)*[\w-]+\.(?:h|cc|c|py|js))\b(?!\()")
MEMBER = re.compile(r"\b([A-Za-z]\w*_)(?![\w*/.-])")
CALL = re.compile(r"(?<![\w.])([A-Za-z_]\w*)\(\)")
TICKED = re.compile(r"`((?:[A-Za-z_]\w*::)*[A-Za-z_]\w*)(?:\(\))?`")
# snake_case and PascalCase in comments, without marks around them.
PLAIN = re.compile(r"(?<![\w/.$%-])([a-z]+(?:_[a-z0-9]+)+|(?:[A-Z][a-z0-9]+){2,})(?![\w/-])")

# Names of others: of the kernel, of programs, of products, or ways to write.
OTHERS_FILES = ("linux/", "arch/", "include/uapi/", "fs/", "Chart.js", "libjs-chart.js")
OTHERS_NAMES = re.compile(r"innodb_\w+|linux_dirent(?:64)?|d_reclen|posix_acl_xattr|exfat_raw|proc_pid_\w+"
                          r"|SplitMix64|GitHub|JavaScript|NumPy|SciPy|MariaDB|BLK[A-Z_]+|MPI_\w+|CONFIG_\w+"
                          r"|PascalCase|snake_case|member_|put_|d\d+|[A-Z]{4}|lat|clat|df|udp"
                          r"|(?:filesets|traces|replay|tools)_test")


def split_python(text):
    """Comments and docstrings, and the rest."""
    comments, code, before = [], [], tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        starts_line = before in {tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
        is_text = token.type == tokenize.STRING and starts_line
        (comments if is_text or token.type == tokenize.COMMENT else code).append(token.string)
        if token.type not in {tokenize.COMMENT, tokenize.NL}:
            before = token.type
    return comments, code


def comments_of(file, text):
    """The text for people in a file, and the words of the rest."""
    suffix = pathlib.PurePosixPath(file).suffix
    if suffix in SOURCES or suffix == ".js":
        comments = []

        def take(match):
            if not match[0].startswith("/"):
                return match[0]
            comments.append(match[0])
            return " "
        code = COMMENT.sub(take, text)
        return "\n".join(comments), set(WORD.findall(code))
    if suffix == ".py":
        comments, code = split_python(text)
        return "\n".join(comments), set(WORD.findall(" ".join(code)))
    if suffix in {".cmake", ".txt", ".yaml"}:
        return "\n".join(HASH_COMMENT.findall(text)), set(WORD.findall(HASH_COMMENT.sub(" ", text)))
    if suffix == ".md":
        return CODE_BLOCK.sub("", text), set()
    return "", set(WORD.findall(text))


def faults_of_names(files):
    """`files`: text by the name of each file of the tree; None for those without text."""
    parts = {file: comments_of(file, text) for file, text in files.items() if text is not None}
    known = set().union(*(words for _, words in parts.values()))
    known |= {word for file in files for part in pathlib.PurePosixPath(file).parts
              for word in WORD.findall(part)}
    folders = {}
    for file in files:
        path = pathlib.PurePosixPath(file)
        folders.setdefault(path.name, []).append(path.parent.as_posix())

    for file, (text, _) in sorted(parts.items()):
        document = file.endswith(".md")
        for name in dict.fromkeys(FILE.findall(text)):
            if name.startswith(OTHERS_FILES) or "NAME" in name:
                continue
            if not any(one == name or one.endswith("/" + name) for one in files):
                yield f"{file} names {name}, which is not there"
            elif document and "/" not in name and not any(
                    one in text or one == pathlib.PurePosixPath(file).parent.as_posix()
                    for one in folders[name]):
                yield f"{file} names {name}, but not its folder {folders[name][0]}"
        names = MEMBER.findall(text)
        names += CALL.findall(text)
        names += [word for name in TICKED.findall(text) for word in name.split("::")]
        if not document:
            names += PLAIN.findall(text)
        for name in dict.fromkeys(names):
            if name not in known and not OTHERS_NAMES.fullmatch(name):
                yield f"{file} names {name}, which is not there"


def tree(root):
    files = {}
    for path in sorted(root.rglob("*")):
        file = path.relative_to(root)
        if path.is_file() and not NOT_OURS & set(file.parts):
            files[file.as_posix()] = path.read_text() if path.suffix in SUFFIXES else None
    return files
