"""The methods of the store for accounts, tokens and kept responses, which are no part of the journal."""

from __future__ import annotations

from tidings.store.accounts import accounts, kept_responses
from tidings.store.accounts.accounts import Account, ListedAccount, Token, TokenKind
from tidings.store.accounts.kept_responses import KeptResponse
from tidings.store.clock.clock_guard import ClockGuard
from tidings.store.databases.database import Database


class AccountStore:
    """Every method is one short transaction."""

    database: Database
    clock: ClockGuard

    def add_account(self, account: Account) -> None:
        """Raises AccountExists or UnfitAccount."""
        accounts.add_account(self.database, account)

    def account(self, username: str) -> Account | None:
        with self.database.reading() as connection:
            return accounts.account(connection, username)

    def accounts(self, after: str = "", limit: int = 1_000) -> list[ListedAccount]:
        """By name, from after this one on; without those that were deleted."""
        with self.database.reading() as connection:
            return accounts.listed(connection, after, limit, self.clock.now())

    def change_account(
        self,
        username: str,
        password: str | None = None,
        scopes: frozenset[str] | None = None,
        *,
        proved: Account | None = None,
        keep: bytes | None = None,
    ) -> bool:
        """What is given. Tokens that may do more than `scopes` are removed, and all but the one to `keep`.

        False when there is no such account, or it is not any more as it was `proved`. Raises LastOperator.
        """
        return accounts.change_account(self.database, username, password, scopes, proved, keep)

    def add_operator(self, token_digest: bytes) -> bool:
        """An operator where none is, and a token: False when an account may operate already."""
        return accounts.add_operator(self.database, token_digest, self.clock.now())

    def add_token(self, token: Token, proved: Account | None = None, most: int | None = None) -> bool:
        """Those of its account that have expired are removed, and the oldest where there would be more than `most`.

        False, and nothing is done, when the account is not any more as it was `proved`.
        """
        return accounts.add_token(self.database, token, self.clock.now(), proved, most)

    def token(self, digest: bytes) -> Token | None:
        """None when it has expired, too."""
        with self.database.reading() as connection:
            return accounts.token(connection, digest, self.clock.now())

    def tokens_of(self, username: str) -> list[Token]:
        """Those that have not expired, oldest first."""
        with self.database.reading() as connection:
            return accounts.tokens_of(connection, username, self.clock.now())

    def remove_token(self, digest: bytes, username: str | None = None) -> bool:
        """Whoever's it is, or only if it is this account's; whether there was one."""
        return accounts.remove_token(self.database, digest, username)

    def remove_tokens_of(self, username: str, kind: TokenKind | None = None) -> int:
        """All, or those of one kind. Answers how many."""
        return accounts.remove_tokens_of(self.database, username, kind)

    def kept_response(self, key: bytes) -> KeptResponse | None:
        """What was answered to a request under this key, for 24 hours."""
        with self.database.reading() as connection:
            return kept_responses.one(connection, key, self.clock.now())

    def keep_response(self, response: KeptResponse) -> bool:
        """False when one is kept under its key already; that one stays."""
        return kept_responses.keep(self.database, response, self.clock.now())
