"""Questions for the processes of `inquiries`: a filter tried on recent events before it is saved."""

from __future__ import annotations

from dataclasses import dataclass

from tidings.events.occurrence import TimeBar, time_bars
from tidings.language import Filter
from tidings.language.cesql.noted_errors import noted_errors
from tidings.service.workers.covers import covering as wider
from tidings.service.workers.event_search import stored_events
from tidings.service.workers.history_scan import HistoryScan
from tidings.service.workers.questions import StoredEvent, scope
from tidings.store import Store

_SHOWN = 3  # events that the page for subscribing shows
_BARS = 40


@dataclass(frozen=True, slots=True)
class Trial:
    """How many of how many events it matched, the newest of these, and when they happened.

    Only events of types that the filter can match are counted; `event_types` are these types, None where they are all.
    `looked`: at how many events of all types, where there are more that were not looked at. `errors`: how often an
    expression of another dialect ended in an error, which counts as false; `error` is the first."""

    matched: int
    scanned: int
    newest: tuple[StoredEvent, ...] = ()
    event_types: tuple[str, ...] | None = None
    looked: int | None = None
    bars: tuple[TimeBar, ...] = ()
    errors: int = 0
    error: str = ""


def tried(store: Store, filter: str, last: int) -> Trial:
    """On the `last` newest events of the types that it can match. Raises LanguageError."""
    catalog = store.catalog()
    bound = Filter.parse(filter, catalog)
    with noted_errors() as errors:
        scan = HistoryScan(store, bound).run(*scope(store, None, None), most_tried=last)
    newest = sorted(scan.found, key=lambda one: one.position, reverse=True)[:_SHOWN]
    return Trial(
        len(scan.found),
        scan.tried,
        stored_events(store, newest),
        None if scan.event_types == catalog.event_type_names else scan.event_types,
        None if scan.reached is None else scan.looked,
        time_bars((one.occurred for one in scan.found), _BARS),
        len(errors),
        errors[0].detail if errors else "",
    )


def covering(store: Store, owner: str, filter: str, besides: str) -> str:
    """One of the owner's other subscriptions that finds all of it already, or ''. Raises LanguageError."""
    return next(iter(wider(store, owner, filter, besides, 1)), "")
