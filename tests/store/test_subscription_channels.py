"""Drafts that are stored whole or not at all: a subscription with its state and channel, several schema changes."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from tests.store.samples import with_schema
from tidings.errors import TidingsError
from tidings.schema import Attribute
from tidings.schema.growth import CreateAttribute
from tidings.store import (
    Accepted,
    Draft,
    Edit,
    Grow,
    NoSuchSubscription,
    Refused,
    Store,
    StoredChannel,
    Subscribe,
    Withdraw,
)

HOOK = StoredChannel("s", "ann", "webhook", {"url": "https://example.org"}, secrets=(("whsec_a", None),))


@pytest.fixture
def grown(store: Store) -> Store:
    return with_schema(store)


def refusal(store: Store, draft: Draft) -> TidingsError:
    (outcome,) = store.append([draft])
    assert isinstance(outcome, Refused), outcome
    return outcome.error


def test_a_channel_comes_with_its_subscription_and_changes_with_it(grown: Store) -> None:
    grown.append([Subscribe("s", "price > 5", "ann", None, "webhook", HOOK)])
    made = grown.channel("s", "ann")
    assert made is not None
    assert (made.settings, made.secrets) == (HOOK.settings, HOOK.secrets)
    mail = StoredChannel("s", "ann", "email", {"address": "a@example.org"})
    tail = grown.tail()
    (outcome,) = grown.append([Edit("s", "price > 6", delivery="email", state="paused", channel=mail)])
    assert isinstance(outcome, Accepted)
    assert [entry.kind for entry in grown.entries(tail)] == ["edit", "pause"]
    assert outcome.position == grown.tail() == tail + 2
    changed, standing = grown.channel("s", "ann"), grown.subscription("s")
    assert changed is not None
    assert (changed.kind, standing.filter, standing.state, standing.delivery) == (
        "email", "price > 6", "paused", "email",
    )  # fmt: skip
    grown.append([Edit("s", delivery="", channel=None)])
    assert (grown.channel("s", "ann"), grown.subscription("s").delivery) == (None, "")


def test_what_the_journal_need_not_know_makes_no_entry(grown: Store) -> None:
    grown.append([Subscribe("s", "price > 5", "ann", None, "webhook", HOOK)])
    tail = grown.tail()
    elsewhere = replace(HOOK, settings={"url": "https://example.org/new"})
    for draft in (Edit("s", channel=elsewhere), Edit("s", state="active")):
        (outcome,) = grown.append([draft])
        assert isinstance(outcome, Accepted)
        assert outcome.position == grown.tail() == tail
    changed = grown.channel("s", "ann")
    assert changed is not None
    assert changed.settings == elsewhere.settings


def test_what_is_refused_leaves_no_channel(grown: Store) -> None:
    refusal(grown, Subscribe("s", "nonsense > 5", "ann", None, "webhook", HOOK))
    assert isinstance(refusal(grown, Edit("s", state="paused", channel=HOOK)), NoSuchSubscription)
    assert grown.channel("s") is None
    grown.append([Subscribe("s", "price > 5", "ann")])
    refusal(grown, Edit("s", "nonsense > 5", state="paused", channel=HOOK))
    refusal(grown, Edit("s", state="paused", channel=replace(HOOK, subscription="other")))
    refusal(grown, Edit("s", state="paused", channel=replace(HOOK, owner="other")))
    refusal(grown, Edit("s", state="sleeping", channel=HOOK))  # type: ignore[arg-type]
    assert (grown.channel("s"), grown.subscription("s").state) == (None, "active")
    grown.append([Withdraw("s")])
    refusal(grown, Edit("s", delivery="webhook", channel=HOOK))
    assert grown.channel("s") is None


def test_several_changes_of_the_schema_are_all_made_or_none(grown: Store) -> None:
    tail, version = grown.tail(), grown.catalog().version
    domain = grown.catalog().domains[0].name
    changes = [CreateAttribute(Attribute(name, domain)) for name in ("one", "two", "one")]
    refusal(grown, Grow(changes[0], tuple(changes[1:])))
    assert (grown.tail(), grown.catalog().version) == (tail, version)
    (outcome,) = grown.append([Grow(changes[0], tuple(changes[1:2]))])
    assert isinstance(outcome, Accepted)
    assert (outcome.position, grown.catalog().version) == (tail + 2, version + 2)


def test_changes_of_channels_by_both_ways_never_wait_for_each_other_in_a_circle(grown: Store) -> None:
    """The outbox's part is locked after the journal's, never before it."""
    ids = [f"s{number}" for number in range(3)]
    grown.append([Subscribe(id, "price > 5", "ann") for id in ids])

    def work(id: str) -> None:
        hook = replace(HOOK, subscription=id)
        for turn in range(4):
            if turn % 2:
                grown.set_channel(hook)
                grown.change_channel(id, "ann", state="paused")
            else:
                grown.append([Edit(id, f"price > {turn}", delivery="webhook", channel=hook)])

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(work, ids))
    assert all(grown.channel(id, "ann") for id in ids)
