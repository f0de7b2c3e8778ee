"""Pages, also of sites that mean harm."""

import socket
import threading
from collections.abc import Sequence
from contextlib import suppress

import pytest

from tests.feeds.conftest import Site
from tidings.feeds import SourceUnreachable
from tidings.feeds.sources.url_source import UrlSource
from tidings.notifying.http.special_addresses import special


def body(source: UrlSource) -> bytes:
    (content,) = source.look()
    source.close()
    return content.body


def test_a_packed_page_is_unpacked(site: Site) -> None:
    site.pages["/"] = b"a page " * 1_000
    for packing in ("gzip", "x-gzip", "identity"):
        site.headers = {"Content-Encoding": packing}
        assert body(UrlSource(f"{site.url}/")) == site.pages["/"]


@pytest.mark.parametrize(
    ("packing", "said"),
    [
        ("gzip", "more than 100,000 bytes"),
        ("gzip, gzip", "compressed as 'gzip, gzip'"),  # unpacked twice, a thousandth of it would be too much
        ("br", "compressed as 'br'"),
        ("identity", "more than 100,000 bytes"),
    ],
)
def test_a_page_without_end_is_not_read_to_its_end(site: Site, packing: str, said: str) -> None:
    site.pages["/"] = b"x" * 2_000_000
    site.headers = {"Content-Encoding": packing}
    with pytest.raises(SourceUnreachable, match=said):
        body(UrlSource(f"{site.url}/", largest=100_000))


def test_a_packed_page_that_is_none(site: Site) -> None:
    site.pages["/"] = b"x" * 1_000
    site.headers = {"Content-Encoding": "gzip"}
    site.cut = 20
    with pytest.raises(SourceUnreachable, match="is cut off"):
        body(UrlSource(f"{site.url}/"))
    site.headers = {"Content-Encoding": "x-gzi"}
    with pytest.raises(SourceUnreachable, match="only gzip is supported"):
        body(UrlSource(f"{site.url}/"))


def moved(site: Site, place: str) -> None:
    site.pages["/"], site.status = b"moved", 302
    site.headers = {"Location": place}


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("file:///etc/passwd", "protocol"),
        ("ftp://127.0.0.1/", "protocol"),
        ("/", "more than 5 times"),
        ("http://a\x7fb/", "(?i)invalid"),
        ("http://[::1", "(?i)invalid"),
        ("http://a..b/", "label empty"),
        (f"http://{'a' * 64}.example/", "too long"),
        ("http://xn--/", "A-label"),
    ],
)
def test_a_page_that_sends_nowhere(site: Site, place: str, said: str) -> None:
    moved(site, place)
    with pytest.raises(SourceUnreachable, match=said):
        body(UrlSource(f"{site.url}/"))


def test_a_page_from_outside_cannot_send_us_inside(site: Site) -> None:
    def resolve(host: str) -> Sequence[str]:
        return {"inside": ["10.0.0.7"], "both": ["192.0.78.9", "::1"]}.get(host, [host])

    for host, said in [
        ("127.0.0.2", "a loopback"),
        ("inside", r"'inside', a private address \(10\.0\.0\.7\)"),
        ("both", "a loopback"),
        ("169.254.169.254", "a link-local"),
    ]:
        moved(site, f"http://{host}:{site.port}/")
        with pytest.raises(SourceUnreachable, match=said):
            body(UrlSource(f"{site.url}/", resolve=resolve, inside=far_away))
    assert {path for path, _ in site.asked} == {"/"}
    assert len(site.asked) == 4  # nobody was asked but the site itself


def far_away(address: str) -> str | None:
    """As if the site itself had a public address."""
    return None if address == "127.0.0.1" else special(address)


def test_only_the_address_that_was_vetted_is_dialled(site: Site) -> None:
    asked = []

    def resolve(host: str) -> Sequence[str]:  # no name server knows this name, and a second answer would differ
        asked.append(host)
        return ["127.0.0.1"] if asked.count(host) == 1 else ["127.0.0.2"]

    moved(site, f"http://rebinding.example:{site.port}/other")
    with pytest.raises(SourceUnreachable, match="404"):
        body(UrlSource(f"{site.url}/", resolve=resolve, inside=far_away))
    assert asked == ["127.0.0.1", "rebinding.example"]
    assert [path for path, _ in site.asked] == ["/", "/other"]


def test_the_next_address_is_dialled_when_one_does_not_answer(site: Site) -> None:
    moved(site, f"http://several.example:{site.port}/other")
    known = {"several.example": ["127.0.0.2", "127.0.0.1"]}
    with pytest.raises(SourceUnreachable, match="404"):
        body(UrlSource(f"{site.url}/", resolve=lambda host: known.get(host, [host])))
    assert [path for path, _ in site.asked] == ["/", "/other"]


def test_inside_a_page_may_send_elsewhere_inside(site: Site) -> None:
    moved(site, f"http://localhost:{site.port}/other")
    source = UrlSource(f"{site.url}/")
    with pytest.raises(SourceUnreachable, match="404"):
        body(source)
    assert [path for path, _ in site.asked] == ["/", "/other"]


@pytest.mark.parametrize(
    "url", ["http://[::1", "http://a\x00b/", "http://xn--/", "http://ex\u202eample/", "http://a..b/"]
)
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(SourceUnreachable, match="not a valid URL"):
        UrlSource(url)


def test_a_slow_page_does_not_hold_up_the_end() -> None:
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def dribble() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(10_000)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nx")
                stop.set()
                with suppress(ConnectionError):  # the other side may have had enough already
                    connection.sendall(b"y")
                    connection.recv(1)

        thread = threading.Thread(target=dribble)
        thread.start()
        source = UrlSource(f"http://127.0.0.1:{server.getsockname()[1]}/")
        assert list(source.look(stop)) == []
        source.close()
        thread.join(120)
    assert not thread.is_alive()
