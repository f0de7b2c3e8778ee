"""Disabling, enabling and deleting an account: with its tokens, subscriptions and deliveries, or not at all."""

import hashlib

import pytest
from sqlalchemy import func, select

from tests.notifying.owing import OWNER, find, with_channels
from tests.store.samples import START, Clock, with_schema
from tests.store.test_channels import create, done, settle
from tidings.schema import Instant
from tidings.store import (
    SCOPES,
    Account,
    AccountClosed,
    AccountExists,
    DeletedAccount,
    Departure,
    LastOperator,
    NoSuchTicket,
    Refused,
    Store,
    Subscribe,
    Token,
    account_states,
    tables,
)
from tidings.store.append import append
from tidings.store.moves import offers

ANN = Account(OWNER, "$argon2id$…", frozenset({"publish", "subscribe"}), START)
BOB = Account("bob", "$argon2id$…", frozenset({"publish"}), START)


def with_tokens(store: Store, account: Account) -> None:
    store.add_account(account)
    for name, kind in (("a", "token"), ("b", "session")):
        digest = hashlib.sha256(f"{account.username} {name}".encode()).digest()
        store.add_token(Token(digest, account.username, kind, name, account.scopes, START, None))  # type: ignore[arg-type]


def due(store: Store) -> int:
    """As the metrics count them."""
    with store.database.reading() as connection:
        return int(connection.execute(select(func.sum(tables.delivery_totals.c.due))).scalar() or 0)


def test_accounts_are_listed_with_what_they_have(store: Store) -> None:
    with_schema(store)
    with_tokens(store, BOB)
    with_tokens(store, ANN)
    store.add_token(Token(b"old", "bob", "token", "old", SCOPES, START, Instant(START - 1)))
    store.append([Subscribe("s", "price < 100", OWNER), Subscribe("t", "price < 200", OWNER)])
    assert [(one.account, one.subscriptions, one.tokens) for one in store.accounts()] == [(ANN, 2, 2), (BOB, 0, 2)]
    assert [one.account.username for one in store.accounts(after=OWNER)] == ["bob"]
    assert [one.account.username for one in store.accounts(limit=1)] == [OWNER]


def test_a_disabled_account_has_no_tokens_and_its_subscriptions_are_paused(store: Store) -> None:
    with_schema(store)
    with_tokens(store, ANN)
    with_tokens(store, BOB)
    store.append([Subscribe("s", "price < 100", OWNER), Subscribe("b", "price < 100", "bob")])
    assert store.disable_account(OWNER) == 1
    found = store.account(OWNER)
    assert found is not None
    assert (found.state, found.password) == ("disabled", ANN.password)
    assert store.tokens_of(OWNER) == []
    assert len(store.tokens_of("bob")) == 2
    assert (store.subscription("s").state, store.subscription("b").state) == ("paused", "active")
    assert store.disable_account(OWNER) == 0
    assert store.enable_account(OWNER)
    assert store.account(OWNER) == ANN
    assert store.subscription("s").state == "paused"
    assert (store.disable_account("nobody"), store.enable_account("nobody")) == (None, False)


def test_a_token_is_not_given_for_an_account_that_was_disabled_since(store: Store) -> None:
    with_tokens(store, ANN)
    store.disable_account(OWNER)
    assert not store.add_token(Token(b"new", OWNER, "token", "", SCOPES, START, None), proved=ANN)


def advertising(store: Store) -> list[str]:
    return sorted(one.owner for one in store.advertisements())


@pytest.mark.parametrize("act", ["disable_account", "delete_account"])
def test_with_an_account_go_its_advertisements_and_what_moves(store: Store, act: str) -> None:
    with_schema(store)
    store.begin_incarnation("athens")
    for account in (ANN, BOB):
        with_tokens(store, account)
        store.append([Subscribe(f"of {account.username}", "price < 100", account.username)])
        store.advertise(account.username, "price < 100")
        store.put_ticket(account.username.encode(), account.username, Instant(START + 10**12))
        store.depart([Departure(f"of {account.username}", account.username, "berlin", "ticket")])
    before = store.advertised()
    getattr(store, act)(OWNER)
    assert advertising(store) == ["bob"]
    assert store.advertised() != before  # so that those who have read them read them again
    assert [one.owner for one in store.departures()] == ["bob"]
    with store.database.reading() as connection:
        assert offers.owner_of(connection, b"bob", START) == "bob"
        with pytest.raises(NoSuchTicket):
            offers.owner_of(connection, OWNER.encode(), START)
    if act == "disable_account":
        store.enable_account(OWNER)
        assert advertising(store) == sorted([OWNER, "bob"])


