"""An event as a page shows it: a headline, values as people read them, never more than fit."""

import json
from typing import Any

import pytest

from tidings.schema import json_form
from tidings.service.pages.parts.shown_event import ShownValue, shown_event, shown_value

CATALOG = json_form.read(
    json.dumps(
        {
            "domains": [{"name": "n", "kind": "numeric"}, {"name": "words", "kind": "string"}],
            "attributes": [
                {"name": "flight", "domain": "words"},
                {"name": "delay", "domain": "n"},
                {"name": "tags", "domain": "words"},
                {"name": "note", "domain": "words"},
            ],
            "event_types": [
                {
                    "name": "departure",
                    "attributes": [
                        {"name": "delay"},
                        {"name": "tags", "unique": False},
                        {"name": "note", "mandatory": False},
                        {"name": "flight"},
                    ],
                }
            ],
        }
    )
)


def of(**attributes: Any) -> dict[str, Any]:
    return {"id": "e", "event_type": "departure", "attributes": attributes}


def names(event: dict[str, Any], **how: Any) -> list[str]:
    return [one.name for one in shown_event(event, **how).attributes]


def test_a_headline_is_what_it_is_called_and_stands_once() -> None:
    shown = shown_event(of(price=3, name="Red Mini", summary="so"))
    assert shown.headline == "Red Mini"
    assert [one.name for one in shown.attributes] == ["price", "summary"]
    assert shown.more == 0
    assert shown_event(of(title=["one"])).headline == "one"
    assert shown_event(of(title=["one", "two"])).headline == ""
    assert shown_event(of(title=7)).headline == ""


def test_else_the_first_words_that_every_event_of_its_type_has() -> None:
    event = of(delay=3, tags=["late"], note="n", flight="UA 1545")
    assert shown_event(event).headline == ""
    assert shown_event(event, CATALOG).headline == "UA 1545"
    assert names(event, catalog=CATALOG) == ["delay", "tags", "note"]
    assert shown_event({**event, "event_type": "unheard of"}, CATALOG).headline == ""


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("2026-11-20T23:26:44Z", ShownValue("20 Nov 2026, 23:26 UTC", "2026-11-20T23:26:44Z")),
        ("2026-01-02T03:04:05.678901Z", ShownValue("2 Jan 2026, 03:04 UTC", "2026-01-02T03:04:05.678901Z")),
        ("2026-13-20T23:26:44Z", ShownValue("2026-13-20T23:26:44Z")),
        ("at 2026-11-20T23:26:44Z", ShownValue("at 2026-11-20T23:26:44Z")),
        (1234567, ShownValue("1234567")),
        (-0.25, ShownValue("-0.25")),
        (True, ShownValue("true")),
        ("x" * 300, ShownValue("x" * 200 + "…")),
    ],
)
def test_values_as_people_read_them_and_numbers_as_filters_take_them(value: object, shown: ShownValue) -> None:
    assert shown_value(value) == shown


def test_many_values_are_counted_and_not_shown() -> None:
    shown = shown_event(of(many=list(range(43_000))))
    (one,) = shown.attributes
    assert [value.text for value in one.values] == list("01234567")
    assert one.more == 43_000 - 8
    (one,) = shown_event(of(many=list(range(43_000))), whole=True).attributes
    assert (len(one.values), one.more) == (200, 43_000 - 200)


def test_many_attributes_too() -> None:
    event = of(title="t", **{f"a{number}": [1, 2, 3] * 100 for number in range(1_000)})
    shown = shown_event(event)
    assert (len(shown.attributes), shown.more) == (12, 988)
    whole = shown_event(event, whole=True)
    assert sum(len(one.values) for one in whole.attributes) == 2_000
    assert len(whole.attributes) + whole.more == 1_000


STORY = json_form.read(
    {
        "domains": [{"name": "words", "kind": "text"}, {"name": "n", "kind": "numeric"}],
        "attributes": [{"name": name, "domain": "words"} for name in ("title", "slug", "body")]
        + [{"name": "pages", "domain": "n"}],
        "event_types": [
            {"name": "story", "headline": "slug", "attributes": [
                {"name": "slug", "mandatory": False}, {"name": "pages"}, {"name": "body"}, {"name": "title"}]},
            {"name": "book", "attributes": [{"name": "title"}, {"name": "pages"}]},
        ],
    }
)  # fmt: skip


def story(types: str | list[str] = "story", **more: Any) -> dict[str, Any]:
    return {"id": "e", "event_type": types, "attributes": {"body": "b", "pages": 3, "title": "T"} | more}


def test_a_declared_headline_comes_first_and_without_it_the_usual_rule_holds() -> None:
    assert shown_event(story(slug="S"), STORY).headline == "S"
    assert shown_event(story(slug=["S", "R"]), STORY).headline == "S"
    assert "slug" in names(story(slug=["S", "R"]), catalog=STORY), "the second value is shown too"
    assert shown_event(story(), STORY).headline == "T"
    assert shown_event(story("book", slug="S"), STORY).headline == "T", "another type's headline"
    assert shown_event(story(["book", "story"], slug="S"), STORY).headline == "S"


def test_attributes_stand_in_the_order_of_the_schema_grouped_by_type() -> None:
    assert names(story(slug="S", zzz=1), catalog=STORY) == ["pages", "body", "title", "zzz"]
    both = shown_event(story(["book", "story"], slug="S"), STORY, whole=True).attributes
    assert [(one.event_type, one.name) for one in both] == [("book", "title"), ("", "pages"), ("story", "body")]


def test_long_text_is_whole_on_its_own_page() -> None:
    body = "word " * 400
    (long,) = [one for one in shown_event(story(body=body), STORY, whole=True).attributes if one.name == "body"]
    assert (long.values[0].whole, long.values[0].text) == (body, body[:200] + "…")
    (cut,) = [one for one in shown_event(story(body=body), STORY).attributes if one.name == "body"]
    assert cut.values == (ShownValue(body[:200] + "…"),)
    title = "t" * 300
    whole = shown_event(story(title=title), STORY, whole=True)
    assert whole.headline == "t" * 200 + "…"
    assert [one.values[0].text for one in whole.attributes if one.name == "title"] == [title]
