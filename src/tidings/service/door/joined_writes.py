"""A transport that sends what is written within one step of the event loop in one call of the system.

uvicorn writes the head of an answer and its body one after the other, and uvloop hands each to the system at once:
for single events these two calls were 23 % of the processor's time (tests/service/measure.py).
"""

from __future__ import annotations

import asyncio
from typing import Any

_MOST = 1 << 16  # bytes held back


class JoinedWrites:
    """Around a transport, for what a protocol calls."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._held = b""

    def write(self, data: bytes) -> None:
        if len(data) + len(self._held) > _MOST:  # the transport tells a protocol that writes too much to wait
            self._flush()
            self._transport.write(data)
            return
        if not self._held:
            self._loop.call_soon(self._flush)
        self._held += data

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def get_write_buffer_size(self) -> int:
        return self._transport.get_write_buffer_size() + len(self._held)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def _flush(self) -> None:
        held, self._held = self._held, b""
        if held and not self._transport.is_closing():
            self._transport.write(held)
