"""What stands in a record as a value."""

from typing import Any

import pytest

from tidings.feeds.conversion import Unconvertible, converted, instant, number
from tidings.feeds.mapping import Reading
from tidings.schema import Kind


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,299.00", 1299),
        ("US $5", 5),
        ("-$5", -5),
        ("$ -5.5", -5.5),
        ("−3", -3),
        ("12 %", 12),
        ("81,000 miles", 81000),
        ("1 234 567", 1234567),
        ("1'234.5", 1234.5),
        ("£.50", 0.5),
        ("5e3", 5000),
        ("٣", 3),
        (7, 7),
        (2.0, 2),
    ],
)
def test_numbers(text: Any, value: float) -> None:
    assert number(text) == value


def test_what_says_that_there_is_no_value() -> None:
    reading = Reading("a", missing=("NA", "-"), split=";")
    assert list(converted(("NA", " - ", "5;NA;6", "-7"), reading, Kind.NUMERIC)) == [5, 6, -7]


def test_iso_times_are_read_beside_a_form() -> None:
    told = {str(instant(text, "%m/%d/%Y")) for text in ("05/30/2026", "2026-05-30", "2026-05-30T02:00:00+02:00")}
    assert told == {"2026-05-30T00:00:00Z"}


def test_a_decimal_comma() -> None:
    assert number("0,125", ",") == 0.125
    assert number("10.250,125", ",") == 10250.125
    assert number("1.234,50 €", ",") == 1234.5
    assert number("12,5", ",") == 12.5


@pytest.mark.parametrize(
    "text",
    [
        *("", "none", "1,29", "1.2.3", "2026-05-01", "12 of 30", "part-5", "9" * 20, "9" * 200, True, None, "1e999"),
        *("0,125", "-0,125", "$0,125 each", "(5)", "($1,250.00)", "12.50-"),
    ],
)
def test_no_numbers(text: Any) -> None:
    with pytest.raises(Unconvertible):
        number(text)


@pytest.mark.parametrize(
    ("raw", "form", "zone", "told"),
    [
        ("2026-05-01T10:00:00+03:00", "", "", "2026-05-01T07:00:00Z"),
        ("2026-05-01 10:00", "", "", "2026-05-01T10:00:00Z"),
        ("2026-05-01 10:00", "", "Europe/Athens", "2026-05-01T07:00:00Z"),
        ("2026-01-01 10:00", "", "Europe/Athens", "2026-01-01T08:00:00Z"),
        ("1 May 2026 10:00", "%d %b %Y %H:%M", "America/New_York", "2026-05-01T14:00:00Z"),
        ("Fri, 01 May 2026 10:00:00 +0300", "%a, %d %b %Y %H:%M:%S %z", "UTC", "2026-05-01T07:00:00Z"),
        (1767225600, "epoch", "", "2026-01-01T00:00:00Z"),
        ("1767225600123", "epoch-ms", "", "2026-01-01T00:00:00.123000Z"),
    ],
)
def test_times(raw: Any, form: str, zone: str, told: str) -> None:
    assert str(instant(raw, form, zone)) == told


@pytest.mark.parametrize(
    ("raw", "form"), [("soon", ""), (5, ""), ("5", "%Y-%m"), (None, "epoch"), (1e300, "epoch"), ("0001-01-01", "%Q")]
)
def test_no_times(raw: Any, form: str) -> None:
    with pytest.raises(Unconvertible):
        instant(raw, form, "Europe/Athens")


def values(found: Any, kind: Kind = Kind.STRING, **reading: Any) -> list[Any]:
    return list(converted([found], Reading("x", **reading), kind))


def test_transforms() -> None:
    assert values("  Red ") == ["Red"]
    assert values("  Red ", strip=False) == ["  Red "]
    assert values("  Red ", lower=True) == ["red"]
    assert values("red, white,, ", split=",") == ["red", "white"]
    assert values("1;2,5", kind=Kind.NUMERIC, split=";", decimal=",") == [1, 2.5]
    assert values("whatever", constant="EUR") == ["EUR"]
    assert values("", kind=Kind.NUMERIC) == []
    assert values(None) == []
    assert values([1, 2], kind=Kind.NUMERIC) == [1, 2]
    assert values(True) == ["true"]
    assert values(1.5) == ["1.5"]


def test_what_is_nested_is_no_value() -> None:
    with pytest.raises(Unconvertible):
        values({"a": 1})
    with pytest.raises(Unconvertible):
        values([["a"]])
