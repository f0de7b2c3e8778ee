"""Tokens that are remembered: a bounded number of them, those that were looked up last."""

import pytest

from tests.service.conftest import Service, on_sqlite
from tidings.schema import Instant
from tidings.service.door.callers import Callers, UnknownToken, digest_of
from tidings.store.accounts.accounts import Token


@on_sqlite
def test_the_token_that_was_looked_up_longest_ago_makes_room(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidings.service.door.callers._MOST_REMEMBERED", 3)
    callers = Callers(service.store)
    digests = [digest_of(f"tid_{number}") for number in range(5)]
    for digest in digests:
        service.store.add_token(Token(digest, "tester", "token", "", frozenset(), Instant(0), None))
    for digest in (*digests, digests[2], digests[0]):
        callers.look_up(digest)
    assert [callers.was_known(digest) for digest in digests] == [True, False, True, False, True]


@on_sqlite
def test_what_is_not_valid_is_not_remembered(service: Service) -> None:
    callers = Callers(service.store)
    with pytest.raises(UnknownToken):
        callers.look_up(digest_of("tid_junk"))
    assert not callers.was_known(digest_of("tid_junk"))
