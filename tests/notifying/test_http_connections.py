"""The sender's connections: kept, replaced, limited, ended, and led to the address that was vetted."""

import asyncio
import pickle
import socket

import pytest

from tests.notifying.http_receiver import (
    OK,
    Receiver,
    closing,
    ok_then,
    post,
    resetting,
    silent,
)
from tidings.notifying.http.addresses import Resolver, Target, vet_async
from tidings.notifying.http.sender import HttpSender, SendingFailed


def test_nobody_listens() -> None:
    async def run() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            port = listening.getsockname()[1]
        sender = HttpSender()
        with pytest.raises(SendingFailed, match="connection refused") as caught:
            await sender.send(Target("http", "127.0.0.1", port, "/", ("127.0.0.1",)), "POST", [])
        assert pickle.loads(pickle.dumps(caught.value)).args == caught.value.args

    asyncio.run(run())


def test_the_next_address_is_tried() -> None:
    async def run() -> None:
        async with Receiver() as receiver:
            sender = HttpSender(seconds=5)
            target = Target("http", "both.example", receiver.port, "/", ("::1", "127.0.0.1"))
            assert (await sender.send(target, "POST", [])).status == 200
            await sender.close()

    asyncio.run(run())


def test_connections_are_kept_and_used_again() -> None:
    async def run() -> None:
        async with Receiver() as receiver:
            sender = HttpSender()
            for _ in range(10):
                await post(sender, receiver)
            assert receiver.connections == 1
            await post(sender, receiver, host="other.example")
            assert receiver.connections == 2  # never shared between names
            assert sender.open_connections == 2
            await sender.close()
            assert sender.open_connections == 0
            with pytest.raises(SendingFailed, match="the sender is closed"):
                await post(sender, receiver)

    asyncio.run(run())


def test_unused_connections_are_closed() -> None:
    async def run() -> None:
        async with Receiver() as receiver:
            sender = HttpSender(idle_seconds=0.05)
            await post(sender, receiver)
            assert sender.open_connections == 1
            while sender.open_connections:
                await asyncio.sleep(0.02)
            await post(sender, receiver)
            assert receiver.connections == 2
            await sender.close()

    asyncio.run(run())


def test_a_connection_that_was_closed_meanwhile_is_replaced_once() -> None:
    async def run() -> None:
        for then in (closing, resetting):
            async with Receiver(lambda r, w, then=then: ok_then(r, w, then)) as receiver:
                sender = HttpSender()
                for _ in range(2):
                    assert (await post(sender, receiver, b"once")).status == 200
                assert receiver.connections == 2
                assert [request.body for request in receiver.requests] == [b"once"] * 3  # at least once
                await sender.close()

    asyncio.run(run())


def test_what_began_to_answer_is_not_sent_again() -> None:
    async def run() -> None:
        async with Receiver(lambda r, w: ok_then(r, w, lambda r, w: closing(r, w, OK[:9]))) as receiver:
            sender = HttpSender()
            await post(sender, receiver)
            with pytest.raises(SendingFailed, match="before the answer was complete"):
                await post(sender, receiver)
            assert len(receiver.requests) == 2
            await sender.close()

    asyncio.run(run())


def test_what_comes_unasked_ends_the_connection() -> None:
    async def late(receiver: Receiver, writer: asyncio.StreamWriter) -> None:
        writer.write(OK)
        await asyncio.sleep(0.02)
        writer.write(b"HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n")

    async def run() -> None:
        async with Receiver(late) as receiver:
            sender = HttpSender()
            for _ in range(3):
                assert (await post(sender, receiver)).status == 200
                while sender.open_connections:
                    await asyncio.sleep(0.01)

    asyncio.run(run())


