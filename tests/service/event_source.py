"""A reader of server-sent events over a plain socket: it takes what the standard says, and as slowly as told."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode


@dataclass(frozen=True)
class Message:
    id: str
    event: str
    data: dict[str, Any]

    @property
    def name(self) -> str:
        """The event's own id."""
        return str(self.data["event"]["id"])


class EventSource:
    """Opened at once; `status` and `headers` are there then. Use it as a context."""

    def __init__(self, port: int, token: str, last: str = "", buffer: int | None = None, **query: str) -> None:
        self._socket = socket.socket()
        if buffer is not None:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self._socket.settimeout(30)
        self._socket.connect(("127.0.0.1", port))
        request = [f"GET /v1/notifications/stream?{urlencode(query)} HTTP/1.1", "Host: localhost"]
        request += [f"Authorization: Bearer {token}"] + ([f"Last-Event-ID: {last}"] if last else [])
        self._socket.sendall(("\r\n".join(request) + "\r\n\r\n").encode())
        self._file = self._socket.makefile("rb")
        self.status = int(self._file.readline().split()[1])
        self.headers: dict[str, str] = {}
        while line := self._file.readline().decode().strip():
            name, _, value = line.partition(":")
            self.headers[name.lower()] = value.strip()
        self.last = last
        self.retry = 0
        self.comments = 0

    def __enter__(self) -> EventSource:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._socket.close()

    def body(self) -> dict[str, Any]:
        """Of an answer that is no stream."""
        found: dict[str, Any] = json.loads(self._file.read(int(self.headers["content-length"])))
        return found

    def take(self, count: int) -> list[Message]:
        found: list[Message] = []
        for message in self:
            found.append(message)
            if len(found) == count:
                return found
        raise AssertionError(f"the stream ended after {len(found)} of {count}")

    def __iter__(self) -> Iterator[Message]:
        """Until the stream ends."""
        event, data = "", []
        for line in self.lines():
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            match name:
                case "id":
                    self.last = value
                case "event":
                    event = value
                case "data":
                    data.append(value)
                case "retry":
                    self.retry = int(value)
                case "" if line:
                    self.comments += 1
                case "":
                    if data:
                        yield Message(self.last, event, json.loads("\n".join(data)))
                    event, data = "", []

    def lines(self) -> Iterator[str]:
        rest = b""
        while size := int(self._file.readline().strip() or b"0", 16):
            rest += self._file.read(size)
            self._file.readline()
            *whole, rest = rest.split(b"\n")
            yield from (line.decode() for line in whole)
