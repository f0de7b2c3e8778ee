"""Counts the matches of accounts and drops what is beyond their quotas, in the sink's transaction."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlalchemy import Connection, select, text

from tidings.schema import Instant
from tidings.store.notifications.quotas import A_MINUTE, Quotas
from tidings.store.notifications.told import tell
from tidings.store.tables import quota_counts

_AT_ONCE = 1_000  # accounts that one look-up takes
_WRITE = text(
    "INSERT INTO quota_counts (account, query, minute, matches, dropped) "
    "VALUES (:account, :query, :minute, :matches, :dropped) "
    "ON CONFLICT (account, query) DO UPDATE SET minute = excluded.minute, matches = excluded.matches, "
    "dropped = excluded.dropped"
)
Places = npt.NDArray[np.int64]


class Count(NamedTuple):
    """The matches of an account in the last minute in which it had some; how many were ever dropped."""

    minute: int = -1
    matches: int = 0
    dropped: int = 0


class Counting:
    """Of the rows of one transaction of a query, which have the columns of `commits.CHUNK`."""

    def __init__(self, connection: Connection, query: str, rows: Any, now: Instant) -> None:
        self._connection = connection
        self._query = query
        self._now = now
        self._quotas = Quotas.read(connection)
        self._rows = rows
        self._position, self._minute, self._dropped = (
            rows.column(name).to_numpy() for name in ("position", "minute", "dropped")
        )
        self._weight = np.maximum(self._dropped, 1)

    def kept(self) -> Any:
        """The rows to store."""
        keep = self._dropped == 0
        owners = self._rows.column("owner").dictionary_encode()
        names, codes = owners.dictionary.to_pylist(), owners.indices.to_numpy()
        counts = self._counts([name for name in names if name])
        order = np.argsort(codes, kind="stable")
        bounds = np.searchsorted(codes[order], np.arange(len(names) + 1))
        for code, name in enumerate(names):
            if not name:
                continue
            mine = order[bounds[code] : bounds[code + 1]]
            for of_minute in np.split(mine, np.flatnonzero(np.diff(self._minute[mine])) + 1):
                beyond, counts[name] = self._counted(name, of_minute, counts.get(name, Count()))
                keep[of_minute] &= ~beyond
        if counts:
            self._connection.execute(_WRITE, [self._written(*one) for one in counts.items()])
        return self._rows if keep.all() else self._rows.filter(pa.array(keep))

    def _written(self, account: str, count: Count) -> dict[str, Any]:
        return {"account": account, "query": self._query, **count._asdict()}

    def _counted(self, account: str, rows: Places, before: Count) -> tuple[npt.NDArray[np.bool_], Count]:
        """Which of an account's rows of one minute are beyond its quota, and its count after them."""
        minute, positions = int(self._minute[rows[0]]), self._position[rows]
        earlier = before.matches if minute == before.minute else 0
        ranks = np.cumsum(self._weight[rows]) + earlier
        allowed = np.zeros(len(rows), np.int64)
        for start, quota in self._quotas.steps(account, int(positions[0]), int(positions[-1])):
            allowed[np.searchsorted(positions, start) :] = quota
        beyond = (ranks > allowed) | (self._dropped[rows] > 0)
        lost = int(self._weight[rows][beyond].sum())
        if lost and earlier <= (quota := int(allowed[np.argmax(beyond)])):
            self._tell(account, quota, minute)
        return beyond, Count(minute, int(ranks[-1]), before.dropped + lost)

    def _counts(self, accounts: list[str]) -> dict[str, Count]:
        found = {}
        for first in range(0, len(accounts), _AT_ONCE):
            some = quota_counts.c.account.in_(accounts[first : first + _AT_ONCE])
            own = quota_counts.c.query == self._query
            for row in self._connection.execute(select(quota_counts).where(some, own)):
                found[row.account] = Count(row.minute, row.matches, row.dropped)
        return found

    def _tell(self, account: str, quota: int, minute: int) -> None:
        """A notice, once a minute: when the first match is dropped."""
        said = (
            f"Your subscriptions matched more than {quota:,} times in the minute from {Instant(minute * A_MINUTE)}, "
            "the quota of your account. The rest of that minute's matches are not stored. Narrow the filters, or ask "
            "the operator for a higher quota."
        )
        tell(self._connection, account, "", said, self._now)
