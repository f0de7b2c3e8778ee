"""One owner's subscriptions as people look for them: the youngest first or by name, a page at a time, by words."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, func, literal_column, or_, select, tuple_

from tidings.store.journal.entries import Standing
from tidings.store.journal.projections import read_standing
from tidings.store.store import Store
from tidings.store.tables import NAMED, OWNED, spans, subscriptions

_TABLE = subscriptions
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


def youngest(
    store: Store, owner: str, before: int | None, limit: int, state: str = "", text: str = ""
) -> list[Standing]:
    """Subscriptions that stand, the youngest first; `before` is the `since` of the last one seen."""
    query = _matching(owner, state, text)
    if before is not None:
        query = query.where(_TABLE.c.since < before)
    with store.database.reading() as connection:
        rows = connection.execute(query.order_by(_TABLE.c.since.desc()).limit(limit)).all()
    return [read_standing(row) for row in rows]


def by_name(store: Store, owner: str, after: str, limit: int, state: str = "", text: str = "") -> list[Standing]:
    """The same in the order of their names, without regard to case, then those without a name. `after` is the id of
    the last one seen; where that is gone, the list begins again."""
    query = _matching(owner, state, text)
    seen = select(_TABLE.c.name_key, _TABLE.c.id).where(_TABLE.c.owner == owner, _TABLE.c.id == after)
    with store.database.reading() as connection:
        last = connection.execute(seen).first() if after else None
        rows: list[Any] = []
        if last is None or last.name_key:
            named = query.where(NAMED)
            if last is not None:
                named = named.where(tuple_(_TABLE.c.name_key, _TABLE.c.id) > tuple_(last.name_key, last.id))
            rows += connection.execute(named.order_by(_TABLE.c.name_key, _TABLE.c.id).limit(limit)).all()
        if len(rows) < limit:
            rest = query.where(_UNNAMED, _TABLE.c.id > ("" if last is None or last.name_key else last.id))
            rows += connection.execute(rest.order_by(_TABLE.c.id).limit(limit - len(rows))).all()
    return [read_standing(row) for row in rows]


def signed(store: Store, owner: str, after: str, limit: int) -> list[Called]:
    """The owner's subscriptions that go to webhooks, after this id."""
    query = select(_TABLE.c.id, _TABLE.c.filter, _TABLE.c.name).where(
        _TABLE.c.owner == owner, _TABLE.c.id > after, _TABLE.c.delivery == "webhook"
    )
    with store.database.reading() as connection:
        rows = connection.execute(query.order_by(_TABLE.c.id).limit(limit)).all()
    return [Called(row.id, row.filter, row.name) for row in rows]


def _matching(owner: str, state: str, text: str) -> Select[Any]:
    """`text` occurs in the name, the note or the filter. Pages show filters in the words of the language, without most
    quotes, so quotes do not count and `under` is what the canonical text has for it."""
    query = select(_TABLE).where(_TABLE.c.owner == owner)
    if state:
        query = query.where(_TABLE.c.state == state)
    if text:
        named = _TABLE.c.name_key.contains(text.casefold(), autoescape=True)
        noted = _TABLE.c.note.icontains(text, autoescape=True)
        bare = " ".join("<=" if word.lower() == "under" else word for word in text.replace("'", "").split())
        written = func.replace(_TABLE.c.filter, "'", "").icontains(bare, autoescape=True)
        query = query.where(or_(named, noted, written))
    return query
