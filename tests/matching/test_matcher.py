"""The matcher of the library's users."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tidings
from tidings import Filter, FilterWarning, Match, Matcher, Schema, Subscription
from tidings.errors import LanguageError, TidingsError, WrongArgument
from tidings.events import RefusedEvent
from tidings.events.reader import RefusedEvents
from tidings.matching.algorithms import ALGORITHMS, UnknownAlgorithm
from tidings.matching.given_filters import WrongFilters
from tidings.matching.match_result import MatchResult
from tidings.matching.matcher import FilterUnknown, NotSaved
from tidings.matching.plan.folder import PlanExists, UnusablePlan
from tidings.matching.spans import DuplicateSubscription, UnknownSubscription
from tidings.schema.growth import AppendValue, grow

CARS = Schema.infer(
    [{"price": 900, "brand": "mini", "paint": ["red"]}, {"brand": "opel"}], "car", kinds={"brand": "enumerated"}
)
EVENTS = [
    {"id": "a", "price": 900, "brand": "mini", "paint": ["red", "white"]},
    {"id": "b", "price": 1200, "brand": "opel"},
    {"id": "c", "brand": "mini"},
]


@pytest.fixture(params=["default", "naive", "counting"])
def matcher(request: pytest.FixtureRequest) -> Matcher:
    made = Matcher(CARS, request.param)
    made.add("cheap", "price < 1000 and brand in (mini, opel)")
    made.add("priced", Filter.parse("price exists", CARS))
    return made


def found(matcher: Matcher, events: Any = EVENTS) -> str:
    return " ".join(f"{event}:{subscription}" for event, subscription in matcher.match(events))


def test_filters_count_from_when_they_are_added_until_they_are_removed(matcher: Matcher) -> None:
    assert found(matcher) == "a:cheap a:priced b:priced"
    matcher.add("mini", "brand = mini")
    assert found(matcher) == "a:cheap a:priced a:mini b:priced c:mini"
    matcher.remove("priced")
    assert found(matcher) == "a:cheap a:mini c:mini"
    matcher.add("priced", "price > 1000")
    assert found(matcher) == "a:cheap a:mini b:priced c:mini"
    matcher.add("priced", "price < 1000", replace=True)
    assert found(matcher) == "a:cheap a:mini a:priced c:mini"
    matcher.add_many({"x": "brand = opel", "y": Filter.parse("paint contains 'red'", CARS)})
    matcher.add_many([("z", "price = 900"), Subscription("w", Filter.parse("price = 1200", CARS))])
    assert found(matcher) == "a:cheap a:mini a:priced a:y a:z b:x b:w c:mini"
    assert matcher.match_one(EVENTS[0]) == ["cheap", "mini", "priced", "y", "z"]


def test_it_is_a_mapping_of_texts(matcher: Matcher) -> None:
    assert len(matcher) == 2
    assert list(matcher) == ["cheap", "priced"]
    assert "cheap" in matcher
    assert "dear" not in matcher
    assert 3 not in matcher
    assert matcher["cheap"] == "price < 1000 and brand in ('mini', 'opel')"
    assert matcher.subscriptions == {"cheap": matcher["cheap"], "priced": "price exists"}
    matcher.match(EVENTS)
    matcher.remove("cheap")
    matcher.add_many({"more": "price > 3"})
    assert matcher.subscriptions == {"priced": "price exists", "more": "price > 3"}


def test_many_are_added_all_or_none(matcher: Matcher) -> None:
    with pytest.raises(WrongFilters) as raised:
        matcher.add_many({"x": "price <", "y": "pric < 2", "z": "price < 2"})
    assert [id for id, _ in raised.value.problems] == ["x", "y"]
    assert "'y': line 1, column 1: no attribute 'pric'; did you mean 'price'?" in str(raised.value)
    for wrong in ([("x", "price < 2"), ("x", "price < 3")], {"x": "price < 2", "cheap": "price < 3"}):
        with pytest.raises(DuplicateSubscription, match="remove it first"):
            matcher.add_many(wrong)
    assert list(matcher) == ["cheap", "priced"]
    assert found(matcher) == "a:cheap a:priced b:priced"


def test_a_wrong_filter_leaves_what_it_would_replace(matcher: Matcher) -> None:
    with pytest.raises(LanguageError, match="did you mean 'price'"):
        matcher.add("cheap", "pric < 2", replace=True)
    with pytest.raises(DuplicateSubscription, match="replace=True"):
        matcher.add("cheap", "price < 2")
    assert found(matcher) == "a:cheap a:priced b:priced"


def test_a_filter_of_another_schema_is_bound_to_this_one() -> None:
    other = Schema.infer([{"price": "dear"}])
    with pytest.raises(LanguageError):
        Matcher(CARS).add("x", Filter.parse("price = 'dear'", other))


def test_warnings_come_as_python_warnings(matcher: Matcher) -> None:
    with pytest.warns(FilterWarning, match=r"^trap: .*paint") as told:
        matcher.add("trap", "not (paint = 'red')")
    assert told[0].filename == __file__
    with pytest.warns(FilterWarning) as told:
        matcher.add_many({f"trap {number}": "not (paint = 'red')" for number in range(13)})
    assert len(told) == 11
    assert str(told[10].message) == "and more filters with warnings"
    assert {one.filename for one in told} == {__file__}


def test_results(matcher: Matcher) -> None:
    result = matcher.match(EVENTS)
    assert isinstance(result, MatchResult)
    assert list(result) == [Match("a", "cheap"), Match("a", "priced"), Match("b", "priced")]
    assert len(result) == 3
    assert result.rows.tolist() == [0, 0, 1]
    assert result.by_event() == {"a": ["cheap", "priced"], "b": ["priced"]}
    assert result.to_arrow().to_pydict() == {"event": ["a", "a", "b"], "subscription": ["cheap", "priced", "priced"]}
    assert result.to_pandas().columns.tolist() == ["event", "subscription"]
    assert result.to_polars().rows() == [("a", "cheap"), ("a", "priced"), ("b", "priced")]
    assert result.cost.candidates > 0
    assert result.refused == ()
    nothing = matcher.match([])
    assert (list(nothing), len(nothing), nothing.to_arrow().num_rows, nothing.rows.tolist()) == ([], 0, 0, [])


def test_a_result_stays_as_it_was(matcher: Matcher) -> None:
    result = matcher.match(EVENTS)
    matcher.remove("cheap")
    matcher.add("cheap", "price > 0")
    assert [subscription for _, subscription in result] == ["cheap", "priced", "priced"]


def test_large_results(monkeypatch: pytest.MonkeyPatch) -> None:
    """In chunks, of which each begins and ends anywhere, with more matches than subscriptions."""
    matcher = Matcher(CARS)
    matcher.add_many({f"s{number}": f"price < {number}" for number in range(7)})
    prices = np.random.default_rng(3).integers(0, 8, 500)
    expected = [(str(row), f"s{number}") for row, price in enumerate(prices) for number in range(7) if price < number]
    frame = pd.DataFrame({"price": prices})
    for chunk in (1 << 20, 1, 10, 64):
        monkeypatch.setattr("tidings.matching.match_result._CHUNK", chunk)
        result = matcher.match(frame)
        assert list(result) == expected
        assert list(zip(*result.to_arrow().to_pydict().values(), strict=True)) == expected
        assert result.rows.tolist() == [int(event) for event, _ in expected]


def test_refused_events_are_raised_or_skipped(matcher: Matcher) -> None:
    wrong = [EVENTS[0], {"id": "d", "brand": "mni", "price": "x"}, EVENTS[1]]
    with pytest.raises(RefusedEvents, match=r"row 1: event 'd' is refused: 'brand': 'mni'.*'price': 'x'") as raised:
        matcher.match(wrong)
    assert pickle.loads(pickle.dumps(raised.value)).refused == raised.value.refused
    result = matcher.match(wrong, on_error="skip")
    assert list(result) == [("a", "cheap"), ("a", "priced"), ("b", "priced")]
    assert result.rows.tolist() == [0, 0, 2]
    assert [(one.row, one.id, len(one.errors)) for one in result.refused] == [(1, "d", 2)]
    assert "1 refused" in repr(result)
    with pytest.raises(RefusedEvent, match="did you mean 'mini'"):
        matcher.match_one({"brand": "mni"})


@pytest.mark.parametrize(
    "event",
    [
        {"price": 900.0, "brand": "mini"},
        {"price": np.float32(900), "brand": "mini", "paint": []},
        {"id": 7, "price": 900, "brand": ("mini",)},
        {"id": "x", "event_type": "car", "attributes": {"price": 900, "brand": "mini"}},
        {"attributes": {"price": 900, "brand": "mini"}},
        '{"price": 900, "brand": "mini"}',
        b'{"id": "x", "event_type": ["car"], "attributes": {"price": 900, "brand": "mini"}}',
        pd.DataFrame({"price": [900], "brand": ["mini"]}).iloc[0],
        tidings.Event("x", ("car",), (("brand", ("mini",)), ("price", (900,)))),
    ],
)
def test_one_event(matcher: Matcher, event: Any) -> None:
    assert matcher.match_one(event) == ["cheap", "priced"]
    if not isinstance(event, str | bytes):
        assert [subscription for _, subscription in matcher.match(event)] == ["cheap", "priced"]
        assert matcher.explain("cheap", event).matches


def test_explanations_can_be_read(matcher: Matcher) -> None:
    told = matcher.explain("cheap", {"id": "e", "price": 1200, "brand": "mini"})
    assert str(told).splitlines() == [
        "event e does not match price < 1000 and brand in ('mini', 'opel')",
        "  ✗ price < 1000   (price is 1200)",
        "  ✓ brand in ('mini', 'opel')   (brand is 'mini')",
    ]
    assert repr(told) == str(told)
    assert matcher.explain(Filter.parse("price > 3", CARS), {"price": 5}).matches
    with pytest.raises(UnknownSubscription, match="did you mean 'cheap'"):
        matcher.explain("chep", {"price": 3})


def test_saved_and_opened(tmp_path: Path) -> None:
    matcher = Matcher(CARS)
    matcher.add_many({"cheap": "price < 1000", "gone": "price exists", "opel": "brand = opel"})
    matcher.remove("gone")
    matcher.save(tmp_path / "plan")
    opened = Matcher.open(str(tmp_path / "plan"))
    assert found(opened) == "a:cheap b:opel"
    assert opened.subscriptions == {"cheap": "price < 1000", "opel": "brand = 'opel'"}
    assert opened.schema == CARS
    opened.add("gone", "price > 1000")
    opened.remove("cheap")
    assert found(opened) == "b:opel b:gone"
    with pytest.raises(PlanExists, match="overwritten"):
        opened.save(tmp_path / "plan")
    opened.save(tmp_path / "plan", overwrite=True)
    assert found(Matcher.open(tmp_path / "plan")) == "b:opel b:gone"
    assert found(opened) == "b:opel b:gone"
    assert [path.name for path in tmp_path.iterdir()] == ["plan"]


def test_only_a_plan_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(PlanExists):
        Matcher(CARS).save(tmp_path, overwrite=True)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"
    with pytest.raises(UnusablePlan):
        Matcher.open(tmp_path)
    with pytest.raises(NotSaved, match="'counting' cannot be saved"):
        Matcher(CARS, "counting").save(tmp_path / "plan")


def test_a_plan_of_the_pipeline_is_opened_after_its_last_change(tmp_path: Path) -> None:
    from tidings.matching.index.box_matcher import BoxMatcher
    from tidings.matching.plan.folder import save_plan

    box = BoxMatcher(CARS)
    for id, text, at in (("early", "price < 1000", 5), ("late", "price > 0", 70), ("closed", "price > 1", 6)):
        box.add(Subscription(id, Filter.parse(text, CARS)), at)
    box.withdraw("closed", 90)
    save_plan(box, tmp_path / "plan")
    opened = Matcher.open(tmp_path / "plan")
    assert found(opened) == "a:early a:late b:late"
    opened.remove("early")
    opened.add("closed", "brand = mini")
    assert found(opened) == "a:late a:closed b:late c:closed"


def test_filters_that_were_loaded_as_arrays_have_no_text() -> None:
    from tidings.matching.boxes.filter_batch import FilterBatch

    matcher = Matcher(CARS)
    assert matcher._box is not None
    matcher._box.load(FilterBatch.of_texts(["price < 1000"], CARS).boxes(0), ["cheap"])
    assert found(matcher) == "a:cheap"
    with pytest.raises(FilterUnknown, match="'cheap' was loaded as arrays"):
        matcher["cheap"]


def test_a_grown_schema(matcher: Matcher) -> None:
    grown = grow(CARS, AppendValue("brand", "audi"))
    matcher.adopt(grown)
    matcher.add("audi", "brand = audi")
    assert found(matcher, [*EVENTS, {"id": "d", "brand": "audi"}]) == "a:cheap a:priced b:priced d:audi"


def test_once_without_a_schema() -> None:
    frame = pd.DataFrame({"price": [1, 2], "brand": ["mini", "opel"]})
    assert list(tidings.match(frame, {"cheap": "price < 2"})) == [("0", "cheap")]
    assert list(tidings.match(frame, "brand = 'opel'")) == [("1", "brand = 'opel'")]
    assert list(tidings.match(iter(frame.to_dict("records")), ["price < 2", "price > 0"])) == [
        ("0", "price < 2"),
        ("0", "price > 0"),
        ("1", "price > 0"),
    ]
    assert list(tidings.match({"price": 3}, [("a", "price = 3")], CARS)) == [("0", "a")]
    typed = tidings.match(frame, {"x": "event_type contains car"}, event_type="car")
    assert len(typed) == 2


def test_how_they_look(matcher: Matcher) -> None:
    assert repr(CARS) == "<Schema version 1: event type car; attributes price, brand, paint>"
    assert str(CARS).splitlines()[1:] == [
        "car",
        "  price: numeric",
        "  brand: enumerated (mini, opel)",
        "  paint: string, several values",
    ]
    name = "" if matcher.algorithm == "default" else f", algorithm {matcher.algorithm}"
    assert repr(matcher) == f"<Matcher with 2 subscriptions{name}, schema version 1>"
    assert repr(matcher.match(EVENTS)) == "<3 matches in 3 events: a → cheap, a → priced, b → priced>"
    assert repr(matcher.match(EVENTS[2])) == "<0 matches in 1 event>"
    matcher.add("<b>", "price = 3")
    for shown in (matcher, matcher.match({"id": "<i>", "price": 3}), CARS):
        html = shown._repr_html_()
        assert "<table>" in html
        assert "<b>" not in html
        assert "<i>" not in html
    assert repr(tidings.EventBatch.of([], CARS)) == "<EventBatch of 0 events>"


def test_completion() -> None:
    assert {"Matcher", "Schema", "match", "__version__"} <= set(dir(tidings))
    assert {"add", "add_many", "match", "explain", "remove", "save", "open"} <= set(dir(Matcher))


GOOD = Matcher(CARS)
WRONG = {
    "Matcher('schema.json')": r"Matcher: schema must be a tidings.Schema \(Schema.read takes a file\), not str",
    "Matcher({})": r"\(Schema.from_dict takes a dict\), not dict",
    "Matcher(CARS, 3)": "Matcher: algorithm must be the name of an algorithm",
    "tidings.make_matcher(CARS, 'default')": "make_matcher: name must be .*, not tidings.Schema",
    "tidings.make_matcher('default', 'x')": "make_matcher: catalog must be a tidings.Schema, not str 'x'",
    "Schema.read(3)": "Schema.read: path must be the path of a schema file, not int 3",
    "Schema.from_dict('schema.json')": "Schema.from_dict: declarations must be a dict with",
    "CARS.write(3)": "Schema.write: path must be",
    "Filter.parse(CARS, 'price < 3')": "Filter.parse: text must be text such as 'price < 1000', not tidings.Schema",
    "Filter.parse('price < 3', 'schema.json')": "Filter.parse: catalog must be a tidings.Schema",
    "tidings.EventBatch.of({'price': 3}, CARS)": "EventBatch.of: events must be an iterable of Events",
    "tidings.EventBatch.of([{'price': 3}], CARS)": "EventBatch.of: events must be Events, .* not dict",
    "tidings.EventBatch.of([], 'x')": "EventBatch.of: catalog must be a tidings.Schema",
    "tidings.EventBatch.from_arrow(pd.DataFrame(), CARS)": "table must be a pyarrow Table or RecordBatch, not pandas",
    "tidings.validate({}, 'x')": "validate: catalog must be a tidings.Schema",
    "tidings.explain('price < 3', {}, CARS)": r"explain: filter must be a Filter \(Filter.parse takes a text\)",
    "tidings.covers('a', 'b', CARS)": "covers: wider must be a Filter",
    "tidings.read_schema(3)": "read_schema: path must be",
    "tidings.read_events(3, CARS)": "read_events: source must be a path or a binary file",
    "tidings.read_events('x.csv', 3)": "read_events: catalog must be a tidings.Schema",
    "GOOD.add(3, 'price < 3')": "Matcher.add: id must be text, the name of a subscription, not int 3",
    "GOOD.add('', 'price < 3')": "id must be text of at least one character",
    "GOOD.add('b', None)": "Matcher.add: filter must be text such as 'price < 1000', or a Filter, not None",
    "GOOD.add_many(3)": "Matcher.add_many: filters must be a dict such as",
    "GOOD.add_many([1])": "not an iterable with int 1",
    "GOOD.add_many({'x': 3})": "Matcher.add_many, 'x': filter must be text",
    "GOOD.remove(3)": "Matcher.remove: id must be text",
    "GOOD[3]": "id must be text",
    "GOOD.match([], on_error='ignore')": "on_error must be 'raise' or 'skip', not str 'ignore'",
    "GOOD.match([], event_type=3)": "event_type must be the name of an event type, or several, not int 3",
    "GOOD.explain(Filter.parse('price < 3', CARS), [{}, {}])": "event must be one event, not 2 of them",
    "GOOD.explain({'price': 3}, 'cheap')": "id must be text",
    "GOOD.adopt(3)": "schema must be a tidings.Schema",
    "GOOD.save(3)": "folder must be the path of a folder",
    "Matcher.open(3)": "folder must be the path of a folder that Matcher.save has made",
    "tidings.match([{'price': 3}], None)": "match: filters must be a dict",
}


@pytest.mark.parametrize("call", WRONG)
def test_wrong_arguments_say_what_was_expected(call: str) -> None:
    with pytest.raises(WrongArgument, match=WRONG[call]) as raised:
        eval(call)
    assert isinstance(raised.value, TypeError)
    assert isinstance(raised.value, TidingsError)
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)


def test_other_errors_name_the_nearest() -> None:
    with pytest.raises(UnknownAlgorithm, match=re.escape("no algorithm 'couting'; did you mean 'counting'?")):
        Matcher(CARS, "couting")
    assert set(ALGORITHMS) >= {"default", "counting"}


def test_the_limit_of_values_is_a_parameter(tmp_path: Path) -> None:
    schema = tidings.Schema.from_dict(
        {
            "domains": [{"name": "n", "kind": "numeric"}],
            "attributes": [{"name": "a", "domain": "n"}],
            "event_types": [{"name": "any", "attributes": [{"name": "a", "unique": False}]}],
        }
    )
    many = {"id": "e", "event_type": "any", "attributes": {"a": list(range(1_500))}}
    usual, wide = tidings.Matcher(schema), tidings.Matcher(schema, values_per_attribute=2_000)
    for one in (usual, wide):
        one.add("high", "a > 1400")
    wide.save(tmp_path / "plan")
    opened = tidings.Matcher.open(tmp_path / "plan", values_per_attribute=2_000)
    for one in (wide, opened):
        assert [match.subscription for match in one.match([many])] == one.match_one(many) == ["high"]
    few = tidings.Matcher(schema, values_per_attribute=2)
    for refusing in (usual, few):
        with pytest.raises(tidings.RefusedEvent, match="at most"):
            refusing.match_one(many)
        with pytest.raises(RefusedEvents, match="at most"):
            refusing.match([many])
    with pytest.raises(WrongArgument, match="at least 1"):
        tidings.Matcher(schema, values_per_attribute=0)
