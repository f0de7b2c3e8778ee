"""`python -m tidings.bench.patterns`: many word patterns against news-like texts, beside Lucene Monitor.

One thread each, processor time. Answers are checked against the specification on a sample, and against Lucene's
counts."""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np

from tidings.bench.agreement import Disagreement
from tidings.bench.machine import Machine, commit
from tidings.bench.peers.java import FOLDER, prepared_java
from tidings.bench.peers.programs import Peer, Program, Round
from tidings.bench.results import Counts
from tidings.bench.texts.hostile import print_hostile
from tidings.documents.tree import read_tree
from tidings.events import EventBatch
from tidings.language.patterns.meaning import holds
from tidings.language.words import words_of
from tidings.matching.boxes.box import Axis, Box, FitsPattern, Side
from tidings.matching.boxes.box_table import BoxTable
from tidings.matching.boxes.merge import merge_tables
from tidings.matching.boxes.texts.pattern_shape import compiled
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.plan.folder import open_plan, save_plan
from tidings.workloads.news import News, NewsPattern

_AT_ONCE = 1 << 16
_SAMPLE = 20  # texts, for the specification
_LUCENE = Peer(
    "lucene-monitor",
    "Lucene Monitor 9.11 (Java)",
    "",
    prepared_java,
    ("java", "-Xmx4g", "-XX:ActiveProcessorCount=1", "-XX:+UseSerialGC", "-cp",
     f"{FOLDER / 'classes'}:{FOLDER / 'lib'}/*", "TextMonitor"),
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tidings.bench.patterns", description=__doc__)
    parser.add_argument("--patterns", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--texts", type=int, default=10_000)
    parser.add_argument("--plans", type=Path, help="keep the built patterns here, and use them again")
    parser.add_argument("--lucene", type=float, default=0, metavar="SECONDS", help="ask Lucene Monitor for so long")
    parser.add_argument("--hostile", action="store_true", help="texts made to be slow, too")
    parser.add_argument(
        "--real",
        type=Path,
        metavar="FOLDER",
        help="the smallest number of patterns with the texts of its XML documents, too",
    )
    parser.add_argument("--build-only", action="store_true")
    chosen = parser.parse_args(arguments)
    print(f"{Machine.here()}; commit {commit()}")
    news = News()
    texts = news.texts(chosen.texts)
    sizes = sorted(chosen.patterns)
    patterns = news.patterns(sizes[-1])
    batch = news.batch(texts)
    print("patterns  matches/text   texts/s  µs/text  bytes/pattern  Lucene texts/s   ratio")
    for size in sizes:
        matcher = _built(news, patterns[:size], chosen.plans, batch)
        if chosen.build_only:
            continue
        _check(matcher, patterns[:size], texts, batch)
        rate, counts = _measured(matcher, batch)
        peer = _asked(patterns[:size], texts, chosen.lucene) if chosen.lucene and size == sizes[0] else None
        said = f"{'':>15} {'':>7}"
        if peer is not None:
            ours = counts[: len(peer.counts)]
            for text in np.flatnonzero(ours != peer.counts).tolist():
                raise Disagreement("default", "Lucene Monitor", text, int(ours[text]), int(peer.counts[text]))
            said = f"{peer.rate:15,.0f} {rate / peer.rate:7.1f}"
        print(f"{size:8,} {counts.mean():13.1f} {rate:9,.0f} {1e6 / rate:8.1f} {matcher.bytes / size:14.0f} {said}")
        if chosen.real is not None and size == sizes[0]:
            _print_real(news, patterns[:size], real_texts(chosen.real))
        if chosen.hostile:
            print_hostile(matcher, news)


def real_texts(folder: Path) -> list[str]:
    """Of the XML documents in a folder, each on one line; those with a word."""
    texts = (" ".join(read_tree(file.read_text()).string.split()) for file in sorted(folder.rglob("*.xml")))
    return [text for text in texts if words_of(text)]


def _print_real(news: News, patterns: Sequence[NewsPattern], texts: list[str]) -> None:
    """The same patterns, but over the words of these texts."""
    common = [word for word, _ in Counter(word for text in texts for word in words_of(text)).most_common()]
    names = {word: common[rank % len(common)] for rank, word in enumerate(news.words)}
    renamed = (NewsPattern(kind, (names[a], names[b], names[c])) for kind, (a, b, c) in patterns)
    asked = [one for one in renamed if len(set(one.words)) == 3]
    batch = news.batch(texts)
    matcher = _built(news, asked, None, batch)
    _check(matcher, asked, texts, batch)
    rate, counts = _measured(matcher, batch)
    words = np.median([len(words_of(text)) for text in texts])
    print(
        f"{len(asked):8,} {counts.mean():13.1f} {rate:9,.0f} {1e6 / rate:8.1f} {matcher.bytes / len(asked):14.0f} ",
        end="",
    )
    print(f"real texts of {len(texts)} documents, {words:.0f} words (median)")


def _built(news: News, patterns: Sequence[NewsPattern], plans: Path | None, recent: EventBatch) -> BoxMatcher:
    folder = None if plans is None else plans / _name(patterns)
    if folder is not None and folder.exists():
        return open_plan(folder, 1)
    matcher = BoxMatcher(news.catalog, 1)
    matcher.match(recent.slice(0, 1000))  # shows which words are rare
    started = time.process_time()
    tables = []
    for first in range(0, len(patterns), _AT_ONCE):
        some = patterns[first : first + _AT_ONCE]
        tables.append(BoxTable.of([(first + n, _box(one)) for n, one in enumerate(some)], news.catalog))
    matcher.load(merge_tables(tables), [f"p{n}" for n in range(len(patterns))])
    print(f"{len(patterns):,} patterns built in {time.process_time() - started:.0f} s of processor")
    if folder is not None:
        folder.parent.mkdir(parents=True, exist_ok=True)
        save_plan(matcher, folder)
    return matcher


def _name(patterns: Sequence[NewsPattern]) -> str:
    """Different for other patterns: of a larger workload, the first have the same words but are joined otherwise."""
    spelled = "\n".join(" ".join((one.kind, *one.words)) for one in patterns)
    return f"{len(patterns)}-{blake2b(spelled.encode(), digest_size=8).hexdigest()}"


def _box(pattern: NewsPattern) -> Box:
    axis, made = Axis("body", "term"), compiled(pattern.tree, None)
    return Box((Side(axis, made.terms[0], made.terms[0]),), (FitsPattern(axis, made.terms, made.shape, False),))


def _check(matcher: BoxMatcher, patterns: Sequence[NewsPattern], texts: Sequence[str], batch: EventBatch) -> None:
    found = matcher.match(batch.slice(0, _SAMPLE))
    trees = [one.tree for one in patterns[:2000]]
    for row, text in enumerate(texts[:_SAMPLE]):
        words = words_of(text)
        expected = [number for number, tree in enumerate(trees) if holds(tree, words, None)]
        ours = sorted(number for number in found.of(row).tolist() if number < len(trees))
        if ours != expected:
            raise Disagreement("default", "the specification", row, len(ours), len(expected))


def _measured(matcher: BoxMatcher, batch: EventBatch) -> tuple[float, Counts]:
    """Texts a second of processor, the best of three rounds of fresh batches (words are cut in each); the counts."""
    best, counts = 0.0, np.zeros(0, np.int64)
    for _ in range(3):
        fresh = batch.slice(0, len(batch))
        started = time.process_time()
        found = matcher.match(fresh)
        best = max(best, len(batch) / (time.process_time() - started))
        counts = np.diff(found.offsets)
    return best, counts


def _asked(patterns: Sequence[NewsPattern], texts: Sequence[str], seconds: float) -> Round | None:
    missing = prepared_java()
    if missing is not None:
        print(f"Lucene Monitor: {missing}")
        return None
    with tempfile.TemporaryDirectory(prefix="tidings-bench-") as folder:
        file = Path(folder) / "workload"
        header = f"{len(patterns)} {len(texts)}"
        lines = [header, *(" ".join((one.kind, *one.words)) for one in patterns), *texts]
        file.write_text("\n".join(lines) + "\n")
        program = Program(_LUCENE, file, 600)
        try:
            program.round(len(texts), seconds / 2)  # warm
            return program.round(len(texts), seconds)
        finally:
            program.close()


if __name__ == "__main__":
    main()
