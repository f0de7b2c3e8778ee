"""The email channel against a real SMTP server: what arrives, what is refused, and what never ends."""

from __future__ import annotations

import asyncio
import email
import email.policy

import pytest

from tests.notifying.smtp_sink import (
    KEY,
    NOW,
    TO,
    Sink,
    delivery,
    run,
    sent,
)
from tidings.notifying.channels.email_channel import EmailChannel
from tidings.notifying.delivery import Attempt, OutgoingDelivery, Owed
from tidings.notifying.mail.confirmations import Confirmations
from tidings.settings import Settings


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
    one = delivery()
    sent(sink, OutgoingDelivery(one.id, "é" * 500, one.owner, one.filter, one.owed))
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
    first, second = sent(sink, delivery(), delivery())
    assert (first.ok, second.ok) == (False, True)
    odd = Sink()
    sent(odd, delivery(id="17.a b\r\nBcc: x"), delivery(id="17.a b\r\nBcc: x"), delivery(id="18.a b"))
    ids = [email.message_from_bytes(mail)["Message-ID"] for _, _, mail in odd.mails]
    assert ids[0] == ids[1] != ids[2]
    assert ids[0].endswith("@example.org>")
    assert "Bcc" not in ids[0]


def test_several_mails_go_by_one_connection() -> None:
    sink = Sink()
    attempts = sent(sink, *(delivery(id=f"{n}.s1") for n in range(5)))
    assert all(attempt.ok for attempt in attempts)
    assert len(sink.mails) == 5
    assert sink.connections == 1
    assert sink.commands[-1].upper() == "QUIT"


def test_many_at_once_use_no_more_connections_than_allowed() -> None:
    sink = Sink()

    async def work(channel: EmailChannel) -> list[Attempt]:
        return list(await asyncio.gather(*(channel.send(delivery(id=f"{n}.s1"), TO, NOW) for n in range(40))))

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
    first, second = sent(sink, delivery(), delivery())
    assert (first.ok, first.gone, second.ok) == (False, True, True)
    assert sink.connections == 1


@pytest.mark.parametrize("after", ["drop", "hang", "500 what?"])
def test_a_refusal_counts_whatever_comes_after_it(after: str) -> None:
    sink = Sink({"RCPT": ["550 5.1.1 no such user", "250 ok"], "RSET": [after]})
    first, second = sent(sink, delivery(), delivery(), seconds=1.0)
    assert (first.status, first.gone, second.ok) == (550, True, True)
    assert sink.connections == 2


def test_an_answer_that_is_no_smtp() -> None:
    (attempt,) = sent(Sink({"RCPT": ["hello there"]}))
    assert attempt.problem == "the mail server's answer is not SMTP (the recipient)"
    assert attempt.status is None


@pytest.mark.parametrize("how", ["drop", "421 4.4.2 idle too long"])
def test_a_connection_that_was_closed_meanwhile_costs_nothing(how: str) -> None:
    sink = Sink({"MAIL": ["250 ok", how, "250 ok"]})
    first, second = sent(sink, delivery(id="1.s1"), delivery(id="2.s1"))
    assert (first.ok, second.ok) == (True, True)
    assert (len(sink.mails), sink.connections) == (2, 2)


def test_a_connection_lost_after_the_mail_is_a_failure_and_not_sent_again_here() -> None:
    sink = Sink({"body": ["250 ok", "drop"]})
    first, second = sent(sink, delivery(id="1.s1"), delivery(id="2.s1"))
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
        attempt = await channel.send(delivery(), TO, NOW)
        channel.close()
        return attempt

    attempt = asyncio.run(main())
    assert attempt.problem == "the mail server cannot be used (connecting): Connection refused"


def test_event_content_adds_no_header_and_no_recipient() -> None:
    evil = "x\r\nBcc: all@example.org\r\n\r\n.\r\nMAIL FROM:<evil@example.org>"
    sink = Sink()
    one = delivery({"a": evil, evil: ["<script>"]}, filter=evil)
    event = {**one.owed[0].event, "event_type": [evil], "id": evil, "source": evil}
    sent(sink, OutgoingDelivery(one.id, evil, evil, evil, (Owed(one.id, 1, event, NOW),)))
    assert len(sink.mails) == 1
    mail = sink.last
    assert mail["Bcc"] is None
    assert len(mail["Subject"]) <= 120
    senders = [command for command in sink.commands if command.upper().startswith("MAIL")]
    assert [sender.split(":")[1] for sender in senders] == ["<tidings@example.org>"]
    assert "<script>" not in mail.get_body(("html",)).get_content()  # type: ignore[union-attr]


def test_text_of_any_language_and_length_arrives() -> None:
    sink = Sink()
    sent(sink, delivery({"τίτλος": "νέα 👋 " * 50, "dots": ".\n.", "long": "z" * 5_000}))
    text = sink.last.get_body(("plain",)).get_content()  # type: ignore[union-attr]
    assert "τίτλος: νέα 👋 νέα" in text
    assert max(map(len, sink.mails[0][2].split(b"\r\n"))) <= 998


def test_a_long_answer_is_capped() -> None:
    sink = Sink({"body": ["\r\n".join(["554-" + "x" * 400] * 50 + ["554 end"])]})
    (attempt,) = sent(sink)
    assert len(attempt.response) == 2_048
    assert len(attempt.problem) < 300
