"""The sender against real receivers on loopback, most of them ill-behaved: answers, and what is none."""

import asyncio
import socket
from typing import Any

import pytest

from tests.notifying.http_receiver import (
    OK,
    Request,
    answered,
    closing,
    dripping,
    endless,
    resetting,
    silent,
)
from tidings.notifying.http.addresses import Target
from tidings.notifying.http.response import HttpResponse
from tidings.notifying.http.sender import HttpSender, SendingFailed, request_bytes


def test_a_request_as_it_arrives() -> None:
    got, receiver, left = answered(OK)
    assert got == HttpResponse(200, (("content-length", "2"),), "ok")
    assert receiver.requests == [
        Request(
            "POST /hook HTTP/1.1",
            {"host": f"127.0.0.1:{receiver.port}", "content-type": "application/json", "content-length": "2"},
            b"{}",
        )
    ]
    assert left == 1


@pytest.mark.parametrize(
    ("answer", "status", "text", "kept"),
    [
        (b"HTTP/1.1 204 No Content\r\n\r\n", 204, "", 1),
        (b"HTTP/1.1 301 Moved\r\nlocation: http://169.254.169.254/\r\ncontent-length: 0\r\n\r\n", 301, "", 1),
        (b"HTTP/1.1 500 Oh\r\ncontent-length: 4\r\n\r\noops", 500, "oops", 1),
        (b"HTTP/1.1 999 What\r\ncontent-length: 0\r\n\r\n", 999, "", 1),
        (b"HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n", 200, "", 0),
        (b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n", 200, "", 0),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX-Late: 1\r\n\r\n", 200, "hi", 1),
        (b"HTTP/1.1 100 Continue\r\nx: 1\r\n\r\nHTTP/1.1 103 Hints\r\n\r\n" + OK, 200, "ok", 1),
        (b"HTTP/1.1 101 Switch\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nwhatever", 101, "", 0),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n\xff\x00\xc3\xa9", 200, "\ufffd\ufffdé", 1),
        (OK + b"and more than was said", 200, "ok", 0),  # lies about its length: longer
        (OK + OK, 200, "ok", 0),  # the second answer must not be taken for the next request's
        (OK + b"HTTP/1.1 200 OK\r\nx: " + b"y" * 1000, 200, "ok", 0),
    ],
)
def test_answers(answer: bytes, status: int, text: str, kept: int) -> None:
    got, receiver, left = answered(answer)
    assert isinstance(got, HttpResponse), got
    assert (got.status, got.text, left) == (status, text, kept)
    assert len(receiver.requests) == 1


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"220 smtp.example.org ESMTP\r\n", "the answer is not HTTP"),
        (b"HTTP/1.1 OK\r\n\r\n", "the answer is not HTTP"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab", "the answer is not HTTP"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\nab", "the answer is not HTTP"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", "the answer is not HTTP"),
        (b"HTTP/1.1 200 OK\r\n" + b"".join(b"x%d: y\r\n" % n for n in range(5_000)), "headers are longer than 16,384"),
        (b"HTTP/1.1 200 OK\r\nx: " + b"y" * 20_000 + b"\r\ncontent-length: 0\r\n\r\n", "headers are longer"),
        (b"HTTP/1.1 200 OK\r\nx: " + b"y" * 300_000, "headers are longer"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" * 1_000, "headers are longer"),
    ],
)
def test_answers_that_are_none(answer: bytes, reason: str) -> None:
    got, _, left = answered(answer)
    assert isinstance(got, str)
    assert reason in got
    assert left == 0


@pytest.mark.parametrize("head", [b"content-length: 99999999\r\n\r\n", b"\r\n", b"transfer-encoding: chunked\r\n\r\n"])
def test_an_endless_body_is_read_to_the_limit_and_left(head: bytes) -> None:
    line = b"400\r\n" + b"x" * 1024 + b"\r\n" if b"chunked" in head else b"x" * 1024
    got, _, left = answered(lambda r, w: endless(r, w, b"HTTP/1.1 200 OK\r\n" + head, line))
    assert got == HttpResponse(200, got.headers, "x" * 2048)  # type: ignore[union-attr]
    assert left == 0


