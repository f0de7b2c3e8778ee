"""What a hostile or broken peer may try: it is refused or let go, and others are served meanwhile."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.service.xml_served import CAR, Client, Served, served
from tidings.service.xml.framing import DEEPEST

HOSTILE = {
    "entity bomb": (
        '<!DOCTYPE LIST_SUBS [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">'
        '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]><LIST_SUBS token="&c;"/>'
    ),
    "external entity": '<!DOCTYPE LIST_SUBS [<!ENTITY a SYSTEM "file:///etc/passwd">]><LIST_SUBS>&a;</LIST_SUBS>',
    "parameter entity": '<!DOCTYPE LIST_SUBS [<!ENTITY % a SYSTEM "http://127.0.0.1:1/x"> %a;]><LIST_SUBS/>',
    "internal subset": "<!DOCTYPE LIST_SUBS [<!ELEMENT LIST_SUBS ANY>]><LIST_SUBS/>",
    "empty internal subset": '<!DOCTYPE LIST_SUBS SYSTEM "list_subs.dtd" []><LIST_SUBS/>',
    "entity of an external file": '<!DOCTYPE LIST_SUBS SYSTEM "file:///etc/passwd"><LIST_SUBS token="&a;"/>',
    "unknown entity": "<LIST_SUBS>&a;</LIST_SUBS>",
    "deep nesting": "<A>" * 10_000,
    "barely too deep": "<A>" * (DEEPEST + 1) + "</A>" * (DEEPEST + 1),
    "many attributes": "<A " + " ".join(f'a{number}=""' for number in range(10_000)) + "/>",
    "the same attribute twice": '<LIST_SUBS token="a" token="b"/>',
    "no XML": "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a zero byte": "<LIST_SUBS token='\0'/>",
    "UTF-16": "\ufeff<LIST_SUBS/>",
    "another encoding": '<?xml version="1.0" encoding="cp037"?><LIST_SUBS/>',
    "no UTF-8": b'<LIST_SUBS token="\xff\xfe"/>',
}


@pytest.fixture
def url(tmp_path: Path) -> str:
    return str(tmp_path / "tidings.db")


@pytest.fixture
def daemon(url: str) -> Iterator[Served]:
    with served(url, idle_seconds=2.0) as running:
        yield running


@pytest.fixture
def others(daemon: Served) -> Callable[[], None]:
    """Asserts that somebody else is served now."""
    token = daemon.join("bystander")
    client = daemon.client()
    assert client.ask(f'<LIST_SUBS token="{token}"/>').tag == "USER_LOG"  # or it would be let go soon

    def are_served() -> None:
        assert client.ask(CAR.format(token=token, more="")).tag == "OK"
        with Client(daemon.port) as another:
            assert another.ask(f'<LIST_SUBS token="{token}"/>').tag == "USER_LOG"

    return are_served


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_documents(daemon: Served, others: Callable[[], None], kind: str) -> None:
    text = HOSTILE[kind]
    attacker = daemon.client()
    attacker.send(text.encode("utf-16") if kind == "UTF-16" else text)
    answer = attacker.answer()
    assert answer.tag == "ERROR"
    assert answer.get("name") == "MalformedRequest"
    assert "root:" not in (answer.text or "")
    assert attacker.answer() is None
    others()


def test_a_body_of_100_megabytes(daemon: Served, others: Callable[[], None]) -> None:
    attacker = daemon.client()
    sent = 0

    def send() -> None:
        nonlocal sent
        piece = b"x" * (1 << 20)
        try:
            attacker.send(b"<PUBLISH_EVENT><ATTRIBUTES><ATTR>")
            for _ in range(100):
                attacker.send(piece)
                sent += len(piece)
        except OSError:
            pass

    sender = threading.Thread(target=send)
    sender.start()
    try:
        answer = attacker.answer()
        assert answer is None or answer.get("name") == "RequestTooLarge"
        others()
    finally:
        sender.join(60)
    assert not sender.is_alive()
    others()


def test_the_largest_event_is_taken(daemon: Served) -> None:
    token = daemon.join("ann")
    client = daemon.client()
    event = CAR.format(token=token, more="").replace(
        "</ATTRIBUTES>", '<ATTR type="paint">' + "x" * 200_000 + "</ATTR></ATTRIBUTES>"
    )
    client.send(event + CAR.format(token=token, more=' id="next"'))
    assert client.answer().tag == "OK"
    assert client.answer().get("id") == "next"
    too_large = event.replace("xxx", "x" * 1000, 100)
    client.send(too_large)
    assert client.answer().get("name") == "RequestTooLarge"


def test_an_attribute_has_only_so_many_values(url: str) -> None:
    with served(url, values_per_attribute=2) as daemon:
        token, client = daemon.join("ann"), daemon.client()
        for count, tag in ((2, "OK"), (3, "ERROR")):
            paints = "".join(f'<ATTR type="paint">{number}</ATTR>' for number in range(count))
            event = CAR.format(token=token, more="").replace("</ATTRIBUTES>", paints + "</ATTRIBUTES>")
            answer = client.ask(event)
            assert answer.tag == tag
        assert "at most 2 are allowed" in "".join(answer.itertext())


@pytest.mark.parametrize("begun", ["<LIST_SUBS ", "<!-- ", "<LIST_SUBS token='", "<A><A>", "<"])
def test_a_slow_writer_is_let_go(daemon: Served, others: Callable[[], None], begun: str) -> None:
    """It sends now and then, so it is never silent for long; still the request must be whole in time."""
    attacker = daemon.client()
    attacker.send(begun)
    answer = []
    reader = threading.Thread(target=lambda: answer.append(attacker.answer()))
    reader.start()
    dribble = "x" if begun != "<A><A>" else "<B/>"
    while reader.is_alive():
        try:
            attacker.send(dribble)
        except OSError:
            break
        others()
        time.sleep(0.05)
    reader.join(120)
    assert not reader.is_alive()
    assert answer[0].get("name") == "SlowPeer"
    assert attacker.answer() is None


def test_half_open_sockets_are_let_go(url: str) -> None:
    with served(url, idle_seconds=0.5, connections=8) as daemon:
        token = daemon.join("ann")
        halves = [daemon.client() for _ in range(8)]
        for half in halves:
            half.send("<LIST_SUBS")
        turned = daemon.client()
        assert turned.answer().get("name") == "TooManyConnections"
        assert turned.answer() is None
        for half in halves:
            assert half.answer().get("name") == "SlowPeer"
            assert half.answer() is None
        served_again(daemon, token)


def test_silent_connections_are_let_go(url: str) -> None:
    with served(url, idle_seconds=0.1, connections=4) as daemon:
        token = daemon.join("ann")
        silent = [daemon.client() for _ in range(4)]
        assert silent[0].ask(f'<LIST_SUBS token="{token}"/>').tag == "USER_LOG"
        for one in silent:
            assert one.answer() is None
        served_again(daemon, token)


def test_whoever_never_asked_anything_valid_is_let_go_first(url: str) -> None:
    with served(url, idle_seconds=0.5) as daemon:
        token = daemon.join("ann")
        known, unknown, wrong = (daemon.client() for _ in range(3))
        assert known.ask(f'<LIST_SUBS token="{token}"/>').tag == "USER_LOG"
        assert wrong.ask('<LIST_SUBS token="no"/>').tag == "ERROR"
        for one in (unknown, wrong):
            assert one.answer() is None
        assert known.ask(f'<LIST_SUBS token="{token}"/>').tag == "USER_LOG"


def served_again(daemon: Served, token: str) -> None:
    """As soon as the daemon has noticed that the others are gone."""
    while True:
        with Client(daemon.port) as client:
            answer = client.ask(f'<LIST_SUBS token="{token}"/>')
        if answer.get("name") != "TooManyConnections":
            assert answer.tag == "USER_LOG"
            return
        time.sleep(0.05)


def test_a_client_that_never_reads_is_let_go(daemon: Served, others: Callable[[], None]) -> None:
    token = daemon.join("ann")
    reader = daemon.client()
    for _ in range(20):
        filter = " or ".join(f"title contains '{'x' * 100}{number}'" for number in range(100))
        posted = reader.ask(f'<PUBLISH_SUB username="ann" token="{token}"><FILTER>{filter}</FILTER></PUBLISH_SUB>')
        assert posted.tag == "OK"
    attacker = socket.socket()
    attacker.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    attacker.connect(("127.0.0.1", daemon.port))
    attacker.settimeout(30)

    def flood() -> None:
        while True:  # until the daemon reads no more, and then lets go
            attacker.sendall(f'<LIST_SUBS token="{token}"/>'.encode() * 100)

    with pytest.raises((ConnectionResetError, BrokenPipeError)), attacker:
        flood()
    others()


def test_a_peer_that_vanishes_leaves_nothing_behind(daemon: Served, others: Callable[[], None]) -> None:
    token = daemon.join("ann")
    before = daemon.store.tail()
    client = Client(daemon.port)
    client.send("".join(CAR.format(token=token, more=f' id="v{number}"') for number in range(500)))
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # close by a reset
    client.close()
    others()
    deadline = time.monotonic() + 30
    while len(daemon.daemon._connections) > 1 and time.monotonic() < deadline:
        time.sleep(0.02)
    assert len(daemon.daemon._connections) == 1  # the bystander's
    assert daemon.store.tail() >= before


def test_what_is_cut_off_is_told(daemon: Served) -> None:
    client = daemon.client()
    client.send("<LIST_SUBS><")
    client.socket.shutdown(socket.SHUT_WR)
    assert client.answer().get("name") == "MalformedRequest"
    assert client.answer() is None


def test_answers_after_the_peer_has_said_all(daemon: Served) -> None:
    token = daemon.join("ann")
    client = daemon.client()
    client.send("".join(CAR.format(token=token, more=f' id="h{number}"') for number in range(50)))
    client.socket.shutdown(socket.SHUT_WR)
    assert [client.answer().get("id") for _ in range(50)] == [f"h{number}" for number in range(50)]
    assert client.answer() is None


def test_too_many_requests(url: str) -> None:
    with served(url, guest_requests_per_second=1, requests_per_second=50) as daemon:
        guests = [daemon.client() for _ in range(6)]
        for guest in guests:
            guest.send('<LIST_SUBS token="tid_guess"/>')  # whoever has no token counts by address
        told = [guest.answer().get("name") for guest in guests]
        assert set(told) == {"UnknownToken", "TooManyRequests"}
        token = daemon.join("ann")
        client = daemon.client()
        client.send(f'<LIST_SUBS token="{token}"/>' * 80)  # a few too many are only slowed down
        assert [client.answer().tag for _ in range(80)] == ["USER_LOG"] * 80


def test_unfinished_requests_of_one_address_are_bytes_in_flight(url: str) -> None:
    """A thousand connections without a token held 256 KiB each."""
    partial = '<PUBLISH_EVENT contact="' + "x" * 100_000
    with served(url, bytes_in_flight=4 << 20) as daemon:  # of which a stranger's address may have 1/16
        token = daemon.join("ann")
        known = daemon.client()
        assert known.ask(f'<LIST_SUBS token="{token}"/>').tag == "USER_LOG"
        strangers = [daemon.client() for _ in range(4)]
        for stranger in strangers:
            stranger.send(partial)
        refused = [one for one in strangers if heard(one) == "UnfinishedRequests"]
        assert len(refused) == 2
        assert [one.answer() for one in refused] == [None, None]
        assert known.ask(f'<LIST_SUBS token="{token}"/>').tag == "USER_LOG"
        for stranger in strangers:
            stranger.close()
        served_again(daemon, token)
        assert daemon.client().ask(partial + '"/>').get("name") != "UnfinishedRequests"


def heard(client: Client) -> str:
    """The name of the error that comes within half a second; '' where none does."""
    client.socket.settimeout(0.5)
    try:
        return str(client.answer().get("name"))
    except TimeoutError:
        return ""
