"""The table of the API's routes, from the OpenAPI document and the table of scopes."""

from __future__ import annotations

from generated.part import table
from generated.served import application
from tidings.service.door.scopes import need_of
from tidings.settings import SCOPES

_TITLES = {
    "events": "Events",
    "filters": "Filters",
    "queries": "Queries",
    "subscriptions": "Subscriptions",
    "notifications": "Notifications",
    "channels": "Channels and notices",
    "deliveries": "Deliveries",
    "schema": "Schema",
    "accounts": "Accounts and tokens",
    "network": "Network",
    "documents": "Documents",
    "operations": "Operations",
}
_EVERYWHERE = {"400", "405", "408", "429", "503"}  # said once, above the tables


def routes() -> str:
    _, document = application()
    by_tag: dict[str, list[tuple[str, str, str, str]]] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            told = " ".join(operation["description"].rpartition("\n\n")[0].split())  # the last line is the need
            statuses = ", ".join(sorted(set(operation["responses"]) - _EVERYWHERE))
            need = need_of(method.upper(), path)
            need = f"`{need}`" if need in SCOPES else need
            tag = operation["tags"][0]
            by_tag.setdefault(tag, []).append((f"`{method.upper()} {path}`", need, told, statuses))
    found = []
    for tag in sorted(by_tag, key=lambda tag: list(_TITLES).index(tag) if tag in _TITLES else len(_TITLES)):
        title = _TITLES.get(tag, tag.capitalize())
        found.append(f"### {title}\n\n" + table(["request", "needs", "what it does", "answers"], by_tag[tag]))
    return "\n\n".join(found)
