"""Mails owners of disabled channels, one mail after the other, beside all that the outbox does."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from tidings.errors import StoreError
from tidings.notifying.outbox.delivery_sender import DeliverySender, MailNotice
from tidings.notifying.outbox.schedule import MICROSECONDS
from tidings.schema import Instant
from tidings.store import DueNotice, Store

_LOOK = MICROSECONDS  # between looks for notices
_AT_ONCE = 10
_log = logging.getLogger(__name__)


class NoticeMailer:
    """`in_thread` calls the store. Without `mail_notice` nothing is mailed."""

    def __init__(
        self,
        store: Store,
        holder: str,
        sender: DeliverySender,
        mail_notice: MailNotice | None,
        in_thread: Callable[..., Awaitable[Any]],
    ) -> None:
        self._store, self._holder, self._sender, self._in_thread = store, holder, sender, in_thread
        self._mail_notice = mail_notice
        self._looks_at = 0
        self._task: asyncio.Task[None] | None = None

    async def look(self, now: Instant) -> None:
        """Starts mailing what is due. Raises StoreError."""
        if self._mail_notice is None or now < self._looks_at or (self._task is not None and not self._task.done()):
            return
        self._looks_at = now + _LOOK
        if found := await self._in_thread(self._store.due_notices, now, _AT_ONCE):
            self._task = asyncio.create_task(self._mail(self._mail_notice, found))

    async def finish(self, seconds: float) -> None:
        if self._task is not None:
            await asyncio.wait([self._task], timeout=seconds)

    def end(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _mail(self, mail_notice: MailNotice, found: Sequence[DueNotice]) -> None:
        try:
            for notice in found:
                due = await self._sender.mail(mail_notice, notice)
                await self._in_thread(self._store.notice_mailed, self._holder, notice.number, due)
        except StoreError as problem:  # also LeaseLost: the new leader mails it
            _log.warning("a mailed notice could not be recorded: %s", problem)
