"""Subscriptions by the pages: make, read, edit, pause, resume, delete; what they found, and why."""

import re

import pytest

from tests.service.conftest import Service, car, on_sqlite
from tests.service.pages.visitor import Visitor

MINE = "/pages/subscriptions"


def _published(service: Service, visitor: Visitor, **values: str) -> int:
    visitor.get("/pages/publish?type=car")
    visitor.submit("/pages/publish", **{f"value:{name}": value for name, value in values.items()})
    return int(visitor.page.url.params["published"])


def test_the_whole_life_of_a_subscription(service: Service, ann: Visitor) -> None:
    id = ann.subscribe("brand = mini and year<1980")
    assert "Subscribed" in ann.text
    assert "brand = mini and year < 1980" in ann.text
    position = _published(service, ann, brand="mini", year="1971")
    service.commit(1, position, [(position, [id])])
    ann.get(f"{MINE}/{id}")
    assert "1971" in ann.text
    assert "1 match in the last hour" in ann.page.text
    why = next(link.get("href") for link in ann.tree.iter("a") if link.get("data-why") is not None)
    ann.get(why)
    assert "Why this matched" in ann.text
    assert "year < 1980 year is 1971" in ann.text
    ann.get(MINE)
    ann.submit(f"{MINE}/{id}/pause")
    assert "Paused." in ann.text
    assert service.store.subscription(id).state == "paused"
    ann.submit(f"{MINE}/{id}/resume")
    assert service.store.subscription(id).state == "active"
    ann.get(f"{MINE}/{id}/edit")
    assert ann.form(f"{MINE}/{id}/edit")["text"] == ["brand = mini and year < 1980"]
    ann.submit(f"{MINE}/{id}/edit", text="year > 2000", expiry="2099-01-01T10:00:00")
    assert "year > 2000" in ann.text
    assert "ends 2099-01-01 10:00:00 UTC" in ann.text
    ann.get(why)
    assert "year < 1980" in ann.text, "the filter that counted then"
    ann.get(f"{MINE}/{id}")
    ann.submit(f"{MINE}/{id}/delete")
    assert "Deleted." in ann.text
    assert service.store.subscriptions("ann") == []
    ann.get(f"{MINE}/{id}")
    assert "was withdrawn" in ann.text
    assert "1971" in ann.text, "what it found stays readable"


@on_sqlite
def test_a_wrong_filter_is_shown_at_its_place(service: Service, ann: Visitor) -> None:
    ann.get(f"{MINE}/new")
    ann.submit(f"{MINE}/new", text="brand = mini and prise < 10")
    assert ann.page.status_code == 422
    assert "No attribute 'prise'; did you mean 'price'?" in ann.text
    picture = next(node for node in ann.tree.iter("pre") if node.get("class") == "caret").text_content()
    line, caret = picture.split("\n")[:2]
    assert line[caret.index("^") :].startswith("prise")
    assert ann.form(f"{MINE}/new")["text"][0].strip() == "brand = mini and prise < 10"
    assert service.store.subscriptions("ann") == []


@on_sqlite
def test_an_expiry_in_the_past_is_shown_at_its_field(ann: Visitor) -> None:
    ann.get(f"{MINE}/new")
    ann.submit(f"{MINE}/new", text="brand = mini", expiry="2001-01-01T00:00:00")
    assert ann.errors()["expiry"] == "This has already passed."
    ann.submit(f"{MINE}/new", text="brand = mini", expiry="soon")
    assert ann.errors()["expiry"] == "This is not an ISO 8601 time; expected e.g. '2030-05-01T10:00:00Z'."


@on_sqlite
def test_the_example_in_the_field_is_of_this_schema(service: Service, ann: Visitor) -> None:
    ann.get(f"{MINE}/new")
    assert ann.tree.get_element_by_id("text").get("placeholder") is None, "no event helps to make one"
    assert "For example, in a schema of auctions:" in ann.text
    service.client.post("/v1/events", json=car("e1", year=1971))
    ann.get(f"{MINE}/new")
    example = ann.tree.get_element_by_id("text").get("placeholder")
    ann.subscribe(example)
    assert [one.filter for one in service.store.subscriptions("ann")] == [example]
    assert " and " in example


@on_sqlite
def test_a_form_that_is_sent_twice_makes_one_subscription(service: Service, ann: Visitor) -> None:
    ann.get(f"{MINE}/new")
    fields = ann.form(f"{MINE}/new") | {"text": ["brand = mini"]}
    first = ann.client.post(f"{MINE}/new", data=fields)
    assert first.headers["location"] == ann.client.post(f"{MINE}/new", data=fields).headers["location"]
    assert len(service.store.subscriptions("ann")) == 1


