"""Permits by key, with a clock that the test turns."""

import pytest

from tidings.service.door.rate_limits import Throttle, TooManyRequests


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_burst_then_a_steady_rate(clock: Clock) -> None:
    throttle = Throttle(2.0, burst=3, clock=clock)
    for _ in range(3):
        throttle.take("ann")
    with pytest.raises(TooManyRequests) as refused:
        throttle.take("ann")
    assert refused.value.seconds == pytest.approx(0.5)
    clock.now += 0.5
    throttle.take("ann")
    with pytest.raises(TooManyRequests):
        throttle.take("ann")


def test_keys_do_not_share(clock: Clock) -> None:
    throttle = Throttle(1.0, burst=1, clock=clock)
    throttle.take("ann")
    throttle.take("bob")
    with pytest.raises(TooManyRequests):
        throttle.take("ann")


def test_what_is_given_back_can_be_taken_again(clock: Clock) -> None:
    throttle = Throttle(1.0, burst=2, clock=clock)
    throttle.take("ann")
    throttle.take("ann")
    throttle.give_back("ann")
    throttle.take("ann")
    with pytest.raises(TooManyRequests):
        throttle.take("ann")


def test_a_rate_of_nothing_lets_one_burst_through(clock: Clock) -> None:
    throttle = Throttle(0, clock=clock)
    throttle.take("ann")
    with pytest.raises(TooManyRequests):
        throttle.take("ann")


def test_the_key_that_asked_longest_ago_makes_room_and_the_others_stay(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once the table was full, everybody's bucket was emptied: a flood of addresses set all limits back."""
    monkeypatch.setattr("tidings.service.door.rate_limits._MOST_KEYS", 10)
    throttle = Throttle(0.001, burst=2, clock=clock)
    for number in range(10):
        throttle.take(number)
    throttle.take(0)  # all that it may have; and it is the last to have asked
    for number in range(100, 108):
        throttle.take(number)
    with pytest.raises(TooManyRequests):
        throttle.take(0)
    assert len(throttle._full_at) == 10
