"""Word patterns: parsed and printed, the thesis's examples, the fast evaluator against the specification, mistakes,
covering and warnings."""

import sys
import unicodedata
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies.patterns import far_chains, long_texts, patterns, texts
from tidings.language import Filter, covers, parse, print_filter
from tidings.language.errors import (
    NestedTooDeeply,
    NotForThisKind,
    PatternTooLong,
    StemWithoutLanguage,
    UnbalancedPattern,
    UnclearWords,
    UnexpectedToken,
    UnterminatedText,
    WrongAtLeast,
    WrongGap,
    WrongOperand,
    WrongWord,
)
from tidings.language.patterns.clauses import clauses_of
from tidings.language.patterns.implication import implies, is_contradiction
from tidings.language.patterns.meaning import fits, holds
from tidings.language.patterns.parser import parse_pattern
from tidings.language.patterns.printer import print_pattern
from tidings.language.patterns.text_words import TextWords
from tidings.language.patterns.tree import Pattern
from tidings.language.tree import ContainsPattern
from tidings.language.words import words_of
from tidings.schema import Catalog

SCHEMA = Catalog.from_dict(
    {
        "domains": [
            {"name": "string", "kind": "string"},
            {"name": "story", "kind": "text", "language": "english"},
            {"name": "number", "kind": "numeric"},
        ],
        "attributes": [
            {"name": "title", "domain": "string"},
            {"name": "body", "domain": "story"},
            {"name": "notes", "domain": "story"},
            {"name": "price", "domain": "number"},
        ],
        "event_types": [
            {
                "name": "any",
                "attributes": [
                    {"name": "title"},
                    {"name": "body"},
                    {"name": "price"},
                    {"name": "notes", "unique": False},
                ],
            }
        ],
    }
)


def pattern(text: str) -> Pattern:
    return parse_pattern(text, 0, len(text))


def matches(text: str, value: str, language: str | None = None) -> bool:
    return holds(pattern(text), words_of(value), language)


@pytest.mark.parametrize(  # thesis 2.2; "≺" is written "<"
    ("text", "value", "expected"),
    [
        ("Information and alert and not DIAS", "an alert on information", True),
        ("Information and alert and not DIAS", "DIAS: an alert on information", False),
        ("Information <[0,0] alert <[1,5] DIAS", "information alert in DIAS", True),
        ("Information <[0,0] alert <[1,5] DIAS", "information alert DIAS", False),
        ("Information <[0,0] alert <[1,5] DIAS", "information on an alert in DIAS", False),
        ("Boolean <[1,5] Proximity", "Boolean and proximity operators", True),
        ("Boolean <[1,5] Proximity", "Boolean proximity", False),
        ("a <[0,0] b <[1,5] c", "a b x b c a b x c", True),
        ("a <[0,0] b <[1,5] c", "a b x x x x x x b x c", False),  # one b must serve both
        ("a <[1,2] b", "a x x x b", False),
        ("a near[1] b", "b x a", True),
        ("a near[1] b", "b x x a", False),
        ('(a or "b c") <[0,0] d', "b c d", True),
        ('(a or "b c") <[0,0] d', "b d", False),
        ('"red w* car"', "a Red wine-car", True),
        ("at least 2 of (a, b and c, not d)", "a", True),
        ("at least 2 of (a, b and c, not d)", "a d", False),
        ('"e-mail"', "E mail", True),
        ('"near" or "AND"', "and", True),
        ("not a", "", True),
    ],
)
def test_worked_examples(text: str, value: str, expected: bool) -> None:
    assert matches(text, value) is expected
    assert TextWords(value, None).satisfies(pattern(text)) is expected


def test_a_stem_is_that_of_the_language() -> None:
    assert matches("runs~", "he was running", "english")
    assert not matches("runs~", "a runner's shoe", "english")
    assert TextWords("he was running", "english").satisfies(pattern('"was runs~"'))


@given(patterns())
def test_what_is_printed_is_read_again(tree: Pattern) -> None:
    assert pattern(print_pattern(tree)) == tree
    text = f"body contains ({print_pattern(tree)}) and price < 3"
    assert print_filter(parse(text)) == text


@settings(max_examples=300)
@given(patterns(), texts())
def test_the_fast_evaluator_agrees_with_the_specification(tree: Pattern, text: str) -> None:
    assert TextWords(text, "english").satisfies(tree) is holds(tree, words_of(text), "english")