@on_sqlite
def test_a_form_that_is_changed_and_sent_again_makes_another_one(service: Service, ann: Visitor) -> None:
    """As after a step back in the browser: the new filter must not be swallowed."""
    ann.get(f"{MINE}/new")
    fields = ann.form(f"{MINE}/new") | {"text": ["brand = mini"]}
    ann.client.post(f"{MINE}/new", data=fields)
    ann.page = ann.client.post(f"{MINE}/new", data=fields | {"text": ["brand = audi"]})
    assert ann.page.status_code == 409
    assert "You have already subscribed with this form." in ann.text
    assert [one.filter for one in service.store.subscriptions("ann")] == ["brand = 'mini'"]
    assert ann.form(f"{MINE}/new")["text"][0].strip() == "brand = audi"
    ann.submit(f"{MINE}/new")
    assert "Subscribed" in ann.text
    assert {one.filter for one in service.store.subscriptions("ann")} == {"brand = 'mini'", "brand = 'audi'"}


@on_sqlite
def test_warnings_are_told_on_its_page(ann: Visitor) -> None:
    ann.subscribe("price < 10 and price > 20")
    assert "this filter can never match" in ann.text
    ann.subscribe("event_type exists")
    assert "this filter matches every event" in ann.text


@on_sqlite
def test_without_a_script_a_filter_can_be_checked(service: Service, ann: Visitor) -> None:
    for number in range(3):
        service.client.post("/v1/events", json=car(f"e{number}", year=1990 + number))
    ann.get(f"{MINE}/new")
    ann.submit(f"{MINE}/new", text="year > 1990", check="1")
    assert "Matches 2 of the last 3 events of type car." in ann.text
    assert service.store.subscriptions("ann") == []


@on_sqlite
def test_an_edited_subscription_is_not_found_by_itself(ann: Visitor) -> None:
    id = ann.subscribe("year > 1990")
    ann.get(f"{MINE}/{id}/edit")
    ann.submit(f"{MINE}/{id}/edit", check="1")
    assert "There are no events yet of a type that it can match." in ann.text
    assert "already covers it" not in ann.text
    ann.get(f"{MINE}/new")
    ann.submit(f"{MINE}/new", text="year > 1990", check="1")
    assert "One you have already covers it" in ann.text


@on_sqlite
def test_what_is_done_in_a_list_leads_back_to_its_place(service: Service, ann: Visitor) -> None:
    ids = [ann.subscribe(f"year = {1900 + number}") for number in range(42)]
    ann.get(MINE, q="YEAR", state="active")
    assert "out of 42 subscriptions" in ann.text
    ann.get(ann.tree.xpath("//a[@rel='next']")[0].get("href"))
    place = dict(ann.page.url.params)
    assert set(place) == {"q", "state", "before"}
    ann.submit(f"{MINE}/{ids[20]}/pause")
    assert dict(ann.page.url.params) == place | {"done": "paused"}
    assert "Paused." in ann.text
    assert f"{MINE}/{ids[20]}/pause" not in ann.page.text
    ann.submit(f"{MINE}/{ids[19]}/delete")
    assert dict(ann.page.url.params) == place | {"done": "deleted"}
    ann.get(ann.tree.xpath("//a[text()='Newest']")[0].get("href"))
    assert dict(ann.page.url.params) == {"q": "YEAR", "state": "active"}
    ann.get(MINE, state="paused")
    assert "1 of 41 subscriptions" in ann.text
    ann.get(MINE, before="2")
    assert "No older subscriptions" in ann.text


@on_sqlite
def test_every_subscription_leads_to_its_channel(ann: Visitor) -> None:
    id = ann.subscribe("year = 1971")
    ann.get(MINE)
    assert [link.get("href") for link in ann.tree.xpath("//a[text()='Channel']")] == [f"{MINE}/{id}/channel"]


def test_paging_searching_and_states(service: Service, ann: Visitor) -> None:
    ids = [ann.subscribe(f"year = {1900 + number}") for number in range(23)]
    ann.get(MINE)
    assert "23 subscriptions" in ann.text
    first = re.findall(r"year = (\d+)", ann.text)
    assert first == [str(1900 + number) for number in range(22, 2, -1)], "the youngest first"
    ann.get(next(link.get("href") for link in ann.tree.iter("a") if link.get("rel") == "next"))
    assert re.findall(r"year = (\d+)", ann.text) == ["1902", "1901", "1900"]
    ann.get(MINE, q="YEAR = 1907")
    assert re.findall(r"year = (\d+)", ann.text) == ["1907"]
    ann.get(MINE)
    ann.submit(f"{MINE}/{ids[22]}/pause")
    ann.get(MINE, state="paused")
    assert re.findall(r"year = (\d+)", ann.text) == ["1922"]
    ann.get(MINE, q="%")
    assert "No subscriptions match" in ann.text


def test_matches_come_in_pages_newest_first_and_newer_ones_as_a_piece(service: Service, ann: Visitor) -> None:
    id = ann.subscribe("brand = mini")
    start = service.store.tail()
    service.client.post("/v1/events", json=[car(f"e{number}", year=1900 + number) for number in range(60)])
    positions = range(start + 1, start + 61)
    service.commit(1, positions[-1], [(position, [id]) for position in positions])
    ann.get(f"{MINE}/{id}")
    years = re.findall(r"year (19\d\d)", ann.text)
    assert years == [str(year) for year in range(1959, 1934, -1)]
    cursors = [int(node.get("data-cursor")) for node in ann.tree.iter("li") if node.get("data-cursor")]
    ann.get(next(link.get("href") for link in ann.tree.iter("a") if link.get("rel") == "next"))
    assert re.findall(r"year (19\d\d)", ann.text)[0] == "1934"
    piece = ann.get(f"{MINE}/{id}/newer", after=cursors[2])
    assert re.findall(r"data-cursor=\"(\d+)\"", piece.text) == [str(cursor) for cursor in cursors[:2]]
    assert "<html" not in piece.text


