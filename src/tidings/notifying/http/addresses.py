"""Where a webhook may go: the guard against requests that a user makes us send into our own network.

    url ──> Place (read, nothing looked up) ──> addresses ──> Target, or UnsafeAddress

Senders connect to an address of the Target and to no other. The name is not resolved again, so DNS rebinding between
check and connect gains nothing. Called when a channel is created and at every delivery.
"""

from __future__ import annotations

import asyncio
import re
import socket
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv6Address
from urllib.parse import quote

import idna

from tidings.errors import ChannelError, Explained
from tidings.notifying.http.special_addresses import special

ALLOWED = "allowed is https://host[:port]/path, where every address of the host is a public one"
LONGEST_URL = 2_048
_PORTS = {"https": 443, "http": 80}
_URL = re.compile(r"(https?)://([^/?#]*)([^#]*)(#.*)?", re.IGNORECASE)
_AUTHORITY = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^:\[\]]+))(?::([0-9]{1,5}))?", re.IGNORECASE)
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMERAL = re.compile(r"[0-9]+|0x[0-9a-f]*")


Resolve = Callable[[str], Sequence[str]]  # blocks; raises OSError


class InvalidUrl(Explained, ChannelError):
    """A webhook's address that cannot be read: the address, and what is wrong with it."""

    url: str
    reason: str
    template = f"the webhook's address {{url!v}} {{reason}}; {ALLOWED}"


class UnsafeAddress(Explained, ChannelError):
    """A webhook's address that leads where no webhook may go: the address, and where it leads."""

    url: str
    reason: str
    template = f"webhooks cannot be sent to {{url!v}}: {{reason}}; {ALLOWED}"


class UnresolvedHost(Explained, ChannelError):
    """A webhook's host that cannot be resolved now: its name, and why."""

    host: str
    reason: str
    template = "the webhook's host {host!v} could not be resolved: {reason}; check its spelling and its DNS record"


@dataclass(frozen=True, slots=True)
class Place:
    """A URL that was read. `host` is in ASCII and lower case; an address is in its usual form."""

    scheme: str
    host: str
    port: int
    path: str  # with the query

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.authority}{self.path}"

    @property
    def is_address(self) -> bool:
        return ":" in self.host or _NUMERAL.fullmatch(self.host.rpartition(".")[2]) is not None


@dataclass(frozen=True, slots=True)
class Target(Place):
    addresses: tuple[str, ...]  # vetted, each of them; at least one


class Resolver:
    """Names to addresses, each in a thread of its own: a name server that never answers holds up nobody else.

    A name that is being looked up is not looked up twice, and an answer serves `keep` seconds, so that a thousand
    deliveries a second to one host are not a thousand questions. Its threads are daemons: no exit waits for them."""

    def __init__(self, resolve: Resolve | None = None, *, seconds: float = 5.0, keep: float = 5.0) -> None:
        self._resolve = resolve or _by_system
        self._seconds = seconds
        self._keep = keep
        self._known: dict[str, tuple[float, Future[tuple[str, ...]]]] = {}
        self._lock = threading.Lock()

    def find(self, host: str) -> tuple[str, ...]:
        """Blocks. Raises UnresolvedHost."""
        try:
            return self._asked(host).result(self._seconds)
        except (OSError, UnicodeError, TimeoutError) as problem:
            raise self._unresolved(host, problem) from None

    async def find_async(self, host: str) -> tuple[str, ...]:
        asked = self._asked(host)
        if asked.done() and asked.exception() is None:
            return asked.result()
        try:
            async with asyncio.timeout(self._seconds):
                return await asyncio.shield(asyncio.wrap_future(asked))
        except (OSError, UnicodeError, TimeoutError) as problem:
            raise self._unresolved(host, problem) from None

    def _unresolved(self, host: str, problem: Exception) -> UnresolvedHost:
        if isinstance(problem, TimeoutError):
            return UnresolvedHost(host, f"its name servers did not answer within {self._seconds:g} s")
        return UnresolvedHost(host, getattr(problem, "strerror", None) or str(problem) or "unknown host")

    def _asked(self, host: str) -> Future[tuple[str, ...]]:
        now = time.monotonic()
        with self._lock:
            began, future = self._known.get(host, (0.0, None))
            if future is not None and (not future.done() or (now - began < self._keep and not future.exception())):
                return future
            if len(self._known) > 10_000:
                self._known = {name: one for name, one in self._known.items() if not one[1].done()}
            future = Future()
            self._known[host] = (now, future)
        threading.Thread(target=self._answer, args=(host, future), name=f"resolving {host}", daemon=True).start()
        return future

    def _answer(self, host: str, future: Future[tuple[str, ...]]) -> None:
        try:
            future.set_result(tuple(dict.fromkeys(self._resolve(host))))
        except Exception as problem:  # it is raised where the answer is awaited
            future.set_exception(problem)


