"""Refused events are kept, each once, exactly as they were sent."""

import pytest

from tests.store.samples import START, Clock
from tidings.events import BrokenRule
from tidings.store import DeadLetter, Store, StoredLetter

ERRORS = (BrokenRule("mandatory", "price", None, "'price' is mandatory"), BrokenRule("domain", "n", [1, "x"], "no"))


def letter(place: str, origin: str = "events.jsonl", **members: object) -> DeadLetter:
    return DeadLetter(origin, place, **({"id": "e1", "raw": "{}", "errors": ERRORS} | members))  # type: ignore[arg-type]


def test_they_are_numbered_and_dated(store: Store, clock: Clock) -> None:
    assert store.bury([letter("line 1"), letter("line 2", id=None)]) == 2
    clock.tick()
    assert store.bury([letter("line 3")]) == 1
    first, second, third = store.dead_letters()
    assert first == StoredLetter(1, START, letter("line 1"))
    assert second.letter.id is None
    assert (third.number, third.stored) == (3, START + 1_000_000)


def test_buried_again_adds_nothing(store: Store) -> None:
    assert store.bury([letter("line 1"), letter("line 1", raw="other")]) == 1
    assert store.bury([letter("line 1"), letter("line 2"), letter("line 1", origin="other.jsonl")]) == 2
    assert store.bury([]) == 0
    assert [one.letter.place for one in store.dead_letters()] == ["line 1", "line 2", "line 1"]


def test_read_on(store: Store) -> None:
    store.bury([letter(str(number)) for number in range(5)])
    assert [one.number for one in store.dead_letters(after=1, limit=2)] == [2, 3]
    assert store.dead_letters(after=5) == []


@pytest.mark.parametrize("text", ["\0", "\ud800", "ä😀", "\n\t'\"\\", "x" * 100_000], ids=range(5))
def test_anything_that_was_sent_is_kept(store: Store, text: str) -> None:
    odd = letter("1" if len(text) > 9 else text, origin=text, id=text, raw=text)
    assert store.bury([odd]) == 1
    assert store.bury([odd]) == 0
    assert store.dead_letters()[0].letter == odd
