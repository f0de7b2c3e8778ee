import pytest

from tidings.errors import LanguageError
from tidings.language import parse
from tidings.language.errors import (
    FilterTooLong,
    NestedTooDeeply,
    UnclearWords,
    UnexpectedToken,
    UnterminatedText,
)
from tidings.language.parser import DEEPEST
from tidings.language.tree import (
    And,
    Between,
    Comparison,
    Contains,
    ContainsWords,
    Exists,
    In,
    Name,
    Not,
    Or,
    Word,
)

A, B, C = (Comparison(name, "=", 1) for name in "abc")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("price < 1300", Comparison("price", "<", 1300)),
        ("price != -1.5", Comparison("price", "!=", -1.5)),
        ("price = 1e3", Comparison("price", "=", 1000)),
        ("name = 'it''s'", Comparison("name", "=", "it's")),
        ("brand = mini", Comparison("brand", "=", Word("mini"))),
        ('brand = "mini"', Comparison("brand", "=", Name("mini"))),
        ('"two words" = 1', Comparison("two words", "=", 1)),
        ('"say ""hi""" = 1', Comparison('say "hi"', "=", 1)),
        ('"not" = 1', Comparison("not", "=", 1)),
        ("price between 1 and 2", Between("price", 1, 2)),
        ("price not between 1 and 2", Not(Between("price", 1, 2))),
        ("price in (1, 2, 1.0, 'a')", In("price", (1, 2, "a"))),
        ("price not in (1)", Not(In("price", (1,)))),
        ("tags contains a", Contains("tags", Word("a"))),
        ("tags not contains 'a b'", Not(Contains("tags", "a b"))),
        ("title contains any 'Red, mini RED'", ContainsWords("title", "any", ("red", "mini"))),
        ("title contains all 'red mini'", ContainsWords("title", "all", ("red", "mini"))),
        ("title contains all 'red'", ContainsWords("title", "any", ("red",))),
        ("c under table", Comparison("c", "under", Word("table"))),
        ("c not under table", Not(Comparison("c", "under", Word("table")))),
        ("price exists", Exists("price")),
        ("not (price exists)", Not(Exists("price"))),
    ],
)
def test_each_predicate_of_the_table(text: str, tree: object) -> None:  # section 3
    assert parse(text) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a=1 or b=1 and c=1", Or((A, And((B, C))))),
        ("(a=1 or b=1) and c=1", And((Or((A, B)), C))),
        ("not a=1 and b=1", And((Not(A), B))),
        ("not a=1 or b=1", Or((Not(A), B))),
        ("not (a=1 and b=1)", Not(And((A, B)))),
        ("not not a=1", Not(Not(A))),
        ("a=1 and (b=1 and c=1)", And((A, B, C))),
        ("(a=1 or b=1) or c=1", Or((A, B, C))),
        ("a between 1 and 2 and b=1", And((Between("a", 1, 2), B))),
        ("((a=1))", A),
    ],
)
def test_not_binds_tightest_then_and_then_or(text: str, tree: object) -> None:
    assert parse(text) == tree


def test_keywords_in_capitals_mean_the_same() -> None:
    assert parse("NOT a IN (1) AND b BETWEEN 1 And 2 Or c EXISTS") == parse(
        "not a in (1) and b between 1 and 2 or c exists"
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("9007199254740993", 9007199254740993),  # it stays exact, so that binding can refuse it
        ("1" + "0" * 300, 10**300),
        ("-0.0", 0),
        ("9007199254740992.0", 2**53),
        ("1e300", 1e300),
        ("0" * 500 + "7", 7),
        ("0" * 5000 + "7", 7),
        ("+00000000000000000007", 7),
        ("1e-400", 0),
    ],
)
def test_numbers_at_the_edges(text: str, value: float) -> None:
    tree = parse(f"a = {text}")
    assert isinstance(tree, Comparison)
    assert (tree.value, type(tree.value)) == (value, type(value))


