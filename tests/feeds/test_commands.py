"""`tidings feed`, as a user types it."""

import gzip
import json
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from tests.cli.conftest import Tidings, lines, tidings  # noqa: F401  # a fixture
from tests.feeds.conftest import EXAMPLES
from tests.service.conftest import Service
from tidings.cli.main import app
from tidings.cli.server.server import save_token
from tidings.client import Client
from tidings.feeds.samples.auction_site import newest_at

ALONE = [sys.executable, "-m", "tidings.cli.main", "feed"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the examples, and no server by default."""
    shutil.copytree(EXAMPLES, tmp_path / "feeds")
    monkeypatch.chdir(tmp_path / "feeds")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("TIDINGS_SERVER", raising=False)
    monkeypatch.delenv("TIDINGS_TOKEN", raising=False)
    return tmp_path / "feeds"


@pytest.fixture
def server(service: Service, ann: Client, monkeypatch: pytest.MonkeyPatch) -> Service:
    monkeypatch.setenv("TIDINGS_SERVER", service.address)
    save_token(service.address, ann.token or "")
    return service


def test_a_preview_without_any_server(tidings: Tidings) -> None:  # noqa: F811
    done = tidings("feed", "preview", "cars.toml", "--limit", "2")
    assert done.exit_code == 0, done.stderr
    first, second = lines(done.stdout)
    assert first["event"]["attributes"]["asked"] == 1299  # type: ignore[index]
    assert second.keys() == {"event"}
    assert "2 records, 0 would be refused" in done.stderr


def test_a_preview_shows_as_many_as_asked_for(tidings: Tidings) -> None:  # noqa: F811
    Path("m.toml").write_text('file = "d.csv.gz"\nevent_type = "car"\n[fields]\nyear = "y"\n')
    Path("d.csv.gz").write_bytes(gzip.compress(b"y\n" + b"1990\n" * 10_500))
    done = tidings("feed", "preview", "m.toml", "--limit", "10200")
    assert len(lines(done.stdout)) == 10_200
    assert "10,200 records, 0 would be refused\n" in done.stderr
    assert (
        "10,500 records, 0 would be refused; these are all"
        in tidings("feed", "preview", "m.toml", "--limit", "20000").stderr
    )


def test_a_preview_before_the_schema_has_it_says_so_once(tidings: Tidings) -> None:  # noqa: F811
    Path("m.toml").write_text('file = "d.json"\nevent_type = "boat"\n[fields]\nsails = "s"\nmasts = "gone"\n')
    Path("d.json").write_text('[{"s": 3}, {"s": 4}, {"s": 5}]')
    done = tidings("feed", "preview", "m.toml", "--schema", str(EXAMPLES.parent / "schema.json"))
    assert [one.keys() for one in lines(done.stdout)] == [{"event"}] * 3
    assert done.stderr.count("the schema has no event type 'boat'") == 1
    told = " ".join(done.stderr.split())
    assert "nothing found at 'gone' in any of 3 records" in told
    assert "'s'" not in told


def test_a_preview_says_what_would_be_refused_and_what_appended(tidings: Tidings) -> None:  # noqa: F811
    Path("m.toml").write_text(
        'file = "d.csv"\nevent_type = "car"\n[fields]\nbrand = { from = "b", grow = true }\nyear = "y"\n'
    )
    Path("d.csv").write_text("b,y\nmini,1990\ntrabant,1985\nmini,old\nmini,\n")
    schema = str(EXAMPLES.parent / "schema.json")
    done = tidings("feed", "preview", "m.toml", "--schema", schema)
    good, new, wrong, without = lines(done.stdout)
    assert good.keys() == {"event"}
    assert new["appends"] == {"brand": "trabant"}
    assert "errors" not in new
    assert {error["rule"] for error in wrong["errors"]} == {"domain", "mandatory"}  # type: ignore[attr-defined]
    assert [error["attribute"] for error in without["errors"]] == ["year"]  # type: ignore[attr-defined]
    assert "4 records, 2 would be refused" in done.stderr


def test_infer_prints_changes_and_changes_nothing(server: Service, tidings: Tidings) -> None:  # noqa: F811
    before = server.store.catalog().version
    done = tidings("feed", "infer", "cars.csv", "--event-type", "used_car", "--mapping", "own.toml")
    assert done.exit_code == 0, done.stderr
    assert [one["change"] for one in lines(done.stdout)][-1] == "create_event_type"
    assert "nothing was changed" in done.stderr
    assert server.store.catalog().version == before
    assert 'decimal = ","' in Path("own.toml").read_text()


def test_infer_apply_and_run(server: Service, tidings: Tidings) -> None:  # noqa: F811
    lacking = tidings("feed", "run", "cars.toml", "--once")
    assert lacking.exit_code == 1
    assert "no event type 'used_car'" in lacking.stderr
    assert "tidings feed infer cars.toml" in lacking.stderr
    applied = tidings("feed", "infer", "cars.toml", "--apply")
    assert applied.exit_code == 0, applied.stderr
    assert "became" in applied.stderr
    assert tidings("feed", "infer", "cars.toml").stdout == ""  # nothing is missing now
    done = tidings("feed", "run", "cars.toml", "--once", "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["published"] == 4
    assert "cars: 0 records, nothing new" in tidings("feed", "run", "cars.toml", "--once").stderr
    Path("kept").mkdir()
    again = tidings("feed", "run", "cars.toml", "--once", "--state", "kept")
    assert "cars: 4 records, 4 duplicates" in again.stderr
    assert len(list(Path("kept").iterdir())) == 1
    Path(".cars.toml.state").unlink()
    assert "cars: 4 records, 4 duplicates" in tidings("feed", "run", "cars.toml", "--once").stderr
    found = tidings("query", "event.source = 'dealer' and asked < 1000", "--count")
    assert found.stdout == "2\n"


def test_a_tree_of_which_nothing_was_found_is_not_created(server: Service, tidings: Tidings) -> None:  # noqa: F811
    """It could never be removed."""
    mapping = 'file = "d.json"\nevent_type = "boat"\n[fields]\nsails = "s"\n'
    Path("d.json").write_text('[{"s": 3, "cat": {"name": "Ketch"}}, {"s": 4}]')
    for kind in ("hierarchical", "enumerated"):
        Path("m.toml").write_text(f'{mapping}rig = {{ from = "cat/nam", kind = "{kind}" }}\n')
        looked = tidings("feed", "infer", "m.toml")
        assert looked.exit_code == 0
        assert "nothing found at 'cat/nam' in any of 2 records" in looked.stderr
        done = tidings("feed", "infer", "m.toml", "--apply")
        assert done.exit_code == 1
        assert "domain 'rig' would have no value" in done.stderr
        assert tidings("schema", "show", "--json").stdout.count('"sails"') == 0
    for good in ('from = "cat/name", kind = "hierarchical"', 'from = "cat/nam", kind = "hierarchical", grow = true'):
        Path("m.toml").write_text(mapping + "rig = { " + good + " }\n")
        assert tidings("feed", "infer", "m.toml", "--apply").exit_code == 0


def test_infer_is_told_the_encoding_and_says_what_it_leaves_out(tidings: Tidings) -> None:  # noqa: F811
    Path("d.csv").write_bytes("Stück;Stück;Preis\n1;2;1,50\n".encode("cp1252"))
    without = tidings("feed", "infer", "d.csv", "--mapping", "m.toml")
    assert without.exit_code == 1
    assert "not valid UTF-8" in without.stderr
    assert tidings("feed", "infer", "d.csv", "--encoding", "nothing").exit_code == 2
    done = tidings("feed", "infer", "d.csv", "--encoding", "cp1252", "--mapping", "m.toml")
    assert done.exit_code == 0, done.stderr
    assert "note: there are 2 columns 'Stück'; only the first is read" in done.stderr
    (event,) = lines(tidings("feed", "preview", "m.toml").stdout)
    assert event["event"]["attributes"] == {"stück": 1, "preis": 1.5}  # type: ignore[index]


def test_a_clash_leaves_a_mapping_to_be_edited(server: Service, tidings: Tidings) -> None:  # noqa: F811
    Path("d.csv").write_text("brand,year\nmini,old\nmini,new\n")
    command = ("feed", "infer", "d.csv", "--mapping", "m.toml", "--server", server.address)
    clash = tidings(*command)
    assert clash.exit_code == 1
    assert "'year' is numeric in the schema and string in the feed; give it another name" in clash.stderr
    assert "wrote the mapping to m.toml" in clash.stderr
    Path("m.toml").write_text(Path("m.toml").read_text().replace("[fields.year]", "[fields.vintage]"))
    done = tidings("feed", "infer", "m.toml", "--server", server.address)
    assert done.exit_code == 0, done.stderr


def test_what_is_mandatory_must_be_there(tidings: Tidings) -> None:  # noqa: F811
    wrong = tidings("feed", "infer", "cars.csv", "--mandatory", "Prise")
    assert wrong.exit_code == 1
    assert "no attribute or column 'Prise'; did you mean" in wrong.stderr
    assert '"mandatory": true' in tidings("feed", "infer", "cars.csv", "--mandatory", "Price").stdout


def test_a_preview_goes_on_beside_a_file_without_records(tidings: Tidings) -> None:  # noqa: F811
    Path("in").mkdir()
    Path("in/a.xml").write_text("<rss/>")
    Path("m.toml").write_text(
        'folder = "in"\npattern = "*.xml"\nrecords = "item"\nevent_type = "notice"\n[fields]\nheadline = "title"\n'
    )
    alone = tidings("feed", "preview", "m.toml")
    assert alone.exit_code == 1
    assert "a.xml: nothing found at 'item'; if the source has changed, correct the mapping" in alone.stderr
    shutil.copy("notices.xml", "in")
    both = tidings("feed", "preview", "m.toml")
    assert both.exit_code == 0
    assert len(lines(both.stdout)) == 2
    assert "warning: " in both.stderr


def test_a_taken_port_is_named(tidings: Tidings) -> None:  # noqa: F811
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = tidings("feed", "auctions", "--port", str(port))
    assert done.exit_code == 1
    assert f"port {port} is in use; choose another with --port" in done.stderr


def test_a_file_with_a_byte_order_mark_is_known_by_what_follows_it(tidings: Tidings) -> None:  # noqa: F811
    Path("d").write_bytes(b'\xef\xbb\xbf[{"a": 1}]')
    done = tidings("feed", "infer", "d", "--mapping", "m.toml")
    assert done.exit_code == 0, done.stderr
    assert 'format = "json"' in Path("m.toml").read_text()


def test_the_changes_can_be_made_by_schema_grow(server: Service, tidings: Tidings) -> None:  # noqa: F811
    Path("changes.jsonl").write_text(tidings("feed", "infer", "notices.toml").stdout)
    grown = tidings("schema", "grow", "changes.jsonl", "--server", server.address)
    assert grown.exit_code == 0, grown.stderr
    done = tidings("feed", "run", "notices.toml", "--once", "--json")
    told = json.loads(done.stdout)
    # They happened in May 2026, whatever the year is where this runs: late is fine, ahead is refused.
    assert told["published"] + told["refused"] == 2


def test_a_refused_record_ends_once_with_1(server: Service, tidings: Tidings) -> None:  # noqa: F811
    Path("m.toml").write_text('file = "d.csv"\nevent_type = "car"\n[fields]\nbrand = "b"\nyear = "y"\n')
    Path("d.csv").write_text("b,y\nmini,1990\n\x1b[31m,1985\n")
    done = tidings("feed", "run", "m.toml", "--once")
    assert done.exit_code == 1
    assert "1 published, 1 refused" in done.stderr
    assert "1 refused record kept; `tidings feed refused` lists them" in " ".join(done.stderr.split())
    assert "\x1b[31m,1985" not in done.stderr


def test_usage(tidings: Tidings) -> None:  # noqa: F811
    assert tidings("feed", "infer", "none.csv").exit_code == 2
    assert tidings("feed", "infer", "cars.toml", "--event-type", "x").exit_code == 2
    assert tidings("feed", "run", "none.toml").exit_code == 2
    assert tidings("feed", "run", "cars.toml", "--state", "none").exit_code == 2
    assert tidings("feed", "flights", "--start", "soon").exit_code == 2
    Path("m.toml").write_text('fil = "d.csv"\n')
    wrong = tidings("feed", "preview", "m.toml")
    assert wrong.exit_code == 1
    assert "m.toml: fil: unknown key; did you mean 'file'?" in wrong.stderr


def test_no_server_is_3(tidings: Tidings) -> None:  # noqa: F811
    assert tidings("feed", "run", "cars.toml", "--once", "--server", "http://127.0.0.1:1").exit_code == 3


@pytest.mark.parametrize("command", ["run", "preview", "infer", "auctions", "flights"])
def test_help_has_an_example(command: str) -> None:
    assert f"Example: tidings feed {command}" in CliRunner().invoke(app, ["feed", command, "--help"]).stdout


def test_flights(server: Service, tidings: Tidings) -> None:  # noqa: F811
    lacking = tidings("feed", "flights", "--limit", "5", "--speed", "100000")
    assert lacking.exit_code == 1
    assert "--apply adds" in lacking.stderr
    done = tidings("feed", "flights", "--limit", "5", "--speed", "100000", "--apply", "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout) == {"published": 5, "refused": 0}


def test_the_site_and_a_feed_as_processes_stop_when_asked(server: Service, tidings: Tidings) -> None:  # noqa: F811
    began = time.time()
    with subprocess.Popen([*ALONE, "auctions", "--port", "0"], stdout=subprocess.PIPE, text=True) as site:
        assert site.stdout is not None
        address = site.stdout.readline().split()[4].removesuffix("/cars;")
        page = httpx.get(f"{address}/cars").text
        newest = int(page.partition('data-number="')[2].partition('"')[0])
        text = Path("auctions.toml").read_text().replace("http://127.0.0.1:8181", address)
        Path("auctions.toml").write_text(text)
        assert tidings("feed", "infer", "auctions.toml", "--apply").exit_code == 0
        command = [*ALONE, "run", "auctions.toml", "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as feed:
            client = server.client
            while not client.get("/v1/events", params={"filter": "asked > 0", "limit": 1}).json()["items"]:
                assert feed.poll() is None
            feed.send_signal(signal.SIGTERM)
            out, errors = feed.communicate(timeout=60)
        site.send_signal(signal.SIGINT)
        assert site.wait(60) == 0
    assert feed.returncode == 0, errors
    assert json.loads(out)["published"] >= 100
    assert "Traceback" not in errors
    assert newest >= newest_at(began)  # no start before this one gave these numbers
