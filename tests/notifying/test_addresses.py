"""Where a webhook may go: by what is written, and by where the name leads."""

import asyncio
import pickle
import socket
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.notifying.http.addresses import (
    InvalidUrl,
    Place,
    Resolver,
    UnresolvedHost,
    UnsafeAddress,
    read_url,
    vet,
    vet_async,
)
from tidings.notifying.http.special_addresses import special

PUBLIC = "93.184.216.34"


def resolver(*addresses: str) -> Resolver:
    return Resolver(lambda host: addresses)


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("https://example.org/hook", Place("https", "example.org", 443, "/hook")),
        ("HTTPS://Example.ORG", Place("https", "example.org", 443, "/")),
        ("https://example.org?a=b", Place("https", "example.org", 443, "/?a=b")),
        ("https://example.org.:8443/a?b=%20c", Place("https", "example.org", 8443, "/a?b=%20c")),
        ("https://bücher.example/ä", Place("https", "xn--bcher-kva.example", 443, "/%C3%A4")),
        ("https://faß.de/", Place("https", "xn--fa-hia.de", 443, "/")),  # not fass.de, which is somebody else
        ("https://a。b/", Place("https", "a.b", 443, "/")),
        ("https://[2606:4700:0:0::1111]:444/", Place("https", "2606:4700::1111", 444, "/")),
        ("https://0x5db8d822/", Place("https", PUBLIC, 443, "/")),
        ("https://hook_1.example.org/{x}", Place("https", "hook_1.example.org", 443, "/%7Bx%7D")),
    ],
)
def test_a_url_is_read(url: str, place: Place) -> None:
    assert read_url(url, allow_loopback=False) == place
    assert read_url(place.url, allow_loopback=False) == place


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://example.org/", "is not encrypted"),
        ("ftp://example.org/", "does not begin with https://"),
        ("file:///etc/passwd", "does not begin"),
        ("//example.org/", "does not begin"),
        ("https:/example.org/", "does not begin"),
        ("", "does not begin"),
        ("https://", "has no host"),
        ("https:///path", "has no host"),
        ("https://user@example.org/", "user name"),
        ("https://example.org:443@10.0.0.1/", "user name"),
        ("https://example.org/#part", "fragment"),
        ("https://example.org/#", "fragment"),
        ("https://example.org:0/", "port outside"),
        ("https://example.org:65536/", "port outside"),
        ("https://example.org:/", "port"),
        ("https://example.org:http/", "port"),
        ("https://example.org:١/", "port"),
        ("https://example.org/\r\nX-Injected: yes", "control character"),
        ("https://exa\tmple.org/", "control character"),
        (" https://example.org/", "space"),
        ("https://example.org/\x00", "control character"),
        ("https://example.org/\u202e", "control character"),
        ("https://example.org\\@10.0.0.1/", "backslash"),
        ("https://ex%61mple.org/", "not a valid domain name"),
        ("https://127.0.0.1%2f.example.org/", "not a valid domain name"),
        ("https://example..org/", "not a valid domain name"),
        ("https://example.org../", "not a valid domain name"),
        ("https://-a.example.org/", "not a valid domain name"),
        (f"https://{'a' * 64}.org/", "not a valid domain name"),
        ("https://1.2.3.256/", "not an IPv4 address"),
        ("https://1.2.3.4.5/", "not an IPv4 address"),
        ("https://example.0x/", "not an IPv4 address"),
        ("https://[::1%25eth0]/", "no host"),
        ("https://[::1/", "no host"),
        ("https://[1::2::3]/", "not an IPv6 address"),
        ("https://♥.example/", "not a valid international domain name"),
        (f"https://example.org/{'a' * 2_048}", "more than 2,048"),
    ],
)
def test_what_is_no_address_for_a_webhook(url: str, reason: str) -> None:
    with pytest.raises(InvalidUrl) as caught:
        vet(url, allow_loopback=False, resolver=resolver(PUBLIC))
    if "control" in reason or "space" in reason:
        reason = "has a space, a control character or a backslash"
    assert reason in str(caught.value)
    assert "allowed is https://host[:port]/path" in str(caught.value)
    assert pickle.loads(pickle.dumps(caught.value)).args == caught.value.args


