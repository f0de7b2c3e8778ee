"""Addresses, the settings of mail, and the mail that asks whether mails are wanted."""

from __future__ import annotations

import asyncio
import pickle

import pytest

from tests.notifying.smtp_sink import (
    KEY,
    NOW,
    TO,
    Sink,
    delivery,
    run,
)
from tidings.errors import ChannelError
from tidings.notifying.channels.email_channel import EmailChannel, EmailNotOffered, UnknownEmailMember
from tidings.notifying.mail.address import InvalidMailAddress, checked_address
from tidings.notifying.mail.confirmations import Confirmations
from tidings.settings import InvalidSetting, Settings, read_settings


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
    with pytest.raises(InvalidMailAddress, match=r"expected one address such as 'someone@example\.org'"):
        checked_address(address)


def test_check_keeps_the_rhythm_and_refuses_what_it_does_not_know() -> None:
    channel = EmailChannel(Settings(smtp_host="127.0.0.1", mail_from="t@example.org"), KEY)
    digest = {"count": 5}
    assert channel.check({"address": "Ann@EXAMPLE.org", "digest": digest}) == {
        "kind": "email",
        "address": "Ann@example.org",
        "digest": digest,
    }
    with pytest.raises(UnknownEmailMember, match=r"no member 'adress'; did you mean 'address'\?"):
        channel.check({"kind": "email", "adress": "ann@example.org"})
    with pytest.raises(InvalidMailAddress, match="null is not text"):
        channel.check({"kind": "email"})


def test_without_a_mail_server_no_email_is_offered() -> None:
    channel = EmailChannel(Settings(), KEY)
    with pytest.raises(EmailNotOffered, match="smtp_host and mail_from"):
        channel.check(TO)
    attempt = asyncio.run(channel.send(delivery(), TO, NOW))
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
