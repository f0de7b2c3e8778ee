"""Every form carries a proof, and no other site's form does anything."""

import re

import httpx
import pytest
from fastapi.routing import APIRoute

from tests.service.conftest import Service, on_sqlite
from tests.service.pages.visitor import Visitor
from tidings.service import pages

pytestmark = on_sqlite

_FORMS = sorted(
    route.path
    for route in pages.router.routes
    if isinstance(route, APIRoute) and "POST" in (route.methods or ()) and "filter" not in route.path
)


def _filled(path: str, id: str) -> str:
    return path.replace("{id}", id).replace("{way}", "domain")


@pytest.mark.parametrize("proof", [None, "", "0" * 64])
def test_no_form_is_taken_without_its_proof(service: Service, ann: Visitor, proof: str | None) -> None:
    assert {"/pages/login", "/pages/publish", "/pages/subscriptions/{id}/delete"} <= set(_FORMS)
    id = ann.subscribe("brand = mini")
    tail = service.store.tail()
    for path in _FORMS:
        data = {"back": "one"} if proof is None else {"proof": proof}
        answer = ann.client.post(_filled(path, id), data=data)
        if path.startswith("/pages/operator"):
            assert answer.status_code == 404, "ann is no operator"
            continue
        assert answer.status_code == 403, path
        assert "does not belong to your session" in answer.text
    assert service.store.tail() == tail
    assert ann.get("/pages/account").status_code == 200, "the session still stands"


def test_the_proof_of_another_session_is_none(service: Service, ann: Visitor) -> None:
    bob = Visitor(service).join("bob")
    bob.get("/pages/publish", type="car")
    fields = bob.form("/pages/publish") | {"value:brand": ["mini"], "value:year": ["1990"]}
    tail = service.store.tail()
    assert ann.client.post("/pages/publish", data=fields).status_code == 403
    assert service.store.tail() == tail


def test_another_sites_form_is_refused_even_with_the_proof(service: Service, ann: Visitor) -> None:
    ann.get("/pages/publish", type="car")
    fields = ann.form("/pages/publish") | {"value:brand": ["mini"], "value:year": ["1990"]}
    answer = ann.client.post("/pages/publish", data=fields, headers={"Origin": "https://evil.example"})
    assert answer.status_code == 403
    assert "pages of other sites" in answer.text.lower()


def test_the_builders_questions_need_the_proof_too(ann: Visitor) -> None:
    for path in ("/pages/filter", "/pages/filter/count"):
        assert ann.client.post(path, json={"text": "brand = mini"}).status_code == 403


def test_a_guest_cannot_be_logged_in_by_another_site(service: Service) -> None:
    with httpx.Client(base_url=service.address) as nobody:
        answer = nobody.post("/pages/login", data={"username": "tester", "password": "x"})
    assert answer.status_code == 403


def test_every_page_forbids_inline_script_and_other_hosts(ann: Visitor) -> None:
    id = ann.subscribe("brand = mini")
    paths = [
        "/",
        "/pages/schema",
        "/pages/schema/history",
        "/pages/publish",
        "/pages/publish?type=car",
        "/pages/account",
    ]
    paths += [
        "/pages/subscriptions",
        "/pages/subscriptions/new",
        f"/pages/subscriptions/{id}",
        f"/pages/subscriptions/{id}/channel",
        f"/pages/subscriptions/{id}/deliveries",
        "/pages/notices",
        "/pages/none",
        "/pages/now",
    ]
    paths += [f"/pages/schema/grow/{way}" for way in ("domain", "attribute", "event-type", "extension", "value")]
    for path in paths:
        answer = ann.get(path)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'self'" in policy, path
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert not re.search(r"<script(?![^>]* src=\")", answer.text), path
        assert not re.search(r"\s(on\w+|style)=", answer.text), path
        assert not re.search(r"(src|href|action)=\"(https?:)?//", answer.text), path