UNSAFE = {
    "a loopback": "127.0.0.1 127.255.255.254 ::1 ::ffff:127.0.0.1 64:ff9b::7f00:1",
    "a private": "10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 fc00::1 fdff::1 ::ffff:10.0.0.1 64:ff9b::a00:1",
    "a link-local": "169.254.169.254 fe80::1 febf::1 ::ffff:169.254.169.254 64:ff9b::a9fe:a9fe fe80::1%eth0",
    "a carrier's shared": "100.64.0.1 100.127.255.255 ::ffff:100.64.0.1",
    "an unspecified": "0.0.0.0 0.1.2.3 :: ::ffff:0.0.0.0",
    "a multicast": "224.0.0.1 239.255.255.255 ff02::1 ff0e::1 ::ffff:224.0.0.1",
    "a reserved": "240.0.0.1 255.255.255.255 192.0.0.1 198.18.0.1 198.19.255.255 192.88.99.1 "
    "::7f00:1 ::808:808 64:ff9b:1::1 100::1 fec0::1 4000::1 5f00::1 2001:2::1 2001:10::1 2001:20::1 ::ffff:0:7f00:1",
    "a documentation": "192.0.2.1 198.51.100.1 203.0.113.1 2001:db8::1 3fff::1",
    "a 6to4": "2002:7f00:1:: 2002:a00:1::1 2002:808:808::",
    "a Teredo": "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "an unreadable": "localhost 1.2.3",
}


@pytest.mark.parametrize(("kind", "address"), [(kind, one) for kind, many in UNSAFE.items() for one in many.split()])
def test_an_address_that_is_not_public(kind: str, address: str) -> None:
    assert special(address) == kind
    with pytest.raises(
        UnsafeAddress, match=r"^webhooks cannot be sent to 'https://example\.org/': the host resolves to"
    ) as caught:
        vet("https://example.org/", allow_loopback=False, resolver=resolver(PUBLIC, address))
    assert caught.value.args == ("https://example.org/", f"the host resolves to {address}, {kind} address")
    assert pickle.loads(pickle.dumps(caught.value)).args == caught.value.args


@pytest.mark.parametrize(
    "address",
    [
        "1.1.1.1",
        "93.184.216.34",
        "172.15.255.255",
        "172.32.0.1",
        "100.63.255.255",
        "100.128.0.1",
        "11.0.0.1",
        "126.255.255.255",
        "128.0.0.1",
        "223.255.255.255",
        "2606:4700::1111",
        "2a00:1450:4001::1",
        "::ffff:8.8.8.8",
        "64:ff9b::808:808",
    ],
)
def test_a_public_address(address: str) -> None:
    assert special(address) is None
    assert vet("https://example.org/", False, resolver(address)).addresses == (address,)


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0x7F.0.0.0x1",
        "0177.1",
        "017700000001",
        "00000177.0.0.01",
        "127.0.0.1.",
        "①②⑦.0.0.1",
        "１２７．１",
        "127。0。0。1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[0:0:0:0:0:ffff:127.0.0.1]",
        "10.1",
        "0xa.1",
        "167772161",
        "0",
        "0.0.0.0",
        "0x0",
        "169.254.169.254",
        "0xa9fea9fe",
        "2852039166",
        "0251.0376.0251.0376",
        "[::]",
        "[64:ff9b::127.0.0.1]",
        "[2002:7f00:1::]",
        "[fe80::1]",
        "[fd00::1]",
    ],
)
def test_a_number_that_leads_inside_needs_no_name_server(host: str) -> None:
    def never(host: str) -> list[str]:
        raise AssertionError(f"{host} was looked up")

    with pytest.raises(UnsafeAddress):
        vet(f"https://{host}/", allow_loopback=False, resolver=Resolver(never))


