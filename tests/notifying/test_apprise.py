"""The Apprise channel against a real HTTP receiver on loopback, by Apprise's own plugin for JSON.

`json://` speaks plain HTTP to any host: only these settings allow it, and only these tests allow loopback."""

from __future__ import annotations

import asyncio
import json
import logging
import pickle
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.notifying.smtp_sink import self_made_certificate, server_side
from tidings.errors import ChannelError
from tidings.notifying.channels.apprise_channel import (
    AppriseChannel,
    InvalidAppriseUrl,
    SchemeNotAllowed,
    UnknownAppriseMember,
)
from tidings.notifying.delivery import Attempt, OutgoingDelivery, Owed
from tidings.schema import Instant
from tidings.settings import Settings

NOW = Instant.parse("2026-05-01T10:00:00Z")
JSON = Settings(apprise_schemes=("json",))
DEFAULT = Settings()
TELEGRAM = "tgram://123456789:AbCdefghijklmnopqrstuvwxyz-012345678/12315544/"
SLACK = "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/"


@dataclass
class Receiver:
    """Takes POSTs. `answer` is what it says; 'hang' says nothing, 'drip' a little more for ever, 'reset' hangs up."""

    answer: str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
    got: list[tuple[str, Any]] = field(default_factory=list)
    connections: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            length = next(int(line[15:]) for line in head.splitlines() if line.lower().startswith("content-length:"))
            self.got.append((head.split(" ")[1], json.loads(await reader.readexactly(length))))
            if self.answer == "hang":
                await reader.read()
            elif self.answer == "drip":
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
                while not reader.at_eof():
                    writer.write(b"x")
                    await writer.drain()
                    await asyncio.sleep(0.05)
            elif self.answer != "reset":
                writer.write(self.answer.encode())
                await writer.drain()
        except (ConnectionError, ssl.SSLError, asyncio.IncompleteReadError):
            pass  # the client hung up, as a client may
        finally:
            writer.close()


@asynccontextmanager
async def listening(receiver: Receiver, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    server = await asyncio.start_server(receiver.serve, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await asyncio.sleep(0)


def delivery(*values: str) -> OutgoingDelivery:
    owed = tuple(
        Owed(f"{n}.s1", n, {"id": f"e{n}", "event_type": ["car"], "attributes": {"brand": value}}, NOW)
        for n, value in enumerate(values or ("mini",), 1)
    )
    return OutgoingDelivery("1.s1", "s1", "ann", "price < 1300", owed)


def sent(
    receiver: Receiver,
    one: OutgoingDelivery | None = None,
    *,
    url: str = "json://127.0.0.1:{port}/secretpath",
    allow_loopback: bool = True,
    seconds: float = 15.0,
    settings: Settings = JSON,
    tls: ssl.SSLContext | None = None,
) -> Attempt:
    async def main() -> Attempt:
        async with listening(receiver, tls) as port:
            channel = AppriseChannel(settings, allow_loopback=allow_loopback, seconds=seconds)
            attempt = await channel.send(one or delivery(), {"kind": "apprise", "url": url.format(port=port)}, NOW)
            await asyncio.to_thread(channel.close)  # returns only when every thread has come to its end
            return attempt

    return asyncio.run(main())


def test_a_delivery_arrives_with_title_and_text() -> None:
    receiver = Receiver()
    attempt = sent(receiver)
    assert (attempt.ok, attempt.problem, attempt.gone) == (True, "", False)
    ((path, body),) = receiver.got
    assert path.startswith("/secretpath")
    assert body["title"] == "Tidings: car for s1"
    assert "    brand: mini\n" in body["message"]
    assert "nsubscribe" not in body["message"]


def test_a_digest_is_one_message() -> None:
    receiver = Receiver()
    assert sent(receiver, delivery("mini", "opel", "audi")).ok
    ((_, body),) = receiver.got
    assert body["title"] == "Tidings: 3 notifications for s1"
    assert all(f"brand: {brand}" in body["message"] for brand in ("mini", "opel", "audi"))


def test_what_is_kept_shows_scheme_and_host_alone() -> None:
    url = "json://me:password1@127.0.0.1:{port}/secretpath?+X-Token=tokentoken"
    for answer in (
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 500 secretpath\r\nContent-Length: 0\r\n\r\n",
    ):
        attempt = sent(Receiver(answer), url=url)
        assert attempt.request == "Apprise json://127.0.0.1"
        assert not [secret for secret in ("password1", "secretpath", "tokentoken") if secret in str(attempt)]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", "error=500"),
        ("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n", "error=403"),
        ("reset", "Connection error"),
        ("this is no HTTP\r\n\r\n", "Connection error"),
    ],
)
def test_a_failure_has_apprise_s_own_words(answer: str, said: str) -> None:
    receiver = Receiver(answer)
    attempt = sent(receiver)
    assert not attempt.ok
    assert said in attempt.problem
    assert len(receiver.got) == 1


