"""Documents through the pipeline: grown, subscribed by path, published and matched on a real Spark."""

from pathlib import Path

import pyarrow as pa
import pytest
from lxml import etree
from pyspark.sql import SparkSession

from tests.pipeline.oracle import stored
from tests.pipeline.test_stream import run_once
from tidings.language import Filter
from tidings.pipeline.batch import history_frames
from tidings.pipeline.batch.history import NOTIFIED, differences, replayed
from tidings.pipeline.batch.query import STORED, matching
from tidings.schema import Attribute, AttributeUse, Domain, EventType, Kind
from tidings.schema.documents.grammar import Grammar
from tidings.schema.documents.rules import DocumentRules
from tidings.schema.growth import CreateAttribute, CreateDomain, CreateEventType
from tidings.store import Grow, Publish, Store, Subscribe

_DTD = """<!ELEMENT news (title, part*)><!ELEMENT title (#PCDATA)><!ELEMENT part (#PCDATA)>
<!ATTLIST part code CDATA #IMPLIED><!ENTITY eacute "&#233;">"""
_OPENING = [
    CreateDomain(Domain("news", Kind.DOCUMENT, document=DocumentRules(Grammar("dtd", _DTD), "news"))),
    CreateDomain(Domain("number", Kind.NUMERIC)),
    CreateAttribute(Attribute("article", "news")),
    CreateAttribute(Attribute("urgency", "number")),
    CreateEventType(EventType("news", (AttributeUse("article"), AttributeUse("urgency", mandatory=False)))),
]
_PATHS = {
    "storms": '//title[contains(., "storm")]',
    "parts": "/news/part",
    "codes": '//part[@code = "4"][. = "b"]',
    "accents": '//title[starts-with(., "é")]',
    "any code": "//@code",
}
_DOCUMENTS = [
    f"<!DOCTYPE news SYSTEM 'n.dtd'>\n<news><title>{title}</title>{parts}</news>"
    for title in ("a storm", "&eacute;t&eacute;", "calm")
    for parts in ("", "<part>a</part>", "<part code='4'>b</part><part code='5'>c</part>")
]


def test_subscriptions_by_path_hear_of_documents_as_lxml_finds_them(tmp_path: Path, spark: SparkSession) -> None:
    with Store.open(tmp_path / "tidings.db") as store:
        store.append([Grow(change) for change in _OPENING])
        store.append([Subscribe(id, f"article xpath '{path}'", "ann") for id, path in _PATHS.items()])
        store.append([Subscribe("urgent", "urgency <= 1 and not (article xpath '//part')", "ann")])
        wanted = set()
        for number, document in enumerate(_DOCUMENTS):
            raw = {"id": f"n{number}", "event_type": "news", "attributes": {"article": document, "urgency": number % 3}}
            store.append([Publish(raw)])
            tree = etree.fromstring(document.replace("&eacute;", "é"))
            found = [id for id, path in _PATHS.items() if tree.xpath(f"boolean({path})")]
            found += ["urgent"] if number % 3 <= 1 and tree.find("part") is None else []
            wanted |= {(store.tail(), id) for id in found}
            if number == 4:
                run_once(store, spark)
                store.append([Subscribe("late", "article xpath '//*'", "ann")])
            elif number > 4:
                wanted.add((store.tail(), "late"))
        run_once(store, spark)
        assert stored(store) == wanted
        assert {id for _, id in wanted} == {*_PATHS, "urgent", "late"}


@pytest.mark.parametrize("place", ["here", "on Spark"])
def test_queries_and_back_tests_over_stored_documents(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setattr(history_frames, "_STRETCH", 4)  # several stretches
    session = None if place == "here" else request.getfixturevalue("spark")
    with Store.open(tmp_path / "tidings.db") as store:
        store.append([Grow(change) for change in _OPENING])
        store.append([Subscribe(id, f"article xpath '{path}'", "ann") for id, path in _PATHS.items()])
        trees = {}
        for number, document in enumerate(_DOCUMENTS):
            raw = {"id": f"n{number}", "event_type": "news", "attributes": {"article": document}}
            store.append([Publish(raw)])
            trees[store.tail()] = etree.fromstring(document.replace("&eacute;", "é"))
        hears = {
            id: [at for at, tree in trees.items() if tree.xpath(f"boolean({path})")] for id, path in _PATHS.items()
        }
        assert all(hears.values())
        for id in _PATHS if session is None else ("codes", "accents"):
            filter = Filter.parse(f"article xpath '{_PATHS[id]}'", store.catalog())
            found = pa.Table.from_batches(matching(store, filter, 0, store.tail(), session), STORED)
            assert found.column("position").to_pylist() == hears[id], id
        again = pa.Table.from_batches(replayed(store, 0, store.tail(), session), NOTIFIED)
        pairs = zip(again["position"].to_pylist(), again["subscription"].to_pylist(), strict=True)
        assert sorted(pairs) == sorted((at, id) for id, positions in hears.items() for at in positions)
        lost, _ = differences(store, 0, store.tail(), again.to_batches())
        assert len(lost) == len(again), "nothing was notified before"
