"""The words of one value by place, to test many patterns on it. `meaning` is the plain twin.

Places are sets of bits, in one number each. A test takes steps in proportion to how often the pattern's distinct words
occur, plus the pattern's words times the text's words over some 30."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache
from typing import assert_never

from tidings.language.patterns.tree import AllOf, AnyOf, AtLeast, Chain, Lacks, Pattern, PatternWord, Phrase
from tidings.language.stems import stem
from tidings.language.words import words_of


class TextWords:
    def __init__(self, value: str, language: str | None) -> None:
        self.language = language
        self.places: dict[str, list[int]] = {}
        for place, word in enumerate(words_of(value)):
            self.places.setdefault(word, []).append(place)
        self._sorted: list[str] | None = None
        self._stems: dict[str, list[int]] | None = None

    def satisfies(self, pattern: Pattern) -> bool:
        return self._holds(pattern, {})

    def _holds(self, pattern: Pattern, known: dict[PatternWord, int]) -> bool:
        match pattern:
            case AllOf(terms):
                return all(self._holds(term, known) for term in terms)
            case AnyOf(terms):
                return any(self._holds(term, known) for term in terms)
            case Lacks(term):
                return not self._holds(term, known)
            case AtLeast(count, terms):
                return sum(self._holds(term, known) for term in terms) >= count
            case Chain():
                return self._has_chain(pattern, known)
            case Phrase(words):
                return self._run(words, known) != 0
            case PatternWord():
                return bool(self.found(pattern))
            case _:
                assert_never(pattern)

    def _has_chain(self, chain: Chain, known: dict[PatternWord, int]) -> bool:
        starts = stops = may_stop = 0
        may_start = -1  # anywhere
        for number, operand in enumerate(chain.operands):
            if number:
                link = chain.links[number - 1]
                may_start = stops << link.least
                for more in _rounds(link.most - link.least):
                    may_start |= may_start << more
                may_stop = starts if link.kind == "near" else 0
                for more in _rounds(link.most):
                    may_stop |= may_stop >> more
            starts = stops = 0
            for member in operand.terms if isinstance(operand, AnyOf) else (operand,):
                assert isinstance(member, PatternWord | Phrase)
                words = member.words if isinstance(member, Phrase) else (member,)
                run = self._run(words, known) & (may_start | may_stop >> len(words))
                starts |= run
                stops |= run << len(words)
            if not starts:
                return False
        return True

    def _run(self, words: tuple[PatternWord, ...], known: dict[PatternWord, int]) -> int:
        """Where the words begin that occur one right after the other."""
        starts = -1
        for place, word in enumerate(words):
            if word not in known:
                known[word] = _bits(self.found(word))
            starts &= known[word] >> place
            if not starts:
                break
        return starts

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


def _bits(places: list[int]) -> int:
    """Bit p for each place p, of an ascending list."""
    marks = bytearray((places[-1] >> 3) + 1 if places else 0)
    for place in places:
        marks[place >> 3] |= 1 << (place & 7)
    return int.from_bytes(marks, "little")


def _rounds(most: int) -> Iterator[int]:
    """By how much to move a set each time, so that in the end each place was moved by 0, 1, … `most`."""
    reached = 0
    while reached < most:
        more = min(reached + 1, most - reached)
        yield more
        reached += more


@lru_cache(maxsize=16)
def text_words(value: str, language: str | None) -> TextWords:
    """Of the values seen last: the filters that an event may match are tested one after the other."""
    return TextWords(value, language)
