"""Accounts and tokens: kept, found, changed and removed; none of them is in the journal."""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from tests.store.samples import START, Clock, with_schema
from tidings.schema import Instant
from tidings.store import SCOPES, Account, AccountExists, LastOperator, Store, Token, UnfitAccount, rebuild
from tidings.store.accounts.accounts import TokenKind

ANN = Account("ann", "$argon2id$…", frozenset({"publish", "subscribe"}), START)


def digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def token(text: str, username: str = "ann", kind: TokenKind = "token", expires: Instant | None = None) -> Token:
    return Token(digest(text), username, kind, f"of {text}", frozenset({"publish"}), START, expires)


def in_seconds(seconds: int) -> Instant:
    return Instant(START + seconds * 1_000_000)


def test_an_account_is_kept(store: Store) -> None:
    store.add_account(ANN)
    assert store.account("ann") == ANN
    with Store.open(store.url) as again:
        assert again.account("ann") == ANN
    assert store.account("bob") is None


def test_names_are_compared_exactly(store: Store) -> None:
    store.add_account(ANN)
    for name in ("Ann", "ann ", "änn"):
        assert store.account(name) is None
        store.add_account(Account(name, "", frozenset(), START))
    assert store.account("Ann") == Account("Ann", "", frozenset(), START)


def test_a_name_is_given_once(store: Store) -> None:
    store.add_account(ANN)
    with pytest.raises(AccountExists, match="the username 'ann' is taken; choose another name") as problem:
        store.add_account(Account("ann", "other", SCOPES, START))
    assert problem.value.args == ("ann",)
    assert store.account("ann") == ANN


@pytest.mark.parametrize("name", ["", "a\0b", "a\n", "x" * 501])
def test_names_that_no_account_can_have(store: Store, name: str) -> None:
    with pytest.raises(UnfitAccount, match="must be text of 1 to 500 printable characters"):
        store.add_account(Account(name, "", SCOPES, START))


def test_an_account_is_changed(store: Store) -> None:
    store.add_account(ANN)
    assert store.change_account("ann", password="new")
    assert store.account("ann") == Account("ann", "new", ANN.scopes, START)
    assert store.change_account("ann", scopes=frozenset())
    assert store.account("ann") == Account("ann", "new", frozenset(), START)
    assert store.change_account("ann", password="", scopes=SCOPES)
    assert store.account("ann") == Account("ann", "", SCOPES, START)
    assert store.change_account("ann")
    assert store.account("ann") == Account("ann", "", SCOPES, START)
    assert not store.change_account("bob", password="new")
    assert not store.change_account("bob")


def test_neither_hash_nor_digest_is_shown(store: Store) -> None:
    assert "argon2id" not in repr(ANN)
    assert "digest" not in repr(token("t"))


def test_a_token_is_found_by_its_digest(store: Store) -> None:
    store.add_token(token("t", expires=in_seconds(9)))
    assert store.token(digest("t")) == token("t", expires=in_seconds(9))
    assert store.token(digest("u")) is None
    assert store.token(b"") is None


def test_a_token_expires_by_the_stores_clock(store: Store, clock: Clock) -> None:
    store.add_token(token("t", expires=in_seconds(2)))
    store.add_token(token("for ever"))
    clock.tick(1.999999)
    assert store.token(digest("t")) is not None
    clock.tick(0.000001)
    assert store.token(digest("t")) is None
    assert [one.name for one in store.tokens_of("ann")] == ["of for ever"]
    clock.tick(1e9)
    assert store.token(digest("for ever")) is not None


def test_the_tokens_of_an_account(store: Store) -> None:
    made = [token("a"), token("b", kind="session"), token("c", "bob")]
    for one in made:
        store.add_token(one)
    assert sorted(store.tokens_of("ann"), key=lambda one: one.name) == made[:2]
    assert store.tokens_of("bob") == made[2:]
    assert store.tokens_of("nobody") == []


def test_expired_ones_make_room(store: Store, clock: Clock) -> None:
    for name, owner in (("a", "ann"), ("b", "bob")):
        store.add_token(token(name, owner, "session", in_seconds(1)))
    clock.tick()
    store.add_token(token("c"))
    with store.database.reading() as connection:
        left = connection.exec_driver_sql("SELECT username, name FROM tokens ORDER BY username").all()
    assert [tuple(row) for row in left] == [("ann", "of c"), ("bob", "of b")]


def test_a_token_is_removed_by_whose_it_is(store: Store) -> None:
    store.add_token(token("a"))
    assert not store.remove_token(digest("a"), "bob")
    assert store.token(digest("a")) is not None
    assert store.remove_token(digest("a"), "ann")
    assert store.token(digest("a")) is None
    assert not store.remove_token(digest("a"))
    store.add_token(token("b"))
    assert store.remove_token(digest("b"))


