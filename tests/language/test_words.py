"""Texts made of marks are folded as `normalize` folds them, in steps in proportion to their length."""

from __future__ import annotations

import sys
from time import process_time
from unicodedata import category, combining, normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.language.words import folded, words_of

SIZE = 2**18  # bytes: the largest event
MARKS = "\u0301\u0316\u0345\u0344\u0f73\u0f77\u3099\uff9e\u05b0\u034f\u0dda\u20dd"


@given(st.lists(st.text(MARKS + "aé\u0130", max_size=8) | st.text(max_size=3), max_size=8), st.integers(1, 20))
def test_many_marks_are_folded_as_elsewhere(parts: list[str], often: int) -> None:
    text = "".join(part * often for part in parts)
    kept = "".join(one for one in text if category(one) != "Cf")
    assert folded(text) == normalize("NFKC", normalize("NFKC", kept).casefold())
    assert folded(folded(text)) == folded(text)


SEVERAL = "\u0345\u0334\u3099\u0301\u0316\u05b0"


UNITS = ("\u0301\u0316", "\u0f73", "\uff9e\u0301", SEVERAL, "\u0301" * 31 + "\u0316" * 31 + "é")


@pytest.mark.parametrize("unit", UNITS, ids=range(len(UNITS)))
def test_marks_take_steps_in_proportion(unit: str) -> None:
    """Sorted by `normalize`, 256 KiB of marks of two classes took 17 s."""
    often = SIZE // len(unit.encode())
    words_of("é\u0301" * 70)  # makes the classes
    for text in (unit * often, "a" + "".join(one * often for one in unit)):
        started = process_time()
        words_of(text)
        assert process_time() - started < 1


def test_whatever_begins_with_a_mark_when_decomposed_is_one_of_many_marks() -> None:
    for code in range(0x80, sys.maxunicode + 1):
        one = chr(code)
        if category(one) != "Cs" and combining(normalize("NFKD", one)[0]):
            assert category(one)[0] == "M" or one in "\uff9e\uff9f", hex(code)
