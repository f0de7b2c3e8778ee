"""Text to tree: the forms of the language, and every refusal with its place."""

import pickle

import pytest

from tidings.errors import LanguageError
from tidings.language.composites import errors
from tidings.language.composites.limits import LIMITS, CompositeLimits
from tidings.language.composites.parser import parse
from tidings.language.composites.tree import (
    Absent,
    Before,
    Both,
    Composite,
    Condition,
    Either,
    Leaf,
    Nth,
    Part,
    Root,
    Select,
    Times,
    Unless,
    Without,
    leaves,
    operands,
    visible,
)
from tidings.language.tree import AttributeComparison, Comparison, LinearComparison, Word
from tidings.schema.values import UNITS, Instant, Span

MINUTE = Span(UNITS["min"])


def part(number: int, name: str | None = None) -> Leaf:
    return Leaf(Comparison("p", "=", number), name)


A, B, C = part(1), part(2), part(3)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("[p=1]", A),
        ("([p=1])", A),
        ("[p=1] or [p=2]", Either(A, B)),
        ("[p=1] or [p=2] or [p=3]", Either(Either(A, B), C)),
        ("[p=1] before [p=2] within 1 min", Before(A, B, MINUTE)),
        ("[p=1] and [p=2] within 1 min", Both(A, B, MINUTE)),
        ("[p=1] together with [p=2]", Both(A, B, Span(1_000_000))),
        ("[p=1] together with [p=2] within 2 s", Both(A, B, Span(2_000_000))),
        ("[p=1] before [p=2] without [p=3] within 1 min", Before(A, B, MINUTE, without=Without(C))),
        ("[p=1] unless [p=3] within 1 min", Unless(A, Without(C), MINUTE)),
        ("nth([p=1], 3)", Nth(A, 3)),
        ("times([p=1], 3) within 1 min", Times(A, 3, MINUTE)),
        ("absent([p=1]) within 1 min", Absent(A, MINUTE)),
        ("[p=1] before [p=2] before [p=3] within 1 min", Before(Before(A, B, MINUTE), C, MINUTE)),
        ("[p=1]{3} within 1 min", Before(Before(A, A, MINUTE), A, MINUTE)),
        ("[p=2] before [p=1]{2} within 1 min", Before(Before(B, A, MINUTE), A, MINUTE)),
        (
            "[p=1] before [p=2] without [p=3] before [p=3] within 1 min",
            Before(Before(A, B, MINUTE, without=Without(C)), C, MINUTE),
        ),
        (
            "[p=1] before [p=2] within 1 min select last, 3 consume unique evaluate final",
            Before(A, B, MINUTE, Select("last", 3), unique=True, final=True),
        ),
        (
            "[p=1] before [p=2] before [p=3] within 1 min select first, all consume unique",
            Before(Before(A, B, MINUTE, Select(1, "all"), unique=True), C, MINUTE, Select(1, "all"), unique=True),
        ),
        (
            "times([p=1], 2) within 1 min before nth([p=2], 2) within 1 min",
            Before(Times(A, 2, MINUTE), Nth(B, 2), MINUTE),
        ),
        (
            "nth([p=1] or ([p=2] and [p=3] within 1 min), 2) within 1 min",
            Nth(Either(A, Both(B, C, MINUTE)), 2, MINUTE),
        ),
        ("nth([p=1] and [p=2] within 1 min, 2) within 1 min", Nth(Both(A, B, MINUTE), 2, MINUTE)),
    ],
)
def test_forms(text: str, tree: Root) -> None:
    assert parse(text) == Composite(tree)


def test_options_of_the_whole() -> None:
    read = parse("[p=1] before [p=2] within 1 min by auction, bidder start '2026-05-01T02:00:00+02:00' for 1.5 day")
    assert (read.by, read.start, read.span) == (
        ("auction", "bidder"),
        Instant.parse("2026-05-01"),
        Span(1.5 * UNITS["day"]),
    )


