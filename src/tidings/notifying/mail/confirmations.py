"""The links in mails: "yes, send it to me" (double opt-in) and "no more" (unsubscribe), as signed tokens.

    purpose, subscription, address, expiry ──> token ──> Link, or an error that says what to do

A token says what it is for and cannot be changed or used for another purpose; nothing is stored for it. An email
channel is 'unconfirmed' until its link is followed: the service has the routes, this has the tokens and the mail.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Literal

from tidings.errors import ChannelError, Explained
from tidings.notifying.mail.text import LONGEST_NAME, Mail, one_line
from tidings.schema import Instant

Purpose = Literal["confirm", "unsubscribe"]
DAY = 86_400 * 1_000_000  # microseconds
LIFETIMES: dict[Purpose, int] = {"confirm": 7 * DAY, "unsubscribe": 730 * DAY}  # an old mail must still let one go
KEY_FILE = "mail.key"
_KEY_BYTES = 32
_LONGEST_TOKEN = 6_000  # an id of 500 characters and an address fit
_SIGNED_AS = b"tidings mail link 1\n"  # the key signs nothing else under this name


class ForgedLink(Explained, ChannelError):
    """A token that was not made with this service's key, or not received whole."""

    template = "this link is incomplete or was not created here; copy the whole link from the mail, or get a new one"


class ExpiredLink(Explained, ChannelError):
    """A token after its time: its purpose, and when it expired."""

    purpose: str
    expired: str
    template = "this link to {purpose} expired at {expired}; ask for a new one on the subscription's page"


class OtherLink(Explained, ChannelError):
    """A token for one thing, used for another: what it is for, and what was asked."""

    purpose: str
    asked: str
    template = "this link is to {purpose}, not to {asked}; use the link of the mail that offers to {asked}"


class UnusableKey(Explained, ChannelError):
    """The file of the key that signs links is not as it was written: its path."""

    path: str
    template = (
        f"{{path}} does not hold {_KEY_BYTES} bytes; restore it, or remove it and restart: links in mails "
        "that were sent before will then no longer work"
    )


@dataclass(frozen=True, slots=True)
class Link:
    """What a token says."""

    purpose: Purpose
    subscription: str
    address: str
    expires: Instant


@dataclass(frozen=True, slots=True)
class Confirmations:
    """Makes tokens and reads them, all with one key."""

    key: bytes

    def __post_init__(self) -> None:
        if len(self.key) < _KEY_BYTES:
            raise ValueError(f"the key has {len(self.key)} bytes, it needs {_KEY_BYTES}; kept_key() makes one")

    def __repr__(self) -> str:
        return "Confirmations()"

    def make(self, purpose: Purpose, subscription: str, address: str, now: Instant) -> str:
        """A token of letters, digits, '-', '_' and one '.'."""
        expires = now + LIFETIMES[purpose]
        said = json.dumps([purpose, subscription, address, expires], ensure_ascii=False, separators=(",", ":")).encode()
        body = _text(said)
        return f"{body}.{self._signature(body)}"

    def read(self, token: str, purpose: Purpose, now: Instant) -> Link:
        """Raises ForgedLink, OtherLink or ExpiredLink. Nothing of the token is looked at before its signature."""
        body, _, signature = token.partition(".")
        if len(token) > _LONGEST_TOKEN or not token.isascii():
            raise ForgedLink
        if not hmac.compare_digest(signature, self._signature(body)):
            raise ForgedLink
        said, subscription, address, expires = json.loads(urlsafe_b64decode(body + "=" * (-len(body) % 4)))
        if said != purpose:
            raise OtherLink(said, purpose)
        if now >= expires:
            raise ExpiredLink(purpose, str(Instant(expires)))
        return Link(purpose, subscription, address, Instant(expires))

    def _signature(self, body: str) -> str:
        return _text(hmac.new(self.key, _SIGNED_AS + body.encode(), sha256).digest())


def _text(some: bytes) -> str:
    return urlsafe_b64encode(some).decode().rstrip("=")


def kept_key(data: Path) -> bytes:
    """The key in the data folder, made at the first call. Gateway and outbox may come at the same time: the file
    appears whole under its name, and the second process reads what the first has written. Raises UnusableKey."""
    path = data / KEY_FILE
    if not path.exists():
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = data / f"{KEY_FILE}.{secrets.token_hex(8)}"
        try:
            with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(secrets.token_bytes(_KEY_BYTES))
                file.flush()
                os.fsync(file.fileno())
            os.link(new, path)
        except FileExistsError:
            pass  # the other one was first
        finally:
            new.unlink(missing_ok=True)
    key = path.read_bytes()
    if len(key) != _KEY_BYTES:
        raise UnusableKey(str(path))
    return key


def confirmation_mail(link: str, owner: str) -> Mail:
    """Asks the owner of an address whether mails are wanted. It quotes neither filter nor subscription, which whoever
    typed the address has chosen: else anyone could have any text sent to anybody."""
    name = one_line(owner, LONGEST_NAME)
    days = LIFETIMES["confirm"] // DAY
    asked = f"The account {name} wants to send Tidings notifications to this address."
    ignore = f"If you do not want them, do nothing, and you get no further mail. The link works for {days} days."
    return Mail(
        "Tidings: do you want notifications at this address?",
        f"{asked}\n\nTo receive them, open this link:\n{link}\n\n{ignore}\n",
        "<!DOCTYPE html>\n"
        '<html lang="en"><head><meta charset="utf-8"><title>Tidings</title></head><body>\n'
        f'<p>{escape(asked)}</p>\n<p><a href="{escape(link)}">Yes, send them to me</a></p>\n<p>{escape(ignore)}</p>\n'
        "</body></html>\n",
    )
