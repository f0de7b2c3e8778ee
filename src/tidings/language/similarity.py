"""How alike two texts are: the cosine of their tf-idf vectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from math import log, sqrt

from tidings.language.stems import stem
from tidings.language.words import words_of
from tidings.schema.statistics import Statistics

TOLERANCE = 1e-9  # a cosine this little below the threshold still reaches it


def terms_of(text: str, language: str | None) -> list[str]:
    """The words of a text, stemmed where there is a language."""
    words = words_of(text)
    return words if language is None else [stem(word, language) for word in words]


@lru_cache(maxsize=4096)
def vector(text: str, language: str | None, statistics: Statistics) -> dict[str, float]:
    """The weight of each term, for a vector of length one; nothing for a text without words."""
    counts = Counter(terms_of(text, language))
    weights = {term: (1 + log(count)) * statistics.rarity(term) for term, count in counts.items()}
    length = sqrt(sum(weight * weight for weight in weights.values()))
    return {term: weight / length for term, weight in weights.items()}


def cosine(one: str, other: str, language: str | None, statistics: Statistics) -> float:
    first, second = vector(one, language, statistics), vector(other, language, statistics)
    if len(first) > len(second):
        first, second = second, first
    return sum(weight * second[term] for term, weight in first.items() if term in second)


def similar_key(text: str, least: float) -> str:
    """What an axis of similarity distinguishes; `text_of_key` reads it."""
    return f"{least!r} {text}"


def text_of_key(key: str) -> tuple[str, float]:
    least, _, text = key.partition(" ")
    return text, float(least)


def statistics_of(attribute: str, texts: Iterable[str], language: str | None) -> Statistics:
    """The statistics of these texts."""
    frequencies: Counter[str] = Counter()
    count = 0
    for text in texts:
        frequencies.update(set(terms_of(text, language)))
        count += 1
    return Statistics(attribute, count, dict(sorted(frequencies.items())))
