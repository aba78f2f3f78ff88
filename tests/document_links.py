"""Links of documents that lead nowhere. Documents are installed, sources are not."""

import re

LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.*)", re.MULTILINE)
CODE = re.compile(r"^( {4}|```).*", re.MULTILINE)


def anchor_of(heading):
    """The anchor that a heading gets, as on GitHub."""
    return re.sub(r"[^\w\- ]", "", re.sub(r"\]\([^)]*\)", "", heading).lower()).replace(" ", "-")


def faults_of_links(documents, is_installed):
    """A line for each link to what is not installed, and to a heading that does not exist. `documents`: paths."""
    faults = []
    for document in documents:
        for link in LINK.findall(CODE.sub("", document.read_text())):
            if re.match(r"[a-z]+:", link):
                continue
            name, _, anchor = link.partition("#")
            target = (document.parent / name).resolve() if name else document.resolve()
            if not is_installed(target):
                faults.append(f"{document}: links to {link}, which is not installed; name the file without a link")
            elif anchor and target.suffix == ".md":
                if anchor not in map(anchor_of, HEADING.findall(target.read_text())):
                    faults.append(f"{document}: links to {link}, a heading that does not exist")
    return faults
