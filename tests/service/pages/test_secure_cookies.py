"""Behind TLS: cookies for this host alone, and a browser that comes by TLS only."""

from dataclasses import replace

import pytest

from tests.service.conftest import SETTINGS, Service, on_sqlite
from tidings.service.api.requests import SESSION
from tidings.service.door.secure_cookies import from_browser, to_browser
from tidings.settings import Settings

HSTS = "strict-transport-security"


@pytest.fixture
def settings() -> Settings:
    return replace(SETTINGS, public_url="https://tidings.example", hsts_seconds=600)


@on_sqlite
def test_a_session_behind_tls(service: Service) -> None:
    page = service.anonymous().get("/pages/login")
    assert page.headers[HSTS] == "max-age=600"
    secret = service.client.headers["Authorization"].removeprefix("Bearer ")
    whole, plain = (
        service.anonymous().get("/v1/accounts/me", headers={"Cookie": f"other=1; {name}={secret}"}).status_code
        for name in (f"__Host-{SESSION}", SESSION)
    )
    assert (whole, plain) == (200, 401)
    for cookie in page.headers.get_list("set-cookie"):
        assert cookie.startswith("__Host-tidings_")
        assert "Secure" in cookie
        assert "Path=/" in cookie


def test_names_there_and_back() -> None:
    given = [
        (b"set-cookie", b'tidings_session=""; Max-Age=0; Path=/'),
        (b"set-cookie", b"other=1"),
        (b"x", b"y"),
    ]
    assert to_browser(given) == [
        (b"set-cookie", b'__Host-tidings_session=""; Max-Age=0; Path=/; Secure'),
        (b"set-cookie", b"other=1"),
        (b"x", b"y"),
    ]
    sent = [(b"cookie", b"a=1; tidings_session=forged; __Host-tidings_session=s; __Host-b=2")]
    assert from_browser(sent) == [(b"cookie", b"a=1; tidings_session=s; __Host-b=2")]
