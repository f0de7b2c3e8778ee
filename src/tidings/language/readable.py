"""Canonical text as its author would write it: `category under car` instead of `category <= 'vehicle > car'`.

The canonical text quotes everything, so that it keeps its meaning however the schema grows. What is made here means
the same under this catalog alone, so it is shown and never stored.
"""

from __future__ import annotations

from tidings.errors import LanguageError
from tidings.language.binder import bind
from tidings.language.dialects import CORE, core_text, written
from tidings.language.operand_text import operand_text
from tidings.language.parser import parse
from tidings.language.tokens import KEYWORDS, NAME, tokenize
from tidings.schema.catalog import Catalog
from tidings.schema.domain import Domain, Kind

_LONGEST = 2_000  # characters: reading it back takes 10 µs for each predicate
_BEFORE_ATTRIBUTE = frozenset(("(", "and", "or", "not"))


def readable(text: str, catalog: Catalog) -> str:
    """Of a canonical text; the same text where it is long or the schema does not know it any more. What was written in
    another language is shown without its translation."""
    if (was := written(text)).dialect != CORE:
        return core_text(*was)
    if len(text) > _LONGEST:
        return text
    try:
        made = _worded(text, catalog)
        is_same = bind(parse(made), made, catalog) == bind(parse(text), text, catalog)
    except LanguageError:
        return text
    return made if is_same else text


def _worded(text: str, catalog: Catalog) -> str:
    kinds, written, offsets = tokenize(text)
    pieces: list[str] = []
    domain: Domain | None = None
    end = 0
    for place, (kind, token, offset) in enumerate(zip(kinds, written, offsets, strict=True)):
        new = token
        if kind in ("name", "quoted") and (not place or written[place - 1] in _BEFORE_ATTRIBUTE):
            domain = catalog.domain_of(token if kind == "name" else token[1:-1].replace('""', '"'))
        elif domain is not None and domain.kind is Kind.HIERARCHICAL and token == "<=":
            new = "under"
        elif domain is not None and kind == "text":
            new = _value(token[1:-1].replace("''", "'"), domain, catalog)
        elif domain is not None and kind == "quoted":
            name = token[1:-1].replace('""', '"')
            new = name if _is_bare(name) and not domain.names(name) else token
        pieces += text[end:offset], new
        end = offset + len(token)
    return "".join(pieces)


def _value(value: str, domain: Domain, catalog: Catalog) -> str:
    """The shortest end of a path that names the same node; without quotes where the schema lists the word."""
    if domain.kind is Kind.HIERARCHICAL and value in domain.hierarchy.short_names:
        value = domain.hierarchy.spellings(domain.hierarchy.number(value))[-1]
    bare = _is_bare(value) and domain.kind.listed and domain.names(value) and catalog.domain_of(value) is None
    return value if bare else operand_text(value)


def _is_bare(word: str) -> bool:
    return bool(NAME.fullmatch(word)) and word.lower() not in KEYWORDS
