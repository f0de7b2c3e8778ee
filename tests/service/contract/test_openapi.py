"""The OpenAPI document: curated, complete, and true of what a real service answers."""

import asyncio
import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from tests.service.api.test_asyncapi import references, resolved
from tests.service.contract.examples_file import RECORDED, recorded, written
from tests.service.contract.recording import Recording
from tests.services.sqlite import new_store
from tidings.service import Gateway
from tidings.service.api.documents.examples import recorded_examples
from tidings.service.api.documents.operations import OPERATIONS, TAGS
from tidings.service.api.documents.response_headers import HEADERS
from tidings.service.api.problems import PROBLEM
from tidings.service.door.scopes import HTTP, NOTHING, TOKEN
from tidings.service.http import make_app
from tidings.settings import Settings
from tidings.store import Store


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Of an application that is not served."""

    async def made(store: Store) -> dict[str, Any]:
        gateway = Gateway(store, Settings(pipeline=False, outbox=False))
        app = make_app(gateway)
        await app.state.closing.aclose()
        await gateway.close()
        return app.openapi()

    with Store.open(new_store(tmp_path_factory.mktemp("contract") / "tidings.db")) as store:
        return asyncio.run(made(store))


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    return recorded(tmp_path_factory.mktemp("contract"))


@pytest.fixture(scope="module")
def operations(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        f"{method.upper()} {path}": operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }


def test_every_operation_has_a_name_a_tag_a_summary_and_a_description(operations: dict[str, dict[str, Any]]) -> None:
    assert operations.keys() == OPERATIONS.keys() == HTTP.keys()
    ids = [operation["operationId"] for operation in operations.values()]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z]+([A-Z][a-z]+)+", id) for id in ids), ids
    for operation in operations.values():
        assert operation["tags"][0] in TAGS
        assert re.fullmatch(r"[A-Z].*[^.]", operation["summary"])
        assert operation["description"].partition("\n")[0].strip()


def test_every_operation_names_the_scope_that_the_guard_checks(operations: dict[str, dict[str, Any]]) -> None:
    for request, operation in operations.items():
        need = HTTP[request]
        expected = [] if need == NOTHING else [{"token": [] if need == TOKEN else [need]}]
        assert operation["security"] == expected, request
        assert need in (NOTHING, TOKEN) or f"`{need}`" in operation["description"], request


def test_every_operation_has_examples_of_its_body_its_parameters_and_its_answer(
    operations: dict[str, dict[str, Any]],
) -> None:
    for request, operation in operations.items():
        for media, content in operation.get("requestBody", {}).get("content", {}).items():
            assert content.get("examples") or media in ("application/jsonl", "application/ndjson"), (request, media)
        for parameter in operation.get("parameters", ()):
            assert parameter.get("description"), (request, parameter["name"])
            if parameter["in"] == "path":
                assert "example" in parameter, (request, parameter["name"])
        for status, answer in operation["responses"].items():
            for content in answer.get("content", {}).values():
                assert content.get("examples") or "example" in content, (request, status)


def test_every_example_is_valid_under_its_schema(
    document: dict[str, Any], operations: dict[str, dict[str, Any]]
) -> None:
    count = 0
    for operation in operations.values():
        answers = [answer for answer in operation["responses"].values() if "$ref" not in answer]
        for part in (operation.get("requestBody", {}), *answers):
            for content in part.get("content", {}).values():
                alone = [content["example"]] if "example" in content else []
                for value in [*alone, *(one["value"] for one in content.get("examples", {}).values())]:
                    validator(document, content["schema"]).validate(value)
                    count += 1
        for parameter in operation.get("parameters", ()):
            if "example" in parameter:
                validator(document, parameter["schema"]).validate(parameter["example"])
    assert count > len(operations)
    for response in document["components"]["responses"].values():
        content = response["content"][PROBLEM]
        validator(document, content["schema"]).validate(content["example"])
    for header in document["components"]["headers"].values():
        validator(document, header["schema"]).validate(header["example"])


def test_every_problem_is_described(document: dict[str, Any], operations: dict[str, dict[str, Any]]) -> None:
    for response in document["components"]["responses"].values():
        assert response["content"].keys() == {PROBLEM}
        assert "X-Request-Id" in response["headers"]
    for request, operation in operations.items():
        answers = operation["responses"]
        assert {"429", "503"} | (set() if HTTP[request] == NOTHING else {"401", "403"}) <= answers.keys(), request
        for status, answer in answers.items():
            problem = answer.get("$ref", "").startswith("#/components/responses/") or PROBLEM in answer.get(
                "content", ()
            )
            assert problem is (int(status) >= 400), (request, status)


def test_patterns_are_regular_expressions_in_javascript_too(document: dict[str, Any]) -> None:
    """Which allows fewer escapes than Python: linters and generated clients could not compile the others."""
    found = set(_patterns(document))
    assert len(found) > 3
    for pattern in found:
        assert set(re.findall(r"\\(.)", pattern)) <= set("^$\\.*+?()[]{}|/dDwWsSbBnrtfvux0"), pattern


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    found = set(references(document))
    assert len(found) > 50
    for reference in found:
        assert isinstance(resolved(document, reference), dict)


def test_nothing_is_kept_of_operations_that_are_gone() -> None:
    assert recorded_examples().keys() == OPERATIONS.keys()


@pytest.mark.slow
class TestOfARealService:
    def test_the_examples_are_what_a_real_service_answers(self, recording: Recording) -> None:
        assert written(recording.examples()) == RECORDED.read_bytes(), "run scripts/examples and look at the difference"

    def test_every_answer_is_documented(
        self, recording: Recording, document: dict[str, Any], operations: dict[str, dict[str, Any]]
    ) -> None:
        """Its status, its content type, its schema and its headers."""
        ours = {name.lower() for name in HEADERS}
        for request, answer, body in recording.answers:
            documented = operations[request]["responses"][str(answer.status_code)]
            headers = {name.lower(): document["components"]["headers"][name] for name in documented["headers"]}
            assert answer.headers.keys() & ours <= headers.keys(), request
            assert {name for name, header in headers.items() if header.get("required")} <= answer.headers.keys(), (
                request
            )
            if body is not None:
                media = answer.headers["content-type"].partition(";")[0]
                validator(document, documented["content"][media]["schema"]).validate(body)


def _patterns(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("pattern"), str):
            yield value["pattern"]
        for name, part in value.items():
            if name not in ("example", "examples"):
                yield from _patterns(part)
    elif isinstance(value, list):
        for part in value:
            yield from _patterns(part)


def validator(document: dict[str, Any], schema: dict[str, Any]) -> Any:
    return jsonschema_rs.Draft202012Validator({"allOf": [schema], "components": document["components"]})