def where(text: str) -> tuple[Condition, ...]:
    tree = parse(f"[p=1] as a before [p=2] as b within 1 min where {text}").tree
    assert isinstance(tree, Before)
    return tree.where


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("a.x = b.y", Condition("a", AttributeComparison("x", "=", "y"), "b")),
        ("b.price > 1.5 * a.price + 2", Condition("b", LinearComparison("price", ">", 1.5, "price", 2), "a")),
        ("b.price > 1 * a.price", Condition("b", AttributeComparison("price", ">", "price"), "a")),
        (
            "b.event.time < a.ends - 1 h",
            Condition("b", LinearComparison("event.time", "<", 1, "ends", Span(-60 * MINUTE)), "a"),
        ),
        ("a.x != 5", Condition("a", Comparison("x", "!=", 5))),
        ("a.x != red", Condition("a", Comparison("x", "!=", Word("red")))),
        ("a.x = 'b.y'", Condition("a", Comparison("x", "=", "b.y"))),
        ("a.x = c.y", Condition("a", Comparison("x", "=", Word("c.y")))),  # binding finds out
        ('a."zip code" = b.not', Condition("a", AttributeComparison("zip code", "=", "not"), "b")),
    ],
)
def test_conditions(text: str, condition: Condition) -> None:
    assert where(text) == (condition,)


def test_each_condition_of_a_chain_is_tested_at_the_first_step_that_knows_its_names() -> None:
    text = "[p=1] as a before [p=2] as b before [p=3] as c within 1 min where c.x = a.x and a.x > 1 and b.x = a.x"
    tree = parse(text).tree
    assert isinstance(tree, Before)
    assert isinstance(tree.left, Before)
    assert [condition.parts for condition in tree.left.where] == [("a",), ("b", "a")]
    assert [condition.parts for condition in tree.where] == [("c", "a")]


def test_a_condition_on_what_must_not_happen_says_which_count() -> None:
    tree = parse("[p=1] as a before [p=2] as b without [p=3] as c within 1 min where c.x = a.x and a.x = b.x").tree
    assert isinstance(tree, Before)
    assert tree.without is not None
    assert [condition.parts for condition in tree.without.where] == [("c", "a")]
    assert [condition.parts for condition in tree.where] == [("a", "b")]
    unless = parse("[p=1] as a unless [p=3] as c within 1 min where a.x > 1 and c.x = a.x").tree
    assert isinstance(unless, Unless)
    assert [condition.parts for condition in unless.where] == [("a",)]
    assert [condition.parts for condition in unless.without.where] == [("c", "a")]


def test_names_that_are_visible() -> None:
    tree = parse(
        "(times([p=1] as a, 2) within 1 s or [p=2] as b) before (nth([p=3] as c, 2) unless [p=4] as d within 1 s)"
        " without [p=5] as e within 1 min"
    ).tree
    assert visible(tree) == ("b", "c")
    assert [leaf.name for leaf in leaves(tree)] == ["a", "b", "c", "d", "e"]
    assert len(operands(tree)) == 3