def test_a_host_that_hangs_delays_nobody_else() -> None:
    async def run() -> None:
        async with Receiver(silent) as hanging, Receiver() as fast:
            sender = HttpSender(seconds=60, connections=8, per_host=2)
            stuck = [asyncio.create_task(post(sender, hanging)) for _ in range(20)]
            while len(hanging.requests) < 2:
                await asyncio.sleep(0.01)
            for _ in range(50):
                await post(sender, fast)
            assert not any(task.done() for task in stuck)
            assert hanging.connections == 2
            for task in stuck:
                task.cancel()
            ends = await asyncio.gather(*stuck, return_exceptions=True)
            assert all(isinstance(end, asyncio.CancelledError) for end in ends)
            await sender.close()

    asyncio.run(run())


def test_waiting_for_a_connection_ends_too() -> None:
    async def run() -> None:
        async with Receiver() as receiver:
            sender = HttpSender(seconds=0.1, per_host=1)
            async with sender._place(receiver.target()):
                with pytest.raises(SendingFailed, match=r"no connection came free within 0\.1 s"):
                    await post(sender, receiver)
            assert (await HttpSender().send(receiver.target(), "POST", [("connection", "close")])).status == 200
            assert receiver.connections == 1

    asyncio.run(run())


def test_there_are_never_more_connections_than_allowed() -> None:
    most = 0

    async def slow(receiver: Receiver, writer: asyncio.StreamWriter) -> None:
        nonlocal most
        most = max(most, sender.open_connections)
        await asyncio.sleep(0.002)
        writer.write(OK)

    async def run() -> None:
        async with Receiver(slow) as receiver:
            await asyncio.gather(*(post(sender, receiver, host=f"h{n % 9}.example") for n in range(90)))
            assert len(receiver.requests) == 90
            assert sender.open_connections <= 5
            await sender.close()

    sender = HttpSender(connections=5, per_host=3)
    asyncio.run(run())
    assert most == 5


def test_hosts_are_forgotten() -> None:
    async def run() -> None:
        async with Receiver() as receiver:
            sender = HttpSender(connections=4)
            for number in range(20):
                await post(sender, receiver, host=f"h{number}.example")
            assert sender.open_connections == 4
            assert len(sender._hosts) == 0
            await sender.close()

    asyncio.run(run())


def test_closing_ends_what_is_under_way() -> None:
    async def run() -> None:
        async with Receiver(silent) as receiver:
            sender = HttpSender()
            sending = asyncio.create_task(post(sender, receiver))
            while not receiver.requests:
                await asyncio.sleep(0.01)
            connecting = asyncio.create_task(post(sender, receiver))
            await asyncio.sleep(0)
            await sender.close()
            ends = await asyncio.gather(sending, connecting, return_exceptions=True)
            assert [getattr(end, "reason", end) for end in ends] == [
                "the connection was closed before an answer came",
                "the sender is closed",
            ]
            assert len(receiver.requests) == 1

    asyncio.run(run())


def test_cancelling_leaves_nothing_behind() -> None:
    async def run() -> None:
        async with Receiver(silent) as receiver:
            sender = HttpSender()
            sending = asyncio.create_task(post(sender, receiver))
            while not receiver.requests:
                await asyncio.sleep(0.01)
            sending.cancel()
            with pytest.raises(asyncio.CancelledError):
                await sending
            assert sender.open_connections == 0

    asyncio.run(run())


def test_a_name_that_changes_its_mind_is_not_asked_again() -> None:
    """Rebinding: the name leads to the receiver when it is vetted and elsewhere whenever it is asked later."""
    asked: list[str] = []

    def rebinding(host: str) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["127.0.0.2"]

    async def run() -> None:
        async with Receiver() as vetted:
            decoy = await asyncio.start_server(lambda r, w: w.close(), "127.0.0.2", vetted.port)
            target = await vet_async(f"http://rebinding.example:{vetted.port}/", True, Resolver(rebinding, keep=0))
            sender = HttpSender()
            assert (await sender.send(target, "POST", [])).status == 200
            await sender.close()
            decoy.close()
            assert vetted.requests[0].headers["host"] == f"rebinding.example:{vetted.port}"
        assert asked == ["rebinding.example"]

    asyncio.run(run())
