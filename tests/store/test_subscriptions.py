"""How subscriptions stand, and at which positions they count."""

import json
import pickle

import pytest

from tests.store.samples import START, Clock, positions, publish, refusal, with_schema
from tests.store.test_expiry import in_seconds
from tidings.store import (
    KEEP,
    Accepted,
    Draft,
    Edit,
    NoSuchSubscription,
    Pause,
    Resume,
    Span,
    Standing,
    Store,
    Subscribe,
    Withdraw,
)
from tidings.store.journal import subscriptions


def test_posting_and_resuming_open_a_span_withdrawing_and_pausing_close_it(store: Store) -> None:
    with_schema(store).append([Subscribe("s", "price < 3"), publish("e7"), Pause("s"), publish("e9")])
    assert list(store.spans()) == [Span("s", 6, 8, "price < 3")]
    store.append([Resume("s"), publish("e11"), Withdraw("s")])
    assert list(store.spans()) == [Span("s", 6, 8, "price < 3"), Span("s", 10, 12, "price < 3")]


def test_a_quota_holds_within_one_group_too(store: Store, clock: Clock) -> None:
    with_schema(store)
    drafts = [Subscribe(f"s{n}", "price < 3", owner, most=2) for n, owner in enumerate(("ann", "bob", "ann", "ann"))]
    *_, last = store.append(drafts)
    assert "you have 2 subscriptions" in refusal(last)
    (still,) = store.append([Subscribe("s4", "price < 3", "ann", most=2)])
    assert "you have 2 subscriptions" in refusal(still)
    *_, freed = store.append([Withdraw("s0"), Subscribe("s5", "price < 3", "ann", in_seconds(5), most=2)])
    assert isinstance(freed, Accepted)
    clock.tick(6)
    (expired,) = store.append([Subscribe("s6", "price < 3", "ann", most=2)])
    assert isinstance(expired, Accepted)
    assert [store.count_subscriptions(owner) for owner in ("ann", "bob")] == [2, 1]


def test_an_edit_closes_one_and_opens_the_next(store: Store) -> None:
    with_schema(store).append([Subscribe("s", "price < 3"), Edit("s", "price < 4")])
    assert list(store.spans()) == [Span("s", 6, 7, "price < 3"), Span("s", 7, None, "price < 4")]
    assert store.subscription("s").filter == "price < 4"


def test_an_edit_while_paused_counts_from_the_resuming_on(store: Store) -> None:
    with_schema(store).append([Subscribe("s", "price < 3"), Pause("s"), Edit("s", "price < 4")])
    assert list(store.spans()) == [Span("s", 6, 7, "price < 3")]
    assert (store.subscription("s").filter, store.subscription("s").state) == ("price < 4", "paused")
    store.append([Resume("s")])
    assert list(store.spans()) == [Span("s", 6, 7, "price < 3"), Span("s", 9, None, "price < 4")]


def test_an_edit_of_expiry_and_delivery_leaves_the_span_open(store: Store) -> None:
    with_schema(store).append([Subscribe("s", "price < 3", "ann", delivery="sse")])
    (outcome,) = store.append([Edit("s", expiry=in_seconds(9), delivery="post")])
    assert positions([outcome]) == [7]
    assert list(store.spans()) == [Span("s", 6, None, "price < 3", "ann")]
    assert store.subscription("s") == Standing("s", "ann", "price < 3", "active", in_seconds(9), "post", 6, 6)
    store.append([Edit("s", expiry=None)])
    assert store.subscription("s") == Standing("s", "ann", "price < 3", "active", None, "post", 6, 6)
    store.append([Edit("s", "price < 4", in_seconds(5), "")])
    assert store.subscription("s") == Standing("s", "ann", "price < 4", "active", in_seconds(5), "", 6, 9)
    assert [(span.start, span.stop, span.owner) for span in store.spans()] == [(6, 9, "ann"), (9, None, "ann")]
    assert [json.loads(entry.body) for entry in store.entries(6)] == [
        {"id": "s", "expiry": "2026-05-01T10:00:09Z", "delivery": "post"},
        {"id": "s", "expiry": None},
        {"id": "s", "filter": "price < 4", "expiry": "2026-05-01T10:00:05Z", "delivery": ""},
    ]


