"""What stands in a record as a value."""

import re
import time
from typing import Any

import pytest

from tidings.feeds.inference.column_kinds import guess
from tidings.feeds.mapping.mapping import Reading
from tidings.feeds.records import patterns
from tidings.feeds.records.conversion import Converter, Unconvertible, converted, instant, number
from tidings.feeds.records.log_lines import parts as log_parts
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
        ("–5", -5),
        ("—5.5", -5.5),
        ("\u20105", -5),
        ("–$5", -5),
        ("EUR –5", -5),
        ("85 m²", 85),
        ("85 m2", 85),
        ("85m2", 85),
        ("12 €/m²", 12),
        ("5km", 5),
        ("5 KM", 5),
        ("3 days", 3),
        ("R$ 5", 5),
        ("900 EUR", 900),
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
    told = {str(instant(text, ("%m/%d/%Y",))) for text in ("05/30/2026", "2026-05-30", "2026-05-30T02:00:00+02:00")}
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
        *("0,125", "-0,125", "$0,125 each", "(5)", "($1,250.00)", "12.50-", "$(1,234.50)", "USD (5)", "(EUR 5) net"),
        *("3–5", "part–5", "12ab34", "5 of CO2 7", "2½", "½", "1,299¹", "10²"),
        *("nicht unter 5000", "12 Raten", "3 day auction", "(net) 5", "5 (net)", "5 M", "415 ppm CO2", "EUR 5 EUR"),
    ],
)
def test_no_numbers(text: Any) -> None:
    with pytest.raises(Unconvertible):
        number(text)


@pytest.mark.parametrize("text", ["1.2K", "3k", "$3.2bn", "3M", "5B", "5k€", "3 million", "2 Billions"])
def test_a_size_that_is_not_written_out_is_refused(text: str) -> None:
    with pytest.raises(Unconvertible, match="thousands or millions; write the number out"):
        number(text)


@pytest.mark.parametrize(
    ("text", "units", "value"),
    [
        *(("$5", ("$",), 5), ("5 $", ("$",), 5), ("US $5", ("US $",), 5), ("5", ("$",), 5), ("5 EUR", ("€", "eur"), 5)),
        *(("12 Raten", ("Raten",), 12), ("415 ppm CO2", ("ppm CO2",), 415), ("85 m²", ("m2",), 85)),
        *(("EUR 900", ("$",), None), ("5 km", ("mi",), None), ("US $5", ("$",), None), ("12 Raten", ("Rate",), None)),
    ],
)
def test_a_pinned_unit_allows_it_alone(text: str, units: tuple[str, ...], value: float | None) -> None:
    if value is not None:
        assert number(text, ".", units) == value
        return
    with pytest.raises(Unconvertible, match=r"it has the unit .*; expected") as refused:
        number(text, ".", units)
    assert refused.value.fault == ("not a number" if "Raten" in text else "another unit")


def test_a_number_of_json_may_say_that_there_is_no_value() -> None:
    reading = Reading("a", missing=("-999", "NA"))
    assert list(converted((-999, -999.0, 5, "-999", "NA"), reading, Kind.NUMERIC)) == [5]
    assert list(converted((-999.5,), reading, Kind.NUMERIC)) == [-999.5]


@pytest.mark.parametrize(
    ("raw", "form", "zone", "told"),
    [
        ("2026-05-01T10:00:00+03:00", "", "", "2026-05-01T07:00:00Z"),
        ("2026-05-01 10:00", "", "", "2026-05-01T10:00:00Z"),
        ("2026-05-01 10:00", "", "Europe/Athens", "2026-05-01T07:00:00Z"),
        ("2026-01-01 10:00", "", "Europe/Athens", "2026-01-01T08:00:00Z"),
        ("1 May 2026 10:00", "%d %b %Y %H:%M", "America/New_York", "2026-05-01T14:00:00Z"),
        ("Fri, 01 May 2026 10:00:00 +0300", "%a, %d %b %Y %H:%M:%S %z", "UTC", "2026-05-01T07:00:00Z"),
        ("Fri, 01 May 2026 10:00:00 GMT", "%a, %d %b %Y %H:%M:%S %z", "Europe/Athens", "2026-05-01T10:00:00Z"),
        ("2026-05-01 10:00:00 UTC", "", "Europe/Athens", "2026-05-01T10:00:00Z"),
        ("Fri, 01 May 2026 10:00:00 GMT", "rfc822", "Europe/Athens", "2026-05-01T10:00:00Z"),
        ("1 May 26 10:00 EDT", "rfc822", "", "2026-05-01T14:00:00Z"),
        ("Fri, 01 May 2026 10:00:00 +0300", "rfc822", "", "2026-05-01T07:00:00Z"),
        ("Fri, 01 May 2026 10:00:00", "rfc822", "Europe/Athens", "2026-05-01T07:00:00Z"),
        ("2026-05-01T10:00:00Z", "rfc822", "", "2026-05-01T10:00:00Z"),
        (1767225600, "epoch", "", "2026-01-01T00:00:00Z"),
        ("1767225600123", "epoch-ms", "", "2026-01-01T00:00:00.123000Z"),
    ],
)
def test_times(raw: Any, form: str, zone: str, told: str) -> None:
    assert str(instant(raw, (form,), zone)) == told


