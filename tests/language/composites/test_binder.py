"""Composites against a schema."""

import pytest

from tests.strategies.composites import AUCTIONS
from tests.strategies.filters import RICH
from tidings.errors import LanguageError, WrongArgument
from tidings.language import errors as filter_errors
from tidings.language.composites import errors
from tidings.language.composites.bound import BoundComposite
from tidings.language.composites.tree import Before
from tidings.language.tree import AttributeComparison, Comparison, Contains, LinearComparison
from tidings.schema.catalog import Catalog
from tidings.schema.values import Span

BIG = "[event_type contains bid and price > 100] as big"
GONE = "[event_type contains withdrawal] as w"


def conditions(text: str) -> list[object]:
    tree = BoundComposite.parse(f"{BIG} before {GONE} within 10 min where {text}", AUCTIONS).composite.tree
    assert isinstance(tree, Before)
    return [condition.comparison for condition in tree.where]


def test_leaves_are_bound_and_equal_filters_are_one() -> None:
    bound = BoundComposite.parse("[outcome = refused]{3} before [outcome = accepted] within 1 min by user", AUCTIONS)
    assert [filter.text for filter in bound.filters] == ["outcome = 'refused'", "outcome = 'accepted'"]
    assert bound.text == (
        "[outcome = 'refused'] before [outcome = 'refused'] before [outcome = 'refused'] before "
        "[outcome = 'accepted'] within 1 min by user"
    )
    assert bound.warnings == ()


def test_conditions_are_bound_like_comparisons_of_a_filter() -> None:
    assert conditions("big.auction = w.auction") == [AttributeComparison("auction", "=", "auction")]
    assert conditions("w.price > 1.5 * big.price") == [LinearComparison("price", ">", 1.5, "price", 0)]
    assert conditions("w.outcome = refused") == [Comparison("outcome", "=", "refused")]
    assert conditions("w.event.time < big.event.time + 5 min") == [
        LinearComparison("event.time", "<", 1, "event.time", Span(300_000_000))
    ]


def test_warnings_name_the_part() -> None:
    bound = BoundComposite.parse("[price > 5 and price < 3] or [price > 1]", AUCTIONS)
    (warning,) = bound.warnings
    assert warning.startswith("[price > 5 and price < 3]: this filter can never match")


def test_a_condition_on_what_the_events_of_a_part_do_not_have() -> None:
    bound = BoundComposite.parse(f"{BIG} before {GONE} within 1 h where w.price > big.price", AUCTIONS)
    assert bound.warnings == ("events of the part 'w' do not have 'price': no comparison with it can hold",)


@pytest.mark.parametrize(
    ("where", "column", "kind"),
    [
        ("big.auctoin = w.auction", 7, filter_errors.UnknownAttribute),
        ("big.auction = w.auctoin", 21, filter_errors.UnknownAttribute),
        ("big.auction = w.price", 7, filter_errors.NotComparable),
        ("big.price > 'five'", 19, filter_errors.ValueOutsideDomain),
        ("big.outcome < w.outcome", 19, filter_errors.OperatorNotAllowed),
        ("big.auction = w.auction + 1", 21, filter_errors.NotForThisKind),
        ("big.price > w.price + 1 h", 19, filter_errors.WrongSummand),
        ("big.price > limit", 19, filter_errors.UnknownWord),
        ("big.price > price", 19, filter_errors.UnexpectedToken),
        ('big.price > "price"', 19, filter_errors.UnexpectedToken),
        ("big.price > gone.price", 19, errors.UnknownPart),
        ("big.ends > now", 7, errors.NotInWhere),
    ],
)
def test_refused_conditions(where: str, column: int, kind: type[LanguageError]) -> None:
    text = f"{BIG} before {GONE} within 10 min\nwhere {where}"
    with pytest.raises(kind) as refused:
        BoundComposite.parse(text, AUCTIONS)
    assert (refused.value.line, refused.value.column) == (2, column)


