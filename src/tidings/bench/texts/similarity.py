"""`python -m tidings.bench.texts.similarity`: many similarity filters against news-like texts, beside a sparse product.

scipy multiplies the texts' vectors with those of all filters and compares every score with its threshold. One thread
each, in turns in one run. Ours includes cutting the words and weighing them, scipy's begins with the vectors. The
counts of all texts are compared, and a sample with the specification."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tidings.bench.agreement import Disagreement
from tidings.bench.machine import Machine, commit
from tidings.events import EventBatch
from tidings.language.similarity import TOLERANCE, cosine, similar_key, statistics_of
from tidings.matching.boxes.box import Axis, Box, Side
from tidings.matching.boxes.box_table import BoxTable
from tidings.matching.boxes.texts.batch_words import words_of_texts
from tidings.matching.boxes.texts.text_weights import TextWeights, weights_of
from tidings.matching.boxes.texts.weight_index import WeightIndex
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.schema.catalog import Catalog
from tidings.schema.statistics import Statistics
from tidings.workloads.news import News

_AT_ONCE = 200  # rows of a product: 100,000 scores each
_SAMPLE, _FILTERS = 5, 2000  # texts and filters, for the specification


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tidings.bench.texts.similarity", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--filters", type=int, default=100_000)
    parser.add_argument("--texts", type=int, default=10_000)
    parser.add_argument("--scipy-texts", type=int, default=1000, help="how many of them scipy scores")
    parser.add_argument("--words", type=int, default=20, help="in each filter")
    parser.add_argument("--least", type=float, nargs="+", default=[0.1, 0.2, 0.4, 0.6])
    chosen = parser.parse_args(arguments)
    print(f"{Machine.here()}; commit {commit()}")
    news = News()
    texts = news.texts(chosen.texts)
    few = chosen.filters // 100  # filters that some text reaches: its beginning
    beginnings = (" ".join(text.split()[: chosen.words]) for text in texts[:few])
    wanted = sorted({*news.texts(chosen.filters - few, chosen.words), *beginnings})
    statistics = statistics_of("body", texts[: 1 << 13], _language(news.catalog))
    catalog = Catalog.from_dict(
        {
            **news.catalog.to_dict(),
            "statistics": [
                {"attribute": "body", "texts": statistics.texts, "frequencies": dict(statistics.frequencies)}
            ],
        }
    )
    batch = EventBatch.of([news.batch(texts).event(row) for row in range(len(texts))], catalog)
    print(f"{len(wanted):,} filters of {chosen.words} words, texts of 200 words")
    print("least  matches/text  scored/text   texts/s  us/text  bytes/filter  scipy texts/s   ratio")
    for least in chosen.least:
        _measured(catalog, batch, texts, wanted, least, min(chosen.scipy_texts, len(texts)), statistics)


def _measured(
    catalog: Catalog, batch: EventBatch, texts: list[str], wanted: list[str], least: float, scored_by_scipy: int,
    statistics: Statistics,
) -> None:  # fmt: skip
    keys = sorted(similar_key(text, least) for text in wanted)
    matcher, axis = BoxMatcher(catalog, 1), Axis("body", "similar")
    table = BoxTable.of([(n, Box((Side(axis, key, key),))) for n, key in enumerate(keys)], catalog)
    matcher.load(table, [f"s{n}" for n in range(len(keys))])
    matcher.match(batch.slice(0, 10))
    best, counts = np.inf, np.zeros(0, np.int64)
    for _ in range(3):
        fresh = batch.slice(0, len(batch))
        seconds, counts = _timed(lambda fresh=fresh: np.diff(matcher.match(fresh).offsets))  # type: ignore[misc]
        best = min(best, seconds)
    language = _language(catalog)
    index = WeightIndex(keys, language, statistics)
    vectors = weights_of(words_of_texts(pa.array(texts)), language, statistics)
    scored = index.search(vectors).scored / len(texts)
    peer = min(_product(index, vectors, least, scored_by_scipy, counts) for _ in range(2))
    _check(matcher, batch, texts, keys, least, statistics, language)
    rate, other = len(batch) / best, scored_by_scipy / peer
    print(
        f"{least:5} {counts.mean():13.1f} {scored:12,.0f} {rate:9,.0f} {1e6 / rate:8.1f} "
        f"{(matcher.bytes + index.bytes) / len(keys):13.0f} {other:14,.0f} {rate / other:7.1f}"
    )


def _product(
    index: WeightIndex, vectors: TextWeights, least: float, rows: int, expected: npt.NDArray[np.int64]
) -> float:
    """Processor seconds for this many rows of the product; raises Disagreement."""
    from scipy.sparse import csr_array

    # Filters' terms are numbered by the index; what only texts have does not count.
    ranks = index.ranks(vectors.names)
    known = ranks[vectors.terms] >= 0
    owner = np.repeat(np.arange(len(vectors.offsets) - 1), np.diff(vectors.offsets))[known]
    size = len(index.lists.list_offsets) - 1
    ends = np.searchsorted(owner, np.arange(len(vectors.offsets)))
    shape = len(vectors.offsets) - 1, size
    left = csr_array((vectors.weights[known], ranks[vectors.terms][known], ends), shape=shape)
    lists = index.lists
    right = csr_array((lists.weights, lists.terms, lists.offsets), shape=(len(lists.least), size)).T.tocsr()
    seconds = 0.0
    for first in range(0, rows, _AT_ONCE):
        part = left[first : min(first + _AT_ONCE, rows)]

        def counted(part: csr_array = part) -> npt.NDArray[np.int64]:
            scores = part @ right
            reached = scores.data >= least - TOLERANCE
            counts: npt.NDArray[np.int64] = np.diff(np.append(0, np.cumsum(reached))[scores.indptr])
            return counts

        taken, found = _timed(counted)
        seconds += taken
        for row in np.flatnonzero(found != expected[first : first + len(found)]).tolist():
            raise Disagreement("default", "scipy", first + row, int(expected[first + row]), int(found[row]))
    return seconds


def _check(
    matcher: BoxMatcher, batch: EventBatch, texts: list[str], keys: list[str], least: float, statistics: Statistics,
    language: str | None,
) -> None:  # fmt: skip
    found = matcher.match(batch.slice(0, _SAMPLE))
    for row, text in enumerate(texts[:_SAMPLE]):
        alike = (cosine(key.partition(" ")[2], text, language, statistics) for key in keys[:_FILTERS])
        expected = [number for number, one in enumerate(alike) if one >= least - TOLERANCE]
        ours = sorted(number for number in found.of(row).tolist() if number < _FILTERS)
        if ours != expected:
            raise Disagreement("default", "the specification", row, len(ours), len(expected))


def _language(catalog: Catalog) -> str | None:
    domain = catalog.domain_of("body")
    assert domain is not None
    return domain.language


def _timed(work: Callable[[], npt.NDArray[np.int64]]) -> tuple[float, npt.NDArray[np.int64]]:
    """Seconds of processor: the machine may have other things to do."""
    started = time.process_time()
    made = work()
    return time.process_time() - started, made


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
