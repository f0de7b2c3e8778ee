"""A page that is asked for again and again."""

from __future__ import annotations

import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from urllib.request import getproxies

import httpx

from tidings.feeds.errors import SourceUnreachable
from tidings.feeds.records.records import LARGEST
from tidings.feeds.sources.content import Content
from tidings.notifying.http.special_addresses import special

_TIMEOUT = 30.0  # seconds without a byte
_DEADLINE = 300.0  # seconds for a whole page
_MOST_REDIRECTS = 5
_GZIP = 31  # zlib's number for it
_IF = {"etag": "if-none-match", "last-modified": "if-modified-since"}


def addresses(host: str) -> list[str]:
    """Raises OSError."""
    return [str(found[4][0]) for found in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]


class UrlSource:
    """Asks only for what changed, where the site can tell (ETag, Last-Modified).

    A page from outside cannot send us on into our own network, and what is packed is unpacked piece by piece, no
    farther than `largest`: httpx would unpack a piece whole, and several times over."""

    def __init__(
        self,
        url: str,
        largest: int = LARGEST,
        resolve: Callable[[str], Sequence[str]] = addresses,
        inside: Callable[[str], str | None] = special,  # the kind of an address that is not a public one
    ) -> None:
        self.url = url
        self._largest = largest
        self._resolve = resolve
        self._inside = inside
        is_local = host_of(url) in ("127.0.0.1", "localhost", "::1")
        self._dials = is_local or not getproxies()  # else the proxy looks up names and dials
        self._http = httpx.Client(
            timeout=_TIMEOUT,
            follow_redirects=False,  # each is looked at first
            headers={"user-agent": "tidings-feed", "accept": "*/*", "accept-encoding": "gzip"},
            trust_env=not is_local,
        )
        self._known: dict[str, str] = {}
        self._offered: dict[str, str] = {}

    def look(self, stop: threading.Event | None = None) -> Iterator[Content]:
        self._http.cookies.clear()  # a site must not fill our memory with them
        try:
            content = self._got(stop)
        except (httpx.HTTPError, httpx.InvalidURL, OSError, UnicodeError) as problem:  # the last: no name of a host
            raise SourceUnreachable(self.url, str(problem) or type(problem).__name__) from None
        if content is not None:
            yield content

    def _got(self, stop: threading.Event | None) -> Content | None:
        """None: it has not changed, or it is time to stop."""
        url, headers = httpx.URL(self.url), dict(self._known)
        vetted = {url.host: self._resolve(url.host)} if self._dials else {}
        for _ in range(_MOST_REDIRECTS + 1):
            answer = self._sent(url, headers, vetted.get(url.host, ()))
            try:
                if not answer.has_redirect_location:
                    return self._read(answer, stop)
                url, headers = url.join(answer.headers["location"]), {}
            finally:
                answer.close()
            if url.scheme not in ("http", "https"):
                raise SourceUnreachable(self.url, f"it redirects to another protocol, {url.scheme[:20]!r}")
            if url.host not in vetted and self._dials:
                vetted[url.host] = self._vetted(url.host, vetted[httpx.URL(self.url).host])
        raise SourceUnreachable(self.url, f"it redirects more than {_MOST_REDIRECTS} times")

    def _sent(self, url: httpx.URL, headers: dict[str, str], addresses: Sequence[str]) -> httpx.Response:
        """Dials these addresses alone, one after the other: a name that is looked up again may lead elsewhere (DNS
        rebinding). Without any, a proxy dials."""
        request = self._http.build_request("GET", url, headers=headers)
        if not addresses:
            return self._http.send(request, stream=True)
        request.extensions["sni_hostname"] = url.host  # by which the certificate is checked, too
        for left in range(len(addresses) - 1, -1, -1):
            request.url = url.copy_with(host=addresses[len(addresses) - 1 - left])
            try:
                return self._http.send(request, stream=True)
            except httpx.ConnectError:
                if not left:
                    raise
        raise AssertionError

    def _vetted(self, host: str, first: Sequence[str]) -> Sequence[str]:
        """The addresses of a host that the page sends on to; who asks inside may be sent on inside."""
        found = self._resolve(host)
        for one in found if not any(map(self._inside, first)) else ():
            if kind := self._inside(one):
                advice = "if you want that page, put its URL in the mapping"
                raise SourceUnreachable(self.url, f"it redirects to {host!r}, {kind} address ({one}); {advice}")
        return found

    def _read(self, answer: httpx.Response, stop: threading.Event | None) -> Content | None:
        if answer.status_code == httpx.codes.NOT_MODIFIED:
            return None
        if answer.status_code != httpx.codes.OK:
            raise SourceUnreachable(self.url, f"it answered {answer.status_code} {answer.reason_phrase}")
        pieces, size = [], 0
        for piece in self._unpacked(answer, stop):
            size += len(piece)
            if size > self._largest:
                raise SourceUnreachable(
                    self.url, f"it has more than {self._largest:,} bytes; download it and read the file instead"
                )
            pieces.append(piece)
        if stop is not None and stop.is_set():
            return None
        self._offered = {said: answer.headers[name] for name, said in _IF.items() if name in answer.headers}
        return Content(self.url, b"".join(pieces), answer.charset_encoding or "")

    def _unpacked(self, answer: httpx.Response, stop: threading.Event | None) -> Iterator[bytes]:
        packing = answer.headers.get("content-encoding", "").strip().lower()
        if packing not in ("", "identity", "gzip", "x-gzip"):
            raise SourceUnreachable(self.url, f"it is compressed as {packing[:60]!r}; only gzip is supported")
        end = time.monotonic() + _DEADLINE
        unpacking = zlib.decompressobj(wbits=_GZIP) if "gzip" in packing else None
        for piece in answer.iter_raw():
            if stop is not None and stop.is_set():
                return
            if time.monotonic() > end:
                raise SourceUnreachable(self.url, f"it was not complete after {_DEADLINE:g} seconds")
            if unpacking is None:
                yield piece
                continue
            while piece:
                unpacking = zlib.decompressobj(wbits=_GZIP) if unpacking.eof else unpacking  # it may have several parts
                try:
                    yield unpacking.decompress(piece, self._largest + 1)  # what is left over is then too much
                except zlib.error:
                    raise SourceUnreachable(self.url, "the response is not gzip, although its header says so") from None
                piece = unpacking.unused_data
        if unpacking is not None and not unpacking.eof:
            raise SourceUnreachable(self.url, "the response is cut off")

    def done(self, content: Content) -> None:
        self._known = self._offered

    def again(self, place: str) -> None:
        self._known = {}

    def kept(self, without: set[str]) -> dict[str, Any]:
        return {} if self.url in without else dict(self._known)

    def restore(self, kept: dict[str, Any]) -> None:
        self._known = {name: str(kept[name]) for name in _IF.values() if name in kept}

    def close(self) -> None:
        self._http.close()


def host_of(url: str) -> str:
    """Raises SourceUnreachable where that is no name of a host, such as `a..b`."""
    try:
        read = httpx.URL(url)
        read.raw_host.decode("ascii").encode("idna")  # as it is before it is looked up
        return read.host
    except (httpx.InvalidURL, ValueError) as problem:
        raise SourceUnreachable(url, f"this is not a valid URL: {problem}") from None
