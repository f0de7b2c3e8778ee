"""Requests about a network of servers, one function each."""

from __future__ import annotations

from typing import Any

from tidings.client.answers import Page, ServerResponse
from tidings.client.request import ANSWERED, Request, change_request, member, read_request, segment


def network() -> Request[dict[str, Any]]:
    return read_request("/v1/network", ServerResponse.json)


def invite() -> Request[dict[str, Any]]:
    return change_request("POST", "/v1/network/invitations", ServerResponse.json)


def links(after: str | None) -> Request[Page[dict[str, Any]]]:
    return read_request("/v1/network/links", _page, after=after)


def join(url: str, token: str) -> Request[str]:
    return change_request("POST", "/v1/network/links", member("name"), {"url": url, "token": token})


def remove_link(name: str) -> Request[str]:
    return change_request("DELETE", f"/v1/network/links/{segment(name)}", member("removed"))


def search(filter: str, limit: int) -> Request[dict[str, Any]]:
    return read_request("/v1/network/events", ServerResponse.json, waits=ANSWERED, filter=filter, limit=limit)


def order(kind: str, value: str) -> Request[str]:
    body = {"kind": kind, "value": value}
    return change_request("POST", "/v1/network/orders", member("ordered"), body, waits=ANSWERED)


def ticket() -> Request[dict[str, Any]]:
    return change_request("POST", "/v1/network/tickets", ServerResponse.json)


def move(to: str, ticket: str, subscriptions: list[str] | None) -> Request[list[str]]:
    body: dict[str, Any] = {"to": to, "ticket": ticket}
    if subscriptions is not None:
        body["subscriptions"] = subscriptions
    return change_request("POST", "/v1/network/moves", member("moving"), body)


def moves(after: str | None) -> Request[Page[dict[str, Any]]]:
    return read_request("/v1/network/moves", _page, after=after)


def advertise(filter: str) -> Request[dict[str, Any]]:
    return change_request("POST", "/v1/network/advertisements", ServerResponse.json, {"filter": filter})


def advertisements(after: str | None) -> Request[Page[dict[str, Any]]]:
    return read_request("/v1/network/advertisements", _page, after=after)


def withdraw_advertisement(id: str) -> Request[str]:
    return change_request("DELETE", f"/v1/network/advertisements/{segment(id)}", member("withdrawn"))


def take_home() -> Request[str]:
    return change_request("POST", "/v1/network/home", member("home"))


def _page(answer: ServerResponse) -> Page[dict[str, Any]]:
    body = answer.json()
    return Page(tuple(body["items"]), body["next"])
