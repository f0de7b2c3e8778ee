"""Parses one HTTP/1.1 response as it arrives: bytes in, an HttpResponse out.

`connection` feeds it. Overlong responses are cut here.
"""

from __future__ import annotations

from dataclasses import dataclass

import httptools

LONGEST_HEAD = 16 * 1024  # bytes of an answer before its body
LONGEST_BODY = 16 * 1024
KEPT = 2 * 1024  # bytes of the body, as text
_LONGEST_ANSWER = 64 * 1024  # with what chunks add to a body
_FRAMING = {"content-length", "transfer-encoding"}


@dataclass(frozen=True, slots=True)
class HttpResponse:
    status: int
    headers: tuple[tuple[str, str], ...]  # names in lower case
    text: str  # the body's beginning

    def header(self, name: str) -> str | None:
        return next((value for known, value in self.headers if known == name), None)


class Reading:
    """One response as it arrives; httptools calls the methods that begin with `on_`."""

    def __init__(self) -> None:
        self.received = 0  # bytes
        self.is_whole = False
        self.is_fit = False  # whether another answer may follow it
        self._parser: httptools.HttpResponseParser | None = httptools.HttpResponseParser(self)
        self._status = 0
        self._headers: list[tuple[str, str]] = []
        self._head_bytes = 0
        self._in_body = False
        self._body = bytearray()
        self._body_bytes = 0

    def feed(self, data: bytes) -> str | None:
        """What is wrong with it, as soon as that is known."""
        if (parser := self._parser) is None:
            return None
        self.received += len(data)
        try:
            parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self.is_fit = False
        except httptools.HttpParserError as problem:
            self.is_fit = False  # after the end of the answer: more came than its length
            if not self.is_whole:
                return f"the answer is not HTTP: {problem}"
        if max(self._head_bytes, 0 if self._in_body else self.received) > LONGEST_HEAD:
            self.is_whole = False
            return f"the answer's headers are longer than {LONGEST_HEAD:,} bytes"
        if self._in_body and (self._body_bytes > LONGEST_BODY or self.received > _LONGEST_ANSWER):
            self.is_whole, self.is_fit = True, False  # its status is known, and that is all we came for
        if self.is_whole:
            self._parser = None  # they hold each other
        return None

    def answer(self) -> HttpResponse:
        text = self._body.decode("utf-8", "replace").replace("\0", "\ufffd")  # databases refuse the character 0
        return HttpResponse(self._status, tuple(self._headers), text)

    @property
    def ends_with_connection(self) -> bool:
        """Without a length, the end of the connection is the end of the answer."""
        return self._in_body and {name for name, _ in self._headers}.isdisjoint(_FRAMING)

    def on_message_begin(self) -> None:
        if self.is_whole:
            self.is_fit = False  # a second answer to one request

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head_bytes += len(name) + len(value)
        if not self._in_body and not self.is_whole:
            self._headers.append((name.decode("latin-1").lower(), value.decode("latin-1")))

    def on_headers_complete(self) -> None:
        if self._parser is not None and not self.is_whole:
            self._status = self._parser.get_status_code()
            self._in_body = not 100 <= self._status < 200 or self._status == 101  # 100 and 103 announce the answer

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        if len(self._body) < KEPT and not self.is_whole:
            self._body += body[: KEPT - len(self._body)]

    def on_message_complete(self) -> None:
        if self._parser is None or self.is_whole:
            return
        if not self._in_body:
            self._headers.clear()
            return
        self.is_whole = True
        self.is_fit = self._parser.should_keep_alive() and self._status != 101