def test_an_edit_of_the_expiry_while_paused(store: Store) -> None:
    with_schema(store).append([Subscribe("s", "price < 3"), Pause("s"), Edit("s", expiry=in_seconds(9))])
    assert store.subscription("s") == Standing("s", "", "price < 3", "paused", in_seconds(9), "", 6, None)
    assert [(span.start, span.stop) for span in store.spans()] == [(6, 7)]


UNFIT = [
    (Edit("s"), "its edit must be of its filter, composite, expiry, delivery, state, channel, name or note"),
    (Edit("s", expiry=START), "2026-05-01T10:00:00Z is not after 2026-05-01T10:00:00Z"),
    (Edit("s", expiry="soon"), "its expiry must be an Instant"),  # type: ignore[arg-type]
    (Edit("s", delivery="\0"), "its delivery must be text"),
    (Edit("s", delivery=None), "its delivery must be text"),  # type: ignore[arg-type]
    (Edit("s", "prise < 3", in_seconds(9)), "no attribute 'prise'"),
    (Edit("t", expiry=None), "no subscription 't'"),
]


@pytest.mark.parametrize(("draft", "message"), UNFIT)
def test_edits_that_are_refused_change_nothing(store: Store, draft: Edit, message: str) -> None:
    with_schema(store).append([Subscribe("s", "price < 3", expiry=in_seconds(60))])
    before = store.subscription("s")
    (outcome,) = store.append([draft])
    assert message in refusal(outcome)
    assert (store.subscription("s"), store.tail()) == (before, 6)


def test_what_an_edit_keeps_travels(store: Store) -> None:
    assert pickle.loads(pickle.dumps(Edit("s"))).expiry is KEEP


def test_withdrawing_a_paused_one(store: Store) -> None:
    with_schema(store).append([Subscribe("s", "price < 3"), Pause("s"), Withdraw("s"), Subscribe("s", "price < 4")])
    assert list(store.spans()) == [Span("s", 6, 7, "price < 3"), Span("s", 9, None, "price < 4")]
    assert store.subscription("s").since == 9


def test_the_same_in_one_group_and_in_many(store: Store) -> None:
    drafts = [Subscribe("s", "price < 3"), Edit("s", "price < 4"), Pause("s"), Resume("s"), Withdraw("s")]
    with_schema(store).append([*drafts, Subscribe("s", "price < 5")])
    at_once = [(span.start - 5, span.stop and span.stop - 5, span.filter) for span in store.spans()]
    standing = store.subscription("s")
    store.append([Withdraw("s")])
    tail = store.tail()
    for draft in [*drafts, Subscribe("s", "price < 5")]:
        store.append([draft])
    one_by_one = [(span.start - tail, span.stop and span.stop - tail, span.filter) for span in store.spans(tail)]
    assert one_by_one == at_once
    assert store.subscription("s").since - tail == standing.since - 5


def test_spans_that_live_after_a_position(store: Store) -> None:
    with_schema(store).append([Subscribe("a", "price < 3"), Subscribe("b", "price < 3"), Subscribe("c", "price < 3")])
    store.append([Withdraw("b"), Pause("a")])  # 9 and 10
    assert [span.subscription for span in store.spans(8)] == ["a", "b", "c"]
    assert [span.subscription for span in store.spans(9)] == ["a", "c"]
    assert [span.subscription for span in store.spans(10)] == ["c"]


def test_listed_by_id_and_by_owner(store: Store) -> None:
    ids = ["b", "B", "a10", "a9", "ä", "Z", "😀"]
    with_schema(store).append([Subscribe(id, "price < 3", owner="ann" if id < "b" else "bob") for id in ids])
    assert [one.id for one in store.subscriptions()] == sorted(ids)
    assert [one.id for one in store.subscriptions(owner="ann")] == sorted(id for id in ids if id < "b")
    assert [one.id for one in store.subscriptions(after="a10", limit=2)] == ["a9", "b"]
    assert [one.id for one in store.subscriptions(owner="bob", after="b")] == ["ä", "😀"]
    assert store.subscriptions(owner="nobody") == []


def test_one_that_is_not_there(store: Store) -> None:
    with_schema(store).append([Subscribe("s", "price < 3"), Withdraw("s")])
    with pytest.raises(NoSuchSubscription, match="no subscription 's'"):
        store.subscription("s")


