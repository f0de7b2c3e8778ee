"""Server-sent events: bytes in as they come, messages out. Nothing here waits or connects; `sending` does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Message:
    """`id` is that of the last event that had one."""

    id: str | None
    event: str
    data: str


class EventSource:
    """Lines end at a line feed alone or after a carriage return, as the server writes them: what else Python takes for
    the end of a line (U+2028, say) may stand in an event's text."""

    def __init__(self, last: str | None) -> None:
        self.last = last
        self._rest = b""
        self._event = ""
        self._data: list[str] = []

    def feed(self, data: bytes) -> Iterator[Message]:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            message = self._line(line.removesuffix(b"\r").decode("utf-8", "replace"))
            if message is not None:
                yield message

    def _line(self, line: str) -> Message | None:
        if not line:
            event, data = self._event or "message", self._data
            self._event, self._data = "", []
            return Message(self.last, event, "\n".join(data)) if data else None
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "id" and "\0" not in value:
            self.last = value
        elif name == "event":
            self._event = value
        elif name == "data":
            self._data.append(value)
        return None  # a comment, or what this reader has no use for