def test_a_filter_in_brackets_is_refused_at_its_place() -> None:
    with pytest.raises(filter_errors.UnknownAttribute) as refused:
        BoundComposite.parse("[price > 1] before [prize > 1] within 1 s", AUCTIONS)
    assert (refused.value.column, refused.value.name) == (21, "prize")
    assert "did you mean 'price'" in str(refused.value)


def by(text: str, catalog: Catalog = AUCTIONS) -> None:
    BoundComposite.parse(text, catalog)


@pytest.mark.parametrize(
    "text",
    [
        f"{BIG} before {GONE} within 1 min by auction, bidder",
        "[price > 1] before [bidder = 'x'] within 1 min by auction",
        "[event_type contains bid or event_type contains login] before [auction exists] within 1 min by auction",
        "[event_type contains bid and user = 'x'] or [outcome = accepted] by user",
        "[event_type in (bid, login)] or [user exists] by user",
        "[event.source = 'site'] or [event.id = '1'] by user",
        "[price > 1] or [user = 'x'] by event.source",
    ],
)
def test_parts_that_can_have_the_attribute(text: str) -> None:
    by(text)


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        (
            "[event_type contains bid] before [event_type contains login] within 1 min by auction",
            34,
            "'by' needs 'auction' of every part, but events of type 'login' do not have it: "
            "[event_type contains 'login']; event types that have it: offer, bid, withdrawal; where such an event has "
            "another type too, add 'and auction exists' to the part",
        ),
        (
            "[price > 1] unless [outcome = accepted] within 1 min by bidder",
            20,
            "'by' needs 'bidder' of every part, but its events do not have it: [outcome = 'accepted']; event types "
            "that have it: bid, withdrawal; where such an event has another type too, add 'and bidder exists' to the "
            "part",
        ),
        (
            "[not (user exists)] or [user exists] by user",
            1,
            "'by' needs 'user' of every part, but its events do not have it: [not (user exists)]; event types that "
            "have it: login; where such an event has another type too, add 'and user exists' to the part",
        ),
        (
            "[every 5 min] and [price > 1] within 1 min by auction",
            1,
            "'by' needs 'auction' of every part, but time events have no attributes: [every 5 min]; leave 'by' out",
        ),
    ],
)
def test_a_part_without_the_attribute_of_by(text: str, column: int, message: str) -> None:
    with pytest.raises(errors.NotBoundByPart) as refused:
        by(text)
    assert refused.value.column == column
    assert refused.value.problem() == message


def test_by_an_unknown_attribute() -> None:
    with pytest.raises(filter_errors.UnknownAttribute) as refused:
        by("[price > 1] or [price < 0] by auction, biddr")
    assert (refused.value.column, refused.value.name) == (40, "biddr")


def test_a_time_event_has_only_its_envelope() -> None:
    text = "[every 5 min] as tick before [price > 1] as p within 1 min where p.event.time > tick.event.time + 1 s"
    BoundComposite.parse(text, AUCTIONS)
    with pytest.raises(errors.NotOfTimeEvents) as refused:
        BoundComposite.parse("[every 5 min] as tick before [price > 1] within 1 min where tick.price = 1", AUCTIONS)
    assert refused.value.column == 61


def test_growth_does_not_change_what_it_means() -> None:
    bound = BoundComposite.parse(
        "[colour = blue] as a before [desk exists] as b within 1 s where a.colour = blue", RICH
    )
    assert bound.text == ("[colour = 'blue'] as a before [desk exists] as b within 1 s where a.colour = 'blue'")


def test_the_distinguished_attribute() -> None:
    (filter,) = BoundComposite.parse("[event_type contains bid]", AUCTIONS).filters
    assert filter.tree == Contains("event_type", "bid")


def test_what_is_not_text() -> None:
    with pytest.raises(WrongArgument, match="text must be text"):
        BoundComposite.parse(5, AUCTIONS)  # type: ignore[arg-type]
