"""Options that a composite inherits; what they mean is in the tables of docs/composites.md."""

from __future__ import annotations

import pytest

from tests.strategies.composites import AUCTIONS
from tidings.errors import LanguageError
from tidings.language.composites import BoundComposite
from tidings.language.composites.profiles import read_options
from tidings.schema import Instant

PROFILES = {"auctions": "within 10 min evaluate final", "a b": "within 2 s"}


def text(written: str) -> str:
    return BoundComposite.parse(written, AUCTIONS, profiles=PROFILES).text


def test_every_operator_inherits() -> None:
    written = "([price > 9] before [price < 5]) and [price = 7] by auction start '2026-05-01' for 7 day using auctions"
    inner = "[price > 9] before [price < 5] within 10 min evaluate final"
    assert text(written) == (
        f"({inner}) and [price = 7] within 10 min evaluate final by auction start '2026-05-01T00:00:00Z' for 1 week"
    )
    assert text('absent([price > 9]) using "a b"') == "absent([price > 9]) within 2 s"
    assert text("[price > 9] or [price < 5] using auctions") == "[price > 9] or [price < 5]"


A, B = "PRI(price > 9)", "PRI(price < 5)"
SHOP = {"shop": "within 10 min select last, first consume unique evaluate final", "later": "within 1 h select 2, all"}


@pytest.mark.parametrize(
    ("profile", "composite"),
    [
        (f"PROFILE(COMP({A} BEFORE {B})) USING shop", "[price > 9] before [price < 5] using shop"),
        (
            f"PROFILE(COMP({A}, FIRST BEFORE {B}, MULTI = ALL-PAIRS, EVALTIME = '1 h', EVAL = CONTINUOUS)) using shop",
            "[price > 9] before [price < 5] within 1 h select first, first",
        ),
        (f"PROFILE(COMP({A} AND {B}, 3)) using later", "[price > 9] and [price < 5] within 1 h select 2, 3"),
        (f"PROFILE(COMP({A} WITH {B})) using later", "[price > 9] together with [price < 5] select 2, all"),
        (f"PROFILE(COMP({A} OR {B})) using shop", "[price > 9] or [price < 5]"),
        (f"PROFILE(NOT({A})) using shop", "absent([price > 9]) within 10 min"),
        (f"PROFILE(COMP({A} BEFORE NOT({B}))) using shop", "[price > 9] unless [price < 5] within 10 min"),
        (f"PROFILE(SELECT({A}, NUMBER=3)) using shop", "nth([price > 9], 3)"),
    ],
)
def test_profiles_of_a_medias_inherit(profile: str, composite: str) -> None:
    """As composites do; and they can also take back what they inherit."""
    read = BoundComposite.read(profile, AUCTIONS, Instant(0), profiles=SHOP)
    assert read == BoundComposite.parse(composite, AUCTIONS, profiles=SHOP)
    with pytest.raises(LanguageError, match="'tidings journal profile'"):
        BoundComposite.read(profile, AUCTIONS, Instant(0))


def test_the_stored_text_needs_no_profile() -> None:
    stored = text("[price > 9] before [price < 5] using auctions")
    assert BoundComposite.parse(stored, AUCTIONS).text == stored == text(stored)


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("[price > 9] before [price < 5] using auction", "'auction' ('tidings journal profile') before"),
        ("[price > 9] before [price < 5] using auction", "did you mean 'auctions'?"),
        ("[price > 9] using", "found 'using'"),
        ("([price > 9] before [price < 5] using auctions) and [price = 7]", "'before' needs"),
        ("[price > 9] before [price < 5] using auctions by auction", "needs a frame"),
    ],
)
def test_what_is_refused(written: str, told: str) -> None:
    with pytest.raises(LanguageError) as refused:
        text(written)
    assert told in str(refused.value)


@pytest.mark.parametrize(
    "options", ["select last, first", "within 0 s", "within 1 h where a.price > 5", "by auction", "x"]
)
def test_options_that_no_profile_can_have(options: str) -> None:
    with pytest.raises(LanguageError):
        read_options(options)