@settings(max_examples=100, deadline=None)
@given(far_chains(), long_texts())
def test_the_fast_evaluator_agrees_on_long_texts(tree: Pattern, text: str) -> None:
    assert TextWords(text, "english").satisfies(tree) is holds(tree, words_of(text), "english")


@settings(max_examples=300)
@given(patterns(), texts())
def test_the_clauses_are_needed_and_where_they_are_exact_they_suffice(tree: Pattern, text: str) -> None:
    words = words_of(text)
    clauses, exact = clauses_of(tree)
    fulfilled = all(any(fits(one, word, "english") for one in clause for word in words) for clause in clauses)
    satisfied = holds(tree, words, "english")
    assert fulfilled or not satisfied
    assert not exact or fulfilled is satisfied


@settings(max_examples=300)
@given(patterns(most=4), patterns(most=4), texts())
def test_what_implies_another_never_holds_without_it(narrower: Pattern, wider: Pattern, text: str) -> None:
    words = words_of(text)
    if holds(narrower, words, "english"):
        assert not is_contradiction(narrower, "english")
        assert holds(wider, words, "english") or not implies(narrower, wider, "english")


@pytest.mark.parametrize(
    ("text", "error", "column", "words"),
    [
        ("title contains (red", UnbalancedPattern, 16, "no closing )"),
        ("title contains (red))", UnexpectedToken, 21, "found ')'"),
        ('title contains (red and "mini)', UnterminatedText, 25, "no closing"),
        ("title contains ()", UnexpectedToken, 17, "expected a word"),
        ("title contains (red mini)", UnexpectedToken, 21, "expected 'and', 'or'"),
        ("title contains (red and near)", UnexpectedToken, 25, 'to mean the word, write "near"'),
        ("title contains (red *)", UnexpectedToken, 21, "a word right before it"),
        ('title contains ("red * x")', UnexpectedToken, 17, "a word right before '*'"),
        ('title contains ("")', WrongWord, 17, "has no word in it"),
        ("title contains (e-mail)", WrongWord, 17, 'write it as a phrase: "e-mail"'),
        ("title contains (a <[5,1] b)", WrongGap, 19, "a gap of 5 to 1 words is not possible"),
        ("title contains (a <[0,1001] b)", WrongGap, 19, "j <= 1,000"),
        ("title contains (a near[2000] b)", WrongGap, 19, "j <= 1,000"),
        ("title contains (a < b)", UnexpectedToken, 21, "expected '[', e.g. <[0,5]"),
        ("title contains (a <[0,1] (b and c))", WrongOperand, 26, "joined by 'or'"),
        ("title contains (at least 0 of (a, b))", WrongAtLeast, 26, "at least 1 to 2"),
        ("title contains (at least 3 of (a, b))", WrongAtLeast, 26, "at least 1 to 2"),
        ("title contains (runs~)", StemWithoutLanguage, 17, "has no language"),
        ("price contains (a)", NotForThisKind, 7, "is for string or text attributes"),
        ("title contains 'red*'", UnclearWords, 16, "write a pattern in parentheses, e.g. contains (red*)"),
        (f"title contains ({' and '.join(['a'] * 257)})", PatternTooLong, 17 + 256 * 6, "at most 256 words"),
        (f"title contains ({'(' * 51}a{')' * 51})", NestedTooDeeply, 68, "at most 50 deep"),
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
        ("body contains (a)", "body contains (a and b)", True),
        ("body contains (a and b)", "body contains (a)", False),
        ("body contains (run*)", "body contains (running)", True),
        ("body contains (runs~)", "body contains (running)", True),
        ("body contains (running)", "body contains (run*)", False),
        ("body contains (ru*)", "body contains (run*)", True),
        ('body contains ("b c")', 'body contains ("a b c d" and e)', True),
        ('body contains ("a c")', 'body contains ("a b c")', False),
        ('body contains ("a b c")', 'body contains ("x a b")', False),
        ("body contains (not (a and b))", "body contains (c and not a)", True),
        ("body contains (not a)", "body contains (not (a and b))", False),
        ("body contains (a and b)", 'body contains ("a b")', True),
        ("body contains (a)", "body contains (a <[0,3] b)", True),
        ("body contains (a or b)", "body contains (a <[0,3] c)", True),
        ("body contains (a)", "body contains 'a'", True),
        ("body contains 'a'", "body contains (a and b)", True),
        ("body contains any 'a b'", "body contains (b)", True),
        ("body contains (a and b)", "body contains (a) and body contains (b)", True),
        ("notes contains (a and b)", "notes contains (a) and notes contains (b)", False),
        ("body not contains (a and b)", "body not contains (a)", True),
        ("body not contains (a)", "body not contains (a and b)", False),
        ("title contains (red <[0,0] m*)", "title = 'A red Mini'", True),
        ("title contains (red)", "title in ('A red Mini', 'blue')", False),
        ("body exists", "body contains (a)", True),
    ],
)
def test_covering(wider: str, narrower: str, expected: bool) -> None:
    made = [Filter.parse(text, SCHEMA) for text in (wider, narrower)]
    assert covers(*made, SCHEMA) is expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("body contains (a and not a)", "can never match"),
        ("body contains (running and not run*)", "can never match"),
        ('body contains ("a b") and body not contains (b)', "can never match"),
        ("notes contains (a and not b)", "'notes' may have several values"),
        ("body contains (the)", "most texts contain the word 'the', so"),
        ("body contains (the and of)", "most texts contain the words 'the' and 'of', so"),
        ("body contains (storm or (the and of) or a)", "the words 'the' and 'of', so"),
        ("body contains 'The'", "most texts contain the word 'the', so body contains 'the' says little"),
        ("body contains all 'the of'", "the words 'the' and 'of', so"),
        ("title contains any 'storm the of'", "the word 'the', so"),
    ],
)
def test_warnings(text: str, words: str) -> None:
    assert any(words in one for one in Filter.parse(text, SCHEMA).warnings)
    for quiet in ("(a and not b)", "(the and storm)", "(th* or of~)", "all 'the storm'", "(at least 1 of (the, of))"):
        assert not Filter.parse(f"body contains {quiet}", SCHEMA).warnings


