"""Patterns in kernels: each step against the specification, words cut as elsewhere, rare words looked up first."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.matching.filter_pool import LOW
from tests.matching.test_patterns import SCHEMA, event
from tests.strategies.patterns import far_chains, long_texts, patterns, texts
from tidings.events import EventBatch
from tidings.language import Filter, Subscription
from tidings.language.patterns.meaning import fits, holds
from tidings.language.patterns.parser import parse_pattern
from tidings.language.patterns.printer import print_pattern
from tidings.language.patterns.text_words import TextWords
from tidings.language.patterns.tree import MOST_WORDS, Pattern, words_in
from tidings.language.words import words_of
from tidings.matching.boxes.box import FitsPattern, boxes_of
from tidings.matching.boxes.box_table import BoxTable
from tidings.matching.boxes.event_table import EventTable
from tidings.matching.boxes.texts.batch_words import words_of_texts
from tidings.matching.boxes.texts.pattern_shape import HEADER, compiled, term_key
from tidings.matching.boxes.texts.place_bits import add_all_lowered, add_all_raised, has_chain_in_bits, rows_for
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.index.rarest import with_rarest_terms
from tidings.schema import Catalog

ENGLISH = "english"
COUNTED = Catalog.from_dict(
    SCHEMA.to_dict() | {"statistics": [{"attribute": "title", "texts": 9, "frequencies": {"run": 8, "red": 2}}]}
)


@settings(max_examples=150, deadline=None)
@given(st.lists(patterns(), min_size=1, max_size=6), st.lists(st.lists(texts(), max_size=3), min_size=1, max_size=4))
def test_equals_the_specification(made: list, values: list[list[str]]) -> None:
    matcher = BoxMatcher(SCHEMA, 1, LOW)
    for number, pattern in enumerate(made):
        printed = print_pattern(pattern)
        for negated in ("", "not "):
            text = f"notes {negated}contains ({printed})"
            matcher.add(Subscription(f"{negated}{number}", Filter.parse(text, SCHEMA)))
    batch = EventBatch.of([event(notes=some) if some else event(title="x") for some in values], SCHEMA)
    found = matcher.match(batch)
    for row, some in enumerate(values):
        ids = sorted(matcher.id(number) for number in found.of(row).tolist())
        true = [any(holds(pattern, words_of(value), ENGLISH) for value in some) for pattern in made]
        expected = [f"{'' if one else 'not '}{number}" for number, one in enumerate(true) if some]
        assert ids == sorted(expected)


@settings(max_examples=60, deadline=None)
@given(st.lists(patterns() | far_chains(), min_size=4, max_size=8), long_texts((600, 2_000)))
def test_equals_the_fast_evaluator_where_words_are_many(made: list, text: str) -> None:
    matcher = BoxMatcher(SCHEMA, 1, LOW)
    for number, pattern in enumerate(made):
        matcher.add(Subscription(str(number), Filter.parse(f"title contains ({print_pattern(pattern)})", SCHEMA)))
    found = matcher.match(EventBatch.of([event(title=text)], SCHEMA)).of(0).tolist()
    words = TextWords(text, ENGLISH)
    assert sorted(map(matcher.id, found)) == [str(n) for n, pattern in enumerate(made) if words.satisfies(pattern)]


@settings(deadline=None)
@given(st.sets(st.integers(0, 255), max_size=9), st.integers(0, 200))
def test_places_are_moved_by_all_distances_up_to_the_greatest(some: set[int], most: int) -> None:
    def moved(widen: Callable[[object, int], None]) -> set[int]:
        number = sum(1 << place for place in some)
        bits = np.frombuffer(number.to_bytes(32, "little"), np.uint64).copy()
        widen(bits, most)
        return {place for place in range(256) if int(bits[place >> 6]) >> (place & 63) & 1}

    assert moved(add_all_raised) == {place + by for place in some for by in range(most + 1)} & set(range(256))
    assert moved(add_all_lowered) == {place - by for place in some for by in range(most + 1)} & set(range(256))


def in_bits(chain: Pattern, text: str) -> bool:
    made, words = compiled(chain, ENGLISH), text.split()
    sought = {term_key(word, ENGLISH): word for word in words_in(chain)}
    places = [[n for n, word in enumerate(words) if fits(sought[term], word, ENGLISH)] for term in made.terms]
    present = [term for term, some in enumerate(places) if some]
    offsets = np.cumsum([0, *(len(places[term]) for term in present)])
    flat = np.array([place for some in places for place in some], np.int32)
    rows = rows_for(0, len(present), offsets, flat)
    holding, _ = has_chain_in_bits(
        rows, np.zeros(MOST_WORDS, np.bool_), np.arange(len(places)), 0, np.array(made.shape), HEADER + 1,
        0, len(present), np.array(present, np.int32), offsets, flat,
    )  # fmt: skip
    return bool(holding)


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("a <[0,0] b <[1,5] c", "a b x b c a b x c", True),
        ("a <[0,0] b <[1,5] c", "a b x x x x x x b x c", False),  # one b must serve both
        ("a <[1,5] b", "a x x x x x x b", False),
        ("a <[1,5] b", "a b", False),
        ("a <[9,80] b", f"{'x ' * 60}a {'x ' * 80}b", True),
        ("a <[9,80] b", f"{'x ' * 60}a {'x ' * 81}b", False),
        ("a near[1] b", "b x a", True),
        ("a near[1] b", "b x x a", False),
        ("a near[70] b", f"{'x ' * 50}b {'x ' * 70}a", True),
        ("a near[70] b", f"{'x ' * 50}b {'x ' * 71}a", False),
        ('(a or "b c") <[0,0] d', "b c d", True),
        ('(a or "b c") <[0,0] d', "b d c", False),
        ('d near[0] (a or "b c")', "b c d", True),
        ('d near[0] (a or "b c")', "b c x d", False),
    ],
)
def test_chains_of_words_here_and_there(text: str, value: str, expected: bool) -> None:
    assert in_bits(parse_pattern(text, 0, len(text)), value) is expected
    assert contains(value, text) is expected


def test_a_phrase_after_many_beginnings() -> None:
    assert contains("a b " * 300 + "b", '"b b"')
    assert not contains("a b " * 300 + "b", '"b b b"')


def contains(value: str, pattern: str) -> bool:
    matcher = BoxMatcher(SCHEMA, 1)
    matcher.add(Subscription("1", Filter.parse(f"title contains ({pattern})", SCHEMA)))
    return len(matcher.match(EventBatch.of([event(title=value)], SCHEMA))) == 1


@settings(max_examples=200, deadline=None)
@given(far_chains(), long_texts())
def test_a_chain_in_bits_equals_the_specification(chain: Pattern, text: str) -> None:
    assert in_bits(chain, text) == holds(chain, text.split(), ENGLISH)


def test_the_worst_patterns_take_steps_in_proportion_to_the_text() -> None:
    """Place by place, each of these took two seconds and more."""
    phrases = " or ".join(f'"{"a " * count}"' for count in range(1, 14))
    prefixes = " or ".join(f"{'a' * count}*" for count in range(1, 7))
    worst = [
        ("a b c ", " near[5] ".join(["(a or b)"] * 128)),
        ("a b c ", " <[0,5] ".join(["(a or b)"] * 126) + ' <[9,9] "c c"'),
        ("a ", f"({phrases}) near[9] ({phrases})"),
        ("a ", " or ".join(["not (a near[1] a)"] * 127)),
        ("a b ", '"' + "a b " * 127 + 'b"'),
        ("aaaaaa ", " near[9] ".join([f"({prefixes})"] * 42)),
    ]
    for words, pattern in worst:
        matcher = BoxMatcher(SCHEMA, 1)
        matcher.add(Subscription("1", Filter.parse(f"title contains ({pattern})", SCHEMA)))
        matcher.match(EventBatch.of([event(title="a")], SCHEMA))  # compiles
        batch = EventBatch.of([event(title=words * (2**18 // len(words)))], SCHEMA)
        started = process_time()
        matcher.match(batch)
        assert process_time() - started < 0.5, pattern[:50]


@given(st.lists(st.text() | st.text("aB1 _-é\u0301\u00adß"), max_size=6))
def test_words_are_cut_as_elsewhere(values: list[str]) -> None:
    found = words_of_texts(pa.array(values, pa.string()))
    for text, value in enumerate(values):
        numbers = found.words[found.ends[text] : found.ends[text + 1]].tolist()
        assert [found.vocabulary[number] for number in numbers] == words_of(value)
    assert len(set(found.vocabulary)) == len(found.vocabulary)


def test_many_words_are_numbered_once() -> None:
    words = [f"w{number}" for number in range(30_000)]
    found = words_of_texts(pa.array([" ".join(words), " ".join(reversed(words))]))
    assert found.vocabulary == words
    assert found.words.tolist() == [*range(30_000), *reversed(range(30_000))]


def test_patterns_of_one_form_share_a_shape() -> None:
    def shape(text: str) -> tuple[int, ...]:
        (box,) = boxes_of(Filter.parse(f"title contains ({text})", SCHEMA), SCHEMA)
        (test,) = [one for one in box.residuals if isinstance(one, FitsPattern)]
        return test.shape

    assert shape("red <[0,3] car and not blue") == shape("old <[0,3] house and not green")
    assert shape("red and blue") == (2, 0)
    assert shape("red <[0,3] car") != shape("red <[0,4] car")


def test_the_rarest_required_word_is_looked_up() -> None:
    def chosen(recent: EventTable | None) -> list[str]:
        made = with_rarest_terms(table, recent)
        return [made.dimensions[0].keys[low - 1] for low in made.low.tolist()]

    filters = ["title contains (government and tax)", "title contains (tax and x and government)"]
    boxes = [box for text in filters for box in boxes_of(Filter.parse(text, SCHEMA), SCHEMA)]
    table = BoxTable.of(list(enumerate(boxes)), SCHEMA)
    batch = EventBatch.of([event(title="government tax"), event(title="government of x"), event(title="x")], SCHEMA)
    seen = EventTable.of(batch, table.dimensions)
    assert chosen(seen) == ["=tax", "=tax"]
    assert chosen(None) == ["=government", "=x"]
    assert np.array_equal(table.low, BoxTable.of(list(enumerate(boxes)), SCHEMA).low)


def test_one_of_several_words_is_not_exchanged_for_a_required_one() -> None:
    pattern = Filter.parse("title contains ((red or blue) and not green)", SCHEMA)
    table = BoxTable.of([(0, box) for box in boxes_of(pattern, SCHEMA)], SCHEMA)
    assert len(table) == 2
    assert with_rarest_terms(table, None).low.tolist() == table.low.tolist()


def test_words_that_are_required_are_not_tested_twice() -> None:
    made = compiled(
        Filter.parse("title contains (red and blue and not green)", SCHEMA).conjunctions[0][0].pattern, None
    )
    assert made.required == ("=red", "=blue")
    assert made.shape[1] == 3  # has green, not
