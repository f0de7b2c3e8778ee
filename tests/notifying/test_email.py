"""The email channel against a real SMTP server on loopback, which takes mails, refuses them, stalls or hangs up."""

from __future__ import annotations

import asyncio
import base64
import email
import email.policy
import pickle
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from tidings.errors import ChannelError
from tidings.notifying.confirmations import Confirmations
from tidings.notifying.email_channel import (
    EmailChannel,
    EmailNotOffered,
    InvalidMailAddress,
    UnknownEmailMember,
    checked_address,
)
from tidings.notifying.parcel import Attempt, Owed, Parcel
from tidings.schema import Instant
from tidings.settings import InvalidSetting, Settings, read_settings

NOW = Instant.parse("2026-05-01T10:00:00Z")
KEY = b"k" * 32
TO = {"kind": "email", "address": "ann@example.org"}


@dataclass
class Sink:
    """A small SMTP server. `answers` gives, for a command, what is said instead of yes: each once, the last for good;
    'hang' says nothing any more, 'flood' never comes to an end, 'drop' hangs up."""

    answers: dict[str, list[str]] = field(default_factory=dict)
    tls: ssl.SSLContext | None = None
    logins: list[str] = field(default_factory=list)
    mails: list[tuple[str, str, bytes]] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    connections: int = 0
    encrypted: bool = False
    writers: set[asyncio.StreamWriter] = field(default_factory=set)

    def _answer(self, command: str, usual: str) -> str:
        others = self.answers.get(command)
        if not others:
            return usual
        return others.pop(0) if len(others) > 1 else others[0]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.writers.add(writer)
        try:
            await self._serve(reader, writer)
        except (ConnectionError, ssl.SSLError):
            pass  # the client hung up, as a client may
        finally:
            self.writers.discard(writer)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        sender = recipient = ""

        async def say(command: str, usual: str) -> bool:
            answer = self._answer(command, usual)
            if answer == "hang":
                await reader.read()
            while answer == "flood":
                writer.write(b"250-more\r\n")
                await writer.drain()
                await asyncio.sleep(0.01)
            if answer in ("hang", "drop"):
                return False
            writer.write(answer.encode() + b"\r\n")
            await writer.drain()
            return True

        going = await say("greeting", "220 sink")
        while going and (line := (await reader.readline()).decode().rstrip("\r\n")):
            command = line.split(" ")[0].upper()
            self.commands.append(line)
            match command:
                case "EHLO" | "HELO":
                    going = await say("EHLO", "250-sink\r\n250-STARTTLS\r\n250 AUTH PLAIN")
                case "STARTTLS" if self.tls:
                    await say("STARTTLS", "220 go on")
                    await writer.start_tls(self.tls)
                    self.encrypted = True
                case "AUTH":
                    self.logins.append(base64.b64decode(line.split(" ")[2]).decode())
                    going = await say("AUTH", "235 welcome")
                case "MAIL":
                    sender = line[10:].split(">")[0].removeprefix("<")
                    going = await say("MAIL", "250 ok")
                case "RCPT":
                    recipient = line[8:].split(">")[0].removeprefix("<")
                    going = await say("RCPT", "250 ok")
                case "DATA":
                    if not (going := await say("DATA", "354 go on")) or self.answers.get("DATA"):
                        continue
                    data = await reader.readuntil(b"\r\n.\r\n")
                    answer = self._answer("body", "250 2.0.0 queued as 1")
                    if answer.startswith("250"):
                        self.mails.append((sender, recipient, data[:-5].replace(b"\r\n..", b"\r\n.")))
                    if answer == "drop":
                        return
                    writer.write(answer.encode() + b"\r\n")
                case "RSET":
                    going = await say("RSET", "250 ok")
                case "QUIT":
                    await say("QUIT", "221 bye")
                    return
                case _:
                    writer.write(b"502 what?\r\n")

    @property
    def last(self) -> EmailMessage:
        message = email.message_from_bytes(self.mails[-1][2], policy=email.policy.default)
        assert isinstance(message, EmailMessage)
        assert message.defects == []
        return message


