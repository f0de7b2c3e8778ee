"""Every row of the retry schedule, its jitter, what receivers ask for, and when a channel is given up."""

import pytest

from tidings.notifying.outbox.schedule import DAY, FAILING, WAITS, gives_up, next_due
from tidings.schema import Instant

NOW = Instant.parse("2026-05-01T10:00:00Z")
SECOND = 1_000_000


def middle() -> float:
    return 0.5


def seconds(attempts: int, retry_after: float | None = None, chance: float = 0.5) -> float | None:
    due = next_due(attempts, NOW, retry_after, lambda: chance)
    return None if due is None else (due - NOW) / SECOND


@pytest.mark.parametrize(
    ("failures", "wait"),
    [
        (1, 5),
        (2, 5 * 60),
        (3, 30 * 60),
        (4, 2 * 3600),
        (5, 5 * 3600),
        (6, 10 * 3600),
        (7, 14 * 3600),
        (8, 20 * 3600),
        (9, 24 * 3600),
        (10, None),
        (11, None),
    ],
)
def test_every_row(failures: int, wait: int | None) -> None:
    assert seconds(failures) == wait


@pytest.mark.parametrize("failures", range(1, 10))
def test_jitter_is_a_tenth_either_way(failures: int) -> None:
    wait = WAITS[failures - 1]
    assert seconds(failures, chance=0.0) == pytest.approx(wait * 0.9)
    assert seconds(failures, chance=1.0) == pytest.approx(wait * 1.1)


def test_what_the_receiver_asks_for_counts_where_it_is_longer() -> None:
    assert seconds(1, 120) == 120
    assert seconds(1, 1.5) == 5
    assert seconds(4, 120) == 2 * 3600
    assert seconds(1, 0) == 5


def test_nobody_waits_longer_than_a_day() -> None:
    assert seconds(1, 10 * DAY) == DAY
    assert seconds(9, 10 * DAY, chance=1.0) == pytest.approx(1.1 * DAY)


def test_the_dead_stay_dead_whatever_was_asked() -> None:
    assert seconds(10, 60) is None


def test_nothing_failed_nothing_is_tried_again() -> None:
    with pytest.raises(ValueError, match="nothing has failed"):
        next_due(0, NOW, None, middle)


def test_a_channel_is_given_up_after_five_days() -> None:
    since = Instant(NOW - FAILING * SECOND)
    assert gives_up(since, 0, NOW) == "every delivery has failed since 2026-04-26T10:00:00Z"
    assert gives_up(Instant(since + 1), 19, NOW) == ""
    assert gives_up(None, 0, NOW) == ""


def test_a_channel_is_given_up_after_twenty_dead_letters() -> None:
    assert gives_up(Instant(NOW - SECOND), 20, NOW) == "20 deliveries in a row failed permanently"
