"""Notifications by email: a parcel becomes one mail, which is handed to the mail server of the settings.

    Parcel ──> mail_text ──> EmailMessage ──> SMTP, in a few threads ──> Attempt

The server answers for the receiver only as far as it knows; what it finds out later is not seen here. Called by the
outbox (`send`) and by the service (`check`, `ask_to_confirm`).
"""

from __future__ import annotations

import asyncio
import re
import smtplib
import socket
import ssl
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP as MAIL_RULES
from email.utils import getaddresses
from hashlib import sha256
from ipaddress import ip_address
from typing import Any

from tidings.errors import ChannelError, shown, suggestion
from tidings.notifying.confirmations import Confirmations, confirmation_mail
from tidings.notifying.mail_text import LONGEST_NAME, Mail, mail_of, one_line
from tidings.notifying.parcel import Attempt, Parcel
from tidings.schema import Instant
from tidings.settings import InvalidSetting, Settings

LONGEST_ADDRESS = 254
_MEMBERS = ("kind", "address", "digest", "rate", "quiet")  # the last three are the rhythm's business
_LOCAL = re.compile(r"[A-Za-z0-9#$&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9#$&'*+/=?^_`{|}~-]+)*")  # no '%' and '!': they route
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_ID = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")
_UNKNOWN_USER = re.compile(r"5\.1\.(1|10)\b")
_LONGEST_LINE = 998  # of a mail, by its standard
_LONGEST_RESPONSE = 2_048
_MAILS_A_CONNECTION = 100
_CLOSING = 421  # the server is about to hang up
_NO_CODE = -1  # smtplib's word for an answer that does not begin with a number
_IDLE_SECONDS = 20.0  # servers hang up after some minutes
_NO_TIME = 0.001  # seconds; a time-out of 0 would mean another thing
_GRACE = 1.0  # seconds; the thread's own limit comes first, and knows which step took so long
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class EmailNotOffered(ChannelError):
    """This service has no mail server."""

    def __str__(self) -> str:
        return "this service sends no mail; its operator can set smtp_host and mail_from"


class InvalidMailAddress(ChannelError):
    """What was given, and what is wrong with it."""

    def __init__(self, address: object, problem: str) -> None:
        super().__init__(address, problem)

    def __str__(self) -> str:
        address, problem = self.args
        return f"{shown(address)} {problem}; expected is one address such as 'someone@example.org'"