def test_a_redirect_is_not_followed() -> None:
    receiver = Receiver("HTTP/1.1 307 There\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n")
    attempt = sent(receiver)
    assert "error=307" in attempt.problem
    assert [path for path, _ in receiver.got if "elsewhere" in path] == []
    assert len(receiver.got) == 1


@pytest.mark.parametrize("answer", ["hang", "drip"])
def test_a_receiver_that_never_ends_is_cut_and_its_thread_comes_free(answer: str) -> None:
    attempt = sent(Receiver(answer), seconds=0.5)
    assert attempt.problem == "no answer within 0.5 s"


def test_with_encryption_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tls = server_side(self_made_certificate(tmp_path))
    settings = Settings(apprise_schemes=("jsons",))
    url = "jsons://localhost:{port}/"
    unknown = Receiver()
    assert "Connection error" in sent(unknown, url=url, settings=settings, tls=tls).problem
    assert unknown.got == []
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "certificate.pem"))
    assert sent(Receiver(), url=url, settings=settings, tls=tls).ok
    attempt = sent(Receiver("drip"), url=url, settings=settings, tls=tls, seconds=1.0)
    assert attempt.problem == "no answer within 1 s"


def test_one_that_hangs_does_not_hold_up_another() -> None:
    async def main() -> tuple[Attempt, Attempt]:
        slow, quick = Receiver("hang"), Receiver()
        async with listening(slow) as first, listening(quick) as second:
            channel = AppriseChannel(JSON, allow_loopback=True, threads=2, seconds=2.0)
            hanging = asyncio.create_task(channel.send(delivery(), {"url": f"json://127.0.0.1:{first}"}, NOW))
            other = await channel.send(delivery(), {"url": f"json://127.0.0.1:{second}"}, NOW)
            assert not hanging.done()
            late = await hanging
            await asyncio.to_thread(channel.close)
            return late, other

    late, other = asyncio.run(main())
    assert (late.ok, other.ok) == (False, True)


# ── where it may go


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0.0.0.0", "2130706433"])
def test_this_machine_is_out_of_reach_unless_allowed(host: str) -> None:
    receiver = Receiver()
    attempt = sent(receiver, url=f"json://{host}:{{port}}/", allow_loopback=False)
    assert not attempt.ok
    assert "address, where nothing is sent" in attempt.problem
    assert receiver.connections == 0


@pytest.mark.parametrize("host", ["10.0.0.1", "169.254.169.254", "192.168.0.1", "100.64.0.1"])
def test_loopback_is_all_that_is_allowed_for_development(host: str) -> None:
    attempt = sent(Receiver(), url=f"json://{host}/", allow_loopback=True)
    assert "address, where nothing is sent" in attempt.problem


def test_the_guard_is_for_apprise_alone() -> None:
    receiver = Receiver()
    sent(receiver, allow_loopback=False)
    assert receiver.connections == 0

    async def plain() -> None:
        async with listening(receiver) as port:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            await asyncio.sleep(0.01)

    asyncio.run(plain())
    assert receiver.connections == 1


# ── which URLs are taken


@pytest.mark.parametrize(
    "url",
    [
        TELEGRAM,
        SLACK,
        "discord://4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js",
        "ntfys://ntfy.example.org/topic",
        "ntfys://topic",
        "matrixs://user:password@matrix.example.org/#room",
        "pover://u" + "s" * 29 + "@a" + "t" * 29,
        "workflows://example.logic.azure.com:443/workflowid/signature/",
    ],
)
def test_the_default_takes_a_careful_few(url: str) -> None:
    channel = AppriseChannel(DEFAULT)
    assert channel.check({"url": f" {url} ", "rate": {"count": 1, "seconds": 1}}) == {
        "kind": "apprise",
        "url": url,
        "rate": {"count": 1, "seconds": 1},
    }


@pytest.mark.parametrize(
    "url",
    [
        *(
            "json://example.org",
            "jsons://example.org",
            "xml://example.org",
            "ntfy://example.org/topic",
            "matrix://a@b.org",
        ),
        *(
            "syslog://",
            "dbus://",
            "gnome://",
            "macosx://",
            "windows://",
            "mailto://a:b@example.org",
            "mqtt://example.org",
        ),
        *("file:///etc/passwd", "http://example.org", "https://hooks.slack.com/services/T1/A1/x", "form://example.org"),
        *("", "nothing", "://", "slack:/x", "slack", "  ", "apprise://example.org/token"),
    ],
)
def test_every_other_scheme_is_refused(url: str) -> None:
    with pytest.raises(SchemeNotAllowed, match="valid schemes: ntfys, slack"):
        AppriseChannel(DEFAULT).check({"url": url})


