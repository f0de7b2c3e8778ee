"""Notifications by email: a delivery becomes one mail, which is handed to the mail server of the settings.

    OutgoingDelivery ──> mail.text ──> EmailMessage ──> MailTransfer, in a few threads ──> Attempt

The server answers for the receiver only as far as it knows; what it finds out later is not seen here. Called by the
outbox (`send`, `tell`) and by the service (`check`, `ask_to_confirm`).
"""

from __future__ import annotations

import asyncio
import re
import ssl
import time
from collections import deque
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP as MAIL_RULES
from email.utils import getaddresses
from hashlib import sha256
from ipaddress import ip_address
from typing import Any

from tidings.errors import ChannelError, Explained, suggestion
from tidings.notifying.delivery import Attempt, OutgoingDelivery
from tidings.notifying.mail.address import InvalidMailAddress, checked_address
from tidings.notifying.mail.confirmations import Confirmations, confirmation_mail
from tidings.notifying.mail.notice_text import notice_mail
from tidings.notifying.mail.smtp import MailConnection, MailTransfer, late
from tidings.notifying.mail.text import LONGEST_NAME, Mail, mail_of, one_line
from tidings.schema import Instant
from tidings.settings import InvalidSetting, Settings
from tidings.store import DueNotice

_MEMBERS = ("kind", "address", "digest", "rate", "quiet")  # the last three are the rhythm's business
_ID = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")
_LONGEST_LINE = 998  # of a mail, by its standard
_LONGEST_RESPONSE = 2_048
_GRACE = 1.0  # seconds; the thread's own limit comes first, and knows which step took so long
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class EmailNotOffered(Explained, ChannelError):
    """This service has no mail server."""

    template = "this service sends no mail; its operator can set smtp_host and mail_from"


class UnknownEmailMember(Explained, ChannelError):
    """A member of the channel's JSON that an email channel does not have."""

    name: str
    template = "an email channel has no member {name!v}{meant}"

    @property
    def meant(self) -> str:
        return suggestion(self.name, _MEMBERS)