@asynccontextmanager
async def channel_to(
    sink: Sink, *, server_tls: ssl.SSLContext | None = None, seconds: float = 30.0, **others: Any
) -> AsyncIterator[EmailChannel]:
    server = await asyncio.start_server(sink.serve, "127.0.0.1", 0, ssl=server_tls, limit=1 << 20)
    client_tls = others.pop("client_tls", None)
    connections = others.pop("connections", 4)
    settings = Settings(
        smtp_host=others.pop("smtp_host", "127.0.0.1"),
        smtp_port=server.sockets[0].getsockname()[1],
        mail_from="Tidings <tidings@example.org>",
        public_url="https://tidings.example",
    )
    channel = EmailChannel(replace(settings, **others), KEY, seconds=seconds, tls=client_tls, connections=connections)
    try:
        yield channel
    finally:
        await asyncio.to_thread(channel.close)
        server.close()
        for writer in tuple(sink.writers):
            writer.close()
        await asyncio.sleep(0)


def parcel(attributes: dict[str, Any] | None = None, id: str = "17.s1", filter: str = "price < 1300") -> Parcel:
    event = {"id": "e1", "source": "a", "event_type": ["car"], "attributes": attributes or {"price": 900}}
    return Parcel(id, "s1", "ann", filter, (Owed(id, 1, event, NOW),))


def sent(sink: Sink, *parcels: Parcel, to: dict[str, Any] | None = None, **others: Any) -> list[Attempt]:
    async def main() -> list[Attempt]:
        async with channel_to(sink, **others) as channel:
            return [await channel.send(one, to or TO, NOW) for one in parcels or (parcel(),)]

    return asyncio.run(main())


def run(sink: Sink, work: Callable[[EmailChannel], Awaitable[Any]], **others: Any) -> Any:
    async def main() -> Any:
        async with channel_to(sink, **others) as channel:
            return await work(channel)

    return asyncio.run(main())


def test_a_mail_arrives_with_all_its_parts() -> None:
    sink = Sink()
    (attempt,) = sent(sink)
    assert (attempt.ok, attempt.status, attempt.problem, attempt.gone) == (True, 250, "", False)
    assert attempt.response == "2.0.0 queued as 1"
    assert sink.mails[0][:2] == ("tidings@example.org", "ann@example.org")
    mail = sink.last
    assert mail["From"] == "Tidings <tidings@example.org>"
    assert mail["To"] == "ann@example.org"
    assert mail["Subject"] == "Tidings: car for s1"
    assert mail["Date"].datetime.isoformat() == "2026-05-01T10:00:00+00:00"
    assert mail["Message-ID"] == "<17.s1@example.org>"
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    plain, html = mail.get_body(("plain",)), mail.get_body(("html",))
    assert plain is not None
    assert html is not None
    assert "    price: 900\r\n" in plain.get_content()
    assert "<td>900</td>" in html.get_content()


def test_the_link_of_the_header_and_of_the_text_lets_one_go() -> None:
    sink = Sink()
    sent(sink)
    header = sink.last["List-Unsubscribe"]
    assert header.startswith("<https://tidings.example/unsubscribe/")
    assert b"\r\nList-Unsubscribe-Post" in sink.mails[0][2]
    assert b"List-Unsubscribe: <https://" in sink.mails[0][2]  # not encoded, and in one line
    token = header.strip("<>").rpartition("/")[2]
    link = Confirmations(KEY).read(token, "unsubscribe", NOW)
    assert (link.subscription, link.address) == ("s1", "ann@example.org")
    assert token in sink.last.get_body(("plain",)).get_content()  # type: ignore[union-attr]


def test_a_link_too_long_for_a_header_stands_in_the_text_alone() -> None:
    sink = Sink()
    one = parcel()
    sent(sink, Parcel(one.id, "é" * 500, one.owner, one.filter, one.owed))
    assert sink.last["List-Unsubscribe"] is None
    assert "/unsubscribe/" in sink.last.get_body(("plain",)).get_content()  # type: ignore[union-attr]
    assert max(map(len, sink.mails[0][2].split(b"\r\n"))) <= 998


def test_what_is_kept_of_the_request_has_no_token() -> None:
    (attempt,) = sent(Sink())
    assert "Message-ID: <17.s1@example.org>" in attempt.request
    assert "ann@example.org" in attempt.request
    assert "unsubscribe" not in attempt.request


