"""The client against the real service; both clients through one suite where their behaviour is written once."""

from collections.abc import Iterator

import pytest

from tests.client.conftest import QUICK
from tests.client.matched import match_all
from tests.service.conftest import Service, car
from tidings.client import Client, NotAllowed, NotFound, ServerRefused
from tidings.events import validate
from tidings.schema import growth
from tidings.schema.domain import OperatorOutsideKind


@pytest.fixture
def bob(service: Service) -> Iterator[Client]:
    with Client(service.address, patience=QUICK) as client:
        client.register("bob", "correct horse battery")
        yield client


# Accounts


def test_register_log_in_and_log_out(service: Service) -> None:
    with Client(service.address, patience=QUICK) as client:
        with pytest.raises(NotAllowed, match="token"):
            client.account()
        first = client.register("carol", "correct horse battery")
        assert client.account()["username"] == "carol"
        second = client.log_in("carol", "correct horse battery")
        assert first != second == client.token
        client.log_out()
        assert client.token is None
        client.token = second
        with pytest.raises(NotAllowed):
            client.account()
        client.log_out()  # once more, as when the first answer was lost
        client.token = first
        assert client.account()["username"] == "carol"


def test_an_account_is_deleted_with_its_password(service: Service, ann: Client) -> None:
    ann.subscribe("year > 1980")
    with pytest.raises(NotAllowed):
        ann.delete_account("wrong horse battery")
    assert ann.delete_account("correct horse battery") == {"username": "ann", "subscriptions": 1, "deliveries": 0}
    assert ann.token is None
    with pytest.raises(NotAllowed):
        ann.log_in("ann", "correct horse battery")


def test_a_token_with_fewer_scopes(service: Service, ann: Client) -> None:
    ann.log_in("ann", "correct horse battery", name="publisher", scopes=["publish"], expires="2099-01-01T00:00:00Z")
    assert ann.publish(car()).duplicate is False
    with pytest.raises(NotAllowed, match="'subscribe'"):
        ann.subscribe("year > 1980")


def test_a_wrong_password_and_a_taken_name(service: Service, ann: Client) -> None:
    with Client(service.address, patience=QUICK) as other:
        with pytest.raises(NotAllowed):
            other.log_in("ann", "wrong horse battery")
        with pytest.raises(ServerRefused) as caught:
            other.register("ann", "correct horse battery")
        assert caught.value.status == 409
        assert other.token is None


# The schema


def test_growing_the_schema_by_every_rule(ann: Client) -> None:
    before = ann.schema().version
    assert ann.create_domain("colour", "enumerated", values=["red", "blue"], ordered=True) == before + 1
    assert ann.create_domain("place", "hierarchical", tree={"europe": {"greece": {}}}) == before + 2
    assert ann.create_domain("weight", "numeric", operators=["<", ">"]) == before + 3
    assert ann.create_attribute("colour", "colour") == before + 4
    assert ann.create_attribute("a/b c?d%", "weight") == before + 5
    use = {"name": "colour", "mandatory": False, "unique": False}
    assert ann.create_event_type("odd/type ?#%2F", ["price", use]) == before + 6
    assert ann.extend_event_type("odd/type ?#%2F", "a/b c?d%") == before + 7
    assert ann.append_value("colour", "green") == before + 8
    assert ann.append_node("place", "crete", "greece") == before + 9
    assert ann.append_node("place", "asia") == before + 10
    catalog = ann.schema()
    assert catalog.version == before + 10
    made = catalog.event_type("odd/type ?#%2F")
    assert made is not None
    assert [(one.name, one.mandatory, one.unique) for one in made.attributes] == [
        ("price", True, True),
        ("colour", False, False),
        ("a/b c?d%", False, True),
    ]
    colour, place = catalog.domain("colour"), catalog.domain("place")
    assert colour is not None
    assert place is not None
    assert colour.values == ("red", "blue", "green")
    assert place.hierarchy.tree() == {"europe": {"greece": {"crete": {}}}, "asia": {}}


def test_a_domain_that_cannot_be_is_refused_before_it_is_sent(ann: Client) -> None:
    with pytest.raises(OperatorOutsideKind):
        ann.create_domain("money2", "numeric", operators=["contains"])


def test_what_the_server_refuses_of_growth(ann: Client) -> None:
    with pytest.raises(ServerRefused, match="exists already") as caught:
        ann.create_attribute("price", "money")
    assert caught.value.status == 409
    with pytest.raises(NotFound):
        ann.extend_event_type("no such type", "price")
    with pytest.raises(ServerRefused, match="'monney'; did you mean 'money'"):
        ann.grow(growth.CreateAttribute(growth.Attribute("cost", "monney")))


# Events


def test_publishing_one_event_and_again(ann: Client) -> None:
    first = ann.publish(car("e1"))
    again = ann.publish(car("e1"))
    assert (first.id, first.duplicate) == ("e1", False)
    assert (again.position, again.duplicate) == (first.position, True)
    stored = ann.event(first.position)
    assert stored.event["attributes"] == {"brand": "mini", "year": 1990}
    assert stored.position == first.position


def test_an_event_of_ours_and_one_without_an_id(ann: Client) -> None:
    event = validate(car("e7"), ann.schema())
    assert ann.publish(event).id == "e7"
    made = ann.publish(car(None))
    assert len(made.id) == 32
    assert made.duplicate is False


def test_a_refused_event_has_its_broken_rules(ann: Client) -> None:
    with pytest.raises(ServerRefused, match="'year'") as caught:
        ann.publish({"id": "e1", "event_type": "car", "attributes": {"brand": "mimi"}})
    assert caught.value.status == 422
    assert {error["rule"] for error in caught.value.errors} == {"mandatory", "domain"}


