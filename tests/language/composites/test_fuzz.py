"""Whatever is written, the answer is a composite or a LanguageError with a place inside the text."""

import re
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from tests.strategies.composites import AUCTIONS, composites
from tidings.errors import LanguageError
from tidings.language import Filter
from tidings.language.composites import BoundComposite, print_composite
from tidings.language.composites.amedias import parse_profile
from tidings.language.composites.tree import Composite
from tidings.schema.values import Instant

DEFINED = Instant.parse("2026-05-01T12:00:00Z")
BIDS = [Filter.parse(text, AUCTIONS).tree for text in ("price > 1", "event_type contains bid")]
WORDS = """
[price > 1] | [bidder = 'a'] as a | [price < 5] as b | [every 5 min] | [every day at '09:00'] | [ | ] | ( | )
before | and | or | together with | unless | without | nth( | times( | absent( | , 3) | within 1 h | within
select last, first | consume unique | evaluate final | where a.price < b.price | where | a.price = 5 | by auction
for 7 day | start '2026-05-01' | {3} | as c | , | 5 | min | 'x' | "q" | * | + | every | day | é | :
"""
PROFILE_WORDS = """
PROFILE( | PRI( | COMP( | SELECT( | NOT( | price > 1 | price <> 1 and 5 | bidder -> (a, b) | , TYPE=bid | ) | , | BEFORE
, TYPE=TIMEPROFILE | , TIMEZONE=+2.00 | time = 9:00:00 | AND | OR | WITH | , FIRST | , 3 | , NUMBER=2
, MULTI = UNIQUE-PAIRS | , EVALTIME = '1 h' | , STARTTIME = 18:30:00 | , MAXTIME = '7 day' | , EVAL = FINAL | 0 | :
"""


def sentences(words: str) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from([word.strip() for word in re.split(r"[|\n]", words.strip())]), max_size=12).map(
        " ".join
    )


def refusal(read: Callable[[], object]) -> LanguageError | None:
    try:
        read()
    except LanguageError as refused:
        return refused
    return None


def is_told_where(refused: LanguageError, text: str) -> bool:
    return 0 <= refused.offset <= len(text) and bool(str(refused))


@given(sentences(WORDS))
def test_words_in_any_order(text: str) -> None:
    refused = refusal(lambda: BoundComposite.parse(text, AUCTIONS))
    if refused is not None:
        assert is_told_where(refused, text)
    else:
        bound = BoundComposite.parse(text, AUCTIONS)
        assert BoundComposite.parse(bound.text, AUCTIONS) == bound


@given(sentences(PROFILE_WORDS))
def test_profiles_in_any_order(text: str) -> None:
    refused = refusal(lambda: parse_profile(text, DEFINED))
    assert refused is None or is_told_where(refused, text)


@given(composites(BIDS, attributes=("price",), by=("auction",)), st.data())
def test_a_composite_with_something_cut_out(composite: Composite, data: st.DataObject) -> None:
    text = print_composite(composite)
    first = data.draw(st.integers(0, len(text)))
    last = data.draw(st.integers(first, len(text)))
    rest = text[:first] + text[last:]
    refused = refusal(lambda: BoundComposite.parse(rest, AUCTIONS))
    assert refused is None or is_told_where(refused, rest)
