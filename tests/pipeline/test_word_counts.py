"""Statistics in the journal: counted from stored events at doubling numbers of texts, and weighing what comes after."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from tidings.errors import SchemaError
from tidings.events import EventBatch, validate
from tidings.language import Filter, Subscription
from tidings.language.similarity import statistics_of
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.pipeline import word_counts
from tidings.pipeline.word_counts import Counting, attributes_asked, count_stored, next_count
from tidings.schema import Catalog
from tidings.schema.catalog import NameTaken
from tidings.schema.growth import changes_to_make
from tidings.schema.statistics import Statistics
from tidings.store import Grow, Publish, Store, Subscribe, rebuild

SCHEMA = Catalog.from_dict(
    {
        "domains": [{"name": "text", "kind": "text", "language": "english"}, {"name": "number", "kind": "numeric"}],
        "attributes": [
            {"name": "body", "domain": "text"},
            {"name": "notes", "domain": "text"},
            {"name": "price", "domain": "number"},
        ],
        "event_types": [
            {
                "name": "story",
                "attributes": [
                    {"name": "body", "mandatory": False},
                    {"name": "notes", "mandatory": False, "unique": False},
                    {"name": "price", "mandatory": False},
                ],
            }
        ],
    }
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "tidings.db") as made:
        made.append([Grow(change) for change in changes_to_make(SCHEMA)])
        yield made


def publish(store: Store, texts: list[str], first: int = 0, name: str = "body") -> None:
    store.append(
        [
            Publish({"id": str(n), "event_type": "story", "attributes": {name: text}})
            for n, text in enumerate(texts, first)
        ]
    )


def test_counts_are_made_at_doubling_numbers_of_texts(store: Store) -> None:
    counting = Counting(store)
    publish(store, ["bank runs"] * 99)
    counting.look()
    publish(store, ["price up"], 99)
    counting.look()
    assert store.catalog().statistics == ()  # nobody asks for similarity
    store.append([Subscribe("s", "body ~ 'bank rates' at least 0.3")])
    counting.look()
    (counted,) = store.catalog().statistics
    assert (counted.texts, counted.frequencies["bank"], counted.frequencies["run"]) == (100, 99, 99)
    assert counted.since == store.tail()
    publish(store, ["bank"] * 99, 100)
    counting.look()
    assert len(store.catalog().statistics) == 1
    publish(store, ["bank"], 199)
    counting.look()
    assert [one.texts for one in store.catalog().statistics] == [100, 200]
    again = Counting(store)  # after a restart
    again.look()
    assert len(store.catalog().statistics) == 2


def test_a_refusal_is_logged_and_counting_goes_on(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    put = word_counts._put

    def refusing(store: Store, counted: Statistics) -> None:
        if counted.attribute == "body":
            raise NameTaken("term", "x")
        put(store, counted)

    monkeypatch.setattr(word_counts, "_put", refusing)
    store.append([Subscribe("s", "body ~ 'bank' at least 0.3 or notes ~ 'bank' at least 0.3")])
    publish(store, ["bank"] * 100)
    publish(store, ["bank"] * 100, 100, "notes")
    counting = Counting(store)
    for _ in range(3):
        counting.look()
    assert [one.attribute for one in store.catalog().statistics] == ["notes"]
    assert [record.getMessage() for record in caplog.records] == [
        "no statistics of body: term 'x' exists already; names are never reused, so choose another one"
    ]


def test_whatever_goes_wrong_counting_goes_on(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    looks = []

    def look(self: Counting) -> None:
        looks.append(self)
        if len(looks) == 1:
            raise ValueError("a fault")
        stopped.set()

    stopped = Event()
    monkeypatch.setattr(word_counts, "_PAUSE", 0.001)
    monkeypatch.setattr(Counting, "look", look)
    word_counts.keep_counting(store, stopped)
    assert len(looks) == 2
    assert "counting begins again" in caplog.text


def test_several_values_are_several_texts(store: Store) -> None:
    raw = {"id": "a", "event_type": "story", "attributes": {"notes": ["x y", "y"]}}
    store.append([Publish(raw)])
    assert count_stored(store, "notes") == statistics_of("notes", ["x y", "y"], "english")


def test_composites_ask_too() -> None:
    asked = attributes_asked(["[notes ~ 'x' at least 0.3] before [price < 3] within 1 h", "price < 3 ~", ""], SCHEMA)
    assert asked == {"notes"}


def test_doubling() -> None:
    assert [next_count(texts) for texts in (0, 99, 100, 199, 200, 500)] == [100, 100, 200, 200, 400, 800]


@pytest.mark.parametrize("attribute", ["price", "nothing"])
def test_only_texts_are_counted(store: Store, attribute: str) -> None:
    tail = store.tail()
    with pytest.raises(SchemaError, match=attribute):
        count_stored(store, attribute)
    assert store.tail() == tail


def test_a_replay_compares_each_event_under_the_statistics_before_it(store: Store) -> None:
    publish(store, ["bank rates", "bank", "rates"])
    count_stored(store, "body")
    publish(store, ["bank"], 3)
    publish(store, ["bank"] * 20, 4)
    count_stored(store, "body")
    publish(store, ["bank"], 24)
    catalog = store.catalog()
    matcher = BoxMatcher(catalog, 1)
    matcher.add(Subscription("s", Filter.parse("body ~ 'bank rates' at least 0.7", catalog)))
    first, second = (one.since for one in catalog.statistics)
    event = validate({"id": "e", "event_type": "story", "attributes": {"body": "bank"}}, catalog)
    found = matcher.match(EventBatch.of([event] * 4, catalog, [1, first + 1, second - 1, second + 1]))
    assert [len(found.of(row)) for row in range(4)] == [1, 1, 1, 0]
    rebuild(store)
    assert store.catalog() == catalog
