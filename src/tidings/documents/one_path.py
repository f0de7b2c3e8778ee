"""One path on a few documents, by the kernels of the index: bounded, however the path and the documents are made."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import lru_cache

from tidings.documents.batch import read_documents
from tidings.documents.index.path_index import PathIndex
from tidings.paths.tree import Path
from tidings.schema.documents.limits import DocumentLimits

_searching = threading.Lock()  # an index remembers what it sees
_ANY_SIZE = DocumentLimits(nodes=2**31 - 2, size=2**40)


def path_selects(path: Path, documents: Sequence[bytes]) -> bool:
    """Whether it selects a node in one of the valid documents."""
    batch = read_documents(documents, _ANY_SIZE, valid=True)
    with _searching:
        offsets, _ = _index(path).match(batch)
    return bool(offsets[-1])


@lru_cache(maxsize=256)
def _index(path: Path) -> PathIndex:
    index = PathIndex()
    index.add(0, path)
    return index
