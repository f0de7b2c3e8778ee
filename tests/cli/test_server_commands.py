"""The commands against a running server: the real application in a real uvicorn on loopback."""

import json
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.cli.conftest import Tidings, lines
from tests.client.conftest import settings  # noqa: F401  # a fixture
from tests.client.matched import match_all
from tests.client.peers import answer, peer
from tests.service.conftest import Service, service  # noqa: F401  # a fixture
from tidings.cli.main import app
from tidings.cli.server import save_token, saved_token, token_file
from tidings.client import Client

PASSWORD = "correct horse battery"
CAR = {"id": "e1", "event_type": "car", "attributes": {"brand": "mini", "year": 1990}}


@pytest.fixture
def url(tmp_path: Path) -> str:
    return str(tmp_path / "server.db")


@pytest.fixture
def server(service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Service:  # noqa: F811
    """The server that the commands speak to by default, with ann's token saved."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("TIDINGS_SERVER", service.address)
    monkeypatch.delenv("TIDINGS_TOKEN", raising=False)
    done = CliRunner().invoke(app, ["register", "ann"], input=PASSWORD + "\n")
    assert done.exit_code == 0, done.output
    return service


@pytest.fixture
def nobody() -> str:
    """An address at which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


# Accounts and where the server is


def test_the_token_is_saved_for_its_server_and_its_owner_alone(server: Service) -> None:
    path = token_file()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert (saved_token(server.address) or "").startswith("tid_")
    assert saved_token("http://elsewhere") is None
    save_token("http://elsewhere/", "tid_other")
    assert saved_token("http://elsewhere") == "tid_other"
    assert (saved_token(server.address) or "").startswith("tid_")
    assert [one.name for one in path.parent.iterdir()] == ["token"]


def test_logging_in_again(server: Service) -> None:
    before = saved_token(server.address)
    done = CliRunner().invoke(app, ["login", "ann", "--json"], input=PASSWORD + "\n")
    assert done.exit_code == 0
    assert saved_token(server.address) == json.loads(done.stdout)["token"] != before


def test_a_wrong_password_and_none(server: Service) -> None:
    before = saved_token(server.address)
    wrong = CliRunner().invoke(app, ["login", "ann"], input="wrong horse battery\n")
    assert wrong.exit_code == 1
    assert "tidings login" not in wrong.stdout
    assert CliRunner().invoke(app, ["login", "ann"], input="").exit_code == 2
    assert saved_token(server.address) == before


def test_without_a_token_the_advice_is_to_get_one(server: Service, tidings: Tidings) -> None:
    token_file().unlink()
    done = tidings("subscriptions")
    assert done.exit_code == 1
    assert "tidings register" in done.stderr
    done = tidings("subscriptions", "--token", "tid_wrong")
    assert done.exit_code == 1
    assert "tidings register" not in done.stderr


def test_a_token_by_option_wins(server: Service, tidings: Tidings) -> None:
    with Client(server.address) as bob:
        token = bob.register("bob", PASSWORD)
        bob.subscribe("year > 1")
    assert tidings("subscriptions", "--json").stdout == ""
    assert len(lines(tidings("subscriptions", "--json", "--token", token).stdout)) == 1


def test_logging_out_revokes_the_saved_token_and_forgets_it(server: Service, tidings: Tidings) -> None:
    token = saved_token(server.address) or ""
    save_token("http://elsewhere", "tid_other")
    done = tidings("logout", "--json")
    assert (done.exit_code, json.loads(done.stdout)) == (0, {"logged_out": server.address})
    assert saved_token(server.address) is None
    assert saved_token("http://elsewhere") == "tid_other"
    assert tidings("subscriptions", "--token", token).exit_code == 1
    again = tidings("logout")
    assert again.exit_code == 1
    assert "no token is saved" in again.stderr


def test_logging_out_another_token_leaves_the_saved_one(server: Service, tidings: Tidings) -> None:
    with Client(server.address) as ann:
        other = ann.log_in("ann", PASSWORD)
    assert tidings("logout", "--token", other).exit_code == 0
    assert tidings("subscriptions", "--token", other).exit_code == 1
    assert tidings("subscriptions").exit_code == 0


def test_a_token_that_could_not_be_revoked_stays_saved(
    nobody: str, tidings: Tidings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    save_token(nobody, "tid_kept")
    assert tidings("logout", "--server", nobody).exit_code == 3
    assert saved_token(nobody) == "tid_kept"


def test_unregistering_deletes_the_account_and_forgets_its_token(server: Service, tidings: Tidings) -> None:
    tidings("subscribe", "year > 1")
    save_token("http://elsewhere", "tid_other")
    runner = CliRunner()
    assert runner.invoke(app, ["unregister"], input="n\n").exit_code == 1
    assert runner.invoke(app, ["unregister", "--yes"], input="wrong wrong\n").exit_code == 1
    assert tidings("subscriptions").exit_code == 0
    done = runner.invoke(app, ["unregister", "--yes", "--json"], input=f"{PASSWORD}\n")
    assert (done.exit_code, json.loads(done.stdout)) == (0, {"username": "ann", "subscriptions": 1, "deliveries": 0})
    assert "1 subscription withdrawn" in done.stderr
    assert (saved_token(server.address), saved_token("http://elsewhere")) == (None, "tid_other")
    assert runner.invoke(app, ["login", "ann"], input=f"{PASSWORD}\n").exit_code == 1


def test_tokens_are_added_listed_and_deleted(server: Service, tidings: Tidings) -> None:
    add = ["token", "add", "scraper", "--scope", "publish", "--expires", "2099-01-01"]
    made = CliRunner().invoke(app, add, input=PASSWORD + "\n")
    assert made.exit_code == 0, made.output
    token = made.stdout.strip()
    assert token.startswith("tid_")
    assert saved_token(server.address) != token
    assert tidings("publish", json.dumps(CAR), "--token", token).exit_code == 0
    assert tidings("subscribe", "year > 1", "--token", token).exit_code == 1
    mine, scraper = lines(tidings("token", "list", "--json").stdout)
    assert (mine["name"], mine["current"]) == ("registration", True)
    assert scraper == {
        "id": scraper["id"],
        "name": "scraper",
        "kind": "token",
        "scopes": ["publish"],
        "created": scraper["created"],
        "expires": "2099-01-01T00:00:00Z",
        "current": False,
    }
    assert "2 tokens" in tidings("token", "list").stderr
    assert tidings("token", "delete", str(scraper["id"])).exit_code == 0
    assert tidings("publish", json.dumps(CAR), "--token", token).exit_code == 1
    assert tidings("token", "delete", str(scraper["id"])).exit_code == 1


def test_a_token_needs_the_right_password(server: Service) -> None:
    wrong = CliRunner().invoke(app, ["token", "add", "scraper"], input="wrong horse battery\n")
    assert (wrong.exit_code, wrong.stdout) == (1, "")


@pytest.mark.parametrize(
    "command",
    [
        ["publish", json.dumps(CAR)],
        ["publish", "events.jsonl"],
        ["subscribe", "year > 1"],
        ["unsubscribe", "s-1"],
        ["edit", "s-1", "--expiry", "never"],
        ["pause", "s-1"],
        ["resume", "s-1"],
        ["token", "list"],
        ["token", "delete", "0123456789ab"],
        ["subscriptions"],
        ["notifications"],
        ["schema", "show"],
        ["schema", "grow", '{"change": "append_value", "domain": "brand", "value": "x"}'],
        ["query", "year > 1"],
        ["backtest", "year > 1"],
        ["explain", "year > 1", json.dumps(CAR)],
        ["simulate", "--events", "1"],
    ],
    ids=lambda command: " ".join(command[:2] if command[0] in ("schema", "token") else command[:1]),
)
def test_nobody_there_is_exit_code_3(
    command: list[str], nobody: str, tidings: Tidings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    done = tidings(*command, "--server", nobody)
    assert done.exit_code == 3
    assert nobody in done.stderr
    assert done.stdout == ""


# Publishing


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
    assert "line 4" in done.stderr
    again = tidings("publish", "events.jsonl", "--strict")
    assert again.exit_code == 1
    assert "0 events, 3 duplicates, 1 refused" in again.stderr
    assert again.stdout == ""


@pytest.mark.parametrize(
    ("first", "advice"),
    [
        (CAR, "publish all of it again"),
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
    done = b'{"accepted": 4999, "duplicates": 0, "refused": [], "refused_total": 1}'
    with peer(answer("202 Accepted", done), answer("413 Content Too Large", b'{"detail": "too large"}')) as other:
        told = tidings("publish", str(file), "--server", other.url)
    assert told.exit_code == 1
    said = " ".join(told.stderr.split())
    assert "before this, 4,999 events, 1 refused" in said
    assert advice in said
    assert ("publish all of it again" in said) == (first is CAR)


def test_publishing_standard_input(server: Service) -> None:
    text = "".join(json.dumps({**CAR, "id": f"e{number}"}) + "\n" for number in range(7_000))
    done = CliRunner().invoke(app, ["publish", "-"], input=text)
    assert done.exit_code == 0
    assert "7,000 events" in done.stderr


def test_a_file_that_is_not_there_is_usage(server: Service, tidings: Tidings) -> None:
    assert tidings("publish", "no.jsonl").exit_code == 2


# Subscriptions and notifications


def test_subscribe_list_and_unsubscribe(server: Service, tidings: Tidings) -> None:
    made = tidings("subscribe", "brand = mini", "--expiry", "2099-01-01")
    assert made.exit_code == 0
    id = made.stdout.strip()
    (listed,) = lines(tidings("subscriptions", "--json").stdout)
    assert (listed["id"], listed["filter"], listed["expiry"]) == (id, "brand = 'mini'", "2099-01-01T00:00:00Z")
    assert id in tidings("subscriptions", "--state", "active").stdout
    assert tidings("subscriptions", "--state", "paused").stdout == ""
    withdrawn = json.loads(tidings("unsubscribe", id, "--json").stdout)
    assert withdrawn.keys() == {"withdrawn", "position"}
    assert withdrawn["withdrawn"] == id
    assert tidings("unsubscribe", id).exit_code == 1


def test_pause_resume_and_edit(server: Service, tidings: Tidings) -> None:
    id = tidings("subscribe", "brand = mini", "--expiry", "2099-01-01").stdout.strip()
    assert json.loads(tidings("pause", id, "--json").stdout)["state"] == "paused"
    assert id in tidings("subscriptions", "--state", "paused").stdout
    assert tidings("resume", id).stderr == f"{id} is active\n"
    done = tidings("edit", id, "--filter", "brand = mini and year < 1970", "--expiry", "never", "--json")
    changed = json.loads(done.stdout)
    assert (changed["id"], changed["filter"], changed["expiry"]) == (id, "brand = 'mini' and year < 1970", None)
    assert changed["position"] == server.store.tail()
    assert tidings("edit", id, "--expiry", "never").stderr == f"{id} is unchanged\n"
    assert tidings("edit", id, "--expiry", "2098-01-01", "--stored").stderr == f"{id} is changed\n"
    wrong = tidings("edit", id, "--filter", "yaer > 1", "--expiry", "never")
    assert wrong.exit_code == 1
    assert "did you mean 'year'" in wrong.stderr
    (listed,) = lines(tidings("subscriptions", "--json").stdout)
    assert listed["expiry"] == "2098-01-01T00:00:00Z"
    assert tidings("edit", id).exit_code == 2
    assert tidings("edit", id, "--stored", "--email", "a@example.org").exit_code == 2
    assert tidings("pause", "s-unknown").exit_code == 1


def test_a_wrong_filter_shows_the_place(server: Service, tidings: Tidings) -> None:
    done = tidings("subscribe", "brand = mini and yaer > 1")
    assert done.exit_code == 1
    assert "did you mean 'year'" in done.stderr
    assert "                   ^" in done.stderr


def test_warnings_are_told_beside_the_id(server: Service, tidings: Tidings) -> None:
    done = tidings("subscribe", "not (paint = 'red')")
    assert "warning:" in done.stderr
    assert done.stdout.startswith("s-")


def test_notifications_and_where_to_go_on(server: Service, tidings: Tidings) -> None:
    old = tidings("subscribe", "year < 1990").stdout.strip()
    tidings("subscribe", "year > 0")
    for year in (1980, 1995):
        tidings("publish", json.dumps({**CAR, "id": f"e{year}", "attributes": {"brand": "mini", "year": year}}))
    match_all(server.store)
    done = tidings("notifications", "--json")
    assert [one["event"]["id"] for one in lines(done.stdout)] == ["e1980", "e1980", "e1995"]  # type: ignore[index]
    assert "3 notifications; --after 3 goes on from here" in done.stderr
    assert len(lines(tidings("notifications", "--json", "--after", "2").stdout)) == 1
    assert len(lines(tidings("notifications", "--json", "--limit", "2").stdout)) == 2
    (one,) = lines(tidings("notifications", "--json", "--subscription", old).stdout)
    assert one["subscription"] == old
    assert "e1980" in tidings("notifications").stdout
    assert tidings("notifications", "--after", "nonsense").exit_code == 1


def test_following_until_interrupted(server: Service, tidings: Tidings) -> None:
    tidings("subscribe", "year > 0")
    command = [sys.executable, "-m", "tidings.cli.main", "notifications", "--follow", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as follower:
        assert follower.stdout is not None
        for number in range(2):
            tidings("publish", json.dumps({**CAR, "id": f"e{number}"}))
            match_all(server.store)
            assert json.loads(follower.stdout.readline())["event"]["id"] == f"e{number}"
        follower.send_signal(signal.SIGINT)
        _, errors = follower.communicate(timeout=30)
    assert follower.returncode == 0
    assert "Traceback" not in errors


# The schema


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


# Stored events


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


def test_without_server_or_schema_it_is_usage(tidings: Tidings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TIDINGS_SERVER", raising=False)
    assert tidings("explain", "price < 1", "{}").exit_code == 2
    assert tidings("schema", "show").exit_code == 2
    assert tidings("schema", "grow", "{}").exit_code == 2
    assert tidings("query", "price < 1").exit_code == 2
