"""The profile language of A-MEDIAS, figures 9.8 and 9.9 of its description: what each form means in ours."""

import pytest

from tests.strategies.composites import AUCTIONS
from tidings.errors import LanguageError
from tidings.language import errors as filter_errors
from tidings.language.composites import BoundComposite, errors, parse
from tidings.language.composites.amedias import parse_profile
from tidings.language.composites.limits import CompositeLimits
from tidings.schema.values import Instant

DEFINED = Instant.parse("2026-05-01T12:00:00Z")
A, B = "PRI(price > 100, TYPE=bid)", "PRI(price < 5)"


@pytest.mark.parametrize(
    ("profile", "composite"),
    [
        (A, "[event_type contains bid and price > 100]"),
        ("PRI(price >= 1.5)", "[price >= 1.5]"),
        ("PRI(price <> 3 and 7)", "[price between 3 and 7]"),
        ("PRI(outcome -> (accepted, refused))", "[outcome in (accepted, refused)]"),
        ("PRI(outcome = refused, user = 'it''s me')", "[outcome = refused and user = 'it''s me']"),
        ("PRI(TYPE=bid)", "[event_type contains bid]"),
        ("pri(price > 100, type = bid)", "[event_type contains bid and price > 100]"),
        (f"COMP({A} OR {B})", "[event_type contains bid and price > 100] or [price < 5]"),
        (f"COMP({B} AND {B}, EVALTIME = '1 h')", "[price < 5] and [price < 5] within 1 h"),
        (f"COMP({B} BEFORE {B}, EVALTIME = '10 minutes')", "[price < 5] before [price < 5] within 10 min"),
        (f"COMP({B} WITH {B})", "[price < 5] together with [price < 5]"),
        (f"COMP({B} WITH {B}, EVALTIME = '5 seconds')", "[price < 5] together with [price < 5] within 5 s"),
        (
            f"COMP({B}, LAST BEFORE {B}, FIRST, MULTI = UNIQUE-PAIRS, EVALTIME = '2 hours', EVAL = FINAL)",
            "[price < 5] before [price < 5] within 2 h select last, first consume unique evaluate final",
        ),
        (
            f"COMP({B}, 3 AND {B}, ALL, MULTI = All-PAIRS, EVALTIME='1 week', EVAL=CONTINUOUS)",
            "[price < 5] and [price < 5] within 1 week select 3, all",
        ),
        (f"SELECT({B}, NUMBER=3)", "nth([price < 5], 3)"),
        (f"SELECT({B}, NUMBER=3, ALL-PAIRS)", "nth([price < 5], 3)"),
        (
            f"SELECT(COMP({B} BEFORE {B}, EVALTIME='1 h'), NUMBER=2, EVALTIME='1 min')",
            "nth([price < 5] before [price < 5] within 1 h, 2) within 1 min",
        ),
        (f"NOT({B}, EVALTIME='30 min')", "absent([price < 5]) within 30 min"),
        (
            f"COMP({A} BEFORE NOT({B}, EVALTIME='30 min'))",
            "[event_type contains bid and price > 100] unless [price < 5] within 30 min",
        ),
        (
            f"COMP({B} BEFORE NOT({B}, EVALTIME='30 min'), EVALTIME='1800 s')",
            "[price < 5] unless [price < 5] within 30 min",
        ),
        (
            f"COMP({B} BEFORE COMP({B} OR {B}), EVALTIME='1 h')",
            "[price < 5] before ([price < 5] or [price < 5]) within 1 h",
        ),
        (
            f"COMP({B} AND {B}, EVALTIME='1 h', STARTTIME=0, MAXTIME='7 day')",
            "[price < 5] and [price < 5] within 1 h for 7 day",
        ),
        (
            f"COMP({B} AND {B}, EVALTIME='1 h', STARTTIME=18:30:00)",
            "[price < 5] and [price < 5] within 1 h start '2026-05-01T18:30:00Z'",
        ),
        (
            f"NOT({B}, EVALTIME='1 h', STARTTIME=9:00:00)",  # nine is over, so it is tomorrow's
            "absent([price < 5]) within 1 h start '2026-05-02T09:00:00Z'",
        ),
        (
            f"NOT({B}, EVALTIME='1 h', STARTTIME=12:00:00)",
            "absent([price < 5]) within 1 h start '2026-05-01T12:00:00Z'",
        ),
        ("PRI(time = 9:00:00, TYPE=TIMEPROFILE)", "[every day at '09:00']"),
        ("PRI(time = 9:00:30, TYPE=TIMEPROFILE, TIMEZONE=+2.00)", "[every day at '09:00:30' in '+02:00']"),
        ("PRI(time = 9:00:00, TYPE=TIMEPROFILE, TIMEZONE = - 3.30)", "[every day at '09:00' in '-03:30']"),
        (
            f"COMP(PRI(time = 9:00:00, TYPE=TIMEPROFILE, TIMEZONE=+2.00) BEFORE {B}, EVALTIME='1 h')",
            "[every day at '09:00' in '+02:00'] before [price < 5] within 1 h",
        ),
    ],
)
def test_forms(profile: str, composite: str) -> None:
    read = BoundComposite.parse_profile(f"PROFILE({profile})", AUCTIONS, DEFINED)
    assert read == BoundComposite.parse(composite, AUCTIONS)
    assert parse(read.text) == read.composite


