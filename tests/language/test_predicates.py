"""The table of predicate kinds: every class has its entry, and a kind that only tests have works everywhere."""

import subprocess
import sys
from collections.abc import Iterator
from typing import get_args

import pytest

from tests.strategies.divisible import divisible
from tests.strategies.filters import RICH
from tidings.language import Filter, covers, parse, print_filter
from tidings.language.analysis.satisfiability import never_matches
from tidings.language.predicates import FORMS, KINDS, attributes_of, chosen_attributes
from tidings.language.tokens import KEYWORDS
from tidings.language.tree import AttributeComparison, Exists, Not, Predicate


@pytest.fixture
def with_divisible() -> Iterator[None]:
    with divisible():
        yield


def test_every_predicate_class_has_one_entry() -> None:
    assert set(KINDS) == set(get_args(Predicate))
    assert all(kind.node is node for node, kind in KINDS.items())


def test_every_word_that_begins_a_form_is_a_keyword() -> None:
    assert {opening for opening in FORMS if opening.isalpha()} - KEYWORDS == {
        "near",
        "inside",
        "cesql",
        "cloudevents",
        "checked",
        "translated",
        "starts",
        "ends",
        "like",
    }
    assert FORMS.keys() >= {"=", "in", "between", "contains", "under", "exists"}


def test_a_class_without_an_entry_is_an_error_when_the_table_is_imported() -> None:
    program = (
        "from tidings.schema import Catalog\n"  # tree does not load the table
        "import sys, types\n"
        "package = types.ModuleType('tidings.language'); package.__path__ = [sys.argv[1]]\n"
        "sys.modules['tidings.language'] = package\n"
        "from tidings.language import tree\n"
        "class Forgotten: pass\n"
        "tree.Predicate = tree.Predicate | Forgotten\n"
        "import tidings.language.predicates\n"
    )
    folder = sys.modules["tidings.language"].__path__[0]
    ended = subprocess.run([sys.executable, "-c", program, folder], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "needs one entry here: Forgotten" in ended.stderr


def test_the_attributes_of_a_predicate_and_of_its_negation() -> None:
    related = AttributeComparison("price", "<", "budget")
    assert attributes_of(related) == attributes_of(Not(related)) == ("price", "budget")
    assert chosen_attributes(Not(related)) == ("price", "budget")
    assert attributes_of(Exists("price")) == ("price",)
    assert chosen_attributes(Exists("price")) == ()


@pytest.mark.usefixtures("with_divisible")
@pytest.mark.parametrize("text", ["price divides 3", "price not divides 3", "price divides 3 or price not divides 2"])
def test_a_new_kind_is_read_and_printed(text: str) -> None:
    assert print_filter(parse(text)) == text
    assert Filter.parse(f"not (not ({text}))", RICH).conjunctions == Filter.parse(text, RICH).conjunctions


@pytest.mark.usefixtures("with_divisible")
@pytest.mark.parametrize(
    ("wider", "narrower", "expected"),
    [
        ("price divides 3", "price divides 3", True),
        ("price divides 3", "price divides 3 and price > 5", True),
        ("price not divides 3", "price not divides 3", True),
        ("price > 5", "price divides 3 and price > 7", True),
        ("price divides 3", "price divides 6", False),  # true, but nobody can know
        ("price divides 3", "price not divides 3", False),
        ("price divides 3", "price > 5", False),
        ("price divides 3", "price = 6", False),
        ("price divides 3", "budget divides 3", False),
        ("prices = 6 and prices divides 4", "prices contains 6 and prices divides 4", False),  # {6, 8}
        ("prices = 6", "prices contains 6 and prices divides 4", True),
        ("price exists", "price divides 3", True),
    ],
)
def test_what_must_be_verified_covers_only_what_is_equal(wider: str, narrower: str, expected: bool) -> None:
    assert covers(Filter.parse(wider, RICH), Filter.parse(narrower, RICH), RICH) is expected


@pytest.mark.usefixtures("with_divisible")
def test_what_must_be_verified_may_match() -> None:
    (conjunction,) = Filter.parse("price divides 3 and price > 5", RICH).conjunctions
    assert not never_matches(conjunction, RICH)
    assert Filter.parse("price divides 3 and price > 5", RICH).warnings == ()
    missing, several = Filter.parse("not (prices divides 3)", RICH).warnings
    assert "may be missing" in missing
    assert "may have several values" in several


def test_a_kind_that_was_withdrawn_is_unknown_again() -> None:
    with pytest.raises(Exception, match="expected"):
        parse("price divides 3")
