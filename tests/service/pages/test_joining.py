"""Registering, logging in and out, and sessions: by the forms that the pages have."""

import pytest

from tests.service.conftest import PASSWORD, Service, on_sqlite
from tests.service.pages.visitor import Visitor
from tidings.schema import Instant
from tidings.service.api.requests import SESSION
from tidings.service.door.callers import digest_of, new_token
from tidings.store.accounts.accounts import Token
from tidings.store.clock.clock import now

pytestmark = on_sqlite


def test_who_registers_is_logged_in_by_a_session(service: Service, visitor: Visitor) -> None:
    visitor.join("ann")
    secret = visitor.client.cookies[SESSION]
    token = service.store.token(digest_of(secret))
    assert token is not None
    assert (token.username, token.kind) == ("ann", "session")
    assert token.expires is not None
    assert [one.kind for one in service.store.tokens_of("ann")] == ["session"]
    visitor.get("/")
    assert "ann" in visitor.text


def test_the_cookie_is_kept_from_scripts_and_other_sites(visitor: Visitor) -> None:
    visitor.get("/pages/register")
    visitor.form("/pages/register")
    fields = visitor.form("/pages/register") | {"username": ["ann"], "password": [PASSWORD], "again": [PASSWORD]}
    answer = visitor.client.post("/pages/register", data=fields)
    assert answer.status_code == 303
    session = next(one for one in answer.headers.get_list("set-cookie") if one.startswith(SESSION))
    assert "HttpOnly" in session
    assert "SameSite=lax" in session
    assert "Secure" not in session  # this service has no TLS


def test_what_is_wrong_stands_at_its_field(service: Service, visitor: Visitor) -> None:
    visitor.get("/pages/register")
    visitor.submit("/pages/register", username="A B", password=PASSWORD, again=PASSWORD)
    assert visitor.page.status_code == 422
    assert "cannot be a username" in visitor.errors()["username"]
    visitor.submit("/pages/register", username="ann", password="short", again="short")
    assert "8 to 1,000 characters" in visitor.errors()["password"]
    visitor.submit("/pages/register", username="ann", password=PASSWORD, again=PASSWORD + "x")
    assert "differ" in visitor.errors()["again"]
    visitor.submit("/pages/register", username="tester", password=PASSWORD, again=PASSWORD)
    assert visitor.page.status_code == 409
    assert "username" in visitor.errors()
    assert service.store.account("ann") is None


def test_log_in_rotates_the_session_and_leads_back(service: Service, ann: Visitor) -> None:
    before = ann.client.cookies[SESSION]
    other = Visitor(service)
    other.get("/pages/subscriptions", state="paused")
    assert other.page.url.path == "/pages/login"
    other.submit("/pages/login", username="ann", password=PASSWORD)
    assert str(other.page.url).endswith("/pages/subscriptions?state=paused")
    assert other.client.cookies[SESSION] != before
    # Whoever logs in over a session ends it.
    fields = {"proof": _proof(ann), "username": "ann", "password": PASSWORD}
    ann.page = ann.client.post("/pages/login", data=fields, follow_redirects=True)
    assert ann.client.cookies[SESSION] != before
    assert service.store.token(digest_of(before)) is None


def _proof(visitor: Visitor) -> str:
    visitor.get("/")
    return str(visitor.tree.find("body").get("data-proof"))


def test_a_wrong_password_is_told_without_telling_which_was_wrong(visitor: Visitor) -> None:
    for username in ("tester", "nobody"):
        visitor.log_in(username, "not the password")
        assert visitor.page.status_code == 401
        assert visitor.errors() == {"password": "Wrong username or password."}


def test_log_out_takes_the_session_back(service: Service, ann: Visitor) -> None:
    secret = ann.client.cookies[SESSION]
    ann.get("/")
    ann.submit("/pages/logout")
    assert service.store.token(digest_of(secret)) is None
    assert SESSION not in ann.client.cookies
    ann.get("/pages/subscriptions")
    assert ann.page.url.path == "/pages/login"


def test_a_session_that_has_ended_leads_to_the_log_in_which_says_so(service: Service, ann: Visitor) -> None:
    for token in service.store.tokens_of("ann"):
        service.store.remove_token(token.digest)
    service.gateway.callers.forget()
    ann.get("/pages/subscriptions")
    assert ann.page.url.path == "/pages/login"
    assert "Your session has ended" in ann.text
    ann.submit("/pages/login", username="ann", password=PASSWORD)
    assert ann.page.url.path == "/pages/subscriptions"


