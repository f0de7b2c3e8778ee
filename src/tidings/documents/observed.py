"""What documents have in them, told by some of them: the outline that a grammar would give, where there is none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tidings.documents.tree import DocumentNode
from tidings.paths.outline import Outline


class Observed(NamedTuple):
    """`elements` and `attributes`: the namespaces of each local name, as there may be several."""

    outline: Outline
    elements: dict[str, set[str]]
    attributes: dict[str, set[str]]


def observed(roots: Iterable[DocumentNode]) -> Observed:
    children: dict[str, set[str]] = {}
    own: dict[str, set[str]] = {}
    tops: set[str] = set()
    texts: set[str] = set()
    elements: dict[str, set[str]] = {}
    attributes: dict[str, set[str]] = {}
    waiting = list(roots)
    tops.update(node.local for node in waiting)
    while waiting:
        node = waiting.pop()
        elements.setdefault(node.local, set()).add(node.namespace)
        for one in node.attributes:
            attributes.setdefault(one.local, set()).add(one.namespace)
            own.setdefault(node.local, set()).add(one.local)
        for child in node.children:
            if child.kind == "text":
                texts.add(node.local)
            else:
                children.setdefault(node.local, set()).add(child.local)
                waiting.append(child)
    outline = Outline(frozenset(tops), _frozen(children), _frozen(own), frozenset(texts))
    return Observed(outline, elements, attributes)


def _frozen(sets: dict[str, set[str]]) -> dict[str, frozenset[str]]:
    return {name: frozenset(found) for name, found in sets.items()}
