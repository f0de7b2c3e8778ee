"""A value with what a predicate found in it: pieces of its text, those marked that were found, and of a long text only
the text around them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

_AROUND = 60  # characters before and after a mark
_MOST = 4  # marks that are shown


class Piece(NamedTuple):
    text: str
    is_marked: bool = False


def marked(value: Any, marks: Iterable[Mapping[str, Any]], attribute: str, place: int) -> list[Piece]:
    """Empty where nothing of this value is marked."""
    spans = [(one["start"], one["end"]) for one in marks if (one["attribute"], one["place"]) == (attribute, place)]
    text = str(value)
    pieces: list[Piece] = []
    shown = 0  # up to where
    for start, end in spans[:_MOST]:
        begin = max(shown, start - _AROUND)
        pieces.append(Piece(("…" if begin > shown else "") + text[begin:start]))
        pieces.append(Piece(text[start:end], True))
        shown = end
        following = [other for other, _ in spans[:_MOST] if other > start]
        until = min(len(text), end + _AROUND, *(following[:1] or [len(text)]))
        pieces.append(Piece(text[end:until]))
        shown = until
    if not pieces:
        return []
    more = len(spans) > _MOST
    return [one for one in (*pieces, Piece("…" if shown < len(text) or more else "")) if one.text]