def test_every_attempt_has_the_same_message_id() -> None:
    sink = Sink({"body": ["451 4.3.0 later", "250 ok"]})
    first, second = sent(sink, parcel(), parcel())
    assert (first.ok, second.ok) == (False, True)
    odd = Sink()
    sent(odd, parcel(id="17.a b\r\nBcc: x"), parcel(id="17.a b\r\nBcc: x"), parcel(id="18.a b"))
    ids = [email.message_from_bytes(mail)["Message-ID"] for _, _, mail in odd.mails]
    assert ids[0] == ids[1] != ids[2]
    assert ids[0].endswith("@example.org>")
    assert "Bcc" not in ids[0]


def test_several_mails_go_by_one_connection() -> None:
    sink = Sink()
    attempts = sent(sink, *(parcel(id=f"{n}.s1") for n in range(5)))
    assert all(attempt.ok for attempt in attempts)
    assert len(sink.mails) == 5
    assert sink.connections == 1
    assert sink.commands[-1].upper() == "QUIT"


def test_many_at_once_use_no_more_connections_than_allowed() -> None:
    sink = Sink()

    async def work(channel: EmailChannel) -> list[Attempt]:
        return list(await asyncio.gather(*(channel.send(parcel(id=f"{n}.s1"), TO, NOW) for n in range(40))))

    attempts = run(sink, work, connections=3)
    assert all(attempt.ok for attempt in attempts)
    assert len({email.message_from_bytes(mail)["Message-ID"] for _, _, mail in sink.mails}) == 40
    assert 1 <= sink.connections <= 3


@pytest.mark.parametrize(
    ("command", "answer", "status", "gone", "said"),
    [
        ("RCPT", "550 5.1.1 no such user", 550, True, "refused (the recipient): 550 5.1.1 no such user"),
        ("RCPT", "550-5.1.1 no such\r\n550 5.1.1 user", 550, True, "refused (the recipient): 550 5.1.1 no such"),
        ("RCPT", "550 5.7.1 relaying denied", 550, False, "refused (the recipient)"),
        ("RCPT", "552 5.2.2 box full", 552, False, "refused (the recipient)"),
        ("RCPT", "450 4.2.0 greylisted", 450, False, "asks to try later (the recipient): 450"),
        ("RCPT", "450 5.1.1 confused", 450, False, "asks to try later"),
        ("MAIL", "451 4.3.0 busy", 451, False, "asks to try later (the sender)"),
        ("MAIL", "550 5.1.1 sender unknown", 550, False, "refused (the sender)"),
        ("DATA", "554 5.5.1 no", 554, False, "refused (the mail)"),
        ("body", "554 5.7.1 spam", 554, False, "refused (the mail): 554 5.7.1 spam"),
        ("body", "452 4.3.1 disk full", 452, False, "asks to try later (the mail)"),
        ("greeting", "554 go away", 554, False, "refused (connecting)"),
        ("EHLO", "421 closing", 421, False, "asks to try later"),
        ("MAIL", "421 4.3.2 shutting down", 421, False, "asks to try later (the sender)"),
    ],
)
def test_a_refusal_says_who_refused_what(command: str, answer: str, status: int, gone: bool, said: str) -> None:
    sink = Sink({command: [answer]})
    (attempt,) = sent(sink)
    assert not attempt.ok
    assert (attempt.status, attempt.gone) == (status, gone)
    assert said in attempt.problem
    assert sink.mails == []


def test_a_refused_mail_does_not_spoil_the_next() -> None:
    sink = Sink({"RCPT": ["550 5.1.1 no such user", "250 ok"]})
    first, second = sent(sink, parcel(), parcel())
    assert (first.ok, first.gone, second.ok) == (False, True, True)
    assert sink.connections == 1


@pytest.mark.parametrize("after", ["drop", "hang", "500 what?"])
def test_a_refusal_counts_whatever_comes_after_it(after: str) -> None:
    sink = Sink({"RCPT": ["550 5.1.1 no such user", "250 ok"], "RSET": [after]})
    first, second = sent(sink, parcel(), parcel(), seconds=1.0)
    assert (first.status, first.gone, second.ok) == (550, True, True)
    assert sink.connections == 2


def test_an_answer_that_is_no_smtp() -> None:
    (attempt,) = sent(Sink({"RCPT": ["hello there"]}))
    assert attempt.problem == "the mail server answered what is no SMTP (the recipient)"
    assert attempt.status is None


