"""What docs/composites.md claims, is so."""

import re

import pytest

from tests.docs.pages import code, rows
from tests.strategies.composites import AUCTIONS
from tidings.composite.trace import MOST_KEYS
from tidings.errors import LanguageError
from tidings.language.composites import BoundComposite, parse
from tidings.language.composites.limits import LIMITS
from tidings.language.composites.time_leaves import time_events
from tidings.language.composites.tree import Every, EveryDay
from tidings.schema.values import Instant, Span

PAGE = "docs/composites.md"
SHOWN = [code(row[0]) or "" for header in ("composite", "form", "time event") for row in rows(PAGE, header)]
OPTIONS = [(code(row[0]) or "", code(row[1]) or "") for row in rows(PAGE, "option")]
ERRORS = [(code(row[0]) or "", code(row[1]), row[2]) for row in rows(PAGE, "error")]


@pytest.mark.parametrize("text", SHOWN)
def test_every_composite_is_one(text: str) -> None:
    assert BoundComposite.parse(text, AUCTIONS).warnings == ()


@pytest.mark.parametrize(("option", "text"), OPTIONS)
def test_every_option(option: str, text: str) -> None:
    assert f" {option} " in BoundComposite.parse(text, AUCTIONS).text


@pytest.mark.parametrize(("leaf", "between", "times"), rows(PAGE, "time event"))
def test_when_time_events_come(leaf: str, between: str, times: str) -> None:
    tree = parse(leaf.strip("`")).tree
    assert isinstance(tree, Every | EveryDay)
    since, until = between.split(" and ")
    until = until if "-" in until else f"{since.partition('T')[0]}T{until}"
    assert ", ".join(map(str, time_events(tree, Instant.parse(since), Instant.parse(until)))) == times


@pytest.mark.parametrize(("name", "text", "says"), [row for row in ERRORS if row[1]])
def test_errors(name: str, text: str, says: str) -> None:
    with pytest.raises(LanguageError) as refused:
        BoundComposite.parse(text, AUCTIONS)
    assert type(refused.value).__name__ == name
    assert refused.value.problem().startswith(says)


@pytest.mark.parametrize(("profile", "composite"), rows(PAGE, "profile"))
def test_profiles(profile: str, composite: str) -> None:
    defined = Instant.parse("2026-05-01T12:00:00Z")
    read = BoundComposite.parse_profile(profile.strip("`"), AUCTIONS, defined)
    assert read == BoundComposite.parse(composite.strip("`"), AUCTIONS)


@pytest.mark.parametrize(("written", "stored"), rows(PAGE, "with this profile"))
def test_application_profiles(written: str, stored: str) -> None:
    profiles = {"auctions": "within 10 min select last, first consume unique"}
    assert BoundComposite.read(written.strip("`"), AUCTIONS, Instant(0), profiles=profiles).text == stored.strip("`")


def test_limits() -> None:
    told = [row[1] for row in rows(PAGE, "limit")]
    numbers = [int(re.sub(r"\D", "", value)) for value in told]
    assert numbers == [LIMITS.depth, LIMITS.parts, LIMITS.by, MOST_KEYS, 366, 1, LIMITS.count, LIMITS.nth]
    assert [told[4], told[5]] == [str(Span(LIMITS.frame)), str(Span(LIMITS.absence))]