@pytest.mark.parametrize(
    "option",
    [
        *("template=/etc/passwd", "TEMPLATE=/etc/passwd", "%74emplate=/etc/passwd", "template=file:///etc/passwd"),
        *("verify=no", "redirect=yes", "rto=1000", "cto=1000", "retry=5", "store=yes", "wait=100", "optional=yes"),
    ],
)
def test_options_that_read_files_or_weaken_the_connection_are_refused(option: str) -> None:
    name = option.partition("=")[0].lower().replace("%74", "t")
    with pytest.raises(InvalidAppriseUrl, match=f"URL slack://… cannot have the option '{name}' here"):
        AppriseChannel(DEFAULT).check({"url": f"{SLACK}?{option}"})


def test_wrong_parts_are_refused_without_showing_them() -> None:
    for url in (
        "slack://T1JJ3T3L2/wrongtoken",
        "tgram://topsecrettoken/",
        "discord://",
        "ntfys://a.example/b?mode=topsecret",
    ):
        with pytest.raises(InvalidAppriseUrl) as refused:
            AppriseChannel(DEFAULT).check({"url": url})
        assert "wrongtoken" not in str(refused.value)
        assert "topsecret" not in str(refused.value)


@pytest.mark.parametrize("url", [None, 7, "x" * 3_000, "slack://a\r\nb", "slack://a\0", "ntfys\u200b://x.org/t"])
def test_what_is_no_line_of_text_is_refused(url: object) -> None:
    with pytest.raises(InvalidAppriseUrl, match="one line of at most 2,000 characters"):
        AppriseChannel(DEFAULT).check({"url": url})


def test_unknown_members_are_refused() -> None:
    with pytest.raises(UnknownAppriseMember, match=r"no member 'ulr'; did you mean 'url'\?"):
        AppriseChannel(DEFAULT).check({"ulr": SLACK})


def test_no_scheme_at_all_says_so() -> None:
    with pytest.raises(SchemeNotAllowed, match="operator can set apprise_schemes"):
        AppriseChannel(Settings(apprise_schemes=())).check({"url": SLACK})


def test_a_scheme_taken_back_later_is_a_failed_attempt() -> None:
    receiver = Receiver()
    attempt = sent(receiver, settings=DEFAULT)
    assert "cannot begin with 'json' here" in attempt.problem
    assert receiver.connections == 0


def test_a_token_in_the_host_s_place_is_not_shown() -> None:
    channel = AppriseChannel(DEFAULT, seconds=0.5)
    attempt = asyncio.run(channel.send(delivery(), {"url": TELEGRAM + "?template=x"}, NOW))
    channel.close()
    assert attempt.request == "Apprise tgram://…"
    assert "123456789" not in str(attempt)
    assert "AbCdef" not in str(attempt)


# ── event content, errors, start


@pytest.mark.parametrize("call", ["@everyone", "@here", "@Channel", "<!channel>", "<@123>", "<#5>", "@room"])
def test_event_content_calls_nobody(call: str) -> None:
    receiver = Receiver()
    assert sent(receiver, delivery(f"a {call} b")).ok
    assert call not in receiver.got[0][1]["message"]
    assert call in receiver.got[0][1]["message"].replace("\u200b", "")


def test_event_content_is_no_template_and_no_header() -> None:
    receiver = Receiver()
    assert sent(receiver, delivery("x\r\nBcc: y {{ app_id }} <b>&amp; \\x41 :smile: mail@here.example")).ok
    assert "brand: x Bcc: y {{ app_id }} <b>&amp; \\x41 :smile: mail@" in receiver.got[0][1]["message"]


@pytest.mark.parametrize(
    "error", [SchemeNotAllowed("x", ("a", "b")), InvalidAppriseUrl("a://b", "c"), UnknownAppriseMember("a")]
)
def test_errors_travel(error: ChannelError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.args, str(again)) == (type(error), error.args, str(error))


def test_apprise_is_loaded_when_it_is_first_used(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from tidings.notifying.channels.apprise_channel import AppriseChannel\n"
        "from tidings.settings import Settings\n"
        "channel = AppriseChannel(Settings())\n"
        "print('apprise' in sys.modules)\n"
        f"channel.check({{'url': {SLACK!r}}})\n"
        "print('apprise' in sys.modules)\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert ran.stdout.split() == ["False", "True"]
    assert list(tmp_path.iterdir()) == []


def test_nothing_of_an_attempt_stays_in_the_log_handlers() -> None:
    sent(Receiver())
    before = len(logging.getLogger("apprise").handlers)
    sent(Receiver("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"))
    assert len(logging.getLogger("apprise").handlers) == before
