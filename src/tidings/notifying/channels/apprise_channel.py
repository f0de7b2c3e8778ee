"""Notifications by Apprise, which speaks to a hundred services; a URL says which, and with what secrets.

    OutgoingDelivery ──> a mail's subject and plain text ──> one plugin of Apprise, in a thread ──> Attempt

The URL is a user's. So only the schemes of the settings are taken, no option that reads files or weakens the
connection, and every connection that a plugin opens is held to public addresses at the moment it is opened: neither a
name that changes its mind nor a redirect leads into our own network. Apprise is imported when it is first used.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from tidings.errors import ChannelError, Explained, one_of, shown, suggestion
from tidings.notifying.apprise_place import apprise_place
from tidings.notifying.channels.apprise_watch import WATCH, Watch, start_watching
from tidings.notifying.delivery import Attempt, OutgoingDelivery
from tidings.notifying.mail.text import mail_of, one_line
from tidings.schema import Instant
from tidings.settings import Settings

if TYPE_CHECKING:
    from apprise.plugins.base import NotifyBase

LONGEST_URL = 2_000
LONGEST_PROBLEM = 500
_MEMBERS = ("kind", "url", "digest", "rate", "quiet")  # the last three are the rhythm's business
_FILES = frozenset({"template", "attach", "config", "keyfile", "pem", "store"})
_REFUSED = _FILES | {"verify", "redirect", "cto", "rto", "retry", "wait", "optional"}  # these weaken the connection
_SCHEME = re.compile(r"([a-z0-9]+)://", re.IGNORECASE)
_CALLING = re.compile(r"@(?=everyone\b|here\b|channel\b|all\b|room\b)|<(?=[@!#])", re.IGNORECASE)
_SHORTEST_SECRET = 4


class UnknownAppriseMember(Explained, ChannelError):
    """A member of the channel's JSON that an Apprise channel does not have."""

    name: str
    template = "an Apprise channel has no member {name!v}{meant}"

    @property
    def meant(self) -> str:
        return suggestion(self.name, _MEMBERS)


class SchemeNotAllowed(Explained, ChannelError):
    """The scheme of an Apprise URL, and those that this service accepts."""

    scheme: str
    allowed: tuple[str, ...]
    template = "{told}"

    @property
    def told(self) -> str:
        if not self.allowed:
            return "this service sends nothing by Apprise; its operator can set apprise_schemes"
        return f"an Apprise URL cannot begin with {shown(self.scheme)} here; valid schemes: {', '.join(self.allowed)}"


class InvalidAppriseUrl(Explained, ChannelError):
    """The scheme and host (never more: the rest is secret), and what is wrong."""

    place: str
    reason: str
    template = "the Apprise URL {named}{reason}"

    @property
    def named(self) -> str:
        return f"{self.place} " if self.place else ""


