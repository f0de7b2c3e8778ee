"""What a running server is asked: its schema, its stored events, an explanation."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Tidings, lines
from tests.service.conftest import Service


def test_the_servers_schema_is_shown(server: Service, tidings: Tidings) -> None:
    done = tidings("schema", "show")
    assert done.exit_code == 0
    assert "auction" in done.stdout
    assert json.loads(tidings("schema", "show", "--server", server.address, "--json").stdout)["version"] == 19
    assert tidings("schema", "show", "schema.json").stdout.startswith("schema version 1:")
    assert tidings("schema", "show", "schema.json", "--server", server.address).exit_code == 2


def test_the_servers_schema_grows(server: Service, tidings: Tidings) -> None:
    change = '{"change": "append_value", "domain": "brand", "value": "trabant"}'
    done = tidings("schema", "grow", change, "--server", server.address)
    assert done.exit_code == 0
    assert "schema version 19 became 20" in done.stderr
    again = tidings("schema", "grow", change)
    assert again.exit_code == 1
    assert "'trabant'" in again.stderr


def test_a_whole_schema_is_made_where_it_is_not_there_yet(server: Service, tidings: Tidings) -> None:
    declared = json.loads(Path("schema.json").read_text())
    declared["domains"].append({"name": "mass", "kind": "numeric"})
    declared["attributes"].append({"name": "weight", "domain": "mass"})
    declared["event_types"].append({"name": "parcel", "attributes": [{"name": "weight"}]})
    Path("more.json").write_text(json.dumps(declared))
    done = tidings("schema", "grow", "more.json")
    assert done.exit_code == 0, done.stderr
    assert "schema version 19 became 22" in done.stderr
    assert "parcel" in server.store.catalog().event_type_names
    assert "schema version 22 became 22" in tidings("schema", "grow", "more.json").stderr


@pytest.fixture
def stored(server: Service, tidings: Tidings) -> Service:
    assert tidings("publish", "events.jsonl").exit_code == 0
    return server


def test_a_query_at_a_server_prints_what_one_over_a_folder_does(stored: Service, tidings: Tidings) -> None:
    found = lines(tidings("query", "price < 1300", "--json").stdout)
    assert [one["event"]["id"] for one in found] == ["e1", "e2"]  # type: ignore[index]
    assert found[0].keys() == {"position", "accepted", "event"}
    assert tidings("query", "price < 1300", "--count").stdout == "2\n"
    assert len(tidings("query", "price < 1300", "--limit", "1").stdout.splitlines()) == 1
    assert tidings("query", "prize < 1300").exit_code == 1
    assert tidings("query", "price < 1300", "--since", "soon").exit_code == 1
    assert tidings("query", "price < 1300", "--data", ".", "--server", stored.address).exit_code == 2


def test_a_backtest_at_a_server(stored: Service, tidings: Tidings) -> None:
    done = tidings("backtest", "price < 1300", "--since", "1d", "--newest", "1")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("2 events would have matched from ")
    assert '"e2"' in done.stdout
    assert '"e1"' not in done.stdout
    assert json.loads(tidings("backtest", "price < 1300", "--json").stdout)["matched"] == 2
    assert tidings("backtest", "price < 1300", "--until", "1d").exit_code == 2


def test_an_explanation_by_a_server_reads_like_ours(stored: Service, tidings: Tidings) -> None:
    asked = ("explain", "category under vehicle and price < 1000", "events.jsonl", "--event", "e3")
    ours = tidings(*asked, "--schema", "schema.json")
    assert ours.exit_code == 0
    assert tidings(*asked).stdout == ours.stdout
    position = lines(tidings("query", "event.id = 'e3'", "--json").stdout)[0]["position"]
    assert tidings("explain", asked[1], str(position)).stdout == ours.stdout
    assert json.loads(tidings(*asked, "--json").stdout)["matches"] is False
