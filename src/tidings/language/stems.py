"""Stems of words, by Snowball's algorithm for a language."""

from __future__ import annotations

from functools import cache
from typing import Any
from unicodedata import unidata_version


def stem(word: str, language: str) -> str:
    """The stem of a folded word."""
    return str(_stemmer(language).stemWord(word))


@cache
def _stemmer(language: str) -> Any:
    import Stemmer  # only where a domain has a language

    return Stemmer.Stemmer(language)


def text_versions() -> str:
    """What cuts, folds and stems texts here; another version may answer differently."""
    import Stemmer

    return f"Unicode {unidata_version}, PyStemmer {Stemmer.version()}"
