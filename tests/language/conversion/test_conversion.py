"""Event patterns of EventBridge and bindings of a headers exchange as text: what they become, what cannot be said, and
the cases of event-ruler's suite against a small evaluator of its patterns."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.feeds.real_files import SHARED
from tidings.language import Filter
from tidings.language.conversion.converted import CannotBeSaid, NotConvertible
from tidings.language.conversion.eventbridge import from_eventbridge
from tidings.language.conversion.headers import from_headers
from tidings.matching.naive import matches
from tidings.schema import Catalog

SUITE = SHARED / "suite-event-ruler"

SAID = [
    ({"source": ["aws.ec2", "aws.s3"]}, "event.source in ('aws.ec2', 'aws.s3')"),
    ({"detail-type": ["car"], "detail": {"price": [5]}}, "event_type = 'car' and price = 5"),
    ({"a": ["x", 1, 2.5]}, "a = 'x' or a in (1, 2.5)"),
    ({"a": [True]}, "a = 'true'"),
    ({"detail": {"state": {"name": [{"prefix": "run"}]}}}, "state.name starts with 'run'"),
    ({"a": [{"suffix": ".png"}, {"prefix": "x"}]}, "a ends with '.png' or a starts with 'x'"),
    ({"a": [{"wildcard": "a*100%\\*"}]}, "a like 'a%100\\%*'"),
    ({"a": [{"numeric": [">", 0, "<=", 5]}]}, "a > 0 and a <= 5"),
    ({"a": [{"anything-but": "x"}]}, "a != 'x'"),
    ({"a": [{"anything-but": ["x", "y"]}]}, "a not in ('x', 'y')"),
    ({"a": [{"anything-but": {"prefix": ["x", "y"]}}]}, "a not starts with 'x' and a not starts with 'y'"),
    ({"a": [{"exists": False}], "b": [{"exists": True}]}, "not (a exists) and b exists"),
    ({"$or": [{"a": [1]}, {"b": [2]}], "c": [3]}, "(a = 1 or b = 2) and c = 3"),
    ({"$or": [{"prefix": "x"}]}, "\"$or\" starts with 'x'"),
    ({"strange name": ["x"]}, "\"strange name\" = 'x'"),
]


def _nested(often: int, around: Callable[[Any], Any]) -> Any:
    made: Any = {"a": [1]}
    for _ in range(often):
        made = around(made)
    return made


@pytest.mark.parametrize(("pattern", "text"), SAID)
def test_what_a_pattern_becomes(pattern: Any, text: str) -> None:
    assert from_eventbridge(pattern).text == text


def test_all_that_cannot_be_said_is_listed() -> None:
    pattern = {"a": [{"equals-ignore-case": "X"}, None], "b": {"c": [{"cidr": "10.0.0.0/8"}]}, "d": ["fine"]}
    with pytest.raises(CannotBeSaid) as caught:
        from_eventbridge(pattern)
    assert [one.split(":")[0] for one in caught.value.problems] == ["a", "a", "b.c"]
    assert "starts with" in str(caught.value)


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ({"detail-type": [{"prefix": "x"}]}, "detail-type: prefix: list the event types"),
        ({"detail-type": [{"anything-but": {"wildcard": "x*"}}]}, "detail-type: wildcard: list the event types"),
        ({"detail-type": ["car", 5]}, "detail-type: 5: event_type is a string"),
        ({"time": [{"prefix": "2026"}]}, "time: prefix: times are compared with a whole time"),
        ({"time": ["May"]}, "not an ISO 8601 time"),
        ({"source": [{"numeric": [">", 5]}]}, "source: numeric: event.source is no number"),
        ({"a": [1e400, 1]}, "a: inf: NaN and infinities"),
        ({"a": [float("nan")]}, "a: nan: NaN and infinities"),
        ({"a": [{"numeric": ["<", 2**60]}]}, "beyond ±2\\^53"),
        ({"a": [{"anything-but": [1, -1e400]}]}, "a: -inf"),
        ({"": ["x"]}, "expected a name"),
    ],
)
def test_what_the_binder_would_refuse_is_not_printed(pattern: Any, said: str) -> None:
    with pytest.raises(CannotBeSaid, match=said):
        from_eventbridge(pattern)


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ([], "expected an object with fields"),
        ({"a": "x"}, "a: expected a list of values"),
        ({"a": [{"prefx": "x"}]}, "did you mean 'prefix'"),
        ({"a": [{"numeric": [">"]}]}, "takes pairs"),
        ({"a": [{"numeric": ["~", 1]}]}, "a sign and a number"),
        ({"a": [{"prefix": 5}]}, "takes a string"),
        ({"a": [[1]]}, "a value or a matcher"),
        ({"a": [{"anything-but": {"numeric": 1}}]}, "anything-but takes values"),
        ({"a": [{"anything-but": {"prefix": []}}]}, "at least one prefix"),
        ({"a": [{"exists": "yes"}]}, "exists takes true or false, got 'yes'"),
        (_nested(2000, lambda inner: {"a": inner}), "nested more than 50 deep"),
        (_nested(2000, lambda inner: {"$or": [inner, {"b": [1]}]}), "nested more than 50 deep"),
    ],
)
def test_what_is_no_pattern_is_refused(pattern: Any, said: str) -> None:
    with pytest.raises(NotConvertible, match=said):
        from_eventbridge(pattern)


def test_bindings_of_a_headers_exchange() -> None:
    assert from_headers({"x-match": "all", "format": "pdf", "pages": 3}).text == "format = 'pdf' and pages = 3"
    assert from_headers({"x-match": "any", "a": None, "b": True}).text == "a exists or b = 'true'"
    assert from_headers({"x-match": "all", "x-a": "b", "c": "d"}).text == "c = 'd'"
    assert from_headers({"x-match": "any-with-x", "x-a": "b", "c": "d"}).text == "x-a = 'b' or c = 'd'"
    with pytest.raises(CannotBeSaid, match="NaN and infinities"):
        from_headers({"a": 1e400, "b": 1})
    with pytest.raises(NotConvertible, match="x-match"):
        from_headers({"x-match": "some"})
    with pytest.raises(CannotBeSaid, match="match every event"):
        from_headers({})
    with pytest.raises(CannotBeSaid, match="table or an array"):
        from_headers({"a": {"b": 1}})


@pytest.mark.skipif(not SUITE.exists(), reason="the suite is not here")
@pytest.mark.parametrize("number", range(51))
def test_the_suite(number: int) -> None:
    """What EventBridge matches, the text matches; and the other way round, unless a note said otherwise."""
    case = json.loads((SUITE / "correctness-cases.json").read_text())[number]
    made = from_eventbridge(case["rule"])
    values = dict(_values(case["event"], ()))
    names = {*values, *(name for name in _leaves(case["rule"], ()))}
    numeric = {name for name in names if "numeric" in json.dumps(case["rule"]) and name in _numeric(case["rule"], ())}
    numeric |= {name for name, some in values.items() if all(isinstance(one, int | float) for one in some)}
    catalog = Catalog.from_dict(
        {
            "domains": [{"name": "s", "kind": "string"}, {"name": "n", "kind": "numeric"}],
            "attributes": [{"name": name, "domain": "n" if name in numeric else "s"} for name in sorted(names)],
            "event_types": [
                {
                    "name": "any",
                    "attributes": [{"name": name, "mandatory": False, "unique": False} for name in sorted(names)],
                }
            ],
        }
    )
    found = matches(Filter.parse(made.text, catalog).tree, {n: tuple(v) for n, v in values.items()}, catalog)
    expected = _holds(case["rule"], case["event"])
    assert found or not expected
    if not made.notes:
        assert found == expected


def _values(node: Any, path: tuple[str, ...]) -> Iterator[tuple[str, list[Any]]]:
    gathered: dict[str, list[Any]] = {}

    def walk(node: Any, path: tuple[str, ...]) -> None:
        if isinstance(node, dict):
            for name, inner in node.items():
                walk(inner, (*path, name))
        elif isinstance(node, list):
            for inner in node:
                walk(inner, path)
        else:
            gathered.setdefault(_name(path), []).append(node)

    walk(node, path)
    yield from gathered.items()


def _name(path: tuple[str, ...]) -> str:
    return ".".join(path[1:] if path[0] == "detail" and len(path) > 1 else path)


def _leaves(rule: dict[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    for name, wanted in rule.items():
        if isinstance(wanted, dict):
            yield from _leaves(wanted, (*path, name))
        else:
            yield _name((*path, name))


def _numeric(rule: dict[str, Any], path: tuple[str, ...]) -> set[str]:
    found: set[str] = set()
    for name, wanted in rule.items():
        if isinstance(wanted, dict):
            found |= _numeric(wanted, (*path, name))
        elif any(isinstance(one, dict) and "numeric" in one for one in wanted):
            found.add(_name((*path, name)))
    return found


def _holds(rule: dict[str, Any], node: Any) -> bool:
    """Event-ruler's meaning, naively: of an array of objects, one element has everything."""
    if isinstance(node, list):
        return any(_holds(rule, one) for one in node)
    if not isinstance(node, dict):
        return False
    return all(
        _holds(wanted, node.get(name, {})) if isinstance(wanted, dict) else _leaf(wanted, node.get(name))
        for name, wanted in rule.items()
    )


def _leaf(wanted: list[Any], value: Any) -> bool:
    values = value if isinstance(value, list) else [] if value is None else [value]
    return any(_fits(one, values) for one in wanted)


def _fits(one: Any, values: list[Any]) -> bool:
    match one:
        case {"exists": present}:
            return bool(values) is present
        case {"prefix": text}:
            return any(str(value).startswith(text) for value in values)
        case {"suffix": text}:
            return any(str(value).endswith(text) for value in values)
        case {"anything-but": text}:
            return any(value != text for value in values)
        case {"numeric": [">", low, "<", high]}:
            return any(low < value < high for value in values)
        case _:
            return one in values