@pytest.mark.parametrize("how", ["drop", "421 4.4.2 idle too long"])
def test_a_connection_that_was_closed_meanwhile_costs_nothing(how: str) -> None:
    sink = Sink({"MAIL": ["250 ok", how, "250 ok"]})
    first, second = sent(sink, parcel(id="1.s1"), parcel(id="2.s1"))
    assert (first.ok, second.ok) == (True, True)
    assert (len(sink.mails), sink.connections) == (2, 2)


def test_a_connection_lost_after_the_mail_is_a_failure_and_not_sent_again_here() -> None:
    sink = Sink({"body": ["250 ok", "drop"]})
    first, second = sent(sink, parcel(id="1.s1"), parcel(id="2.s1"))
    assert (first.ok, second.ok) == (True, False)
    assert second.problem == "the mail server closed the connection (the mail)"
    assert sink.connections == 1


@pytest.mark.parametrize("step", ["greeting", "EHLO", "MAIL", "RCPT", "DATA"])
def test_a_server_that_stalls_is_given_up(step: str) -> None:
    (attempt,) = sent(Sink({step: ["hang"]}), seconds=0.3)
    assert not attempt.ok
    assert "did not answer in time" in attempt.problem
    assert attempt.status is None


@pytest.mark.parametrize("step", ["EHLO", "MAIL", "RCPT"])
def test_an_answer_without_an_end_is_cut(step: str) -> None:
    (attempt,) = sent(Sink({step: ["flood"]}), seconds=0.2)
    assert not attempt.ok
    assert "did not answer in time" in attempt.problem


def test_a_server_that_is_not_there() -> None:
    async def main() -> Attempt:
        server = await asyncio.start_server(Sink().serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        server.close()
        await server.wait_closed()
        channel = EmailChannel(Settings(smtp_host="127.0.0.1", smtp_port=port, mail_from="t@example.org"), KEY)
        attempt = await channel.send(parcel(), TO, NOW)
        channel.close()
        return attempt

    attempt = asyncio.run(main())
    assert attempt.problem == "the mail server cannot be used (connecting): Connection refused"


def test_event_content_adds_no_header_and_no_recipient() -> None:
    evil = "x\r\nBcc: all@example.org\r\n\r\n.\r\nMAIL FROM:<evil@example.org>"
    sink = Sink()
    one = parcel({"a": evil, evil: ["<script>"]}, filter=evil)
    event = {**one.owed[0].event, "event_type": [evil], "id": evil, "source": evil}
    sent(sink, Parcel(one.id, evil, evil, evil, (Owed(one.id, 1, event, NOW),)))
    assert len(sink.mails) == 1
    mail = sink.last
    assert mail["Bcc"] is None
    assert len(mail["Subject"]) <= 120
    senders = [command for command in sink.commands if command.upper().startswith("MAIL")]
    assert [sender.split(":")[1] for sender in senders] == ["<tidings@example.org>"]
    assert "<script>" not in mail.get_body(("html",)).get_content()  # type: ignore[union-attr]


def test_text_of_any_language_and_length_arrives() -> None:
    sink = Sink()
    sent(sink, parcel({"τίτλος": "νέα 👋 " * 50, "dots": ".\n.", "long": "z" * 5_000}))
    text = sink.last.get_body(("plain",)).get_content()  # type: ignore[union-attr]
    assert "τίτλος: νέα 👋 νέα" in text
    assert max(map(len, sink.mails[0][2].split(b"\r\n"))) <= 998


def test_a_long_answer_is_capped() -> None:
    sink = Sink({"body": ["\r\n".join(["554-" + "x" * 400] * 50 + ["554 end"])]})
    (attempt,) = sent(sink)
    assert len(attempt.response) == 2_048
    assert len(attempt.problem) < 300


# ── addresses and settings


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("ann@example.org", "ann@example.org"),
        ("Ann.B+news@EXAMPLE.Org", "Ann.B+news@example.org"),
        ("ann@bücher.example", "ann@xn--bcher-kva.example"),
        ("a" * 64 + "@example.org", "a" * 64 + "@example.org"),
    ],
)
def test_an_address_is_kept_in_one_form(given: str, kept: str) -> None:
    assert checked_address(given) == kept


