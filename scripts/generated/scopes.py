"""The table of who may do what: each route, page and XML request, by the token that it comes with."""

from __future__ import annotations

from generated.part import table
from tidings.service.door.scopes import HTTP, LINK, LINKS, NOTHING, PAGES, TOKEN, XML
from tidings.settings import SCOPES

_OWNED = ("{id}", "{number}", "{username}")  # in the address of what belongs to somebody
_HEADER = ["request", "needs", "no token", "without the scope", "with it", "what is another's"]


def http() -> str:
    return table(_HEADER, [_row(request, need, "401", "403") for request, need in HTTP.items()])


def links() -> str:
    return table(_HEADER, [_row(request, need, "401", "403") for request, need in LINKS.items()])


def pages() -> str:
    rows = [_row(request, need, "log in", "404" if need == "operate" else "403") for request, need in PAGES.items()]
    return table(_HEADER, rows)


def xml() -> str:
    others = {"DELETE_SUB": "NoSuchSubscription", "LIST_EVENTS": "NoSuchSubscription", "LIST_SUBS": "NoSuchUser"}
    rows = [
        (f"`{name}`", f"`{scope}`", "NoToken", "OutOfScope", "OK", others.get(name, "")) for name, scope in XML.items()
    ]
    return table(_HEADER, rows)


def _row(request: str, need: str, nobody: str, without: str) -> tuple[str, ...]:
    shown = f"`{need}`" if need in (*SCOPES, LINK) else need
    owned = any(part in request for part in _OWNED) and need not in (NOTHING, "operate")
    others = "404" if owned else ""
    if need == NOTHING:
        return f"`{request}`", shown, "OK", "OK", "OK", ""
    return f"`{request}`", shown, nobody, "OK" if need == TOKEN else without, "OK", others
