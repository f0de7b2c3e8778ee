"""Accounts and tokens from the command line: `register`, `login`, `logout`, `unregister`, `token`."""

import json
import stat

from typer.testing import CliRunner

from tests.cli.conftest import CAR, PASSWORD, Tidings, lines
from tests.service.conftest import Service
from tidings.cli.main import app
from tidings.cli.server.server import save_token, saved_token, token_file
from tidings.client import Client


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