def test_the_opt_in_admits_this_machine_alone() -> None:
    assert vet("http://127.0.0.1:8000/x", True).addresses == ("127.0.0.1",)
    assert vet("https://[::1]/", True).addresses == ("::1",)
    assert vet("http://localhost/", True, resolver("::1", "127.0.0.1")).addresses == ("::1", "127.0.0.1")
    assert vet("https://example.org/", True, resolver(PUBLIC)).addresses == (PUBLIC,)
    for url in ("http://10.0.0.1/", "https://10.0.0.1/", "http://169.254.169.254/", "http://0.0.0.0/", "https://[::]/"):
        with pytest.raises(UnsafeAddress):
            vet(url, True)
    with pytest.raises(UnsafeAddress, match="http is only allowed for loopback addresses"):
        vet("http://example.org/", True, resolver("127.0.0.1", PUBLIC))
    with pytest.raises(UnsafeAddress, match="a private address"):
        vet("http://example.org/", True, resolver("127.0.0.1", "192.168.0.1"))


@given(st.text(max_size=40), st.booleans())
def test_no_text_gets_a_line_end_or_a_space_through(text: str, allow_loopback: bool) -> None:
    try:
        place = read_url(f"https://{text}", allow_loopback)
    except InvalidUrl:
        return
    assert all(0x21 <= ord(character) < 0x7F for character in place.host + place.path)
    assert read_url(place.url, allow_loopback) == place


@given(st.ip_addresses())
def test_what_python_calls_private_or_multicast_is_refused(address: object) -> None:
    mapped = getattr(address, "ipv4_mapped", None)
    inner = mapped or address
    if inner.is_private or inner.is_multicast or inner.is_reserved or inner.is_link_local:  # type: ignore[attr-defined]
        assert str(address).startswith("64:ff9b::") or special(str(address)) is not None


def test_a_name_without_address() -> None:
    def unknown(host: str) -> list[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    for answers in (Resolver(unknown), resolver()):
        with pytest.raises(UnresolvedHost, match="check its spelling") as caught:
            vet("https://example.org/", False, answers)
        with pytest.raises(UnresolvedHost):
            asyncio.run(vet_async("https://example.org/", False, answers))
        assert pickle.loads(pickle.dumps(caught.value)).args == caught.value.args


def test_name_servers_that_do_not_answer_hold_up_nobody_else() -> None:
    let_go = threading.Event()

    def slow(host: str) -> list[str]:
        if host.startswith("slow"):
            let_go.wait(30)
        return [PUBLIC]

    names = Resolver(slow, seconds=0.2)

    async def many() -> list[object]:
        urls = [f"https://slow{n}.example.org/" for n in range(20)] + ["https://fast.example.org/"]
        return await asyncio.gather(*(vet_async(url, False, names) for url in urls), return_exceptions=True)

    try:
        *slow_ones, fast = asyncio.run(many())
        assert all(isinstance(one, UnresolvedHost) and "did not answer within 0.2 s" in str(one) for one in slow_ones)
        assert getattr(fast, "addresses", None) == (PUBLIC,)
        with pytest.raises(UnresolvedHost, match="did not answer"):
            vet("https://slow0.example.org/", False, names)
    finally:
        let_go.set()


def test_an_answer_serves_for_a_while_and_a_failure_does_not() -> None:
    asked: list[str] = []

    def failing_first(host: str) -> list[str]:
        asked.append(host)
        if len(asked) == 1:
            raise socket.gaierror(socket.EAI_AGAIN, "try again")
        return [PUBLIC]

    names = Resolver(failing_first, keep=1_000)
    with pytest.raises(UnresolvedHost):
        vet("https://example.org/", False, names)
    for _ in range(5):
        vet("https://example.org/", False, names)
        asyncio.run(vet_async("https://EXAMPLE.org/", False, names))
    assert asked == ["example.org", "example.org"]
    afresh = Resolver(lambda host: asked.append(host) or [PUBLIC], keep=0)  # type: ignore[func-returns-value]
    vet("https://a.example/", False, afresh)
    vet("https://a.example/", False, afresh)
    assert asked[2:] == ["a.example", "a.example"]


def test_the_system_knows_localhost() -> None:
    with pytest.raises(UnsafeAddress, match="a loopback address"):
        vet("https://localhost/", False)
    assert set(vet("http://localhost/", True).addresses) <= {"127.0.0.1", "::1"}
