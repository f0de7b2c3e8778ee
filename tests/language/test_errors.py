import pickle

import pytest

from tests.strategies.filters import RICH
from tidings.errors import LanguageError
from tidings.language import Filter
from tidings.language import errors as language_errors

WRONG = {
    "price ! 5": "UnexpectedToken",
    "title = 'a": "UnterminatedText",
    "price = 1 and " * 20_000: "FilterTooLong",
    "(" * 200: "NestedTooDeeply",
    " and ".join(["(price = 1 or price = 2)"] * 100): "NormalFormTooLarge",
    " and ".join(["(price = 1 or red = 2)"] * 10 + ["price > 5"] * 1_000): "TooManyPredicates",
    "price < budget and budget < prices and prices < red and red < price": "ComparisonCycle",
    "prise = 5": "UnknownAttribute",
    "colour = bleu": "UnknownWord",
    "colour = red": "AmbiguousWord",
    "colour < 'red'": "OperatorNotAllowed",
    "colour = 'bleu'": "ValueOutsideDomain",
    "price in (budget)": "NeedsValue",
    'colour = "blue"': "DoubleQuotedValue",
    "price = title": "NotComparable",
    "title contains 'a b'": "UnclearWords",
    "price under 5": "NotForThisKind",
    "made < sold + 1e-9 s": "WrongSpan",
    "made < sold + 5": "WrongSummand",
    "spot near (91, 0) within 5 km": "WrongPlace",
    "price cesql 'TRUE'": "OnlyOfEventType",
    "body ~ '!' at least 0.5": "WordlessText",
    "body ~ 'a' at least 1.5": "WrongSimilarity",
    r"title like 'a\'": "FinalBackslash",
    f"title like '%{'_' * 1_001}%'": "SegmentTooLong",
    "title contains (a": "UnbalancedPattern",
    f"title contains ({' or '.join('a' * 300)})": "PatternTooLong",
    "title contains (e-mail)": "WrongWord",
    "title contains (a <[5,1] b)": "WrongGap",
    "title contains (at least 3 of (a, b))": "WrongAtLeast",
    "title contains (a <[0,1] not b)": "UnexpectedToken",
    "title contains (a <[0,1] (b and c))": "WrongOperand",
    "title contains (a~)": "StemWithoutLanguage",
}


def caught(text: str) -> LanguageError:
    with pytest.raises(LanguageError) as found:
        Filter.parse(text, RICH)
    return found.value


@pytest.mark.parametrize(("text", "name"), WRONG.items(), ids=WRONG.values())
def test_each_error_comes_back_from_a_worker_as_it_was(text: str, name: str) -> None:
    error = caught(text)
    assert type(error).__name__ == name
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (str(again), again.args) == (str(error), error.args)
    assert (again.line, again.column, again.expected) == (error.line, error.column, error.expected)


def test_every_error_of_the_room_is_in_the_list() -> None:
    defined = {
        name
        for name, found in vars(language_errors).items()
        if isinstance(found, type) and found.__module__ == language_errors.__name__
    }
    assert defined == set(WRONG.values())


def test_an_error_names_its_place_and_shows_it() -> None:
    assert str(caught("price < 5\n  and prise > 3")) == (
        "line 2, column 7: no attribute 'prise'; did you mean 'price'?\n    and prise > 3\n        ^"
    )


@pytest.mark.parametrize("text", WRONG, ids=WRONG.values())
def test_no_message_is_longer_than_a_few_lines(text: str) -> None:
    assert len(str(caught(text))) < 600
