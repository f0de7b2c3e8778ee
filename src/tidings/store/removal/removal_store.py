"""The methods of the store that remove what is old."""

from __future__ import annotations

from tidings.schema import Instant
from tidings.store.clock.clock_guard import ClockGuard
from tidings.store.databases.database import Database
from tidings.store.removal import old_deliveries, old_entries


class RemovalStore:
    """Every method removes a bounded piece. Those that go by time raise ClockJumped where the clock is wrong."""

    database: Database
    clock: ClockGuard
    _swept_to: old_deliveries.ChannelKey = old_deliveries.FIRST  # the channel that was looked at last

    def trim(
        self,
        before: Instant | None = None,
        most_bytes: int | None = None,
        needed_from: int | None = None,
        limit: int | None = None,
    ) -> int:
        """Removes the oldest events: those accepted before a time, and so many that the rest fits into `most_bytes`.

        Only up to the committed position, below `needed_from` and below all that is still owed. Answers how many.
        Raises ClockJumped where a time is given and the clock is wrong.
        """
        if before is not None:
            self.clock.look().check()
        return old_entries.trim(self.database, before, most_bytes, needed_from, limit)

    def forget(self, limit: int = 10_000) -> int:
        """Removes notifications whose events were removed. Answers how many; less than the limit: there are no more."""
        return old_entries.forget(self.database, limit)

    def forget_keys(self, before: Instant, limit: int = 1_000) -> int:
        """Removes keys of removed events that were accepted before a time: published again, such an event is new.
        Returns how many; less than the limit: there are no more."""
        self.clock.look().check()
        return old_entries.forget_keys(self.database, before, limit)

    def forget_spans(self, limit: int = 1_000) -> int:
        """Removes spans that closed before the oldest event that is kept. Returns how many, as `forget_keys` does."""
        return old_entries.forget_spans(self.database, limit)

    def forget_letters(self, before: Instant, limit: int = 1_000) -> int:
        """Removes dead letters stored before a time. Returns how many, as `forget_keys` does."""
        self.clock.look().check()
        return old_entries.forget_letters(self.database, before, limit)

    def sweep(self, before: Instant, limit: int = 500) -> int:
        """Removes up to `limit` deliveries done before a time, with their attempts, and as many older notices;
        gives up deliveries held since then. Returns how many; fewer than `limit` when none are left."""
        self.clock.look().check()
        now = self.clock.now()
        removed, self._swept_to = old_deliveries.sweep(self.database, before, now, limit, self._swept_to)
        return removed

    def owed_from(self) -> int | None:
        """The first position that is needed for what is owed; `trim` leaves all from there on."""
        with self.database.reading() as connection:
            return old_entries.owed_from(connection, self.database.dialect)
