"""The account's page: tokens for programs, sessions, the password."""

import re

import pytest

from tests.service.conftest import PASSWORD, Service, on_sqlite
from tests.service.pages.visitor import Visitor
from tidings.service.api.requests import SESSION
from tidings.service.door.callers import digest_of

pytestmark = on_sqlite
ACCOUNT = "/pages/account"


def test_a_token_is_made_with_the_password_and_shown_once(service: Service, ann: Visitor) -> None:
    ann.get(ACCOUNT)
    ann.submit(f"{ACCOUNT}/tokens", name="a program", password="wrong wrong", scope=["publish"])
    assert ann.errors() == {"password": "This is not your current password."}
    ann.submit(f"{ACCOUNT}/tokens", name="a program", password=PASSWORD, scope=["publish"])
    secret = next(node for node in ann.tree.iter("code") if node.get("class") == "secret").text
    token = service.store.token(digest_of(secret))
    assert token is not None
    assert (token.name, token.scopes, token.kind) == ("a program", frozenset({"publish"}), "token")
    ann.get(ACCOUNT)
    assert "Your account" in [node.text for node in ann.tree.iter("h1")]
    assert re.search(r"ann, since \d\d? [A-Z][a-z]{2} 20\d\d", ann.text)
    assert secret not in ann.page.text
    form = next(form for form in ann.tree.iter("form") if form.get("action", "").endswith("/remove"))
    assert form.getparent().get("class") == "sure", "it asks first"
    ann.submit(form.get("action"))
    assert "Token removed." in ann.text
    assert service.store.token(digest_of(secret)) is None


def test_what_is_wrong_with_a_token_is_told_in_the_words_of_the_page(service: Service, ann: Visitor) -> None:
    ann.get(ACCOUNT)
    for expires, told in (
        ("2020-01-01T10:00", "This has already passed."),
        ("soon", "This is not an ISO 8601 time; expected e.g. '2030-05-01T10:00:00Z'."),
    ):
        ann.submit(f"{ACCOUNT}/tokens", name="x", password=PASSWORD, scope=["publish"], expires=expires)
        assert ann.page.status_code == 422
        assert ann.errors() == {"expires": told}
    ann.submit(f"{ACCOUNT}/tokens", name="x", password=PASSWORD, scope=None, expires="")
    assert ann.page.status_code == 422
    assert ann.errors() == {"scope": "Choose at least one."}
    assert [token.kind for token in service.store.tokens_of("ann")] == ["session"]


@pytest.mark.parametrize("path", ["tokens", "password", "delete", "tokens/abc/remove"])
def test_an_address_of_a_form_leads_to_its_page(service: Service, ann: Visitor, path: str) -> None:
    answer = ann.client.get(f"{ACCOUNT}/{path}")
    assert (answer.status_code, answer.headers["location"]) == (303, ACCOUNT)
    guest = Visitor(service)
    guest.get(f"{ACCOUNT}/{path}")
    assert guest.page.url.path == "/pages/login"


def test_a_session_may_give_no_more_than_the_account_has(service: Service, ann: Visitor) -> None:
    ann.get(ACCOUNT)
    ann.submit(f"{ACCOUNT}/tokens", name="x", password=PASSWORD, scope=["operate"])
    assert ann.page.status_code == 403
    assert [token.kind for token in service.store.tokens_of("ann")] == ["session"]


def test_anothers_token_is_not_there(service: Service, ann: Visitor) -> None:
    id = service.client.get("/v1/tokens").json()["items"][0]["id"]
    ann.get("/")
    proof = ann.tree.find("body").get("data-proof")
    assert ann.client.post(f"{ACCOUNT}/tokens/{id}/remove", data={"proof": proof}).status_code == 404
    assert len(service.client.get("/v1/tokens").json()["items"]) == 1


def test_a_new_password_ends_all_other_sessions_and_rotates_this_one(service: Service, ann: Visitor) -> None:
    other = Visitor(service).log_in("ann")
    before = ann.client.cookies[SESSION]
    ann.get(ACCOUNT)
    ann.submit(f"{ACCOUNT}/password", old="wrong wrong", new="another one", again="another one")
    assert ann.errors() == {"old": "This is not your current password."}
    ann.submit(f"{ACCOUNT}/password", old=PASSWORD, new="short", again="short")
    assert "new" in ann.errors()
    ann.submit(f"{ACCOUNT}/password", old=PASSWORD, new="another one", again="another two")
    assert "again" in ann.errors()
    ann.submit(f"{ACCOUNT}/password", old=PASSWORD, new="another one", again="another one")
    assert "Password changed." in ann.text
    assert ann.client.cookies[SESSION] != before
    assert service.store.token(digest_of(before)) is None
    other.get(ACCOUNT)
    assert other.page.url.path == "/pages/login"
    assert Visitor(service).log_in("ann", "another one").page.status_code == 200


def test_the_account_is_deleted_with_the_password(service: Service, ann: Visitor) -> None:
    ann.subscribe("brand = mini")
    ann.get(ACCOUNT)
    assert "Your 1 subscription will be withdrawn" in ann.text
    ann.submit(f"{ACCOUNT}/delete", password="wrong wrong")
    assert (ann.page.status_code, ann.errors()) == (422, {"password": "This is not your current password."})
    assert len(service.store.subscriptions("ann")) == 1
    ann.submit(f"{ACCOUNT}/delete", password=PASSWORD)
    assert "Your account is deleted." in ann.text
    assert ann.client.cookies.get(SESSION) is None
    assert "Log in" in ann.text
    assert service.store.subscriptions("ann") == []
    ann.log_in("ann")
    assert ann.page.status_code == 401
