"""What the appender answers, and what stands in the journal afterwards."""

import json
import pickle
from pathlib import Path

import pytest

from tests.store.samples import AUDI, SCHEMA, START, Clock, positions, publish, raw, refusal, with_schema
from tidings.errors import LanguageError, SchemaError
from tidings.events import Event, RefusedEvent, validate
from tidings.schema import Catalog, Instant
from tidings.schema.files import read_catalog
from tidings.schema.growth import AppendValue, changes_to_make, grow
from tidings.store import (
    Accepted,
    Duplicate,
    Edit,
    Grow,
    Pause,
    Publish,
    PublishValid,
    Refused,
    Resume,
    Store,
    Subscribe,
    Withdraw,
)
from tidings.store.errors import UnfitSubscription


def test_positions_are_dense_from_one(store: Store) -> None:
    assert (store.tail(), list(store.entries())) == (0, [])
    assert positions(store.append(SCHEMA)) == [1, 2, 3, 4, 5]
    assert store.append([publish("e1")]) == [Accepted(6, START)]
    assert store.tail() == 6
    assert [entry.position for entry in store.entries()] == [1, 2, 3, 4, 5, 6]


def test_nothing_appended_is_nothing(store: Store) -> None:
    assert store.append([]) == []
    assert store.tail() == 0


def test_an_event_is_kept_as_validation_leaves_it(store: Store) -> None:
    with_schema(store).append([publish("e1", 3.0, source="a", time="2026-05-01 10:00", contact="x", brand=["mini"])])
    (entry,) = store.entries(after=5)
    assert (entry.kind, entry.schema_version, entry.accepted) == ("event", 6, START)
    assert json.loads(entry.body) == {
        "id": "e1",
        "source": "a",
        "time": "2026-05-01T10:00:00Z",
        "contact": "x",
        "event_type": ["car"],
        "attributes": {"brand": "mini", "price": 3},
    }


def test_a_refused_event_names_every_rule_and_disturbs_nobody(store: Store) -> None:
    outcomes = with_schema(store).append([publish("e1"), publish("e2", "cheap", brand="fiat"), publish("e3")])
    assert positions(outcomes) == [6, None, 7]
    refused = outcomes[1]
    assert isinstance(refused, Refused)
    assert isinstance(refused.error, RefusedEvent)
    assert {error.attribute for error in refused.error.errors} == {"price", "brand"}


def test_an_event_is_validated_under_the_schema_at_its_place(store: Store) -> None:
    audi = publish("e1", brand="audi")
    outcomes = with_schema(store).append([audi, AUDI, audi])
    assert positions(outcomes) == [None, 6, 7]
    assert [entry.schema_version for entry in store.entries(after=5)] == [7, 7]


def test_a_duplicate_is_known_in_the_group_and_later(store: Store) -> None:
    outcomes = with_schema(store).append([publish("e1"), publish("e1", 11), publish("e1", source="a")])
    assert outcomes == [Accepted(6, START), Duplicate(6), Accepted(7, START)]
    assert store.append([publish("e1"), publish("e1", source="a")]) == [Duplicate(6), Duplicate(7)]
    assert store.tail() == 7


def test_source_and_id_are_not_run_together(store: Store) -> None:
    pairs = [("a", "b1"), ("ab", "1"), ("", "ab1"), ("a1", "b"), ("1:", "a"), ("", "1:a")]
    drafts = [publish(id, source=source) for source, id in pairs]
    assert positions(with_schema(store).append(drafts)) == [6, 7, 8, 9, 10, 11]
    assert store.append(drafts) == [Duplicate(position) for position in range(6, 12)]


ODD = ["\0", "e\u0000f", "ä€😀", "x" * 1000, "😀" * 1000, "'; DROP TABLE journal; --", "%s", "?", "\\N", "\t\n"]


@pytest.mark.parametrize("id", ODD, ids=range(len(ODD)))
def test_any_text_may_be_an_id_or_a_source(store: Store, id: str) -> None:
    draft = publish(id, source=id * 10)
    assert positions(with_schema(store).append([draft])) == [6]
    assert store.append([draft]) == [Duplicate(6)]
    (batch,) = store.event_rows(0, 6)
    assert json.loads(batch.column("payload")[0].as_py())["id"] == id


