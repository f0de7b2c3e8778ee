"""Digest, rate and quiet hours, as they are read and as they delay; over both changes of the clocks."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.errors import ChannelError
from tidings.notifying.errors import InvalidRhythm, UnknownTimeZone
from tidings.notifying.outbox.rhythm import Rhythm, read_rhythm, rhythm_json
from tidings.schema import Instant

SECOND = 1_000_000
NIGHT = {"from": "22:00", "to": "07:00", "zone": "Europe/Athens"}


def at(text: str) -> Instant:
    return Instant.parse(text)


def quiet(begin: str, end: str, zone: str = "Europe/Athens") -> Rhythm:
    return read_rhythm({"quiet": {"from": begin, "to": end, "zone": zone}})


def test_nothing_asked_nothing_delayed() -> None:
    plain = read_rhythm({"kind": "webhook", "url": "https://example.org"})
    assert plain == Rhythm()
    assert (plain.most, plain.longest) == (1, 0)
    assert plain.due(at("2026-05-01T10:00:00Z"), []) == (at("2026-05-01T10:00:00Z"), [])


def test_the_canonical_form_is_read_as_the_same() -> None:
    given = {"digest": {"count": 5}, "rate": {"count": 10, "seconds": 60}, "quiet": NIGHT}
    rhythm = read_rhythm(given)
    assert rhythm_json(rhythm) == given | {"digest": {"count": 5, "seconds": 86_400}}
    assert read_rhythm(rhythm_json(rhythm)) == rhythm
    assert rhythm_json(Rhythm()) == {}


def test_a_digest_by_count_alone_does_not_wait_for_ever() -> None:
    rhythm = read_rhythm({"digest": {"count": 5}})
    assert (rhythm.most, rhythm.longest) == (5, 86_400 * SECOND)


def test_a_digest_by_time_alone_has_room_for_many() -> None:
    rhythm = read_rhythm({"digest": {"seconds": 60}})
    assert (rhythm.most, rhythm.longest) == (1_000, 60 * SECOND)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"digest": {}}, "the channel's 'digest' must be an object with a count, seconds or both, got {}"),
        ({"digest": 5}, "the channel's 'digest' must be an object with count, seconds, got 5"),
        ({"digest": {"count": 1}}, "'digest.count' must be a whole number from 2 to 1,000, got 1"),
        ({"digest": {"count": True}}, "'digest.count' must be a whole number from 2 to 1,000, got true"),
        ({"digest": {"second": 5}}, "did you mean 'seconds'?"),
        ({"digest": {"seconds": 0.5}}, "'digest.seconds' must be a whole number from 1 to 604,800, got 0.5"),
        ({"rate": {"count": 5}}, "'rate.seconds' must be a whole number from 1 to 86,400, got null"),
        ({"rate": {"count": 0, "seconds": 5}}, "'rate.count' must be a whole number from 1 to 1,000, got 0"),
        ({"quiet": {**NIGHT, "from": "24:00"}}, "'quiet.from' must be a time of day such as '22:00', got '24:00'"),
        ({"quiet": {**NIGHT, "to": 7}}, "'quiet.to' must be a time of day such as '22:00', got 7"),
        ({"quiet": {**NIGHT, "to": "22:00"}}, "'quiet.to' must be another time than quiet.from"),
        ({"quiet": {"from": "22:00", "to": "07:00"}}, "'quiet.zone' must be the name of a time zone"),
        ({"quiet": {**NIGHT, "zone": "Europe/Atens"}}, "no time zone 'Europe/Atens'"),
        ({"quiet": {**NIGHT, "zone": "../etc/passwd"}}, "no time zone '../etc/passwd'"),
    ],
)
def test_what_is_wrong_is_said(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ChannelError) as caught:
        read_rhythm(settings)
    assert said in str(caught.value)
    assert isinstance(caught.value, InvalidRhythm | UnknownTimeZone)


def test_a_rate_spaces_out() -> None:
    rhythm = read_rhythm({"rate": {"count": 2, "seconds": 60}})
    now, recent = at("2026-05-01T10:00:00Z"), []
    times = []
    for _ in range(5):
        due, recent = rhythm.due(now, recent)
        times.append((due - now) // SECOND)
    assert times == [0, 0, 60, 60, 120]
    later, _ = rhythm.due(at("2026-05-01T11:00:00Z"), recent)
    assert later == at("2026-05-01T11:00:00Z")


@given(
    st.integers(1, 5),
    st.integers(1, 100),
    st.lists(st.integers(0, 60), min_size=1, max_size=40),
)
def test_a_rate_is_never_exceeded_and_keeps_the_order(count: int, seconds: int, gaps: list[int]) -> None:
    rhythm = read_rhythm({"rate": {"count": count, "seconds": seconds}})
    now, recent, dues = 0, [], []
    for gap in gaps:
        now += gap * SECOND
        due, recent = rhythm.due(Instant(now), recent)
        assert due >= now
        dues.append(due)
    assert dues == sorted(dues)
    assert all(late - early >= seconds * SECOND for early, late in zip(dues, dues[count:], strict=False))


@pytest.mark.parametrize(
    ("now", "awake"),
    [
        ("2026-06-01T10:00:00Z", "2026-06-01T10:00:00Z"),  # 13:00 in Athens
        ("2026-06-01T18:59:59Z", "2026-06-01T18:59:59Z"),  # a second before ten
        ("2026-06-01T19:00:00Z", "2026-06-02T04:00:00Z"),  # ten sharp
        ("2026-06-01T23:30:00Z", "2026-06-02T04:00:00Z"),  # after midnight
        ("2026-06-02T03:59:59.999999Z", "2026-06-02T04:00:00Z"),
        ("2026-06-02T04:00:00Z", "2026-06-02T04:00:00Z"),  # seven sharp
        ("2026-12-01T19:59:00Z", "2026-12-01T19:59:00Z"),  # winter time
        ("2026-12-01T20:00:00Z", "2026-12-02T05:00:00Z"),
        ("2026-03-28T21:00:00Z", "2026-03-29T04:00:00Z"),  # the night that is an hour shorter
        ("2026-10-24T20:00:00Z", "2026-10-25T05:00:00Z"),  # and the one that is longer
    ],
)
def test_quiet_nights_in_athens(now: str, awake: str) -> None:
    assert quiet("22:00", "07:00").awake(at(now)) == at(awake)


def test_quiet_at_noon() -> None:
    siesta = quiet("14:00", "17:30")
    assert siesta.awake(at("2026-06-01T11:00:00Z")) == at("2026-06-01T14:30:00Z")
    assert siesta.awake(at("2026-06-01T20:00:00Z")) == at("2026-06-01T20:00:00Z")


def test_an_end_that_the_clocks_skip_is_the_skip() -> None:
    # On 2026-03-29 clocks in Athens go from 03:00 to 04:00, which is 01:00 UTC: they never show 03:30.
    assert quiet("22:00", "03:30").awake(at("2026-03-28T22:00:00Z")) == at("2026-03-29T01:00:00Z")
    assert quiet("22:00", "03:00").awake(at("2026-03-28T22:00:00Z")) == at("2026-03-29T01:00:00Z")


def test_a_beginning_that_the_clocks_skip() -> None:
    assert quiet("03:30", "05:00").awake(at("2026-03-29T00:59:00Z")) == at("2026-03-29T00:59:00Z")
    assert quiet("03:30", "05:00").awake(at("2026-03-29T01:00:00Z")) == at("2026-03-29T02:00:00Z")


def test_an_end_that_the_clocks_show_twice() -> None:
    # On 2026-10-25 clocks go back from 04:00 to 03:00, which is 01:00 UTC: they show 03:30 at 00:30 and at 01:30.
    rhythm = quiet("22:00", "03:30")
    assert rhythm.awake(at("2026-10-24T22:00:00Z")) == at("2026-10-25T00:30:00Z")
    assert rhythm.awake(at("2026-10-25T00:45:00Z")) == at("2026-10-25T00:45:00Z")
    assert rhythm.awake(at("2026-10-25T01:10:00Z")) == at("2026-10-25T01:30:00Z")  # it is ten past three again


@given(
    st.integers(0, 366 * 24 * 60 - 1),
    st.integers(0, 1439),
    st.integers(1, 1439),
    st.sampled_from(["Europe/Athens", "America/New_York", "Australia/Lord_Howe", "UTC", "Pacific/Apia"]),
)
def test_quiet_ends_where_it_should(minutes: int, begin: int, length: int, zone: str) -> None:
    end = (begin + length) % 1440
    rhythm = quiet(f"{begin // 60:02}:{begin % 60:02}", f"{end // 60:02}:{end % 60:02}", zone)
    now = Instant(at("2026-01-01T00:00:00Z") + minutes * 60 * SECOND)
    awake = rhythm.awake(now)
    hours = rhythm.quiet
    assert hours is not None
    assert not hours.hold(awake)
    assert now <= awake <= now + 26 * 3600 * SECOND
    if awake > now:
        assert hours.hold(now)
        assert hours.hold(Instant(awake - 1))


def test_a_rate_waits_for_the_end_of_the_night() -> None:
    rhythm = read_rhythm({"rate": {"count": 1, "seconds": 60}, "quiet": NIGHT})
    night = at("2026-06-01T22:00:00Z")
    first, recent = rhythm.due(night, [])
    second, _ = rhythm.due(night, recent)
    assert (first, second) == (at("2026-06-02T04:00:00Z"), at("2026-06-02T04:01:00Z"))
