"""`starts with`, `ends with` and `like`: the meaning against regular expressions, errors, covering, warnings."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.language import Filter, covers
from tidings.language.errors import FinalBackslash, NotForThisKind, OperatorNotAllowed, SegmentTooLong, UnexpectedToken
from tidings.language.like import fits, fitted, pattern_of
from tidings.language.ranges import beginning_with, contains
from tidings.schema import Catalog

SCHEMA = Catalog.from_dict(
    {
        "domains": [
            {"name": "string", "kind": "string"},
            {"name": "plain", "kind": "string", "operators": ["="]},
            {"name": "text", "kind": "text"},
        ],
        "attributes": [
            {"name": "title", "domain": "string"},
            {"name": "ends", "domain": "string"},
            {"name": "code", "domain": "plain"},
            {"name": "body", "domain": "text"},
        ],
        "event_types": [
            {"name": "any", "attributes": [{"name": name} for name in ("title", "ends", "code", "body")]},
        ],
    }
)
patterns = st.text(st.sampled_from("ab%_"), max_size=8)
values = st.text("ab", max_size=8)


def expression(pattern: str) -> str:
    return "".join({"%": ".*", "_": "."}.get(one, re.escape(one)) for one in pattern)


@given(patterns, st.text("ab%_\n", max_size=10))
def test_like_is_the_regular_expression_that_it_looks_like(pattern: str, value: str) -> None:
    expected = re.fullmatch(expression(pattern), value, re.DOTALL) is not None
    assert fits(pattern_of("like", pattern), value) is expected


@given(patterns, values)
def test_the_places_of_a_pattern_hold_its_segments_in_order(pattern: str, value: str) -> None:
    made = pattern_of("like", pattern)
    places = fitted(made, value)
    if places is not None:
        assert [end - start for start, end in places] == [len(segment) for segment in made.segments]
        assert all(before[1] <= after[0] for before, after in pairwise(places))


@given(patterns, patterns, values)
def test_a_pattern_that_covers_another_fits_all_its_values(wider: str, narrower: str, value: str) -> None:
    one, other = pattern_of("like", wider), pattern_of("like", narrower)
    if one.covers(other) and fits(other, value):
        assert fits(one, value)


@given(st.text("a\ud7ff\ue000\U0010ffff", max_size=3), st.text("ab\0\ud7ff\ue000\U0010ffff", max_size=4))
def test_strings_that_begin_so_are_a_range(prefix: str, value: str) -> None:
    assert contains(beginning_with(prefix), value) is value.startswith(prefix)


def test_a_hostile_pattern_takes_steps_in_proportion_to_the_value() -> None:
    """Trying every place for every segment would take 10^10 steps."""
    value = "a" * 100_000
    assert not fits(pattern_of("like", "%" + "a" * 50_000 + "b%"), value)
    assert not fits(pattern_of("like", "%" + "%".join(["a_a"] * 10) + "%b%"), value)
    assert fits(pattern_of("like", "%" + "a_" * 500 + "%a"), value)


def test_a_backslash_makes_the_next_character_itself() -> None:
    assert fits(pattern_of("like", r"100\% \_\\\a%"), r"100% _\a!")
    assert not fits(pattern_of("like", r"100\%"), "100 x")
    assert not fits(pattern_of("like", r"a\_b"), "axb")
    assert fits(pattern_of("starts", r"\%"), r"\%x")


def warned(text: str) -> tuple[str, ...]:
    return Filter.parse(text, SCHEMA).warnings


@pytest.mark.parametrize(
    ("text", "error", "column", "words"),
    [
        ("title starts 'x'", UnexpectedToken, 14, "expected 'with' after 'starts'"),
        ("title ends with 5", UnexpectedToken, 17, "expected a text in single quotes after 'ends with'"),
        ("title like x", UnexpectedToken, 12, "expected a text in single quotes after 'like'"),
        (r"title like 'x\'", FinalBackslash, 12, r"for the character itself write \\"),
        (f"title like '%a_{'b' * 999}%'", SegmentTooLong, 12, "1,001 characters with a _ among them; at most 1,000"),
        ("body like 'x'", NotForThisKind, 6, "'like' is for string attributes; 'body' is text"),
        ("code starts with 'x'", OperatorNotAllowed, 6, "does not allow 'starts'; it allows = exists"),
    ],
)
def test_mistakes_are_shown_where_they_are(text: str, error: type[Exception], column: int, words: str) -> None:
    with pytest.raises(error) as caught:
        Filter.parse(text, SCHEMA)
    assert words in str(caught.value)
    assert caught.value.column == column  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("wider", "narrower", "expected"),
    [
        ("title starts with 'a'", "title starts with 'ab'", True),
        ("title starts with 'ab'", "title starts with 'a'", False),
        ("title starts with 'a'", "title in ('ab', 'ac')", True),
        ("title starts with 'a'", "title in ('ab', 'b')", False),
        ("title >= 'a'", "title starts with 'a'", True),
        ("title ends with 'z'", "title ends with 'yz'", True),
        ("title ends with 'z'", "title in ('xz', 'z')", True),
        ("title ends with 'z'", "title in ('xz', 'x')", False),
        ("title starts with 'a'", "title like 'ab%z'", True),
        ("title ends with 'z'", "title like 'ab%z'", True),
        ("title like 'a%z'", "title like 'ab%yz'", True),
        ("title like 'a%z'", "title like 'a%y'", False),
        ("title like '%b%'", "title starts with 'abc'", True),
        ("title like '%b%'", "title ends with 'b'", True),
        ("title like '_b%'", "title = 'abc'", True),
        ("title like 'abc'", "title = 'abc'", True),
        ("title like '_'", "title like '%'", False),
        ("title not like 'a%b%c'", "title starts with 'b'", True),
        ("title not like 'a%b%c'", "title not like 'a%c'", True),
        ("title not like 'a%c'", "title not like 'a%b%c'", False),
        ("title not like 'a_c%d'", "title in ('abc', 'x')", True),
        ("title not ends with 'b'", "title ends with 'c'", True),
        ("title like 'a%b' and title > 'x'", "title like 'a%b'", False),
        ("title exists", "title like '%b%'", True),
    ],
)
def test_covering(wider: str, narrower: str, expected: bool) -> None:
    made = [Filter.parse(text, SCHEMA) for text in (wider, narrower)]
    assert covers(*made, SCHEMA) is expected


@pytest.mark.parametrize(
    "text",
    [
        "title starts with 'a' and title starts with 'b'",
        "title ends with 'a' and title ends with 'b'",
        "title starts with 'a' and title not starts with ''",
        "title like 'a%b' and title = 'axc'",
        "title like 'a%bc' and title not like '%b%'",
        "title in ('x', 'y') and title ends with 'z'",
    ],
)
def test_contradictions_are_warned_of(text: str) -> None:
    assert any("can never match" in one for one in warned(text))
    assert not warned("title like 'a%c' and title ends with 'bc'")


def test_the_words_that_open_them_are_names_elsewhere() -> None:
    made = Filter.parse("ends = ends and ends ENDS WITH 'x' and title Like 'a'", SCHEMA)
    assert made.text == "ends = \"ends\" and ends ends with 'x' and title like 'a'"


def test_only_what_is_sought_must_be_short() -> None:
    for pattern in ("%" + "a" * 5_000 + "%", "_" * 5_000 + "%a", "%a%" + "_" * 5_000, "%" + "_" * 1_000 + "%"):
        Filter.parse(f"title like '{pattern}'", SCHEMA)
