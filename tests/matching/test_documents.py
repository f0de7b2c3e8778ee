"""Paths in filters: every algorithm equals the specification, and the default one equals libxml2, also while
subscriptions come and go, as plans and one event at a time."""

from __future__ import annotations

import gc
from pathlib import Path as Folder

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from tests.documents.strategies import documents
from tests.documents.test_batch import PARSER
from tests.matching.test_every_algorithm import answers
from tests.paths.strategies import paths
from tidings.events import EventBatch, validate
from tidings.language import Filter, Subscription
from tidings.matching.algorithms import ALGORITHMS, make_matcher
from tidings.matching.boxes.shared_paths import SHARED_PATHS
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.one_filter import OneFilter
from tidings.matching.plan.folder import open_plan, save_plan
from tidings.paths.printer import path_text
from tidings.schema import Catalog

CATALOG = Catalog.from_dict(
    {
        "domains": [
            {"name": "any", "kind": "document", "namespaces": {"n": "urn:n"}},
            {"name": "number", "kind": "numeric"},
        ],
        "attributes": [{"name": name, "domain": "any"} for name in ("article", "notes")]
        + [{"name": "urgency", "domain": "number"}],
        "event_types": [
            {
                "name": "news",
                "attributes": [
                    {"name": "article", "mandatory": False},
                    {"name": "notes", "mandatory": False, "unique": False},
                    {"name": "urgency", "mandatory": False},
                ],
            }
        ],
    }
)


def event(number: int = 0, **attributes):
    return validate({"id": f"e{number}", "event_type": "news", "attributes": attributes}, CATALOG)


def subscription(number: int, text: str) -> Subscription:
    return Subscription(f"{number:03}", Filter.parse(text, CATALOG))


def quoted(path) -> str:
    return "'" + path_text(path).replace("'", "''") + "'"


CASES = [
    ("article xpath '//b[@k = \"1\"]'", event(article="<a><b k='1'/></a>"), True),
    ("article xpath '//b[@k = \"2\"]'", event(article="<a><b k='1'/></a>"), False),
    ("article xpath '//b'", event(urgency=1), False),
    ("article not xpath '//b'", event(article="<a/>"), True),
    ("article not xpath '//b'", event(article="<b/>"), False),
    ("article not xpath '//b'", event(urgency=1), False),
    ("not (article xpath '//b' or urgency > 3)", event(article="<a/>", urgency=1), True),
    ("notes xpath '//a' and notes xpath '//b'", event(notes=["<a/>", "<b/>"]), True),
    ("notes not xpath '//b'", event(notes=["<a/>", "<b/>"]), False),
    ("notes xpath '//n:a'", event(notes=["<a/>", "<x xmlns='urn:n'><a/></x>"]), True),
    ("notes xpath '//a'", event(notes=["<x xmlns='urn:n'><a/></x>"]), False),
    ("article xpath '//c' or urgency = 1", event(article="<b/>", urgency=1), True),
    ("article exists", event(article="<b/>"), True),
    ("article contains '<b/>'", event(article="<b></b>"), True),
    ("article contains '<b/>'", event(article="<b>x</b>"), False),
]


@pytest.mark.parametrize("name", ALGORITHMS)
def test_worked_examples(name: str) -> None:
    matcher = make_matcher(name, CATALOG)
    for number, (text, _, _) in enumerate(CASES):
        matcher.add(subscription(number, text), 0)
    batch = EventBatch.of([one for _, one, _ in CASES], CATALOG)
    found = answers(matcher, batch)
    for number, (text, _, expected) in enumerate(CASES):
        assert (f"{number:03}" in found[number]) is expected, text


def test_one_event_one_filter_and_plans(tmp_path: Folder) -> None:
    matcher = BoxMatcher(CATALOG, 1)
    for number, (text, _, _) in enumerate(CASES):
        matcher.add(subscription(number, text))
        matcher.settled_segments()
    save_plan(matcher, tmp_path / "plan")
    opened = open_plan(tmp_path / "plan")
    for number, (text, one, expected) in enumerate(CASES):
        for each in (matcher, opened):
            assert (number in each.match_one(one).tolist()) is expected, text
        batch = EventBatch.of([one], CATALOG)
        assert bool(len(OneFilter(Filter.parse(text, CATALOG), CATALOG).select(batch))) is expected, text
    matcher.merge()
    for number, (text, one, expected) in enumerate(CASES):
        assert (number in matcher.match_one(one).tolist()) is expected, text


def by_libxml2(path, document: bytes) -> bool:
    found = etree.XPath(f"boolean({path_text(path)})", namespaces={"n": "urn:n"})
    return bool(found(etree.fromstring(document, PARSER)))


@settings(max_examples=25, deadline=None)
@given(
    rounds=st.lists(
        st.tuples(st.lists(paths, max_size=4), st.lists(st.integers(0, 15), max_size=3), documents),
        min_size=1,
        max_size=4,
    )
)
def test_the_default_algorithm_equals_libxml2_while_paths_come_and_go(rounds) -> None:
    matcher, alive = BoxMatcher(CATALOG, 1), {}
    number = position = 0
    for added, withdrawn, document in rounds:
        for path in added:
            text = f"article {'not ' if number % 3 == 2 else ''}xpath {quoted(path)}"
            matcher.add(subscription(number, text), position)
            alive[number] = path
            number += 1
        for one in withdrawn:
            if alive.pop(one, None) is not None:
                matcher.withdraw(f"{one:03}", position)
        position += 1
        batch = EventBatch.of([event(0, article=document.decode())], CATALOG, position)
        found = set(matcher.match(batch).numbers.tolist())
        assert found == {one for one, path in alive.items() if by_libxml2(path, document) is (one % 3 != 2)}
        position += 1


def test_paths_leave_the_shared_index_with_their_last_segment() -> None:
    gc.collect()
    matcher = BoxMatcher(CATALOG, 1)
    for number in range(5):
        matcher.add(subscription(number, f"article xpath '//only-here-{number}'"))
    assert matcher.match_one(event(article="<only-here-3/>")).tolist() == [3]
    assert all(f"//only-here-{number}" in SHARED_PATHS for number in range(5))
    other = BoxMatcher(CATALOG, 1)
    other.add(subscription(0, "article xpath '//only-here-3'"))
    assert other.match_one(event(article="<only-here-3/>")).tolist() == [0]
    del matcher
    gc.collect()
    assert other.match_one(event(article="<only-here-3 a='1'/>")).tolist() == [0]
    assert [number for number in range(5) if f"//only-here-{number}" in SHARED_PATHS] == [3]
