"""The methods of the store for the pipeline, which commits matches, and for whoever reads notifications."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tidings.schema import Instant
from tidings.store.clock.clock_guard import ClockGuard
from tidings.store.databases.database import Database
from tidings.store.journal.entries import Notification
from tidings.store.lease import check_lease, take_lease
from tidings.store.notifications import notifications, progress, staging
from tidings.store.notifications.progress import MATCHES, Place
from tidings.store.notifications.quotas import Dropped, Quotas, dropped_of, most_dropped


class NotificationStore:
    """Every method is one short transaction, except `commit`, which makes several."""

    database: Database
    clock: ClockGuard

    def committed(self, query: str = MATCHES) -> int:
        """The position up to which all notifications of a query are stored."""
        return self.place(query).committed

    def place(self, query: str = MATCHES) -> Place:
        """How far a query is."""
        with self.database.reading() as connection:
            return progress.place_of(connection, query)

    def least_committed(self) -> int:
        """The position up to which all queries have stored what they found."""
        with self.database.reading() as connection:
            return progress.least_committed(connection)

    def quotas(self) -> Quotas:
        with self.database.reading() as connection:
            return Quotas.read(connection)

    def commit(
        self, first: int, last: int, chunks: Iterable[Any], query: str = MATCHES, pace: Any = None,
        batch_limit: int | None = None, now: Instant | None = None,
    ) -> int:  # fmt: skip
        """Stores the notifications of the events at [first, last], in parts, and moves the committed position there.

        `chunks` are record batches of `commits.CHUNK`, in the order of position and subscription. What was committed
        before is skipped, so a batch may be given again. Answers how many were added; raises Gap or OutsideBatch.
        """
        from tidings.store.notifications.commits import Pace, commit  # the gateway starts without pyarrow

        moment = self.clock.now() if now is None else now
        return commit(self.database, query, first, last, chunks, moment, pace or Pace(), batch_limit)

    def take_pipeline_lease(self, holder: str, seconds: float) -> str:
        """Who may match from now on, for so long: this pipeline, or the one that holds the lease. 0 gives it back."""
        return take_lease(self.database, self.clock, "pipeline", holder, seconds)

    def check_pipeline_lease(self, holder: str) -> None:
        """Raises LeaseLost where another pipeline holds the lease now."""
        with self.database.reading() as connection:
            check_lease(connection, "pipeline", holder)

    def most_dropped(self, limit: int) -> list[Dropped]:
        """The accounts that lost most matches to their quotas, ever."""
        with self.database.reading() as connection:
            return most_dropped(connection, limit)

    def dropped_of(self, account: str) -> Dropped:
        with self.database.reading() as connection:
            return dropped_of(connection, account)

    def stage(self, run: str, chunk: int, body: bytes) -> None:
        """Leaves a chunk of matches for the sink."""
        staging.put(self.database, run, chunk, body)

    def staged(self, run: str, chunk: int) -> bytes | None:
        return staging.get(self.database, run, chunk)

    def sweep_staged(self, batch: str) -> None:
        """Removes the chunks of runs whose names begin so."""
        staging.sweep(self.database, batch)

    def notifications(
        self, after: int = 0, limit: int = 1000, subscription: str | None = None, owner: str | None = None
    ) -> list[Notification]:
        """By cursor, from after this one on: all, or one owner's, one subscription's, or both.

        Without an owner, a subscription's are found by reading all of them.
        """
        with self.database.reading() as connection:
            return notifications.after_cursor(connection, after, limit, subscription, owner)

    def owned_notifications(self, after: int, limit: int) -> tuple[int, list[tuple[str, Notification]]]:
        """Everybody's, each with its owner, by cursor from after this one on; and the cursor to go on from."""
        with self.database.reading() as connection:
            return notifications.owned_after(connection, after, limit)

    def last_cursor(self) -> int:
        """Of the newest notification, 0 when there is none."""
        with self.database.reading() as connection:
            return progress.last_cursor(connection)

    def newest_notification(self, subscription: str, owner: str) -> Notification | None:
        with self.database.reading() as connection:
            return notifications.newest(connection, subscription, owner)

    def notification_table(self, after_position: int = 0) -> Any:
        """All pairs of position and subscription, as an Arrow table."""
        return notifications.as_table(self.database, after_position)
