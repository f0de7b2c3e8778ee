"""One id for one piece of news, whatever its position; no id for two."""

from hypothesis import given
from hypothesis import strategies as st

from tidings.store import notification_id
from tidings.store.notifications.notification_id import digest_id, id_without_event, notification_id_of

TEXT = st.text(max_size=300)
NEWS = st.tuples(TEXT, TEXT, TEXT)


@given(NEWS, NEWS)
def test_two_ids_are_equal_when_the_news_is(one: tuple[str, str, str], other: tuple[str, str, str]) -> None:
    assert (notification_id(*one) == notification_id(*other)) == (one == other)


@given(st.lists(st.sampled_from("a1:"), max_size=6), st.integers(0, 6), st.integers(0, 6))
def test_where_one_part_ends_and_the_next_begins_counts(letters: list[str], first: int, second: int) -> None:
    text = "".join(letters)
    cuts = sorted({(a, b) for a in range(len(text) + 1) for b in range(a, len(text) + 1)})
    ids = {notification_id(text[:a], text[a:b], text[b:]) for a, b in cuts}
    assert len(ids) == len({(text[:a], text[a:b], text[b:]) for a, b in cuts})


def test_it_is_that_of_the_event_as_the_journal_has_it() -> None:
    assert notification_id_of("s", '{"id":"e1","event_type":["car"]}') == notification_id("s", "", "e1")
    assert notification_id_of("s", b'{"id":"e1","source":"x"}') == notification_id("s", "x", "e1")
    assert notification_id("s", "x", "e1") == "eff26ffaac780081ca909bacf4ddf1b9", (
        "ids must stay as they are from release to release"
    )


def test_a_digest_is_told_by_what_is_in_it() -> None:
    assert digest_id(["a", "b"]) == digest_id(["a", "b"]) != digest_id(["ab"])
    assert id_without_event("s", 7, 8) != id_without_event("s", 8, 7)