REFUSED = [
    (f"COMP({B} BEFORE {B})", ")", errors.NotTranslatable, "BEFORE without EVALTIME"),
    (f"COMP({B} AND NOT({B}, EVALTIME='1 h'))", "AND", errors.NotTranslatable, "AND with NOT"),
    (f"COMP(NOT({B}, EVALTIME='1 h') BEFORE {B}, EVALTIME='1 h')", "NOT", errors.NotTranslatable, "NOT here"),
    (f"NOT(NOT({B}, EVALTIME='1 h'), EVALTIME='1 h')", "NOT(P", errors.NotTranslatable, "NOT here"),
    (f"NOT({B})", "NOT", errors.NotTranslatable, "NOT without EVALTIME"),
    (f"NOT({B}, UNIQUE-PAIRS, EVALTIME='1 h')", "UNIQUE", errors.NotTranslatable, "UNIQUE-PAIRS of NOT"),
    (f"SELECT({B}, NUMBER=3, UNIQUE-PAIRS)", "UNIQUE", errors.NotTranslatable, "UNIQUE-PAIRS of SELECT"),
    (
        f"SELECT({B}, NUMBER=3, EVALTIME='1 h')",
        "EVALTIME",
        errors.NotTranslatable,
        "EVALTIME of SELECT of single events",
    ),
    (f"SELECT({B}, NUMBER=0)", "0)", errors.WrongCount, "expected a whole number"),
    (f"COMP({B} OR {B}, EVALTIME='1 h')", "EVALTIME", errors.NotTranslatable, "EVALTIME of OR of single events"),
    (f"COMP({B}, FIRST OR {B})", ")", errors.NotTranslatable, "a selection of OR"),
    (f"COMP({B} OR {B}, EVAL=FINAL)", "EVAL", errors.NotTranslatable, "FINAL of OR"),
    (
        f"COMP({B} BEFORE NOT({B}, EVALTIME='1 h'), EVALTIME='2 h')",
        "EVALTIME='2",
        errors.NotTranslatable,
        "another frame than that of NOT",
    ),
    (
        f"COMP(COMP({B} AND {B}, EVALTIME='1 h', STARTTIME=0) OR {B})",
        "STARTTIME",
        errors.NotTranslatable,
        "STARTTIME inside another profile",
    ),
    (f"NOT({B}, EVALTIME='10 ms')", "EVALTIME", errors.AbsenceTooShort, "a frame of 'absent' is at least 1 s"),
    (f"COMP({B} AND {B}, EVALTIME='0 h')", "'0 h'", errors.FrameOutOfBounds, "after 'EVALTIME' write a span"),
    (f"COMP({B} AND {B}, EVALTIME='9 years')", "'9 years'", errors.UnknownUnit, "no unit of time 'years'"),
    (
        f"COMP({B} AND {B}, EVALTIME='1 h', STARTTIME=25:00:00)",
        "25",
        errors.WrongTimeOfDay,
        "'25:00:00' is not a time of day",
    ),
    (
        f"COMP({B} AND {B}, EVALTIME='1 h', MULTI=ALL-PAIRS)",
        "MULTI",
        filter_errors.UnexpectedToken,
        "expected STARTTIME",
    ),
    (f"COMP({B} XOR {B})", "XOR", filter_errors.UnexpectedToken, "expected OR, AND, BEFORE or WITH"),
    ("PRI(price != 5)", "!=", filter_errors.UnexpectedToken, "expected = > < >= <= <> or ->"),
    ("PRI(prize > 5)", "prize", filter_errors.UnknownAttribute, "no attribute 'prize'; did you mean 'price'?"),
    ("PRI(price > 5, TYPE=bit)", "bit", filter_errors.ValueOutsideDomain, "'bit' is not a value"),
    ("PRI(price = 5", "", filter_errors.UnexpectedToken, "expected ',' or ')', found the end of the profile"),
    ("PRI(time > 9:00:00, TYPE=TIMEPROFILE)", ">", errors.NotTranslatable, "a TIMEPROFILE that is not one moment"),
    ("PRI(time = 9:00:00, price > 5, TYPE=TIMEPROFILE)", "price", errors.NotTranslatable, "a TIMEPROFILE with other"),
    ("PRI(time = 0, TYPE=TIMEPROFILE)", "0,", errors.WrongTimeOfDay, "'0' is not a time of day"),
    ("PRI(time = 9:00:00, TYPE=TIMEPROFILE, TIMEZONE=+25.00)", "+25", filter_errors.UnexpectedToken, "expected hours"),
    ("[price > 5]", "[", filter_errors.UnexpectedToken, "expected 'PRI(', 'COMP(', 'SELECT(' or 'NOT('"),
]


@pytest.mark.parametrize(("profile", "place", "kind", "says"), REFUSED, ids=[row[3] for row in REFUSED])
def test_refusals(profile: str, place: str, kind: type[LanguageError], says: str) -> None:
    text = f"PROFILE({profile})"
    if not place:
        text = text.removesuffix(")")
    with pytest.raises(kind) as refused:
        BoundComposite.parse_profile(text, AUCTIONS, DEFINED)
    assert refused.value.problem().startswith(says)
    if place == ")":
        assert refused.value.offset == len(text) - 2
    else:
        assert text[refused.value.offset :].startswith(place)


def test_limits() -> None:
    nested = B
    for _ in range(3):
        nested = f"COMP({nested} OR {B})"
    parse_profile(f"PROFILE({nested})", DEFINED, CompositeLimits(depth=3))
    with pytest.raises(errors.CompositeTooDeep):
        parse_profile(f"PROFILE({nested})", DEFINED, CompositeLimits(depth=2))
    with pytest.raises(errors.TooManyParts):
        parse_profile(f"PROFILE({nested})", DEFINED, CompositeLimits(parts=3))
