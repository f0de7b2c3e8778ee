"""Tokens of links in mails: what they say, and that nobody else can make them say it."""

from __future__ import annotations

import pickle
import stat
import string
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.errors import ChannelError
from tidings.notifying.mail.confirmations import (
    DAY,
    Confirmations,
    ExpiredLink,
    ForgedLink,
    Link,
    OtherLink,
    UnusableKey,
    confirmation_mail,
    kept_key,
)
from tidings.schema import Instant

NOW = Instant.parse("2026-05-01T10:00:00Z")
ONE = Confirmations(b"k" * 32)


@pytest.mark.parametrize(("purpose", "days"), [("confirm", 7), ("unsubscribe", 730)])
def test_a_token_says_what_was_put_in(purpose: str, days: int) -> None:
    token = ONE.make(purpose, "s1", "ann@example.org", NOW)  # type: ignore[arg-type]
    expires = Instant(NOW + days * DAY)
    read = ONE.read(token, purpose, Instant(expires - 1))  # type: ignore[arg-type]
    assert read == Link(purpose, "s1", "ann@example.org", expires)  # type: ignore[arg-type]
    with pytest.raises(ExpiredLink, match=f"to {purpose} expired at {expires}; ask for a new one"):
        ONE.read(token, purpose, expires)  # type: ignore[arg-type]


def test_a_token_fits_a_link_as_it_is() -> None:
    token = ONE.make("confirm", "νέα / ? # %", "ann@example.org", NOW)
    assert set(token) <= set(string.ascii_letters + string.digits + "-_.")
    assert ONE.read(token, "confirm", NOW).subscription == "νέα / ? # %"


def test_a_token_is_for_one_purpose() -> None:
    token = ONE.make("unsubscribe", "s1", "ann@example.org", NOW)
    with pytest.raises(OtherLink, match="is to unsubscribe, not to confirm"):
        ONE.read(token, "confirm", NOW)


def test_a_token_of_another_key_is_forged() -> None:
    token = Confirmations(b"j" * 32).make("confirm", "s1", "ann@example.org", NOW)
    with pytest.raises(ForgedLink, match="get a new one"):
        ONE.read(token, "confirm", NOW)


def test_every_changed_or_missing_character_is_found() -> None:
    token = ONE.make("confirm", "s1", "ann@example.org", NOW)
    for place, character in enumerate(token):
        for changed in ("A" if character != "A" else "B", ""):
            with pytest.raises(ForgedLink):
                ONE.read(token[:place] + changed + token[place + 1 :], "confirm", NOW)
    for more in ("A", "=", ".", "\n", " "):
        with pytest.raises(ForgedLink):
            ONE.read(token + more, "confirm", NOW)


@given(st.text())
def test_any_other_text_is_forged(token: str) -> None:
    with pytest.raises(ForgedLink):
        ONE.read(token, "confirm", NOW)


def test_a_very_long_text_is_forged() -> None:
    with pytest.raises(ForgedLink):
        ONE.read("A" * 10_000_000 + ".A", "confirm", NOW)


def test_the_longest_id_has_a_token_that_can_be_read() -> None:
    token = ONE.make("unsubscribe", "𝄞" * 500, "a" * 64 + "@" + "b" * 180 + ".org", NOW)
    assert ONE.read(token, "unsubscribe", NOW).subscription == "𝄞" * 500


def test_a_short_key_is_refused_and_none_is_shown() -> None:
    with pytest.raises(ValueError, match="5 bytes"):
        Confirmations(b"short")
    assert "kkk" not in repr(ONE)


def test_the_key_is_made_once_and_nobody_else_reads_it(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with ThreadPoolExecutor(8) as threads:
        keys = set(threads.map(kept_key, [folder] * 40))
    assert len(keys) == 1
    assert len(keys.pop()) == 32
    assert [path.name for path in folder.iterdir()] == ["mail.key"]
    assert stat.S_IMODE((folder / "mail.key").stat().st_mode) == 0o600
    assert kept_key(tmp_path / "other") != kept_key(folder)


def test_a_damaged_key_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "mail.key").write_bytes(b"")
    with pytest.raises(UnusableKey, match=r"mail\.key does not hold 32 bytes; restore it"):
        kept_key(tmp_path)


@pytest.mark.parametrize("error", [ForgedLink(), ExpiredLink("confirm", "x"), OtherLink("a", "b"), UnusableKey("p")])
def test_errors_travel(error: ChannelError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.args, str(again)) == (type(error), error.args, str(error))


def test_the_mail_that_asks_has_the_link_and_nothing_of_the_filter() -> None:
    mail = confirmation_mail("https://tidings.example/confirm/a.b", "ann<script>\r\nBcc: x")
    assert "\nhttps://tidings.example/confirm/a.b\n" in mail.plain
    assert '<a href="https://tidings.example/confirm/a.b">' in mail.html
    assert "ann&lt;script&gt; Bcc: x wants" in mail.html
    assert "7 days" in mail.plain
    assert "\nBcc" not in mail.plain