def _by_system(host: str) -> Sequence[str]:
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


_RESOLVER = Resolver()


def vet(url: str, allow_loopback: bool, resolver: Resolver | None = None) -> Target:
    """Blocks while the name is looked up. Raises InvalidUrl, UnsafeAddress or UnresolvedHost."""
    place = read_url(url, allow_loopback)
    return admit(place, _own(place) or (resolver or _RESOLVER).find(place.host), allow_loopback)


async def vet_async(url: str, allow_loopback: bool, resolver: Resolver | None = None) -> Target:
    place = read_url(url, allow_loopback)
    return admit(place, _own(place) or await (resolver or _RESOLVER).find_async(place.host), allow_loopback)


def _own(place: Place) -> tuple[str, ...]:
    return (place.host,) if place.is_address else ()


@lru_cache(4_096)  # pure, and asked for the same few at every delivery
def read_url(url: str, allow_loopback: bool) -> Place:
    """Looks nothing up. Raises InvalidUrl. Each character is checked first: libraries drop some and then see
    another address than the one that was checked."""
    if len(url) > LONGEST_URL:
        raise InvalidUrl(url, f"has more than {LONGEST_URL:,} characters")
    if "\\" in url or not all(character.isprintable() and not character.isspace() for character in url):
        raise InvalidUrl(url, "has a space, a control character or a backslash")
    if (parts := _URL.fullmatch(url)) is None:
        raise InvalidUrl(url, "does not begin with https://")
    scheme, authority, path, fragment = parts[1].lower(), parts[2], parts[3], parts[4]
    if scheme == "http" and not allow_loopback:
        raise InvalidUrl(url, "is not encrypted")
    if "@" in authority:
        raise InvalidUrl(url, "has a user name or a password before the host")
    if fragment is not None:
        raise InvalidUrl(url, "has a fragment (#…), which is never sent")
    if (found := _AUTHORITY.fullmatch(authority)) is None:
        raise InvalidUrl(url, "has no host, or its port is not a number")
    port = int(found[3]) if found[3] else _PORTS[scheme]
    if not 1 <= port <= 65_535:
        raise InvalidUrl(url, "has a port outside 1 to 65535")
    host = _address_6(url, found[1]) if found[1] else _host(url, found[2])
    path = path if path.startswith("/") else f"/{path}"
    return Place(scheme, host, port, quote(path, safe="/?%:@!$&'()*+,;=~-._[]|"))


def _address_6(url: str, text: str) -> str:
    try:
        return str(IPv6Address(text))
    except ValueError:
        raise InvalidUrl(url, "has brackets around something that is not an IPv6 address") from None


def _host(url: str, text: str) -> str:
    """A name as it is looked up, or an IPv4 address; `0x7f.1` and `2130706433` are read as connecting would read
    them. What looks like digits to a person but is other characters is mapped first."""
    try:
        host = (text if text.isascii() else idna.encode(text, uts46=True).decode()).lower().removesuffix(".")
    except UnicodeError:
        raise InvalidUrl(url, "has a host that is not a valid international domain name") from None
    labels = host.split(".")
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise InvalidUrl(url, "has a host that is not a valid domain name")
    if not _NUMERAL.fullmatch(labels[-1]):
        return host
    try:
        return socket.inet_ntoa(socket.inet_aton(host))
    except OSError:
        raise InvalidUrl(url, "has a host that ends in a number but is not an IPv4 address") from None


def admit(place: Place, addresses: Sequence[str], allow_loopback: bool) -> Target:
    """One address that is not public spoils all: which one is used would be the name server's choice. Raises
    UnsafeAddress; with `allow_loopback` this machine is allowed, and no other exception is made."""
    if not addresses:
        raise UnresolvedHost(place.host, "it has no address")
    for address in addresses:
        kind = special(address)
        if kind is None and place.scheme == "http":
            raise UnsafeAddress(
                place.url, f"http is only allowed for loopback addresses, and the host resolves to {address}"
            )
        if kind is not None and not (allow_loopback and kind == "a loopback"):
            raise UnsafeAddress(place.url, f"the host resolves to {address}, {kind} address")
    return Target(place.scheme, place.host, place.port, place.path, tuple(addresses))
