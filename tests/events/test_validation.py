import json
import pickle

import pytest

from tests.events.examples import ANTIQUE_CAR, ANTIQUES_FURNITURE, EVERY_KIND
from tidings.errors import EventError
from tidings.events import BrokenRule, Event, RefusedEvent, validate, write_event
from tidings.schema import Instant

E1 = {
    "id": "e1",
    "event_type": ["antique", "car"],
    "attributes": {"price": 1300, "period": 1970, "quantity": 1, "brand": "cooper", "cc": 1000},
}


def rules(raw, catalog=EVERY_KIND, **options):
    """The (rule, attribute) pairs that a raw event breaks."""
    with pytest.raises(RefusedEvent) as refusal:
        validate(raw, catalog, **options)
    return [(error.rule, error.attribute) for error in refusal.value.errors]


def errors(raw, catalog=EVERY_KIND):
    with pytest.raises(RefusedEvent) as refusal:
        validate(raw, catalog)
    return refusal.value.errors


def event(event_type="all", id="e", **attributes):
    return {"id": id, "event_type": event_type, "attributes": attributes}


def test_antique_car_is_valid():  # thesis 3.1, e1
    made = validate(E1, ANTIQUE_CAR)
    assert made.event_types == ("antique", "car")
    assert made.attributes == (
        ("brand", ("cooper",)),
        ("cc", (1000,)),
        ("period", (1970,)),
        ("price", (1300,)),
        ("quantity", (1,)),
    )
    assert (made.source, made.time, made.contact) == ("", None, None)


def test_antique_car_without_quantity_is_refused():  # thesis 3.1, e2
    e2 = event(["antique", "car"], price=3500, period=1970, brand="audi", cc=1200)
    assert rules(e2, ANTIQUE_CAR) == [("mandatory", "quantity")]


def test_antique_furniture_is_valid():  # Le Subscribe 2.1, e1
    raw = event(["antiques", "furniture"], price=200, quantity=2, period="XVI", furniture_category="table")
    assert dict(validate(raw, ANTIQUES_FURNITURE).attributes)["furniture_category"] == ("dining room > table",)


def test_antique_furniture_without_category_is_refused():  # Le Subscribe 2.1, e2
    raw = event(["antiques", "furniture"], price=100, quantity=1, period="XVIII")
    assert rules(raw, ANTIQUES_FURNITURE) == [("mandatory", "furniture_category")]


def test_every_broken_rule_is_named_in_one_order():
    raw = {
        "idd": 1,
        "time": "yesterday",
        "source": 5,
        "event_type": ["all", "al"],
        "attributes": {"tags": [], "brand": "opl", "pric": 5, "sizes": [1, True]},
    }
    assert rules(raw) == [
        ("form", "idd"),
        ("id", "id"),
        ("form", "source"),
        ("form", "time"),
        ("type", "event_type"),
        ("domain", "brand"),
        ("view", "pric"),
        ("domain", "sizes"),
        ("empty", "tags"),
        ("mandatory", "price"),
    ]


@pytest.mark.parametrize("raw", [None, 5, "text", [], [[[]]], True])
def test_what_is_no_object_is_refused_by_form(raw):
    assert rules(raw) == [("form", None)]


@pytest.mark.parametrize(
    ("member", "value", "broken"),
    [
        ("source", 1, ("form", "source")),
        ("source", ["a"], ("form", "source")),
        ("source", "\ud800", ("form", "source")),
        ("contact", {}, ("form", "contact")),
        ("time", 5, ("form", "time")),
        ("time", "2026-13-01", ("form", "time")),
        ("time", [], ("form", "time")),
        ("attributes", [], ("form", "attributes")),
        ("attributes", "x", ("form", "attributes")),
        ("id", None, ("id", "id")),
        ("id", 5, ("id", "id")),
        ("id", "", ("id", "id")),
        ("id", "x" * 1001, ("id", "id")),
        ("id", "\udfff", ("id", "id")),
        ("event_type", None, ("mandatory", "event_type")),
        ("event_type", [], ("empty", "event_type")),
        ("event_type", 5, ("type", "event_type")),
        ("event_type", [["none"]], ("type", "event_type")),
        ("event_type", ["none", None], ("type", "event_type")),
        ("price", 5, ("form", "price")),
    ],
)
def test_the_envelope(member, value, broken):
    assert rules({"id": "e", "event_type": "none", "attributes": {}} | {member: value}) == [broken]


@pytest.mark.parametrize(
    ("name", "value", "broken"),
    [
        ("sizes", True, "domain"),
        ("sizes", "900", "domain"),
        ("sizes", float("nan"), "domain"),
        ("sizes", float("inf"), "domain"),
        ("sizes", 2**53 + 1, "domain"),
        ("sizes", 10**30, "domain"),
        ("sizes", [[1]], "domain"),
        ("sizes", [None], "domain"),
        ("sizes", {"a": 1}, "domain"),
        ("sizes", [], "empty"),
        ("name", 5, "domain"),
        ("name", "\ud800", "domain"),
        ("name", ["a", "b"], "unique"),
        ("brand", "Opel", "domain"),
        ("category", "d", "domain"),
        ("when", 5, "domain"),
        ("when", "soon", "domain"),
        ("when", ["2026-05-01T10:00:00Z", "2026-05-01T10:00:00"], None),
        ("sizes", [1, 1.0, -0.0, 0], None),
        ("unused", 5, "view"),
        ("nosuch", 5, "view"),
        ("nosuch", None, None),
        ("event_type", "all", "view"),
        ("event.id", "e", "view"),
    ],
)
def test_the_attributes(name, value, broken):
    raw = {"id": "e", "event_type": "all", "attributes": {"price": 1, name: value}}
    if broken is None:
        validate(raw, EVERY_KIND)
    else:
        assert rules(raw) == [(broken, name)]


