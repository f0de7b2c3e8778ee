"""The schema's pages: what there is, history, and one form for each way to grow."""

import re
from typing import Any

import pytest

from tests.service.conftest import Service, car, on_sqlite
from tests.service.pages.visitor import Visitor
from tidings.schema import Domain, growth
from tidings.schema.domain import Kind
from tidings.schema.hierarchy import Hierarchy
from tidings.store import Grow

pytestmark = on_sqlite
GROW = "/pages/schema/grow"


def test_the_schema_shows_types_attributes_domains_and_trees(visitor: Visitor) -> None:
    visitor.get("/pages/schema")
    for word in ("auction", "mandatory", "several", "condition", "enumerated, ordered", "convertible", "4 below"):
        assert word in visitor.text, word
    assert "Add a domain" not in visitor.text, "a guest may not grow it"
    visitor.get("/pages/schema/history")
    assert "event type car with brand, year, paint" in visitor.text
    assert "attribute price (domain money)" in visitor.text


def test_the_history_has_the_newest_first_a_page_at_a_time(service: Service, visitor: Visitor) -> None:
    made = [Grow(growth.CreateDomain(Domain(f"d{number}", Kind.STRING))) for number in range(110)]
    service.store.append(made[:60])
    service.client.post("/v1/subscriptions", json={"filter": "brand = mini"})
    service.store.append(made[60:])
    visitor.get("/pages/schema/history")
    told = re.findall(r"domain (d\d+)", visitor.text)
    assert told == [f"d{number}" for number in range(109, 9, -1)]
    newest = visitor.tree.xpath("//li/span[@class='tag']")[0].text
    assert newest == f"version {service.store.catalog().version}"
    (older,) = visitor.tree.xpath("//a[@rel='next']")
    visitor.get(older.get("href"))
    assert re.findall(r"domain (d\d+)", visitor.text) == [f"d{number}" for number in range(9, -1, -1)]
    assert visitor.tree.xpath("//a[@rel='next']") == []


def test_a_guest_is_led_to_the_log_in(visitor: Visitor) -> None:
    visitor.get(f"{GROW}/domain")
    assert visitor.page.url.path == "/pages/login"


def test_a_domain_of_documents(service: Service, ann: Visitor) -> None:
    ann.get(f"{GROW}/domain")
    given = {"name": "article", "kind": "document", "root": "n:news", "namespaces": "n = urn:n\n"}
    ann.submit(f"{GROW}/domain", **given, grammar="<!ELEMENT news (title*>")
    assert "the grammar (DTD) cannot be used" in ann.text.replace("The grammar", "the grammar")
    ann.submit(f"{GROW}/domain", **given, grammar="<!ELEMENT n:news EMPTY>")
    assert "Added: domain article" in ann.text
    made = service.store.catalog().domain("article")
    assert made is not None
    assert (made.document.root, made.document.prefixes) == ("n:news", {"n": "urn:n"})


def test_each_way_to_grow(service: Service, ann: Visitor) -> None:
    ann.get(f"{GROW}/domain")
    ann.submit(f"{GROW}/domain", name="wood", kind="enumerated", values="oak\nash\nelm", ordered="1")
    assert "Added: domain wood" in ann.text
    tree = "seat\n  chair\n    stool\nbed\n"
    ann.get(f"{GROW}/domain")
    ann.submit(f"{GROW}/domain", name="furnishing", kind="hierarchical", tree=tree)
    ann.get(f"{GROW}/domain")
    ann.submit(f"{GROW}/domain", name="length", kind="numeric", operator=["=", "<"])
    ann.get(f"{GROW}/attribute")
    ann.submit(f"{GROW}/attribute", name="made of", domain="wood")
    ann.get(f"{GROW}/event-type")
    filled = {"name": "find", "attribute0": "made of", "mandatory0": "1", "attribute2": "price", "several2": "1"}
    ann.submit(f"{GROW}/event-type", **filled)
    ann.get(f"{GROW}/extension")
    ann.submit(f"{GROW}/extension", event_type="find", attribute="title")
    assert "Added: attribute title of event type find" in ann.text
    ann.get(f"{GROW}/value?domain=wood")
    ann.submit(f"{GROW}/value", value="yew")
    assert "Added: value yew of domain wood" in ann.text
    ann.get(f"{GROW}/value")
    ann.submit(f"{GROW}/value", domain="furnishing", value="bench", parent="seat")
    assert "Added: value bench of domain furnishing, below seat" in ann.text
    catalog = service.store.catalog()
    wood, furnishing, length = (catalog.domain(name) for name in ("wood", "furnishing", "length"))
    assert wood is not None
    assert (wood.values, wood.ordered) == (("oak", "ash", "elm", "yew"), True)
    assert furnishing is not None
    assert furnishing.hierarchy.tree() == {"seat": {"chair": {"stool": {}}, "bench": {}}, "bed": {}}
    assert length is not None
    assert length.operators == ("=", "<")
    find = catalog.event_type("find")
    assert find is not None
    uses = [(use.name, use.mandatory, use.unique) for use in find.attributes]
    assert uses == [("made of", True, True), ("price", False, False), ("title", False, True)]


