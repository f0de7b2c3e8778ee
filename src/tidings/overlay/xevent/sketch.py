"""The sketch tree of a grammar, and where a path is placed in it (XEvent, section IV, figure 5).

The grammar comes as its element paths, from the root element to each leaf. Each prefix of one is a node; the whole
element paths are the roots, and below a node is the prefix that is one name shorter."""

from __future__ import annotations

from collections.abc import Iterable

from tidings.documents.tree import DocumentNode
from tidings.paths.instantiation import instantiate, leads_along
from tidings.paths.tree import Element, Path

Node = tuple[str, ...]


def node_text(node: Node) -> str:
    """What is hashed."""
    return "/" + "/".join(node)


class SketchTree:
    def __init__(self, element_paths: Iterable[Node]) -> None:
        self.roots = tuple(sorted(element_paths, key=node_text))
        prefixes = {path[:length] for path in self.roots for length in range(1, len(path) + 1)}
        self.nodes = tuple(sorted(prefixes, key=node_text))
        self._known = frozenset(prefixes)

    def placements(self, path: Path) -> list[tuple[Path, Node]]:
        """The instances of a path and the node of each: its key. An instance without a key is at each root element,
        where every document comes by. None: no valid document has such a node."""
        found = []
        for instance in instantiate(path, self.roots):
            key = path_prefix(instance)
            nodes = [key] if key else [node for node in self.nodes if len(node) == 1]
            found += [(instance, node) for node in nodes if node in self._known and self.ways(instance, node)]
        return found

    def ways(self, path: Path, node: Node) -> frozenset[Node]:
        """The roots that lead to the path: a document that it selects a node of has one of these element paths, or the
        beginning of one."""
        return frozenset(root for root in self.roots if root[: len(node)] == node and leads_along(path.steps, root))

    def entrances(self, document: DocumentNode) -> list[Node]:
        """The roots that a document is sent to: of each of its element paths, or the first that begins with it."""
        return sorted(
            {
                next(root for root in self.roots if root[: len(path)] == path)
                for path in document_paths(document)
                if path in self._known
            }
        )


def path_prefix(path: Path) -> Node:
    """The key of a path: its longest prefix of named child steps, whatever their tests."""
    names: list[str] = []
    for step in path.steps:
        if step.axis != "child" or not isinstance(step.node, Element) or step.node.name is None:
            break
        names.append(step.node.name.local)
    return tuple(names)


def document_paths(root: DocumentNode) -> set[Node]:
    """From the root element to each element without children."""
    found: set[Node] = set()
    waiting: list[tuple[DocumentNode, Node]] = [(root, (root.local,))]
    while waiting:
        element, path = waiting.pop()
        children = [child for child in element.children if child.kind == "element"]
        waiting += ((child, (*path, child.local)) for child in children)
        if not children:
            found.add(path)
    return found
