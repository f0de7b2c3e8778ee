"""The methods of the store for channels, deliveries and the outbox."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tidings.schema import Instant
from tidings.store.clock.clock_guard import ClockGuard
from tidings.store.databases.database import Database
from tidings.store.deliveries import absence, channels, creation, deliveries, due_deliveries, notice_mails, notices
from tidings.store.deliveries.channels import ChannelState, Secrets, StoredChannel
from tidings.store.deliveries.deliveries import (
    DeliveryFigures,
    DeliveryState,
    StoredAttempt,
    StoredDelivery,
)
from tidings.store.deliveries.due_deliveries import DeliveryContents, DueDelivery
from tidings.store.deliveries.notice_mails import DueNotice
from tidings.store.deliveries.notices import Notice
from tidings.store.deliveries.results import AttemptResult, GivesUp, record_results
from tidings.store.deliveries.rhythm import Rhythms
from tidings.store.errors import NoSuchDelivery
from tidings.store.lease import take_lease


class OutboxStore:
    """Every method is one short transaction. The owner is part of a channel's name: see `tables`."""

    database: Database
    clock: ClockGuard

    # For owners

    def set_channel(self, channel: StoredChannel) -> StoredChannel:
        """Makes or replaces it; what is found from now on is owed. One that is replaced goes on counting, and what it
        owes goes out by the new settings."""
        return channels.set_channel(self.database, channel, self.clock.now())

    def channel(self, subscription: str, owner: str | None = None) -> StoredChannel | None:
        """None: what is found is only stored. Without an owner, the newest under this id, whoever's it is."""
        with self.database.reading() as connection:
            return channels.channel(connection, subscription, owner)

    def active_channels(self, owner: str, most: int = 1_000) -> list[StoredChannel]:
        """Those of an owner that send now, the one that was changed last at the end."""
        with self.database.reading() as connection:
            return channels.active_channels(connection, owner, most)

    def channels_of(self, owner: str, subscriptions: Sequence[str]) -> dict[str, StoredChannel]:
        """Those of these subscriptions that have one."""
        with self.database.reading() as connection:
            return channels.channels_of(connection, self.database.dialect, owner, subscriptions)

    def change_channel(
        self,
        subscription: str,
        owner: str | None = None,
        *,
        state: ChannelState | None = None,
        reason: str | None = None,
        settings: Mapping[str, Any] | None = None,
        secrets: Secrets | None = None,
    ) -> StoredChannel:
        """What is given. Raises NoSuchChannel."""
        now = self.clock.now()
        return channels.change_channel(self.database, subscription, owner, state, reason, settings, secrets, now)

    def remove_channel(self, subscription: str, owner: str | None = None) -> bool:
        """What is found from now on is only stored; what was found before is still sent. Not for one that is
        withdrawn: its last events may not be matched yet."""
        return channels.remove_channel(self.database, subscription, owner, self.clock.now())

    def deliveries_of(
        self,
        subscription: str,
        owner: str,
        after: int = 0,
        limit: int = 100,
        state: DeliveryState | None = None,
        newest: bool = True,
    ) -> list[StoredDelivery]:
        """From the newest on, or the oldest; after this number in that order (0: from the first)."""
        with self.database.reading() as connection:
            return deliveries.deliveries_of(connection, subscription, owner, after, limit, state, newest)

    def delivery(self, number: int, owner: str) -> StoredDelivery:
        """Raises NoSuchDelivery, also where it is not this owner's."""
        with self.database.reading() as connection:
            found = deliveries.delivery(connection, number, owner)
        if found is None:
            raise NoSuchDelivery(number)
        return found

    def attempts_of(self, number: int) -> list[StoredAttempt]:
        """All of them, also from before a replay, in order."""
        with self.database.reading() as connection:
            return deliveries.attempts_of(connection, number)

    def replay(
        self,
        subscription: str,
        owner: str,
        numbers: Collection[int] | None = None,
        *,
        failed: bool = False,
        sequences: tuple[int, int] | None = None,
    ) -> int:
        """Sends deliveries again, also those that arrived: by number, all dead ones, or those with a sequence number in
        the range (inclusive); conditions are combined. Returns how many; deliveries whose events were removed are
        skipped. Raises NoSuchChannel."""
        now = self.clock.now()
        return deliveries.replay(self.database, subscription, owner, numbers, failed, sequences, now)

    def notices_of(self, owner: str, after: int = 0, limit: int = 100) -> list[Notice]:
        with self.database.reading() as connection:
            return notices.notices_of(connection, owner, after, limit)

    def see_notices(self, owner: str, upto: int) -> int:
        """Marks them as seen, up to this number. Answers how many."""
        return notices.see_notices(self.database, owner, upto)

    # For operators

    def troubled(self, limit: int = 100) -> list[StoredChannel]:
        """The channels that fail, were disabled or are slow, whoever's they are."""
        with self.database.reading() as connection:
            return channels.troubled(connection, limit)

    def delivery_figures(self) -> list[DeliveryFigures]:
        """By kind of channel."""
        with self.database.reading() as connection:
            return deliveries.figures(connection)

    # For the outbox

    def take_lease(self, holder: str, seconds: float) -> bool:
        """Whether this outbox may send for so long from now on; 0 gives the lease back."""
        return take_lease(self.database, self.clock, "outbox", holder, seconds) == holder

    def seconds_without_outbox(self) -> float:
        """For how long no outbox has had the lease while something is to be sent; 0 where one has it."""
        now = self.clock.now()
        with self.database.reading() as connection:
            return absence.seconds_without_outbox(connection, now)

    def has_deliveries_to_create(self, now: Instant) -> bool:
        """Whether `create_deliveries` has something to do."""
        with self.database.reading() as connection:
            return creation.has_deliveries_to_create(connection, self.database.dialect, now)

    def create_deliveries(self, holder: str, now: Instant, limit: int, rhythms: Rhythms) -> int:
        """Creates deliveries for up to `limit` notifications; returns 0 when caught up. Raises LeaseLost."""
        return creation.create_deliveries(self.database, holder, now, limit, rhythms)

    def due(self, now: Instant, limit: int, after: tuple[int, int] = (0, 0)) -> list[DueDelivery]:
        """What is to be sent by now, by time and number, from after such a pair on."""
        with self.database.reading() as connection:
            return due_deliveries.due(connection, self.database.dialect, now, limit, after)

    def due_of(self, subscription: str, owner: str, first: bool, now: Instant, limit: int) -> list[DueDelivery]:
        """The same of one channel, by number: what was never tried, or only the rest."""
        with self.database.reading() as connection:
            return due_deliveries.due_of(connection, self.database.dialect, subscription, owner, first, now, limit)

    def contents(self, numbers: Sequence[int]) -> list[DeliveryContents]:
        """What these deliveries hold; those that are not to be sent any more, or not now, are left out."""
        with self.database.reading() as connection:
            return due_deliveries.contents(connection, self.database.dialect, numbers)

    def record_results(self, holder: str, results: Sequence[AttemptResult], now: Instant, gives_up: GivesUp) -> None:
        """Records results of attempts. Raises LeaseLost and then changes nothing."""
        record_results(self.database, holder, results, now, gives_up)

    def due_notices(self, now: Instant, limit: int) -> list[DueNotice]:
        """Notices to mail to their owners."""
        with self.database.reading() as connection:
            return notice_mails.due_notices(connection, now, limit)

    def notice_mailed(self, holder: str, number: int, due: Instant | None) -> None:
        """The notice was mailed or is given up (`due` is None), or is retried at `due`. Raises LeaseLost."""
        notice_mails.notice_mailed(self.database, holder, number, due)
