"""A form whose page is older than the session: it does nothing, and comes back filled in, to its owner alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.service.conftest import PASSWORD, SETTINGS, Service, on_sqlite
from tests.service.pages.visitor import Visitor
from tidings.service.api.requests import SESSION
from tidings.service.door.callers import Caller, digest_of
from tidings.service.pages.forms.csrf import proof_of
from tidings.settings import Settings

pytestmark = on_sqlite
NEW = "/pages/subscriptions/new"
STILL_HERE = "What you typed is still here"


@pytest.fixture
def settings() -> Settings:
    return replace(SETTINGS, allow_loopback_webhooks=True, webhook_handshake="none")


def _typed(visitor: Visitor, text: str = "brand = 'mini'") -> dict[str, Any]:
    """The form of a page that stays open in a tab."""
    visitor.get(NEW)
    return visitor.form(NEW) | {"text": text}


def _send(visitor: Visitor, path: str, fields: dict[str, Any], **headers: str) -> None:
    visitor.page = visitor.client.post(path, data=fields, headers=headers, follow_redirects=True)


def _log_in(visitor: Visitor, username: str) -> None:
    """In another tab, over whatever session there is."""
    visitor.get("/")
    if SESSION in visitor.client.cookies:
        visitor.submit("/pages/logout")
    visitor.log_in(username)
    assert visitor.page.status_code == 200, visitor.text


def _end(service: Service, username: str) -> None:
    service.store.remove_tokens_of(username)
    service.gateway.callers.forget()


def test_after_a_new_log_in_the_form_comes_back_filled_in(service: Service, ann: Visitor) -> None:
    fields = _typed(ann)
    _log_in(ann, "ann")
    tail = service.store.tail()
    _send(ann, NEW, fields)
    assert (ann.page.status_code, ann.page.url.path) == (200, NEW)
    assert STILL_HERE in ann.text
    assert "This was not sent" in ann.text
    assert ann.tree.get_element_by_id("text").text.strip() == "brand = 'mini'"
    assert service.store.tail() == tail
    ann.submit(NEW)
    assert service.store.tail() == tail + 1


def test_what_was_pressed_is_not_done_and_said(service: Service, ann: Visitor) -> None:
    id = ann.subscribe("brand = mini")
    ann.get(f"/pages/subscriptions/{id}")
    fields = ann.form(f"/pages/subscriptions/{id}/pause")
    _log_in(ann, "ann")
    _send(ann, f"/pages/subscriptions/{id}/pause", fields)
    assert "Nothing was done because you have a new session" in ann.text
    assert ann.page.url.path == f"/pages/subscriptions/{id}"
    assert service.store.subscription(id).state == "active"


def test_another_visitor_is_told_who_is_logged_in_and_sees_nothing_of_it(service: Service, ann: Visitor) -> None:
    Visitor(service).join("bob")
    id = ann.subscribe("brand = mini")
    ann.get(f"/pages/subscriptions/{id}")
    paused = ann.form(f"/pages/subscriptions/{id}/pause")
    fields = _typed(ann, "brand = 'secret of ann'")
    _log_in(ann, "bob")
    for path, sent in ((NEW, fields), (f"/pages/subscriptions/{id}/pause", paused)):
        _send(ann, path, sent)
        assert ann.page.status_code == 403
        assert "You are logged in as bob now" in ann.text
        assert "secret of ann" not in ann.page.text
    assert "secret of ann" not in ann.get(NEW).text


def test_a_kept_form_is_its_owners(service: Service, ann: Visitor) -> None:
    Visitor(service).join("bob")
    for account, seen in (("bob", False), ("ann", True)):
        _log_in(ann, "ann")
        fields = _typed(ann, "brand = 'secret of ann'")
        _end(service, "ann")
        _send(ann, NEW, fields)
        assert ann.page.status_code == 401
        assert "nothing was sent" in ann.text
        assert ann.form("/pages/login")["username"] == ["ann"], "the name is there already"
        ann.submit("/pages/login", username=account, password=PASSWORD)
        assert ann.page.url.path == (NEW if seen else "/")
        assert ("secret of ann" in ann.page.text) == seen
        assert ("secret of ann" in ann.get(NEW).text) is False, "it is shown once"


def test_the_name_is_trusted_without_the_cookie_only_to_narrow(service: Service, ann: Visitor) -> None:
    """Any page that was looked at after the session's end has taken the cookie away."""
    fields = _typed(ann, "brand = 'secret of ann'")
    _end(service, "ann")
    ann.get("/")
    assert SESSION not in ann.client.cookies
    _send(ann, NEW, fields)
    assert ann.page.status_code == 401
    assert ann.form("/pages/login")["username"] == ["ann"]
    ann.submit("/pages/login", password=PASSWORD)
    assert STILL_HERE in ann.text


