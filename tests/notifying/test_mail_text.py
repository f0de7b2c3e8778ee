"""What a mail says, and that nothing in an event can make it say more."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.notifying.delivery import OutgoingDelivery, Owed
from tidings.notifying.mail.text import (
    LONGEST_FILTER,
    LONGEST_SUBJECT,
    LONGEST_VALUE,
    MOST_ATTRIBUTES,
    MOST_EVENTS,
    MOST_VALUES,
    Mail,
    mail_of,
    one_line,
)
from tidings.schema import Instant

LINK = "https://tidings.example/unsubscribe/abc.def"
MATCHED = Instant.parse("2026-05-01T10:00:02Z")


def event(attributes: dict[str, Any] | None = None, types: list[str] | None = None) -> dict[str, Any]:
    return {
        "id": "e1",
        "source": "site-a",
        "time": "2026-05-01T10:00:00Z",
        "event_type": types or ["car"],
        "attributes": {"price": 900, "brand": ["mini", "opel"]} if attributes is None else attributes,
    }


def mail(*events: dict[str, Any], filter: str = "price < 1300", test: bool = False, id: str = "s1") -> Mail:
    owed = tuple(Owed(f"{n}.s1", n, one, MATCHED) for n, one in enumerate(events or (event(),), 1))
    return mail_of(OutgoingDelivery("1.s1", id, "ann", filter, owed, test), LINK)


class Seen(HTMLParser):
    """What a reader of the HTML sees: its elements and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.links: list[str | None] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.links += [value for name, value in attrs if name in ("href", "src")]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_one_event_in_three_forms() -> None:
    made = mail()
    assert made.subject == "Tidings: car for s1"
    for text in (made.plain, Seen(made.html).text):
        for piece in ("price < 1300", "900", "mini, opel", "happened 2026-05-01T10:00:00Z", "site-a"):
            assert piece in text
        assert "the account ann subscribed under the name s1" in text
    assert "    brand: mini, opel\n" in made.plain
    assert f"Unsubscribe: {LINK}\n" in made.plain
    assert Seen(made.html).links == [LINK]


def test_a_detection_lists_its_events() -> None:
    times = ("2026-05-01T09:55:00Z", "2026-05-01T10:00:00Z")
    parts = [{"id": f"e{n}<b>", "source": "site-a", "time": time} for n, time in enumerate(times)]
    found = {"key": [], "time": times[1], "events": parts}
    owed = Owed("1", 1, event(), MATCHED, detection=found)
    told = mail_of(OutgoingDelivery("1", "s1", "ann", "[price > 3] before [price < 3] within 1 h", (owed,)), LINK)
    assert told.subject == "Tidings: car, last of 2 events for s1"
    assert "A pattern was detected by s1." in told.plain
    assert "Your composite: [price > 3] before" in told.plain
    assert "    1. 2026-05-01T09:55:00Z: event e0<b> from site-a\n    2. 2026-05-01T10:00:00Z: event e1" in told.plain
    assert "<li>2026-05-01T09:55:00Z: event e0&lt;b&gt; from site-a</li>" in told.html
    silent = Owed("1", 1, event({}, []), MATCHED, detection=found | {"events": []})
    assert "nothing happened" in mail_of(OutgoingDelivery("1", "s1", "ann", "absent(…)", (silent,)), LINK).subject


def test_a_partial_match_that_expired_says_what_it_waited_for() -> None:
    parts = [{"id": "e0", "source": "", "time": "2026-05-01T09:55:00Z"}]
    whole = {"key": [], "time": "2026-05-01T10:55:00Z", "events": parts}
    owed = Owed("1", 1, event(), MATCHED, detection=whole | {"expired": "[price < 3]"})
    told = mail_of(OutgoingDelivery("1", "s1", "ann", "…", (owed,)), LINK)
    assert told.subject == "Tidings: car, expired while waiting for [price < 3] for s1"
    assert "A partial match expired in s1." in told.plain
    both = mail_of(OutgoingDelivery("1", "s1", "ann", "…", (owed, Owed("2", 2, event(), MATCHED, detection=whole))))
    assert "2 patterns were detected, or expired before they were complete, by s1." in both.plain


