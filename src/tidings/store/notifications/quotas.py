"""Quotas: how many matches an account may have per minute of acceptance time.

An account's matches of a minute are counted in the order of position and subscription, those that are dropped too; one
is stored if its count is at most the quota at its position. So what is stored follows from the journal alone, wherever
batches were cut. What nobody owns has no quota."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, func, select, update

from tidings.store.databases.database import Dialect
from tidings.store.tables import DROPPED, quota_counts, quotas

DEFAULT_QUOTA = 100_000  # matches per minute, until the journal says otherwise
A_MINUTE = 60_000_000  # microseconds
UNLIMITED = 2**62


@dataclass(frozen=True, slots=True)
class Dropped:
    """How many matches of an account were ever dropped, and its quota now; 0: it has none."""

    account: str
    dropped: int
    quota: int


def most_dropped(connection: Connection, dialect: Dialect, limit: int) -> list[Dropped]:
    """Accounts of which some were dropped, the most first: of those that a query dropped most of."""
    table = quota_counts
    most = select(table.c.account).where(DROPPED).order_by(table.c.dropped.desc()).limit(2 * limit)
    sums: Counter[str] = Counter()
    for row in dialect.find(connection, table.c.account, sorted(set(connection.execute(most).scalars()))):
        sums[row.account] += row.dropped
    first = sorted(sums.items(), key=lambda one: (-one[1], one[0]))[:limit]
    known = Quotas.of(connection, dialect, sums)
    return [Dropped(account, dropped, known.now(account)) for account, dropped in first]


def dropped_of(connection: Connection, dialect: Dialect, account: str) -> Dropped:
    query = select(func.sum(quota_counts.c.dropped)).where(quota_counts.c.account == account)
    quota = Quotas.of(connection, dialect, [account]).now(account)
    return Dropped(account, int(connection.execute(query).scalar() or 0), quota)


def all_dropped(connection: Connection) -> int:
    """By an index of the accounts of which some were dropped: there are few."""
    return int(connection.execute(select(func.sum(quota_counts.c.dropped)).where(DROPPED)).scalar() or 0)


def forget_minute(connection: Connection, query: str) -> None:
    """The query reads the journal again, and counts the matches of its minutes from the first on."""
    own = quota_counts.c.query == query
    connection.execute(update(quota_counts).where(own).values(minute=-1, matches=0))


class Quotas:
    """Of some accounts, at every position: (account, position from which it holds, matches per minute); the account ''
    stands for those without one of their own, 0 matches for any number."""

    def __init__(self, settings: Iterable[tuple[str, int, int]] = ()) -> None:
        self._by_account: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for account, position, matches in sorted(settings):
            self._by_account[account].append((position, matches))

    @classmethod
    def of(cls, connection: Connection, dialect: Dialect, accounts: Iterable[str]) -> Quotas:
        rows = dialect.find(connection, quotas.c.account, sorted({"", *accounts}))
        return cls([(row.account, row.position, row.matches) for row in rows])

    @classmethod
    def of_all(cls, connection: Connection) -> Quotas:
        """There is a row for each time that an account was given one."""
        rows = connection.execute(select(quotas.c.account, quotas.c.position, quotas.c.matches))
        return cls([(row.account, row.position, row.matches) for row in rows])

    def at(self, account: str, position: int) -> int:
        """The greatest count that is stored."""
        if not account:
            return UNLIMITED
        for name in (account, ""):
            settings = self._by_account.get(name, [])
            place = bisect_right(settings, (position, UNLIMITED)) - 1
            if place >= 0:
                return settings[place][1] or UNLIMITED
        return DEFAULT_QUOTA

    def now(self, account: str) -> int:
        """At the end of the journal; 0: any number."""
        quota = self.at(account, UNLIMITED)
        return 0 if quota == UNLIMITED else quota

    def changes(self, first: int, last: int) -> bool:
        """Whether some quota changes at a position in (first, last]."""
        return any(first < at <= last for settings in self._by_account.values() for at, _ in settings)

    def steps(self, account: str, first: int, last: int) -> list[tuple[int, int]]:
        """The quotas at the positions [first, last], each with the position from which it holds."""
        changes = {at for name in (account, "") for at, _ in self._by_account.get(name, []) if first < at <= last}
        return [(at, self.at(account, at)) for at in (first, *sorted(changes))]
