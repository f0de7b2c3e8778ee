"""Whatever a network matches by itself is decided in bounded time, however many values an event has."""

import json
import time
from pathlib import Path

import pytest

from tidings.events import validate
from tidings.language import Filter
from tidings.network.cargo import Cargo
from tidings.network.moving_in import Arriving
from tidings.overlay.language_filters import LanguageFilters
from tidings.schema import Catalog, Instant, json_form
from tidings.schema.growth import grow
from tidings.store import Grow, Store
from tidings.store.moves.moving_in import Candidate
from tidings.store.network.advertisements import Admitted, version

NAMES = ("a", "b", "c", "d")
CHANGES = (
    {"change": "create_domain", "domain": {"name": "number", "kind": "numeric"}},
    *({"change": "create_attribute", "attribute": {"name": name, "domain": "number"}} for name in NAMES),
    {
        "change": "create_event_type",
        "event_type": {"name": "many", "attributes": [{"name": name, "unique": False} for name in NAMES]},
    },
)
FILTER = " and ".join(f"{name} < 0" for name in NAMES)
RAW = {"id": "1", "source": "s", "event_type": "many", "attributes": {name: list(range(40)) for name in NAMES}}


def grown() -> Catalog:
    catalog = Catalog()
    for change in CHANGES:
        catalog = grow(catalog, json_form.read_change(change))
    return catalog


def language_filters(catalog: Catalog, folder: Path) -> bool:
    content = validate(RAW, catalog).bindings(Instant(0))
    return LanguageFilters(catalog).matches(Filter.parse(FILTER, catalog), content)


def advertisements(catalog: Catalog, folder: Path) -> bool:
    store = Store.open(folder / "a.db")
    store.append([Grow(json_form.read_change(one)) for one in CHANGES])
    store.advertise("ann", FILTER)
    admitted = Admitted()
    with store.database.reading() as connection:
        admitted.read(connection, lambda *_: catalog)
        admits = admitted.at(version(connection), catalog)
    store.close()
    return admits(validate(RAW, catalog), Instant(0))


def moving_in(catalog: Catalog, folder: Path) -> bool:
    cargo = Cargo("", FILTER, False, False, 0)
    return bool(Arriving(cargo, catalog).select([Candidate(1, json.dumps(RAW), 0)]))


@pytest.mark.parametrize("matched", [language_filters, advertisements, moving_in])
def test_many_values_of_many_attributes(matched, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """The specification tries 2,560,000 choices of values."""
    catalog, begun = grown(), time.process_time()
    assert not matched(catalog, tmp_path)
    assert time.process_time() - begun < 2
