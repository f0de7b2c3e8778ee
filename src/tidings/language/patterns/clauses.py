"""Which words a value must have to satisfy a pattern: what an index can look up before the pattern is verified."""

from __future__ import annotations

from typing import NamedTuple, assert_never

from tidings.language.patterns.tree import AllOf, AnyOf, AtLeast, Chain, Lacks, Pattern, PatternWord, Phrase

Clause = tuple[PatternWord, ...]  # one of them occurs


class Clauses(NamedTuple):
    """A value that satisfies the pattern satisfies each clause; if `exact`, also the other way round."""

    clauses: tuple[Clause, ...]
    exact: bool


def clauses_of(pattern: Pattern) -> Clauses:
    match pattern:
        case PatternWord():
            return Clauses(((pattern,),), True)
        case Phrase(parts) | Chain(parts):
            return Clauses(_all(parts).clauses, False)
        case AllOf(terms):
            return _all(terms)
        case AnyOf(terms):
            return _any(terms)
        case Lacks(Lacks(term)):
            return clauses_of(term)
        case Lacks():
            return Clauses((), False)
        case AtLeast(count, terms):
            if count == len(terms):
                return _all(terms)
            # If one of these failed with all the others, too few would be left.
            found = _any(terms[: len(terms) - count + 1])
            return found if count == 1 else Clauses(found.clauses, False)
        case _:
            assert_never(pattern)


def _all(terms: tuple[Pattern, ...]) -> Clauses:
    found = [clauses_of(term) for term in terms]
    clauses = dict.fromkeys(clause for one in found for clause in one.clauses)
    return Clauses(tuple(clauses), all(one.exact for one in found))


def _any(terms: tuple[Pattern, ...]) -> Clauses:
    found = [clauses_of(term) for term in terms]
    if not all(one.clauses for one in found):
        return Clauses((), False)
    chosen = [min(one.clauses, key=len) for one in found]
    exact = all(one.exact and len(one.clauses) == 1 for one in found)
    return Clauses((tuple(dict.fromkeys(word for clause in chosen for word in clause)),), exact)
