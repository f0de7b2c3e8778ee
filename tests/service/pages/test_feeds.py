"""The page that turns a file into a mapping: guesses, corrections, their effect, downloads and the schema change."""

import json
import tomllib
from pathlib import Path

from tests.service.conftest import Service, on_sqlite
from tests.service.pages.visitor import Visitor
from tidings.feeds.mapping.mapping_file import mapping_of
from tidings.service.pages.feed_pages import LARGEST

pytestmark = on_sqlite
FEEDS = "/pages/feeds"
ROWS = "Nr;Titel;Preis\n" + "".join(f"n{n};<b>Boot</b> {n};{n}00 €\n" for n in range(1, 30)) + "n99;x;12 Raten\n"


def events(ann: Visitor) -> list[dict[str, object]]:
    return [json.loads(line)["event"]["attributes"] for line in ann.tree.xpath("//pre")[0].text.splitlines()]


def test_from_a_file_to_a_mapping_and_a_schema(service: Service, ann: Visitor) -> None:
    service.store.change_account("ann", None, frozenset({"publish", "read", "account", "subscribe", "schema"}))
    ann.get(FEEDS)
    ann.submit(FEEDS, sample=ROWS, place="boats.csv")
    assert ann.page.status_code == 200, ann.text
    for told in (
        "A table (CSV), 30 records",
        "100 % of 30 records, 30 distinct: 'n1', 'n2', 'n3'; string",
        "20 records, 0 would be refused",
    ):
        assert told in ann.text
    assert "<b>Boot" not in ann.page.text, "what is in a file is text"
    assert len(events(ann)) == 20
    form = ann.form(FEEDS)
    assert (form["name2"], form["kind2"], form["id"]) == (["preis"], ["numeric"], ["Nr"])
    assert ann.text.count("1 bad values left out") == 1

    ann.submit(FEEDS, name2="price", kind2="numeric", unit2="€", keep1=None, mandatory0="1")
    assert ann.page.status_code == 200, ann.text
    assert ann.form(FEEDS)["kind2"] == ["numeric"]
    assert events(ann)[0] == {"nr": "n1", "price": 100}
    corrected = ann.form(FEEDS)

    ann.submit(FEEDS, piece="1")
    assert "<form" not in ann.page.text, "a script gets the effect alone"
    assert "Effect on the first records" in ann.text

    def press(act: str) -> None:
        ann.page = ann.client.post(FEEDS, data={**corrected, "result": act}, follow_redirects=True)

    press("mapping")
    assert ann.page.headers["content-disposition"] == 'attachment; filename="boats.toml"'
    mapping = mapping_of(tomllib.loads(ann.page.text), "boats.toml", Path())
    assert [(one.attribute, str(one.kind), one.mandatory) for one in mapping.fields] == [
        ("nr", "string", True),
        ("price", "numeric", False),
    ]
    press("changes")
    assert [json.loads(line) for line in ann.page.text.splitlines()][-1]["event_type"]["name"] == "boats"
    assert service.store.catalog().event_type("boats") is None
    press("apply")
    assert ann.page.status_code == 200, ann.text
    assert "Download the mapping and run it" in ann.text
    assert service.store.catalog().event_type("boats") is not None
    ann.submit(FEEDS)
    assert "0 schema changes" in ann.text
    ann.submit(FEEDS, sample="{]", place="x")
    assert ann.page.status_code == 422
    assert "not valid JSON" in ann.text


def test_the_time_of_the_event_is_chosen_among_the_times(ann: Visitor) -> None:
    rows = "no,seen,ends\n" + "".join(f"{n},2026-05-{n:02},{n:02}.06.2026\n" for n in range(1, 25))
    ann.get(FEEDS)
    ann.submit(FEEDS, sample=rows, place="boats.csv")
    assert "has times" not in ann.text, "the form asks"
    assert ann.tree.xpath("//select[@name='time']/option/text()") == ["when it is accepted", "seen", "ends"]
    ann.submit(FEEDS, time="ends")
    first = json.loads(ann.tree.xpath("//pre")[0].text.splitlines()[0])["event"]
    assert (first["time"], first["attributes"]["ends"]) == ("2026-06-01T00:00:00Z",) * 2
    assert ann.form(FEEDS)["time"] == ["ends"]
    ann.submit(FEEDS, time="")
    assert "time" not in json.loads(ann.tree.xpath("//pre")[0].text.splitlines()[0])["event"]
    ann.submit(FEEDS, time="no")
    assert (ann.page.status_code, "expected a column of times" in ann.text) == (422, True)


def test_what_is_empty_or_too_large_is_told(ann: Visitor) -> None:
    for text, told in (
        ("", "Choose a file or paste its beginning"),
        ("x" * (LARGEST + 1), "paste only the beginning"),
    ):
        ann.get(FEEDS)
        ann.submit(FEEDS, sample=text)
        assert (ann.page.status_code, told in ann.text) == (422, True)


def test_a_guest_must_log_in(visitor: Visitor) -> None:
    visitor.get(FEEDS)
    if visitor.page.url.path == FEEDS:  # guests may publish here
        visitor.submit(FEEDS, sample=ROWS)
    assert "Log in" in visitor.text
    assert "30 records" not in visitor.text
