"""Texts of 256 KiB made to be slow, beside ordinary ones: a part of `python -m tidings.bench.patterns --hostile`."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from tidings.matching.index.box_matcher import BoxMatcher
from tidings.workloads.news import News


def print_hostile(matcher: BoxMatcher, news: News) -> None:
    """Milliseconds of texts of 256 KiB, and how many times the median of ordinary ones of this size that is."""
    size = 256 * 1024
    ordinary = [text[:size] for text in news.texts(5, size // 6)]
    usual = float(np.median([_alone(matcher, news, text) for text in ordinary]))
    rare = news.words[30_000]
    made: dict[str, str] = {
        "one frequent word": (news.words[0] + " ") * (size // (len(news.words[0]) + 1)),
        "one word that patterns name": (rare + " ") * (size // (len(rare) + 1)),
        "one long word": "a" * size,
        "all words once": " ".join(news.words)[:size],
        "two words in turn": f"{rare} {news.words[200]} " * (size // (len(rare) + len(news.words[200]) + 2)),
    }
    print(f"256 KiB: ordinary {usual * 1e3:.1f} ms")
    for name, text in made.items():
        taken = _alone(matcher, news, text)
        print(f"  {name:30} {taken * 1e3:8.1f} ms  {taken / usual:6.2f} times")
    prefixes = [f"body contains ({'a' * length}*)" for length in range(1, 10_001)]
    groups = [f"body contains ({' or '.join(f'({a} and {b})' for a, b in _pairs(news, 128))})"]
    for title, filters, text in (
        ("10,000 prefixes, one long word", prefixes, "a" * size),
        ("10,000 prefixes, words of 100", prefixes, ("a" * 99 + " ") * (size // 100)),
        ("128 or-groups of two words", groups, ordinary[0]),
        ("128 or-groups, all words once", groups, " ".join(news.words)[:size]),
    ):
        special = BoxMatcher(news.catalog, 1)
        special.add_texts([str(n) for n in range(len(filters))], filters)
        base = float(np.median([_alone(special, news, one) for one in ordinary]))
        taken = _alone(special, news, text)
        print(f"  {title:30} {taken * 1e3:8.1f} ms  {taken / base:6.2f} times ({base * 1e3:.1f} ms)")


def _pairs(news: News, count: int) -> list[tuple[str, str]]:
    return [(news.words[200 + n], news.words[5_000 + n]) for n in range(count)]


def _alone(matcher: BoxMatcher, news: News, text: str) -> float:
    """Seconds for one text, the best of three."""
    batch = news.batch([text])
    return min(_seconds(lambda: matcher.match(batch.slice(0, 1))) for _ in range(3))


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