def test_publishing_many_counts_and_lists_what_was_refused(ann: Client) -> None:
    wrong = {"id": "w", "event_type": "car", "attributes": {}}
    done = ann.publish([car("e1"), car("e1"), wrong, car("e2")])
    assert (done.accepted, done.duplicates, done.refused_total) == (2, 1, 1)
    assert [(one["line"], one["id"]) for one in done.refused] == [(3, "w")]
    assert [one["status"] for one in done.results] == ["accepted", "duplicate", "refused", "accepted"]
    assert ann.event(done.results[3]["position"]).event["id"] == "e2"
    none = ann.publish([wrong, wrong])
    assert (none.accepted, none.refused_total, len(none.refused)) == (0, 2, 2)
    assert ann.publish([]).accepted == 0


def test_lines_are_counted_on_over_chunks(ann: Client) -> None:
    told = []
    lines = [
        f'{{"id": "e{n}", "event_type": "car", "attributes": {{"brand": "mini", "year": {n}}}}}' for n in range(12_000)
    ]
    lines[7_000] = "no json"
    lines[11_999] = ""
    done = ann.publish_many(lines, told.append)
    assert [one.accepted for one in told] == [5_000, 9_999, 11_998]
    assert done == told[-1]
    assert [one["line"] for one in done.refused] == [7_001]
    assert [one["line"] for one in done.results] == list(range(1, 10_001))
    assert len(ann.publish([car(f"again {n}") for n in range(10_001)]).results) == 10_001


def test_a_file_of_lines(ann: Client) -> None:
    with open("examples/events.jsonl", "rb") as file:
        done = ann.publish_many(file)
    assert (done.accepted, done.refused_total) == (3, 1)


# Subscriptions


def test_the_life_of_a_subscription(ann: Client) -> None:
    made = ann.subscribe("brand = mini and year > 1980", expiry="2099-01-01T00:00:00Z")
    assert made.filter == "brand = 'mini' and year > 1980"
    assert made.expiry == "2099-01-01T00:00:00Z"
    assert made.channel == {"kind": "stored"}
    assert ann.subscription(made.id).state == "active"
    assert ann.pause(made.id).state == "paused"
    assert ann.pause(made.id).state == "paused"
    assert [one.id for one in ann.subscriptions("paused")] == [made.id]
    assert list(ann.subscriptions("active")) == []
    assert ann.resume(made.id).state == "active"
    assert ann.edit(made.id, filter="year > 1", expiry=None).expiry is None
    assert ann.subscription(made.id).filter == "year > 1"
    ann.unsubscribe(made.id)
    with pytest.raises(NotFound):
        ann.subscription(made.id)
    with pytest.raises(NotFound):
        ann.unsubscribe(made.id)


def test_subscriptions_come_page_by_page(ann: Client) -> None:
    made = {ann.subscribe(f"year > {number}").id for number in range(205)}
    found = [one.id for one in ann.subscriptions()]
    assert set(found) == made
    assert len(found) == 205


def test_others_subscriptions_are_not_there(ann: Client, bob: Client) -> None:
    mine = ann.subscribe("year > 1980").id
    assert list(bob.subscriptions()) == []
    for attempt in (bob.subscription, bob.pause, bob.unsubscribe):
        with pytest.raises(NotFound):
            attempt(mine)


def test_a_wrong_filter_is_shown_with_a_caret(ann: Client) -> None:
    with pytest.raises(ServerRefused, match="did you mean 'year'") as caught:
        ann.subscribe("brand = mini and yaer > 1980")
    assert str(caught.value).splitlines()[1:] == ["  brand = mini and yaer > 1980", "                   ^"]


def test_warnings_are_told(ann: Client) -> None:
    assert ann.subscribe("not (paint = 'red')").warnings != ()


# Notifications


def test_notifications_page_by_page(service: Service, ann: Client, bob: Client) -> None:
    new, old = ann.subscribe("year >= 1990"), ann.subscribe("year < 1990")
    bob.subscribe("year > 0")
    for year in range(1985, 1995):
        ann.publish(car(f"e{year}", year=year))
    assert ann.notifications().items == ()
    assert match_all(service.store) == 20
    page = ann.notifications(limit=7)
    assert len(page.items) == 7
    rest = ann.notifications(page.next)
    assert [one.event["id"] for one in (*page.items, *rest.items) if one.event] == [f"e{y}" for y in range(1985, 1995)]
    assert ann.notifications(rest.next).items == ()
    ours = ann.notifications(subscription=new.id).items
    assert [one.subscription for one in ours] == [new.id] * 5
    assert {one.subscription for one in page.items} == {new.id, old.id}
    with pytest.raises(NotFound):
        bob.notifications(subscription=new.id)


def test_whoever_resumes_misses_nothing(service: Service, ann: Client) -> None:
    ann.subscribe("year > 0")
    ann.publish([car(f"e{number}") for number in range(5)])
    match_all(service.store)
    page = ann.notifications(limit=3)
    assert [one.resume for one in page.items] == [None, None, page.next]
    assert ann.notifications(page.items[-1].resume).items[0].event == {**car("e3"), "event_type": ["car"]}
    assert ann.notifications(page.items[0].resume).items[0] == page.items[0]


# How the server is


def test_health_and_readiness(service: Service) -> None:
    with Client(service.address, patience=QUICK) as client:
        assert client.healthy() is True
        assert client.ready()["ready"] is True
        assert client.ready()["pipeline"]["state"] == "elsewhere"
