"""What `tidings journal load` does: a schema, subscriptions and events from files into a journal, counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from tidings.cli.terminal import counted, fail
from tidings.errors import LanguageError, shown
from tidings.events import RefusedEvent, write_event
from tidings.events.files.reading import raw_chunks
from tidings.language import Filter
from tidings.language.composites import BoundComposite
from tidings.language.subscription_file import SubscriptionTexts, WrongSubscriptions, read_texts
from tidings.pipeline.ingest.arrivals import Arrived, arrived, written
from tidings.schema import Catalog
from tidings.schema.growth import changes_to_make
from tidings.store import (
    Accepted,
    DeadLetter,
    Duplicate,
    Grow,
    PublishValid,
    Refused,
    Store,
    Subscribe,
    SubscriptionExists,
)

_SUBSCRIPTIONS_AT_ONCE = 5_000
_REASONS_SHOWN = 5


@dataclass
class Loaded:
    """What was loaded; what was there already; what was refused, with the first few reasons.

    Refused events are among the dead letters. A refused subscription has the id of another one.
    """

    schema_changes: int = 0
    subscriptions: int = 0
    subscriptions_there_already: int = 0
    subscriptions_refused: int = 0
    events: int = 0
    duplicates: int = 0
    refused: int = 0
    reasons: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        """`5 events, 1 duplicate`: what there is any of."""
        counts = (
            (self.schema_changes, "schema change", ""),
            (self.subscriptions, "subscription", ""),
            (self.subscriptions_there_already, "subscription there already", "subscriptions there already"),
            (self.subscriptions_refused, "subscription refused", "subscriptions refused"),
            (self.events, "event", ""),
            (self.duplicates, "duplicate", ""),
            (self.refused, "event refused", "events refused"),
        )
        return ", ".join(counted(*count) for count in counts if count[0]) or "nothing new"

    def explain(self, what: str) -> None:
        if len(self.reasons) < _REASONS_SHOWN:
            self.reasons.append(what)


class Loading:
    """`tell` is called with the counts whenever they have grown."""

    def __init__(self, store: Store, tell: Callable[[Loaded], None]) -> None:
        self._store = store
        self._tell = tell
        self.loaded = Loaded()

    def schema(self, catalog: Catalog) -> None:
        """Grows an empty journal by the declarations; one that has this schema already is left as it is."""
        there = self._store.catalog()
        if replace(there, statistics=()) == replace(catalog, statistics=()):  # it may have counted since
            return
        if there != Catalog():
            fail(
                f"the journal has another schema already, at version {there.version}; "
                "leave --schema out, or load into a new journal"
            )
        for outcome in self._store.append([Grow(change) for change in changes_to_make(catalog)]):
            if isinstance(outcome, Refused):
                raise outcome.error
            self.loaded.schema_changes += 1

    def subscriptions(self, path: Path) -> None:
        """All lines are bound first: a file with a wrong one is not loaded at all."""
        with path.open("rb") as file:
            texts = read_texts(file, composites=True)
        try:
            drafts = _drafts(texts, self._store)
        except WrongSubscriptions as problem:
            fail(str(problem).replace("nothing was matched", "none was loaded"))
        for start in range(0, len(drafts), _SUBSCRIPTIONS_AT_ONCE):
            self._subscribe(drafts[start : start + _SUBSCRIPTIONS_AT_ONCE])
            self._tell(self.loaded)

    def _subscribe(self, drafts: list[Subscribe]) -> None:
        for draft, outcome in zip(drafts, self._store.append(drafts), strict=True):
            if isinstance(outcome, Accepted):
                self.loaded.subscriptions += 1
            elif isinstance(outcome, Refused):
                self._not_subscribed(draft, outcome)

    def _not_subscribed(self, draft: Subscribe, outcome: Refused) -> None:
        if isinstance(outcome.error, SubscriptionExists) and self._is_there(draft):
            self.loaded.subscriptions_there_already += 1
        else:
            self.loaded.subscriptions_refused += 1
            self.loaded.explain(str(outcome.error))

    def _is_there(self, draft: Subscribe) -> bool:
        standing = self._store.subscription(draft.id)
        return standing.filter == (draft.composite if standing.composite else draft.filter)

    def events(self, path: Path, form: str | None, most_values: int) -> None:
        """Wrong events never stop the others; `most_values` as in `validate`."""
        catalog = self._store.catalog()
        for chunk in raw_chunks(path, catalog, form):
            self._publish(arrived(str(path.absolute()), chunk, catalog, self._store.clock.now, most_values))
            self._tell(self.loaded)

    def _publish(self, come: Arrived) -> None:
        events = list(come.batch)
        letters = list(come.letters)
        outcomes = self._store.append([PublishValid(event) for event in events])
        for event, place, outcome in zip(events, come.places, outcomes, strict=True):
            if isinstance(outcome, Accepted):
                self.loaded.events += 1
            elif isinstance(outcome, Duplicate):
                self.loaded.duplicates += 1
            elif isinstance(outcome.error, RefusedEvent):
                text = written(write_event(event))
                letters.append(DeadLetter(come.origin, str(place), event.id, text, outcome.error.errors))
        self._store.bury(letters)
        self.loaded.refused += len(letters)
        for letter in letters[:_REASONS_SHOWN]:
            problems = "; ".join(f"{error.rule}: {error.message}" for error in letter.errors)
            name = "" if letter.id is None else f"event {shown(letter.id)} "
            self.loaded.explain(f"line {letter.place}: {name}refused: {problems}")


def _drafts(texts: SubscriptionTexts, store: Store) -> list[Subscribe]:
    """With canonical texts; raises WrongSubscriptions with all that is wrong."""
    catalog, now, profiles = store.catalog(), store.clock.now(), store.composite_profiles()
    drafts: list[Subscribe] = []
    filters: dict[int, LanguageError] = {}
    composites: dict[int, LanguageError] = {}
    for place, (id, text) in enumerate(zip(texts.ids, texts.texts, strict=True)):
        try:
            drafts.append(Subscribe(id, Filter.parse(text, catalog).text))
        except LanguageError as problem:
            filters[place] = problem
    for place, (_, id, text) in enumerate(texts.composites):
        try:
            drafts.append(Subscribe(id, composite=BoundComposite.read(text, catalog, now, profiles=profiles).text))
        except LanguageError as problem:
            composites[place] = problem
    texts.refuse_wrong(filters, composites)
    return drafts
