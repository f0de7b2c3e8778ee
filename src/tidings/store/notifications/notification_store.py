"""The methods of the store for the pipeline, which commits matches, and for whoever reads notifications."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tidings.schema import Instant
from tidings.store.clock.clock_guard import ClockGuard
from tidings.store.databases.database import Database
from tidings.store.journal.entries import Detection, Notification
from tidings.store.lease import check_lease, take_lease
from tidings.store.notifications import expression_errors, notifications, progress, staging, waiting
from tidings.store.notifications.expression_errors import ExpressionErrors, FailedEvent
from tidings.store.notifications.known_places import KnownPlaces
from tidings.store.notifications.progress import COMPOSITES, MATCHES, Place
from tidings.store.notifications.quotas import Dropped, Quotas, dropped_of, forget_minute, most_dropped
from tidings.store.notifications.waiting import CompositeProgress, CompositeSpan, LateEvent, State

if TYPE_CHECKING:
    from tidings.store.notifications.commits import Pace
    from tidings.store.notifications.composite_batch import CompositeBatch


class NotificationStore:
    """Every method is one short transaction, except the commits, which make several."""

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

    def quotas(self, accounts: Iterable[str] | None = None) -> Quotas:
        """Of these accounts, or of all."""
        with self.database.reading() as connection:
            if accounts is None:
                return Quotas.of_all(connection)
            return Quotas.of(connection, self.database.dialect, accounts)

    def commit(
        self, first: int, last: int, chunks: Iterable[Any], query: str = MATCHES, pace: Any = None,
        batch_limit: int | None = None, now: Instant | None = None, failed: Sequence[FailedEvent] = (),
    ) -> int:  # fmt: skip
        """Stores the notifications of the events at [first, last], in parts, and moves the committed position there.

        `chunks` are record batches of `commits.CHUNK`, in the order of position and subscription; `failed` are the
        events on which expressions ended in an error, in order. What was committed before is skipped, so a batch may be
        given again. Answers how many were added; raises Gap or OutsideBatch.
        """
        from tidings.store.notifications.commits import Pace, commit  # the gateway starts without pyarrow

        moment = self.clock.now() if now is None else now
        return commit(self.database, query, first, last, chunks, moment, pace or Pace(), batch_limit, failed)

    def expression_errors(self, spans: Iterable[int]) -> dict[int, ExpressionErrors]:
        """On how many events the expressions of subscriptions ended in an error, by where each began to count; only
        those that have some."""
        with self.database.reading() as connection:
            return expression_errors.errors_of(connection, spans)

    def commit_detections(self, batch: CompositeBatch, found: Iterable[Any] = (), pace: Pace | None = None) -> int:
        """Stores what composites found, in transactions at this pace, and what they wait for. `found` are Arrow record
        batches, in order. Answers how many notifications were added; 0 where the batch was committed before. Raises Gap
        or OutsideBatch."""
        from tidings.store.notifications import commits, detections  # the gateway starts without pyarrow

        return detections.commit_detections(self.database, batch, found, self.clock.now(), pace or commits.Pace())

    def begin_composites(self) -> bool:
        """Whether some composite is active, or was after what their query has committed: then it goes on from the start
        of that one. Otherwise it is idle."""
        with self.database.reading() as connection:
            place, is_busy = progress.place_of(connection, COMPOSITES), progress.is_busy(connection, COMPOSITES)
            first = progress.first_composite(connection, place.committed)
        if is_busy == (first is not None):
            return is_busy
        with self.database.writing("pipeline") as connection:
            first = progress.first_composite(connection, place.committed)  # one may have moved in since
            if first is None:
                progress.move(connection, COMPOSITES, replace(place, part=progress.IDLE))
                waiting.clear(connection)
            else:
                begin = max(place.committed, first - 1)
                progress.move(connection, COMPOSITES, replace(place, committed=begin, part=""))
        return not is_busy

    def composite_progress(self) -> CompositeProgress | None:
        """How far the composites' query is; None while there are no composites."""
        with self.database.reading() as connection:
            return waiting.composite_progress(connection)

    def restart_composites(self) -> None:
        """Forgets what composites wait for: their query reads the journal again, from where the first active one was
        posted. What it has stored is not stored again."""
        with self.database.writing("pipeline") as connection:
            progress.end(connection, COMPOSITES)
            waiting.clear(connection)
            forget_minute(connection, COMPOSITES)

    def waits_for_time(self, lateness: int) -> bool:
        """Whether a tick would tell composites something; `lateness` is in microseconds."""
        with self.database.reading() as connection:
            return waiting.waits_for_time(connection, self.database.dialect, int(self.clock.now()), lateness)

    def due_states(self, shard: int, until: int) -> list[State]:
        """What composites wait for that time alone changes up to there."""
        with self.database.reading() as connection:
            return waiting.due_states(connection, self.database.dialect, shard, until)

    def composite_states(self, start: int, limit: int) -> list[str] | None:
        """What the composite waits for that starts at this position, of as many of its keys; None where their query has
        not come to it."""
        with self.database.reading() as connection:
            done = waiting.composite_progress(connection)
            now = int(self.clock.now())
            return None if done is None or done.committed < start else waiting.bodies_of(connection, start, limit, now)

    def states_of(self, keys: Iterable[str]) -> list[State]:
        with self.database.reading() as connection:
            return waiting.states_of(connection, self.database.dialect, keys)

    def early_bodies(self, shard: int, span: int, upto: int) -> Iterator[str]:
        """Matches of events that happened up to the end of a span of `waiting.EARLY`, of batches up to a position."""
        with self.database.reading() as connection:
            yield from waiting.early_bodies(connection, self.database.dialect, shard, span, upto)

    def early_size(self, shard: int, span: int, upto: int) -> int:
        """How many characters `early_bodies` gives."""
        with self.database.reading() as connection:
            return waiting.early_size(connection, self.database.dialect, shard, span, upto)

    def known_places(self, first: int, last: int) -> KnownPlaces:
        """Where what becomes known within these positions is known."""
        with self.database.reading() as connection:
            return KnownPlaces.read(connection, first, last)

    def living_composites(self, after: int, upto: int) -> list[CompositeSpan]:
        with self.database.reading() as connection:
            return waiting.living_composites(connection, self.database.dialect, after, upto)

    def opened_composites(self, after: int, upto: int) -> list[CompositeSpan]:
        with self.database.reading() as connection:
            return waiting.opened_composites(connection, self.database.dialect, after, upto)

    def closed_composites(self, after: int, upto: int) -> dict[int, int]:
        """The stops of spans, by their starts, in (after, upto]."""
        with self.database.reading() as connection:
            return waiting.closed_composites(connection, self.database.dialect, after, upto)

    def late_events(self, after: int = 0, limit: int = 1000) -> list[LateEvent]:
        """Events that came too late for composites, by position, from after this one on."""
        with self.database.reading() as connection:
            return waiting.late_after(connection, after, limit)

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
            return most_dropped(connection, self.database.dialect, limit)

    def dropped_of(self, account: str) -> Dropped:
        with self.database.reading() as connection:
            return dropped_of(connection, self.database.dialect, account)

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
            return notifications.after_cursor(connection, self.database.dialect, after, limit, subscription, owner)

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
            return notifications.newest(connection, self.database.dialect, subscription, owner)

    def detections(self, ids: Iterable[str]) -> dict[str, Detection]:
        """What composites found, by the ids that notifications have as `detection`."""
        with self.database.reading() as connection:
            return notifications.detections_of(connection, self.database.dialect, ids)

    def notification_table(self, after_position: int = 0) -> Any:
        """All plain matches as pairs of position and subscription, in an Arrow table."""
        return notifications.as_table(self.database, after_position)
