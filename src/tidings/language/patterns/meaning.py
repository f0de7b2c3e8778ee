"""The specification of word patterns, for the words of one value in order. `TextWords` decides the same faster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from tidings.language.patterns.tree import AllOf, AnyOf, AtLeast, Chain, Lacks, Link, Pattern, PatternWord, Phrase
from tidings.language.stems import stem

Occurrences = set[tuple[int, int]]  # where they begin, and where the next word would


def holds(pattern: Pattern, words: Sequence[str], language: str | None) -> bool:
    match pattern:
        case AllOf(terms):
            return all(holds(term, words, language) for term in terms)
        case AnyOf(terms):
            return any(holds(term, words, language) for term in terms)
        case Lacks(term):
            return not holds(term, words, language)
        case AtLeast(count, terms):
            return sum(holds(term, words, language) for term in terms) >= count
        case Chain(operands, links):
            reached = occurrences(operands[0], words, language)
            for link, operand in zip(links, operands[1:], strict=True):
                found = occurrences(operand, words, language)
                reached = {one for one in found if any(linked(link, before, one) for before in reached)}
            return bool(reached)
        case PatternWord() | Phrase():
            return bool(occurrences(pattern, words, language))
        case _:
            assert_never(pattern)


def occurrences(operand: Pattern, words: Sequence[str], language: str | None) -> Occurrences:
    """Of a word, a phrase or an `or` of these."""
    if isinstance(operand, AnyOf):
        return {one for term in operand.terms for one in occurrences(term, words, language)}
    assert isinstance(operand, PatternWord | Phrase)
    parts = operand.words if isinstance(operand, Phrase) else (operand,)
    return {
        (start, start + len(parts))
        for start in range(len(words) - len(parts) + 1)
        if all(fits(part, words[start + i], language) for i, part in enumerate(parts))
    }


def linked(link: Link, one: tuple[int, int], other: tuple[int, int]) -> bool:
    after = link.least <= other[0] - one[1] <= link.most
    return after or (link.kind == "near" and 0 <= one[0] - other[1] <= link.most)


def fits(sought: PatternWord, word: str, language: str | None) -> bool:
    match sought.form:
        case "":
            return word == sought.word
        case "*":
            return word.startswith(sought.word)
        case "~":
            assert language is not None
            return stem(word, language) == stem(sought.word, language)
        case _:
            assert_never(sought.form)
