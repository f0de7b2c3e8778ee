"""What a path selects in an event's documents, for people; or how far it leads and what is missing there."""

from __future__ import annotations

from collections.abc import Iterator

from tidings.documents.selection import TooManySteps, selected, stop_of
from tidings.documents.tree import DocumentNode, read_tree
from tidings.paths.tree import Path

_MOST_STEPS = 200_000  # some 0.2 s for each document
_MOST_BYTES = 1 << 20  # of a document that is looked at
_MOST_DOCUMENTS = 8
_LONGEST_TEXT = 60


def path_note(path: Path, documents: list[str]) -> str:
    """`selects /news/title (line 3): 'Storm'`, or `/news is there, but not /title below it`."""
    told = [_told(path, document) for document in documents[:_MOST_DOCUMENTS]]
    found = [one for one in told if one.startswith("selects")]
    notes = list(dict.fromkeys(filter(None, found[:1] or told)))
    return "; ".join(notes)


def path_spans(path: Path, document: str, most: int) -> Iterator[tuple[int, int]]:
    """Where the selected nodes stand in the text: whole elements, start tags for attributes, texts. What is within
    another one is left out."""
    if len(document) > _MOST_BYTES:
        return
    try:
        nodes = selected(path, read_tree(document), _MOST_STEPS)
    except TooManySteps:
        return
    source, shown = document.encode(), 0
    for node in nodes[:most]:
        if node.start >= shown:
            shown = _end(node, source)
            yield len(source[: node.start].decode()), len(source[:shown].decode())


def _told(path: Path, document: str) -> str:
    if len(document) > _MOST_BYTES:
        return ""
    root = read_tree(document)
    try:
        nodes = selected(path, root, _MOST_STEPS)
        stop = stop_of(path, root, _MOST_STEPS) if not nodes else None
    except TooManySteps:
        return ""
    if nodes:
        text = " ".join(nodes[0].string.split())
        shown = f": {text[:_LONGEST_TEXT]!r}{'…' if len(text) > _LONGEST_TEXT else ''}" if text else ""
        return f"selects {nodes[0].path} (line {nodes[0].line}){shown}"
    assert stop is not None
    if stop.node is None:
        return f"there is no {stop.failed}"
    where = f"{stop.node.path} (line {stop.node.line})"
    if stop.failed.startswith("["):
        return f"{stop.found} is found, first at {where}, but {stop.failed} holds for none"
    return f"{stop.found} is found, first at {where}, but no {stop.failed} below it"


def _end(node: DocumentNode, source: bytes) -> int:
    """In a canonical document no `>` is in a tag except at its end."""
    if node.kind == "attribute":
        return source.index(b">", node.start) + 1
    if node.kind == "text":
        return source.index(b"<", node.start)
    return source.index(b">", node.stop) + 1
