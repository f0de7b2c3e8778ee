"""Documents that are large: one made to need as many states as there are nodes, and one of 11 MB."""

from __future__ import annotations

import itertools
import random
import resource
import time
from collections.abc import Sequence

from lxml import etree

from tidings.documents.batch import read_documents
from tidings.documents.index.path_index import PathIndex
from tidings.paths.tree import Path
from tidings.schema.documents.limits import DocumentLimits
from tidings.workloads.documents import GRAMMARS, DocumentWorkload

_WARM = 300  # documents
_VALUES = ("bank", "rate", "storm", "court", "goal", "oil", "1", "2", "3", "40")


def hostile(sizes: Sequence[int]) -> None:
    """A document of nearly 100,000 nodes in which nearly every way from the root is new; paths without tests and with
    one."""
    names = sorted(GRAMMARS["nitf"][1])
    dice = random.Random(3)
    bare = b"".join(_thicket(names, dice) for _ in range(999))
    with_values = b"".join(_thicket(names, dice, _VALUES) for _ in range(499))
    for tests, size in itertools.product((0, 1), sizes):
        workload = DocumentWorkload("nitf", tests=tests)
        ordinary = workload.documents(_WARM)
        index = filled(workload.paths(size, _WARM))
        index.match(read_documents(ordinary))
        document = b"<nitf>" + (with_values if tests else bare) + b"</nitf>"
        before = most_memory()
        for attempt in (1, 2):
            started = time.process_time()
            batch = read_documents([document])
            offsets, _ = index.match(batch)
            taken = time.process_time() - started
            print(
                f"{len(index):,} paths, {tests} tests, {batch.offsets[-1]:,} nodes, time {attempt}: {taken:.2f} s, "
                f"{offsets[-1]:,} matches, {index.states:,} states, "
                f"{before:.0f} MB before, {most_memory():.0f} MB after"
            )


def large(sizes: Sequence[int]) -> None:
    """One document of about 11 MB."""
    workload = DocumentWorkload("xmark")
    parts, size, number = [], 0, 0
    while size < 11 << 20:
        more = workload.documents(number + 500)[number:]
        parts += [one.removeprefix(b"<site>").removesuffix(b"</site>") for one in more]
        size, number = sum(map(len, parts)), number + 500
    document = b"<site>" + b"".join(parts) + b"</site>"
    limits = DocumentLimits(nodes=10**8)
    started = time.process_time()
    etree.fromstring(document)
    floor = time.process_time() - started
    for count in sizes:
        index = filled(workload.paths(count, _WARM))
        before = most_memory()
        for attempt in (1, 2):
            started = time.process_time()
            batch = read_documents([document], limits)
            read = time.process_time() - started
            offsets, _ = index.match(batch)
            taken = time.process_time() - started
            print(
                f"{len(index):,} paths, {len(document) / 2**20:.1f} MiB, {batch.offsets[-1]:,} nodes, time {attempt}: "
                f"{taken:.2f} s, of which arrays {read:.2f}; lxml parses in {floor:.2f}; {offsets[-1]:,} matches; "
                f"{before:.0f} MB before, {most_memory():.0f} MB at most"
            )


def filled(paths: Sequence[Path]) -> PathIndex:
    index = PathIndex()
    for number, path in enumerate(paths):
        index.add(number, path)
    return index


def most_memory() -> float:
    """The most that the process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _thicket(names: Sequence[str], dice: random.Random, values: Sequence[str] = ()) -> bytes:
    """A hundred elements, most of them within the one before, each with one of the values."""
    made: list[str] = []
    opened: list[str] = []
    for _ in range(100):
        while opened and (len(opened) > 90 or dice.random() < 0.05):
            made.append(f"</{opened.pop()}>")
        opened.append(dice.choice(names))
        made.append(f"<{opened[-1]}>{dice.choice(values) if values else ''}")
    made += [f"</{name}>" for name in reversed(opened)]
    return "".join(made).encode()
