"""A document as a page shows it: a tree that opens, with the nodes that paths select marked.

A document may have a hundred thousand nodes. A page has the first of them, and those that are marked with what they
are in; where nodes are left out, it says how many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tidings.documents.selection import TooManySteps, selected
from tidings.documents.tree import DocumentNode, read_tree
from tidings.language.tree import And, Node, Not, Or, XPath
from tidings.paths.tree import Path

_MOST_LINES = 400
_MOST_MARKS = 20  # of one path
_MOST_PATHS = 8
_MOST_STEPS = 50_000  # some 0.05 s for each path
_LARGEST = 1 << 20  # characters of a document that is read whole
_MOST_ATTRIBUTES = 12
_LONGEST_TEXT = 300
_ALWAYS_OPEN = 2  # levels, where nothing is marked


@dataclass(frozen=True, slots=True)
class Part:
    """An attribute, or the text of a line."""

    text: str
    name: str = ""
    is_marked: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """An element, a text (without a name), or a gap: what is left out of the element around it. `closes`: how many
    elements around it end after this line."""

    name: str = ""
    namespace: str = ""
    attributes: tuple[Part, ...] = ()
    more: int = 0  # attributes that are left out
    text: Part | None = None
    gap: int = 0
    is_marked: bool = False
    folds: bool = False
    is_open: bool = False
    closes: int = 0


@dataclass(frozen=True, slots=True)
class ShownDocument:
    lines: tuple[Line, ...]
    notes: tuple[str, ...] = ()


def shown_document(
    document: str, paths: Sequence[Path] = (), prefixes: Mapping[str, str] | None = None
) -> ShownDocument:
    """`prefixes` are those of the domain: names are written as a path names them."""
    is_large = len(document) > _LARGEST
    root = read_tree(document, _MOST_LINES if is_large else None)
    notes = [f"Only the first {_MOST_LINES} nodes of this document are shown."] if is_large else []
    marked: dict[int, DocumentNode] = {}
    for path in paths[:_MOST_PATHS]:
        try:
            found = [] if is_large else selected(path, root, _MOST_STEPS)
        except TooManySteps:
            found, is_large = [], True
        marked.update((id(node), node) for node in found[:_MOST_MARKS])
        if len(found) > _MOST_MARKS:
            notes.append(f"Of {len(found):,} nodes that a path selects, {_MOST_MARKS} are marked.")
    if is_large and paths:
        notes.append("Nodes are not marked: the document is too large for that.")
    drawn = _Drawing(marked, {space: prefix for prefix, space in (prefixes or {}).items()})
    lines = tuple(drawn.lines(root, 0))
    if drawn.gaps:
        notes.append("Some nodes are left out. The event's page has all of them under “As JSON”.")
    return ShownDocument(lines, tuple(notes))


def document_paths(tree: Node) -> dict[str, list[Path]]:
    """The paths of a filter by attribute, also those that are negated."""
    found: dict[str, list[Path]] = {}
    waiting = [tree]
    while waiting:
        match waiting.pop():
            case And(terms) | Or(terms):
                waiting += terms
            case Not(term):
                waiting.append(term)
            case XPath(attribute, _, path) if path is not None:
                found.setdefault(attribute, []).append(path)
    return found


class _Drawing:
    def __init__(self, marked: Mapping[int, DocumentNode], prefixes: Mapping[str, str]) -> None:
        self._marked, self._prefixes = marked.keys(), prefixes
        self._leads: set[int] = set()  # elements with something marked in them
        for node in marked.values():
            above = node.parent
            while above is not None and id(above) not in self._leads:
                self._leads.add(id(above))
                above = above.parent
        self._left = _MOST_LINES
        self.gaps = 0

    def lines(self, node: DocumentNode, level: int) -> Iterator[Line]:
        """An element and what is in it. A document has at most 100 levels."""
        self._left -= 1
        shown = [one for one in node.children if one.kind == "element" or one.value.strip() or self._is_wanted(one)]
        attributes, is_marked = self._attributes(node), id(node) in self._marked
        left_out = len(node.attributes) - len(attributes)
        head = Line(self._name(node), node.namespace, attributes, left_out, is_marked=is_marked)
        if all(one.kind == "text" for one in shown):
            yield replace(head, text=self._text(shown[0]) if shown else None)
            return
        below = list(self._below(shown, level))
        first_levels = 1 if self._marked else _ALWAYS_OPEN
        yield replace(head, folds=True, is_open=level < first_levels or is_marked or id(node) in self._leads)
        yield from below[:-1]
        yield replace(below[-1], closes=below[-1].closes + 1)

    def _below(self, children: Sequence[DocumentNode], level: int) -> Iterator[Line]:
        skipped = 0
        for child in children:
            if self._left <= 0 and not self._is_wanted(child):
                skipped += 1
                continue
            if skipped:
                yield self._gap(skipped)
                skipped = 0
            if child.kind == "element":
                yield from self.lines(child, level + 1)
            else:
                self._left -= 1
                yield Line(text=self._text(child))
        if skipped:
            yield self._gap(skipped)

    def _gap(self, count: int) -> Line:
        self.gaps += count
        return Line(gap=count)

    def _is_wanted(self, node: DocumentNode) -> bool:
        """Marked, or around something marked; attributes are shown with their element."""
        return id(node) in self._marked or id(node) in self._leads

    def _attributes(self, node: DocumentNode) -> tuple[Part, ...]:
        """The first of them, and all that are marked."""
        return tuple(
            Part(_cut(one.value), self._name(one), id(one) in self._marked)
            for place, one in enumerate(node.attributes)
            if place < _MOST_ATTRIBUTES or id(one) in self._marked
        )

    def _text(self, node: DocumentNode) -> Part:
        return Part(_cut(" ".join(node.value.split())), is_marked=id(node) in self._marked)

    def _name(self, node: DocumentNode) -> str:
        prefix = self._prefixes.get(node.namespace, "") if node.namespace else ""
        return f"{prefix}:{node.local}" if prefix else node.local


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}…"
