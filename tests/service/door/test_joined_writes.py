"""On a real pair of sockets: what one step of the loop writes arrives in one piece, and in order whatever its size."""

import asyncio
import socket
from collections.abc import Callable

import pytest
import uvloop

from tidings.service.door.joined_writes import JoinedWrites

LARGE = b"x" * 200_000


def received(write: Callable[[JoinedWrites], None], most: int = 1 << 20) -> list[bytes]:
    """What the other end gets, piece by piece."""

    async def run() -> list[bytes]:
        ours, theirs = socket.socketpair()
        theirs.setblocking(False)
        loop = asyncio.get_running_loop()
        transport, _ = await loop.create_connection(asyncio.Protocol, sock=ours)
        joined = JoinedWrites(transport, loop)
        write(joined)
        pieces = [await loop.sock_recv(theirs, most)]
        joined.close()
        while piece := await loop.sock_recv(theirs, most):
            pieces.append(piece)
        theirs.close()
        return pieces

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(asyncio.wait_for(run(), 30))


def test_head_and_body_arrive_together() -> None:
    def write(transport: JoinedWrites) -> None:
        transport.write(b"head ")
        transport.write(b"body")
        assert transport.get_write_buffer_size() == 9

    assert received(write) == [b"head body"]


def test_what_was_held_is_sent_before_the_end() -> None:
    def write(transport: JoinedWrites) -> None:
        transport.write(b"head")
        transport.close()

    assert received(write) == [b"head"]


@pytest.mark.parametrize(
    "parts",
    [(b"head ", LARGE), (LARGE, b" end"), (b"a ", LARGE, b" b", LARGE)],
    ids=["large last", "large first", "in turns"],
)
def test_large_parts_stay_in_order(parts: tuple[bytes, ...]) -> None:
    def write(transport: JoinedWrites) -> None:
        for part in parts:
            transport.write(part)

    assert b"".join(received(write)) == b"".join(parts)