def test_all_tokens_of_an_account_are_removed(store: Store) -> None:
    for name, owner, kind in (("a", "ann", "token"), ("b", "ann", "session"), ("c", "ann", "session")):
        store.add_token(token(name, owner, kind))  # type: ignore[arg-type]
    store.add_token(token("d", "bob", "session"))
    assert store.remove_tokens_of("ann", "session") == 2
    assert [one.name for one in store.tokens_of("ann")] == ["of a"]
    assert store.remove_tokens_of("ann") == 1
    assert store.remove_tokens_of("ann") == 0
    assert len(store.tokens_of("bob")) == 1


def test_the_first_operator(store: Store) -> None:
    store.add_account(ANN)
    assert store.add_operator(digest("t"))
    assert store.account("operator") == Account("operator", "", SCOPES, START)
    expected = Token(digest("t"), "operator", "token", "operator", SCOPES, START, None)
    assert store.token(digest("t")) == expected
    assert not store.add_operator(digest("u"))
    assert store.token(digest("u")) is None


def test_whoever_may_operate_is_operator_enough(store: Store) -> None:
    store.add_account(Account("boss", "", frozenset({"operate"}), START))
    assert not store.add_operator(digest("t"))
    assert store.account("operator") is None
    assert store.token(digest("t")) is None


def test_a_scope_that_only_looks_like_operate(store: Store) -> None:
    store.add_account(Account("odd", "", frozenset({"operates", "co operate", 'a"operate"'}), START))
    assert store.account("odd") == Account("odd", "", frozenset({"operates", "co operate", 'a"operate"'}), START)
    assert store.add_operator(digest("t"))


def test_an_operator_that_lost_the_scope_gets_it_back(store: Store) -> None:
    store.add_account(Account("operator", "mine", frozenset({"publish"}), START))
    assert store.add_operator(digest("t"))
    assert store.account("operator") == Account("operator", "mine", SCOPES, START)
    assert store.token(digest("t")) is not None
    assert not store.add_operator(digest("u"))


def test_the_last_operator_stays_one(store: Store) -> None:
    store.add_operator(digest("t"))
    store.add_account(ANN)
    with pytest.raises(LastOperator, match="'operator' is the last account with the scope 'operate'"):
        store.change_account("operator", scopes=frozenset({"publish"}))
    assert store.token(digest("t")) is not None
    assert store.change_account("ann", scopes=SCOPES)
    assert store.change_account("operator", scopes=frozenset({"publish"}))
    assert store.token(digest("t")) is None


def test_a_token_is_only_given_to_the_account_that_was_proved(store: Store) -> None:
    store.add_account(ANN)
    assert store.add_token(token("a"), ANN)
    for change in ({"password": "new"}, {"scopes": frozenset({"publish"})}):
        proved = store.account("ann")
        store.change_account("ann", **change)  # type: ignore[arg-type]
        assert not store.add_token(token("b"), proved)
    assert store.token(digest("b")) is None
    assert store.add_token(token("b"), store.account("ann"))


def test_a_new_password_and_the_end_of_tokens_are_one(store: Store) -> None:
    store.add_account(ANN)
    for name in ("a", "b"):
        store.add_token(token(name))
    store.add_token(token("c", "bob"))
    assert not store.change_account("ann", "new", proved=replace(ANN, password="other"), keep=digest("a"))
    assert len(store.tokens_of("ann")) == 2
    assert store.change_account("ann", "new", proved=ANN, keep=digest("a"))
    assert [one.name for one in store.tokens_of("ann")] == ["of a"]
    assert len(store.tokens_of("bob")) == 1


def test_the_oldest_tokens_make_room(store: Store) -> None:
    for number, kind in enumerate(("session", "token", "token", "session")):
        store.add_token(replace(token(str(number), kind=kind), created=in_seconds(number)))  # type: ignore[arg-type]
    store.add_token(token("another's", "bob"))
    store.add_token(replace(token("4"), created=in_seconds(4)), most=4)
    assert [one.name for one in store.tokens_of("ann")] == ["of 0", "of 2", "of 3", "of 4"]
    store.add_token(replace(token("5"), created=in_seconds(5)), most=2)
    assert [one.name for one in store.tokens_of("ann")] == ["of 3", "of 5"]
    assert len(store.tokens_of("bob")) == 1


def test_of_many_who_try_at_once_one_makes_the_operator(url: str) -> None:
    def attempt(number: int) -> bool:
        with Store.open(url) as store:
            return store.add_operator(digest(str(number)))

    Store.open(url).close()
    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(attempt, range(6))) == [False] * 5 + [True]
    with Store.open(url) as store:
        assert len(store.tokens_of("operator")) == 1


def test_the_journal_knows_nothing_of_them(store: Store) -> None:
    with_schema(store).add_account(ANN)
    store.add_token(token("t"))
    assert store.tail() == 5
    rebuild(store)
    assert store.account("ann") == ANN
    assert store.token(digest("t")) == token("t")
