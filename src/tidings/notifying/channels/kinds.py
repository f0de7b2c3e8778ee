"""Every kind of channel that this installation has, made from its settings: for the outbox, which sends, and for the
service, which checks what subscribers ask for."""

from __future__ import annotations

import asyncio

from tidings.notifying.channels.apprise_channel import AppriseChannel
from tidings.notifying.channels.email_channel import EmailChannel
from tidings.notifying.channels.webhook import WebhookChannel
from tidings.notifying.delivery import Channel
from tidings.notifying.http.sender import HttpSender
from tidings.notifying.mail.confirmations import kept_key
from tidings.settings import Settings

KINDS = ("webhook", "email", "apprise")
_CONNECTIONS = 768  # more than the outbox ever has under way (`Limits.at_once` and half of it)


class Kinds:
    """`close` it in the event loop that used it. Raises InvalidSetting or UnusableKey where the settings cannot be."""

    def __init__(self, settings: Settings) -> None:
        loopback = settings.allow_loopback_webhooks
        self._sender = HttpSender(connections=_CONNECTIONS)
        self.webhook = WebhookChannel(self._sender, allow_loopback=loopback)
        key = kept_key(settings.data) if settings.smtp_host else bytes(32)  # which signs nothing: no mail is sent
        self.email = EmailChannel(settings, key)
        self.apprise = AppriseChannel(settings, allow_loopback=loopback)

    @property
    def by_name(self) -> dict[str, Channel]:
        return {one.kind: one for one in (self.webhook, self.email, self.apprise)}

    async def close(self) -> None:
        """Returns when what is under way has ended."""
        await self._sender.close()
        await asyncio.to_thread(self.email.close)
        await asyncio.to_thread(self.apprise.close)
