"""/v1/accounts and /v1/tokens: register, log in and out, new passwords, deletion; for operators, scopes and quotas."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response

from tidings.service.actions.account_errors import LONGEST_PASSWORD, SHORTEST_PASSWORD
from tidings.service.actions.accounts import USERNAME, token_id
from tidings.service.actions.times import read_future_time
from tidings.service.api.requests import V1, After, Calling, Limit, accounts_of, address_of, answered, page, part_of
from tidings.service.api.shapes import Shape, read_body, says, says_nothing, takes
from tidings.service.door.idempotency import IdempotencyKey, IdempotentRoute
from tidings.settings import SCOPES
from tidings.store.accounts.accounts import Token
from tidings.store.journal.fitness import LARGEST_QUOTA

router = APIRouter(prefix=V1, tags=["accounts"], route_class=IdempotentRoute)

Scope = Literal["publish", "subscribe", "read", "account", "schema", "operate"]
# What is wrong with them, `accounts` says in plainer words than msgspec would.
Username = Annotated[str, msgspec.Meta(extra_json_schema={"pattern": USERNAME})]
_NO_ZERO = "^[^\\u0000]*$"
_LENGTH = {"minLength": SHORTEST_PASSWORD, "maxLength": LONGEST_PASSWORD, "pattern": _NO_ZERO}
Password = Annotated[str, msgspec.Meta(extra_json_schema=_LENGTH)]


class Credentials(Shape, frozen=True):
    username: Username
    password: Password


class LogIn(Shape, frozen=True):
    username: Username
    password: Password
    name: Annotated[str, msgspec.Meta(max_length=200, pattern=_NO_ZERO)] = ""  # PostgreSQL keeps no zero
    scopes: list[Scope] | None = None
    expires: Annotated[str, msgspec.Meta(max_length=100)] | None = None


class Registered(Shape, frozen=True):
    username: str
    token: str
    scopes: list[Scope]


class LoggedIn(Shape, frozen=True):
    token: str
    scopes: list[Scope]


class TokenSeen(Shape, frozen=True):
    id: str
    name: str
    kind: str
    scopes: list[Scope]
    created: str
    expires: str | None
    current: bool


class Tokens(Shape, frozen=True):
    items: list[TokenSeen]
    next: str | None


class AccountSeen(Shape, frozen=True):
    username: str
    scopes: list[Scope]
    created: str


class NewPassword(Shape, frozen=True):
    old: Password
    new: Password


class PasswordGiven(Shape, frozen=True):
    password: Password


class AccountDeleted(Shape, frozen=True):
    """How many subscriptions were withdrawn, and how many due deliveries were removed."""

    username: str
    subscriptions: int
    deliveries: int


class NewScopes(Shape, frozen=True):
    scopes: list[Scope]


class NewQuota(Shape, frozen=True):
    matches_per_minute: Annotated[int, msgspec.Meta(ge=0, le=LARGEST_QUOTA)]


class QuotaSeen(Shape, frozen=True):
    username: str
    matches_per_minute: int


def _listed(scopes: frozenset[str]) -> list[str]:
    return [scope for scope in SCOPES if scope in scopes]


@router.post(
    "/accounts",
    status_code=201,
    openapi_extra=takes(Credentials),
    responses=says(Registered, "The account and its token", 201),
)
async def register(request: Request, key: IdempotencyKey = None) -> Response:
    """Create an account and get a token for it. The token is shown only in this answer."""
    body = await read_body(request, Credentials)
    secret, token = await accounts_of(request).register(body.username, body.password, address_of(request))
    return answered({"username": token.username, "token": secret, "scopes": _listed(token.scopes)}, 201)


@router.get("/accounts/me", responses=says(AccountSeen, "Your account"))
async def me(request: Request, caller: Calling) -> Response:
    """Get your username and the scopes of your account."""
    account = await accounts_of(request).account(caller.owner)
    seen = {"username": account.username, "scopes": _listed(account.scopes), "created": str(account.created)}
    return answered(seen)


@router.post(
    "/accounts/me/password",
    status_code=204,
    openapi_extra=takes(NewPassword),
    responses=says_nothing("Changed; your other tokens were deleted"),
)
async def change_password(request: Request, caller: Calling, key: IdempotencyKey = None) -> Response:
    """Change your password. All your tokens are deleted except the one that sent the request."""
    body = await read_body(request, NewPassword)
    await accounts_of(request).change_password(caller, body.old, body.new, address_of(request))
    return Response(status_code=204)


@router.post(
    "/accounts/me/delete",
    openapi_extra=takes(PasswordGiven),
    responses=says(AccountDeleted, "Deleted"),
)
async def delete_account(request: Request, caller: Calling, key: IdempotencyKey = None) -> Response:
    """Delete your account. This cannot be undone: your subscriptions and advertisements are withdrawn, and all tokens,
    sessions, channels, due deliveries and notices are removed. Published events stay, and nobody else can take the
    name."""
    body = await read_body(request, PasswordGiven)
    deleted = await accounts_of(request).delete(caller, body.password, address_of(request))
    counts = {"subscriptions": deleted.subscriptions, "deliveries": deleted.deliveries}
    return answered({"username": caller.owner, **counts})


@router.patch(
    "/accounts/{username}", openapi_extra=takes(NewScopes), responses=says(AccountSeen, "The changed account")
)
async def change_scopes(username: str, request: Request, _: Calling) -> Response:
    """For operators: set the scopes of an account. Tokens with further scopes are deleted."""
    body = await read_body(request, NewScopes)
    account = await accounts_of(request).change_scopes(username, frozenset(body.scopes))
    seen = {"username": account.username, "scopes": _listed(account.scopes), "created": str(account.created)}
    return answered(seen)


@router.put("/accounts/{username}/quota", openapi_extra=takes(NewQuota), responses=says(QuotaSeen, "The new quota"))
async def set_quota(username: str, request: Request, _: Calling) -> Response:
    """For operators: limit the matches of an account per minute; 0 means no limit. Further matches are counted but not
    stored, and the owner gets a notice, at most once a minute."""
    body = await read_body(request, NewQuota)
    await accounts_of(request).set_quota(username, body.matches_per_minute)
    return answered({"username": username, "matches_per_minute": body.matches_per_minute})


@router.post("/tokens", status_code=201, openapi_extra=takes(LogIn), responses=says(LoggedIn, "A new token", 201))
async def log_in(request: Request, key: IdempotencyKey = None) -> Response:
    """Log in and get a token, with all scopes of the account or with those you name. The token is shown only in this
    answer."""
    body = await read_body(request, LogIn)
    scopes = None if body.scopes is None else frozenset(body.scopes)
    expires = None if body.expires is None else read_future_time("expires", body.expires)
    secret, token = await accounts_of(request).log_in(
        body.username, body.password, address_of(request), body.name, scopes, expires
    )
    return answered({"token": secret, "scopes": _listed(token.scopes)}, 201)


@router.get("/tokens", responses=says(Tokens, "A page"))
async def tokens(request: Request, caller: Calling, after: After = "", limit: Limit = 100) -> Response:
    """List your tokens, without their secrets."""
    some, next = part_of(await accounts_of(request).tokens(caller), after, limit)
    return page(request, [_seen(token, caller.digest) for token in some], next)


@router.delete("/tokens/current", status_code=204, responses=says_nothing("Deleted"))
async def log_out(request: Request, caller: Calling) -> Response:
    """Delete the token that sent the request."""
    await accounts_of(request).remove_token(caller, "current")
    return Response(status_code=204)


@router.delete("/tokens/{id}", status_code=204, responses=says_nothing("Deleted"))
async def remove_token(id: str, request: Request, caller: Calling) -> Response:
    """Delete one of your tokens, by its id."""
    await accounts_of(request).remove_token(caller, id)
    return Response(status_code=204)


def _seen(token: Token, current: bytes) -> dict[str, object]:
    return {
        "id": token_id(token),
        "name": token.name,
        "kind": token.kind,
        "scopes": _listed(token.scopes),
        "created": str(token.created),
        "expires": None if token.expires is None else str(token.expires),
        "current": token.digest == current,
    }
