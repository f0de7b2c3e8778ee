"""Which patterns imply which: for covering and warnings. Sound; complete for conjunctions of words and of phrases of
plain words, except that stems are compared with stems only: nobody knows all words of a stem."""

from __future__ import annotations

from typing import assert_never

from tidings.language.patterns.meaning import fits
from tidings.language.patterns.tree import AllOf, AnyOf, AtLeast, Chain, Lacks, Pattern, PatternWord, Phrase
from tidings.language.stems import stem

_MOST_PAIRS = 10_000  # terms of the one times terms of the other


def implies(narrower: Pattern, wider: Pattern, language: str | None) -> bool:
    """Whether every value that satisfies the one satisfies the other."""
    if narrower == wider:
        return True
    match wider:
        case AllOf(terms):
            return all(implies(narrower, term, language) for term in terms)
    if isinstance(narrower, AnyOf):
        return all(implies(term, wider, language) for term in narrower.terms)
    known = narrower.terms if isinstance(narrower, AllOf) else (narrower,)
    match wider:
        case PatternWord():
            return any(_has(term, wider, language) for term in known)
        case Phrase(words):
            return any(isinstance(term, Phrase) and _runs(term.words, words, language) for term in known)
        case Chain():
            return wider in known
        case AnyOf(terms):
            return any(implies(narrower, term, language) for term in terms)
        case Lacks(term):
            return any(isinstance(one, Lacks) and implies(term, one.term, language) for one in known)
        case AtLeast(count, terms):
            if wider in known or any(
                isinstance(one, AtLeast) and one.terms == terms and one.count >= count for one in known
            ):
                return True
            return sum(implies(narrower, term, language) for term in terms) >= count
        case _:
            assert_never(wider)


def is_contradiction(pattern: Pattern, language: str | None) -> bool:
    """Whether no value can satisfy it. False proves nothing."""
    match pattern:
        case AllOf(terms):
            if len(terms) ** 2 > _MOST_PAIRS:
                return False
            absent = [term.term for term in terms if isinstance(term, Lacks)]
            return any(implies(pattern, term, language) for term in absent) or any(
                is_contradiction(term, language) for term in terms
            )
        case AnyOf(terms):
            return all(is_contradiction(term, language) for term in terms)
        case AtLeast(count, terms):
            return sum(not is_contradiction(term, language) for term in terms) < count
        case _:
            return False


def _has(known: Pattern, sought: PatternWord, language: str | None) -> bool:
    """Whether a value with the known pattern has the word."""
    match known:
        case PatternWord():
            return _word_implies(known, sought, language)
        case Phrase(parts) | Chain(parts):
            return any(_has(part, sought, language) for part in parts)
        case AnyOf(terms):
            return all(_has(term, sought, language) for term in terms)
        case _:
            return False


def _runs(known: tuple[PatternWord, ...], sought: tuple[PatternWord, ...], language: str | None) -> bool:
    """Whether the one phrase is a part of the other."""
    return any(
        all(_word_implies(one, other, language) for one, other in zip(known[start:], sought, strict=False))
        for start in range(len(known) - len(sought) + 1)
    )


def _word_implies(known: PatternWord, sought: PatternWord, language: str | None) -> bool:
    if known.form == "":
        return fits(sought, known.word, language)
    if known.form != sought.form:
        return False
    if known.form == "*":
        return known.word.startswith(sought.word)
    return language is not None and stem(known.word, language) == stem(sought.word, language)
