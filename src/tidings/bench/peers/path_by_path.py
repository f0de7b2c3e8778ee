"""Peers for paths into documents, each asked path by path: lxml and elementpath in this process, Saxon in its own.

Each takes compiled paths and parsed documents, so that only the paths are measured."""

from __future__ import annotations

import importlib
import importlib.util
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lxml import etree

from tidings.bench.agreement import Disagreement
from tidings.bench.peers.java import FOLDER, prepared_java
from tidings.bench.peers.programs import Peer, Program
from tidings.paths.printer import path_text
from tidings.paths.tree import Path as DocumentPath

_SAXON = Peer(
    "saxon",
    "Saxon-HE 12.5 (Java)",
    "",
    prepared_java,
    ("java", "-Xmx4g", "-XX:ActiveProcessorCount=1", "-XX:+UseSerialGC", "-cp",
     f"{FOLDER / 'classes'}:{FOLDER / 'lib'}/*", "SaxonPaths"),
)  # fmt: skip
_WARM = 5.0  # seconds: its compiler takes a while


def path_by_path(paths: Sequence[DocumentPath], documents: Sequence[bytes]) -> dict[str, float | str]:
    """Microseconds for one path and document by peer, or why it is missing. Raises Disagreement if their counts differ
    from lxml's."""
    texts = [path_text(path) for path in paths]
    counts, taken = _lxml(texts, documents)
    found: dict[str, float | str] = {"lxml": taken}
    for name, ask in (("elementpath", _elementpath), ("Saxon-HE", _saxon)):
        answer = ask(texts, documents)
        if isinstance(answer, str):
            found[name] = answer
            continue
        theirs, found[name] = answer
        for place, (ours, one) in enumerate(zip(counts, theirs, strict=True)):
            if ours != one:
                raise Disagreement(name, "lxml", place, one, ours)
    return found


def _lxml(texts: Sequence[str], documents: Sequence[bytes]) -> tuple[list[int], float]:
    compiled = [etree.XPath(f"boolean({text})") for text in texts]
    trees = [etree.fromstring(document) for document in documents]
    started = time.process_time()
    counts = [sum(bool(path(tree)) for path in compiled) for tree in trees]
    return counts, _each(time.process_time() - started, texts, documents)


def _elementpath(texts: Sequence[str], documents: Sequence[bytes]) -> tuple[list[int], float] | str:
    if importlib.util.find_spec("elementpath") is None:
        return "not available: needs elementpath"
    elementpath: Any = importlib.import_module("elementpath")
    parser = elementpath.XPath1Parser()
    compiled = [parser.parse(f"boolean({text})") for text in texts]
    trees = [elementpath.get_node_tree(etree.ElementTree(etree.fromstring(document))) for document in documents]
    started = time.process_time()
    try:
        counts = [sum(bool(path.evaluate(elementpath.XPathContext(tree))) for path in compiled) for tree in trees]
    except elementpath.ElementPathError as problem:  # it wants numbers where XPath 1.0 has NaN
        return f"fails: {problem}"
    return counts, _each(time.process_time() - started, texts, documents)


def _saxon(texts: Sequence[str], documents: Sequence[bytes]) -> tuple[list[int], float] | str:
    if (missing := prepared_java()) is not None:
        return missing
    with tempfile.TemporaryDirectory(prefix="tidings-bench-") as folder:
        file = Path(folder) / "workload"
        lines = [document.decode().replace("\n", " ") for document in documents]
        file.write_text("\n".join((f"{len(texts)} {len(documents)}", *texts, *lines)) + "\n")
        program = Program(_SAXON, file, 600)
        try:
            program.round(10**9, _WARM)
            answer = program.round(len(documents), 600)
        finally:
            program.close()
    return answer.counts.tolist(), _each(answer.seconds, texts, documents)


def _each(seconds: float, texts: Sequence[str], documents: Sequence[bytes]) -> float:
    return seconds / len(texts) / len(documents) * 1e6
