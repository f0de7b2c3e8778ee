"""What a plugin of Apprise does while it is used: each connection it opens is checked, and what it logs is kept.

A plugin is others' code. `WATCH` says which use of it the current thread is at; Python's audit hook calls us before
each connection.
"""

from __future__ import annotations

import logging
import socket
import sys
import threading
import warnings
from contextlib import suppress
from contextvars import ContextVar
from typing import Any

from tidings.notifying.http.special_addresses import special


class Watch:
    """What one use of a plugin does: the lines it logs, and the connections it opens. After `end` it opens none."""

    def __init__(self, allow_loopback: bool) -> None:
        self.lines: list[str] = []
        self._allow_loopback = allow_loopback
        self._sockets: list[socket.socket] | None = []
        self._lock = threading.Lock()

    def admit(self, sock: socket.socket, address: object) -> None:
        """Raises PermissionError, which a library takes for a connection that failed. The socket is kept as a second
        handle, since wrapping it in TLS makes the first one useless."""
        host = str(address[0]) if isinstance(address, tuple) and address else ""
        kind = special(host)
        if kind is not None and not (self._allow_loopback and kind == "a loopback"):
            self.lines.append(f"its host resolves to {kind} address, where nothing is sent")
            raise PermissionError(f"{kind} address")
        with self._lock:
            if self._sockets is None:
                raise PermissionError("its time is over")
            self._sockets.append(sock.dup())

    def end(self) -> None:
        with self._lock:
            sockets, self._sockets = self._sockets or [], None
        for sock in sockets:
            with suppress(OSError):  # not connected, or closed by the other side
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()


WATCH: ContextVar[Watch | None] = ContextVar("apprise_watch", default=None)
_STARTING = threading.Lock()
_CONNECTING = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})


def _audit(event: str, parts: tuple[Any, ...]) -> None:
    """Python calls this before it connects. Refused alternative: vetting the URL's host first, which a name that
    changes its address, a redirect or a server that names another one would get around."""
    if event in _CONNECTING and (watch := WATCH.get()) is not None and parts[1] is not None:
        watch.admit(parts[0], parts[1])  # without an address it sends on what is connected already


class _Lines(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        if (watch := WATCH.get()) is not None:
            watch.lines.append(record.getMessage())


_LINES = _Lines(logging.WARNING)


def start_watching() -> None:
    """Once a process: an audit hook cannot be removed."""
    from apprise.manager_plugins import NotificationManager

    logger = logging.getLogger("apprise")
    with _STARTING:
        if _LINES not in logger.handlers:
            with warnings.catch_warnings():  # a plugin imports what Python will drop; it does without it by then
                warnings.simplefilter("ignore", DeprecationWarning)
                NotificationManager().load_modules()  # type: ignore[no-untyped-call]
            sys.addaudithook(_audit)
            logger.addHandler(_LINES)