def test_what_is_wrong_stands_at_its_field(service: Service, ann: Visitor) -> None:
    version = service.store.catalog().version
    ann.get(f"{GROW}/domain")
    ann.submit(f"{GROW}/domain", name="brand", kind="numeric")
    assert ann.page.status_code == 409
    assert "exists already" in ann.errors()["name"]
    ann.submit(f"{GROW}/domain", name="wood", kind="enumerated", values="oak, oak")
    assert "twice" in ann.errors()["values"]
    ann.submit(f"{GROW}/domain", name="rooms", kind="hierarchical", tree="a\na")
    assert "tree" in ann.errors()
    ann.get(f"{GROW}/attribute")
    ann.submit(f"{GROW}/attribute", name="", domain="brand")
    assert ann.errors() == {"name": "Give it a name."}
    ann.submit(f"{GROW}/attribute", name="x", domain="")
    assert ann.errors() == {"domain": "Choose the domain of its values."}
    ann.get(f"{GROW}/value")
    ann.submit(f"{GROW}/value", domain="brand", value="mini")
    assert "exists already" in ann.errors()["value"]
    ann.submit(f"{GROW}/value", domain="category", value="boat", parent="vehical")
    assert "did you mean 'vehicle'?" in ann.errors()["parent"]
    assert service.store.catalog().version == version


@pytest.mark.parametrize(
    ("filled", "told"),
    [
        ({"kind": "numeric", "operator": ["contains"]}, "The kind numeric allows = != < <= > >=, but not contains."),
        ({"kind": "time", "operator": ["=", "contains"]}, "The kind time allows = != < <= > >=, but not contains."),
        ({"kind": "text", "operator": ["<"]}, "The kind text allows = contains ~, but not <."),
        (
            {"kind": "enumerated", "values": "oak, ash", "operator": ["=", "<"]},
            "An enumeration without an order allows = !=, but not <.",
        ),
    ],
)
def test_an_operator_that_the_kind_lacks_is_never_dropped(
    service: Service, ann: Visitor, filled: dict[str, Any], told: str
) -> None:
    """The domain would allow all for ever, or fewer than were chosen."""
    ann.get(f"{GROW}/domain")
    ann.submit(f"{GROW}/domain", name="wood", **filled)
    assert ann.page.status_code == 422
    assert ann.errors() == {"operator": told}
    assert ann.form(f"{GROW}/domain")["operator"] == filled["operator"], "as they were chosen"
    assert service.store.catalog().domain("wood") is None


def test_operators_are_offered_with_the_kinds_that_have_them(service: Service, ann: Visitor) -> None:
    ann.get(f"{GROW}/domain")
    offered = {
        box.get("value"): box.xpath("ancestor::*[@data-when]")[0].get("data-when").split()
        for box in ann.tree.xpath("//input[@name='operator']")
    }
    assert {kind: tuple(one for one in offered if kind in offered[one]) for kind in Kind} == {
        kind: kind.operators for kind in Kind
    }
    assert "~" in offered
    ann.submit(f"{GROW}/domain", name="wood", kind="enumerated", values="oak, ash", ordered="1", operator=["<"])
    wood = service.store.catalog().domain("wood")
    assert wood is not None
    assert wood.operators == ("<",)