def test_to_log_out_twice_is_to_be_out(service: Service, ann: Visitor) -> None:
    ann.get("/")
    fields = ann.form("/pages/logout")
    ann.submit("/pages/logout")
    _send(ann, "/pages/logout", fields)
    assert (ann.page.status_code, ann.page.url.path) == (200, "/")
    _log_in(ann, "ann")
    secret = ann.client.cookies[SESSION]
    _send(ann, "/pages/logout", fields)
    assert service.store.token(digest_of(secret)) is None, "what they can only have meant"
    assert SESSION not in ann.client.cookies


def test_another_sites_button_takes_no_cookie_away(service: Service, ann: Visitor) -> None:
    """A browser sends such a form without the cookie, and would obey an answer that deletes it."""
    nobody = Visitor(service)
    answer = nobody.client.post("/pages/logout", headers={"Origin": "https://evil.example"})
    assert answer.status_code == 303
    assert "set-cookie" not in answer.headers
    answer = ann.client.post("/pages/logout", headers={"Origin": "https://evil.example"})
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers
    assert ann.get("/pages/account").url.path == "/pages/account"


def test_another_visitors_button_logs_nobody_out(service: Service, ann: Visitor) -> None:
    Visitor(service).join("bob")
    ann.get("/")
    fields = ann.form("/pages/logout")
    _log_in(ann, "bob")
    _send(ann, "/pages/logout", fields)
    assert ann.page.status_code == 403
    assert "You are logged in as bob now" in ann.text
    assert service.store.token(digest_of(ann.client.cookies[SESSION])) is not None


def test_a_log_in_page_in_two_tabs(service: Service, ann: Visitor) -> None:
    ann.get("/")
    ann.submit("/pages/logout")
    ann.get("/pages/subscriptions")
    fields = ann.form("/pages/login") | {"username": "ann", "password": PASSWORD}
    ann.submit("/pages/login", username="ann", password=PASSWORD)
    secret = ann.client.cookies[SESSION]
    _send(ann, "/pages/login", fields)
    assert (ann.page.status_code, ann.page.url.path) == (200, "/pages/subscriptions")
    assert ann.client.cookies[SESSION] == secret
    for path in ("/pages/login", "/pages/register"):
        ann.get("/")
        ann.submit("/pages/logout")
        _send(ann, path, fields)
        assert ann.page.status_code == 403
        assert "This page was open for too long" in ann.text
        assert SESSION not in ann.client.cookies
        assert ann.form(path)["username"] == ["ann"]
        ann.log_in("ann")


def test_where_guests_may_publish(service: Service, ann: Visitor) -> None:
    service.gateway.guest = Caller("", frozenset({"publish"}))
    sent = {"value:brand": "mini", "value:year": "1990"}
    ann.get("/pages/publish", type="car")
    fields = ann.form("/pages/publish") | sent
    tail = service.store.tail()
    _end(service, "ann")
    ann.get("/")
    _send(ann, "/pages/publish", fields)
    assert ann.page.status_code == 401, "it was not a guest who wrote it"
    ann.submit("/pages/login", password=PASSWORD)
    assert STILL_HERE in ann.text
    assert ann.form("/pages/publish")["value:year"] == ["1990"]
    # A guest's page, and another guest's cookie by now; then somebody logs in.
    guest = Visitor(service)
    guest.get("/pages/publish", type="car")
    fields = guest.form("/pages/publish") | sent
    guest.client.cookies.clear()
    _send(guest, "/pages/publish", fields)
    assert STILL_HERE in guest.text
    assert guest.form("/pages/publish")["value:year"] == ["1990"]
    _log_in(guest, "ann")
    _send(guest, "/pages/publish", fields)
    assert STILL_HERE in guest.text
    assert service.store.tail() == tail


def test_a_guests_form_goes_along_to_the_registration(service: Service, visitor: Visitor) -> None:
    visitor.get("/")
    fields = {"proof": visitor.tree.find("body").get("data-proof"), "text": "brand = 'mini'", "key": "k"}
    _send(visitor, NEW, fields)
    assert visitor.page.status_code == 401
    visitor.submit("/pages/register", asked="1")
    assert visitor.page.status_code == 200, visitor.text
    visitor.submit("/pages/login", asked="1")
    visitor.submit("/pages/register", asked="1")
    visitor.submit("/pages/register", username="ann", password=PASSWORD, again=PASSWORD)
    assert visitor.page.url.path == NEW
    assert visitor.tree.get_element_by_id("text").text.strip() == "brand = 'mini'"


_FOREIGN = ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": "", "Sec-Fetch-Site": "cross-site"})


