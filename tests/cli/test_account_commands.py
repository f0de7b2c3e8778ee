"""`tidings account`: the operator's commands, on the store."""

import json
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from typer.testing import CliRunner, Result

from tests.cli.conftest import lines
from tests.services.sqlite import new_store
from tests.store.samples import with_schema
from tidings.cli.main import app
from tidings.store import SCOPES, Account, Store, Subscribe, Token

PASSWORD = "correct horse battery"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    (tmp_path / "data").mkdir()
    return Store.open(new_store(tmp_path / "data" / "tidings.db"))


def account(*arguments: str, typed: str = "") -> Result:
    return CliRunner().invoke(app, ["account", *arguments, "--data", "data"], input=typed)


def hashed(store: Store, name: str) -> str:
    found = store.account(name)
    assert found is not None
    return found.password


def test_an_account_is_added_and_listed(store: Store) -> None:
    done = account("add", "ann", typed=PASSWORD + "\n")
    assert done.exit_code == 0, done.output
    assert done.stdout == ""
    assert PasswordHasher().verify(hashed(store, "ann"), PASSWORD)
    made = account("add", "bob", "--generate", "--scope", "publish", "--json")
    assert PasswordHasher().verify(hashed(store, "bob"), json.loads(made.stdout)["password"])
    ann, bob = lines(account("list", "--json").stdout)
    assert (ann["username"], ann["state"], ann["scopes"]) == (
        "ann",
        "active",
        ["account", "publish", "read", "subscribe"],
    )
    assert (bob["username"], bob["scopes"], bob["subscriptions"], bob["tokens"]) == ("bob", ["publish"], 0, 0)
    assert "2 accounts" in account("list").stderr


@pytest.mark.parametrize(
    ("arguments", "typed", "code", "told"),
    [
        (["add", "ann"], "short\n", 1, "8 to 1,000"),
        (["add", "A!"], PASSWORD, 1, "cannot be a username"),
        (["add", "ann", "--scope", "rule", "--generate"], "", 2, "valid values"),
        (["add", "operator", "--generate"], "", 1, "is taken"),
        (["reset", "ann", "--generate"], "", 1, "no account 'ann'"),
        (["disable", "ann"], "", 1, "no account 'ann'"),
        (["enable", "ann"], "", 1, "no account 'ann'"),
        (["delete", "ann", "--yes"], "", 1, "no account 'ann'"),
        (["delete", "operator", "--yes"], "", 1, "last account with the scope 'operate'"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else None,
)
def test_what_is_refused(store: Store, arguments: list[str], typed: str, code: int, told: str) -> None:
    store.add_operator(b"digest")
    done = account(*arguments, typed=typed)
    assert done.exit_code == code
    assert told in " ".join(done.stderr.split())
    assert [one.account.username for one in store.accounts()] == ["operator"]


def test_a_reset_ends_all_tokens(store: Store) -> None:
    store.add_account(Account("ann", "old", SCOPES, store.now()))
    store.add_token(Token(b"digest", "ann", "token", "", SCOPES, store.now(), None))
    done = account("reset", "ann", "--generate")
    assert done.exit_code == 0, done.output
    assert PasswordHasher().verify(hashed(store, "ann"), done.stdout.strip())
    assert store.tokens_of("ann") == []


def test_disable_enable_and_delete(store: Store) -> None:
    with_schema(store)
    store.add_account(Account("ann", "hash", SCOPES - {"operate"}, store.now()))
    store.append([Subscribe("anns", "price < 10", "ann")])
    assert json.loads(account("disable", "ann", "--json").stdout) == {"disabled": "ann", "paused": 1}
    assert store.subscription("anns").state == "paused"
    assert lines(account("list", "--json").stdout)[0]["state"] == "disabled"
    assert account("enable", "ann").exit_code == 0
    assert lines(account("list", "--json").stdout)[0]["state"] == "active"
    refused = account("delete", "ann", typed="n\n")
    assert refused.exit_code == 1
    assert store.account("ann") is not None
    gone = json.loads(account("delete", "ann", "--yes", "--json").stdout)
    assert gone == {"deleted": "ann", "subscriptions": 1, "deliveries": 0}
    assert account("list", "--json").stdout == ""
    assert [one.id for one in store.subscriptions()] == []
