"""`tidings match` with composites among the subscriptions."""

import json
from pathlib import Path

from tests.cli.conftest import EVENT, EXAMPLES, SCHEMA, Tidings, lines

FILES = [str(EXAMPLES / "composites" / name) for name in ("subscriptions.jsonl", "events.jsonl")]
COMPOSITE_SCHEMA = ("--schema", str(EXAMPLES / "composites" / "schema.json"))
BY_THE_LAST_EVENT = [
    {"event": "e1", "subscription": "large"},
    {"subscription": "withdrawn", "events": ["e1", "e2"], "time": "2026-05-01T00:02:00Z"},
    {"subscription": "guessing", "events": ["e3", "e4", "e5"], "time": "2026-05-01T00:03:30Z"},
]


def test_matches_then_detections(tidings: Tidings) -> None:
    done = tidings("match", *FILES, *COMPOSITE_SCHEMA)
    assert lines(done.stdout) == BY_THE_LAST_EVENT
    assert "1 match, 2 detections, 7 events, 4 subscriptions" in done.stderr


def test_time_runs_as_far_as_is_asked(tidings: Tidings) -> None:
    unwanted = {"subscription": "unwanted", "events": ["e6"], "time": "2026-05-01T00:34:20Z"}
    done = tidings("match", *FILES, *COMPOSITE_SCHEMA, "--until", "2026-05-01T00:34:20Z")
    assert lines(done.stdout) == [*BY_THE_LAST_EVENT, unwanted]
    done = tidings("match", *FILES, *COMPOSITE_SCHEMA, "--until", "2026-05-01T00:03:29Z")
    assert lines(done.stdout) == BY_THE_LAST_EVENT[:2]
    done = tidings("match", *FILES, *COMPOSITE_SCHEMA, "--until", "soon")
    assert done.exit_code == 2
    assert "'soon' is not an ISO 8601 time" in done.stderr


def test_what_expires_says_what_it_waited_for(tidings: Tidings, folder: Path) -> None:
    pattern = "[outcome = refused] before [outcome = accepted] within 10 s by user report expired"
    (folder / "expiring.jsonl").write_text(json.dumps({"id": "slow", "composite": pattern}))
    done = tidings("match", "expiring.jsonl", FILES[1], *COMPOSITE_SCHEMA)
    found = lines(done.stdout)
    assert found
    assert {one.get("expired") for one in found} <= {"[outcome = 'accepted']", None}
    expired = [one for one in found if "expired" in one]
    assert expired[0]["events"] == ["e3"]


def test_wrong_composites_are_listed_with_wrong_filters(tidings: Tidings, folder: Path) -> None:
    wrong = [
        {"id": "a", "composite": "[price > 1] before [price < 5]"},
        {"id": "b", "filter": "prize > 1"},
        {"id": "b", "composite": "[price > 1]"},
        {"id": "c", "composite": "[price > 1]", "filter": "price > 1"},
        {"id": "b", "composite": "[price > 1]"},
    ]
    (folder / "wrong.jsonl").write_text("\n".join(map(json.dumps, wrong)))
    done = tidings("match", "wrong.jsonl", "events.jsonl", *SCHEMA)
    assert done.exit_code == 1
    assert done.stdout == ""
    for line in (
        "4 subscriptions are wrong, so nothing was matched:",
        "line 1: composite, line 1, column 31: 'before' needs a frame of time",
        "line 2: filter, line 1, column 1: no attribute 'prize'",
        "line 4: it has both 'filter' and 'composite'",
        "line 5: id 'b' is taken by line 3",
    ):
        assert line in done.stderr


def test_spark_takes_no_composites_yet(tidings: Tidings) -> None:
    done = tidings("match", *FILES, *COMPOSITE_SCHEMA, "--engine", "spark")
    assert done.exit_code == 1
    assert "line 1: subscription 'withdrawn' is a composite" in done.stderr


def test_events_without_a_time_take_no_part(tidings: Tidings, folder: Path) -> None:
    (folder / "composite.jsonl").write_text(json.dumps({"id": "c", "composite": "[price > 1]"}))
    timed = EVENT | {"id": "y", "time": "2026-05-01T10:00:00Z"}
    (folder / "two.jsonl").write_text("\n".join(map(json.dumps, (EVENT, timed))))
    done = tidings("match", "composite.jsonl", "two.jsonl", *SCHEMA)
    assert lines(done.stdout) == [{"subscription": "c", "events": ["y"], "time": "2026-05-01T10:00:00Z"}]
    assert "1 event without a time took no part in composites" in done.stderr