REFUSED = [
    ("[p=1] before [p=2]", 19, errors.FrameMissing),
    ("[p=1] and [p=2] select all, all", 32, errors.FrameMissing),
    ("times([p=1], 2)", 16, errors.FrameMissing),
    ("absent([p=1])", 14, errors.FrameMissing),
    ("[p=1] before times([p=2], 2) within 1 s", 40, errors.FrameMissing),
    ("[p=1] before [p=2] within 0 s", 27, errors.FrameOutOfBounds),
    ("[p=1] before [p=2] within -1 s", 27, errors.FrameOutOfBounds),
    ("[p=1] before [p=2] within 53 week", 27, errors.FrameOutOfBounds),
    ("[p=1] for 0 day", 11, errors.FrameOutOfBounds),
    ("absent([p=1]) within 999 ms", 15, errors.AbsenceTooShort),
    ("[p=1] before [p=2] within 5 hours", 29, errors.UnknownUnit),
    ("[p=1] before [p=2] and [p=3] within 1 s", 20, errors.MixedOperators),
    ("[p=1] unless [p=2] unless [p=3] within 1 s", 20, errors.MixedOperators),
    ("[p=1] before [p=2] within 1 s before [p=3] within 1 s", 31, errors.MixedOperators),
    ("[p=1]{2} or [p=2]", 10, errors.MixedOperators),
    ("[p=1] within 1 s", 7, errors.OptionMeansNothing),
    ("[p=1] or [p=2] within 1 s", 16, errors.OptionMeansNothing),
    ("[p=1] or [p=2] select all, all", 16, errors.OptionMeansNothing),
    ("[p=1] as a or [p=2] where a.x = 1", 21, errors.OptionMeansNothing),
    ("nth([p=1], 2) within 1 s", 15, errors.OptionMeansNothing),
    ("times([p=1], 2) within 1 s consume unique", 28, errors.OptionMeansNothing),
    ("[p=1] unless [p=2] within 1 s evaluate final", 31, errors.OptionMeansNothing),
    ("[p=1] and [p=2] without [p=3] within 1 s", 17, errors.OptionMeansNothing),
    ("absent([p=1]) within 1 s select all, all", 26, errors.OptionMeansNothing),
    ("[p=1] before [p=2] select all, all within 1 s", 36, errors.OptionOutOfOrder),
    ("[p=1] before [p=2] within 1 s within 2 s", 31, errors.OptionOutOfOrder),
    ("[p=1] before [p=2] within 1 s without [p=3]", 31, errors.OptionOutOfOrder),
    ("[p=1] start '2026-05-01' by a", 26, errors.OptionOutOfOrder),
    ("[p=1] before [p=2] within 1 s by a select all, all", 36, errors.OptionOutOfOrder),
    ("nth([p=1], 0)", 12, errors.WrongCount),
    ("times([p=1], 10001) within 1 s", 14, errors.WrongCount),
    ("times([p=1], 2.5) within 1 s", 14, errors.WrongCount),
    ("[p=1]{1} within 1 s", 7, errors.WrongCount),
    ("[p=1] before [p=2] within 1 s select newest, all", 38, errors.WrongSelection),
    ("[p=1] before [p=2] within 1 s select last", 42, errors.WrongSelection),
    ("[p=1] before [p=2] within 1 s select 0, all", 38, errors.WrongSelection),
    ("(" * 17 + "[p=1]" + ")" * 17, 17, errors.CompositeTooDeep),
    ("[p=1]{60} before [p=1]{5} within 1 s", 18, errors.TooManyParts),
    ("[p=1] by a, b, c, d, e, f, g, h, i", 34, errors.TooManyInBy),
    ("[p=1] as a or [p=2] as a", 24, errors.PartNameTaken),
    ("[p=1] as within before [p=2] within 1 s", 10, errors.WrongPartName),
    ("[p=1] as a.b", 10, errors.WrongPartName),
    ('[p=1] as "a b"', 10, errors.WrongPartName),
    ("[p=1] as a {2} within 1 s", 12, errors.WrongRepeat),
    ("[p=1] and [p=2]{2} within 1 s", 7, errors.WrongRepeat),
    ("[p=1] before [p=2]{2} without [p=3] within 1 s", 23, errors.WrongRepeat),
    ("[p=1] before absent([p=2]) within 1 s", 14, errors.OnlyAtRoot),
    ("absent([p=1]) within 1 s or [p=2]", 1, errors.OnlyAtRoot),
    ("([p=1] before [p=2] within 1 s by a) or [p=3]", 32, errors.OnlyAtRoot),
    ("[p=1] as a before [p=2] within 1 s where b.x = 1", 42, errors.UnknownPart),
    ("times([p=1] as a, 2) within 1 s and [p=2] within 1 s where a.x = 1", 60, errors.HiddenPart),
    ("[p=1] as a before ([p=2] as b before [p=3] within 1 s where a.x = b.x) within 1 s", 61, errors.HiddenPart),
    ("([p=1] unless [p=2] as b within 1 s) before [p=3] within 1 s where b.x = 1", 68, errors.HiddenPart),
    ("[p=1] as a before [p=2] without [p=3] as c before [p=4] as d within 1 s where c.x = d.x", 79, errors.HiddenPart),
    ("[p=1] as a before [p=2] within 1 s where a.x in (1, 2)", 46, errors.NotInWhere),
    ("[p=1] as a before [p=2] within 1 s where not a.x = 1", 42, errors.NotInWhere),
    ("[p=1] start 'soon'", 13, errors.WrongStart),
    ("[every day at '24:00']", 15, errors.WrongTimeOfDay),
    ("[every day at '09:00' in 'Europe/Sparta']", 26, errors.UnknownZone),
    ("[every 10 ms]", 8, errors.WrongPeriod),
]