def test_many_at_once(store: Store) -> None:
    count = 3_000  # more than one look-up takes
    drafts = [Subscribe(f"s{number}", f"price < {number}") for number in range(count)]
    assert positions(with_schema(store).append(drafts)) == list(range(6, 6 + count))
    assert positions(store.append(drafts)) == [None] * count
    assert positions(store.append([Withdraw(f"s{number}") for number in range(0, count, 2)])) != [None] * (count // 2)
    assert len(store.subscriptions()) == count // 2
    assert sum(span.stop is None for span in store.spans()) == count // 2


def test_spans_opened_in_a_stretch_of_the_journal(store: Store) -> None:
    with_schema(store).append([Subscribe("a", "price < 3"), Subscribe("b", "price < 3"), Withdraw("a"), Pause("b")])
    store.append([Resume("b")])
    assert [span.start for span in store.spans_opened(0, 99)] == [6, 7, 10]
    assert list(store.spans_opened(6, 9)) == [Span("b", 7, 9, "price < 3")]
    assert list(store.spans_opened(10, 99)) == []


def changing(store: Store, monkeypatch: pytest.MonkeyPatch, steps: list[list[Draft]]) -> list[Span]:
    """The spans, read one a page, with something appended before each page."""
    monkeypatch.setattr(subscriptions, "_SPANS_AT_ONCE", 1)
    found = []
    given = iter(steps)
    for span in store.spans():
        found.append(span)
        store.append(next(given, []))
    return found


def test_spans_are_those_of_one_moment_though_read_in_pages(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = "abcdef"
    with_schema(store).append([Subscribe(id, "price < 3") for id in ids])  # 6 to 11
    store.append([Edit("b", "price < 4"), Withdraw("d"), Pause("e")])  # 12, 13, 14
    before = list(store.spans())
    assert [(span.subscription, span.start, span.stop) for span in before] == [
        ("a", 6, None), ("b", 7, 12), ("c", 8, None), ("d", 9, 13), ("e", 10, 14), ("f", 11, None), ("b", 12, None)
    ]  # fmt: skip
    steps: list[list[Draft]] = [
        [Withdraw("a"), Withdraw("c")],  # one that was given already, and one that is still to come
        [Subscribe("c", "price < 5"), Resume("e"), Edit("f", "price < 6")],
        [Withdraw("b"), Subscribe("new", "price < 7")],
    ]
    assert changing(store, monkeypatch, steps) == before
    assert {span.subscription for span in store.spans() if span.stop is None} == {"c", "e", "f", "new"}


def test_opened_spans_in_pages(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subscriptions, "_SPANS_AT_ONCE", 2)
    with_schema(store).append([Subscribe(f"s{number}", "price < 3") for number in range(6, 12)])
    assert [span.start for span in store.spans_opened(6, 10)] == [7, 8, 9, 10]
    assert [span.start for span in store.spans_opened(5, 99)] == [6, 7, 8, 9, 10, 11]


def test_they_are_counted(store: Store) -> None:
    def counted() -> tuple[int, int]:
        found = store.figures()
        return found.active, found.paused

    with_schema(store).append([Subscribe(id, "price < 3") for id in "abcd"])
    assert counted() == (4, 0)
    store.append([Pause("a"), Pause("b"), Resume("b"), Withdraw("c"), Edit("d", "price < 4")])
    assert counted() == (2, 1)
    store.append([Subscribe("x", "price < 3"), Withdraw("x"), Subscribe("c", "price < 3"), Pause("c"), Withdraw("a")])
    assert counted() == (2, 1)
    store.append([Withdraw(id) for id in "bcd"])
    assert counted() == (0, 0)


def test_a_translation_is_checked(store: Store) -> None:
    with_schema(store)
    (done,) = store.append([Subscribe("a", "event_type cesql 'price = 3'")])
    assert isinstance(done, Accepted)
    kept = store.subscription("a").filter
    again, wrong = store.append([Subscribe("b", kept), Subscribe("c", "event_type translated cesql 'FALSE'")])
    assert isinstance(again, Accepted)
    assert "without 'translated'" in refusal(wrong)