@pytest.mark.parametrize(
    ("raw", "form"),
    [
        *(("Fri, 01 May 2026 10:00:00 EEST", "rfc822"), ("05-06-2026 10:00:01", "rfc822"), ("", "rfc822")),
        *(("Fri, 99 May 2026 10:00:00 GMT", "rfc822"), (5, "rfc822")),
        ("soon", ""),
        (5, ""),
        ("5", "%Y-%m"),
        (None, "epoch"),
        (1e300, "epoch"),
        ("0001-01-01", "%Q"),
    ],
)
def test_no_times(raw: Any, form: str) -> None:
    with pytest.raises(Unconvertible):
        instant(raw, (form,), "Europe/Athens")


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


def test_a_pattern_finds_the_value_in_its_text() -> None:
    assert values("12 Raten zu 99 EUR", kind=Kind.NUMERIC, pattern="zu ([0-9]+) EUR") == [99]
    assert values("Mar 5, 2001 (extended)", kind=Kind.TIME, pattern=r"(\w+ \d+, \d+)", time_format=("%b %d, %Y",)) == [
        "2001-03-05T00:00:00Z"
    ]
    with pytest.raises(Unconvertible, match="does not match the pattern"):
        values("none", pattern="zu ([0-9]+)")


def test_a_pattern_is_given_up_in_time() -> None:
    started = time.monotonic()
    with pytest.raises(Unconvertible, match="takes more than 50 ms") as refused:
        values("a" * 40 + "b", pattern="((?:a|a)*)$")
    assert refused.value.fault == "pattern takes too long"
    assert time.monotonic() - started < 10
    with pytest.raises(Unconvertible, match="longer than 10,000"):
        values("a" * 10_001, pattern="(a)")


def test_replacements_are_of_whole_texts() -> None:
    told = values("ja;nein;jawohl", split=";", replace=(("ja", "yes"), ("nein", "no")))
    assert told == ["yes", "no", "jawohl"]
    assert values("keine", replace=(("keine", ""),)) == []


def test_the_first_form_of_a_time_that_fits_counts() -> None:
    forms = ("%d %b %Y", "%d.%m.%Y", "epoch")
    told = values("01 May 2026;02.05.2026;1777766400", kind=Kind.TIME, split=";", time_format=forms)
    assert told == ["2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z", "2026-05-03T00:00:00Z"]
    with pytest.raises(Unconvertible, match="does not match format '%d %b %Y'"):
        values("soon", kind=Kind.TIME, time_format=forms)


def test_what_was_read_before_is_read_alike() -> None:
    converter = Converter(Reading("x", split=";"), Kind.NUMERIC)
    first, second = converter.values(("5;x",)), converter.values(("5;x",))
    assert first == second
    assert (first.values, [bad.fault for bad in first.wrong]) == ((5,), ["not a number"])


def test_a_wait_for_other_threads_is_not_counted_for_a_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    class Waiting:
        def search(self, text: str, timeout: float) -> re.Match[str] | None:
            time.sleep(0.02)
            return re.search("([0-9]+)", text)

    monkeypatch.setattr(patterns, "_SECONDS", 0.1)
    monkeypatch.setattr(patterns, "_compiled", lambda pattern: Waiting())
    with patterns.limited_patterns():
        assert {patterns.matched("price 5", "([0-9]+)") for _ in range(10)} == {"5"}


def test_a_search_that_did_not_get_the_processor_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted:
        tries = 0

        def search(self, text: str, timeout: float) -> re.Match[str] | None:
            self.tries += 1
            if self.tries == 1:
                time.sleep(timeout)
                raise TimeoutError
            return re.search("([0-9]+)", text)

    one = Interrupted()
    monkeypatch.setattr(patterns, "_compiled", lambda pattern: one)
    assert patterns.matched("price 5", "([0-9]+)") == "5"


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-01" + 30_000 * " " + "x",
        30_000 * " " + "x",
        "Fri" + 30_000 * " " + "x",
        30_000 * "1",
        7_000 * "1.000" + "x",
        7_000 * "1,000" + "x",
        30_000 * "1 " + "x",
        30_000 * "0,",
        30_000 * "-",
        "1" + 30_000 * " " + "€x",
        7_000 * "Ab 12" + ":",
    ],
    ids=lambda text: f"{text[:11]}…{text[-1]}",
)
def test_no_text_stalls_a_feed(text: str) -> None:
    """Most were quadratic: one value took up to 16 seconds."""
    began = time.thread_time()
    for form in ("", "rfc822", "epoch", "%d.%m.%Y", "%Y-%m-%d %H:%M:%S %z", "%d %b %Y"):
        with pytest.raises(Unconvertible):
            instant(text, (form,))
    for sign in (".", ","):
        with pytest.raises(Unconvertible):
            number(text, sign)
    guess([text, *map(str, range(30))], Reading("a"))
    guess([text, "2026-01-01"], Reading("a"))
    log_parts(f"h - - [1] {text}")
    assert time.thread_time() - began < 1.0
