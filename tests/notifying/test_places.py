"""Who gets a place: destinations that hang have few, and who answers always has room. At the end with real sockets."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack

from tests.notifying.http_receiver import Receiver
from tests.notifying.owing import OWNER, find
from tests.store.samples import with_schema
from tidings.notifying.channels.webhook import WebhookChannel
from tidings.notifying.http.sender import HttpSender
from tidings.notifying.outbox.limits import Limits
from tidings.notifying.outbox.outbox import Outbox
from tidings.notifying.outbox.places import Places
from tidings.notifying.signatures import new_secret
from tidings.schema import Instant
from tidings.store import AttemptResult, Store, StoredChannel, Subscribe

LIMITS = Limits(at_once=10, per_destination=4)


def result(seconds: float = 0.1, status: int | None = 200) -> AttemptResult:
    return AttemptResult(1, 0, Instant(0), seconds, status == 200, "", status)


def filled(places: Places, destination: str) -> int:
    """Takes all places that it may have; how many those were."""
    count = 0
    while places.may_start(destination):
        places.start(destination)
        count += 1
    return count


def known(places: Places, *destinations: str, seconds: float = 0.1, status: int | None = 200) -> None:
    """All of them have answered so often that they have all the room there is."""
    for name in destinations:
        for _ in range(4):
            places.attempted(name, result(seconds, status), 0.0)


def test_one_place_at_first_and_one_more_for_each_answer() -> None:
    places = Places(LIMITS)
    assert filled(places, "a") == 1
    rooms = []
    for status in (200, 500, 404, 200):
        places.attempted("a", result(status=status), 0.0)
        rooms.append(places.standing("a").room)
    assert rooms == [2, 3, 4, 4]


def test_without_an_answer_in_time_one_place_until_it_answers() -> None:
    places = Places(LIMITS)
    known(places, "a")
    places.attempted("a", result(15.0, None), 0.0)
    assert filled(places, "a") == 1
    places.attempted("a", result(), 0.0)
    assert filled(places, "a") == 1  # one more


def test_a_quick_failure_changes_nothing() -> None:
    places = Places(LIMITS)
    known(places, "a")
    places.attempted("a", result(0.1, None), 0.0)
    assert filled(places, "a") == 4


def test_who_answers_slowly_keeps_its_room_but_is_slow() -> None:
    places = Places(LIMITS)
    known(places, "a", "b", seconds=3.0)
    assert [filled(places, name) for name in "ab"] == [4, 1]  # five are half


def test_slow_ones_have_half_together() -> None:
    places = Places(LIMITS)
    names = [f"slow{number}" for number in range(20)]
    for name in names:
        places.attempted(name, result(15.0, None), 0.0)
    assert sum(filled(places, name) for name in names) == 5
    assert sum(filled(places, f"new{number}") for number in range(20)) == 5


def test_what_hangs_is_slow_before_its_time_is_up() -> None:
    places = Places(LIMITS)
    for name in "abcdefghijkl":
        if places.may_start(name):
            places.start(name)
            places.begin(name, name, 0.0)
    assert places.running == 10
    assert not places.may_start("k")
    known(places, "quick")
    assert filled(places, "quick") == 4  # its own half, beyond the ten
    places.look(1.9)
    assert places.standing("a").trust == "unknown"
    places.look(2.0)
    assert {places.standing(name).trust for name in "abcdefghij"} == {"slow"}
    for name in "abcdef":
        places.end(name, name)
    for name in "xy":
        places.attempted(name, result(15.0, None), 0.0)
    # Four hang and four are quick: there is room for one more that is slow, and for one that is not known.
    assert [filled(places, name) for name in "xykl"] == [1, 0, 1, 0]


def test_never_more_than_half_above_the_limit() -> None:
    places = Places(LIMITS)
    for number in range(20):
        name = f"h{number}"
        known(places, name)
        for place in range(filled(places, name)):
            places.begin(name, (name, place), 0.0)
        places.look(5.0)  # all of them begin to hang once they are filled
    assert places.running == 15


def test_it_is_known_for_ten_minutes() -> None:
    places = Places(LIMITS)
    known(places, "a")
    places.start("b")
    places.tidy(600.0)
    assert places.standing("a").room == 4
    places.tidy(601.0)
    assert places.standing("a").room == 1
    assert places.standing("b").running == 1


def test_forty_hosts_that_hang_leave_room_for_a_quick_one(store: Store) -> None:
    """Together they are owed enough to fill all places twice, were they given."""
    hanging = [f"hang{number}" for number in range(40)]
    of_host = {name: [f"{name}-{number}" for number in range(5)] for name in hanging}
    everybody = [id for ids in of_host.values() for id in ids]
    opened: list[str] = []

    async def run() -> None:
        ends = asyncio.Event()

        async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            opened.append(writer.get_extra_info("sockname")[0])
            await ends.wait()
            writer.transport.abort()

        async with AsyncExitStack() as stack:
            quick = await stack.enter_async_context(Receiver())
            with_webhooks(store, quick.url, ["quick"])
            for number, name in enumerate(hanging):
                server = await asyncio.start_server(hang, f"127.0.0.{number + 2}", 0)
                stack.callback(server.close)
                host, port = server.sockets[0].getsockname()[:2]
                with_webhooks(store, f"http://{host}:{port}/hook", of_host[name])
            sender = HttpSender(seconds=300)
            channels = {"webhook": WebhookChannel(sender, allow_loopback=True)}
            outbox = Outbox(store, channels, limits=Limits(at_once=100))
            stopped = asyncio.Event()
            running = asyncio.create_task(outbox.run(stopped))
            find(store, *everybody)
            while len(set(opened)) < 40:
                await asyncio.sleep(0.01)
            find(store, "quick", many=300)
            while len(quick.requests) < 300 or outbox.under_way > len(opened):
                await asyncio.sleep(0.01)
            assert {one.state for one in store.deliveries_of("quick", OWNER, limit=300)} == {"delivered"}
            tried = {one.tried for id in everybody for one in store.deliveries_of(id, OWNER)}
            assert (tried, len(opened)) == ({0}, 40)  # all are still open
            ends.set()
            stopped.set()
            await running
            await sender.close()

    asyncio.run(run())


def with_webhooks(store: Store, url: str, ids: Sequence[str]) -> None:
    if store.tail() == 0:
        with_schema(store)
    for id in ids:
        store.set_channel(StoredChannel(id, OWNER, "webhook", {"url": url}, secrets=((new_secret(), None),)))
    store.append([Subscribe(id, "price < 100", OWNER, delivery="webhook") for id in ids])
