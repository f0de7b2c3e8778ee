"""Notifications as they come, over a line that breaks."""

import threading
from itertools import islice

import pytest

from tests.client.conftest import QUICK
from tests.client.matched import match_all
from tests.client.peers import Relay
from tests.service.conftest import Service, car
from tidings.client import Client, NotAllowed, NotFound, Notification


def ids(found: list[Notification]) -> list[str]:
    return [one.event["id"] for one in found if one.event is not None]


def test_following_waits_for_what_comes(service: Service, ann: Client) -> None:
    ann.subscribe("year > 0")
    found: list[Notification] = []
    follower = threading.Thread(target=lambda: found.extend(islice(ann.follow(), 3)))
    follower.start()
    for number in range(3):
        ann.publish(car(f"e{number}"))
        match_all(service.store)
    follower.join(120)
    assert ids(found) == ["e0", "e1", "e2"]


def test_following_outlives_a_broken_line(service: Service, ann: Client) -> None:
    ann.subscribe("year > 0")
    relay = Relay(service.port)
    with Client(relay.url, ann.token, patience=QUICK) as client:
        following = client.follow()
        ann.publish(car("e0"))
        match_all(service.store)
        assert ids([next(following)]) == ["e0"]
        relay.cut()
        ann.publish([car("e1"), car("e2")])
        match_all(service.store)
        found: list[Notification] = []
        follower = threading.Thread(target=lambda: found.extend(islice(following, 2)))
        follower.start()
        follower.join(0.5)
        assert found == []
        relay.mend()
        follower.join(120)
    relay.cut()
    assert ids(found) == ["e1", "e2"]


def test_following_on_from_a_cursor(service: Service, ann: Client) -> None:
    new = ann.subscribe("year > 1990")
    ann.subscribe("year > 0")
    ann.publish([car(f"e{year}", year=year) for year in (1989, 1991, 1992)])
    match_all(service.store)
    first = next(ann.follow())
    page = ann.notifications(limit=3)
    assert first == page.items[0]
    assert ids(list(islice(ann.follow(page.next), 2))) == ["e1992", "e1992"]
    assert ids(list(islice(ann.follow(subscription=new.id), 2))) == ["e1991", "e1992"]


def test_what_will_not_pass_is_raised(service: Service, ann: Client) -> None:
    with pytest.raises(NotFound):
        next(ann.follow(subscription="s-nobody"))
    ann.token = None
    with pytest.raises(NotAllowed):
        next(ann.follow())