class EmailChannel:
    """`key` signs the links; `seconds` is the time for one mail, `connections` how many are sent at once."""

    kind = "email"

    def __init__(
        self,
        settings: Settings,
        key: bytes,
        *,
        connections: int = 4,
        seconds: float = 30.0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """Raises InvalidSetting where the settings name a mail server and the rest does not fit."""
        self._settings = settings
        self._confirmations = Confirmations(key)
        self._from = _sender(settings) if settings.smtp_host else Address()
        self._seconds = seconds
        self._tls = tls or ssl.create_default_context()
        self._places = asyncio.Semaphore(connections)
        self._threads = ThreadPoolExecutor(connections, thread_name_prefix="mail")
        self._idle: deque[MailConnection] = deque()

    def check(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The rhythm's members pass as they are."""
        if not self._settings.smtp_host:
            raise EmailNotOffered
        for name in settings:
            if name not in _MEMBERS:
                raise UnknownEmailMember(name)
        return {**settings, "kind": self.kind, "address": checked_address(settings.get("address"))}

    async def send(self, delivery: OutgoingDelivery, settings: Mapping[str, Any], now: Instant) -> Attempt:
        """A delivery of one id is one Message-ID in every attempt, so that a second copy can be told from news."""
        try:
            address = str(self.check(settings)["address"])
        except ChannelError as problem:
            return Attempt(
                False, 0.0, f"SMTP to {one_line(settings.get('address'), LONGEST_NAME)}", problem=str(problem)
            )
        link = self._link("unsubscribe", self._confirmations.make("unsubscribe", delivery.subscription, address, now))
        message = self._message(
            address, mail_of(delivery, link), f"{delivery.subscription}\n{delivery.id}", delivery.id, now
        )
        return await self._handed_over(address, message, link)

    async def ask_to_confirm(self, subscription: str, owner: str, address: str, now: Instant) -> Attempt:
        """Sends the mail whose link makes the channel active. Callers limit how often: this is a mail to
        somebody who has not asked for any. Raises as `check` does."""
        address = str(self.check({"address": address})["address"])
        token = self._confirmations.make("confirm", subscription, address, now)
        mail = confirmation_mail(self._link("confirm", token), owner)
        return await self._handed_over(address, self._message(address, mail, token, "", now))

    async def mail_notice(self, notice: DueNotice, now: Instant) -> Attempt:
        """Tells an owner of a channel that was disabled. Each attempt has the same Message-ID."""
        if notice.channel is None:
            raise ValueError("the channel is no longer disabled; nothing to report")
        mail = notice_mail(notice, notice.channel, self._settings.links_lead_to)
        stable = f"notice\n{notice.owner}\n{notice.number}\n{notice.stored}"
        return await self._handed_over(notice.address, self._message(notice.address, mail, stable, "", now))

    def close(self) -> None:
        """Waits for mails under way."""
        self._threads.shutdown()
        while self._idle:
            self._idle.pop().leave()

    def _link(self, route: str, token: str) -> str:
        return f"{self._settings.links_lead_to}/{route}/{token}"

    def _message(self, address: str, mail: Mail, stable: str, id: str, now: Instant) -> EmailMessage:
        name = id if _ID.fullmatch(id) and len(id) <= LONGEST_NAME else sha256(stable.encode()).hexdigest()[:40]
        message = EmailMessage(policy=MAIL_RULES)
        message["From"] = self._from
        message["To"] = Address(addr_spec=address)
        message["Subject"] = mail.subject
        message["Date"] = _EPOCH + timedelta(microseconds=int(now))
        message["Message-ID"] = f"<{name}@{self._from.domain}>"
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(mail.plain, cte="quoted-printable")
        message.add_alternative(mail.html, subtype="html", cte="quoted-printable")
        return message

    async def _handed_over(self, address: str, message: EmailMessage, unsubscribe: str = "") -> Attempt:
        request = "\n".join(
            (
                f"SMTP {self._settings.smtp_host}:{self._settings.smtp_port}",
                *(f"{name}: {message[name]}" for name in ("From", "To", "Subject", "Date", "Message-ID")),
            )
        )
        mail = _unsubscribe_header(unsubscribe) + message.as_bytes()
        await self._places.acquire()
        began = time.monotonic()
        sending = MailTransfer(self._settings, self._tls, self._idle, began + self._seconds)
        work = asyncio.get_running_loop().run_in_executor(
            self._threads, sending.run, self._from.addr_spec, address, mail
        )
        work.add_done_callback(lambda _: self._places.release())  # not before: a place is a thread
        try:
            done, _ = await asyncio.wait((work,), timeout=self._seconds + _GRACE)
        finally:
            if not work.done():
                sending.cut()
        code, text, problem, gone = work.result() if done else (None, "", late("sending"), False)
        response = text[:_LONGEST_RESPONSE]
        return Attempt(not problem, time.monotonic() - began, request, code, response, problem, gone=gone)


def _unsubscribe_header(link: str) -> bytes:
    """Written by hand: the standard library would encode a long link beyond recognition. A link too long for a line
    (of an id with hundreds of characters) appears only in the text."""
    line = f"List-Unsubscribe: <{link}>"
    if not link or len(line) > _LONGEST_LINE:
        return b""
    return f"{line}\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n".encode("ascii")


def _sender(settings: Settings) -> Address:
    try:
        ((name, address),) = getaddresses([settings.mail_from])
        checked = checked_address(address)
    except (ValueError, InvalidMailAddress):
        raise InvalidSetting(
            "settings", "mail_from", "must be an address such as 'Tidings <tidings@example.org>' where smtp_host is set"
        ) from None
    if settings.smtp_user and settings.smtp_security == "none" and not _is_loopback(settings.smtp_host):
        raise InvalidSetting(
            "settings", "smtp_security", "must be starttls or tls; otherwise smtp_password would be sent in clear text"
        )
    return Address(one_line(name, LONGEST_NAME), addr_spec=checked)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
