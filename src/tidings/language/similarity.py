"""How alike two texts are: the cosine of their tf-idf vectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from math import log, sqrt

from tidings.language.normal_form import Conjunction
from tidings.language.stems import stem
from tidings.language.tree import Not, Similar
from tidings.language.words import words_of
from tidings.schema.statistics import Statistics

TOLERANCE = 1e-9  # a cosine this little below the threshold still reaches it
MOST_TERMS = 500_000  # counted at a time
_SHORT_TEXT = 1_000  # characters: most filters; what is longer, e.g. an event of 256 KiB, has vectors of many megabytes


def terms_of(text: str, language: str | None) -> list[str]:
    """The words of a text, stemmed where there is a language."""
    words = words_of(text)
    return words if language is None else [stem(word, language) for word in words]


def vector(text: str, language: str | None, statistics: Statistics) -> dict[str, float]:
    """The weight of each term, for a vector of length one; nothing for a text without words."""
    return (_short if len(text) <= _SHORT_TEXT else _long)(text, language, statistics)


def _weighed(text: str, language: str | None, statistics: Statistics) -> dict[str, float]:
    counts = Counter(terms_of(text, language))
    weights = {term: (1 + log(count)) * statistics.rarity(term) for term, count in counts.items()}
    length = sqrt(sum(weight * weight for weight in weights.values()))
    return {term: weight / length for term, weight in weights.items()}


_short = lru_cache(maxsize=1024)(_weighed)
_long = lru_cache(maxsize=2)(_weighed)  # one text after the other with many filters


def cosine(one: str, other: str, language: str | None, statistics: Statistics) -> float:
    first, second = vector(one, language, statistics), vector(other, language, statistics)
    if len(first) > len(second):
        first, second = second, first
    return sum(weight * second[term] for term, weight in first.items() if term in second)


def similar_attributes(conjunctions: Iterable[Conjunction]) -> set[str]:
    """The attributes that a filter asks similarity of."""
    literals = (one.term if isinstance(one, Not) else one for all_of in conjunctions for one in all_of)
    return {one.attribute for one in literals if isinstance(one, Similar)}


def similar_key(text: str, least: float) -> str:
    """What an axis of similarity distinguishes; `text_of_key` reads it."""
    return f"{least!r} {text}"


def text_of_key(key: str) -> tuple[str, float]:
    least, _, text = key.partition(" ")
    return text, float(least)


class TermCounts:
    """Counts texts one by one, with bounded memory: whenever there are more than `most` terms, those in the fewest
    texts are forgotten, until at most half are left. Which ones depends on the texts and their order alone."""

    def __init__(self, language: str | None, most: int = MOST_TERMS) -> None:
        self.texts = 0
        self._language, self._most = language, most
        self._frequencies: Counter[str] = Counter()

    def add(self, text: str) -> None:
        self._frequencies.update(set(terms_of(text, self._language)))
        self.texts += 1
        if len(self._frequencies) > self._most:
            least = sorted(self._frequencies.values(), reverse=True)[self._most // 2]
            self._frequencies = Counter({term: count for term, count in self._frequencies.items() if count > least})

    def statistics(self, attribute: str) -> Statistics:
        return Statistics(attribute, self.texts, dict(sorted(self._frequencies.items())))


def statistics_of(attribute: str, texts: Iterable[str], language: str | None) -> Statistics:
    """The statistics of these texts."""
    counts = TermCounts(language)
    for text in texts:
        counts.add(text)
    return counts.statistics(attribute)
