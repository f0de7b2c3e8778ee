"""`python -m tidings.bench.documents`: many paths against XML documents, beside parsing them and lxml path by path.

One thread. The floor is parsing the documents with lxml; each result is checked against lxml on a sample first."""

from __future__ import annotations

import argparse
import random
import resource
import time
from collections.abc import Callable, Sequence

from lxml import etree

from tidings.bench.checking import Disagreement
from tidings.bench.machine import Machine, commit
from tidings.documents.batch import read_documents
from tidings.documents.index.path_index import PathIndex
from tidings.documents.path.printer import path_text
from tidings.documents.path.tree import Path
from tidings.workloads.documents import GRAMMARS, DocumentWorkload

_WARM, _MEASURED = 300, 100  # documents
_ROUNDS = 5
_SAMPLE = 200  # paths, for lxml and for the check


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tidings.bench.documents", description=__doc__)
    parser.add_argument("--paths", type=int, nargs="+", default=[1_000, 100_000])
    parser.add_argument("--workload", choices=sorted(GRAMMARS), nargs="+", default=sorted(GRAMMARS))
    parser.add_argument("--tests", type=int, nargs="+", default=[0, 1], help="tests in each path")
    chosen = parser.parse_args()
    print(f"{Machine.here()}; commit {commit()}")
    for name in chosen.workload:
        for tests in chosen.tests:
            run(DocumentWorkload(name, tests=tests), chosen.paths)


def run(workload: DocumentWorkload, sizes: Sequence[int]) -> None:
    """Prints a row for each size."""
    documents = workload.documents(_WARM + _MEASURED)
    warm, measured = documents[:_WARM], documents[_WARM:]
    paths = workload.paths(max(sizes), _WARM)
    floor = best(lambda: [etree.fromstring(document) for document in measured])
    reading = best(lambda: read_documents(measured))
    print(f"\n{workload.name}, {workload.tests} tests; µs a document: lxml parses {floor:.0f}, arrays {reading:.0f}")
    print("   paths  matches     µs  × floor  × lxml  build s  new state µs  states  MB")
    for size in sizes:
        some = paths[:size]
        by_lxml = check(some, warm[:4])
        started, index = time.process_time(), PathIndex()
        for number, path in enumerate(some):
            index.add(number, path)
        index.match(read_documents(warm[:1]))
        built, before = time.process_time() - started, index.states
        started = time.process_time()
        index.match(read_documents(warm))
        new = (time.process_time() - started) / max(1, index.states - before) * 1e6
        for _ in range(3):
            offsets, _ = index.match(read_documents(measured))
        taken = best(lambda: index.match(read_documents(measured)))  # noqa: B023  # called at once
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{len(some):8,} {offsets[-1] / _MEASURED:8,.0f} {taken:6.0f} {taken / floor:8.2f} "
            f"{by_lxml * len(some) / taken:7,.0f} {built:8.1f} {new:13.0f} {index.states:7,} {memory:3.0f}"
        )


def best(work: Callable[[], object]) -> float:
    """Microseconds of the processor for each measured document, the best of some rounds."""
    taken = []
    for _ in range(_ROUNDS):
        started = time.process_time()
        work()
        taken.append(time.process_time() - started)
    return min(taken) / _MEASURED * 1e6


def check(paths: Sequence[Path], documents: Sequence[bytes]) -> float:
    """Raises Disagreement; gives the microseconds that lxml takes for one compiled path and document."""
    sample = random.Random(7).sample(paths, min(_SAMPLE, len(paths)))
    index = PathIndex(small=0)
    for number, path in enumerate(sample):
        index.add(number, path)
    offsets, numbers = index.match(read_documents(documents))
    compiled = [etree.XPath(f"boolean({path_text(path)})") for path in sample]
    trees = [etree.fromstring(document) for document in documents]
    started = time.process_time()
    held = [{number for number, path in enumerate(compiled) if path(tree)} for tree in trees]
    taken = time.process_time() - started
    for place, wanted in enumerate(held):
        found = set(numbers[offsets[place] : offsets[place + 1]].tolist())
        if found != wanted:
            raise Disagreement("the index of paths", "lxml", place, len(found), len(wanted))
    return taken / len(sample) / len(trees) * 1e6


if __name__ == "__main__":
    main()
