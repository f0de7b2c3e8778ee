"""Composites in the journal: bound at their place, kept as canonical text, edited, exported and planned around."""

import json
from pathlib import Path

import pytest

from tests.store.samples import AUDI, START, Clock, projections, publish, refusal, with_schema
from tidings.language.composites import BoundComposite
from tidings.store import (
    Accepted,
    Edit,
    Pause,
    Resume,
    SetProfile,
    Store,
    Subscribe,
    export_journal,
    import_journal,
    rebuild,
)
from tidings.store.journal.entries import Span

PAIR = "[price < 3] before [brand = mini] within 60 s"
CANONICAL = "[price < 3] before [brand = 'mini'] within 1 min"
PROFILE = "PROFILE(COMP(PRI(price < 3) BEFORE PRI(brand = mini), EVALTIME = '1 min', STARTTIME = 0))"


def bodies(store: Store) -> list[dict[str, object]]:
    return [json.loads(entry.body) for entry in store.entries()]


def test_the_canonical_text_is_kept_in_the_journal_and_the_tables(store: Store) -> None:
    (done,) = with_schema(store).append([Subscribe("c", composite=PAIR, owner="ann", name="Both")])
    assert isinstance(done, Accepted)
    assert bodies(store)[-1] == {"id": "c", "composite": CANONICAL, "owner": "ann", "name": "Both"}
    found = store.subscription("c")
    assert (found.filter, found.composite, found.name, found.state) == (CANONICAL, True, "Both", "active")
    assert list(store.spans()) == [Span("c", 6, None, CANONICAL, "ann", True)]


def test_a_profile_is_kept_as_the_composite_that_it_means(store: Store) -> None:
    with_schema(store).append([Subscribe("c", composite=PROFILE)])
    found = store.subscription("c")
    assert found.filter == BoundComposite.parse_profile(PROFILE, store.catalog(), START).text
    assert found.filter.startswith("[price < 3] before")


def test_a_translation_in_it_is_checked(store: Store) -> None:
    with_schema(store)
    (done,) = store.append([Subscribe("c", composite="[event_type cesql 'price = 3'] before [price < 3] within 1 h")])
    assert isinstance(done, Accepted)
    kept = store.subscription("c").filter
    assert "translated" in kept
    again, wrong = store.append(
        [Subscribe("d", composite=kept), Subscribe("e", composite=kept.replace("cesql 'price = 3'", "cesql 'FALSE'"))]
    )
    assert isinstance(again, Accepted)
    assert "without 'translated'" in refusal(wrong)


def test_it_is_bound_at_its_place(store: Store) -> None:
    new = "times([brand = audi], 3) within 1 h"
    with_schema(store)
    refused, grown, done = store.append([Subscribe("c", composite=new), AUDI, Subscribe("c", composite=new)])
    assert "audi" in refusal(refused)
    assert isinstance(grown, Accepted)
    assert isinstance(done, Accepted)
    assert store.subscription("c").filter == "times([brand = 'audi'], 3) within 1 h"


@pytest.mark.parametrize(
    ("composite", "told"),
    [
        ("[price < 3] before [price > 5]", "needs a frame of time; write e.g. 'within 10 min'"),
        ("[price < 3] before [price > 5] within 0 s", "write a span of more than 0 and at most 366 day"),
        ("[price < 3] before [price > 5] within 367 day", "write a span of more than 0 and at most 366 day"),
        ("[event_type contains car] before [prise > 5] within 1 h", "no attribute 'prise'"),
        ("(" * 17 + "[price < 3]" + ")" * 17, "nested at most 16 deep"),
        ("price < 3", "expected"),
        ("[price < 3]\0", "its composite must be text without zero characters"),
    ],
)
def test_what_is_refused(store: Store, composite: str, told: str) -> None:
    with_schema(store).append([Subscribe("s", "price < 3")])
    posted, edited = store.append([Subscribe("c", composite=composite), Edit("s", composite=composite)])
    assert told in refusal(posted)
    assert told in refusal(edited)
    assert not store.subscription("s").composite


def test_a_filter_and_a_composite_are_refused_together(store: Store) -> None:
    with_schema(store).append([Subscribe("s", "price < 3")])
    both = store.append([Subscribe("c", "price < 3", composite=PAIR), Edit("s", "price < 4", composite=PAIR)])
    assert all("its filter must be left out where it has a composite" in refusal(one) for one in both)
    neither, empty = store.append([Subscribe("c"), Edit("s", composite="")])
    assert "expected an attribute" in refusal(neither)
    assert "expected" in refusal(empty)


def test_an_edit_changes_the_text_or_the_kind_and_opens_a_span(store: Store) -> None:
    with_schema(store).append([Subscribe("c", composite=PAIR)])
    later = CANONICAL.replace("1 min", "2 min")
    store.append([Edit("c", composite=later), Edit("c", "price < 4"), Edit("c", composite=PAIR), Edit("c", name="x")])
    assert [(one.start, one.stop, one.filter, one.composite) for one in store.spans()] == [
        (6, 7, CANONICAL, True),
        (7, 8, later, True),
        (8, 9, "price < 4", False),
        (9, None, CANONICAL, True),
    ]
    store.append([Pause("c"), Edit("c", "price < 5"), Resume("c")])
    assert list(store.spans())[-1] == Span("c", 13, None, "price < 5")
    assert list(store.spans(9, composite=True)) == [Span("c", 9, 11, CANONICAL, "", True)]
    assert list(store.spans(9, composite=False)) == [Span("c", 13, None, "price < 5")]


def test_through_a_rebuild_and_a_file(store: Store, tmp_path: Path, clock: Clock) -> None:
    with_schema(store).append([Subscribe("c", composite=PAIR, owner="ann"), publish("e"), Edit("c", composite=PROFILE)])
    before = projections(store)
    rebuild(store)
    assert projections(store) == before
    export_journal(store, tmp_path / "journal")
    with Store.open(tmp_path / "other.db", clock) as other:
        import_journal(tmp_path / "journal", other)
        assert projections(other) == before


def test_composites_inherit_the_newest_profile_and_keep_it(store: Store, tmp_path: Path) -> None:
    pair = "[price < 3] before [brand = mini] using shop"
    with_schema(store)
    refused, *_ = store.append([Subscribe("a", composite=pair), SetProfile("shop", "within 1 min")])
    assert "'tidings journal profile'" in refusal(refused)
    store.append([Subscribe("a", composite=pair)])
    store.append([SetProfile("shop", "within 1 h select all, first"), Subscribe("b", composite=pair)])
    store.append([Edit("a", composite="times([price < 3], 2) using shop")])
    assert store.composite_profiles() == {"shop": "within 1 h select all, first"}
    (gone, late) = store.append([SetProfile("shop", ""), Subscribe("c", composite=pair)])
    assert isinstance(gone, Accepted)
    assert "shop" in refusal(late)
    assert store.composite_profiles() == {}
    assert [one.filter for one in store.subscriptions()] == [
        "times([price < 3], 2) within 1 h",
        "[price < 3] before [brand = 'mini'] within 1 h select all, first",
    ]
    before = projections(store)
    rebuild(store)
    assert projections(store) == before
    assert store.composite_profiles() == {}


@pytest.mark.parametrize(
    "draft", [SetProfile("", "within 1 s"), SetProfile("a", "select all"), SetProfile("a", "x" * 2_000)]
)
def test_a_profile_that_cannot_be_stored_is_refused(store: Store, draft: SetProfile) -> None:
    (outcome,) = with_schema(store).append([draft])
    assert refusal(outcome)