def test_with_an_account_goes_all_that_would_be_delivered(store: Store, clock: Clock) -> None:
    with_channels(store, "s", "t")
    with_channels(store, "b", owner="bob")
    with_tokens(store, ANN)
    with_tokens(store, BOB)
    find(store, "s", "t", "b", many=2)
    owed = [number for id, number in create(store, clock) if id != "b"]
    settle(store, clock, done(owed[0]))
    assert due(store) == 5
    events = [entry for entry in store.entries() if entry.kind == "event"]
    assert store.delete_account(OWNER) == DeletedAccount(subscriptions=2, deliveries=3)
    assert due(store) == 2
    assert store.account(OWNER) is None
    assert store.tokens_of(OWNER) == []
    assert store.count_subscriptions(OWNER) == 0
    assert [entry.kind for entry in store.entries()][-2:] == ["withdraw", "withdraw"]
    assert [entry for entry in store.entries() if entry.kind == "event"] == events
    assert store.channel("s", OWNER) is None
    assert [one.subscription for one in store.due(clock.time, 9)] == ["b", "b"]
    assert store.deliveries_of("s", OWNER) == []
    settle(store, clock, done(owed[1]))  # it was on its way
    find(store, "b")
    assert [id for id, _ in create(store, clock)] == ["b", "b", "b"]
    assert len(store.tokens_of("bob")) == 2
    assert store.delete_account(OWNER) is None


def test_the_name_of_a_deleted_account_stays_taken(store: Store) -> None:
    with_tokens(store, ANN)
    assert store.delete_account(OWNER) == DeletedAccount(0, 0)
    assert store.accounts() == []
    with pytest.raises(AccountExists):
        store.add_account(ANN)
    assert not store.change_account(OWNER, "new")
    assert not store.enable_account(OWNER)


def test_an_account_that_was_changed_since_it_was_proved_is_not_deleted(store: Store) -> None:
    store.add_account(ANN)
    store.change_account(OWNER, "new password")
    assert store.delete_account(OWNER, proved=ANN) is None
    assert store.account(OWNER) is not None
    assert store.delete_account(OWNER, proved=store.account(OWNER)) is not None


@pytest.mark.parametrize("deleted", [False, True])
def test_a_closed_account_cannot_subscribe(store: Store, deleted: bool) -> None:
    """A gateway may still know its token."""
    with_schema(store)
    store.add_account(ANN)
    (store.delete_account if deleted else store.disable_account)(OWNER)
    refused, _ = store.append([Subscribe("s", "price < 100", OWNER), Subscribe("b", "price < 100", "bob")])
    assert isinstance(refused, Refused)
    assert isinstance(refused.error, AccountClosed)
    assert [one.id for one in store.subscriptions()] == ["b"]


def test_the_last_operator_stays(store: Store) -> None:
    assert store.add_operator(b"digest")
    for change in (store.disable_account, store.delete_account):
        with pytest.raises(LastOperator):
            change("operator")
    store.add_account(Account("other", "", SCOPES, START))
    assert store.disable_account("other") == 0
    with pytest.raises(LastOperator):  # one that cannot log in does not count
        store.delete_account("operator")
    store.enable_account("other")
    assert store.delete_account("operator") is not None
    assert not store.add_operator(b"digest")


def test_where_a_step_fails_nothing_changes(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with_schema(store)
    with_tokens(store, ANN)
    store.append([Subscribe("s", "price < 100", OWNER)])
    monkeypatch.setattr(account_states, "_drop_deliveries", lambda *_: 1 // 0)  # the last step
    with pytest.raises(ZeroDivisionError):
        store.delete_account(OWNER)
    assert store.account(OWNER) == ANN
    assert len(store.tokens_of(OWNER)) == 2
    assert store.subscription("s").state == "active"


def test_an_account_that_has_much_changes_in_steps(store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step that fails leaves the rest to another try."""
    ids = [f"s{number}" for number in range(5)]
    with_channels(store, *ids)
    with_tokens(store, ANN)
    find(store, *ids)
    assert len(create(store, clock)) == 5
    monkeypatch.setattr(account_states, "MOST_CHANGED", 2)
    failing = iter([False, True])
    monkeypatch.setattr(
        "tidings.store.account_states.append", lambda *given: 1 // 0 if next(failing, 0) else append(*given)
    )
    with pytest.raises(ZeroDivisionError):
        store.disable_account(OWNER)
    assert store.tokens_of(OWNER) == [], "it can do no more"
    assert [one.state for one in store.subscriptions(OWNER)] == ["paused"] * 2 + ["active"] * 3
    assert store.disable_account(OWNER) == 3
    assert {one.state for one in store.subscriptions(OWNER)} == {"paused"}
    failing = iter([False, True])
    with pytest.raises(ZeroDivisionError):
        store.delete_account(OWNER)
    assert store.account(OWNER) is not None
    assert store.count_subscriptions(OWNER) == 3
    assert store.delete_account(OWNER) == DeletedAccount(subscriptions=3, deliveries=3)
    assert (store.account(OWNER), store.channels_of(OWNER, ids), due(store)) == (None, {}, 0)
