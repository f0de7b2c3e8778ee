"""What HTTP and XML have in common: who calls, what may be asked of the journal, what is read from the store.

Everything that waits for the disk runs in threads beside the event loop; appends go through one group commit.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from tidings.errors import StoreError
from tidings.events import Event, RefusedEvent, validate
from tidings.schema import Catalog
from tidings.service.actions.binding import Binders
from tidings.service.actions.channels import Channels
from tidings.service.api.shapes import QUICK
from tidings.service.door.admission import Admission
from tidings.service.door.callers import Caller, Callers
from tidings.service.publishing.group_commit import Committing
from tidings.service.publishing.quick_validation import QuickValidation
from tidings.service.workers.status import OFF, ChildStatus
from tidings.settings import Settings
from tidings.store import (
    Accepted,
    Draft,
    Duplicate,
    Outcome,
    PublishValid,
    Refused,
    Store,
    StoreFailed,
    StoreFull,
    StoreLocked,
    StoreReadOnly,
    StoreUnreachable,
)

if TYPE_CHECKING:
    from tidings.service.network import Network

P = ParamSpec("P")
R = TypeVar("R")

_READERS = 4  # threads; more would only wait for the interpreter
_WRITERS = 2  # threads of their own: while one waits for a lock of the database, everybody else can still read
_FAILURES = (StoreFailed, StoreFull, StoreLocked, StoreReadOnly, StoreUnreachable)
_GUEST = frozenset({"publish", "schema"})


class Gateway:
    """Made inside the event loop that uses it; `close` it there. The store stays the caller's to close."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self.store = store
        self.settings = settings
        self.callers = Callers(store)
        self.pipeline: ChildStatus = OFF  # the supervisor replaces this
        self.outbox: ChildStatus = OFF  # the same
        self.network: Network | None = None  # where the server has a name
        self.channels = Channels(self)
        self.guest = Caller("", _GUEST if settings.guests else frozenset())
        self.published: Counter[str] = Counter(accepted=0, duplicate=0, refused=0)  # events, by HTTP and XML
        self.failed_write: StoreError | None = None  # why the last write failed; None: it did not
        self._committing = Committing(store)
        self._evident = QuickValidation(store.known_catalog, settings.values_per_attribute)
        self._evident_under = store.known_catalog
        self._readers = ThreadPoolExecutor(_READERS, "tidings-reading")
        self._binders = Binders()
        self.admission = Admission(self, settings)
        self._writers = ThreadPoolExecutor(_WRITERS, "tidings-writing")

    async def append(self, drafts: Sequence[Draft]) -> list[Outcome]:
        """An outcome for each, once they are on the disk. Raises Overloaded or StoreError."""
        try:
            outcomes = await self._committing.append(drafts)
        except _FAILURES as problem:
            self.failed_write = problem
            raise
        self.failed_write = None
        return outcomes

    async def append_one(self, draft: Draft) -> Accepted | Duplicate:
        """Raises what the draft was refused for."""
        (outcome,) = await self.append((draft,))
        if isinstance(outcome, Refused):
            raise outcome.error
        return outcome

    def evident_draft(self, raw: object, size: int) -> PublishValid | None:
        """Of a small event of the common form; None where `draft` must take a closer look."""
        catalog = self.store.known_catalog
        if size >= QUICK or _has_document(raw, catalog):
            return None
        if self._evident_under is not catalog:
            self._evident, self._evident_under = QuickValidation(catalog, self.settings.values_per_attribute), catalog
        event = self._evident.event(raw)
        return None if event is None else PublishValid(event)

    async def draft(self, raw: object, size: int) -> PublishValid:
        """Of a raw event with `size` bytes, checked before it joins a group, so that nobody waits for a refused one.

        What was valid under an older catalog is valid under the newest, so the one that is known here may accept it;
        only the newest may refuse it. Raises RefusedEvent.
        """
        catalog = self.store.known_catalog
        is_quick = size < QUICK and not _has_document(raw, catalog)
        event = self._valid(raw, catalog) if is_quick else await self.read(self._valid, raw, catalog)
        return PublishValid(event if event is not None else await self.read(self._by_newest, raw))

    def _by_newest(self, raw: object) -> Event:
        """The journal sets the time of acceptance; here it only completes the description of a refused event."""
        catalog = self.store.catalog()
        valid = self._valid(raw, catalog)
        return valid or validate(raw, catalog, self.store.clock.now(), most_values=self.settings.values_per_attribute)

    def _valid(self, raw: object, catalog: Catalog) -> Event | None:
        try:
            return validate(raw, catalog, hints=False, most_values=self.settings.values_per_attribute)
        except RefusedEvent:
            return None

    async def read(self, ask: Callable[P, R], *args: P.args, **named: P.kwargs) -> R:
        """Calls in a thread, so that nobody else waits for the disk."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, lambda: ask(*args, **named))

    async def bind(self, account: str, ask: Callable[P, R], *args: P.args, **named: P.kwargs) -> R:
        """The same for what binds filters or composites, which may take long: of an account one after another."""
        return await self._binders.run(account, ask, *args, **named)

    async def write(self, change: Callable[P, R], *args: P.args, **named: P.kwargs) -> R:
        """The same for what changes the store beside the journal, and may have to wait for other writers."""
        loop = asyncio.get_running_loop()
        try:
            done = await loop.run_in_executor(self._writers, lambda: change(*args, **named))
        except _FAILURES as problem:
            self.failed_write = problem
            raise
        self.failed_write = None
        return done

    async def close(self) -> None:
        """Returns when all that was accepted is answered."""
        await self.channels.close()
        await self._committing.close()
        self._writers.shutdown()
        self._readers.shutdown()
        self._binders.close()


def _has_document(raw: object, catalog: Catalog) -> bool:
    """Then it is checked beside the event loop: a grammar may make that slow."""
    if not catalog.document_attributes:
        return False
    attributes = raw.get("attributes") if isinstance(raw, dict) else None
    return isinstance(attributes, dict) and not catalog.document_attributes.isdisjoint(attributes)
