"""What a newcomer sees before there is an account: events as they come, and example filters with what they found.

Only where anybody may make an account, since then anybody may read events; nobody's subscriptions are shown. It is
made at most every other second, however many look at it, and each event is read and tried once.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic

from tidings.errors import LanguageError
from tidings.events import Event, RefusedEvent, validate
from tidings.language import Filter
from tidings.schema import Catalog
from tidings.service.gateway import Gateway
from tidings.service.pages.parts.examples import example_filters, leading_filter
from tidings.store.pages.event_ends import MOST, EventEnds
from tidings.store.pages.recent import Seen

_FRESH = 2.0  # seconds
_SAME_FILTERS = 120.0  # seconds: somebody may be reading them
_LARGEST_TRIED = 1 << 14  # characters of an event that examples are tried on


@dataclass(frozen=True, slots=True)
class Example:
    """`shown` is an event that it matches, if there is one among those that were looked at: the latest, unless that
    stands at another example already."""

    filter: str
    matched: int
    shown: Seen | None
    is_latest: bool


@dataclass(frozen=True, slots=True)
class Window:
    """`lead`: a filter that says what filters are; '' where no event helped to make one."""

    events: tuple[Seen, ...] = ()
    examples: tuple[Example, ...] = ()
    looked_at: int = 0
    lead: str = ""


class Showcase:
    """Of one event loop; one look at a time."""

    def __init__(self, gateway: Gateway, ends: EventEnds) -> None:
        self._gateway = gateway
        self._ends = ends
        self._window = Window()
        self._made = -_FRESH
        self._looking = False
        self._catalog = Catalog()
        self._read: dict[int, Event | None] = {}  # by position, as long as it is among the newest
        self._fits: dict[str, dict[int, bool]] = {}  # by filter, then by position
        self._lead = ""
        self._filters_made = -_SAME_FILTERS

    @property
    def is_open(self) -> bool:
        return self._gateway.settings.showcase

    async def window(self) -> Window:
        """Raises StoreError."""
        if self.is_open and not self._looking and monotonic() - self._made > _FRESH:
            self._looking = True  # meanwhile visitors see the last one
            try:
                self._window = await self._gateway.read(self._look)
            finally:
                self._looking = False
                self._made = monotonic()
        return self._window

    def _look(self) -> Window:
        seen = self._ends.newest(MOST)
        read = self._events(seen)
        if not self._fits or monotonic() - self._filters_made > _SAME_FILTERS:
            events = [event for _, event in read]
            filters = example_filters(self._catalog, events)
            self._fits = {text: self._fits.get(text, {}) for text in filters}
            self._lead = leading_filter(self._catalog, events)
            self._filters_made = monotonic()
        examples: list[Example] = []
        for text, known in self._fits.items():
            fitting = self._fitting(text, known, read)
            taken = {one.shown.position for one in examples if one.shown is not None}
            shown = next((one for one in fitting if one.position not in taken), fitting[0] if fitting else None)
            examples.append(Example(text, len(fitting), shown, bool(fitting) and shown is fitting[0]))
        return Window(tuple(seen), tuple(examples), len(read), self._lead)

    def _events(self, seen: list[Seen]) -> list[tuple[Seen, Event]]:
        """Those that examples are tried on."""
        catalog = self._gateway.store.catalog()
        if catalog is not self._catalog:
            self._catalog, self._read, self._fits = catalog, {}, {}
        tried = [one for one in seen if one.size <= _LARGEST_TRIED]
        known = self._read
        self._read = {
            one.position: known[one.position] if one.position in known else _event(one, catalog) for one in tried
        }
        return [(one, event) for one in tried if (event := self._read[one.position]) is not None]

    def _fitting(self, text: str, known: dict[int, bool], read: list[tuple[Seen, Event]]) -> list[Seen]:
        from tidings.matching.choice import matches  # numpy with it, where it is first needed

        fresh = [(one, event) for one, event in read if one.position not in known]
        if fresh:
            try:
                conjunctions = Filter.parse(text, self._catalog).conjunctions
            except LanguageError:  # the store was replaced under us
                return []
            for one, event in fresh:
                known[one.position] = matches(conjunctions, event.bindings(), self._catalog)
        self._fits[text] = {one.position: known[one.position] for one, _ in read}
        return [one for one, _ in read if self._fits[text][one.position]]


def _event(seen: Seen, catalog: Catalog) -> Event | None:
    """None for one that cannot be read any more."""
    try:
        return validate(seen.event, catalog, hints=False, most_values=None)
    except RefusedEvent:
        return None
