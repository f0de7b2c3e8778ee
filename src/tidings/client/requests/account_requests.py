"""Requests about accounts and tokens, one function each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tidings.client.answers import Page, ServerResponse, StoredToken
from tidings.client.request import JSON, Request, as_json, change_request, member, nothing, read_request, segment


def register(username: str, password: str) -> Request[str]:
    return change_request("POST", "/v1/accounts", member("token"), {"username": username, "password": password})


def log_in(
    username: str, password: str, name: str | None, scopes: Iterable[str] | None, expires: str | None
) -> Request[str]:
    more = {"name": name, "scopes": None if scopes is None else sorted(scopes), "expires": expires}
    given = {member: value for member, value in more.items() if value is not None}
    body = {"username": username, "password": password, **given}
    return change_request("POST", "/v1/tokens", member("token"), body)


def log_out() -> Request[None]:
    """A token that is not valid any more is as good as logged out: the first answer may have been lost."""
    return Request("DELETE", "/v1/tokens/current", nothing, fine=frozenset({401}))


def account() -> Request[dict[str, Any]]:
    return read_request("/v1/accounts/me", ServerResponse.json)


def delete_account(password: str) -> Request[dict[str, Any]]:
    """Not sent twice: the token ends with the account, so the second answer would be a refusal."""
    body, headers = as_json({"password": password}), {"content-type": JSON}
    return Request("POST", "/v1/accounts/me/delete", ServerResponse.json, body=body, headers=headers, idempotent=False)


def tokens(after: str | None) -> Request[Page[StoredToken]]:
    def read(answer: ServerResponse) -> Page[StoredToken]:
        body = answer.json()
        found = (StoredToken(**{**one, "scopes": tuple(one["scopes"])}) for one in body["items"])
        return Page(tuple(found), body["next"])

    return read_request("/v1/tokens", read, after=after)


def delete_token(id: str) -> Request[None]:
    return Request("DELETE", f"/v1/tokens/{segment(id)}", nothing)
