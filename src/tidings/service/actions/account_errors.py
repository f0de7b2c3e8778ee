"""What can be wrong with accounts, passwords and tokens."""

from __future__ import annotations

from tidings.errors import Explained, ServiceError

SHORTEST_PASSWORD, LONGEST_PASSWORD = 8, 1_000


class IllegalUsername(Explained, ServiceError):
    username: str
    template = (
        "{username!v} cannot be a username: expected 3 to 64 lower-case letters (a-z), digits, '_', '.' or '-', "
        "beginning with a letter or a digit"
    )


class IllegalPassword(Explained, ServiceError):
    template = f"a password must have {SHORTEST_PASSWORD} to {LONGEST_PASSWORD:,} characters, none of them U+0000"


class RegistrationClosed(Explained, ServiceError):
    template = "registration is closed; ask the operator of the service for an account"


class WrongPassword(Explained, ServiceError):
    """Or the account does not exist; the error does not reveal which."""

    template = "wrong username or password"


class AccountDisabled(Explained, ServiceError):
    """Revealed only to callers who know the password."""

    template = "this account is disabled; ask the operator of the service"


class NoSuchAccount(Explained, ServiceError):
    username: str
    template = "no account {username!v}"


class NoSuchToken(Explained, ServiceError):
    id: str
    template = "you have no token {id!v}; GET /v1/tokens lists yours"


class TooManyLogins(Explained, ServiceError):
    template = "too many logins at once; try again in a second"
