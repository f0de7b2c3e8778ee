"""Events on their way out: each has an id, and is otherwise what was given."""

import json

import pytest

from tidings.client.flows import _chunks
from tidings.client.lines import lines_of, raw_event
from tidings.events import Event, validate
from tidings.schema.files import read_catalog

CATALOG = read_catalog("examples/schema.json")[0]


def test_an_id_is_kept_and_a_missing_one_made() -> None:
    assert raw_event({"id": "e1", "event_type": "car"}) == {"id": "e1", "event_type": "car"}
    first, second = (raw_event({"event_type": "car"})["id"] for _ in range(2))
    assert first != second


def test_the_callers_event_is_not_changed() -> None:
    event = {"event_type": "car"}
    raw_event(event)
    assert event == {"event_type": "car"}


def test_an_event_of_ours_becomes_the_raw_event_that_is_valid_again() -> None:
    event = validate({"id": "e1", "event_type": "car", "attributes": {"brand": "mini", "year": 1990}}, CATALOG)
    assert isinstance(event, Event)
    assert validate(raw_event(event), CATALOG) == event


def test_lines_with_an_id_stay_as_they_are() -> None:
    lines = [b'{"id":"e1",  "x": NaN}\n', '{"id": "e2"}\r\n', b"no json", b"", b"[1]", b"\xff"]
    assert list(lines_of(lines)) == [b'{"id":"e1",  "x": NaN}', b'{"id": "e2"}', b"no json", b"", b"[1]", b"\xff"]


@pytest.mark.parametrize("line", [b'{"event_type": "car"}', b"{}", b'{"id": null, "event_type": "car"}', b'{"a": NaN}'])
def test_lines_without_an_id_get_one(line: bytes) -> None:
    (made,) = lines_of([line])
    read = json.loads(made)
    assert len(read.pop("id")) == 32
    rest = json.loads(line)
    rest.pop("id", None)
    assert str(read) == str(rest)


@pytest.mark.parametrize("line", [b'\xef\xbb\xbf{"event_type": "car"}', '\ufeff{"id": "e1", "event_type": "car"}\n'])
def test_a_byte_order_mark_is_no_part_of_the_first_event(line: bytes | str) -> None:
    (made,) = lines_of([line])
    assert json.loads(made.decode())["event_type"] == "car"
    assert json.loads(made.decode())["id"]


def test_a_text_over_several_lines_is_one_line() -> None:
    (made,) = lines_of(['{\n  "id": "e1",\n  "event_type": "car"\n}'])
    assert b"\n" not in made
    assert json.loads(made) == {"id": "e1", "event_type": "car"}


def test_what_json_cannot_say_is_an_error_and_not_silently_something_else() -> None:
    with pytest.raises(ValueError, match="float"):
        list(lines_of([{"id": "e1", "attributes": {"price": float("nan")}}]))


def test_chunks_are_bounded_by_lines_and_bytes() -> None:
    assert [len(chunk) for chunk in _chunks([b"x"] * 12_001)] == [5_000, 5_000, 2_001]
    large = b"x" * (3 << 20)
    assert [len(chunk) for chunk in _chunks([large, large, b"x"])] == [1, 2]
    assert list(_chunks([])) == []
