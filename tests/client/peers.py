"""Servers that misbehave as told, on a loopback port: what a real one does only when something breaks."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

OK = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}"


def answer(status: str, body: bytes = b"{}", *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", *headers, f"content-length: {len(body)}", "connection: close", "", ""]
    return "\r\n".join(lines).encode() + body


@dataclass
class Peer:
    """`seen`: the requests that came, whole."""

    port: int
    seen: list[bytes] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def keys(self) -> list[str]:
        """The Idempotency-Key of each request."""
        found = []
        for request in self.seen:
            for line in request.decode().split("\r\n"):
                if line.lower().startswith("idempotency-key:"):
                    found.append(line.partition(":")[2].strip())
        return found


@contextmanager
def peer(*answers: bytes) -> Iterator[Peer]:
    """Gives one answer to each connection, in order; b"" hangs up without one, as a server that dies."""
    listening = socket.create_server(("127.0.0.1", 0))
    running = Peer(listening.getsockname()[1])

    def serve() -> None:
        for given in answers:
            connection, _ = listening.accept()
            with connection:
                running.seen.append(_request(connection))
                if given:
                    connection.sendall(given)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield running
        thread.join(60)
        assert not thread.is_alive(), f"only {len(running.seen)} of {len(answers)} answers were asked for"
    finally:
        listening.close()


def _request(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    length = 0
    for line in head.decode().split("\r\n"):
        if line.lower().startswith("content-length:"):
            length = int(line.partition(":")[2])
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


class Relay:
    """Stands between a client and a server, and can cut the line: nobody is there until `mend`."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._listening: socket.socket | None = None
        self._lines: list[socket.socket] = []
        self.port = 0
        self.mend()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def mend(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", self.port))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, args=(self._listening,), daemon=True).start()

    def cut(self) -> None:
        assert self._listening is not None
        for one in (self._listening, *self._lines):
            with suppress(OSError):  # it is closed already
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self._lines.clear()

    def _accept(self, listening: socket.socket) -> None:
        while True:
            try:
                near, _ = listening.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self._target))
            self._lines += [near, far]
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=_pump, args=(source, sink), daemon=True).start()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:  # the line was cut
        return
