"""`python -m tidings.bench.documents`: many paths against XML documents, beside parsing them and lxml path by path.

One thread, in time of the processor. The floor is parsing the documents with lxml; the index that is measured is
checked against lxml on a sample of its paths. `× lxml`: how many times as long lxml takes path by path."""

from __future__ import annotations

import argparse
import ctypes
import gc
import math
import random
import resource
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path as FilePath

from lxml import etree

from tidings.bench.agreement import Disagreement
from tidings.bench.large_documents import filled, hostile, large, most_memory
from tidings.bench.machine import Machine, commit
from tidings.bench.peers.path_by_path import path_by_path
from tidings.documents.batch import read_documents
from tidings.documents.index.path_index import PathIndex
from tidings.paths.parser import MOST_STEPS
from tidings.paths.printer import path_text
from tidings.paths.tree import Element, Name, Path, Step
from tidings.workloads.documents import GRAMMARS, DocumentWorkload

_WARM, _MEASURED = 300, 100  # documents
_ROUNDS = 5
_CHECKED = 400  # paths, compared with lxml
_TIMED = 1_000  # paths, that lxml is timed with
_SAMPLE = 200  # paths, for all peers


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tidings.bench.documents", description=__doc__)
    parser.add_argument("--paths", type=int, nargs="+", default=[1_000, 100_000])
    parser.add_argument("--workload", choices=sorted(GRAMMARS), nargs="+", default=sorted(GRAMMARS))
    parser.add_argument("--tests", type=int, nargs="+", default=[0, 1], help="tests in each path")
    parser.add_argument(
        "--only", choices=["growth", "hostile", "large", "new", "peers"], help="another measurement, with these paths"
    )
    chosen = parser.parse_args()
    print(f"{Machine.here()}; commit {commit()}")
    if chosen.only:
        {"growth": growth, "hostile": hostile, "large": large, "new": new_states, "peers": peers}[chosen.only](
            chosen.paths
        )
        return
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
    valid = best(lambda: read_documents(measured, valid=True))
    print(f"\n{workload.name}, {workload.tests} tests; µs a document: lxml parses {floor:.0f}, arrays {reading:.0f},")
    print(f"of values, which were checked before, {valid:.0f}")
    print("    paths  matches     µs  × floor  × floor, values  × lxml  µs a match  build s  new µs  states    MB")
    for size in sizes:
        some = paths[:size]
        by_lxml = path_by_path_time(some, warm[:10])
        before_all = _resident()
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
        of_values = best(lambda: index.match(read_documents(measured, valid=True)))  # noqa: B023
        memory = _resident() - before_all
        check(index, some, measured[:10])
        print(
            f"{len(some):9,} {offsets[-1] / _MEASURED:8,.0f} {taken:6.0f} {taken / floor:8.2f} "
            f"{of_values / floor:16.2f} {by_lxml * len(some) / taken:7,.0f} "
            f"{(taken - reading) / max(1, offsets[-1] / _MEASURED):11.3f} {built:8.1f} {new:7.0f} "
            f"{index.states:7,} {memory:5.0f}"
        )


def growth(sizes: Sequence[int]) -> None:
    """The same matches, and more and more paths that share their beginnings and select nothing."""
    workload = DocumentWorkload("nitf")
    documents = workload.documents(_WARM + _MEASURED)
    warm, measured = documents[:_WARM], documents[_WARM:]
    paths = workload.paths(max(sizes), _WARM)
    matching, taken = paths[: min(sizes)], {}
    print("   paths  matches     µs  µs, values")
    for size in sizes:
        index = filled([*matching, *(_elsewhere(path, n) for n, path in enumerate(paths[len(matching) : size]))])
        index.match(read_documents(warm))
        for _ in range(3):
            offsets, _ = index.match(read_documents(measured))
        whole = best(lambda: index.match(read_documents(measured)))  # noqa: B023  # called at once
        taken[len(index)] = best(lambda: index.match(read_documents(measured, valid=True)))  # noqa: B023
        print(f"{len(index):8,} {offsets[-1] / _MEASURED:8,.0f} {whole:6.0f} {taken[len(index)]:11.0f}")
    (few, quick), (many, slow) = min(taken.items()), max(taken.items())
    print(f"growth: n^{math.log(slow / quick) / math.log(many / few):.3f}")


