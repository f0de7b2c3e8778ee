"""What in an event a predicate is about."""

import pytest

from tidings.events import validate
from tidings.language import Filter
from tidings.matching.explain import Finding, explain
from tidings.schema import Catalog

NAMES = ("text", "spot", "kind")
CATALOG = Catalog.from_dict(
    {
        "domains": [
            {"name": "text", "kind": "text"},
            {"name": "spot", "kind": "place"},
            {"name": "kind", "kind": "hierarchical", "tree": {"furniture": {"table": {"desk": {}}, "chair": {}}}},
        ],
        "attributes": [{"name": name, "domain": name} for name in NAMES],
        "event_types": [
            {"name": "e", "attributes": [{"name": name, "mandatory": False, "unique": False} for name in NAMES]}
        ],
    }
)  # fmt: skip


def finding(filter: str, **attributes: object) -> Finding:
    event = validate({"id": "e", "event_type": "e", "attributes": attributes}, CATALOG)
    (alternative,) = explain(Filter.parse(filter, CATALOG), event, CATALOG).alternatives
    return alternative.findings[0]


def marked(found: Finding) -> list[str]:
    values = dict(found.values)
    return [str(values[one.attribute][one.place])[one.start : one.end] for one in found.marks]


@pytest.mark.parametrize(
    ("filter", "words"),
    [
        ("text contains 'oak'", ["OAK", "Oak"]),
        ("text contains any 'desk oak'", ["OAK", "desk", "Oak"]),
        ("not (text contains 'oak')", ["OAK", "Oak"]),
        ("text contains 'ash'", []),
        ("text contains 'straße'", ["Strasse"]),
    ],
)
def test_found_words_are_marked_as_they_stand_in_the_text(filter: str, words: list[str]) -> None:
    assert marked(finding(filter, text=["An OAK desk, Strasse 3", "Oak!"])) == words


@pytest.mark.parametrize(
    ("filter", "path"),
    [
        ("kind under table", ["furniture > table"]),
        ("kind = desk", ["furniture > table > desk"]),
        ("kind in (chair, furniture)", ["furniture"]),
        ("kind under chair", []),
        ("kind contains desk", ["furniture > table > desk"]),
    ],
)
def test_the_part_of_the_path_that_the_filter_names_is_marked(filter: str, path: list[str]) -> None:
    assert marked(finding(filter, kind="desk")) == path


@pytest.mark.parametrize(
    ("filter", "note"),
    [
        ("spot near (48.2, 16.37) within 10 km", "55.2 km away"),  # Vienna to Bratislava
        ("spot near (48.2, 16.37) within 10 mi", "34.3 mi away"),
        ("spot inside (48, 17, 49, 18)", "inside"),
        ("spot inside (48, 18, 49, 19)", "66 km outside"),
        ("spot inside (47, 17, 48, 18)", "16.7 km outside"),
        ("not (spot inside (48, 17, 49, 18))", "inside"),
    ],
)
def test_places_say_how_far_away_they_are(filter: str, note: str) -> None:
    found = finding(filter, spot=[48.15, 17.11])
    assert found.note == note
    assert found.seen.endswith(f": {note}")
