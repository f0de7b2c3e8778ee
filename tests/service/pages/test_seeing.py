"""What is seen of events and matches: never more than fits, in people's words, and only by whoever may see it."""

import re

from tests.service.conftest import PASSWORD, Service, car, on_sqlite
from tests.service.pages.visitor import Visitor
from tidings.events import validate
from tidings.service.pages.parts.showcase import Showcase
from tidings.store import PublishValid, Subscribe

pytestmark = on_sqlite

MINE = "/pages/subscriptions"
LOT = {
    "id": "lot",
    "event_type": ["auction"],
    "attributes": {"title": "Oak desk", "price": 12345, "category": "desk", "ends": "2026-11-20T23:26:44Z"},
}


def _matched(service: Service, event: dict[str, object], *ids: str) -> int:
    position = int(service.client.post("/v1/events", json=event).json()["position"])
    service.commit(service.store.committed() + 1, position, [(position, sorted(ids))])
    return position


def test_large_events_do_not_make_large_pages(service: Service, ann: Visitor, visitor: Visitor) -> None:
    id = ann.subscribe("brand = mini")
    first = service.store.tail() + 1
    paints = [f"p{number}" for number in range(20_000)]
    raws = [car(f"e{number}", year=1990 + number, paint=paints) for number in range(8)]
    catalog = service.store.catalog()
    service.store.append([PublishValid(validate(raw, catalog, most_values=None)) for raw in raws])
    service.commit(1, first + 7, [(position, [id]) for position in range(first, first + 8)])
    service.app.state.showcase = Showcase(service.gateway, service.app.state.ends)
    for who, page in ((ann, "/"), (ann, "/pages/now"), (visitor, "/"), (visitor, "/pages/now"), (ann, f"{MINE}/{id}")):
        text = who.get(page).text
        assert "1997" in text, page
        assert "p7" in text, page
        assert "p8" not in text, page
        assert "… and 19,992 more" in text, page
    text = ann.get(f"/pages/events/{first}").text.partition("As JSON")[0]
    assert "p199" in text
    assert "p200" not in text
    assert "… and 19,800 more" in text
    text = ann.get(f"{MINE}/{id}/why/{first}").text
    assert "Why this matched" in text
    assert "p8" not in text


def test_events_have_a_headline_and_human_times_and_numbers_to_copy(service: Service, ann: Visitor) -> None:
    id = ann.subscribe("price > 3 and ends > '2026-11-01T00:00:00Z'")
    position = _matched(service, LOT, id)
    for page in ("/", f"/pages/events/{position}", f"{MINE}/{id}", f"{MINE}/{id}/why/{position}"):
        ann.get(page)
        titles = [one.text for one in ann.tree.iter("p", "h1") if one.tag == "h1" or one.get("class") == "what"]
        assert titles[:2].count("Oak desk") == 1, page
        assert "title" not in [one.text for one in ann.tree.iter("dt")], page
        (time, *_) = (one for one in ann.tree.iter("time") if one.get("data-ago") is None)
        assert (time.get("datetime"), time.text) == ("2026-11-20T23:26:44Z", "20 Nov 2026, 23:26 UTC"), page
        assert "price 12345" in ann.text, page
    assert ann.text.count("20 Nov 2026, 23:26 UTC") == 2, "among the reasons, too"


def test_why_shows_the_whole_filter_and_the_event(service: Service, ann: Visitor) -> None:
    id = ann.subscribe("price > 3 and title contains 'oak'")
    position = _matched(service, LOT, id)
    ann.get(f"{MINE}/{id}/why/{position}")
    assert [one.text_content() for one in ann.tree.iter("h1")] == ["Why this matched"]
    assert [one.text_content() for one in ann.tree.iter("pre")] == ["price > 3 and title contains 'oak'"]
    assert "price is 12345" in ann.text
    other = _matched(service, {**LOT, "id": "two", "attributes": {**LOT["attributes"], "price": 1}})  # type: ignore[dict-item]
    ann.get(f"{MINE}/{id}/why/{other}")
    assert [one.text_content() for one in ann.tree.iter("h1")] == ["Why this did not match"]


def test_an_event_names_subscriptions_by_their_filters(service: Service, ann: Visitor) -> None:
    ids = [ann.subscribe("brand = mini"), ann.subscribe("year = 1990")]
    position = _matched(service, car(), *ids)
    ann.get(f"/pages/events/{position}")
    links = {one.get("href"): one.text_content() for one in ann.tree.iter("a") if one.text_content() != "Why?"}
    assert links[f"{MINE}/{ids[0]}"] == "brand = mini"
    assert links[f"{MINE}/{ids[1]}"] == "year = 1990"
    assert not any(id in ann.text for id in ids)
    assert "there are more" not in ann.text
    many = [f"s-{number:03}" for number in range(101)]
    service.store.append([Subscribe(id, f"year < {2000 + number}", "ann") for number, id in enumerate(many)])
    position = _matched(service, car("e2"), *many)
    ann.get(f"/pages/events/{position}")
    assert ann.text.count("year < ") == 100
    assert "The first 100 of them; there are more." in ann.text