def test_half_a_surrogate_pair_is_refused_and_harms_nobody(store: Store) -> None:
    drafts = [publish("\ud800"), publish("e", source="\ud800"), Subscribe("\ud800", "price > 1"), publish("f")]
    assert positions(with_schema(store).append(drafts)) == [None, None, None, 6]


def test_a_valid_event_is_not_validated_again(store: Store) -> None:
    with_schema(store)
    event = validate(raw("e1"), store.catalog())
    assert store.append([PublishValid(event), PublishValid(event)]) == [Accepted(6, START), Duplicate(6)]
    assert store.append([publish("e1")]) == [Duplicate(6)]


def test_a_time_far_ahead_is_refused_alike_for_raw_and_valid_events(store: Store) -> None:
    with_schema(store)
    ahead = raw("e1", time="2026-05-01T10:05:00.000001Z")
    event = validate(ahead, store.catalog())
    one, other = store.append([Publish(ahead), PublishValid(event)])
    assert isinstance(one, Refused)
    assert isinstance(other, Refused)
    assert isinstance(one.error, RefusedEvent)
    assert isinstance(other.error, RefusedEvent)
    assert one.error.errors[0].message == other.error.errors[0].message
    assert "more than 5 minutes after the time of acceptance" in str(other.error)
    on_time = Event("e2", ("car",), (("price", (1,)),), time=Instant.parse("2026-05-01T10:05:00Z"))
    assert positions(store.append([PublishValid(on_time)])) == [6]


def test_times_never_decrease(store: Store, clock: Clock) -> None:
    with_schema(store)
    clock.tick(60)
    store.append([publish("e1")])
    clock.tick(-3600)
    assert store.append([publish("e2")]) == [Accepted(7, Instant(START + 60_000_000))]


def test_the_catalog_is_what_growth_makes(store: Store) -> None:
    expected = Catalog()
    for draft in SCHEMA:
        assert isinstance(draft, Grow)
        expected = grow(expected, draft.change)
    made = with_schema(store).catalog()
    assert made == expected
    assert made.version == expected.version == 6
    assert store.catalog() is made  # read once


def test_a_refused_change_changes_nothing(store: Store) -> None:
    before = with_schema(store).catalog()
    outcomes = store.append([Grow(AppendValue("brand", "mini")), Grow(AppendValue("colour", "red"))])
    assert "exists already" in refusal(outcomes[0])
    assert "no domain 'colour'" in refusal(outcomes[1])
    assert all(isinstance(outcome, Refused) and isinstance(outcome.error, SchemaError) for outcome in outcomes)
    assert (store.catalog(), store.tail()) == (before, 5)


@pytest.mark.parametrize("value", [7, "\ud800"])
def test_a_value_that_is_no_text_is_refused(store: Store, value: str) -> None:
    outcomes = with_schema(store).append([Grow(AppendValue("brand", value)), publish("e1")])
    assert positions(outcomes) == [None, 6]


def test_a_schema_file_becomes_the_journals_schema(store: Store) -> None:
    catalog, _ = read_catalog(Path(__file__).parents[2] / "examples" / "schema.json")
    store.append([Grow(change) for change in changes_to_make(catalog)])
    assert store.catalog() == catalog
    assert store.catalog().version == 1 + store.tail()


def test_a_filter_is_bound_and_kept_in_its_canonical_text(store: Store) -> None:
    outcomes = with_schema(store).append([Subscribe("s1", "BRAND = mini"), Subscribe("s1", "brand=mini AND price<3")])
    assert positions(outcomes) == [None, 6]
    refused = outcomes[0]
    assert isinstance(refused, Refused)
    assert isinstance(refused.error, LanguageError)
    (entry,) = store.entries(after=5)
    assert json.loads(entry.body) == {"id": "s1", "filter": "brand = 'mini' and price < 3"}


def test_a_text_that_was_bound_before_is_kept_as_it_is(store: Store) -> None:
    """Whoever publishes waits while the journal binds a text."""
    with_schema(store).append([Subscribe("s1", "prise < 3", bound=True), Edit("s1", "prise < 4", bound=True)])
    assert [json.loads(one.body)["filter"] for one in store.entries(after=5)] == ["prise < 3", "prise < 4"]
    (refused,) = store.append([Subscribe("s2", "price < '\0'", bound=True)])
    assert isinstance(refused, Refused)
    assert isinstance(refused.error, UnfitSubscription)