def new_states(sizes: Sequence[int]) -> None:
    """How long a state takes that no document has needed before, one by one: half of them take less than the median."""
    for tests in (0, 1):
        workload = DocumentWorkload("nitf", tests=tests)
        documents = workload.documents(_WARM)
        paths = workload.paths(max(sizes), _WARM)
        for size in sizes:
            index = filled(paths[:size])
            index.match(read_documents(documents[:1]))
            taken: list[float] = []
            for document in documents[1:]:
                batch, before = read_documents([document]), index.states
                started = time.process_time()
                index.match(batch)
                spent = time.process_time() - started
                if index.states > before:
                    taken.append(spent / (index.states - before) * 1e3)
            print(
                f"{size:,} paths, {tests} tests: {index.states:,} states; ms for a new one, with matching: "
                f"median {statistics.median(taken):.2f}, at most {max(taken):.2f}; {most_memory():.0f} MB"
            )


def peers(sizes: Sequence[int]) -> None:
    """Path by path, on a sample; the whole is as many times as long as there are paths."""
    for tests in (0, 1):
        workload = DocumentWorkload("nitf", tests=tests)
        sample = random.Random(7).sample(workload.paths(max(sizes), _WARM), _SAMPLE)
        for name, taken in path_by_path(sample, workload.documents(_WARM)[:20]).items():
            told = taken if isinstance(taken, str) else f"{taken:.2f} µs for a path and a document"
            print(f"{name}, {tests} tests: {told}")


def _elsewhere(path: Path, number: int) -> Path:
    """The same path to an element that no document has."""
    last = Step(path.steps[-1].axis, Element(Name(f"x{number % 1000}")))
    return Path((*path.steps, last) if len(path.steps) < MOST_STEPS else (*path.steps[:-1], last))


def _resident() -> float:
    """What the process has now, in MB, without what it could give back."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return int(FilePath("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


def best(work: Callable[[], object]) -> float:
    """Microseconds of the processor for each measured document, the best of some rounds."""
    taken = []
    for _ in range(_ROUNDS):
        started = time.process_time()
        work()
        taken.append(time.process_time() - started)
    return min(taken) / _MEASURED * 1e6


def check(index: PathIndex, paths: Sequence[Path], documents: Sequence[bytes]) -> None:
    """Compares what the index finds of some paths with lxml. Raises Disagreement."""
    sample = random.Random(7).sample(range(len(paths)), min(_CHECKED, len(paths)))
    compiled = {number: etree.XPath(f"boolean({path_text(paths[number])})") for number in sample}
    offsets, numbers = index.match(read_documents(documents))
    for place, document in enumerate(documents):
        tree = etree.fromstring(document)
        wanted = {number for number, path in compiled.items() if path(tree)}
        found = compiled.keys() & set(numbers[offsets[place] : offsets[place + 1]].tolist())
        if found != wanted:
            raise Disagreement("the index of paths", "lxml", place, len(found), len(wanted))


def path_by_path_time(paths: Sequence[Path], documents: Sequence[bytes]) -> float:
    """Microseconds of the processor that lxml takes for one compiled path and document, the best of three rounds."""
    sample = random.Random(8).sample(paths, min(_TIMED, len(paths)))
    compiled = [etree.XPath(f"boolean({path_text(path)})") for path in sample]
    trees = [etree.fromstring(document) for document in documents]
    taken = []
    for _ in range(3):
        started = time.process_time()
        for tree in trees:
            for path in compiled:
                path(tree)
        taken.append(time.process_time() - started)
    return min(taken) / len(sample) / len(trees) * 1e6


if __name__ == "__main__":
    main()
