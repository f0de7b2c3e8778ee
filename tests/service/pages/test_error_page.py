"""What goes wrong outside a page's own code: a browser gets a page all the same, a program gets JSON."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.service.conftest import Service, on_sqlite
from tests.service.pages.visitor import Visitor
from tidings.service.api.operator_routes import Figuring
from tidings.service.api.requests import SESSION
from tidings.service.door.rate_limits import Throttle
from tidings.store import StoreUnreachable

pytestmark = on_sqlite
_PATHS = ("/", "/pages/subscriptions", "/pages/publish")


def _both(visitor: Visitor, path: str, status: int) -> Any:
    """What a program is told; a browser gets the same status as a page with these words."""
    told = visitor.client.get(path, headers={"Accept": "application/json"})
    assert told.headers["content-type"] == "application/problem+json"
    visitor.get(path)
    assert (visitor.page.status_code, told.status_code) == (status, status)
    assert visitor.page.headers["content-type"].startswith("text/html")
    assert visitor.page.headers.get("retry-after") == told.headers.get("retry-after")
    assert "default-src 'self'" in visitor.page.headers["content-security-policy"]
    assert visitor.tree.find(".//h1") is not None
    assert not visitor.tree.findall(".//form"), "who visits is not known"
    return told.json()


def test_what_nobody_foresaw(service: Service, ann: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("<b>inside</b>")

    monkeypatch.setattr(service.gateway.store, "catalog", broken)
    _both(ann, "/pages/publish", 500)
    assert "Something went wrong" in ann.text
    assert "The service failed unexpectedly" in ann.text
    assert "inside" not in ann.page.text


def test_a_store_that_is_away_while_the_session_is_looked_up(
    service: Service, ann: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise StoreUnreachable("the/place", "the driver's words")

    service.gateway.callers.forget()
    monkeypatch.setattr(service.gateway.callers._store, "token", away)
    for path in _PATHS:
        _both(ann, path, 503)
        assert "The store is not available now" in ann.text
        assert "the/place" not in ann.page.text
    assert SESSION in ann.client.cookies, "the session is not over"


def test_too_many_requests(service: Service, visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    throttle = Throttle(0.0, burst=1, clock=lambda: 0.0)
    monkeypatch.setattr(service.gateway.admission, "_by_address", throttle)
    assert visitor.get("/").status_code == 200
    for path in _PATHS:
        _both(visitor, path, 429)
        assert "Too many requests" in visitor.text
    api = visitor.client.get("/schema.json")
    assert api.status_code == 429
    assert api.headers["content-type"] == "application/problem+json", "no page was asked for"


def test_too_large_a_form(service: Service, ann: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service.gateway, "settings", replace(service.gateway.settings, largest_body=100))
    ann.page = ann.client.post("/pages/publish", data={"text": "x" * 200})
    assert ann.page.status_code == 413
    assert "The body is larger than 100 bytes" in ann.text


def test_an_address_that_has_no_page_is_no_alarm(ann: Visitor) -> None:
    for path in ("/pages/nowhere", "/pages/events/x"):
        ann.get(path)
        assert ann.page.status_code == 404
        assert "There is no page at this address." in ann.text
        assert ann.tree.find_class("notice")
        assert not ann.tree.find_class("bad")


def test_the_operators_page_says_that_the_store_does_not_answer(
    service: Service, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor.join("olga")
    service.store.change_account("olga", None, frozenset({"publish", "subscribe", "operate"}))
    service.gateway.callers.forget()
    operator = Visitor(service).log_in("olga")

    async def hanging(_: object) -> None:
        raise TimeoutError

    for figures in ("figures", "deliveries"):
        with monkeypatch.context() as patched:
            patched.setattr(Figuring, figures, hanging)
            operator.get("/pages/operator")
            assert operator.page.status_code == 200, operator.text
            assert "The store is not responding." in operator.text
            assert "Pipeline" in operator.text
            assert "Dead letters" not in operator.text
        assert "The store is not responding" not in operator.get("/pages/operator").text
    monkeypatch.setattr(Figuring, "figures", hanging)
    piece = operator.get("/pages/operator/now")
    assert piece.status_code == 200
    assert "The store is not responding." in operator.text
