"""Counts the matches of accounts and drops what is beyond their quotas, in the sink's transaction."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlalchemy import Connection, text

from tidings.schema import Instant
from tidings.store.databases.database import Dialect
from tidings.store.notifications.quotas import A_MINUTE, Quotas
from tidings.store.notifications.told import tell
from tidings.store.tables import quota_counts

_WRITE = text(
    "INSERT INTO quota_counts (account, query, minute, matches, dropped) "
    "VALUES (:account, :query, :minute, :matches, :dropped) "
    "ON CONFLICT (account, query) DO UPDATE SET minute = excluded.minute, matches = excluded.matches, "
    "dropped = excluded.dropped"
)
Places = npt.NDArray[np.int64]


class Count(NamedTuple):
    """The matches of an account in the last minute in which it had some; how many were ever dropped. Or of many
    accounts, as arrays."""

    minute: Any = -1
    matches: Any = 0
    dropped: Any = 0


class Counting:
    """Of the rows of one transaction of a query, which have the columns of `commits.CHUNK`.

    All accounts are counted at once: one by one, 30,000 rows of 10,000 accounts took 0.28 s."""

    def __init__(self, connection: Connection, dialect: Dialect, query: str, rows: Any, now: Instant) -> None:
        self._connection = connection
        self._dialect = dialect
        self._query = query
        self._now = now
        self._rows = rows
        owners = rows.column("owner").dictionary_encode()
        self._names: list[str] = owners.dictionary.to_pylist()
        codes = owners.indices.to_numpy()
        # By account, and each account's in the order of positions; what nobody owns is left out.
        order = np.argsort(codes, kind="stable")
        nobody = self._names.index("") if "" in self._names else -1
        self._places: Places = order[codes[order] != nobody]
        self._codes = codes[self._places]
        self._position, self._minute, self._dropped = (
            rows.column(name).to_numpy()[self._places] for name in ("position", "minute", "dropped")
        )
        self._weight = np.maximum(self._dropped, 1)

    def kept(self) -> Any:
        """The rows to store."""
        if not len(self._places):
            return self._rows
        accounts = [name for name in self._names if name]
        counts = self._counts(accounts)
        known = [counts.get(name, Count()) for name in self._names]
        before = Count(*(np.array(column, np.int64) for column in zip(*known, strict=True)))
        # One group for an account and a minute.
        is_first = np.ones(len(self._codes), np.bool_)
        is_first[1:] = (np.diff(self._codes) != 0) | (np.diff(self._minute) != 0)
        starts = np.flatnonzero(is_first)
        code, minute = self._codes[starts], self._minute[starts]
        earlier = np.where(minute == before.minute[code], before.matches[code], 0)
        ranks = np.cumsum(self._weight)
        group = np.cumsum(is_first) - 1
        ranks += (earlier - ranks[starts] + self._weight[starts])[group]
        allowed = self._allowed(Quotas.of(self._connection, self._dialect, accounts))
        beyond = (ranks > allowed) | (self._dropped > 0)
        lost = np.add.reduceat(np.where(beyond, self._weight, 0), starts)
        for place in np.flatnonzero(lost).tolist():
            stop = starts[place + 1] if place + 1 < len(starts) else len(ranks)
            first = starts[place] + int(np.argmax(beyond[starts[place] : stop]))
            if earlier[place] <= (quota := int(allowed[first])):
                self._tell(self._names[code[place]], quota, int(minute[place]))
        self._write(code, minute, ranks[np.append(starts[1:], len(ranks)) - 1], lost, before.dropped)
        if not beyond.any():
            return self._rows
        keep = np.ones(len(self._rows), np.bool_)
        keep[self._places[beyond]] = False
        return self._rows.filter(pa.array(keep))

    def _allowed(self, quotas: Quotas) -> Places:
        """The quota that holds for each row."""
        first, last = int(self._position.min()), int(self._position.max())
        allowed: Places = np.array([quotas.at(name, last) for name in self._names], np.int64)[self._codes]
        if not quotas.changes(first, last):
            return allowed
        bounds = np.searchsorted(self._codes, np.arange(len(self._names) + 1))
        for code, name in enumerate(self._names):
            mine = slice(bounds[code], bounds[code + 1])
            for start, quota in quotas.steps(name, first, last):
                allowed[mine][np.searchsorted(self._position[mine], start) :] = quota
        return allowed

    def _write(self, code: Places, minute: Places, matches: Places, lost: Places, dropped: Places) -> None:
        """Of each account its last minute."""
        dropped = dropped.copy()
        np.add.at(dropped, code, lost)
        last = np.append(np.flatnonzero(np.diff(code)), len(code) - 1)
        columns = (code[last], minute[last], matches[last], dropped[code[last]])
        rows = [
            {"account": self._names[place], "query": self._query, "minute": at, "matches": found, "dropped": ever}
            for place, at, found, ever in zip(*(column.tolist() for column in columns), strict=True)
        ]
        self._connection.execute(_WRITE, rows)

    def _counts(self, accounts: list[str]) -> dict[str, Count]:
        rows = self._dialect.find(self._connection, quota_counts.c.account, accounts)
        return {row.account: Count(row.minute, row.matches, row.dropped) for row in rows if row.query == self._query}

    def _tell(self, account: str, quota: int, minute: int) -> None:
        """A notice, once a minute: when the first match is dropped."""
        said = (
            f"Your subscriptions matched more than {quota:,} times in the minute from {Instant(minute * A_MINUTE)}, "
            "the quota of your account. The rest of that minute's matches are not stored. Narrow the filters, or ask "
            "the operator for a higher quota."
        )
        tell(self._connection, account, "", said, self._now)