@pytest.mark.parametrize(("text", "column", "kind"), REFUSED, ids=[row[0][:60] for row in REFUSED])
def test_refusals(text: str, column: int, kind: type[LanguageError]) -> None:
    with pytest.raises(kind) as refused:
        parse(text)
    assert type(refused.value) is kind
    assert refused.value.column == column
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [
        ("", 1, "a part: a filter in square brackets, '(', 'nth(' or 'times('"),
        ("price > 5", 1, "a part: a filter in square brackets, '(', 'nth(' or 'times('"),
        ("[p=1", 5, "'and', 'or' or ']'"),
        ("[p=1] x", 7, "an operator, an option or the end of the composite"),
        ("([p=1] x", 8, "an operator, an option or ')'"),
        ("[p=]", 4, "a value: a number, a text in single quotes or a name"),
        ("[p=1] together [p=2]", 16, "'with'"),
        ("[p=1] before [p=2] within 5", 28, "a unit of time: ms s min h day week"),
        ("[p=1] before [p=2] within ten min", 27, "a span, e.g. within 10 min"),
        ("[p=1] before [p=2] within 1 s consume all", 39, "'unique'"),
        ("[p=1] before [p=2] within 1 s by", 33, "an attribute, e.g. by auction"),
        ("[p=1] by a, a", 13, "an attribute that is not listed yet"),
        ("[p=1] as a before [p=2] within 1 s where x = 1", 42, "an attribute of a named part, e.g. big.price"),
        (
            "[p=1] as a before [p=2] within 1 s where a.x < 2 * 3",
            52,
            "an attribute of a named part, e.g. big.price, after '*'",
        ),
        ("[every day]", 11, "'at' and a time of day, e.g. every day at '09:00'; else write every 1 day"),
    ],
)
def test_what_was_expected(text: str, column: int, expected: str) -> None:
    with pytest.raises(LanguageError) as refused:
        parse(text)
    assert (refused.value.column, refused.value.expected) == (column, expected)


def test_limits_can_be_set() -> None:
    text = "times([p=1] before [p=2] within 1 h, 3) within 1 h"
    parse(text)
    for smaller in (
        CompositeLimits(depth=0),
        CompositeLimits(parts=1),
        CompositeLimits(frame=MINUTE),
        CompositeLimits(count=2),
    ):
        with pytest.raises(LanguageError):
            parse(text, smaller)
    parse("[p=1] before [p=2] within 366 day")
    parse("(" * LIMITS.depth + "[p=1]" + ")" * LIMITS.depth)


def test_a_chain_of_all_parts_is_one_level() -> None:
    tree: Part | Root = parse(f"[p=1]{{{LIMITS.parts}}} within 1 s").tree
    assert len(list(leaves(tree))) == LIMITS.parts
