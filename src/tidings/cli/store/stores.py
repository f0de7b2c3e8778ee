"""The options that name a store, and opening it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from tidings.cli.terminal import INPUT_WAS_WRONG, fail, plain_errors

if TYPE_CHECKING:  # SQLAlchemy takes long to load, and most commands need no store
    from tidings.store import Store
    from tidings.store.journal.event_store import EventReader, EventStore

T = TypeVar("T", bound="EventStore")

UNREACHABLE = 3
DATABASE = "tidings.db"

Data = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", file_okay=False, help=f"The data folder; the journal is {DATABASE} in it."),
]
StoreUrl = Annotated[str, typer.Option("--store", metavar="URL", help="Instead of --data: postgresql://… or a path.")]


@contextmanager
def opened_store(data: Path | None, url: str, make: bool = False) -> Iterator[Store]:
    """The store that the options name; errors are printed plainly. `make`: creates it if missing."""
    from tidings.store import Store

    with _opened(data, url, Store.open, make) as store:
        yield store


@contextmanager
def opened_events(data: Path | None, url: str) -> Iterator[EventReader]:
    """The same for events alone: much less is loaded for it."""
    from tidings.store.journal.event_store import EventReader

    with _opened(data, url, EventReader.open) as events:
        yield events


@contextmanager
def _opened(data: Path | None, url: str, open: Callable[[Path | str], T], make: bool = False) -> Iterator[T]:
    from tidings.store.errors import StoreUnreachable

    if (data is None) == (not url):
        raise typer.BadParameter("say where the journal is: --data FOLDER or --store URL.")
    file = _file(data, url)
    with plain_errors():
        if data is not None and make:
            data.mkdir(mode=0o700, parents=True, exist_ok=True)
        if file is not None and not file.is_file() and not make:
            fail(f"no journal at {file}; create one with tidings journal load")
        try:
            store = open(file or url)
        except StoreUnreachable as problem:
            fail(str(problem), INPUT_WAS_WRONG if file else UNREACHABLE)
        with store:
            yield store


def _file(data: Path | None, url: str) -> Path | None:
    """Where the journal is a file; None for a server."""
    if data is not None:
        return data / DATABASE
    if url.startswith("sqlite:///"):
        return Path(url.removeprefix("sqlite:///"))
    return None if "://" in url else Path(url)
