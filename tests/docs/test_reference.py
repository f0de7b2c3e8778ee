"""What is generated is fresh, and what it says is so."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import httpx
import pytest

from tests.docs.pages import ROOT, code, rows
from tests.service.conftest import PASSWORD, SETTINGS, Service
from tidings.language.normal_form import MOST_CONJUNCTIONS, MOST_PREDICATES
from tidings.language.parser import DEEPEST
from tidings.language.tokens import LONGEST_FILTER
from tidings.settings import SCOPES, Settings

ROUTES = [(code(row[0]) or "", row[1]) for row in rows("docs/reference/api.md", "request")]
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def test_the_pages_are_fresh() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "reference"), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def number(text: str) -> int:
    """`16 MiB`, `20,000`."""
    digits, _, unit = text.replace(",", "").partition(" ")
    return int(digits) * UNITS.get(unit, 1)


def limits() -> dict[str, int]:
    """As the README tells them, two in a row."""
    found: dict[str, int] = {}
    for row in rows("README.md", "limit"):
        for names, values in ((row[0], row[1]), (row[3], row[4])):
            parts = re.split(r", (?=\S)", values) if ", " in names else [values]
            found |= {name.strip("`"): number(value) for name, value in zip(names.split(", "), parts, strict=True)}
    return found


def test_the_readmes_limits_are_those_of_the_settings() -> None:
    told = limits()
    assert len(told) == 10
    for name, value in told.items():
        assert getattr(Settings(), name) == value, name


def test_limits_of_filters() -> None:
    told = {row[0]: row[1] for row in rows("docs/language.md", "what")}
    assert number(told["length of a filter"].removesuffix(" characters")) == LONGEST_FILTER
    assert number(told["parentheses and `not` within each other"]) == DEEPEST
    assert number(told["conjunctions, when written out as alternatives"]) == MOST_CONJUNCTIONS
    assert number(told["predicates, in all those conjunctions together"]) == MOST_PREDICATES
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"{LONGEST_FILTER:,} characters and {MOST_CONJUNCTIONS:,} alternatives" in readme


def test_every_setting_with_its_variable() -> None:
    listed = {code(row[0]): code(row[1]) for row in rows("docs/reference/settings.md", "TOML key")}
    assert listed == {one.name: f"TIDINGS_{one.name.upper()}" for one in fields(Settings)}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Service:  # type: ignore[misc]
    folder: Path = tmp_path_factory.mktemp("reference")
    running = Service(str(folder / "tidings.db"), replace(SETTINGS, data=folder))
    running.start()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def powerless(service: Service) -> httpx.Client:
    """With a token that has no scope."""
    client = service.anonymous()
    answer = client.post("/tokens", json={"username": "tester", "password": PASSWORD, "scopes": []})
    client.headers["Authorization"] = f"Bearer {answer.raise_for_status().json()['token']}"
    return client


@pytest.mark.parametrize(("request_line", "needs"), ROUTES)
def test_needs(request_line: str, needs: str, service: Service, powerless: httpx.Client) -> None:
    """No token and a token without scopes get just as far as the table says."""
    method, path = request_line.split(" ")
    path = re.sub(r"\{\w+\}", "1", path)
    if path == "/notifications/stream":
        path += "?after=wrong"  # which ends it
    nobody = service.anonymous().request(method, path).status_code
    somebody = powerless.request(method, path)
    if needs == "none":
        assert nobody not in (401, 403) or path in ("/tokens", "/accounts")
        return
    assert nobody == 401
    scope = needs.strip("`")
    if scope in SCOPES:
        if (method, path) in (("PATCH", "/accounts/1"), ("PUT", "/accounts/1/quota")):
            assert somebody.status_code == 404  # who exists is not told either
            return
        assert somebody.status_code == 403, somebody.text
        assert repr(scope) in somebody.json()["detail"]
    else:
        assert somebody.status_code != 403