@pytest.mark.parametrize("page", ["", "/edit", "/newer", "/why/1", "/pause", "/resume", "/delete", "/edit!"])
@on_sqlite
def test_anothers_subscription_is_not_there(service: Service, ann: Visitor, page: str) -> None:
    id = service.client.post("/v1/subscriptions", json={"filter": "brand = mini"}).json()["id"]
    position = service.client.post("/v1/events", json=car()).json()["position"]
    service.commit(1, position, [(position, [id])])
    ann.get("/")
    proof = ann.tree.find("body").get("data-proof")
    if page in ("/pause", "/resume", "/delete", "/edit!"):
        answer = ann.client.post(f"{MINE}/{id}{page.rstrip('!')}", data={"proof": proof, "text": "year = 1"})
    else:
        answer = ann.client.get(f"{MINE}/{id}{page.replace('/1', f'/{position}')}")
    assert answer.status_code == 404
    assert "mini" not in answer.text
    assert service.store.subscription(id).state == "active"
    assert service.store.subscription(id).filter == "brand = 'mini'"


def test_home_shows_rates_and_the_latest(service: Service, ann: Visitor) -> None:
    id = ann.subscribe("brand = mini")
    other = ann.subscribe("year = 1971")
    position = _published(service, ann, brand="mini", year="1971")
    service.commit(1, position, [(position, [id, other])])
    ann.get("/")
    assert ann.text.count("found by brand = mini") == 1
    assert ann.text.count("found by year = 1971") == 1
    assert len([node for node in ann.tree.iter("svg") if node.get("role") == "img"]) == 3
    piece = ann.get("/pages/now")
    assert "<html" not in piece.text
    assert "Events stored" in ann.text


def test_a_name_and_a_note_are_given_shown_and_changed(service: Service, ann: Visitor) -> None:
    ann.get(f"{MINE}/new")
    ann.submit(
        f"{MINE}/new", text="category under vehicle", name=" Anything that rolls ", note="For mum.\r\nAsk first."
    )
    id = ann.page.url.path.rpartition("/")[2]
    standing = service.store.subscription(id)
    assert (standing.name, standing.note) == ("Anything that rolls", "For mum.\nAsk first.")
    assert ann.tree.find(".//h1").text == "Anything that rolls"
    assert "category under vehicle" in ann.text, "in the words that were typed"
    assert "For mum." in ann.text
    position = _published(service, ann, brand="mini", year="1971")
    service.commit(1, position, [(position, [id])])
    for path in ("/", f"/pages/events/{position}", f"{MINE}/{id}/why/{position}", MINE, f"{MINE}/{id}/channel"):
        ann.get(path)
        assert "Anything that rolls" in ann.text, path
    tail = service.store.tail()
    ann.get(f"{MINE}/{id}/edit")
    assert ann.form(f"{MINE}/{id}/edit")["text"] == ["category under vehicle"]
    ann.submit(f"{MINE}/{id}/edit", name="Wheels")
    assert "Saved." in ann.text
    assert (service.store.subscription(id).name, service.store.subscription(id).note) == ("Wheels", standing.note)
    assert service.store.next_change(tail) is None, "matching is not touched"
    ann.get(f"{MINE}/{id}/edit")
    ann.submit(f"{MINE}/{id}/edit", name="x" * 101)
    assert ann.page.status_code == 422
    assert "must be one line of at most 100" in ann.tree.get_element_by_id("wrong-name").text


@on_sqlite
def test_the_list_is_sorted_and_searched_by_name(service: Service, ann: Visitor) -> None:
    for number, name in enumerate(("banana", "Apple", "", "cherry")):
        ann.get(f"{MINE}/new")
        ann.submit(f"{MINE}/new", text=f"year < {number}", name=name)

    def shown() -> list[str]:
        return [" ".join(one.text_content().split()) for one in ann.tree.xpath("//a[@class='filter']")]

    ann.get(MINE, sort="name")
    assert shown() == ["Apple year < 1", "banana year < 0", "cherry year < 3", "year < 2"]
    ann.get(MINE)
    assert shown() == ["cherry year < 3", "year < 2", "Apple year < 1", "banana year < 0"]
    ann.get(MINE, q="APP")
    assert shown() == ["Apple year < 1"]
    for number in range(20):
        ann.get(f"{MINE}/new")
        ann.submit(f"{MINE}/new", text=f"year > {number}", name=f"n{number:02}")
    ann.get(MINE, sort="name")
    assert shown()[-1] == "n16 year > 16"
    ann.get(next(one.get("href") for one in ann.tree.iter("a") if one.get("rel") == "next"))
    assert shown() == ["n17 year > 17", "n18 year > 18", "n19 year > 19", "year < 2"]
