"""`tidings publish` to a running server."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.cli.conftest import CAR, Tidings
from tests.client.peers import answer, peer
from tests.service.conftest import Service
from tidings.cli.main import app


def test_publishing_one_event(server: Service, tidings: Tidings) -> None:
    done = tidings("publish", json.dumps(CAR), "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout) == {"id": "e1", "position": server.store.tail(), "duplicate": False}
    assert "was there before" in tidings("publish", json.dumps(CAR)).stderr


def test_one_refused_event_is_told_with_every_rule(server: Service, tidings: Tidings) -> None:
    done = tidings("publish", '{"id": "e1", "event_type": "car", "attributes": {"brand": "mimi"}}')
    assert done.exit_code == 1
    assert "'year'" in done.stderr
    assert "'mimi'" in done.stderr
    assert tidings("publish", '{"id": ').exit_code == 1


def test_publishing_a_file_twice(server: Service, tidings: Tidings) -> None:
    done = tidings("publish", "events.jsonl", "--json")
    assert done.exit_code == 0
    summary = json.loads(done.stdout)
    assert (summary["accepted"], summary["duplicates"], summary["refused_total"]) == (3, 0, 1)
    assert [one["line"] for one in summary["refused"]] == [4]
    assert [one["status"] for one in summary["results"]] == ["accepted", "accepted", "accepted", "refused"]
    assert "line 4" in done.stderr
    again = tidings("publish", "events.jsonl", "--strict")
    assert again.exit_code == 1
    assert "0 events, 3 duplicates, 1 refused" in again.stderr
    assert again.stdout == ""


@pytest.mark.parametrize(
    ("first", "advice"),
    [
        (CAR, "publish everything again"),
        ({**CAR, "id": None}, "these are the first 5,000 lines"),
    ],
)
def test_what_was_accepted_before_something_went_wrong(
    first: dict[str, object], advice: str, tidings: Tidings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    rest = (json.dumps({**CAR, "id": f"r{number}"}) for number in range(5_000))
    file = tmp_path / "many.jsonl"
    file.write_text("\n".join((json.dumps(first), *rest)))
    done = b'{"accepted": 4999, "duplicates": 0, "refused": 1, "results": [], "omitted": 5000}'
    with peer(answer("202 Accepted", done), answer("413 Content Too Large", b'{"detail": "too large"}')) as other:
        told = tidings("publish", str(file), "--server", other.url)
    assert told.exit_code == 1
    said = " ".join(told.stderr.split())
    assert "before this, 4,999 events, 1 refused" in said
    assert advice in said
    assert ("publish everything again" in said) == (first is CAR)


def test_publishing_standard_input(server: Service) -> None:
    text = "".join(json.dumps({**CAR, "id": f"e{number}"}) + "\n" for number in range(7_000))
    done = CliRunner().invoke(app, ["publish", "-"], input=text)
    assert done.exit_code == 0
    assert "7,000 events" in done.stderr


def test_a_file_that_is_not_there_is_usage(server: Service, tidings: Tidings) -> None:
    assert tidings("publish", "no.jsonl").exit_code == 2
