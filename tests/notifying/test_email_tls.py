"""Mails by encrypted connections, with and without a login: nothing goes where nobody vouches for the server."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.notifying.smtp_sink import (
    Sink,
    client_side,
    delivery,
    self_made_certificate,
    sent,
    server_side,
)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return self_made_certificate(tmp_path_factory.mktemp("certificate"))


def test_starttls_with_a_login(certificate: Path) -> None:
    sink = Sink(tls=server_side(certificate))
    attempts = sent(
        sink,
        delivery(id="1.s1"),
        delivery(id="2.s1"),
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
    assert attempt.problem == "no encrypted connection to the mail server: CERTIFICATE_VERIFY_FAILED"
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
