"""Where the service listens: its sockets, the XML port's certificate, room for open files."""

from __future__ import annotations

import errno
import resource
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager

from tidings.errors import Explained, ServiceError
from tidings.settings import PREFIX, InvalidSetting, Settings

BACKLOG = 2_048  # connections that wait to be accepted


class PortTaken(Explained, ServiceError):
    host: str
    port: int
    flag: str
    template = "port {port} of {host} is in use; free it, or choose another with {flag} or {variable}"

    @property
    def variable(self) -> str:
        return PREFIX + self.flag.removeprefix("--").replace("-", "_").upper()


class CannotListen(Explained, ServiceError):
    host: str
    port: int
    flag: str
    why: str
    template = "cannot listen at {host}, port {port}: {why}; choose another with --host or {flag}"


@contextmanager
def listening(host: str, port: int, flag: str) -> Iterator[socket.socket]:
    with explained(host, port, flag):
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
        listener = socket.create_server((host, port), family=family, backlog=BACKLOG)
    with listener:
        yield listener


@contextmanager
def explained(host: str, port: int, flag: str) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        if problem.errno == errno.EADDRINUSE:
            raise PortTaken(host, port, flag) from None
        raise CannotListen(host, port, flag, problem.strerror or str(problem)) from None


def xml_certificate(settings: Settings) -> ssl.SSLContext | None:
    """Where one is given; raises InvalidSetting."""
    if not (settings.xml and settings.xml_certificate):
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(settings.xml_certificate, settings.xml_key or None)
    except OSError as problem:  # SSLError is one
        told = f"cannot be used: {problem.strerror or problem}"
        raise InvalidSetting("settings", "xml_certificate", told) from None
    return context


def make_room(files: int) -> None:
    """Every connection is an open file, of which a process may have 1,024 unless it asks for more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < files:
        most = files if hard == resource.RLIM_INFINITY else min(files, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
