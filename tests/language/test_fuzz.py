"""Whatever text is given as a filter: a filter or a LanguageError comes out, and nothing else."""

import pytest

from tests.mutations import mutated, resident
from tidings.errors import LanguageError
from tidings.language import Filter, parse, print_filter
from tidings.language.tokens import KEYWORDS
from tidings.schema import Attribute, AttributeUse, Catalog, Domain, EventType, Hierarchy, Kind

pytestmark = pytest.mark.slow

INPUTS = 100_000
WARM = 20_000  # inputs after which memory must not grow any more
MOST_GROWTH = 32 << 20  # bytes
CATALOG = Catalog(
    (
        Domain("n", Kind.NUMERIC),
        Domain("s", Kind.STRING),
        Domain("e", Kind.ENUMERATED, values=("red", "b c", "price"), ordered=True),
        Domain("h", Kind.HIERARCHICAL, hierarchy=Hierarchy(("a", "b", "c"), (-1, 0, 1))),
        Domain("x", Kind.TEXT),
        Domain("t", Kind.TIME),
    ),
    (Attribute("price", "n"), *(Attribute(name, name) for name in "nsehxt"), Attribute("odd name", "n")),
    (EventType("car", (AttributeUse("price"), AttributeUse("s", unique=False))),),
)
CORPUS = [
    "event_type contains 'car' and price <= 1300.5 and s contains any 'red mini'",
    "not (price < 3 or price > 5) and e = red or e in ('red', 'b c')",
    'n between -1e3 and 2.5 and "odd name" >= n and h under b',
    "t >= '2026-05-01T10:00:00Z' and t < '2026-05-02' and s exists",
    "x contains all 'some free text' and not x contains 'word'",
    "s = 'it''s' and s != '' and not (s exists)",
    "(price = 1 and (n = 2 or (n = 3 and not (e != red))))",
    "event.id = 'x' and event.time < '2026-05-01' and price = n",
    "h <= 'a' or h not in ('b', 'c') or price not between 1 and 2",
]
_TEXT = """
= != < <= > >= <> == ~ ( ) , [ ] ' " '' price n s e h x t red 'red' 1 -1 1.5 .5 1e999 1e-400 +0 nan ٣ ﬁ
event_type event.time '2026-05-01' '9999-12-31T23:59:59-14:00' (((( ))))
"""
WORDS = [
    *_TEXT.split(),
    *sorted(KEYWORDS),
    *("9" * 400, "not not", "\n", "\t", " ", "", '""'),
]


def test_filters() -> None:
    made = refused = start = 0
    told: set[bool] = set()
    for number, text in enumerate(mutated(CORPUS, WORDS, INPUTS, seed=20261115)):
        if number == WARM:
            start = resident()
        try:
            tree = parse(text)
            filter = Filter.parse(text, CATALOG)
        except LanguageError as problem:
            refused += 1
            told.add(bool(str(problem)) and 0 <= problem.offset <= len(problem.text))
        else:
            made += 1
            assert parse(print_filter(tree)) == tree
            assert Filter.parse(filter.text, CATALOG).text == filter.text
    assert resident() - start < MOST_GROWTH
    assert told == {True}
    assert made > 5_000
    assert refused > 5_000
