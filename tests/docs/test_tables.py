"""What the tables of the pages claim, is so."""

import json
from typing import get_args

import msgspec
import pytest

from tests.docs.pages import ROOT, blocks, code, read, rows
from tidings.errors import LanguageError
from tidings.events import Event, validate
from tidings.events.refusal import Rule
from tidings.language import Filter
from tidings.language.dialects import core_text
from tidings.matching.algorithms import ALGORITHMS
from tidings.matching.explain import explain
from tidings.schema import Catalog, json_form
from tidings.schema.domain import Kind
from tidings.schema.files import read_catalog
from tidings.schema.growth import grow
from tidings.service.actions.deliveries import ReplayAsked
from tidings.service.api.channels.delivery_routes import Replay, _chosen

CATALOG: Catalog = read_catalog(ROOT / "examples" / "schema.json")[0]
LANGUAGE = "docs/language.md"


def shown_event() -> Event:
    """The event at the top of the language's page."""
    raw = next(json.loads(block.text) for block in blocks("json") if block.page == ROOT / LANGUAGE)
    return validate(raw, CATALOG)


def matches(text: str) -> bool:
    return explain(Filter.parse(text, CATALOG), shown_event(), CATALOG).matches


FILTERS = [code(row[0]) or "" for row in rows(LANGUAGE, "a filter that matches it")]


def test_there_are_six_filters() -> None:
    assert len(FILTERS) == 6


@pytest.mark.parametrize("text", FILTERS)
def test_the_event_matches_its_filters(text: str) -> None:
    assert matches(text)


@pytest.mark.parametrize("text", [code(row[0]) for row in rows(LANGUAGE, "filter") + rows(LANGUAGE, "negated")])
def test_every_filter_of_the_language_page_is_one(text: str) -> None:
    Filter.parse(text, CATALOG)


WORDS = [(code(row[0]), row[1]) for row in rows(LANGUAGE, "filter") if row[1].startswith(("yes", "no:", "no"))]
WORDS = [(text, verdict) for text, verdict in WORDS if text and text.startswith("title")]


@pytest.mark.parametrize(("text", "verdict"), WORDS)
def test_words_of_text(text: str, verdict: str) -> None:
    """The event has the title that the table speaks of."""
    assert matches(text) is verdict.startswith("yes")


ERRORS = [(code(row[0]), code(row[1]), row[2]) for row in rows(LANGUAGE, "error")]


DIALECTS = [(code(row[0]), code(row[1]), row[2]) for row in rows("docs/dialects.md", "error")]


@pytest.mark.parametrize(("name", "text", "says"), [row for row in (*ERRORS, *DIALECTS) if row[1]])
def test_errors_of_the_language(name: str, text: str, says: str) -> None:
    with pytest.raises(LanguageError) as caught:
        Filter.given(text, CATALOG)
    assert type(caught.value).__name__ == name
    assert caught.value.problem().startswith(says)


def test_every_error_of_the_language_is_in_the_table() -> None:
    own = (kind for kind in LanguageError.__subclasses__() if kind.__module__.startswith("tidings.language."))
    known = {kind.__name__ for kind in own}
    composites = {code(row[0]) for row in rows("docs/composites.md", "error")}
    assert {name for name, _, _ in (*ERRORS, *DIALECTS)} | composites >= known


TRANSLATIONS = [(code(row[0]) or "", row[1], code(row[2])) for row in rows("docs/dialects.md", "expression")]


@pytest.mark.parametrize(("expression", "stage", "indexed"), TRANSLATIONS)
def test_what_the_page_says_of_translations(expression: str, stage: str, indexed: str | None) -> None:
    text = Filter.parse(core_text("cesql", expression), CATALOG).text
    said, _, kept = text.rpartition(f"event_type {stage} cesql ")
    assert kept
    assert said.removesuffix(" and ").removeprefix("(").removesuffix(")") == (indexed or "")


def test_changes_of_the_schema_page_can_be_made() -> None:
    catalog, made = CATALOG, set()
    for row in rows("docs/schema.md", "change"):
        raw = json.loads(code(row[0]) or "")
        catalog = grow(catalog, json_form.read_change(raw))
        made.add(raw["change"])
    assert made == set(json_form.CHANGES)


def test_every_kind_of_domain_with_its_operators() -> None:
    listed = {row[0]: row[2] for row in rows("docs/schema.md", "kind")}
    assert listed.keys() == {str(kind) for kind in Kind}
    for kind in Kind:
        assert all(f"`{operator}`" in listed[kind] for operator in kind.operators), kind


def test_every_rule_of_events() -> None:
    assert {code(row[0]) for row in rows("docs/events.md", "rule")} == set(get_args(Rule))


def test_every_algorithm() -> None:
    assert {code(row[0]) for row in rows("docs/commands.md", "algorithm")} == set(ALGORITHMS)


def test_every_decision_is_listed() -> None:
    listed = read("docs/decisions/README.md")
    for page in sorted((ROOT / "docs" / "decisions").glob("0*.md")):
        assert page.name in listed
        text = read(page)
        for part in ("**Question.**", "**Choice.**", "**Refused.**", "**What would change our mind.**"):
            assert part in text, f"{page.name} lacks {part}"


def test_bodies_of_replays() -> None:
    for row in rows("docs/how-to/replay-deliveries.md", "to send again"):
        body = row[2].rpartition("with ")[2].strip("`")
        asked = msgspec.json.decode(body, type=Replay)
        assert _chosen(asked) != ReplayAsked(), body
