"""`tidings match` on XML documents: a folder, a file, and what is refused."""

import json
from pathlib import Path

from tests.cli.conftest import Tidings, lines, subscriptions

SCHEMA = {
    "domains": [{"name": "article", "kind": "document", "root": "article"}, {"name": "number", "kind": "numeric"}],
    "attributes": [{"name": "article", "domain": "article"}, {"name": "urgency", "domain": "number"}],
    "event_types": [
        {"name": "news", "attributes": [{"name": "article"}, {"name": "urgency", "mandatory": False}]},
        {"name": "alarm", "attributes": [{"name": "urgency"}]},
    ],
}


def given() -> list[str]:
    Path("schema.json").write_text(json.dumps(SCHEMA))
    Path("articles/old").mkdir(parents=True)
    Path("articles/one.xml").write_text("<article><title>Storm</title></article>")
    Path("articles/old/two.xml").write_text("<article><title>Calm</title></article>")
    Path("articles/three.xml").write_text("<article>\n<title></article>")
    return ["--schema", "schema.json"]


def test_a_folder_of_documents(tidings: Tidings) -> None:
    schema = given()
    asked = subscriptions("article xpath '//title[. = \"Storm\"]'", "event_type contains news")
    done = tidings("match", asked, "articles", *schema)
    assert lines(done.stdout) == [
        {"event": "old/two.xml", "subscription": "s2"},
        {"event": "one.xml", "subscription": "s1"},
        {"event": "one.xml", "subscription": "s2"},
    ]
    assert "line 2, column 10: mismatched tag" in done.stderr
    assert "3 matches, 2 events, 2 subscriptions, 1 event refused" in done.stderr


def test_one_document_and_its_event_type(tidings: Tidings) -> None:
    schema = given()
    asked = subscriptions("article xpath '//title'")
    done = tidings("match", asked, "articles/one.xml", *schema, "--event-type", "news")
    assert lines(done.stdout) == [{"event": "one.xml", "subscription": "s1"}]
    (Path.cwd() / "shop.json").write_text('{"event_types": [{"name": "alarm"}]}')
    wrong = tidings("match", subscriptions("event_type contains alarm"), "articles", "--schema", "shop.json")
    assert wrong.exit_code == 1
    assert "no event type whose events are single documents" in wrong.stderr
    wrong = tidings("match", asked, "articles/one.xml", *schema, "--event-type", "alarm")
    assert wrong.exit_code == 1
    assert "event type 'alarm' has no attribute for documents" in wrong.stderr
