"""The sender against real receivers on loopback, most of them ill-behaved."""

import asyncio
import pickle
import shutil
import socket
import ssl
import struct
import subprocess
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tidings.notifying.addresses import Resolver, Target, vet_async
from tidings.notifying.http_sender import Answer, HttpSender, SendingFailed, request_bytes

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


@dataclass(frozen=True)
class Request:
    line: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """Answers each request by `answer`: bytes to send, or a function that does as it likes with the connection."""

    answer: bytes | Callable[["Receiver", asyncio.StreamWriter], Awaitable[None]] = OK
    tls: ssl.SSLContext | None = None
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    port: int = 0
    over: asyncio.Event = field(default_factory=asyncio.Event)
    _writers: list[asyncio.StreamWriter] = field(default_factory=list)

    async def __aenter__(self) -> "Receiver":
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self.tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        self.over.set()
        for writer in self._writers:
            writer.transport.abort()
        await asyncio.sleep(0.01)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.append(writer)
        try:
            while not writer.is_closing():
                head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                headers = dict(line.split(": ", 1) for line in head[1:] if line)
                body = await reader.readexactly(int(headers.get("content-length", "0")))
                self.requests.append(Request(head[0], headers, body))
                if isinstance(self.answer, bytes):
                    writer.write(self.answer)
                else:
                    await self.answer(self, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        writer.close()

    def target(self, host: str = "127.0.0.1", path: str = "/hook") -> Target:
        return Target("https" if self.tls else "http", host, self.port, path, ("127.0.0.1",))

    @property
    def url(self) -> str:
        return self.target().url


def reset(writer: asyncio.StreamWriter) -> None:
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def post(sender: HttpSender, receiver: Receiver, body: bytes = b"{}", **named: Any) -> Answer:
    return await sender.send(receiver.target(**named), "POST", [("content-type", "application/json")], body)


def answered(answer: Any, **settings: Any) -> tuple[Answer | str, Receiver, int]:
    """The answer or the reason, the receiver, and how many connections are left open, after one request."""

    async def once() -> tuple[Answer | str, Receiver, int]:
        async with Receiver(answer) as receiver:
            sender = HttpSender(**settings)
            try:
                got: Answer | str = await post(sender, receiver)
            except SendingFailed as problem:
                got = problem.reason
            await asyncio.sleep(0.02)
            left = sender.open_connections
            await sender.close()
            return got, receiver, left

    return asyncio.run(once())


def test_a_request_as_it_arrives() -> None:
    got, receiver, left = answered(OK)
    assert got == Answer(200, (("content-length", "2"),), "ok")
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
    assert isinstance(got, Answer), got
    assert (got.status, got.text, left) == (status, text, kept)
    assert len(receiver.requests) == 1


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"220 smtp.example.org ESMTP\r\n", "the answer is no HTTP"),
        (b"HTTP/1.1 OK\r\n\r\n", "the answer is no HTTP"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab", "the answer is no HTTP"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\nab", "the answer is no HTTP"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", "the answer is no HTTP"),
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


async def endless(receiver: Receiver, writer: asyncio.StreamWriter, head: bytes, line: bytes) -> None:
    writer.write(head)
    while True:
        writer.write(line)
        await writer.drain()
        await asyncio.sleep(0)


@pytest.mark.parametrize("head", [b"content-length: 99999999\r\n\r\n", b"\r\n", b"transfer-encoding: chunked\r\n\r\n"])
def test_an_endless_body_is_read_to_the_limit_and_left(head: bytes) -> None:
    line = b"400\r\n" + b"x" * 1024 + b"\r\n" if b"chunked" in head else b"x" * 1024
    got, _, left = answered(lambda r, w: endless(r, w, b"HTTP/1.1 200 OK\r\n" + head, line))
    assert got == Answer(200, got.headers, "x" * 2048)  # type: ignore[union-attr]
    assert left == 0


def test_chunks_that_are_mostly_framing_end_too() -> None:
    head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    got, _, left = answered(lambda r, w: endless(r, w, head, b"1;" + b"e" * 1000 + b"\r\nx\r\n"))
    assert isinstance(got, Answer)
    assert (got.status, set(got.text), left) == (200, {"x"}, 0)


def test_endless_headers() -> None:
    got, _, left = answered(lambda r, w: endless(r, w, b"HTTP/1.1 200 OK\r\n", b"x: y\r\n"))
    assert (got, left) == ("the answer's headers are longer than 16,384 bytes", 0)


def test_endless_trailers() -> None:
    head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n"
    got, _, left = answered(lambda r, w: endless(r, w, head, b"x: y\r\n"))
    assert (got, left) == ("the answer's headers are longer than 16,384 bytes", 0)


async def closing(receiver: Receiver, writer: asyncio.StreamWriter, before: bytes = b"") -> None:
    writer.write(before)
    await writer.drain()
    writer.close()


async def resetting(receiver: Receiver, writer: asyncio.StreamWriter) -> None:
    reset(writer)


async def silent(receiver: Receiver, writer: asyncio.StreamWriter) -> None:
    await receiver.over.wait()


async def dripping(receiver: Receiver, writer: asyncio.StreamWriter) -> None:
    for byte in OK:
        writer.write(bytes([byte]))
        await asyncio.sleep(0.05)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (closing, "the connection was closed before an answer came"),
        (resetting, "the connection was reset before an answer came"),
        (lambda r, w: closing(r, w, OK[:-1]), "the connection was closed before the answer was as long as it said"),
        (lambda r, w: closing(r, w, OK[:20]), "the connection was closed before the answer was as long as it said"),
        (
            lambda r, w: closing(r, w, b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab"),
            "the connection was closed before the answer was as long as it said",
        ),
        (silent, "no answer came within 0.3 s"),
        (dripping, "the answer did not end within 0.3 s"),
    ],
)
def test_answers_that_break_off(answer: Any, reason: str) -> None:
    got, receiver, left = answered(answer, seconds=0.3)
    assert (got, left) == (reason, 0)
    assert len(receiver.requests) == 1


