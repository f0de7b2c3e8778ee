"""Results of attempts, many in one transaction: deliveries are done, due again or dead, channels healthy or failing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, update

from tidings.schema import Instant
from tidings.store.databases.database import Database, NamedRow
from tidings.store.deliveries.channels import hold
from tidings.store.deliveries.notice_mails import queue_mail
from tidings.store.deliveries.notices import add_failures, add_notice
from tidings.store.deliveries.totals import Totals, add_totals
from tidings.store.lease import check_lease
from tidings.store.tables import attempts, channels, deliveries

LONGEST_REQUEST = 8_192  # characters that are kept
LONGEST_RESPONSE = 2_048
LONGEST_PROBLEM = 1_000
_DELIVERY = ("number", "subscription", "owner", "held", "state", "attempts", "tried", "due", "done")
_HEALTH = ("subscription", "owner", "kind", "state", "failing_since", "dead_in_a_row", "seconds", "problem")
_NEWEST_WEIGHS = 0.2  # in the average of a channel's seconds
_NOTED = 0.2  # a change of that average by less is not written

GivesUp = Callable[[Instant | None, int, Instant], str]  # failing since, dead letters in a row, now -> why, or ''


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """One attempt. `attempts` is what the delivery had before; `due` is when to try again, None: never; `gone` disables
    the channel at once."""

    number: int
    attempts: int
    started: Instant
    seconds: float
    ok: bool
    request: str
    status: int | None = None
    response: str = ""
    problem: str = ""
    due: Instant | None = None
    gone: bool = False


class _Health:
    """A channel while results come in."""

    def __init__(self, row: NamedRow) -> None:
        self.key, self.kind = (row.subscription, row.owner), row.kind
        self.was_active = self.active = row.state == "active"
        self.reason = ""
        self.failing_since = None if row.failing_since is None else Instant(row.failing_since)
        self.dead_in_a_row, self.seconds, self.problem = row.dead_in_a_row, row.seconds, row.problem
        self.dead: Counter[str] = Counter()  # deliveries that became dead letters, by why
        self._before = (self.failing_since, self.dead_in_a_row, self.problem)
        self._seconds_before = self.seconds

    def take(self, result: AttemptResult, now: Instant, gives_up: GivesUp) -> None:
        self.seconds += _NEWEST_WEIGHS * (result.seconds - self.seconds) if self.seconds else result.seconds
        if result.ok:
            self.failing_since, self.dead_in_a_row, self.problem = None, 0, ""
            return
        self.failing_since = self.failing_since or result.started
        self.dead_in_a_row += result.due is None
        self.problem = _kept(result.problem, LONGEST_PROBLEM)
        reason = self.problem if result.gone else gives_up(self.failing_since, self.dead_in_a_row, now)
        if reason and self.active:
            self.active, self.reason = False, reason

    @property
    def was_disabled(self) -> bool:
        return self.was_active and not self.active

    @property
    def has_changed(self) -> bool:
        after = (self.failing_since, self.dead_in_a_row, self.problem)
        return after != self._before or abs(self.seconds - self._seconds_before) > _NOTED * self._seconds_before


class _Delivery:
    """A delivery while results come in."""

    __slots__ = ("attempts", "done", "due", "held", "key", "number", "state", "tried")

    def __init__(self, row: NamedRow) -> None:
        self.number, self.key = row.number, (row.subscription, row.owner)
        self.held, self.state, self.attempts, self.tried = row.held, row.state, row.attempts, row.tried
        self.due, self.done = row.due, row.done

    def take(self, result: AttemptResult, now: Instant) -> None:
        self.tried += 1
        if self.state != "due" or self.attempts != result.attempts:  # replayed meanwhile: due again, from now on
            self.due = max(self.due, int(now))
            return
        self.attempts += 1
        if result.ok or result.due is None:
            self.state, self.done = "delivered" if result.ok else "dead", int(now)
        else:
            self.due = max(int(result.due), int(now))  # the outbox has read everything due before now


def record_results(
    database: Database, holder: str, results: Sequence[AttemptResult], now: Instant, gives_up: GivesUp
) -> None:
    """Raises LeaseLost, and then nothing is changed."""
    with database.writing("outbox") as connection:
        check_lease(connection, "outbox", holder)
        dialect = database.dialect
        numbers = [one.number for one in results]
        known = {
            row.number: _Delivery(row)
            for row in dialect.find(connection, deliveries.c.number, numbers, None, _DELIVERY)
        }
        ids = sorted({one.key[0] for one in known.values()})
        health = {
            one.key: one for one in map(_Health, dialect.find(connection, channels.c.subscription, ids, None, _HEALTH))
        }
        logged: list[tuple[Any, ...]] = []
        totals: dict[str, Totals] = {}
        for result in results:
            delivery = known.get(result.number)
            channel = None if delivery is None else health.get(delivery.key)
            if delivery is None or channel is None:  # removed by hand: there is nothing to record
                continue
            was_due = delivery.state == "due"
            delivery.take(result, now)
            logged.append(_attempt(result, delivery.tried))
            channel.take(result, now, gives_up)
            if not channel.active:
                delivery.held = 1
            total = totals.setdefault(channel.kind, Totals())
            if was_due and delivery.state == "dead":
                channel.dead[_kept(result.problem, LONGEST_PROBLEM) or "unknown"] += 1
            total.due -= was_due and delivery.state != "due"
            _count(total, result)
        dialect.insert(connection, attempts, logged)
        _write_deliveries(connection, known.values())
        _write_health(connection, [one for one in health.values() if one.has_changed])
        for kind, total in totals.items():
            add_totals(connection, kind, total)
        for channel in health.values():
            if channel.dead:
                add_failures(connection, *channel.key, channel.kind, channel.dead, now)
            if channel.was_disabled:
                _disable(connection, channel, now)


def _attempt(result: AttemptResult, attempt: int) -> tuple[Any, ...]:
    texts = (
        _kept(result.request, LONGEST_REQUEST),
        _kept(result.response, LONGEST_RESPONSE),
        _kept(result.problem, LONGEST_PROBLEM),
    )
    values = (int(result.started), result.seconds, int(result.ok), result.status)
    return (result.number, attempt, *values, *texts)


def _kept(text: str, longest: int) -> str:
    """What both databases can hold: without zero characters and halves of surrogate pairs."""
    short = text[:longest]
    return (
        short if short.isascii() and "\0" not in short else short.replace("\0", "�").encode(errors="replace").decode()
    )


def _count(total: Totals, result: AttemptResult) -> None:
    total.delivered += result.ok
    total.dead += not result.ok and result.due is None
    total.attempts += 1
    total.failures += not result.ok
    total.seconds += result.seconds


def _write_deliveries(connection: Connection, changed: Iterable[_Delivery]) -> None:
    values = [
        {
            "mark": one.number,
            "held": one.held,
            "state": one.state,
            "attempts": one.attempts,
            "tried": one.tried,
            "due": one.due,
            "done": one.done,
        }
        for one in changed
    ]
    if values:
        connection.execute(update(deliveries).where(deliveries.c.number == bindparam("mark")), values)


def _write_health(connection: Connection, changed: Sequence[_Health]) -> None:
    if not changed:
        return
    values = [
        {
            "mark": one.key[0],
            "whose": one.key[1],
            "failing_since": None if one.failing_since is None else int(one.failing_since),
            "dead_in_a_row": one.dead_in_a_row,
            "seconds": one.seconds,
            "problem": one.problem,
        }
        for one in changed
    ]
    mine = (channels.c.subscription == bindparam("mark")) & (channels.c.owner == bindparam("whose"))
    connection.execute(update(channels).where(mine), values)


def _disable(connection: Connection, channel: _Health, now: Instant) -> None:
    """With a notice to its owner, and a mail that tells of it where one can be sent. What it owes is held until the
    owner resumes it."""
    subscription, owner = channel.key
    mine = (channels.c.subscription == subscription) & (channels.c.owner == owner)
    state = {"state": "disabled", "reason": channel.reason, "released": 1, "changed": int(now)}
    connection.execute(update(channels).where(mine).values(state))
    hold(connection, subscription, owner, False, now)
    text = (
        f"Sending by {channel.kind} was stopped: {channel.reason.rstrip('.')}. "
        "Pending deliveries are kept; resume to send them."
    )
    number = add_notice(connection, owner, subscription, text, now)
    queue_mail(connection, number, owner, subscription, now)
