"""The traces of docs/composites.md, worked by hand."""

from __future__ import annotations

import pytest

from tests.composite.notation import detected, listed, split_until
from tests.docs.pages import code, rows

PAGE = "docs/composites.md"
_TABLE = rows(PAGE, "select")
TRACES, SELECTIONS = _TABLE[0][1:], _TABLE[1:]
OPERATORS = [("before", ""), ("before", "consume unique"), ("and", ""), ("and", "consume unique")]

CELLS = [
    (f"[A] {operator} [B]", f"within 10 s select {code(select)} {consume}", trace, cell)
    for select, *cells in SELECTIONS
    for (operator, consume), trace, cell in zip(OPERATORS, TRACES, cells, strict=True)
]


def test_every_selection_is_in_the_table() -> None:
    one = ("all", "first", "last", "2")
    assert [code(row[0]) for row in SELECTIONS] == [f"{left}, {right}" for left in one for right in one]


@pytest.mark.parametrize(("pair", "options", "trace", "cell"), CELLS)
def test_selection_and_consumption(pair: str, options: str, trace: str, cell: str) -> None:
    expected = listed(cell)
    assert sorted(detected(f"{pair} {options}", trace)) == sorted(expected)
    final = f"{pair} {options} evaluate final"
    assert sorted(detected(final, trace)) == sorted(expected)
    assert detected(final, trace, until=10.99) == []
    if "and" in pair:
        shorter = [f"{name[0]}0.{name[1]}" for name in trace.split()]
        tenth = [" ".join(f"{name[0]}0.{name[1]}" for name in one.split()) for one in expected]
        together = f"[A] together with [B] {options.removeprefix('within 10 s ')}"
        assert sorted(detected(together, " ".join(shorter))) == sorted(tenth)
        assert sorted(detected(f"{together} evaluate final", " ".join(shorter))) == sorted(tenth)
    else:
        without = f"{pair} without [C] {options}"
        assert sorted(detected(without, f"A0.2 C0.5 {trace}")) == sorted(expected)
        assert sorted(detected(f"{without} evaluate final", f"A0.2 C0.5 {trace}")) == sorted(expected)


@pytest.mark.parametrize(("pattern", "trace", "detections"), rows(PAGE, "pattern"))
def test_pattern(pattern: str, trace: str, detections: str) -> None:
    assert sorted(detected(code(pattern) or "", *split_until(trace))) == sorted(listed(detections))


def test_beyond_the_limit_the_first_in_order_is_dropped() -> None:
    assert detected("[A] before [B] within 10 s", "A1 A2 A3 B4", most_waiting=2) == ["A2 B4", "A3 B4"]
    assert detected("[A] and [B] within 10 s", "A1 B2 A3", most_waiting=1) == ["A1 B2", "B2 A3"]
    assert detected("[A] and [B] within 10 s", "A1 B2 A3 B4", most_waiting=1) == ["A1 B2", "B2 A3", "A3 B4"]
    assert detected("[A] unless [B] within 10 s", "A1 A2", most_waiting=1) == ["A2 @12"]
    assert detected("times([A], 3) within 10 s", "A1 A2 A3 A4", most_waiting=2) == ["A1 A2 A3"]


def test_what_happens_at_the_same_time_comes_neither_before_nor_after() -> None:
    assert detected("[A] before [B] within 10 s", "A1 B1") == []
    assert detected("[A] unless [B] within 10 s", "A1 B1") == ["A1 @11"]
    assert detected("[A] before [B] without [C] within 10 s", "A1 C1 B2") == ["A1 B2"]


def test_a_frame_includes_its_end() -> None:
    assert detected("times([A], 2) within 10 s", "A1 A11") == ["A1 A11"]
    assert detected("times([A], 2) within 10 s", "A1 A11.1") == []
    assert detected("[A] unless [B] within 10 s", "A1 B11") == []
    assert detected("[A] unless [B] within 10 s", "A1", until=10.999999) == []
    assert detected("[A] unless [B] within 10 s", "A1", until=11) == ["A1 @11"]


def test_time_that_passes_within_a_second_forgets_nothing_due_in_it() -> None:
    assert detected("[A] unless [B] within 1 s", "A1.5 C2.2 C2.3") == ["A1.5 @2.5"]


def test_what_can_no_longer_pair_does_not_wait() -> None:
    """A1 is consumed, so A2 and A3 have room."""
    assert detected("[A] before [B] within 10 s consume unique", "A1 B2 A3 A4 B5 B6", most_waiting=2) == [
        "A1 B2",
        "A3 B5",
        "A4 B6",
    ]
