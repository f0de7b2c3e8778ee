"""One owner's subscriptions as people look for them: the youngest first or by name, a page at a time, by words."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, literal_column, or_, select, tuple_

from tidings.store.journal.entries import Standing
from tidings.store.journal.projections import read_standing
from tidings.store.store import Store
from tidings.store.tables import NAMED, OWNED, spans, subscriptions

_TABLE = subscriptions
SEARCHED = 5_000  # subscriptions that one search looks at: 20,000 took 0.6 s where none of them was in memory
_UNNAMED = _TABLE.c.name_key == literal_column("''")


@dataclass(frozen=True, slots=True)
class Called:
    """A subscription as people know it: by its name, or by its filter where it has none. One that was withdrawn has
    lost its name."""

    id: str
    filter: str  # or its composite
    name: str = ""
    composite: bool = False


def called_by(connection: Connection, owner: str, ids: Collection[str]) -> dict[str, Called]:
    """All of these: as they stand, or with the filter that they last had."""
    query = select(_TABLE.c.id, _TABLE.c.filter, _TABLE.c.name, _TABLE.c.composite)
    query = query.where(_TABLE.c.id.in_(sorted(ids)), _TABLE.c.owner == owner)
    found = {row.id: Called(row.id, row.filter, row.name, row.composite) for row in connection.execute(query)}
    if gone := sorted(set(ids).difference(found)):
        past = select(spans.c.subscription, spans.c.filter, spans.c.composite).where(
            spans.c.subscription.in_(gone), OWNED
        )
        past = past.where(spans.c.owner == owner).order_by(spans.c.start)
        found |= {
            row.subscription: Called(row.subscription, row.filter, "", row.composite)
            for row in connection.execute(past)
        }
    return {id: found.get(id) or Called(id, id) for id in ids}


class Listed(NamedTuple):
    """A page of subscriptions. A search looks at `SEARCHED` of them; where there are more, `upto` is where it ended, as
    the next page takes it."""

    found: list[Standing]
    upto: int | str | None = None


def youngest(store: Store, owner: str, before: int | None, limit: int, state: str = "", text: str = "") -> Listed:
    """Subscriptions that stand, the youngest first; `before` is the `since` of the last one seen."""
    among = [_TABLE.c.owner == owner] + ([] if before is None else [_TABLE.c.since < before])
    age = _TABLE.c.since.desc()
    with store.database.reading() as connection:
        upto = _end(connection, (_TABLE.c.since,), among, (age,), SEARCHED) if state or text else None
        if upto is not None:
            among.append(_TABLE.c.since >= upto.since)
        query = select(_TABLE).where(*among, *_wanted(state, text)).order_by(age).limit(limit)
        rows = connection.execute(query).all()
    return Listed([read_standing(row) for row in rows], upto and upto.since)


def by_name(store: Store, owner: str, after: str, limit: int, state: str = "", text: str = "") -> Listed:
    """The same in the order of their names, without regard to case, then those without a name. `after` is the id of
    the last one seen; where that is gone, the list begins again."""
    mine, names = _TABLE.c.owner == owner, (_TABLE.c.name_key, _TABLE.c.id)
    seen = select(*names).where(mine, _TABLE.c.id == after)
    rows: list[Any] = []
    room, upto = SEARCHED, None
    with store.database.reading() as connection:
        last = connection.execute(seen).first() if after else None
        parts: list[tuple[list[Any], tuple[Any, ...]]] = []
        if last is None or last.name_key:
            parts.append(([mine, NAMED] + ([] if last is None else [tuple_(*names) > tuple_(*last)]), names))
        begin = "" if last is None or last.name_key else last.id
        parts.append(([mine, _UNNAMED, _TABLE.c.id > begin], names[1:]))
        for among, order in parts:
            if state or text:
                upto = _end(connection, order, among, order, room)
                room -= 0 if upto else connection.execute(select(func.count()).where(*among)).scalar_one()
            until = [] if upto is None else [tuple_(*order) <= tuple_(*upto)]
            query = select(_TABLE).where(*among, *until, *_wanted(state, text)).order_by(*order)
            rows += connection.execute(query.limit(limit - len(rows))).all()
            if len(rows) == limit or upto is not None:
                break
    return Listed([read_standing(row) for row in rows], upto and upto.id)


def _end(connection: Connection, columns: tuple[Any, ...], among: list[Any], order: tuple[Any, ...], room: int) -> Any:
    """The last row that a search looks at, where there are more after it."""
    ends = connection.execute(select(*columns).where(*among).order_by(*order).offset(max(0, room - 1)).limit(2)).all()
    return ends[0] if len(ends) == 2 else None


def signed(store: Store, owner: str, after: str, limit: int) -> list[Called]:
    """The owner's subscriptions that go to webhooks, after this id."""
    query = select(_TABLE.c.id, _TABLE.c.filter, _TABLE.c.name).where(
        _TABLE.c.owner == owner, _TABLE.c.id > after, _TABLE.c.delivery == "webhook"
    )
    with store.database.reading() as connection:
        rows = connection.execute(query.order_by(_TABLE.c.id).limit(limit)).all()
    return [Called(row.id, row.filter, row.name) for row in rows]


def _wanted(state: str, text: str) -> list[Any]:
    """`text` occurs in the name, the note or the filter. Pages show filters in the words of the language, without most
    quotes, so quotes do not count and `under` is what the canonical text has for it."""
    wanted: list[Any] = [_TABLE.c.state == state] if state else []
    if text:
        named = _TABLE.c.name_key.contains(text.casefold(), autoescape=True)
        noted = _TABLE.c.note.icontains(text, autoescape=True)
        bare = " ".join("<=" if word.lower() == "under" else word for word in text.replace("'", "").split())
        written = func.replace(_TABLE.c.filter, "'", "").icontains(bare, autoescape=True)
        wanted.append(or_(named, noted, written))
    return wanted
