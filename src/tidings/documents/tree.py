"""A document as a tree of Python objects, for one document at a time: explanations and the specification.

The nodes are those of `batch`: elements, attributes and texts; comments and instructions are dropped and adjacent texts
joined. The order of attributes is that of the document."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal
from xml.parsers import expat

NodeKind = Literal["element", "attribute", "text"]


@dataclass(eq=False, slots=True)
class DocumentNode:
    """`value` is the text of an attribute or a text; `start` is where it begins in the document, in bytes: of an
    attribute, where its element does."""

    kind: NodeKind
    local: str
    namespace: str
    parent: DocumentNode | None
    line: int
    start: int
    value: str = ""
    children: list[DocumentNode] = field(default_factory=list)  # elements and texts
    attributes: list[DocumentNode] = field(default_factory=list)
    stop: int = 0  # of an element: where its end tag begins, or its own tag where it has none

    @property
    def string(self) -> str:
        """XPath's string value."""
        if self.kind != "element":
            return self.value
        pieces: list[str] = []
        waiting = [self]
        while waiting:
            node = waiting.pop()
            if node.kind == "text":
                pieces.append(node.value)
            waiting += reversed(node.children)
        return "".join(pieces)

    @property
    def path(self) -> str:
        """`/nitf[1]/head[1]/@id`, with places among siblings of the same name, where there are several."""
        steps: list[str] = []
        node: DocumentNode | None = self
        while node is not None:
            steps.append(_step(node))
            node = node.parent
        return "/" + "/".join(reversed(steps))


class _Enough(Exception):
    """As many nodes as are wanted have been read."""


def read_tree(document: str, most: int | None = None) -> DocumentNode:
    """The root of a valid document; raises expat's error for any other. With `most`, about so many nodes are read, and
    what comes after them is missing."""
    source, left = document.encode(), most
    parser = expat.ParserCreate("utf-8", "\n")
    parser.ordered_attributes = True
    top: list[DocumentNode] = []
    at: list[DocumentNode] = []

    def count() -> None:
        nonlocal left
        if left is not None:
            if left <= 0:
                raise _Enough
            left -= 1

    def start(name: str, attributes: list[str]) -> None:
        count()
        line, offset = parser.CurrentLineNumber, parser.CurrentByteIndex
        space, _, local = name.rpartition("\n")
        node = DocumentNode("element", local, space, at[-1] if at else None, line, offset)
        for place in range(0, len(attributes), 2):
            space, _, local = attributes[place].rpartition("\n")
            node.attributes.append(DocumentNode("attribute", local, space, node, line, offset, attributes[place + 1]))
        (at[-1].children if at else top).append(node)
        at.append(node)

    def end(name: str) -> None:
        at.pop().stop = parser.CurrentByteIndex

    def text(data: str) -> None:
        siblings = at[-1].children
        if siblings and siblings[-1].kind == "text":
            siblings[-1].value += data
        else:
            count()
            line, offset = parser.CurrentLineNumber, parser.CurrentByteIndex
            siblings.append(DocumentNode("text", "", "", at[-1], line, offset, data))

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, text
    with suppress(_Enough):
        parser.Parse(source, True)
    return top[0]


def _step(node: DocumentNode) -> str:
    if node.kind == "attribute":
        return f"@{node.local}"
    name = "text()" if node.kind == "text" else node.local
    if node.parent is None:
        return name
    alike: list[Any] = [one for one in node.parent.children if one.kind == node.kind and one.local == node.local]
    return name if len(alike) == 1 else f"{name}[{alike.index(node) + 1}]"