def test_a_body_without_length_ends_with_the_connection() -> None:
    got, _, left = answered(lambda r, w: closing(r, w, b"HTTP/1.1 200 OK\r\n\r\nall of it"))
    assert (got, left) == (Answer(200, (), "all of it"), 0)


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


async def ok_then(receiver: Receiver, writer: asyncio.StreamWriter, then: Any) -> None:
    """A connection's first request is answered; at its second, `then`."""
    seen: dict[Any, int] = receiver.__dict__.setdefault("seen", {})
    seen[writer] = seen.get(writer, 0) + 1
    if seen[writer] == 1:
        writer.write(OK)
    else:
        await then(receiver, writer)


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
            with pytest.raises(SendingFailed, match="as long as it said"):
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


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for hook.example that signs itself, with its key, in one file."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no `openssl` here to make a certificate with")
    folder = tmp_path_factory.mktemp("certificate")
    key, made, both = folder / "key.pem", folder / "made.pem", folder / "both.pem"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=hook.example"
    extensions = ["-addext", "subjectAltName=DNS:hook.example"]
    subprocess.run(
        [*command.split(), *extensions, "-keyout", str(key), "-out", str(made)], check=True, capture_output=True
    )
    both.write_bytes(key.read_bytes() + made.read_bytes())
    return both


def served_by(certificate: Path) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    return context


def test_tls_with_the_name_that_was_vetted(certificate: Path) -> None:
    async def run() -> None:
        names: list[str | None] = []
        context = served_by(certificate)
        context.sni_callback = lambda socket, name, context: names.append(name)
        async with Receiver(tls=context) as receiver:
            sender = HttpSender(tls=ssl.create_default_context(cafile=certificate))
            for _ in range(3):
                assert (await post(sender, receiver, host="hook.example")).text == "ok"
            assert (names, receiver.connections) == (["hook.example"], 1)
            assert receiver.requests[0].headers["host"] == f"hook.example:{receiver.port}"
            with pytest.raises(SendingFailed, match=r"certificate is not valid: .*other.example"):
                await post(sender, receiver, host="other.example")
            await sender.close()

    asyncio.run(run())


def test_a_certificate_that_nobody_vouches_for(certificate: Path) -> None:
    async def run() -> None:
        async with Receiver(tls=served_by(certificate)) as receiver:
            sender = HttpSender()
            with pytest.raises(SendingFailed, match="its certificate is not valid: self-signed certificate"):
                await post(sender, receiver, host="hook.example")
            assert receiver.requests == []
            assert sender.open_connections == 0

    asyncio.run(run())


def test_what_does_not_speak_tls() -> None:
    async def run() -> None:
        def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"220 hello\r\n")
            writer.close()

        async with await asyncio.start_server(greet, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            target = Target("https", "hook.example", port, "/", ("127.0.0.1",))
            with pytest.raises(SendingFailed, match=r"TLS failed: .*wrong version number"):
                await HttpSender(seconds=5).send(target, "POST", [])

    asyncio.run(run())