@pytest.mark.parametrize("headers", _FOREIGN)
def test_another_sites_form_is_refused_and_nothing_of_it_kept(
    service: Service, ann: Visitor, headers: dict[str, str]
) -> None:
    """With the cookie, which a browser would not even send; without; and with what looks like a proof of theirs."""
    tail = service.store.tail()
    for proof in (proof_of("guessed", "ann"), proof_of("guessed", ""), "", "0" * 64):
        _send(ann, NEW, {"proof": proof, "text": "brand = 'planted'", "key": "k"}, **headers)
        assert ann.page.status_code == 403
        assert "planted" not in ann.page.text
        assert "planted" not in ann.get(NEW).text
        for path in (NEW, "/pages/login", "/pages/publish"):
            other = Visitor(service)
            _send(other, path, {"proof": proof, "text": "brand = 'planted'", "username": "planted"}, **headers)
            assert other.page.url.path == "/pages/login"
            assert "planted" not in other.page.text
            other.log_in("ann")
            assert "planted" not in other.get(NEW).text
    assert service.store.tail() == tail


def test_a_form_without_any_proof_is_kept_for_nobody(service: Service, ann: Visitor) -> None:
    for proof in ("", "0" * 64):
        fields = {"proof": proof, "text": "brand = 'planted'", "key": "k"}
        _send(ann, NEW, fields)
        assert ann.page.status_code == 403
        assert "planted" not in ann.get(NEW).text
        other = Visitor(service)
        _send(other, NEW, fields)
        assert other.page.url.path == "/pages/login"
        assert "planted" not in other.page.text


def test_a_scripts_question_keeps_nothing(service: Service, ann: Visitor) -> None:
    fields = _typed(ann)
    proof = str(fields["proof"][0])
    _log_in(ann, "ann")
    _send(ann, NEW, fields, Accept="*/*")
    assert ann.page.status_code == 403
    assert STILL_HERE not in ann.get(NEW).text
    headers = {"X-Form-Proof": proof}
    asked = ann.client.post("/pages/filter", json={"text": "brand = mini"}, headers=headers)
    assert asked.status_code == 200, "it changes nothing"
    Visitor(service).join("bob")
    _log_in(ann, "bob")
    asked = ann.client.post("/pages/filter", json={"text": "brand = mini"}, headers=headers)
    assert asked.status_code == 403
    assert "logged in as bob" in asked.json()["detail"]


@pytest.mark.parametrize("odd", ["\x0b", "\x1b[0m", "\ufffe"])
def test_control_characters_do_not_lose_the_rest(service: Service, ann: Visitor, odd: str) -> None:
    fields = _typed(ann, f"brand = 'mi{odd}ni'")
    _log_in(ann, "ann")
    _send(ann, NEW, fields)
    assert ann.page.status_code == 200
    assert ann.tree.get_element_by_id("text").text.strip().replace(odd, "").replace("[0m", "") == "brand = 'mini'"


@pytest.mark.parametrize(
    ("page", "action", "sent"),
    [
        ("{one}/edit", "", {"text": "year > 3", "expiry": "2099-01-01T10:00:00"}),
        ("{one}/channel", "", {"kind": "webhook", "url": "https://a.example/<b>", "digest_count": "5"}),
        ("{one}/deliveries", "", {"from": "2026-01-01T10:00:00", "to": "2026-01-02T10:00:00"}),
        ("/pages/account", "/pages/account/tokens", {"name": "sensor", "scope": ["publish"]}),
        ("/pages/publish?type=car", "/pages/publish", {"value:brand": "mini", "value:year": "1971", "source": "me"}),
        ("/pages/schema/grow/domain", "", {"name": "wood", "kind": "enumerated", "values": "oak\nash", "ordered": "1"}),
        ("/pages/schema/grow/event-type", "", {"name": "van", "attribute4": "year", "several4": "1"}),
    ],
)
def test_every_form_comes_back_filled_in(
    service: Service, ann: Visitor, page: str, action: str, sent: dict[str, Any]
) -> None:
    ann.get(NEW)
    ann.submit(NEW, text="year > 2", kind="webhook", url="http://127.0.0.1:9/hook")
    (standing,) = service.store.subscriptions("ann")
    page = page.format(one=f"/pages/subscriptions/{standing.id}")
    ann.get(page)
    proof = {"proof": ann.tree.find("body").get("data-proof")}
    _log_in(ann, "ann")
    _send(ann, action or page, proof | sent, Referer=f"{service.address}{page}")
    assert (ann.page.status_code, ann.page.url.path) == (200, page.partition("?")[0])
    assert STILL_HERE in ann.text
    forms = [form for form in ann.tree.iter("form") if form.get("action") == (action or page)]
    fields = [pair for form in forms for pair in form.form_values()]
    for name, values in sent.items():
        for value in [values] if isinstance(values, str) else values:
            assert (name, value) in [(one, typed.strip()) for one, typed in fields], name
    assert [value for name, value in fields if name == "scope"] == sent.get("scope", []), "and no other tick"