def test_an_attribute_that_is_there_already_is_told_by_its_name(ann: Visitor) -> None:
    ann.get(f"{GROW}/extension")
    ann.submit(f"{GROW}/extension", event_type="car", attribute="brand")
    assert ann.errors() == {"attribute": "'car' has 'brand' already."}
    ann.get(f"{GROW}/event-type")
    ann.submit(f"{GROW}/event-type", name="find", attribute0="brand", attribute2="brand")
    assert ann.errors() == {"attribute2": "'brand' is chosen twice."}


@pytest.mark.parametrize(
    ("tree", "line"), [("a\n    b\n  c", 3), ("  a\nb", 2), ("a\n  b\n\n      c\n    d\n", 5), ("a\n\tb\n  c", 3)]
)
def test_a_line_that_is_indented_like_none_above_is_no_guess(
    service: Service, ann: Visitor, tree: str, line: int
) -> None:
    ann.get(f"{GROW}/domain")
    ann.submit(f"{GROW}/domain", name="rooms", kind="hierarchical", tree=tree)
    assert ann.errors() == {"tree": f"Line {line} has an indentation that no line above it has."}
    assert service.store.catalog().domain("rooms") is None


def test_what_was_added_is_told_in_the_journals_words(service: Service, ann: Visitor) -> None:
    """Else a link could put any words into the mouth of the service."""
    event = service.client.post("/v1/events", json=car()).json()["position"]
    for added in ("Your account is closed", str(event), "0", "9" * 30, "-1", "٣"):
        ann.get("/pages/schema", added=added)
        assert ann.page.status_code == 200
        assert ann.tree.xpath("//p[@class='notice good']") == [], added
    ann.get(f"{GROW}/domain")
    ann.submit(f"{GROW}/domain", name="wood", kind="string")
    assert ann.page.url.params["added"] == str(service.store.tail())
    (told,) = ann.tree.xpath("//p[@class='notice good']")
    assert told.text == "Added: domain wood (string)"


def test_two_people_may_grow_it_at_once_and_the_second_is_told(service: Service, ann: Visitor) -> None:
    bob = Visitor(service).join("bob")
    ann.get(f"{GROW}/domain")
    bob.get(f"{GROW}/domain")
    ann.submit(f"{GROW}/domain", name="wood", kind="string")
    bob.submit(f"{GROW}/domain", name="wood", kind="numeric")
    assert "exists already" in bob.errors()["name"]
    bob.submit(f"{GROW}/domain", name="metal")
    assert "Added: domain metal" in bob.text


def test_the_form_of_an_event_type_grows(ann: Visitor) -> None:
    ann.get(f"{GROW}/event-type")
    counts = []
    for _ in range(3):
        fields = ann.form(f"{GROW}/event-type")
        counts.append(len([name for name in fields if name.startswith("attribute")]))
        ann.submit(f"{GROW}/event-type", name="find", attribute0="price", more="1")
    assert counts == [3, 6, 9], "also where the rows are still empty"
    assert ann.form(f"{GROW}/event-type")["attribute0"] == ["price"]


@pytest.mark.parametrize("page", [f"{GROW}/event-type", "/pages/publish?type=car", "/pages/subscriptions/new"])
def test_enter_sends_the_form(ann: Visitor, page: str) -> None:
    """A browser then presses the first button: that must not be the one for more rows or values, or to check."""
    ann.get(page)
    action = page.partition("?")[0]
    first = ann.tree.xpath(f"(//form[@action='{action}']//button)[1]")[0]
    assert (first.get("name"), first.get("tabindex"), first.get("aria-hidden")) == (None, "-1", "true")


def test_no_such_form(ann: Visitor) -> None:
    assert ann.get(f"{GROW}/nothing").status_code == 404


