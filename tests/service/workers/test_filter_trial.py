"""A filter tried on stored events: what matched, and how often an expression ended in an error."""

from pathlib import Path

from tidings.schema import Catalog
from tidings.schema.growth import changes_to_make
from tidings.service.pages.parts.words import tried_on
from tidings.service.workers.filter_trial import tried
from tidings.store import Grow, Publish, Store

SCHEMA = Catalog.from_dict(
    {
        "domains": [{"name": "string", "kind": "string"}],
        "attributes": [{"name": "title", "domain": "string"}],
        "event_types": [{"name": "story", "attributes": [{"name": "title"}]}],
    }
)


def test_errors_of_expressions_are_counted_and_told(tmp_path: Path) -> None:
    with Store.open(tmp_path / "tidings.db") as store:
        store.append([Grow(change) for change in changes_to_make(SCHEMA)])
        titles = ["7", "seven", "9", "x"]
        raw = [{"id": str(n), "event_type": "story", "attributes": {"title": one}} for n, one in enumerate(titles)]
        store.append([Publish(one) for one in raw])
        trial = tried(store, "event_type cesql 'INT(title) > 8'", 100)
        assert (trial.matched, trial.scanned, trial.errors) == (1, 4, 2)
        assert trial.error
        told = tried_on(trial)
        assert told.startswith("of the last 4 events. It ended in an error 2 times, which counts as false: ")
        assert tried_on(tried(store, "title = '7'", 100)) == "of the last 4 events."