def test_equal_values_count_once():
    made = validate(event(price=[1, 1.0], whens=["2026-05-01T12:00:00+02:00", "2026-05-01T10:00:00"]), EVERY_KIND)
    assert made.attributes == (("price", (1,)), ("whens", (Instant.parse("2026-05-01T10:00:00Z"),)))


def test_multiple_wins_over_unique_when_types_are_combined():
    assert rules(event("all", price=[1, 2])) == [("unique", "price")]
    assert validate(event(["all", "free"], price=[1, 2]), EVERY_KIND).attributes == (("price", (1, 2)),)


def test_an_unknown_type_is_given_the_benefit_of_the_doubt():
    raw = event(["free", "nosuch"], unused=5, nothing=5, price=[1, 2])
    assert rules(raw) == [("type", "event_type"), ("view", "nothing")]
    assert rules(event(["all", "nosuch"])) == [("type", "event_type"), ("mandatory", "price")]


def test_messages_name_the_nearest_word():
    by_rule = {error.rule: error.message for error in errors({"idd": "e"} | event("al", "e", pricee=1))}
    assert "'id'" in by_rule["form"]
    assert "'all'" in by_rule["type"]
    assert "'price'" in by_rule["view"]
    [inside] = errors(event(**{"price": 1, "event.time": "2026-05-01"}))
    assert "'time' next to 'attributes'" in inside.message


def test_a_time_far_after_acceptance_is_refused():
    raw = event("none") | {"time": "2026-05-01T10:05:01Z"}
    accepted = Instant.parse("2026-05-01T10:00:00Z")
    assert rules(raw, accepted=accepted) == [("form", "time")]
    assert validate(raw, EVERY_KIND).time == Instant.parse("2026-05-01T10:05:01Z")
    assert validate(raw | {"time": "2026-05-01T10:05:00Z"}, EVERY_KIND, accepted)


def test_a_refusal_keeps_its_parts():
    with pytest.raises(EventError) as refusal:
        validate(event(price="x"), EVERY_KIND)
    again = pickle.loads(pickle.dumps(refusal.value))
    assert again.errors == refusal.value.errors
    assert again.id == "e"
    assert again.errors[0] == BrokenRule("domain", "price", "x", again.errors[0].message)


@pytest.mark.parametrize("value", [float("nan"), "\ud800", [[1]], {"a": 1}, b"x", list(range(99)), 10**30])
def test_a_refusal_is_always_json(value):
    with pytest.raises(RefusedEvent) as refusal:
        validate(event(price=value), EVERY_KIND)
    written = json.loads(json.dumps(refusal.value.as_json(), allow_nan=False))
    assert written["id"] == "e"
    assert set(written["errors"][0]) == {"rule", "attribute", "value", "message"}
    json.dumps(written, ensure_ascii=False).encode()


def test_a_deeply_nested_value_is_refused_not_fatal():
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert rules(event(price=deep)) == [("domain", "price")]
    assert rules(deep) == [("form", None)]


def test_what_is_written_is_read_again():
    full = {"id": "e", "source": "s", "time": "2026-05-01T10:00:00Z", "contact": "me@example.org"}
    raw = full | event("all", "e", price=1.5, tags=["a", "b"], when="2026-05-01T10:00:00.5+02:00", category="b")
    made = validate(raw, EVERY_KIND)
    assert validate(json.loads(json.dumps(write_event(made))), EVERY_KIND) == made
    bare = Event("e", ("none",))
    assert write_event(bare) == {"id": "e", "event_type": ["none"], "attributes": {}}


def test_of_many_broken_rules_the_first_are_told_and_the_others_counted():
    made = errors(event(price=1, **{f"pric{number}": 1 for number in range(8_000)}))
    assert len(made) == 101
    assert sum("did you mean" in one.message for one in made) == 10
    assert (made[-1].rule, made[-1].attribute) == ("form", None)
    assert made[-1].message.startswith("7,900 more errors omitted")


@pytest.mark.parametrize(
    "raw",
    [
        {"id": "e", "event_type": [f"al{number}" for number in range(3_000)]},
        {"id": "e", "event_type": "all", **{f"idd{number}": 1 for number in range(3_000)}},
        event(brands=[f"min{number}" for number in range(3_000)]),
    ],
)
def test_hints_are_few_whatever_is_wrong(raw):
    made = errors(raw)
    assert len(made) == 101
    assert sum("did you mean" in one.message or "; valid:" in one.message for one in made[:-1]) <= 10


def test_without_hints_the_same_rules_are_broken():
    raw = event(["al", "all"], pric=1, brand="wrong")
    with pytest.raises(RefusedEvent) as refusal:
        validate(raw, EVERY_KIND, hints=False)
    told = errors(raw)
    assert [(one.rule, one.attribute) for one in refusal.value.errors] == [(one.rule, one.attribute) for one in told]
    assert "did you mean" in str(told)
    assert "did you mean" not in str(refusal.value)


def test_numpy_values_are_refused_by_rule():
    """Comparing them with a list gives an array, which has no truth value."""
    import numpy

    raw = {**E1, "attributes": {**E1["attributes"], "price": numpy.float64(1)}}
    with pytest.raises(RefusedEvent) as refused:
        validate(raw, ANTIQUE_CAR)
    assert [(error.rule, error.attribute) for error in refused.value.errors] == [("domain", "price")]
    with pytest.raises(RefusedEvent):
        validate({**E1, "event_type": numpy.float64(1)}, ANTIQUE_CAR)
