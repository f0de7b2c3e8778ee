"""A store with the schema of the examples: the services of these tests begin with one."""

from pathlib import Path

from tests.services.sqlite import copied_store
from tidings.schema import growth, json_form
from tidings.store import Grow, Store

SCHEMA = Path(__file__).parents[2] / "examples" / "schema.json"


def open_example_store(url: str) -> Store:
    """Made where there is none; one that is empty gets the schema."""
    if "://" not in url and not Path(url).exists():
        copied_store(_made, Path(url))
    return _grown(Store.open(url))


def _made(path: Path) -> Store:
    return _grown(Store.open(path))


def _grown(store: Store) -> Store:
    if store.tail() == 0:
        catalog = json_form.read(SCHEMA.read_bytes())
        store.append([Grow(change) for change in growth.changes_to_make(catalog)])
    return store