def test_an_expired_session_is_none(service: Service, visitor: Visitor) -> None:
    secret, made = new_token(), now()
    scopes = frozenset({"subscribe"})
    expired = Token(digest_of(secret), "tester", "session", "browser", scopes, made, Instant(made - 1))
    service.store.add_token(expired)
    visitor.client.cookies.set(SESSION, secret)
    visitor.get("/pages/account")
    assert visitor.page.url.path == "/pages/login"
    assert "Your session has ended" in visitor.text


@pytest.mark.parametrize(
    "place", ["https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)"]
)
def test_nobody_is_led_to_another_site(ann: Visitor, place: str) -> None:
    answer = ann.client.get("/pages/login", params={"next": place})
    assert answer.headers["location"] == "/"


def test_the_operator_logs_in_by_a_token_and_the_session_may_no_more(service: Service, visitor: Visitor) -> None:
    secret = new_token()
    assert service.store.add_operator(digest_of(secret))
    visitor.get("/pages/login")
    visitor.submit("/pages/login", token="tid_wrong")
    assert "token" in visitor.errors()
    visitor.submit("/pages/login", token=secret, next="/pages/operator")
    assert visitor.page.url.path == "/pages/operator"
    assert "Dead letters" in visitor.text
    visitor.submit("/pages/logout")
    assert service.store.token(digest_of(secret)) is not None, "the token itself is no session"


def test_a_session_goes_with_the_token_it_was_begun_with(service: Service, ann: Visitor) -> None:
    account = service.store.account("ann")
    assert account is not None
    secrets = [new_token() for _ in range(2)]
    for secret in secrets:
        service.store.add_token(Token(digest_of(secret), "ann", "token", "phone", account.scopes, now(), None))
    others = []
    for secret in secrets:
        others.append(Visitor(service))
        others[-1].get("/pages/login")
        others[-1].submit("/pages/login", token=secret)
        assert others[-1].get("/pages/account").url.path == "/pages/account"
    id = digest_of(secrets[0]).hex()[:12]
    assert f"browser, by token {id}" in others[0].text
    ann.get("/pages/account")
    ann.submit(f"/pages/account/tokens/{id}/remove")
    assert others[0].get("/pages/account").url.path == "/pages/login", "it went with its token"
    assert others[1].get("/pages/account").url.path == "/pages/account", "another token's stays"
    assert ann.get("/pages/account").url.path == "/pages/account"


def test_a_sessions_own_secret_is_no_token_to_log_in_with(service: Service, ann: Visitor, visitor: Visitor) -> None:
    visitor.get("/pages/login")
    visitor.submit("/pages/login", token=ann.client.cookies[SESSION])
    assert visitor.page.status_code == 401
    assert "token" in visitor.errors()


def test_a_newcomer_keeps_the_example_through_the_registration(service: Service, visitor: Visitor) -> None:
    visitor.get("/pages/subscriptions/new", filter="brand = 'mini' and year > 1990")
    assert visitor.page.url.path == "/pages/login"
    links = [one.get("href") for one in visitor.tree.iter("a") if one.text == "Create account"]
    assert len(links) == 2, "in the bar and below the form"
    assert len(set(links)) == 1
    visitor.get(links[0])
    visitor.submit("/pages/register", username="ann", password=PASSWORD, again="another")
    assert "again" in visitor.errors()
    visitor.submit("/pages/register", username="ann", password=PASSWORD, again=PASSWORD)
    assert visitor.page.url.path == "/pages/subscriptions/new"
    assert visitor.tree.get_element_by_id("text").text.strip() == "brand = 'mini' and year > 1990"
    assert (
        visitor.client.get("/pages/register", params={"next": "/pages/schema"}).headers["location"] == "/pages/schema"
    )
    newer = Visitor(service)
    newer.get("/pages/register", next="//evil.example/")
    newer.submit("/pages/register", username="bob", password=PASSWORD, again=PASSWORD)
    assert newer.page.url.path == "/pages/subscriptions/new"


def test_registration_that_is_closed_is_said(service: Service, visitor: Visitor) -> None:
    from dataclasses import replace

    service.gateway.settings = replace(service.gateway.settings, registration=False)
    visitor.get("/pages/register")
    assert "Registration is closed" in visitor.text