def test_a_pattern_is_told_from_a_place() -> None:
    assert isinstance(parse("a contains (15 and 2)"), ContainsPattern)
    assert not isinstance(parse("a contains (1.5, 2)"), ContainsPattern)
    assert isinstance(parse("a CONTAINS(x)"), ContainsPattern)


def test_hostile_texts_take_steps_in_proportion() -> None:
    """Pairs of places would be 10^10 steps."""
    words = TextWords("a " * 100_000, None)
    assert not words.satisfies(pattern("a <[1000,1000] a near[0] b"))
    assert words.satisfies(pattern("a <[1000,1000] a near[0] a"))
    many = " or ".join(["(a <[0,1] b)"] * 64)
    assert not words.satisfies(pattern(many))


def test_chains_of_groups_take_steps_in_proportion_to_the_text() -> None:
    """128 groups of 87,000 places each: sorted one by one, they took half a minute."""
    words = TextWords("a b c " * 43_000, None)
    started = process_time()
    assert words.satisfies(pattern(" near[5] ".join(["(a or b)"] * 128)))
    assert not words.satisfies(pattern(" <[0,5] ".join(["(a or b)"] * 126) + ' <[9,9] "c c"'))
    assert process_time() - started < 3


@given(st.text(max_size=20))
def test_folding_twice_changes_nothing(text: str) -> None:
    assert [words_of(word) for word in words_of(text)] == [[word] for word in words_of(text)]


def test_every_character_is_a_letter_a_mark_or_a_separator() -> None:
    for code in range(sys.maxunicode + 1):
        one = chr(code)
        category = unicodedata.category(one)
        if category == "Cs":
            continue
        found = words_of(f"a{one}b")
        folded_twice = [words_of(word) for word in found]
        assert folded_twice == [[word] for word in found], hex(code)
        if category == "Cf":
            assert found == ["ab"], hex(code)
        elif unicodedata.is_normalized("NFKC", one) and one.casefold() == one:
            assert (len(found) == 1) is (one.isalnum() or category[0] == "M"), hex(code)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("red_mini", ["red", "mini"]),
        ("in\u00advisible", ["invisible"]),
        ("हिन्दी", ["हिन्दी"]),
        ("ﬁne ①", ["fine", "1"]),
        ("e\u0301 é", ["é", "é"]),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert words_of(text) == words
