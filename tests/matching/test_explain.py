import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies.filters import RICH, catalogs, events, filter_texts
from tidings.events import Event, validate
from tidings.language import Filter
from tidings.matching.explain import Explanation, TooManySteps, explain
from tidings.matching.naive import matches
from tidings.schema import Catalog, Instant, json_form


def explained(text: str, **bound: tuple[object, ...]) -> Explanation:
    event = Event("e1", ("car",), tuple(sorted(bound.items())))  # type: ignore[arg-type]
    return explain(Filter.parse(text, RICH), event, RICH)


def test_each_predicate_is_shown_with_the_values_of_the_event() -> None:
    found = explained("price < 1300 and colour = blue and size exists", price=(900,), colour=("red",))
    assert not found.matches
    (alternative,) = found.alternatives
    assert [(f.predicate, f.holds, f.seen) for f in alternative.findings] == [
        ("price < 1300", True, "price is 900"),
        ("colour = 'blue'", False, "colour is 'red'"),
        ("size exists", False, "size is not bound"),
    ]
    assert alternative.note == ""


def test_each_alternative_is_judged_by_itself() -> None:
    found = explained("price < 10 or price > 100 and colour = blue", price=(5,))
    assert found.matches
    assert [alternative.matches for alternative in found.alternatives] == [True, False]


def test_a_comparison_of_attributes_shows_both() -> None:
    (alternative,) = explained("not (price < budget)", price=(5,), budget=(5, 7)).alternatives
    (finding,) = alternative.findings
    assert finding.predicate == 'price >= "budget"'
    assert finding.seen == "price is 5, budget is {5, 7}"
    assert finding.holds


def test_it_says_when_each_predicate_holds_but_for_no_one_value() -> None:  # binding rule
    found = explained(
        "prices > 10 and prices < 20 and paint contains blue and red > 0",
        prices=(5, 25),
        paint=("red", "blue"),
        red=(1,),
    )
    (alternative,) = found.alternatives
    assert all(finding.holds for finding in alternative.findings)
    assert not found.matches
    assert alternative.note == ("each holds for some value, but no one value of prices satisfies them all")


def test_values_that_only_together_fail_are_named_together() -> None:
    (alternative,) = explained("prices > price and prices < 20", prices=(5, 25), price=(7,)).alternatives
    assert alternative.note.endswith("no one value of prices satisfies them all")
    (alternative,) = explained(
        "made < sold and made > '2026-05-01' and sold < '2026-05-03'",
        made=(Instant(0), Instant.parse("2026-05-04")),
        sold=(Instant.parse("2026-05-02"), Instant.parse("2026-05-05")),
    ).alternatives
    assert alternative.note.endswith("no one value of made and sold satisfies them all")


def test_many_attributes_with_many_values_take_no_time() -> None:
    names = ("prices", "paint", "fits", "kinds", "names", "sold", "price", "budget", "red", "not")
    numbers = tuple(range(2_000))
    bound = {name: numbers for name in names if RICH.domain_of(name).name == "money"}  # type: ignore[union-attr]
    text = " and ".join(f'"{name}" >= 0 and "{name}" < 0' for name in bound)
    assert not explain(Filter.parse(text, RICH), Event("e", ("car",), tuple(bound.items())), RICH).matches
    text = " and ".join(f'"{name}" > 1998' for name in bound)
    assert explain(Filter.parse(text, RICH), Event("e", ("car",), tuple(bound.items())), RICH).matches


def test_a_long_list_of_values_is_cut() -> None:
    (alternative,) = explained("prices > 100", prices=tuple(range(20))).alternatives
    assert alternative.findings[0].seen == "prices is {0, 1, 2, 3, 4, 5, 6, 7, … (20 values)}"


def test_it_can_be_written_as_json() -> None:
    found = explained("made > '2026-05-01' and not (red exists)", made=(Instant.parse("2026-05-02"),))
    assert json.loads(json.dumps(found.as_json())) == {
        "filter": "made > '2026-05-01T00:00:00Z' and not (red exists)",
        "event": "e1",
        "matches": True,
        "alternatives": [
            {
                "matches": True,
                "note": "",
                "predicates": [
                    {
                        "predicate": "made > '2026-05-01T00:00:00Z'",
                        "holds": True,
                        "values": {"made": ["2026-05-02T00:00:00Z"]},
                        "marks": [],
                        "note": "",
                    },
                    {"predicate": "not (red exists)", "holds": True, "values": {"red": []}, "marks": [], "note": ""},
                ],
            }
        ],
    }


@given(catalogs(), st.data())
def test_an_explanation_agrees_with_the_matcher(catalog: Catalog, data: st.DataObject) -> None:
    filter = Filter.parse(data.draw(filter_texts(catalog)), catalog)
    event = data.draw(events(catalog))
    found = explain(filter, event, catalog)
    assert found.matches == matches(filter.tree, event.bindings(), catalog)
    for alternative in found.alternatives:
        assert bool(alternative.note) == (
            not alternative.matches and all(finding.holds for finding in alternative.findings)
        )


def test_an_explanation_has_a_limit_of_steps() -> None:
    """A thousand values in three attributes and a filter with 1,024 alternatives took minutes."""
    names = ("a", "b", "c", "d")
    uses = [{"name": name, "mandatory": False, "unique": False} for name in names]
    schema = {
        "domains": [{"name": "number", "kind": "numeric"}],
        "attributes": [{"name": name, "domain": "number"} for name in names],
        "event_types": [{"name": "t", "attributes": uses}],
    }
    catalog = json_form.read(json.dumps(schema).encode())
    attributes = {name: list(range(1_000)) for name in names}
    event = validate({"id": "e", "event_type": "t", "attributes": attributes}, catalog)
    hostile = " and ".join(f"(a > {n} or b > {n})" for n in range(10)) + " and a < b and b < c and a < c"
    with pytest.raises(TooManySteps, match=r"takes [\d,]+ steps, more than 2,000,000"):
        explain(Filter.parse(hostile, catalog), event, catalog, 2_000_000)
    assert explain(Filter.parse("a < b and b < c", catalog), event, catalog, 2_000_000).matches
    chain = " or ".join(f"a < b + {n} and a > b - {n + 1} and b < c - 1 and c < d - 1" for n in range(20))
    assert explain(Filter.parse(chain, catalog), event, catalog, 2_000_000).matches