@pytest.mark.parametrize(
    "address",
    [
        *("", "ann", "@example.org", "ann@", "ann@localhost", "ann@127.0.0.1", "ann@[127.0.0.1]", "ann@example..org"),
        *("a@example.org,b@example.org", "a@example.org b@example.org", "a@b@example.org", "Ann <ann@example.org>"),
        *("ann@example.org\r\nBcc: x@example.org", "ann@example.org\n", "\nann@example.org", "ann@example.org\0"),
        *('"a b"@example.org', "a b@example.org", ".ann@example.org", "an..n@example.org", "ανν@example.org"),
        *("root%inside@example.org", "inside!root@example.org", "ann@-example.org", "ann@example.org."),
        *(
            "a" * 65 + "@example.org",
            "a@" + "b." * 126 + "org",
            "a@" + "b" * 64 + ".org",
            "a@example.org>",
            "|sh@x.org\t",
        ),
        *(None, 7, ["ann@example.org"], {"a": 1}),
    ],
)
def test_what_is_no_single_address_is_refused(address: object) -> None:
    with pytest.raises(InvalidMailAddress, match=r"expected is one address such as 'someone@example\.org'"):
        checked_address(address)


def test_check_keeps_the_rhythm_and_refuses_what_it_does_not_know() -> None:
    channel = EmailChannel(Settings(smtp_host="127.0.0.1", mail_from="t@example.org"), KEY)
    digest = {"count": 5}
    assert channel.check({"address": "Ann@EXAMPLE.org", "digest": digest}) == {
        "kind": "email",
        "address": "Ann@example.org",
        "digest": digest,
    }
    with pytest.raises(UnknownEmailMember, match=r"no 'adress'; did you mean 'address'\?"):
        channel.check({"kind": "email", "adress": "ann@example.org"})
    with pytest.raises(InvalidMailAddress, match="null is no text"):
        channel.check({"kind": "email"})


def test_without_a_mail_server_no_email_is_offered() -> None:
    channel = EmailChannel(Settings(), KEY)
    with pytest.raises(EmailNotOffered, match="smtp_host and mail_from"):
        channel.check(TO)
    attempt = asyncio.run(channel.send(parcel(), TO, NOW))
    assert not attempt.ok
    assert "sends no mail" in attempt.problem


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (Settings(smtp_host="mail.example"), "'mail_from' must be an address"),
        (Settings(smtp_host="mail.example", mail_from="a@b.org, c@d.org\n"), "'mail_from' must be an address"),
        (Settings(smtp_host="mail.example", mail_from="a@b.org", smtp_user="u"), "must be starttls or tls"),
    ],
)
def test_settings_that_do_not_fit_are_refused_at_the_start(settings: Settings, said: str) -> None:
    with pytest.raises(InvalidSetting, match=said):
        EmailChannel(settings, KEY)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("smtp_port", "587", 587),
        ("smtp_security", "STARTTLS", "starttls"),
        ("public_url", "https://tidings.example/under/", "https://tidings.example/under"),
        ("public_url", "", ""),
        ("apprise_schemes", "ntfys, Slack", ("ntfys", "slack")),
        ("apprise_schemes", "", ()),
    ],
)
def test_settings_of_mail_are_read(name: str, text: str, value: object) -> None:
    assert getattr(read_settings({}, {f"TIDINGS_{name.upper()}": text}), name) == value


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("smtp_port", "70000", "a port"),
        ("smtp_security", "ssl", "one of none, starttls, tls"),
        ("public_url", "tidings.example", "an address such as https://tidings.example.org"),
        ("public_url", "https://a.example/\r\nBcc: x", "an address such as"),
        ("public_url", 'https://a.example/">', "an address such as"),
        ("public_url", "https://u:p@a.example", "an address such as"),
        ("public_url", "javascript:alert(1)", "an address such as"),
        ("apprise_schemes", "ntfys://", "without ://"),
    ],
)
def test_wrong_settings_of_mail_are_refused(name: str, text: str, said: str) -> None:
    with pytest.raises(InvalidSetting) as refused:
        read_settings({}, {f"TIDINGS_{name.upper()}": text})
    assert said in str(refused.value)


def test_links_lead_to_the_service_where_nothing_else_is_said() -> None:
    assert Settings().links_lead_to == "http://127.0.0.1:8080"
    assert Settings(host="::1", port=1).links_lead_to == "http://[::1]:1"
    assert Settings(public_url="https://t.example").links_lead_to == "https://t.example"
    assert "hush" not in repr(Settings(smtp_password="hush"))


