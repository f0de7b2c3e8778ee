"""Text cut into words. One function serves both sides: the values of events and the literals of filters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from operator import itemgetter
from typing import NamedTuple

_ASCII_WORD = re.compile(r"[a-z0-9]+")
_WORD = re.compile(r"\w+")
# A character outside these blocks may be a mark or a format character; texts without one need no slow classes (1,400
# characters of Greek: 110 µs with them).
_UNUSUAL = re.compile(
    r"[^\x00-\xac\xae-\u02ff\u0370-\u0482\u048a-\u0590\u1e00-\u1fff\u2010-\u2029\u2030-\u205f\u2070-\u20cf\u2100-\u2cee"
    r"\u3000-\u3029\u3030-\u3098\u309b-\ua66e\uac00-\ud7ff]"
)
_LONGEST_RUN = 64  # marks; `normalize` sorts them in steps that grow with the square of a run's length
_KANA_MARKS = "\uff9e\uff9f"  # letters that become marks
_PLANES = (range(0x80, 0x20000), range(0xE0000, 0xE0200))  # no marks and no format characters lie elsewhere


class _Characters(NamedTuple):
    """What `re` has no class for."""

    word: re.Pattern[str]  # runs of letters, digits and marks; `_` is none, but must be replaced first
    shown: re.Pattern[str]  # the same before folding, format characters included
    format: re.Pattern[str]
    many_marks: re.Pattern[str]


def folded(text: str) -> str:
    """The text in the form in which words are compared. Folding it again changes nothing."""
    if text.isascii():  # NFKC changes nothing there
        return text.lower()
    if _UNUSUAL.search(text):
        text = _characters().format.sub("", text)
        text = _characters().many_marks.sub(_in_order, text)
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def words_of(text: str) -> list[str]:
    """The runs of alphanumeric characters and marks after folding, in order."""
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    text = folded(text).replace("_", " ")
    return (_characters().word if _UNUSUAL.search(text) else _WORD).findall(text)


def runs_of(text: str) -> Iterator[tuple[int, int]]:
    """Where the words stand in the text as it was written; what is one run there may be several words."""
    return (found.span() for found in _characters().shown.finditer(text.replace("_", " ")))


def _in_order(run: re.Match[str]) -> str:
    """Marks, decomposed and in the order in which `normalize` would put them."""
    keyed, starters = [], 0
    for written in run[0]:
        for mark in _decomposed(written):
            of = unicodedata.combining(mark)
            starters += of == 0  # which no mark passes
            keyed.append((starters, of, mark))
    keyed.sort(key=itemgetter(0, 1))
    return "".join(mark for _, _, mark in keyed)


@cache
def _decomposed(mark: str) -> str:
    return unicodedata.normalize("NFKD", mark)


@cache
def _characters() -> _Characters:
    """Made once, in some 20 ms, when the first text beyond ASCII comes."""
    marks, format = [], []
    for plane in _PLANES:
        for code in plane:
            category = unicodedata.category(chr(code))
            if category[0] == "M":
                marks.append(code)
            elif category == "Cf":
                format.append(code)
    listed, ignored = _ranges(marks), _ranges(format)
    return _Characters(
        re.compile(rf"[\w{listed}]+"),
        re.compile(rf"[\w{listed}{ignored}]+"),
        re.compile(rf"[{ignored}]+"),
        re.compile(rf"[{listed}{_KANA_MARKS}]{{{_LONGEST_RUN},}}"),
    )


def _ranges(codes: list[int]) -> str:
    """The characters as the inside of a class of `re`."""
    made: list[list[int]] = []
    for code in codes:
        if made and made[-1][1] == code - 1:
            made[-1][1] = code
        else:
            made.append([code, code])
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in made)
