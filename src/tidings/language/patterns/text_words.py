"""The words of one value by place, to test many patterns on it. `meaning` is the plain twin.

A test takes steps in proportion to how often the pattern's words occur, not to the pairs of their places."""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from typing import assert_never

from tidings.language.patterns.tree import AllOf, AnyOf, AtLeast, Chain, Lacks, Link, Pattern, PatternWord, Phrase
from tidings.language.stems import stem
from tidings.language.words import words_of

Spans = list[tuple[int, int]]


class TextWords:
    def __init__(self, value: str, language: str | None) -> None:
        self.language = language
        self.places: dict[str, list[int]] = {}
        for place, word in enumerate(words_of(value)):
            self.places.setdefault(word, []).append(place)
        self._sorted: list[str] | None = None
        self._stems: dict[str, list[int]] | None = None

    def satisfies(self, pattern: Pattern) -> bool:
        match pattern:
            case AllOf(terms):
                return all(map(self.satisfies, terms))
            case AnyOf(terms):
                return any(map(self.satisfies, terms))
            case Lacks(term):
                return not self.satisfies(term)
            case AtLeast(count, terms):
                return sum(map(self.satisfies, terms)) >= count
            case Chain(operands, links):
                reached = self.spans(operands[0])
                for link, operand in zip(links, operands[1:], strict=True):
                    reached = _reached(link, reached, self.spans(operand))
                return bool(reached)
            case PatternWord() | Phrase():
                return bool(self.spans(pattern))
            case _:
                assert_never(pattern)

    def spans(self, operand: Pattern) -> Spans:
        """Where a word, a phrase or an `or` of these occurs."""
        if isinstance(operand, AnyOf):
            return sorted({one for term in operand.terms for one in self.spans(term)})
        assert isinstance(operand, PatternWord | Phrase)
        parts = operand.words if isinstance(operand, Phrase) else (operand,)
        found = [self.found(part) for part in parts]
        rarest = min(range(len(parts)), key=lambda i: len(found[i]))
        starts = [place - rarest for place in found[rarest]]
        for i in sorted(range(len(parts)), key=lambda i: len(found[i])):
            if i != rarest and starts:
                known = set(found[i])
                starts = [start for start in starts if start + i in known]
        return [(start, start + len(parts)) for start in starts]

    def found(self, sought: PatternWord) -> list[int]:
        """The places of a word, ascending."""
        match sought.form:
            case "":
                return self.places.get(sought.word, [])
            case "*":
                if self._sorted is None:
                    self._sorted = sorted(self.places)
                first = bisect_left(self._sorted, sought.word)
                last = first
                while last < len(self._sorted) and self._sorted[last].startswith(sought.word):
                    last += 1
                return sorted(place for word in self._sorted[first:last] for place in self.places[word])
            case "~":
                assert self.language is not None
                return self.stems().get(stem(sought.word, self.language), [])
            case _:
                assert_never(sought.form)

    def stems(self) -> dict[str, list[int]]:
        if self._stems is None:
            assert self.language is not None
            made: dict[str, list[int]] = {}
            for word, places in self.places.items():
                made.setdefault(stem(word, self.language), []).extend(places)
            self._stems = {one: sorted(places) for one, places in made.items()}
        return self._stems


def _reached(link: Link, before: Spans, after: Spans) -> Spans:
    """Those of the second that stand in the relation to one of the first."""
    ends = sorted(end for _, end in before)
    starts = [start for start, _ in before]
    return [one for one in after if _has(ends, one[0] - link.most, one[0] - link.least) or (
        link.kind == "near" and _has(starts, one[1], one[1] + link.most)
    )]  # fmt: skip


def _has(ascending: list[int], least: int, most: int) -> bool:
    at = bisect_left(ascending, least)
    return at < len(ascending) and ascending[at] <= most


@lru_cache(maxsize=16)
def text_words(value: str, language: str | None) -> TextWords:
    """Of the values seen last: the filters that an event may match are tested one after the other."""
    return TextWords(value, language)
