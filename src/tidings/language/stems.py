"""Stems of words, by Snowball's algorithm for a language."""

from __future__ import annotations

from functools import cache
from typing import Any


def stem(word: str, language: str) -> str:
    """The stem of a folded word."""
    return str(_stemmer(language).stemWord(word))


@cache
def _stemmer(language: str) -> Any:
    import Stemmer  # only where a domain has a language

    return Stemmer.Stemmer(language)
