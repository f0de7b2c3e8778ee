"""Text cut into words. One function serves both sides: the values of events and the literals of filters."""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"\w+")


def words_of(text: str) -> list[str]:
    """The runs of word characters after NFKC and case folding, in order."""
    if text.isascii():  # NFKC changes nothing there
        return _WORD.findall(text.lower())
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
