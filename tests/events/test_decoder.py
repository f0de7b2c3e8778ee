"""What the journal keeps comes back as it was accepted; what was damaged is told, and changes no other answer."""

import msgspec
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.events.examples import EVERY_KIND
from tests.events.test_columns import raw_events
from tidings.events import RefusedEvent, validate, write_event
from tidings.events.decoder import EventDecoder
from tidings.schema import Attribute, AttributeUse
from tidings.schema.growth import AppendValue, CreateAttribute, ExtendEventType, grow

DECODERS = {"a struct": EventDecoder(EVERY_KIND), "a dictionary": EventDecoder(EVERY_KIND, most_fields=0)}
each_form = pytest.mark.parametrize("decoder", DECODERS.values(), ids=DECODERS)
SOUND = '{"id":"ok","event_type":["all"],"attributes":{"price":1,"sizes":[1,2.5],"when":"2026-05-01T00:00:00Z"}}'


def payload(event):
    return msgspec.json.encode(write_event(event)).decode()


def decoded(decoder, *payloads):
    """Events by position, and problems by position."""
    batch, problems = decoder.decode(payloads, pa.array(range(10, 10 + len(payloads)), pa.int64()))
    return dict(zip(batch.positions.to_pylist(), batch, strict=True)), dict(problems)


def accepted(raws):
    for raw in raws:
        try:
            yield validate(raw, EVERY_KIND)
        except RefusedEvent:
            continue


@each_form
@settings(max_examples=200)
@given(raws=st.lists(raw_events, max_size=12))
def test_what_was_accepted_comes_back(decoder, raws):
    events = list(accepted(raws))
    found, problems = decoded(decoder, *map(payload, events))
    assert problems == {}
    assert found == dict(enumerate(events, 10))
    assert repr(found) == repr(dict(enumerate(events, 10)))  # 1 and 1.0 are equal but not the same


@each_form
def test_an_event_of_an_older_schema_comes_back_under_the_newest(decoder):
    event = validate(msgspec.json.decode(SOUND), EVERY_KIND)
    grown = EVERY_KIND
    for change in (
        CreateAttribute(Attribute("since", "moment")),
        ExtendEventType("all", AttributeUse("since", mandatory=False)),
        AppendValue("brand", "volvo"),
    ):
        grown = grow(grown, change)
    newest = EventDecoder(grown)
    assert decoded(newest, payload(event)) == ({10: event}, {})
    assert decoded(decoder, '{"id":"e","event_type":["all"],"attributes":{"price":1,"brand":"volvo"}}')[0] == {}


@each_form
def test_there_may_be_more_values_than_is_the_limit_now(decoder):
    event = validate(
        {"id": "e", "event_type": "all", "attributes": {"price": 1, "sizes": list(range(2_000))}},
        EVERY_KIND,
        most_values=None,
    )
    assert decoded(decoder, payload(event)) == ({10: event}, {})
    odd = payload(event).replace('"price"', ' "nosuch": null, "price"')  # which takes the way through `validate`
    assert decoded(decoder, odd) == ({10: event}, {})


DAMAGED = {
    "nothing": "",
    "no JSON": "\x00\x00",
    "cut off": SOUND[:40],
    "something after it": SOUND + "}",
    "two in one": SOUND + SOUND,
    "no object": "[1]",
    "no id": '{"event_type":["all"],"attributes":{"price":1}}',
    "an empty id": '{"id":"","event_type":["all"],"attributes":{"price":1}}',
    "no types": '{"id":"e","attributes":{"price":1}}',
    "an empty list of types": '{"id":"e","event_type":[],"attributes":{"price":1}}',
    "an unknown type": '{"id":"e","event_type":["al"],"attributes":{"price":1}}',
    "an unknown attribute": '{"id":"e","event_type":["all"],"attributes":{"price":1,"nosuch":1}}',
    "an unknown member": '{"id":"e","event_type":["all"],"attributes":{"price":1},"more":1}',
    "text for a number": '{"id":"e","event_type":["all"],"attributes":{"price":"1"}}',
    "a Boolean for a number": '{"id":"e","event_type":["all"],"attributes":{"price":true}}',
    "a number without end": '{"id":"e","event_type":["all"],"attributes":{"price":1e999}}',
    "a number for text": '{"id":"e","event_type":["all"],"attributes":{"price":1,"name":1}}',
    "an unknown word": '{"id":"e","event_type":["all"],"attributes":{"price":1,"brand":"opal"}}',
    "an unknown word in a list": '{"id":"e","event_type":["all"],"attributes":{"price":1,"brands":["mini","opal"]}}',
    "no time": '{"id":"e","event_type":["all"],"attributes":{"price":1,"when":"2026-13-01T00:00:00Z"}}',
    "no time of its own": '{"id":"e","time":"soon","event_type":["all"],"attributes":{"price":1}}',
    "an empty list": '{"id":"e","event_type":["all"],"attributes":{"price":1,"sizes":[]}}',
    "a list in a list": '{"id":"e","event_type":["all"],"attributes":{"price":1,"sizes":[[1]]}}',
    "half a character": '{"id":"e","event_type":["all"],"attributes":{"price":1,"name":"\\ud800"}}',
}


@each_form
@pytest.mark.parametrize("damage", DAMAGED)
def test_damage_is_told_and_the_others_are_read(decoder, damage):
    event = validate(msgspec.json.decode(SOUND), EVERY_KIND)
    found, problems = decoded(decoder, SOUND, DAMAGED[damage], SOUND)
    assert found == {10: event, 12: event}
    assert list(problems) == [11]
    assert "refused" in problems[11]


@each_form
def test_what_is_valid_in_another_form_is_read_as_validate_reads_it(decoder):
    odd = '{"id":"e","source":null,"event_type":"all","attributes":{"price":1.0,"sizes":[2,2.0],"name":null}}'
    assert decoded(decoder, SOUND, odd)[0][11] == validate(msgspec.json.decode(odd), EVERY_KIND)


@each_form
@settings(max_examples=200)
@given(st.integers(0, len(SOUND) - 1), st.integers(0, 3), st.binary(max_size=3))
def test_random_damage_is_told_or_makes_no_difference_to_the_rules_of_values(decoder, at, removed, put):
    damaged = (SOUND[:at].encode() + put + SOUND[at + removed :].encode()).decode("utf-8", "replace")
    event = validate(msgspec.json.decode(SOUND), EVERY_KIND)
    found, problems = decoded(decoder, SOUND, damaged)
    assert found[10] == event
    assert (11 in found) != (11 in problems)
    try:
        expected = validate(msgspec.json.decode(damaged), EVERY_KIND)
    except (msgspec.MsgspecError, ValueError):
        assert 11 in problems
    except RefusedEvent as refused:
        if {one.rule for one in refused.errors} & {"form", "id", "type", "empty", "domain"}:
            assert 11 in problems
    else:
        assert found[11] == expected
