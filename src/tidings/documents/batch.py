"""Documents as flat arrays, a batch at a time: what the index reads, without a Python object for each node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tidings.documents.characters import NAMES, TEXT_AT, VALUE_AT
from tidings.documents.names import SEED, TEXT, Names, intern, no_names
from tidings.documents.tokenizer import DEPTH, FULL, NAMESPACES, NODES, Nodes, tokenize
from tidings.schema.documents.errors import DocumentError, DocumentTooLarge, MalformedDocument
from tidings.schema.documents.limits import DocumentLimits
from tidings.schema.documents.wellformed import checked

MOST_NAMESPACES = 256  # declared at once; valid documents have fewer
_ANY = 2**62
_MOST_NAMES = 1024  # of a batch, to begin with


@dataclass(frozen=True, slots=True)
class DocumentBatch:
    """Nodes are elements, attributes and texts in document order; the attributes of an element follow it at once.

    Adjacent texts are one, comments and processing instructions are dropped."""

    offsets: npt.NDArray[np.int64]  # the nodes of document i are offsets[i] to offsets[i + 1]
    nodes: Nodes
    names: Names

    def __len__(self) -> int:
        return len(self.offsets) - 1


def read_documents(
    documents: Sequence[bytes], limits: DocumentLimits | None = None, valid: bool = False
) -> DocumentBatch:
    """Raises DocumentError at the first document that is not well-formed within the limits.

    `valid`: they are values of a domain, so they were checked before and are UTF-8."""
    limits = limits or DocumentLimits()
    if any(len(document) > limits.size for document in documents):
        raise DocumentTooLarge(0, 0, "bytes", limits.size)
    loose = replace(limits, depth=_ANY, nodes=_ANY)  # these are counted on the way
    sources = documents if valid else [checked(document, loose) for document in documents]
    most_names = _MOST_NAMES
    while (batch := _read(sources, limits, most_names)) is None:
        most_names *= 8
    return batch


def _read(sources: Sequence[bytes], limits: DocumentLimits, most_names: int) -> DocumentBatch | None:
    """None: there are more names."""
    total = sum(map(len, sources))
    room = min(total // 2, len(sources) * limits.nodes) + len(sources)  # `<b/>x` is the densest that nodes can be
    nodes = _no_nodes(room, 2 * total)
    names = no_names(most_names, total + 40)  # xml's namespace may be among them
    scope = np.empty((MOST_NAMESPACES, 4), np.int64)
    counts = np.zeros(3, np.int64)
    intern(names, SEED, 0, TEXT, 0, nodes.text, 0, 0)
    counts[NAMES] = 1
    offsets = np.zeros(len(sources) + 1, np.int64)
    place = 0
    for number, source in enumerate(sources):
        counts[TEXT_AT] = place
        counts[VALUE_AT] = place + len(source)  # values have a place of their own: no text is interrupted
        first = offsets[number]
        stop, problem, at = tokenize(
            np.frombuffer(source, np.uint8),
            b"xmlns" in source,
            SEED,
            limits.depth,
            first + limits.nodes,
            first,
            nodes,
            names,
            scope,
            counts,
        )
        if problem == FULL:
            return None
        if problem:
            raise _refusal(problem, source, at, limits)
        offsets[number + 1] = stop
        place += 2 * len(source)
    stop, known = int(offsets[-1]), int(counts[NAMES])
    return DocumentBatch(offsets, _first_nodes(nodes, stop), _first_names(names, known))


def _no_nodes(count: int, size: int) -> Nodes:
    return Nodes(
        np.empty(count, np.int32),
        np.empty(count, np.int32),
        np.empty(count, np.int32),
        np.empty(count, np.int64),
        np.empty(count, np.int64),
        np.empty(size, np.uint8),
    )


def _first_nodes(nodes: Nodes, count: int) -> Nodes:
    return Nodes(
        nodes.name[:count],
        nodes.parent[:count],
        nodes.end[:count],
        nodes.start[:count],
        nodes.stop[:count],
        nodes.text,
    )


def _first_names(names: Names, count: int) -> Names:
    return Names(
        names.slots,
        names.hash[:count],
        names.kind[:count],
        names.space[:count],
        names.offsets[: count + 1],
        names.text,
    )


def _refusal(problem: int, source: bytes, at: int, limits: DocumentLimits) -> DocumentError:
    line = source.count(b"\n", 0, at) + 1
    column = len(source[source.rfind(b"\n", 0, at) + 1 : at].decode(errors="replace")) + 1
    if problem == DEPTH:
        return DocumentTooLarge(line, column, "nested elements", limits.depth)
    if problem == NODES:
        return DocumentTooLarge(line, column, "nodes", limits.nodes)
    if problem == NAMESPACES:
        return DocumentTooLarge(line, column, "namespaces declared at once", MOST_NAMESPACES)
    return MalformedDocument(line, column, "undefined entity")
