"""The checker notices what is planted in a record that is otherwise in order."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from tidings.events import validate
from tidings.language import Filter
from tidings.matching.explain import explain
from tidings.schema import json_form
from tidings.torture.checking import LATE, Verdict, check
from tidings.torture.numbers import MOST, SCHEMA, Numbers, draw_numbers, sample
from tidings.torture.record import Change, Delivered, Published, Record, Seen, Subscribed

ALL = Numbers(((0, MOST),))
NONE = Numbers(((MOST, MOST + 1),))
EVENTS = 20


def sound() -> Record:
    """Ten subscriptions, each with a change in the middle; all clients were told what they must be told."""
    record = Record()
    position = 10
    for number in range(10):
        began = record.next_tick()
        position += 1
        change = Change("subscribe", ALL, True, began, record.next_tick())
        channel = "webhook" if number % 2 else "stored"
        record.subscribed[f"s{number}"] = Subscribed(f"s{number}", "ann", channel, position, [change])
    position = publish(record, "a", position)
    for number, one in enumerate(record.subscribed.values()):
        position += 1
        kind, numbers, active = (("edit", NONE, True), ("pause", ALL, False), ("withdraw", ALL, False))[number % 3]
        one.changes.append(Change(kind, numbers, active, record.next_tick(), record.next_tick()))
    publish(record, "b", position)
    told = [
        Seen(f"{event.position}.{id}", id, event.id, event.at + 1)
        for event in record.published.values()
        for id in record.subscribed
        if event.id.startswith("a")
    ]
    record.stored["ann"], record.read["ann"], record.streamed["ann"] = told, told[:], told[:]
    sequences = dict.fromkeys(record.subscribed, 0)
    for one in told:
        if record.subscribed[one.subscription].channel == "webhook":
            sequences[one.subscription] += 1
            sequence = sequences[one.subscription]
            record.delivered.append(Delivered(one.id, one.subscription, one.event, sequence, one.at, True))
            record.tried.append((one.subscription, sequence))
    return record


def publish(record: Record, name: str, position: int) -> int:
    for number in range(EVENTS):
        position += 1
        began, ended = record.next_tick(), record.next_tick()
        event = Published(f"{name}{number}", number, number, began, ended, position, float(ended))
        record.published[event.id] = event
    return position


def counts(verdict: Verdict, way: str) -> tuple[int, int, int]:
    (found,) = (one for one in verdict.ways if one.name == way)
    return len(found.lost), len(found.doubled), len(found.phantom)


WAYS = ("stored", "read", "stream", "webhook")


def test_a_sound_record_is_sound() -> None:
    verdict = check(sound())
    assert verdict.holds
    assert [counts(verdict, way) for way in WAYS] == [(0, 0, 0)] * 4
    assert [way.owed for way in verdict.ways] == [200, 200, 200, 100]
    assert [way.arrived for way in verdict.ways] == [200, 200, 200, 100]
    assert [(way.repeated, way.disordered, way.late) for way in verdict.ways] == [(0, 0, 0)] * 4
    assert verdict.gaps == 0


@pytest.mark.parametrize("number", [0, 57, 199])
def test_a_loss_in_the_store_is_noticed(number: int) -> None:
    record = sound()
    lost = record.stored["ann"].pop(number)
    verdict = check(record)
    assert not verdict.holds
    assert verdict.ways[0].lost == [(lost.event, lost.subscription)]


@pytest.mark.parametrize("told", ["read", "streamed"])
def test_a_loss_on_the_way_to_a_reader_is_noticed(told: str) -> None:
    record = sound()
    getattr(record, told)["ann"].pop(3)
    verdict = check(record)
    assert not verdict.holds
    assert counts(verdict, "stored") == (0, 0, 0)
    assert counts(verdict, "read" if told == "read" else "stream") == (1, 0, 0)


def test_what_the_receiver_never_took_is_lost() -> None:
    record = sound()
    record.delivered[5] = replace(record.delivered[5], taken=False)
    verdict = check(record)
    assert counts(verdict, "webhook") == (1, 0, 0)
    assert verdict.gaps == 0
    assert not verdict.holds


def test_a_delivery_that_never_came_is_lost_and_leaves_a_gap() -> None:
    record = sound()
    del record.delivered[5]
    verdict = check(record)
    assert counts(verdict, "webhook") == (1, 0, 0)
    assert verdict.gaps == 1


def test_a_match_that_is_stored_twice_is_doubled() -> None:
    record = sound()
    record.stored["ann"].append(record.stored["ann"][7])
    assert counts(check(record), "stored") == (0, 1, 0)
    record = sound()
    record.stored["ann"].append(replace(record.stored["ann"][7], id="another"))
    assert counts(check(record), "stored") == (0, 1, 0)


def test_one_match_under_two_ids_is_doubled() -> None:
    record = sound()
    record.delivered.append(replace(record.delivered[5], id="another", sequence=21))
    verdict = check(record)
    assert counts(verdict, "webhook") == (0, 1, 0)
    assert not verdict.holds


def test_the_same_id_again_is_allowed_and_counted() -> None:
    record = sound()
    record.delivered += [record.delivered[5], replace(record.delivered[6], taken=False)]
    record.streamed["ann"].append(record.streamed["ann"][0])
    verdict = check(record)
    assert verdict.holds
    assert [way.repeated for way in verdict.ways] == [0, 0, 1, 2]


def test_one_sequence_number_for_two_matches_is_a_gap() -> None:
    record = sound()
    record.delivered[5] = replace(record.delivered[5], sequence=record.delivered[0].sequence)
    assert record.delivered[5].subscription == record.delivered[0].subscription
    verdict = check(record)
    assert verdict.gaps == 2  # two have it, and nobody has the one it should have
    assert not verdict.holds


@pytest.mark.parametrize("way", WAYS)
def test_a_notification_after_the_subscription_ended_is_a_phantom(way: str) -> None:
    record = sound()
    event = record.published["b19"]  # the subscription was paused long before
    made_up = Seen(f"{event.position}.s1", "s1", event.id, event.at)
    if way == "webhook":
        record.delivered.append(Delivered(made_up.id, "s1", event.id, EVENTS + 1, event.at, True))
    else:
        {"stored": record.stored, "read": record.read, "stream": record.streamed}[way]["ann"].append(made_up)
    verdict = check(record)
    assert counts(verdict, way) == (0, 0, 1)
    assert not verdict.holds


def test_a_delivery_for_what_is_only_stored_is_a_phantom() -> None:
    record = sound()
    one = record.stored["ann"][0]
    assert one.subscription == "s0"
    record.delivered.append(Delivered(one.id, "s0", one.event, 1, one.at, True))
    assert counts(check(record), "webhook") == (0, 0, 1)


def test_events_and_subscriptions_that_nobody_made_are_phantoms() -> None:
    record = sound()
    record.stored["ann"] += [Seen("1.s0", "s0", "of nobody", 0.0), Seen("1.s99", "s99", "a1", 0.0)]
    assert counts(check(record), "stored") == (0, 0, 2)


def test_what_was_never_acknowledged_may_be_there_or_not() -> None:
    record = sound()
    record.published["unknown"] = Published("unknown", 1, 1, record.next_tick())
    assert check(record).holds
    record.stored["ann"].append(Seen("99.s0", "s0", "unknown", 0.0))
    assert counts(check(record), "stored") == (0, 0, 0)


def between(*seen: str) -> Verdict:
    """One subscription is paused while three events are under way; for these of them there is a notification."""
    record = Record()
    began = record.next_tick()
    change = Change("subscribe", ALL, True, began, record.next_tick())
    one = Subscribed("s", "ann", "stored", 1, [change])
    record.subscribed["s"] = one
    pause = Change("pause", ALL, False, record.next_tick())
    events = [Published(f"e{number}", number, 0, record.next_tick()) for number in (1, 2, 3)]
    for position, event in enumerate(events, 2):
        event.ended, event.position = record.next_tick(), position
        record.published[event.id] = event
    pause.ended = record.next_tick()
    one.changes.append(pause)
    record.stored["ann"] = [Seen(f"{record.published[id].position}.s", "s", id, 0.0) for id in seen]
    return check(record)


@pytest.mark.parametrize("seen", [(), ("e1",), ("e1", "e2"), ("e1", "e2", "e3")])
def test_where_a_pause_stands_among_events_under_way_is_not_known(seen: tuple[str, ...]) -> None:
    assert between(*seen).holds


@pytest.mark.parametrize(("seen", "faults"), [(("e2",), 1), (("e3",), 1), (("e1", "e3"), 1), (("e2", "e3"), 1)])
def test_but_it_stands_at_one_place(seen: tuple[str, ...], faults: int) -> None:
    lost, _, phantom = counts(between(*seen), "stored")
    assert lost + phantom == faults


def test_out_of_order_and_late_ones_are_counted() -> None:
    record = sound()
    record.tried[0], record.tried[5] = record.tried[5], record.tried[0]
    record.tried += record.tried  # a retry is not a first attempt
    record.streamed["ann"][-1] = replace(record.streamed["ann"][-1], at=1e6)
    verdict = check(record)
    assert verdict.holds
    ways = {way.name: way for way in verdict.ways}
    assert ways["webhook"].disordered == 1
    assert ways["stream"].late == 1
    assert ways["stream"].after(1.0) > LATE


def test_numbers_hold_as_their_text_says() -> None:
    """The record's own truth is that of the language."""
    domains, n, m, sample_type = (body for _, body in SCHEMA)
    catalog = json_form.read({"domains": [domains], "attributes": [n, m], "event_types": [sample_type]})
    draw = random.Random(1)
    held = 0
    for _ in range(300):
        numbers = draw_numbers(draw)
        filter = Filter.parse(numbers.text, catalog)
        edges = [edge for range in numbers.ranges for edge in range]
        for n_value in (*edges, *(edge - 1 for edge in edges), draw.randrange(MOST)):
            m_value = draw.choice((0, MOST, numbers.below or 0, max(0, (numbers.below or 0) - 1)))
            event = validate(sample("e", n_value, m_value), catalog)
            assert numbers.holds(n_value, m_value) is explain(filter, event, catalog).matches
            held += numbers.holds(n_value, m_value)
    assert held > 300
