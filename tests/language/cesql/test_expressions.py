"""CESQL beyond its conformance suite: mistakes with their place, limits, deep and long expressions, the printer."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.language.cesql.expressions import expression_texts
from tidings.errors import LanguageError
from tidings.language.cesql import evaluate, parse_cesql, passes, print_cesql
from tidings.language.cesql.patterns import matches_pattern
from tidings.language.errors import SegmentTooLong

NAMES = ("a", "b", "missing")
values = st.one_of(st.booleans(), st.integers(-2, 6), st.sampled_from(("", "a", "5", "true", "TRUE", "ab", "a%")))
cloud_events = st.fixed_dictionaries({"a": values, "b": values})


@given(text=expression_texts(NAMES), event=cloud_events)
def test_the_printed_expression_is_the_same_one(text: str, event: dict[str, bool | int | str]) -> None:
    expression = parse_cesql(text)
    printed = print_cesql(expression)
    assert parse_cesql(printed) == expression
    assert print_cesql(parse_cesql(printed)) == printed
    assert evaluate(parse_cesql(printed), event) == evaluate(expression, event)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("not a = b", "NOT a = b"),  # NOT binds tighter than =
        ("(not a) = b", "NOT a = b"),
        ("not (a = b)", "NOT (a = b)"),
        ("a or b and c", "a OR b AND c"),  # one precedence, left to right
        ("a or (b and c)", "a OR (b AND c)"),
        ("1 - (2 - 3)", "1 - (2 - 3)"),
        ("(1 - 2) - 3", "1 - 2 - 3"),
        ("4 -1", "4 - 1"),
        ("- 5", "-(5)"),
        ("--5", "--5"),
        ("(a + b) like 'x'", "(a + b) LIKE 'x'"),
        ("a <> 'it\\'s'", "a != 'it\\'s'"),
        ('a = "x\\\'y\\"z"', 'a = "x\\\'y\\"z"'),
        ("exists SUBJECT", "EXISTS subject"),
        ("concat()", "CONCAT()"),
        ("1abc = 2", "1abc = 2"),
    ],
)
def test_printed(text: str, printed: str) -> None:
    assert print_cesql(parse_cesql(text)) == printed
    assert parse_cesql(printed) == parse_cesql(text)


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("type =", 1, 7, "expected an attribute, a literal, a function or '(', found the end of the expression"),
        ("type = 'a' AND\n(id = 'b'", 2, 10, "expected an operator or ')'"),
        ("type = 'a", 1, 8, "has no closing '"),
        ("id LIKE subject", 1, 9, "expected a pattern in quotes, found 'subject'"),
        ("id NOT = 3", 1, 8, "expected LIKE or IN after NOT"),
        ("id IN ()", 1, 8, "expected an attribute"),
        ("id IN 3", 1, 7, "expected '('"),
        ("a = 2147483648", 1, 5, "2147483648 is outside the integers of CESQL"),
        ("a = -2147483649", 1, 5, "-2147483649 is outside"),
        ("a b", 1, 3, "expected an operator or the end of the expression, found 'b'"),
        ("a ? b", 1, 3, "found '?'"),
        ("EXISTS 'a'", 1, 8, "expected an attribute after EXISTS"),
        ("f(1,)", 1, 5, "found ')'"),
        ("", 1, 1, "the end of the expression"),
    ],
)
def test_a_mistake_is_shown_at_its_place(text: str, line: int, column: int, words: str) -> None:
    with pytest.raises(LanguageError) as raised:
        parse_cesql(text)
    assert (raised.value.line, raised.value.column) == (line, column)
    assert words in str(raised.value)


def test_nesting_has_a_limit() -> None:
    assert evaluate(parse_cesql("(" * 100 + "TRUE" + ")" * 100), {}).value is True
    with pytest.raises(LanguageError, match="at most 100 deep"):
        parse_cesql("(" * 101 + "TRUE" + ")" * 101)
    with pytest.raises(LanguageError, match="at most 100 deep"):
        parse_cesql("ABS(" * 4_000)


def test_length_has_a_limit() -> None:
    with pytest.raises(LanguageError, match="16,385 characters; at most 16,384"):
        parse_cesql("1" * 16_385)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("TRUE" + " AND TRUE" * 1_800, True),
        ("FALSE" + " OR FALSE" * 1_600 + " OR TRUE", True),
        ("NOT " * 4_000 + "TRUE", True),
        ("-" * 4_001 + "1", -1),
        ("1" + " + 1" * 4_000, 4_001),
        ("a = 1" + " OR a = 1" * 1_800, False),
    ],
)
def test_long_chains_do_not_recurse(text: str, value: bool | int) -> None:
    expression = parse_cesql(text)
    assert evaluate(expression, {}).value == value
    assert len(evaluate(expression, {}).errors) <= 8
    assert parse_cesql(print_cesql(expression)) == expression


@pytest.mark.parametrize(
    ("text", "value", "fault"),
    [
        ("2147483647 + 1", 2147483647, "math"),
        ("-2147483648 - 1", -2147483648, "math"),
        ("-2147483648 / -1", 2147483647, "math"),
        ("-(-2147483648)", 2147483647, "math"),
        ("-7 / 2", -3, None),
        ("-7 % 2", -1, None),
        ("7 % -2", 1, None),
        ("'abc' + 1", 1, "cast"),
        ("'9999999999' = 1", False, "cast"),
        ("LENGTH('\U0001f600é')", 2, None),
        ("TRIM('\x1c\u2003a ')", "\x1c\u2003a", None),  # a control character is not white space
        ("missing OR TRUE", False, "missingAttribute"),
        ("TRUE OR missing", True, None),
        ("'a' IN ('a', missing)", False, "missingAttribute"),
        ("SUBSTRING('abc', 2, -1)", "", "functionEvaluation"),
        ("NO_SUCH(1)", False, "missingFunction"),
    ],
)
def test_values_beyond_the_suite(text: str, value: bool | int | str, fault: str | None) -> None:
    outcome = evaluate(parse_cesql(text), {})
    assert (outcome.value, type(outcome.value)) == (value, type(value))
    assert [trouble.fault for trouble in outcome.errors] == ([] if fault is None else [fault])


def test_a_filter_passes_when_it_is_true_without_an_error() -> None:
    assert passes(parse_cesql("a = 1"), {"a": 1})
    assert not passes(parse_cesql("a"), {"a": 1})  # not a Boolean
    assert not passes(parse_cesql("b = 1 OR a = 1"), {"a": 1})  # b is missing
    assert passes(parse_cesql("a = 1 OR b = 1"), {"a": 1})


def slow_match(text: str, pattern: str) -> bool:
    """LIKE without escapes, by its definition."""
    if not pattern:
        return not text
    if pattern[0] == "%":
        return any(slow_match(text[start:], pattern[1:]) for start in range(len(text) + 1))
    return bool(text) and pattern[0] in ("_", text[0]) and slow_match(text[1:], pattern[1:])


def test_like_equals_its_definition() -> None:
    texts = ["".join(letters) for length in range(5) for letters in product("ab\n", repeat=length)]
    for length in range(5):
        for pattern in map("".join, product("ab%_", repeat=length)):
            for text in texts:
                assert matches_pattern(text, pattern) == slow_match(text, pattern), (text, pattern)


def test_a_hostile_pattern_is_matched_in_bounded_time() -> None:
    assert not matches_pattern("a" * 20_000, "%a" * 200 + "b%b")
    assert not matches_pattern("a" * 20_000, "%a_" * 100 + "%b")


def test_functions_make_and_read_only_so_much() -> None:
    def faults(text: str) -> list[str]:
        outcome = evaluate(parse_cesql(text), {"body": "a" * 65_536})
        return [trouble.detail for trouble in outcome.errors]

    many = ", ".join(["body"] * 17)
    assert faults(f"LENGTH(CONCAT({many})) > 5") == ["CONCAT makes at most 1,048,576 characters, not 1,114,112"]
    assert faults("LENGTH(CONCAT_WS(body, " + ", ".join(["'a'"] * 18) + ")) > 5")[0].startswith("CONCAT makes at most")
    calls = " AND ".join(["LENGTH(body) > 5"] * 64)
    assert faults(calls) == []
    assert faults(f"{calls} AND LENGTH(body) > 5") == ["its functions read more than 4,194,304 characters"]
    assert not passes(parse_cesql(f"TRUE OR ({calls} AND LENGTH(body) > 5)"), {"body": "a" * 65_536})


def test_what_would_be_slow_to_find_is_refused() -> None:
    parse_cesql("a LIKE '%" + "b" * 5_000 + "%' AND a LIKE '%" + "_" * 1_000 + "%'")
    with pytest.raises(SegmentTooLong, match=r"1,001 characters with a _ among them; .* write % instead") as caught:
        parse_cesql("a LIKE '%" + "_" * 1_001 + "%'")
    assert caught.value.column == 8
