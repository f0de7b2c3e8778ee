"""A batch is sent while the next is made; what became of it is settled by the feed, whatever happens meanwhile."""

import json
import threading
from functools import partial
from typing import Any

import pytest

from tidings.client.lines import lines_of
from tidings.feeds.sending import Sending, line_of


def test_the_feed_goes_on_while_a_batch_is_sent_and_settles_it_itself() -> None:
    may_end, settled = threading.Event(), []

    def send() -> str:
        assert may_end.wait(30)
        return threading.current_thread().name

    with Sending() as sending:
        sending.begin(send, lambda done: settled.append((done, threading.current_thread().name)))
        assert settled == []
        may_end.set()
        sending.finish()
        ((sent_by, settled_by),) = settled
        assert settled_by == threading.current_thread().name != sent_by
        sending.finish()
        assert len(settled) == 1


def test_what_was_sent_is_settled_although_the_next_cannot_be_read() -> None:
    settled: list[int] = []

    def feed() -> None:
        with Sending() as sending:
            sending.begin(lambda: 3, settled.append)
            raise ValueError("unreadable")

    with pytest.raises(ValueError, match="unreadable"):
        feed()
    assert settled == [3]


def test_two_batches_are_under_way_and_settled_in_their_order() -> None:
    may_end, settled = threading.Event(), []

    def send(number: int) -> int:
        assert may_end.wait(30)
        return number

    with Sending() as sending:
        for number in (1, 2):
            sending.make_room({f"e{number}"})  # which waits for nothing
            sending.begin(partial(send, number), settled.append, [f"e{number}"])
        may_end.set()
        sending.make_room({"e3"})
        assert settled == [1]
        sending.begin(partial(send, 3), settled.append, ["e3"])
    assert settled == [1, 2, 3]


def test_an_id_that_is_under_way_is_waited_for() -> None:
    settled: list[int] = []
    with Sending() as sending:
        sending.begin(lambda: 1, settled.append, ["a", "b"])
        sending.make_room({"c"})
        assert settled == []
        sending.make_room({"b"})
        assert settled == [1]


def test_after_a_batch_that_could_not_be_sent_no_other_is() -> None:
    sent: list[int] = []
    settled: list[Any] = []

    def refuse() -> None:
        raise OSError("no server")

    def feed() -> None:
        with Sending() as sending:
            sending.begin(refuse, settled.append, ["a"])
            sending.begin(lambda: sent.append(2), settled.append, ["b"])
            sending.make_room(set())

    with pytest.raises(OSError, match="no server"):
        feed()
    assert (sent, settled) == ([], [None])


def test_what_sending_raises_reaches_the_feed_once() -> None:
    settled: list[Any] = []

    def send() -> None:
        raise OSError("no server")

    def feed() -> None:
        with Sending() as sending:
            sending.begin(send, settled.append)
            sending.finish()

    with pytest.raises(OSError, match="no server"):
        feed()
    assert settled == []


def test_lines_are_what_json_says_and_sent_as_they_are() -> None:
    raws: list[dict[str, Any]] = [
        {"id": "ü", "attributes": {"a": 1.5, "b": ["x\n", 2], "c": 2**53}},
        {"id": "lone", "attributes": {"a": "\ud800"}},
    ]
    lines = [line_of(raw) for raw in raws]
    assert [json.loads(line) for line in lines] == raws
    assert list(lines_of(lines)) == lines
    assert all(b"\n" not in line for line in lines)