def test_a_subscriptions_id_is_for_programs(service: Service, ann: Visitor) -> None:
    id = ann.subscribe("brand = mini")
    ann.get(f"{MINE}/{id}")
    assert ann.text.count(id) == 1
    assert f"The id of this subscription is {id}" in ann.text.partition("For programs")[2]
    assert [one.text_content() for one in ann.tree.iter("h1")] == ["Subscription"]


def test_without_the_scope_subscribe_nothing_is_told_of_subscriptions(service: Service, ann: Visitor) -> None:
    id = ann.subscribe("year = 1990")
    position = _matched(service, car(), id)
    for page in ("/", "/pages/now", f"/pages/events/{position}"):
        assert "year = 1990" in ann.get(page).text, page
    asked = {"username": "ann", "password": PASSWORD, "name": "importer", "scopes": ["publish", "read"]}
    secret = service.anonymous().post("/v1/tokens", json=asked).json()["token"]
    importer = Visitor(service)
    importer.get("/pages/login")
    importer.submit("/pages/login", token=secret)
    for page in ("/", "/pages/now", f"/pages/events/{position}"):
        text = importer.get(page).text
        assert importer.page.status_code == 200, page
        assert "mini" in text, "it may read events"
        assert "year = 1990" not in text, page
        assert id not in text, page
        assert "Your latest matches" not in text, page


def test_home_is_short_and_says_what_found_an_event(service: Service, ann: Visitor) -> None:
    ids = [ann.subscribe(f"year > {1900 + number}") for number in range(5)]
    for number in range(7):
        _matched(service, car(f"e{number}", year=1990 + number), *ids)
    ann.get("/")
    assert len([one for one in ann.tree.iter("div") if one.get("class") == "found"]) == 5
    assert ann.text.count("found by") == 10
    assert ann.text.count("and 3 more") == 5
    assert "Schema version" not in ann.text
    places = [ann.page.text.index(f'data-part="{name}"') for name in ("matches", "events", "rates", "figures")]
    assert places == sorted(places)
    assert "Waiting to be matched 0 entries" in ann.text.replace("matched0", "matched 0")
    assert [one.text_content() for one in ann.tree.iter("span") if one.getparent().get("class") == "axis"][-1] == "now"
    assert "Lag" not in ann.text


def test_newer_matches_say_when_some_are_left_out(service: Service, ann: Visitor) -> None:
    id = ann.subscribe("brand = mini")
    ann.get(f"{MINE}/{id}")
    last = next(one.get("data-after") for one in ann.tree.iter("span") if one.get("data-stream"))
    start = service.store.tail() + 1
    service.client.post("/v1/events", json=[car(f"e{number}") for number in range(26)])
    service.commit(1, start + 24, [(position, [id]) for position in range(start, start + 25)])
    piece = ann.get(f"{MINE}/{id}/newer", after=last).text
    assert len(re.findall("data-cursor", piece)) == 25
    assert "data-gap" not in piece, "these are all"
    service.commit(start + 25, start + 25, [(start + 25, [id])])
    piece = ann.get(f"{MINE}/{id}/newer", after=last).text
    assert len(re.findall("data-cursor", piece)) == 25
    assert piece.index("data-gap") > piece.rindex("data-cursor"), "where they are missing"


def test_sparklines_say_that_nothing_was_found(service: Service, ann: Visitor) -> None:
    id = ann.subscribe("brand = mini")
    for page in (MINE, f"{MINE}/{id}"):
        ann.get(page)
        assert "No matches in the last hour" in ann.text
        assert list(ann.tree.iter("rect")) == []
    _matched(service, car(), id)
    for page in (MINE, f"{MINE}/{id}"):
        ann.get(page)
        assert "1 match in the last hour" in ann.text
        assert len(list(ann.tree.iter("rect"))) == 1


def test_the_last_hour_of_a_subscription_is_kept_up_to_date(service: Service, ann: Visitor) -> None:
    """Its page asks for this piece as it does for new matches; else it would say that there are none above them."""
    id = ann.subscribe("brand = mini")
    ann.get(f"{MINE}/{id}")
    (place,) = ann.tree.xpath("//*[contains(@class, 'sparked')]")
    assert "No matches in the last hour" in place.text_content()
    _matched(service, car(), id)
    ann.get(place.get("data-refresh"))
    assert "1 match in the last hour" in ann.text
    assert len(list(ann.tree.iter("rect"))) == 1
    bob = Visitor(service).join("bob")
    assert bob.get(place.get("data-refresh")).status_code == 404