def test_a_declared_headline_is_the_title() -> None:
    story = Owed("1.s1", 1, event({"title": "Mini\r\nfound", "price": 3}), MATCHED, "title")
    told = mail_of(OutgoingDelivery("1.s1", "s1", "ann", "price < 1300", (story,)), LINK)
    assert told.subject == "Tidings: Mini found (car) for s1"
    assert "\nMini found (car)\n" in told.plain
    assert "<h3>Mini found (car)</h3>" in told.html


def test_a_digest_shows_all_and_says_how_many() -> None:
    made = mail(event({"price": 1}), event({"price": 2}), event({"price": 3}))
    assert made.subject == "Tidings: 3 notifications for s1"
    assert [line.strip() for line in made.plain.splitlines() if "price: " in line] == [
        "price: 1",
        "price: 2",
        "price: 3",
    ]
    assert Seen(made.html).elements.count("table") == 3


def test_a_long_digest_says_what_it_leaves_out() -> None:
    made = mail(*(event({"n": n}) for n in range(MOST_EVENTS + 7)))
    assert f"    n: {MOST_EVENTS - 1}\n" in made.plain
    assert f"    n: {MOST_EVENTS}\n" not in made.plain
    assert "and 7 more" in made.plain
    assert "and 7 more" in made.html
    assert f"{MOST_EVENTS + 7} notifications" in made.subject


def test_a_test_says_that_it_is_one() -> None:
    made = mail(test=True)
    assert made.subject.startswith("Test: ")
    assert made.plain.startswith("A test: ")


def test_without_a_link_nothing_speaks_of_it() -> None:
    made = mail_of(OutgoingDelivery("1.s1", "s1", "ann", "price < 1", (Owed("1.s1", 1, event(), MATCHED),)))
    assert "nsubscribe" not in made.plain + made.html


@pytest.mark.parametrize("end", ["\r\n", "\n", "\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029", "\0"])
def test_no_line_of_a_mail_is_an_event_s(end: str) -> None:
    evil = f"x{end}Bcc: all@example.org{end}{end}Unsubscribe: https://evil.example"
    made = mail(event({"a": evil, evil: 1}, [f"car{end}Subject: y"]), filter=f"a = '{evil}'", id=f"s{end}Bcc: z")
    assert made.subject.splitlines() == [made.subject]
    assert not [
        line for line in made.plain.splitlines() if line.startswith(("Bcc", "Subject", "Unsubscribe: https://evil"))
    ]
    assert "x Bcc: all@example.org" in made.plain


def test_html_in_values_names_types_and_filter_is_text() -> None:
    evil = "<img src=x onerror=alert(1)>\"'</td><script>alert(2)</script>"
    made = mail(event({"a": evil, evil: evil}, [evil]), filter=evil, id=evil)
    seen = Seen(made.html)
    assert not {"img", "script"} & set(seen.elements)
    assert seen.links == [LINK]
    assert "<script>alert(2)</script>" in seen.text
    assert "{{ 7 * 7 }}" in mail(event({"a": "{{ 7 * 7 }}"})).html


def test_lengths_are_capped() -> None:
    long = "y" * 200_000
    attributes: dict[str, Any] = {f"a{n}": n for n in range(MOST_ATTRIBUTES + 5)}
    made = mail(event({"v": long, "many": list(range(10_000)), **attributes}, [long]), filter=long, id=long)
    assert len(made.subject) <= LONGEST_SUBJECT
    assert len(made.plain) < 20_000
    assert len(made.html) < 30_000
    assert "y" * (LONGEST_VALUE - 1) + "…" in made.plain
    assert "y" * LONGEST_FILTER not in made.plain
    assert f"19, … and {10_000 - MOST_VALUES:} more" in made.plain
    assert "and 7 more attributes" in made.plain


def test_a_value_that_turns_the_direction_is_shown_as_it_is() -> None:
    assert one_line("photo\u202egpj.exe", 50) == "photogpj.exe"
    assert one_line("νέα 👩‍👩‍👧 می‌خواهم", 50) == "νέα 👩‍👩‍👧 می‌خواهم"


@given(st.text(), st.integers(2, 50))
def test_one_line_is_one_line_of_text(text: str, most: int) -> None:
    line = one_line(text, most)
    assert len(line) <= most
    assert len(line.splitlines()) <= 1
    assert line.encode().decode() == line
    assert one_line(line, most) == line


def test_half_of_a_surrogate_pair_does_not_stop_a_mail() -> None:
    assert "a b" in mail(event({"x": "a\ud800b"})).plain.encode().decode()