def test_a_subscription_keeps_its_members(store: Store) -> None:
    expiry = Instant(START + 1)
    with_schema(store).append([Subscribe("s1", "price < 3", "ann", expiry, "sse")])
    found = store.subscription("s1")
    assert (found.owner, found.expiry, found.delivery, found.state) == ("ann", expiry, "sse", "active")
    assert (found.since, found.span) == (6, 6)
    (entry,) = store.entries(after=5)
    assert json.loads(entry.body)["expiry"] == "2026-05-01T10:00:00.000001Z"


def test_changes_of_a_subscription(store: Store) -> None:
    drafts = [Subscribe("s", "price < 3"), Pause("s"), Resume("s"), Edit("s", "price < 4"), Withdraw("s")]
    assert positions(with_schema(store).append(drafts)) == [6, 7, 8, 9, 10]
    kinds = [entry.kind for entry in store.entries(after=5)]
    assert kinds == ["subscribe", "pause", "resume", "edit", "withdraw"]
    assert positions(store.append([Subscribe("s", "price < 5")])) == [11]  # a withdrawn id may be used again


def test_what_a_subscription_refuses(store: Store) -> None:
    with_schema(store).append([Subscribe("active", "price < 3"), Subscribe("paused", "price < 3"), Pause("paused")])
    drafts = [Subscribe("active", "price < 3"), Subscribe("paused", "price < 3"), Resume("active"), Pause("paused")]
    drafts += [Withdraw("none"), Pause("none"), Resume("none"), Edit("none", "price < 3"), Edit("active", "price <")]
    drafts += [Subscribe("late", "price < 3", expiry=START), Withdraw("\0")]
    told = [refusal(outcome) for outcome in store.append(drafts)]
    assert told[0] == "subscription 'active' exists already; edit or withdraw it, or choose another id"
    assert told[1] == "subscription 'paused' exists already; edit or withdraw it, or choose another id"
    assert told[2] == "subscription 'active' is already active; nothing to resume"
    assert told[3] == "subscription 'paused' is paused already; it can be resumed, edited or withdrawn"
    assert told[4:8] == ["no subscription 'none': it never existed, was withdrawn or has expired"] * 4
    assert "expected" in told[8]
    assert "2026-05-01T10:00:00Z is not after 2026-05-01T10:00:00Z" in told[9]
    assert told[10].startswith("no subscription")
    assert store.tail() == 8


UNFIT = [
    Subscribe("", "price < 3"),
    Subscribe("a\nb", "price < 3"),
    Subscribe("a\0b", "price < 3"),
    Subscribe("x" * 501, "price < 3"),
    Subscribe(7, "price < 3"),  # type: ignore[arg-type]
    Subscribe("s", "price < 3", owner="\0"),
    Subscribe("s", "price < 3", owner="x" * 501),
    Subscribe("s", "price < 3", delivery="\ud800"),
    Subscribe("s", "price < 3", expiry=Instant(10**30)),
    Subscribe("s", "brand = '\0'"),
    Subscribe("s", None),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("draft", UNFIT, ids=range(len(UNFIT)))
def test_members_that_no_table_holds_are_refused(store: Store, draft: Subscribe) -> None:
    outcomes = with_schema(store).append([draft, Subscribe("😀" * 500, "price < 3", "ö" * 500)])
    assert "must be" in refusal(outcomes[0])
    assert positions(outcomes) == [None, 6]


def test_something_else_than_a_draft_is_refused_before_anything_is_done(store: Store) -> None:
    with pytest.raises(TypeError, match="is not a draft"):
        store.append([*SCHEMA, "publish"])  # type: ignore[list-item]
    assert store.tail() == 0


def test_outcomes_and_drafts_travel_between_processes(store: Store) -> None:
    drafts = [publish("e1"), publish("e1"), publish("e2", "x"), Pause("none"), Subscribe("s", "prise < 3")]
    outcomes = with_schema(store).append(drafts)
    assert pickle.loads(pickle.dumps(drafts)) == drafts
    again = pickle.loads(pickle.dumps(outcomes))
    assert again[:2] == outcomes[:2]
    assert [refusal(outcome) for outcome in again[2:]] == [refusal(outcome) for outcome in outcomes[2:]]
