"""What is new for everybody at once, as live streams read it, and what one subscription found last."""

from tests.store.batches import commit_batch
from tests.store.test_owners import ALL, ANNS, BOBS, filled  # noqa: F401  # a fixture
from tidings.store import Notification, Store, StoredChannel


def told(found: list[tuple[str, Notification]]) -> list[tuple[str, int, str]]:
    return [(owner, one.position, one.subscription) for owner, one in found]


def test_everybodys_in_pages_and_nobodys_passed_over(filled: Store) -> None:  # noqa: F811
    assert filled.owned_notifications(0, 10) == (0, [])
    assert filled.last_cursor() == 0
    commit_batch(filled, 1, 19, ALL)
    last = filled.last_cursor()
    cursor, found = filled.owned_notifications(0, 100)
    assert cursor == last > len(found)  # also behind those of nobody at the end
    wanted = [("ann", *one) for one in ANNS] + [("bob", *one) for one in BOBS]
    assert sorted(told(found)) == sorted(wanted)
    assert [one.cursor for _, one in found] == sorted(one.cursor for _, one in found)
    paged, cursor = [], 0
    while True:
        after, cursor = cursor, filled.owned_notifications(cursor, 2)[0]
        paged += filled.owned_notifications(after, 2)[1]
        if cursor == after:
            break
    assert paged == found
    assert cursor == last


def test_the_newest_of_a_subscription_is_its_owners(filled: Store) -> None:  # noqa: F811
    assert filled.newest_notification("a", "ann") is None
    commit_batch(filled, 1, 19, ALL)
    newest = filled.newest_notification("b", "ann")
    assert newest is not None
    assert (newest.position, newest.subscription) == (16, "b")
    bobs = filled.newest_notification("b", "bob")
    assert bobs is not None
    assert bobs.position == 13
    assert filled.newest_notification("a", "bob") is None


def test_channels_of_many_subscriptions(filled: Store) -> None:  # noqa: F811
    mine = filled.set_channel(StoredChannel("a", "ann", "webhook", {"url": "https://example.org"}))
    filled.set_channel(StoredChannel("b", "bob", "webhook", {"url": "https://example.org"}))
    filled.set_channel(StoredChannel("c", "ann", "webhook", {"url": "https://example.org"}))
    filled.remove_channel("c", "ann")
    assert filled.channels_of("ann", ["a", "b", "c", "d"]) == {"a": mine}
    assert filled.channels_of("ann", []) == {}
