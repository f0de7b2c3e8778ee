"""What must come out of a journal, said plainly: entries one by one, the specification for each pair, no plan, no
Spark.

It shares nothing with the store's projections: it reads the journal's entries alone, and knows by itself when a
subscription counts."""

from __future__ import annotations

import json
from dataclasses import dataclass

from tidings.events import validate
from tidings.language import Filter
from tidings.matching.naive import matches
from tidings.schema import Catalog, Instant, json_form
from tidings.schema.growth import grow
from tidings.store import Store

Pairs = set[tuple[int, str]]


@dataclass
class _Standing:
    filter: Filter | None  # None: a composite
    expiry: Instant | None
    paused: bool = False


def notifications_of(store: Store) -> Pairs:
    """All pairs of an event's position and a subscription that counts for it and matches."""
    catalog = Catalog()
    standing: dict[str, _Standing] = {}
    found: Pairs = set()
    for entry in store.entries():
        body = json.loads(entry.body)
        match entry.kind:
            case "schema":
                catalog = grow(catalog, json_form.read_change(body))
            case "subscribe":
                expiry = validated_instant(body.get("expiry"))
                standing[body["id"]] = _Standing(_filter(body, catalog), expiry)
            case "edit":
                one = standing[body["id"]]
                if "filter" in body or "composite" in body:
                    one.filter = _filter(body, catalog)
                if "expiry" in body:
                    one.expiry = validated_instant(body["expiry"])
            case "withdraw":
                del standing[body["id"]]
            case "pause" | "resume":
                standing[body["id"]].paused = entry.kind == "pause"
            case "expire":
                standing.pop(body["id"])  # by its expiry it no longer counted anyway
            case "event":
                bindings = validate(body, catalog).bindings()
                for id, one in standing.items():
                    expired = one.expiry is not None and entry.accepted >= one.expiry
                    counts = one.filter is not None and not one.paused and not expired
                    if counts and matches(one.filter.tree, bindings, catalog):  # type: ignore[union-attr]
                        found.add((entry.position, id))
    return found


def _filter(body: dict[str, str], catalog: Catalog) -> Filter | None:
    return None if "composite" in body else Filter.parse(body["filter"], catalog)


def validated_instant(text: str | None) -> Instant | None:
    return None if text is None else Instant.parse(text)


def stored(store: Store) -> Pairs:
    """The notifications that are there; fails when a pair is there twice or the cursor has a hole."""
    everything = []
    while page := store.notifications(after=len(everything), limit=10_000):
        everything += page
    assert [one.cursor for one in everything] == list(range(1, len(everything) + 1))
    pairs = [(one.position, one.subscription) for one in everything]
    assert pairs == sorted(pairs), "notifications are in the order of the journal"
    assert len(set(pairs)) == len(pairs)
    return set(pairs)