def _check(visitor: Visitor, way: str, **fields: str) -> dict[str, Any]:
    visitor.get(f"{GROW}/{way}")
    proof = visitor.tree.find("body").get("data-proof")
    answer = visitor.client.post(f"{GROW}/{way}", data={"proof": proof, "check": "1", **fields})
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


@pytest.mark.parametrize(
    ("way", "fields", "wrong"),
    [
        ("domain", {"name": "money", "kind": ""}, {"name", "kind"}),
        ("domain", {"name": "wood", "kind": "enumerated", "values": "oak\noak"}, {"values"}),
        ("domain", {"name": "wood", "kind": "hierarchical", "tree": "a\n b\n b"}, {"tree"}),
        ("domain", {"name": "wood", "kind": "numeric"}, set()),
        ("attribute", {"name": "price"}, {"name", "domain"}),
        ("attribute", {"name": "cost", "domain": "money"}, set()),
        ("event-type", {"name": "car"}, {"name"}),
        ("event-type", {"name": "boat", "attribute0": "price"}, set()),
        ("extension", {"event_type": "car", "attribute": "brand"}, {"attribute"}),
        ("extension", {"event_type": "car", "attribute": "price"}, set()),
        ("value", {"domain": "brand", "value": "mini"}, {"value"}),
        ("value", {"domain": "category", "value": "boat", "parent": "nowhere"}, {"parent"}),
        ("value", {"domain": "category", "value": "boat", "parent": "vehicle"}, set()),
    ],
)
def test_a_form_is_checked_while_it_is_filled_in(
    service: Service, ann: Visitor, way: str, fields: dict[str, str], wrong: set[str]
) -> None:
    tail = service.store.tail()
    told = _check(ann, way, **fields)
    assert set(told["errors"]) == wrong
    assert bool(told["told"]) == (not wrong)
    assert service.store.tail() == tail, "nothing is added by looking"


def test_nodes_can_be_searched_to_lay_a_new_one_below(visitor: Visitor) -> None:
    found = visitor.client.get("/pages/values", params={"domain": "category", "q": "table"}).json()
    nodes = ["furniture > table", "furniture > table > dining table", "furniture > table > desk"]
    assert found == {"values": nodes}


def test_an_open_enumeration_and_a_headline_are_made_by_forms(service: Service, ann: Visitor) -> None:
    ann.get(f"{GROW}/domain")
    ann.submit(f"{GROW}/domain", name="maker", kind="enumerated", values="opel", open="1")
    assert service.store.catalog().domain("maker").open  # type: ignore[union-attr]
    assert "enumerated, open" in ann.text
    ann.get(f"{GROW}/event-type")
    ann.submit(f"{GROW}/event-type", name="story", attribute0="year", attribute1="title", headline="1")
    assert service.store.catalog().event_type("story").headline == "title"  # type: ignore[union-attr]
    ann.get(f"{GROW}/headline")
    ann.submit(f"{GROW}/headline", event_type="story", attribute="price")
    assert ann.page.status_code == 422
    assert "no attribute 'price'" in ann.errors()["attribute"]
    ann.submit(f"{GROW}/headline", event_type="story", attribute="year")
    assert "Added: headline year of event type story" in ann.text


def test_a_large_tree_is_searched_by_name_and_path(service: Service, visitor: Visitor) -> None:
    tree = Hierarchy.from_tree({f"top {top}": {"andere": {}, f"only {top}": {}} for top in range(20)})
    service.store.append([Grow(growth.CreateDomain(Domain("model", Kind.HIERARCHICAL, hierarchy=tree)))])
    visitor.get("/pages/schema", domain="model", q="ANDERE")
    found = [one.text_content() for one in visitor.tree.xpath("//ul[@class='paths']/li")]
    assert found == [f"top {top} > andere" for top in range(20)]
    visitor.get("/pages/schema", domain="model", q="top 3 > o")
    assert [one.text_content() for one in visitor.tree.xpath("//ul[@class='paths']/li")] == ["top 3 > only 3"]
    visitor.get("/pages/schema", domain="model", q="nowhere")
    assert "Nothing found." in visitor.text
    assert visitor.get("/pages/schema", domain="none", q="x").status_code == 200
