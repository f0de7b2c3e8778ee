"""How subscriptions stand, and at which positions they count."""

import pytest

from tests.store.samples import positions, publish, with_schema
from tidings.store import Edit, NoSuchSubscription, Pause, Resume, Span, Store, Subscribe, Withdraw


def test_posting_and_resuming_open_a_span_withdrawing_and_pausing_close_it(store: Store) -> None:
    with_schema(store).append([Subscribe("s", "price < 3"), publish("e7"), Pause("s"), publish("e9")])
    assert list(store.spans()) == [Span("s", 6, 8, "price < 3")]
    store.append([Resume("s"), publish("e11"), Withdraw("s")])
    assert list(store.spans()) == [Span("s", 6, 8, "price < 3"), Span("s", 10, 12, "price < 3")]


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