class UnknownEmailMember(ChannelError):
    """A member of the channel's JSON that an email channel does not have."""

    def __init__(self, name: str) -> None:
        super().__init__(name)

    def __str__(self) -> str:
        return f"an email channel has no {shown(self.args[0])}{suggestion(str(self.args[0]), _MEMBERS)}"


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
        self._idle: deque[_Connection] = deque()

    def check(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The rhythm's members pass as they are."""
        if not self._settings.smtp_host:
            raise EmailNotOffered
        for name in settings:
            if name not in _MEMBERS:
                raise UnknownEmailMember(name)
        return {**settings, "kind": self.kind, "address": checked_address(settings.get("address"))}

    async def send(self, parcel: Parcel, settings: Mapping[str, Any], now: Instant) -> Attempt:
        """A parcel of one id is one Message-ID in every attempt, so that a second copy can be told from news."""
        try:
            address = str(self.check(settings)["address"])
        except ChannelError as problem:
            return Attempt(
                False, 0.0, f"SMTP to {one_line(settings.get('address'), LONGEST_NAME)}", problem=str(problem)
            )
        link = self._link("unsubscribe", self._confirmations.make("unsubscribe", parcel.subscription, address, now))
        message = self._message(address, mail_of(parcel, link), f"{parcel.subscription}\n{parcel.id}", parcel.id, now)
        return await self._handed_over(address, message, link)

    async def ask_to_confirm(self, subscription: str, owner: str, address: str, now: Instant) -> Attempt:
        """Sends the mail whose link makes the channel active. Whoever calls limits how often: this is a mail to
        somebody who has not asked for any. Raises as `check` does."""
        address = str(self.check({"address": address})["address"])
        token = self._confirmations.make("confirm", subscription, address, now)
        mail = confirmation_mail(self._link("confirm", token), owner)
        return await self._handed_over(address, self._message(address, mail, token, "", now))

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
        sending = _Sending(self._settings, self._tls, self._idle, began + self._seconds)
        work = asyncio.get_running_loop().run_in_executor(
            self._threads, sending.run, self._from.addr_spec, address, mail
        )
        work.add_done_callback(lambda _: self._places.release())  # not before: a place is a thread
        try:
            done, _ = await asyncio.wait((work,), timeout=self._seconds + _GRACE)
        finally:
            if not work.done():
                sending.cut()
        code, text, problem, gone = work.result() if done else (None, "", _late("sending"), False)
        response = text[:_LONGEST_RESPONSE]
        return Attempt(not problem, time.monotonic() - began, request, code, response, problem, gone=gone)


class _Connection:
    """One conversation with the mail server, for several mails."""

    def __init__(self, settings: Settings, context: ssl.SSLContext, seconds: float) -> None:
        host, port = settings.smtp_host, settings.smtp_port
        self.client: smtplib.SMTP
        if settings.smtp_security == "tls":
            self.client = smtplib.SMTP_SSL(host, port, timeout=seconds, context=context)
        else:
            self.client = smtplib.SMTP(host, port, timeout=seconds)
        self.mails = 0
        self.used = time.monotonic()

    def introduce(self, settings: Settings, context: ssl.SSLContext) -> None:
        """Apart from connecting, so that whoever holds the connection can cut it meanwhile."""
        try:
            self.client.ehlo_or_helo_if_needed()
            if settings.smtp_security == "starttls":
                self.client.starttls(context=context)
                self.client.ehlo()
            if settings.smtp_user:
                self.client.login(settings.smtp_user, settings.smtp_password)
        except BaseException:
            self.client.close()
            raise

    @property
    def is_fresh(self) -> bool:
        return self.mails < _MAILS_A_CONNECTION and time.monotonic() - self.used < _IDLE_SECONDS

    def leave(self) -> None:
        with suppress(OSError, smtplib.SMTPException):  # it is over either way
            self.client.quit()
        self.client.close()


_Outcome = tuple[int | None, str, str, bool]  # code, the server's words, the problem, gone


class _Sending:
    """One mail on its way, in a thread. `cut` ends it from outside."""

    def __init__(self, settings: Settings, tls: ssl.SSLContext, idle: deque[_Connection], deadline: float) -> None:
        self._settings, self._tls, self._idle, self._deadline = settings, tls, idle, deadline
        self._connection: _Connection | None = None
        self._step = "connecting"

    def cut(self) -> None:
        if self._connection is not None and (sock := self._connection.client.sock) is not None:
            with suppress(OSError):  # it has just ended by itself
                socket.socket.shutdown(sock, socket.SHUT_RDWR)  # below TLS, which the thread is using

    def run(self, sender: str, address: str, mail: bytes) -> _Outcome:
        try:
            return self._run(sender, address, mail)
        except smtplib.SMTPAuthenticationError as problem:
            return _refusal("the user of the settings", problem.smtp_code, _words(problem.smtp_error))
        except smtplib.SMTPResponseException as problem:
            return _refusal(self._step, problem.smtp_code, _words(problem.smtp_error))
        except TimeoutError:
            return None, "", _late(self._step), False
        except smtplib.SMTPServerDisconnected:
            if self._left() <= _NO_TIME:  # smtplib calls a time-out so
                return None, "", _late(self._step), False
            return None, "", f"the mail server closed the connection ({self._step})", False
        except ssl.SSLError as problem:
            return None, "", f"no encrypted connection with the mail server: {problem.reason or problem}", False
        except (OSError, smtplib.SMTPException) as problem:
            words = getattr(problem, "strerror", None) or str(problem)
            return None, "", f"the mail server cannot be used ({self._step}): {words}", False

    def _run(self, sender: str, address: str, mail: bytes) -> _Outcome:
        """A connection that the server closed while it was idle costs nothing: the mail goes by the next one."""
        while self._idle:
            with suppress(IndexError):  # another thread took the last
                self._connection = self._idle.pop()
                if self._connection.is_fresh:
                    with suppress(smtplib.SMTPServerDisconnected, ConnectionError):
                        outcome = self._converse(self._connection, sender, address, mail)
                        if outcome[0] != _CLOSING or self._step != "the sender":
                            return outcome
                    if self._step != "the sender":  # the server may have taken it: the outbox decides
                        raise smtplib.SMTPServerDisconnected
                self._connection.client.close()
        self._step = "connecting"
        self._connection = _Connection(self._settings, self._tls, self._left())
        self._connection.introduce(self._settings, self._tls)
        return self._converse(self._connection, sender, address, mail)

    def _left(self) -> float:
        return max(self._deadline - time.monotonic(), _NO_TIME)

    def _converse(self, connection: _Connection, sender: str, address: str, mail: bytes) -> _Outcome:
        client = connection.client
        steps: tuple[tuple[str, Callable[[], tuple[int, bytes]]], ...] = (
            ("the sender", lambda: client.mail(sender)),
            ("the recipient", lambda: client.rcpt(address)),
            ("the mail", lambda: client.data(mail)),
        )
        try:
            for self._step, say in steps:
                if client.sock is not None:
                    client.sock.settimeout(self._left())
                code, answer = say()
                if not 200 <= code < 300:
                    break
        except BaseException:
            client.close()
            raise
        taken = 200 <= code < 300
        if taken or self._is_usable_after(code, client):
            connection.mails += 1
            connection.used = time.monotonic()
            self._idle.append(connection)
        else:
            client.close()
        return (code, _words(answer), "", False) if taken else _refusal(self._step, code, _words(answer))

    def _is_usable_after(self, refusal: int, client: smtplib.SMTP) -> bool:
        """What was refused is known already, whatever becomes of the connection now."""
        try:
            return refusal not in (_CLOSING, _NO_CODE) and client.rset()[0] == 250
        except (OSError, smtplib.SMTPException):
            return False


def _refusal(what: str, code: int, words: str) -> _Outcome:
    """Of 5xx only an unknown user is final for the channel: a full box or a filter's verdict may pass."""
    if code == _NO_CODE:
        return None, words, f"the mail server answered what is no SMTP ({what})", False
    gone = what == "the recipient" and 500 <= code < 600 and _UNKNOWN_USER.match(words) is not None
    later = "asks to try later" if 400 <= code < 500 else "refused"
    first = one_line(words, 200)
    return code, words, f"the mail server {later} ({what}): {code} {first}".rstrip(), gone


def _late(step: str) -> str:
    return f"the mail server did not answer in time ({step})"


def _words(answer: bytes | str) -> str:
    return answer if isinstance(answer, str) else answer.decode("utf-8", "replace")


def _unsubscribe_header(link: str) -> bytes:
    """Written by hand: the standard library would encode a long link beyond recognition. A link too long for a line
    (of an id with hundreds of characters) stands in the text alone."""
    line = f"List-Unsubscribe: <{link}>"
    if not link or len(line) > _LONGEST_LINE:
        return b""
    return f"{line}\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n".encode("ascii")


def checked_address(address: object) -> str:
    """One address, its domain in lower case and ASCII. Raises InvalidMailAddress."""
    if not isinstance(address, str):
        raise InvalidMailAddress(address, "is no text")
    if len(address) > LONGEST_ADDRESS:
        raise InvalidMailAddress(address, f"has more than {LONGEST_ADDRESS} characters")
    local, at, domain = address.rpartition("@")
    if not at:
        raise InvalidMailAddress(address, "has no '@'")
    if not _LOCAL.fullmatch(local) or len(local) > 64:
        raise InvalidMailAddress(address, "has, before its last '@', what this service does not send to")
    try:
        ascii_domain = domain.encode("idna").decode().lower()
    except UnicodeError:
        ascii_domain = ""
    labels = ascii_domain.split(".")
    if len(labels) < 2 or not all(_LABEL.fullmatch(label) for label in labels) or labels[-1].isdigit():
        raise InvalidMailAddress(address, "has no full domain name after its '@'")
    if len(whole := f"{local}@{ascii_domain}") > LONGEST_ADDRESS:
        raise InvalidMailAddress(address, f"has more than {LONGEST_ADDRESS} characters")
    return whole


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
            "settings", "smtp_security", "must be starttls or tls, else smtp_password is sent readable"
        )
    return Address(one_line(name, LONGEST_NAME), addr_spec=checked)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
