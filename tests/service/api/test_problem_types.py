"""The table of problem types: whole, and what the `type` of an answer leads to."""

import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module

import httpx
import pytest

import tidings
from tests.service.conftest import on_sqlite
from tidings.errors import ServiceError, TidingsError
from tidings.service.api.problem_types import TYPES, problem_type

_AT_START = (
    "tidings.service.listening",
    "tidings.service.service",
    "tidings.service.workers.children",
    "tidings.service.workers.supervisor",
)


def _below(kind: type[BaseException]) -> Iterator[type[BaseException]]:
    for below in kind.__subclasses__():
        yield below
        yield from _below(below)


@pytest.fixture(scope="module")
def classes() -> set[str]:
    """Names of all errors, those of the whole service being loaded."""
    for module in pkgutil.walk_packages(tidings.service.__path__, "tidings.service."):  # type: ignore[attr-defined]
        import_module(module.name)
    import_module("tidings.matching.explain")
    return {kind.__name__ for kind in _below(Exception)} | {"TidingsError"}


def test_types_are_kebab_case_and_errors_exist_once(classes: set[str]) -> None:
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", name) for name in TYPES)
    named = [error for kind in TYPES.values() for error in kind.errors]
    assert len(named) == len(set(named))
    assert set(named) <= classes
    for kind in TYPES.values():
        assert (kind.meaning[-1], kind.remedy[-1]) == (".", "."), kind


def test_every_error_of_the_service_has_a_row(classes: set[str]) -> None:
    named = {error for kind in TYPES.values() for error in kind.errors}
    ours = [kind for kind in _below(ServiceError) if kind.__module__.startswith("tidings.")]
    assert [kind for kind in ours if kind.__module__ not in _AT_START and kind.__name__ not in named] == []
    assert not any(hasattr(kind, "status") for kind in ours), "the table says it"


def test_an_error_without_a_row_has_that_of_its_base() -> None:
    from tidings.errors import LanguageError, StoreError

    class NewMistake(LanguageError): ...

    class NewFailure(StoreError): ...

    class Unheard(TidingsError): ...

    assert problem_type(NewMistake) is TYPES["invalid-filter"]
    assert problem_type(NewFailure) is TYPES["store-unavailable"]
    assert problem_type(Unheard) is TYPES["invalid-request"]
    assert problem_type(ZeroDivisionError()) is TYPES["internal-error"]


@on_sqlite
def test_a_type_leads_to_its_page(client: httpx.Client) -> None:
    refused = client.post("/v1/subscriptions", json={"filter": "brandy = 'mini'"}, headers={"X-Request-Id": "mine-7"})
    problem = refused.json()
    assert problem["type"] == "/problems/unknown-attribute"
    assert (problem["title"], problem["instance"]) == ("Unknown attribute", "/v1/subscriptions")
    assert problem["request_id"] == refused.headers["x-request-id"] == "mine-7"
    told = client.get(problem["type"]).json()
    assert (told["type"], told["title"], told["status"]) == (problem["type"], problem["title"], 422)
    page = client.get(problem["type"], headers={"Accept": "text/html"})
    assert page.status_code == 200
    assert "<h1>Unknown attribute</h1>" in page.text
    assert "<code>GET /v1/schema</code>" in page.text


@on_sqlite
def test_all_types_are_listed(client: httpx.Client) -> None:
    assert [one["type"] for one in client.get("/problems").json()["items"]] == [kind.uri for kind in TYPES.values()]
    page = client.get("/problems", headers={"Accept": "text/html"}).text
    assert all(f'href="{kind.uri}"' in page for kind in TYPES.values())
    missing = client.get("/problems/nothing-of-the-kind")
    assert (missing.status_code, missing.json()["type"]) == (404, "/problems/no-such-problem-type")
    assert client.get("/problems/nothing", headers={"Accept": "text/html"}).status_code == 404


@on_sqlite
def test_an_instance_is_a_uri(client: httpx.Client) -> None:
    assert client.get('/v1/subscriptions/a"b%20ü').json()["instance"] == "/v1/subscriptions/a%22b%20%C3%BC"