@pytest.mark.parametrize("text", ["1e999", "-1e999", "9" * 310, "9" * 400, "9" * 5000])
def test_a_number_beyond_all_bounds_is_refused(text: str) -> None:
    with pytest.raises(UnexpectedToken, match=r"a number of at most 1\.8e308"):
        parse(f"a = {text}")


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [
        ("", 1, "an attribute, 'not' or '('"),
        ("   ", 4, "an attribute, 'not' or '('"),
        ("5 < price", 1, "an attribute, 'not' or '('"),
        (
            "price",
            6,
            "an operator (= != < <= > >= under near inside in between starts ends like contains ~ xpath exists)",
        ),
        (
            "price 5",
            7,
            "an operator (= != < <= > >= under near inside in between starts ends like contains ~ xpath exists)",
        ),
        ("price == 5", 7, "'='"),
        ("price <> 5", 7, "'!='"),
        ("price <", 8, "a value: a number, a text in single quotes or a name"),
        ("price = and", 9, "a value: a number, a text in single quotes or a name"),
        ("price = 5 5", 11, "'and', 'or' or the end of the filter"),
        ("price = 5)", 10, "'and', 'or' or the end of the filter"),
        ("(price = 5", 11, "'and', 'or' or ')'"),
        ("a in 5", 6, "'('"),
        ("a in ()", 7, "a value: a number, a text in single quotes or a name"),
        ("a in (5", 8, "',' or ')'"),
        ("a in (5,)", 9, "a value: a number, a text in single quotes or a name"),
        ("a between 1 or 2", 13, "'and'"),
        (
            "a not exists",
            7,
            "'under', 'near', 'inside', 'in', 'between', 'starts', 'ends', 'like', 'contains' or 'xpath'",
        ),
        ("a not = 5", 7, "'under', 'near', 'inside', 'in', 'between', 'starts', 'ends', 'like', 'contains' or 'xpath'"),
        ("a contains any b", 16, "words in quotes after 'contains any'"),
        ('"" = 5', 1, "a name between the double quotes"),
        ("a = 1 and", 10, "an attribute, 'not' or '('"),
        (
            "a = 1 and or b = 1",
            11,
            "an attribute, 'not' or '(' (an attribute of that name is written \"or\")",
        ),
        ("[a = 1]", 1, "an attribute, 'not' or '('"),
    ],
)
def test_an_error_says_where_and_what_was_expected(text: str, column: int, expected: str) -> None:
    with pytest.raises(UnexpectedToken) as caught:
        parse(text)
    assert (caught.value.line, caught.value.column, caught.value.expected) == (1, column, expected)


def test_an_error_shows_the_line_with_a_caret() -> None:
    with pytest.raises(LanguageError) as caught:
        parse("price < 5 and\n\tbrand ! 'mini'\nand c = 1")
    assert str(caught.value) == (
        "line 2, column 8: expected an attribute, a value or an operator, found '!'\n  \tbrand ! 'mini'\n  \t      ^"
    )
    assert (caught.value.line, caught.value.column) == (2, 8)


def test_of_a_long_line_only_the_part_around_the_error_is_shown() -> None:
    with pytest.raises(LanguageError) as caught:
        parse("a = 1 and " * 1000 + "b ! " + "and a = 1 " * 1000)
    _, line, caret = str(caught.value).split("\n")
    assert len(line) < 120
    assert line[caret.index("^")] == "!"


def test_an_unterminated_text() -> None:
    with pytest.raises(UnterminatedText, match="line 1, column 8: this text has no closing '"):
        parse("name = 'it''s")


@pytest.mark.parametrize("literal", ["''", "' - '", "'…!'"])
def test_contains_any_without_a_word_is_refused(literal: str) -> None:  # section 6
    with pytest.raises(UnclearWords, match="has no word in it") as caught:
        parse(f"title contains any {literal}")
    assert caught.value.column == 20


@pytest.mark.parametrize("opening", ["(", "not ", "not (", "(not "])
@pytest.mark.parametrize("deep", [DEEPEST + 1, 10_000])
def test_nesting_beyond_the_limit_is_refused_not_a_crash(opening: str, deep: int) -> None:
    with pytest.raises(NestedTooDeeply, match="at most 100 deep"):
        parse(opening * deep + "a = 1")


def test_nesting_up_to_the_limit_is_read() -> None:
    assert parse("(" * DEEPEST + "a = 1" + ")" * DEEPEST) == A
    parse("not (" * DEEPEST + "a = 1" + ")" * DEEPEST)
    parse("(a = 1) and " * 5_000 + "(a = 1)")  # beside each other is not nested


def test_a_filter_of_ten_megabytes_is_refused() -> None:
    with pytest.raises(FilterTooLong):
        parse("a = 1 and " * 1_000_000 + "b = 2")
