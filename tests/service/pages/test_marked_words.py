"""The page that says why an event matched marks the words of its texts that the filter asks for."""

from tests.service.conftest import Service, on_sqlite
from tests.service.pages.visitor import Visitor
from tidings.schema import Attribute, AttributeUse, Domain, EventType, Kind
from tidings.schema.growth import CreateAttribute, CreateDomain, CreateEventType
from tidings.store import Grow

CHANGES = (
    CreateDomain(Domain("prose", Kind.TEXT, language="english")),
    CreateDomain(Domain("line", Kind.STRING)),
    CreateAttribute(Attribute("body", "prose")),
    CreateAttribute(Attribute("heading", "line")),
    CreateEventType(EventType("story", (AttributeUse("body"), AttributeUse("heading")))),
)


@on_sqlite
def test_the_words_that_matched_are_marked(service: Service, ann: Visitor) -> None:
    service.store.append([Grow(change) for change in CHANGES])
    id = ann.subscribe("body contains ((bank near[2] rises~) and not river) and heading like '%<b>%!'")
    raw = {
        "id": "e1",
        "event_type": "story",
        "attributes": {"body": "A <i>Bank</i> is rising; the BANK's rate falls", "heading": "Up <b>again</b>!"},
    }
    answer = service.client.post("/v1/events", json=raw)
    position = answer.json()["position"]
    service.commit(service.store.committed() + 1, position, [(position, [id])])
    ann.get(f"/pages/subscriptions/{id}/why/{position}")
    assert [one.text_content() for one in ann.tree.iter("mark")] == ["Bank", "rising", "BANK", "<b>", "!"]
    assert "'bank' is word 3" in ann.text
    assert not [one for one in ann.tree.iter("b", "i") if one.text_content() in ("again", "Bank")]