class AppriseChannel:
    """`seconds` is the time for one delivery, `threads` how many are sent at once. `allow_loopback` is for development
    and admits this machine beside public addresses."""

    kind = "apprise"

    def __init__(
        self, settings: Settings, *, threads: int = 8, seconds: float = 15.0, allow_loopback: bool = False
    ) -> None:
        self._schemes = settings.apprise_schemes
        self._seconds = seconds
        self._allow_loopback = allow_loopback
        self._places = asyncio.Semaphore(threads)
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="apprise")

    def check(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The rhythm's members pass as they are. Connects to nothing."""
        for name in settings:
            if name not in _MEMBERS:
                raise UnknownAppriseMember(name)
        url = settings.get("url")
        if not isinstance(url, str) or len(url) > LONGEST_URL or not url.isprintable():
            raise InvalidAppriseUrl("", f"must be one line of at most {LONGEST_URL:,} characters")
        url = url.strip()
        watch = Watch(self._allow_loopback)
        watch.end()
        self._plugin(url, watch)
        return {**settings, "kind": self.kind, "url": url}

    async def send(self, delivery: OutgoingDelivery, settings: Mapping[str, Any], now: Instant) -> Attempt:
        url = str(settings.get("url", ""))
        request = f"Apprise {apprise_place(url)}"
        mail = mail_of(delivery)
        await self._places.acquire()
        began = time.monotonic()
        watch = Watch(self._allow_loopback)
        work = asyncio.get_running_loop().run_in_executor(
            self._threads, self._sent, url, _calm(mail.subject), _calm(mail.plain), watch
        )
        work.add_done_callback(lambda _: self._places.release())  # not before: a place is a thread
        try:
            done, _ = await asyncio.wait((work,), timeout=self._seconds)
        finally:
            watch.end()  # a thread cannot be stopped, but without its connections it comes to an end
        problem = work.result() if done else f"no answer within {self._seconds:g} s"
        return Attempt(not problem, time.monotonic() - began, request, problem=problem)

    def close(self) -> None:
        """Waits for what is under way."""
        self._threads.shutdown()

    def _sent(self, url: str, title: str, body: str, watch: Watch) -> str:
        """In a thread. The problem, or nothing."""
        try:
            plugin = self._plugin(url, watch)
        except ChannelError as problem:
            return str(problem)
        token = WATCH.set(watch)
        try:
            sent = plugin.notify(body=body, title=title, body_format="text", overflow="truncate")
        except Exception as problem:  # a plugin is others' code: whatever it raises is a failed attempt
            watch.lines.append(f"{type(problem).__name__}: {problem}")
            sent = False
        finally:
            WATCH.reset(token)
        if sent:
            return ""
        lines = "; ".join(dict.fromkeys(watch.lines)) or "it was refused without a reason"
        return one_line(_without_secrets(lines, url), LONGEST_PROBLEM)

    def _plugin(self, url: str, watch: Watch) -> NotifyBase:
        """The plugin for the URL, with the connection's rules put back to the careful ones."""
        found = _SCHEME.match(url)
        scheme = found[1].lower() if found else url.partition(":")[0][:20]
        if not found or scheme not in self._schemes:
            raise SchemeNotAllowed(scheme, self._schemes)
        from apprise import Apprise, AppriseAsset
        from apprise.plugins import url_to_dict

        start_watching()
        token = WATCH.set(watch)
        try:
            parts = url_to_dict(url)  # type: ignore[no-untyped-call]
            if parts is None or parts.get("schema") not in self._schemes:
                raise InvalidAppriseUrl(
                    apprise_place(url), "was not recognized; see Apprise's documentation for its form"
                )
            given = {str(name).lower() for name in parts["qsd"]} | {name for name in _FILES if parts.get(name)}
            if refused := sorted(given & _REFUSED):
                raise InvalidAppriseUrl(
                    apprise_place(url), f"cannot have the option {one_of(refused)} here; leave it out"
                )
            plugin = Apprise.instantiate(parts, AppriseAsset(storage_mode="memory"), suppress_exceptions=False)
        except ChannelError:
            raise
        except Exception as problem:  # a plugin's word for wrong parts, TypeError as a rule, maybe with a secret in it
            reason = one_line(_without_secrets(str(problem), url), LONGEST_PROBLEM)
            raise InvalidAppriseUrl(apprise_place(url), f"was refused by Apprise: {reason}") from None
        finally:
            WATCH.reset(token)
        if plugin is None:
            raise InvalidAppriseUrl(apprise_place(url), "names a service whose library is not installed here")
        plugin.redirects = False
        plugin.verify_certificate = True
        plugin.socket_connect_timeout = plugin.socket_read_timeout = self._seconds + 1  # after the whole limit
        return plugin


def _without_secrets(text: str, url: str) -> str:
    """Each part of the URL but scheme and host is left out of what a plugin says."""
    place = apprise_place(url)
    rest = url.partition("://")[2]
    parts = {part for form in (rest, unquote(rest)) for part in re.split(r"[/?#&=:@,\s]", form)}
    for part in sorted(parts, key=len, reverse=True):
        if len(part) >= _SHORTEST_SECRET and part.lower() not in place:
            text = re.sub(re.escape(part), "…", text, flags=re.IGNORECASE)
    return text


def _calm(text: str) -> str:
    """Event content must not call a whole room (`@everyone`, `<!channel>`): a mark without width breaks the word."""
    return _CALLING.sub(lambda found: found[0] + "\u200b", text)
