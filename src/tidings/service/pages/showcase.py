"""What a newcomer sees before there is an account: events as they come, and example filters with what they found.

Only where anybody may make an account, since then anybody may read events; nobody's subscriptions are shown. It is
made at most every other second, however many look at it.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic

from tidings.errors import LanguageError
from tidings.events import Event, RefusedEvent, validate
from tidings.language import Filter
from tidings.schema import Catalog
from tidings.service.gateway import Gateway
from tidings.service.pages.examples import example_filters
from tidings.store import browsing
from tidings.store.browsing import Seen

LOOKED_AT = 200  # events that examples are tried on
_FRESH = 2.0  # seconds
_SAME_FILTERS = 120.0  # seconds: somebody may be reading them


@dataclass(frozen=True, slots=True)
class Example:
    """`newest` is the last event that it fits, if there is one among those that were looked at."""

    filter: str
    matched: int
    newest: Seen | None


@dataclass(frozen=True, slots=True)
class Window:
    events: tuple[Seen, ...] = ()
    examples: tuple[Example, ...] = ()
    looked_at: int = 0


class Showcase:
    """Of one event loop."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._window = Window()
        self._made = -_FRESH
        self._filters: list[str] = []
        self._filters_made = -_SAME_FILTERS

    @property
    def is_open(self) -> bool:
        return self._gateway.settings.registration

    async def window(self) -> Window:
        """Raises StoreError."""
        if self.is_open and monotonic() - self._made > _FRESH:
            self._made = monotonic()  # whoever comes meanwhile sees the last one
            self._window = await self._gateway.read(self._look)
        return self._window

    def _look(self) -> Window:
        from tidings.matching.naive import matches  # numpy with it, where it is first needed

        store = self._gateway.store
        catalog = store.catalog()
        seen = browsing.newest_events(store, LOOKED_AT)
        read = [(one, event) for one in seen if (event := _event(one, catalog)) is not None]
        if not self._filters or monotonic() - self._filters_made > _SAME_FILTERS:
            self._filters = example_filters(catalog, [event for _, event in read])
            self._filters_made = monotonic()
        examples = []
        for text in self._filters:
            try:
                tree = Filter.parse(text, catalog).tree
            except LanguageError:  # the store was replaced under us
                continue
            fitting = [one for one, event in read if matches(tree, event.bindings(), catalog)]
            examples.append(Example(text, len(fitting), fitting[0] if fitting else None))
        return Window(tuple(seen), tuple(examples), len(read))


def _event(seen: Seen, catalog: Catalog) -> Event | None:
    """None for one that cannot be read any more."""
    try:
        return validate(seen.event, catalog, hints=False)
    except RefusedEvent:
        return None
