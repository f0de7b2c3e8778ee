"""Hands one mail to the mail server, in a thread: its bytes in, the server's reply out.

EmailChannel ──> MailTransfer.run ──> MailConnection (kept for the next mails) ──> the mail server
"""

from __future__ import annotations

import re
import smtplib
import socket
import ssl
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from tidings.notifying.mail.text import one_line
from tidings.settings import Settings

_UNKNOWN_USER = re.compile(r"5\.1\.(1|10)\b")
_MAILS_A_CONNECTION = 100
_CLOSING = 421  # the server is about to hang up
_NO_CODE = -1  # smtplib's word for an answer that does not begin with a number
_IDLE_SECONDS = 20.0  # servers hang up after some minutes
_NO_TIME = 0.001  # seconds; a time-out of 0 would mean another thing


class MailConnection:
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
        """Apart from connecting, so that the holder of the connection can cut it meanwhile."""
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


Outcome = tuple[int | None, str, str, bool]  # code, the server's words, the problem, gone


class MailTransfer:
    """One mail on its way, in a thread. `cut` ends it from outside."""

    def __init__(self, settings: Settings, tls: ssl.SSLContext, idle: deque[MailConnection], deadline: float) -> None:
        self._settings, self._tls, self._idle, self._deadline = settings, tls, idle, deadline
        self._connection: MailConnection | None = None
        self._step = "connecting"

    def cut(self) -> None:
        if self._connection is not None and (sock := self._connection.client.sock) is not None:
            with suppress(OSError):  # it has just ended by itself
                socket.socket.shutdown(sock, socket.SHUT_RDWR)  # below TLS, which the thread is using

    def run(self, sender: str, address: str, mail: bytes) -> Outcome:
        try:
            return self._run(sender, address, mail)
        except smtplib.SMTPAuthenticationError as problem:
            return _refusal("the user of the settings", problem.smtp_code, _words(problem.smtp_error))
        except smtplib.SMTPResponseException as problem:
            return _refusal(self._step, problem.smtp_code, _words(problem.smtp_error))
        except TimeoutError:
            return None, "", late(self._step), False
        except smtplib.SMTPServerDisconnected:
            if self._left() <= _NO_TIME:  # smtplib calls a time-out so
                return None, "", late(self._step), False
            return None, "", f"the mail server closed the connection ({self._step})", False
        except ssl.SSLError as problem:
            return None, "", f"no encrypted connection to the mail server: {problem.reason or problem}", False
        except (OSError, smtplib.SMTPException) as problem:
            words = getattr(problem, "strerror", None) or str(problem)
            return None, "", f"the mail server cannot be used ({self._step}): {words}", False

    def _run(self, sender: str, address: str, mail: bytes) -> Outcome:
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
        self._connection = MailConnection(self._settings, self._tls, self._left())
        self._connection.introduce(self._settings, self._tls)
        return self._converse(self._connection, sender, address, mail)

    def _left(self) -> float:
        return max(self._deadline - time.monotonic(), _NO_TIME)

    def _converse(self, connection: MailConnection, sender: str, address: str, mail: bytes) -> Outcome:
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


def _refusal(what: str, code: int, words: str) -> Outcome:
    """Of 5xx only an unknown user is final for the channel: a full box or a filter's verdict may pass."""
    if code == _NO_CODE:
        return None, words, f"the mail server's answer is not SMTP ({what})", False
    gone = what == "the recipient" and 500 <= code < 600 and _UNKNOWN_USER.match(words) is not None
    later = "asks to try later" if 400 <= code < 500 else "refused"
    first = one_line(words, 200)
    return code, words, f"the mail server {later} ({what}): {code} {first}".rstrip(), gone


def late(step: str) -> str:
    return f"the mail server did not answer in time ({step})"


def _words(answer: bytes | str) -> str:
    return answer if isinstance(answer, str) else answer.decode("utf-8", "replace")
