"""Texts of 256 KiB made to be slow, beside ordinary ones: a part of `python -m tidings.bench.patterns --hostile`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tidings.events import EventBatch, validate
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.schema.catalog import Catalog
from tidings.workloads.news import News

SIZE = 256 * 1024  # characters
_STRINGS = Catalog.from_dict(
    {
        "domains": [{"name": "string", "kind": "string"}],
        "attributes": [{"name": "body", "domain": "string"}],
        "event_types": [{"name": "story", "attributes": [{"name": "body"}]}],
    }
)


class Hostile(NamedTuple):
    """Processor seconds of a text made to be slow, and the median of ordinary ones of its size."""

    name: str
    seconds: float
    usual: float

    @property
    def ratio(self) -> float:
        return self.seconds / self.usual


def print_hostile(matcher: BoxMatcher, news: News) -> None:
    print(f"texts of {SIZE // 1024} KiB: {'hostile':>25} {'ordinary':>12} {'times':>8}")
    for one in hostile_texts(matcher, news):
        print(f"  {one.name:36} {one.seconds * 1e3:7.1f} ms {one.usual * 1e3:9.1f} ms {one.ratio:8.2f}")


def hostile_texts(matcher: BoxMatcher, news: News, size: int = SIZE) -> Iterator[Hostile]:
    """Of the matcher's filters, over news; then of filters made to be slow, too."""
    ordinary = [text[:size] for text in news.texts(5, size // 6)]
    rare, all_words = news.words[30_000], " ".join(news.words)[:size]
    yield from _beside(
        matcher,
        news.catalog,
        ordinary,
        {
            "one frequent word": (news.words[0] + " ") * (size // (len(news.words[0]) + 1)),
            "one word that patterns name": (rare + " ") * (size // (len(rare) + 1)),
            "one long word": "a" * size,
            "marks in disorder": "\u0301" * (size // 4) + "\u0316" * (size // 4),  # two bytes each
            "all words once": all_words,
            "two words in turn": f"{rare} {news.words[200]} " * (size // (len(rare) + len(news.words[200]) + 2)),
        },
    )
    prefixes = [f"body contains ({'a' * length}*)" for length in range(1, 10_001)]
    words = {
        "10,000 prefixes, one long word": "a" * size,
        "10,000 prefixes, words of 100": ("a" * 99 + " ") * (size // 100),
    }
    yield from _beside(_made(news.catalog, prefixes), news.catalog, ordinary, words)
    groups = [f"body contains ({' or '.join(f'({a} and {b})' for a, b in _pairs(news, 128))})"]
    found = {"128 or-groups of two words": ordinary[0], "128 or-groups, all words once": all_words}
    yield from _beside(_made(news.catalog, groups), news.catalog, ordinary, found)
    single = [f"body contains ({' or '.join(f'({word})' for word in news.words[200:456])})"]
    yield from _beside(
        _made(news.catalog, single), news.catalog, ordinary, {"256 or-groups, all words once": all_words}
    )
    for name, filter in {
        "like, 1,000 characters with a _": f"body like '%{'a' * 998}_b%'",
        "like, 100 pieces with a _": f"body like '{'%a_' * 100}%b%'",
        "like, 1,000 pieces": f"body like '{'%a' * 1000}%b%'",
        "CESQL LIKE, 1,000 characters": f"event_type cesql 'body LIKE ''%{'a' * 998}_b%'''",
        "CESQL CONCAT, 1,000 times": f"event_type cesql 'LENGTH(CONCAT({', '.join(['body'] * 1000)})) > 5'",
    }.items():
        yield from _beside(_made(_STRINGS, [filter]), _STRINGS, ordinary, {name: "a" * size})


def _pairs(news: News, count: int) -> list[tuple[str, str]]:
    return [(news.words[200 + n], news.words[5_000 + n]) for n in range(count)]


def _made(catalog: Catalog, filters: Sequence[str]) -> BoxMatcher:
    made = BoxMatcher(catalog, 1)
    made.add_texts([str(n) for n in range(len(filters))], filters)
    return made


def _beside(matcher: BoxMatcher, catalog: Catalog, ordinary: list[str], texts: dict[str, str]) -> Iterator[Hostile]:
    usual = float(np.median([_alone(matcher, catalog, text) for text in ordinary]))
    for name, text in texts.items():
        yield Hostile(name, _alone(matcher, catalog, text), usual)


def _alone(matcher: BoxMatcher, catalog: Catalog, text: str) -> float:
    """Processor seconds for one text, the best of three."""
    event = validate({"id": "1", "event_type": "story", "attributes": {"body": text}}, catalog)
    batch = EventBatch.of([event], catalog)
    return min(_seconds(lambda: matcher.match(batch.slice(0, 1))) for _ in range(3))


def _seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started