def test_chunks_that_are_mostly_framing_end_too() -> None:
    head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    got, _, left = answered(lambda r, w: endless(r, w, head, b"1;" + b"e" * 1000 + b"\r\nx\r\n"))
    assert isinstance(got, HttpResponse)
    assert (got.status, set(got.text), left) == (200, {"x"}, 0)


def test_endless_headers() -> None:
    got, _, left = answered(lambda r, w: endless(r, w, b"HTTP/1.1 200 OK\r\n", b"x: y\r\n"))
    assert (got, left) == ("the answer's headers are longer than 16,384 bytes", 0)


def test_endless_trailers() -> None:
    head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n"
    got, _, left = answered(lambda r, w: endless(r, w, head, b"x: y\r\n"))
    assert (got, left) == ("the answer's headers are longer than 16,384 bytes", 0)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (closing, "the connection was closed before an answer came"),
        (resetting, "the connection was reset before an answer came"),
        (lambda r, w: closing(r, w, OK[:-1]), "the connection was closed before the answer was complete"),
        (lambda r, w: closing(r, w, OK[:20]), "the connection was closed before the answer was complete"),
        (
            lambda r, w: closing(r, w, b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab"),
            "the connection was closed before the answer was complete",
        ),
        (silent, "no answer came within 0.3 s"),
        (dripping, "the answer was not complete within 0.3 s"),
    ],
)
def test_answers_that_break_off(answer: Any, reason: str) -> None:
    got, receiver, left = answered(answer, seconds=0.3)
    assert (got, left) == (reason, 0)
    assert len(receiver.requests) == 1


def test_a_body_without_length_ends_with_the_connection() -> None:
    got, _, left = answered(lambda r, w: closing(r, w, b"HTTP/1.1 200 OK\r\n\r\nall of it"))
    assert (got, left) == (HttpResponse(200, (), "all of it"), 0)


def test_a_receiver_that_never_reads() -> None:
    async def run() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            sender = HttpSender(seconds=0.3)
            target = Target("http", "127.0.0.1", listening.getsockname()[1], "/", ("127.0.0.1",))
            with pytest.raises(SendingFailed, match="the receiver did not read the request within"):
                await sender.send(target, "POST", [], bytes(30_000_000))
            assert sender.open_connections == 0

    asyncio.run(run())


def test_an_answer_before_the_request_was_read_ends_the_connection() -> None:
    async def run() -> None:
        left, answered = asyncio.Event(), asyncio.Event()

        async def hasty(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n")
            await answered.wait()  # meanwhile the stream's buffer is full and nothing is read
            writer.transport.abort()
            left.set()

        async with await asyncio.start_server(hasty, "127.0.0.1", 0, limit=1024) as server:
            sender = HttpSender()
            target = Target("http", "127.0.0.1", server.sockets[0].getsockname()[1], "/", ("127.0.0.1",))
            assert (await sender.send(target, "POST", [], bytes(30_000_000))).status == 413
            assert sender.open_connections == 0
            answered.set()
            await left.wait()
            await asyncio.sleep(0.01)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("method", "path", "header"),
    [
        ("POST", "/", ("x", "a\r\nx-injected: yes")),
        ("POST", "/", ("x", "a\nb")),
        ("POST", "/", ("x", "a\rb")),
        ("POST", "/", ("x\r\ny", "a")),
        ("POST", "/", ("x", "\0")),
        ("POST", "/", ("x", "é")),
        ("POST", "/ HTTP/1.1\r\nx: y", ("x", "a")),
        ("POST\r\n", "/", ("x", "a")),
    ],
)
def test_no_text_can_make_a_header(method: str, path: str, header: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match="line end or a character that is not ASCII"):
        request_bytes(Target("https", "a.example", 443, path, ("1.1.1.1",)), method, [header], b"")
