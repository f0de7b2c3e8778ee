"""Statistics for similarity: how many of the stored events' texts have each term.

The pipeline counts in the background and puts the counts into the journal at doubling numbers of texts; an operator can
do so at any time. Either is an entry of the journal, so replays agree."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable
from typing import Any

import msgspec

from tidings.errors import LanguageError, SchemaError, StoreError
from tidings.language import Filter
from tidings.language.composites import BoundComposite
from tidings.language.similarity import TermCounts, similar_attributes
from tidings.schema.catalog import Catalog
from tidings.schema.growth import SetStatistics
from tidings.schema.statistics import Statistics
from tidings.store import ClockJumped, Grow, Refused, Store

FEWEST = 100  # texts
_PAUSE = 2.0  # seconds between looks
_log = logging.getLogger(__name__)


class _Counted(msgspec.Struct):
    attributes: dict[str, Any] = {}


_decode = msgspec.json.Decoder(_Counted).decode


class WordCounts:
    """The texts of one attribute in the events up to a position, counted piece by piece."""

    def __init__(self, attribute: str, language: str | None) -> None:
        self.attribute = attribute
        self.position = 0
        self._counts = TermCounts(language)

    @property
    def texts(self) -> int:
        return self._counts.texts

    def read(self, store: Store, upto: int) -> None:
        """Counts the stored events after those counted before."""
        for rows in store.event_rows(self.position, upto):
            for payload in rows.column("payload").to_pylist():
                given = _decode(payload).attributes.get(self.attribute)
                for text in given if isinstance(given, list) else [] if given is None else [given]:
                    self._counts.add(text)
        self.position = max(self.position, upto)

    def statistics(self) -> Statistics:
        return self._counts.statistics(self.attribute)


def count_stored(store: Store, attribute: str) -> Statistics:
    """The statistics of all stored events, put into the journal. Raises SchemaError."""
    catalog = store.catalog()
    domain = catalog.domain_of(attribute)
    counts = WordCounts(attribute, None if domain is None else domain.language)
    if domain is not None:
        counts.read(store, store.tail())
    _put(store, counts.statistics())
    return counts.statistics()


def keep_counting(store: Store, stopped: threading.Event) -> None:
    """Until stopped, whatever goes wrong."""
    counter = Counting(store)
    while not stopped.wait(_PAUSE):
        try:
            counter.look()
        except (StoreError, ClockJumped) as problem:
            _log.warning("no statistics: %s", problem)
        except Exception:
            _log.exception("no statistics; counting begins again")
            counter = Counting(store)


class Counting:
    """Counts the attributes that somebody asks similarity of, and puts the counts into the journal when they reach 100,
    200, 400, … texts."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._counts: dict[str, WordCounts] = {}
        self._seen = -1  # up to here it is known who asks
        self._enough = 0  # an earlier tail cannot have the texts that are missing

    def look(self) -> None:
        """A short one while there is nothing to count."""
        store = self._store
        catalog = store.catalog()
        tail = store.tail()
        for name in attributes_asked(self._asking(tail), catalog) - self._counts.keys():
            self._counts[name] = WordCounts(name, _language(catalog, name))
            self._enough = 0
        if not self._counts or tail < self._enough:
            return
        missing = []
        for counts in self._counts.values():
            counts.read(store, tail)
            wanted = next_count(catalog.statistics_of(counts.attribute).texts)
            if counts.texts >= wanted:
                try:
                    _put(store, counts.statistics())
                except SchemaError as problem:  # until there are twice as many texts
                    _log.warning("no statistics of %s: %s", counts.attribute, problem)
                wanted = next_count(counts.texts)
            missing.append(wanted - counts.texts)
        self._enough = tail + min(missing)

    def _asking(self, tail: int) -> list[str]:
        """The texts that may ask for similarity: all that stand, then those that came since the last look."""
        if self._seen < 0:
            texts = [one.filter for one in self._store.subscriptions_mentioning("~")]
        else:
            bodies = (one.body for one in self._store.changes(self._seen, tail) if one.kind in ("subscribe", "edit"))
            read = (msgspec.json.decode(body) for body in bodies if "~" in body)
            texts = [one.get("composite") or one.get("filter") or "" for one in read]
        self._seen = tail
        return texts


def next_count(texts: int) -> int:
    """The first of 100, 200, 400, … above this number."""
    wanted = FEWEST
    while wanted <= texts:
        wanted *= 2
    return wanted


def attributes_asked(texts: Iterable[str], catalog: Catalog) -> set[str]:
    """The attributes whose similarity some filter or composite asks for."""
    found: set[str] = set()
    for text in texts:
        for filter in _filters(text, catalog):
            found |= similar_attributes(filter.conjunctions)
    return found


def _filters(text: str, catalog: Catalog) -> tuple[Filter, ...]:
    try:
        return (Filter.parse(text, catalog),)
    except LanguageError:
        pass
    try:
        return BoundComposite.parse(text, catalog).filters
    except LanguageError:  # in another dialect, which has no similarity
        return ()


def _language(catalog: Catalog, attribute: str) -> str | None:
    domain = catalog.domain_of(attribute)
    return None if domain is None else domain.language


def _put(store: Store, counted: Statistics) -> None:
    (outcome,) = store.append([Grow(SetStatistics(counted))])
    if isinstance(outcome, Refused):
        raise outcome.error
