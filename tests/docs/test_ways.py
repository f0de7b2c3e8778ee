"""The drawing of the way of each operation in docs/service.md names routes, XML requests and actions that exist."""

import importlib
import re

from tests.docs.pages import ROOT
from tidings.service.door import scopes

_ACTION = re.compile(r"─> ([a-z_]+)\.([A-Za-z_]+)((?:, [a-z_]+)*)$", re.MULTILINE)
_ROUTE = re.compile(r"^ +(GET|POST|PATCH|DELETE) (/v1/[^ ,─]+)(?:, (/v1/[^ ,─]+))?", re.MULTILINE)


def _drawing() -> str:
    page = (ROOT / "docs/service.md").read_text(encoding="utf-8")
    return page.partition("## How an operation is carried out")[2].partition("\n## ")[0]


def test_every_action_that_is_drawn_exists() -> None:
    drawn = _ACTION.findall(_drawing())
    assert len(drawn) == 21
    for module, first, more in drawn:
        rooms = {"event_array": "publishing.", "event_lines": "publishing.", "network": ""}
        room = f"tidings.service.{rooms.get(module, 'actions.')}"
        found = importlib.import_module(f"{room}{module}")
        owner = found.Channels if module == "channels" else found
        for name in (first, *more.split(", ")[1:]):
            assert hasattr(owner, name), f"{module}.{name}"


def test_every_route_that_is_drawn_exists() -> None:
    reference = (ROOT / "docs/reference/scopes.md").read_text(encoding="utf-8")
    drawn = _ROUTE.findall(_drawing())
    assert len(drawn) >= 10
    for method, *paths in drawn:
        for path in filter(None, paths):
            route = f"{method} {path}"
            assert f"`{route}`" in reference or route in scopes.LINKS, route


def test_every_route_that_changes_something_is_drawn() -> None:
    """By name, or by the beginning of its path, as `/v1/tokens` and "POST /v1/schema/domains and others"."""
    beginnings = ("/v1/schema/", "/v1/accounts", "/v1/tokens", "/v1/subscriptions/{id}/channel/", "/v1/queries/")
    drawing = _drawing()
    changing = [one for one in (*scopes.HTTP, *scopes.LINKS) if one.partition(" ")[0] not in ("GET", "HEAD")]
    assert len(changing) > 30
    for route in changing:
        path = route.partition(" ")[2]
        drawn = re.search(re.escape(path) + r"(?![\w/{])", drawing) is not None
        assert drawn or path.startswith((*beginnings, "/confirm/", "/unsubscribe/")), route


def test_every_xml_request_that_is_drawn_exists() -> None:
    reference = (ROOT / "docs/reference/xml.md").read_text(encoding="utf-8")
    drawn = re.findall(r"^ +XML ([A-Z_]+)", _drawing(), re.MULTILINE)
    assert len(drawn) == 4
    assert all(f"`{name}`" in reference for name in drawn)
