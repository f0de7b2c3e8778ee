"""Words that most texts contain. They are English: a filter on texts of another language gets no note about them."""

from __future__ import annotations

from tidings.language.patterns.tree import AllOf, AnyOf, Pattern, PatternWord
from tidings.language.tree import ContainsPattern, ContainsWords, Node
from tidings.schema.domain import Domain

STOP_WORDS = frozenset(
    (
        "a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "in", "is", "it", "not", "of", "on", "or",
        "that", "the", "this", "to", "was", "with",
    )
)  # fmt: skip


def has_stop_words(domain: Domain | None) -> bool:
    return domain is not None and domain.kind.wordy and domain.language in (None, "english")


def frequent_words(node: Node, domain: Domain | None) -> tuple[str, ...]:
    """Words that are enough for the predicate and that most texts contain; none if it asks for a rarer one, too."""
    if not has_stop_words(domain):
        return ()
    match node:
        case ContainsWords(_, quantifier, words):
            frequent = tuple(word for word in words if word in STOP_WORDS)
            return frequent[:1] if quantifier == "any" else frequent if len(frequent) == len(words) else ()
        case ContainsPattern(_, pattern):
            return tuple(dict.fromkeys(_sufficient(pattern)))
        case _:
            return ()


def _sufficient(pattern: Pattern) -> tuple[str, ...]:
    match pattern:
        case PatternWord(word, "") if word in STOP_WORDS:
            return (word,)
        case AnyOf(terms):
            return next((found for term in terms if (found := _sufficient(term))), ())
        case AllOf(terms):
            every = [_sufficient(term) for term in terms]
            return tuple(word for some in every for word in some) if all(every) else ()
        case _:
            return ()