@pytest.mark.parametrize("error", [EmailNotOffered(), InvalidMailAddress("a", "b"), UnknownEmailMember("a")])
def test_errors_travel(error: ChannelError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.args, str(again)) == (type(error), error.args, str(error))


# ── double opt-in


def test_the_mail_that_asks_leads_to_a_confirmation() -> None:
    sink = Sink()
    attempt = run(sink, lambda channel: channel.ask_to_confirm("s1", "ann", "Bob@EXAMPLE.org", NOW))
    assert attempt.ok
    assert sink.mails[0][1] == "Bob@example.org"
    text = sink.last.get_body(("plain",)).get_content()  # type: ignore[union-attr]
    link = next(line for line in text.splitlines() if line.startswith("https://tidings.example/confirm/"))
    said = Confirmations(KEY).read(link.rpartition("/")[2], "confirm", NOW)
    assert (said.subscription, said.address) == ("s1", "Bob@example.org")
    assert sink.last["List-Unsubscribe"] is None
    assert link not in attempt.request


def test_nobody_is_asked_at_a_wrong_address() -> None:
    sink = Sink()
    with pytest.raises(InvalidMailAddress):
        run(sink, lambda channel: channel.ask_to_confirm("s1", "ann", "a@example.org,b@example.org", NOW))
    assert sink.connections == 0


# ── encryption


def self_made_certificate(folder: Path) -> Path:
    if shutil.which("openssl") is None:
        pytest.skip("no openssl command to make a certificate with")
    made = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "certificate.pem")]
    how = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    subprocess.run(
        ["openssl", *how.split(), "-addext", "subjectAltName=DNS:localhost", *made],
        check=True,
        capture_output=True,
    )
    return folder


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return self_made_certificate(tmp_path_factory.mktemp("certificate"))


def server_side(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "certificate.pem", certificate / "key.pem")
    return context


def client_side(certificate: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(certificate / "certificate.pem"))


def test_starttls_with_a_login(certificate: Path) -> None:
    sink = Sink(tls=server_side(certificate))
    attempts = sent(
        sink,
        parcel(id="1.s1"),
        parcel(id="2.s1"),
        smtp_host="localhost",
        smtp_security="starttls",
        smtp_user="me",
        smtp_password="hush",
        client_tls=client_side(certificate),
    )
    assert [attempt.ok for attempt in attempts] == [True, True]
    assert sink.encrypted
    assert sink.logins == ["\0me\0hush"]
    assert all("hush" not in str(attempt) for attempt in attempts)


def test_tls_from_the_first_byte(certificate: Path) -> None:
    sink = Sink()
    (attempt,) = sent(
        sink,
        server_tls=server_side(certificate),
        smtp_host="localhost",
        smtp_security="tls",
        client_tls=client_side(certificate),
    )
    assert attempt.ok
    assert len(sink.mails) == 1


@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_a_certificate_that_nobody_vouches_for_gets_no_mail_and_no_password(certificate: Path, security: str) -> None:
    tls = server_side(certificate)
    sink = Sink(tls=tls)
    (attempt,) = sent(
        sink,
        server_tls=tls if security == "tls" else None,
        smtp_host="localhost",
        smtp_security=security,
        smtp_user="me",
        smtp_password="hush",
    )
    assert attempt.problem == "no encrypted connection with the mail server: CERTIFICATE_VERIFY_FAILED"
    assert (sink.mails, sink.logins) == ([], [])


def test_a_server_without_starttls_gets_nothing_readable() -> None:
    sink = Sink({"EHLO": ["250 sink"]})
    (attempt,) = sent(sink, smtp_security="starttls", smtp_user="me", smtp_password="hush")
    assert not attempt.ok
    assert "STARTTLS" in attempt.problem
    assert (sink.mails, sink.logins) == ([], [])


def test_a_refused_login_says_whose_it_is() -> None:
    sink = Sink({"AUTH": ["535 5.7.8 no"]})
    (attempt,) = sent(sink, smtp_user="me", smtp_password="hush")
    assert attempt.problem == "the mail server refused (the user of the settings): 535 5.7.8 no"
    assert not attempt.gone
