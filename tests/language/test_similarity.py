"""Similarity: parsed, printed, refused, covered, and its meaning computed by hand."""

from math import log, sqrt

import pytest

from tidings.language import Filter, covers
from tidings.language.analysis.constraints import constraints_of
from tidings.language.analysis.satisfiability import impossible
from tidings.language.errors import NotForThisKind, UnexpectedToken, WordlessText, WrongSimilarity
from tidings.language.similarity import TermCounts, _long, cosine, similar_key, statistics_of, text_of_key, vector
from tidings.schema import Catalog
from tidings.schema.statistics import Statistics

DECLARED = {
    "domains": [
        {"name": "string", "kind": "string"},
        {"name": "story", "kind": "text", "language": "english"},
        {"name": "number", "kind": "numeric"},
    ],
    "attributes": [
        {"name": "title", "domain": "string"},
        {"name": "body", "domain": "story"},
        {"name": "price", "domain": "number"},
    ],
    "event_types": [{"name": "any", "attributes": [{"name": "title"}, {"name": "body"}, {"name": "price"}]}],
}
SCHEMA = Catalog.from_dict(DECLARED)
COUNTED = Statistics("body", 10, {"a": 9, "b": 1, "c": 4})


def test_canonical_text_is_read_again() -> None:
    made = Filter.parse("not (body ~ 'It''s up' AT LEAST .25) and price < 3", SCHEMA)
    assert made.text == "not (body ~ 'It''s up' at least 0.25) and price < 3"
    assert Filter.parse(made.text, SCHEMA) == made


@pytest.mark.parametrize(
    ("text", "error", "column", "said"),
    [
        ("body ~ 'a' at least 1.2", WrongSimilarity, 21, "at most 1, e.g. at least 0.4"),
        ("body ~ 'a' at least 0", WrongSimilarity, 21, "above 0, at most 1"),
        ("body ~ '?!' at least 0.5", WordlessText, 8, "write a text such as"),
        ("body ~ 'a'", UnexpectedToken, 11, "'at least'"),
        ("body ~ a at least 0.5", UnexpectedToken, 8, "in single quotes"),
        ("price ~ 'a' at least 0.5", NotForThisKind, 7, "numeric"),
    ],
)
def test_mistakes_say_what_to_write(text: str, error: type, column: int, said: str) -> None:
    with pytest.raises(error) as caught:
        Filter.parse(text, SCHEMA)
    assert caught.value.column == column
    assert said in str(caught.value)


def test_a_higher_similarity_to_the_same_text_is_covered() -> None:
    def filter(text: str) -> Filter:
        return Filter.parse(text, SCHEMA)

    low, high = filter("body ~ 'a b' at least 0.3"), filter("body ~ 'a b' at least 0.6")
    assert covers(low, high, SCHEMA)
    assert not covers(high, low, SCHEMA)
    assert not covers(filter("body ~ 'a c' at least 0.1"), high, SCHEMA)
    assert covers(filter("not (body ~ 'a b' at least 0.6)"), filter("not (body ~ 'a b' at least 0.3)"), SCHEMA)
    assert covers(filter("body exists"), high, SCHEMA)


def test_the_cosine_by_hand() -> None:
    a, b = log(1 + 11 / 10), log(1 + 11 / 2)
    first = {"a": (1 + log(2)) * a, "b": b}  # "a a b"
    length = sqrt(first["a"] ** 2 + first["b"] ** 2)
    assert vector("A, a b", None, COUNTED) == pytest.approx({term: one / length for term, one in first.items()})
    assert cosine("a a b", "b", None, COUNTED) == pytest.approx(b / length)
    assert cosine("a", "?", None, COUNTED) == 0
    assert cosine("x y", "y x", None, COUNTED) == pytest.approx(1)
    assert cosine("runs", "running", "english", COUNTED) == pytest.approx(1)


def test_without_statistics_all_terms_weigh_the_same() -> None:
    assert cosine("a b", "b c", None, Statistics("body")) == pytest.approx(0.5)


def test_a_key_is_read_again() -> None:
    for text, least in (("a  b ", 0.1), (" 1 2", 1.0), ("a", 1e-9)):
        assert text_of_key(similar_key(text, least)) == (text, least)


def test_what_is_similar_and_not_similar_enough_is_impossible() -> None:
    def is_impossible(text: str) -> bool:
        return impossible(constraints_of(Filter.parse(text, SCHEMA).conjunctions[0], SCHEMA))

    assert is_impossible("body ~ 'a' at least 0.6 and not (body ~ 'a' at least 0.5)")
    assert not is_impossible("body ~ 'a' at least 0.5 and not (body ~ 'a' at least 0.6)")
    assert not is_impossible("body ~ 'a' at least 0.6 and not (body ~ 'b' at least 0.5)")
    assert not is_impossible("not (body ~ 'a' at least 0.6)")


def test_statistics_count_texts_and_travel_with_the_schema() -> None:
    counted = statistics_of("body", ["Bank runs", "bank bank", ""], "english")
    assert counted == Statistics("body", 3, {"bank": 2, "run": 1})
    written = {**DECLARED, "statistics": [{"attribute": "body", "texts": 3, "frequencies": {"bank": 2, "run": 1}}]}
    schema = Catalog.from_dict(written)
    assert schema.statistics_of("body") == counted
    assert Catalog.from_dict(schema.to_dict()) == schema != SCHEMA
    assert "statistics" not in SCHEMA.to_dict()


@pytest.mark.parametrize("wrong", [{"texts": -1}, {"texts": 1, "frequencies": {"a": "b"}}])
def test_wrong_statistics_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(Exception, match=r"statistics\[0\]"):
        Catalog.from_dict({**DECLARED, "statistics": [{"attribute": "body", **wrong}]})


def test_terms_beyond_the_limit_are_forgotten_by_frequency() -> None:
    def counted(most: int) -> Statistics:
        counts = TermCounts(None, most)
        for text in ("a b c", "a b", "a d", "e a", "e f", "f"):
            counts.add(text)
        return counts.statistics("body")

    assert counted(6) == Statistics("body", 6, {"a": 4, "b": 2, "c": 1, "d": 1, "e": 2, "f": 2})
    assert counted(4) == Statistics("body", 6, {"a": 4, "b": 2, "e": 1, "f": 2})  # at the fourth, c, d and e
    assert counted(1) == Statistics("body", 6, {"f": 1})


def test_vectors_of_long_texts_are_not_kept() -> None:
    for number in range(5):
        vector(f"{number} " * 600, None, COUNTED)
    assert _long.cache_info().currsize <= 2
