"""Which ordinals of a dimension of words or terms a word of an event has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tidings.language.stems import stem
from tidings.schema.catalog import Catalog

if TYPE_CHECKING:
    from tidings.matching.boxes.dimension import Dimension


class Known(NamedTuple):
    """The ordinals of a dimension of words or terms by key, and what else is asked about them."""

    ordinals: dict[str, int]
    prefix_lengths: tuple[int, ...]
    stems: bool

    @classmethod
    def of(cls, keys: Sequence[str], terms: bool) -> Known:
        ordinals = {key: ordinal for ordinal, key in enumerate(keys, 1)}
        lengths = {len(key) - 1 for key in keys if key[0] == "*"} if terms else set()
        return cls(ordinals, tuple(sorted(lengths)), terms and any(key[0] == "~" for key in keys))


def finder(dimension: Dimension, catalog: Catalog) -> Callable[[str], Sequence[int]]:
    """Finds the ordinals that a dimension of words or terms has for one word."""
    known, lengths, stems = dimension.known
    if dimension.axis.role == "word":
        return lambda word: (known[word],) if word in known else ()
    domain = catalog.domain_of(dimension.axis.attribute)
    assert domain is not None
    language = domain.language or ""

    def find(word: str) -> Sequence[int]:
        found = [known["=" + word]] if "=" + word in known else []
        for length in lengths:
            if length > len(word):
                break
            if "*" + word[:length] in known:
                found.append(known["*" + word[:length]])
        if stems and (ordinal := known.get("~" + stem(word, language))):
            found.append(ordinal)
        return found

    return find
