"""Word patterns on the default algorithm: worked examples, as plans, one by one and as text."""

from __future__ import annotations

from itertools import islice, product
from pathlib import Path
from time import process_time

import pytest

from tidings.events import Event, EventBatch, validate
from tidings.language import Filter, Subscription
from tidings.matching.boxes.box import Verify, boxes_of
from tidings.matching.boxes.filter_batch import FilterBatch
from tidings.matching.explain import TooManySteps, explain
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.naive_matcher import NaiveMatcher
from tidings.matching.plan.folder import open_plan, save_plan
from tidings.schema import Catalog

SCHEMA = Catalog.from_dict(
    {
        "domains": [{"name": "string", "kind": "string"}, {"name": "text", "kind": "text", "language": "english"}],
        "attributes": [
            {"name": "author", "domain": "string"},
            {"name": "title", "domain": "text"},
            {"name": "notes", "domain": "text"},
        ],
        "event_types": [
            {
                "name": "any",
                "attributes": [
                    {"name": "author", "mandatory": False},
                    {"name": "title", "mandatory": False},
                    {"name": "notes", "mandatory": False, "unique": False},
                ],
            }
        ],
    }
)


def event(**attributes: object) -> Event:
    return validate({"id": "e", "event_type": "any", "attributes": attributes}, SCHEMA)


PAPER = "author = 'Koubarakis' and title contains (Boolean <[1,5] Proximity)"  # thesis 2.2
CASES = [
    (PAPER, event(author="Koubarakis", title="Boolean and proximity operators"), True),
    (PAPER, event(author="Koubarakis", title="Proximity and Boolean operators"), False),
    (PAPER, event(author="Another", title="Boolean and proximity operators"), False),
    ("title contains (red)", event(title="Red!"), True),
    ("title contains (red)", event(title="reddish"), False),
    ("title contains (red*)", event(title="a reddish one"), True),
    ("title contains (reddis*)", event(title="a reddish one"), True),
    ("title contains (runs~)", event(title="running"), True),
    ("title contains (runs~ or red* or x)", event(title="reddish"), True),
    ("title contains (red or blue)", event(title="blue"), True),
    ("title contains (red and not blue)", event(title="red blue"), False),
    ("title contains (red and not blue)", event(title="red"), True),
    ("title contains (not blue)", event(title=""), True),
    ("title contains (not blue)", event(author="x"), False),
    ("title not contains (red and blue)", event(title="red"), True),
    ("title not contains (red and not blue)", event(title="red blue"), True),
    ("title not contains (red or blue)", event(title="red"), False),
    ("title not contains (red)", event(author="x"), False),
    ("notes contains (red and blue)", event(notes=["red", "blue"]), False),
    ("notes contains (red and blue)", event(notes=["x", "blue red"]), True),
    ("notes contains (red) and notes contains (blue)", event(notes=["red", "blue"]), True),
    ("notes contains (red and not blue)", event(notes=["red", "blue"]), True),
    ('notes not contains ("red blue")', event(notes=["red", "blue"]), True),
    ('notes not contains ("red blue")', event(notes=["a red blue b", "blue"]), False),
    ("title contains (at least 2 of (red, blue, green))", event(title="green red"), True),
    ("title contains (at least 2 of (red, blue, green))", event(title="green"), False),
]


def test_every_case_by_kernel_by_merge_by_plan_by_text_and_by_specification(tmp_path: Path) -> None:
    boxes, naive, bulk = BoxMatcher(SCHEMA, 1), NaiveMatcher(SCHEMA), BoxMatcher(SCHEMA, 1)
    ids, texts = [f"{number:02}" for number in range(len(CASES))], [text for text, _, _ in CASES]
    for id, text in zip(ids, texts, strict=True):
        subscription = Subscription(id, Filter.parse(text, SCHEMA))
        for matcher in (boxes, naive):
            matcher.add(subscription)
        boxes.settled_segments()  # each in a segment of its own, to be merged
    batch = EventBatch.of([one for _, one, _ in CASES], SCHEMA)
    expected = [[naive.id(n) for n in naive.match(batch).of(row).tolist()] for row in range(len(batch))]
    for row, (text, _, holds) in enumerate(CASES):
        assert (ids[row] in expected[row]) is holds, text
    bulk.add_batch(ids, FilterBatch.of_texts(texts, SCHEMA), 0)
    boxes.merge()
    save_plan(boxes, tmp_path / "plan", None)
    for matcher in (boxes, open_plan(tmp_path / "plan", 1), bulk):
        found = matcher.match(batch)
        assert [sorted(matcher.id(n) for n in found.of(row).tolist()) for row in range(len(batch))] == expected
        alone = [sorted(matcher.id(n) for n in matcher.match_one(one).tolist()) for _, one, _ in CASES]
        assert alone == expected


def test_one_required_word_needs_no_test_of_the_text() -> None:
    def is_tested(text: str) -> bool:
        residuals = [one for box in boxes_of(Filter.parse(text, SCHEMA), SCHEMA) for one in box.residuals]
        assert Verify() not in residuals  # nothing is left to Python
        return bool(residuals)

    assert not is_tested("title contains (red)")
    assert not is_tested("title contains (red* or blue or runs~)")
    assert is_tested("title contains (red and blue)")
    assert is_tested('title contains ("red blue")')
    assert is_tested("title contains (not blue)")


def test_words_of_a_pattern_are_marked() -> None:
    made = explain(Filter.parse("title contains (runs~ near[3] red*)", SCHEMA), event(title="Reddish, I run"), SCHEMA)
    (finding,) = made.alternatives[0].findings
    assert [(mark.start, mark.end) for mark in finding.marks] == [(0, 7), (11, 14)]
    assert finding.note == "'reddish' is word 1, 'run' is word 3"


def test_a_long_text_is_explained_word_by_word() -> None:
    """50,000 different words and 256 stems: compared in pairs, they took a minute."""
    text = " ".join(map("".join, islice(product("abcdefghijklmnopqrstuvwxyz", repeat=4), 50_000)))
    filter = Filter.parse(f"title contains ({' or '.join(f'w{n}ing~' for n in range(256))})", SCHEMA)
    started = process_time()
    assert not explain(filter, event(title=text), SCHEMA).matches
    assert process_time() - started < 5


def test_a_text_takes_steps_by_its_length() -> None:
    filter = Filter.parse("title contains 'x' or title contains 'y'", SCHEMA)
    explain(filter, event(title="a " * 1_000), SCHEMA, most_steps=1_010)
    with pytest.raises(TooManySteps):
        explain(filter, event(title="a " * 1_100), SCHEMA, most_steps=1_010)


def test_words_of_several_values_are_told_by_value() -> None:
    made = explain(Filter.parse("notes contains (red)", SCHEMA), event(notes=["x", "a red one"]), SCHEMA)
    assert made.alternatives[0].findings[0].note == "'red' is word 2 of value 2"
    many = explain(Filter.parse("notes contains (red)", SCHEMA), event(notes=["red " * 30]), SCHEMA)
    assert many.alternatives[0].findings[0].note.endswith("'red' is word 8, …")


def test_how_similar_a_text_is_and_the_words_in_common() -> None:
    made = explain(Filter.parse("title ~ 'runs home' at least 0.6", SCHEMA), event(title="I run, home!"), SCHEMA)
    (finding,) = made.alternatives[0].findings
    assert finding.holds
    assert finding.note == "similarity 0.816"
    assert [(mark.start, mark.end) for mark in finding.marks] == [(2, 5), (7, 11)]
