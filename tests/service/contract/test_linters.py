"""What others' linters say of the OpenAPI and AsyncAPI documents: nothing that must or should be changed."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.service.conftest import Service, on_sqlite
from tests.services.npm import run_program, run_script

pytestmark = [pytest.mark.slow]

_PARSE = """
import { readFileSync } from "node:fs";
import { Parser } from "@asyncapi/parser";
const { document, diagnostics } = await new Parser().parse(readFileSync(process.argv[1], "utf8"));
console.log(JSON.stringify({ parsed: document !== undefined, diagnostics }));
"""
_WARNING = 1  # 0 is an error; 2 and 3 are hints, such as that AsyncAPI 3.1 exists


def written(document: Any, folder: Path) -> Path:
    path = folder / "document.json"
    path.write_text(json.dumps(document))
    return path


def redocly(document: Any, folder: Path) -> list[str]:
    """Every error and warning of Redocly's recommended rules."""
    done = run_program("redocly", "lint", written(document, folder), "--format=json", "--max-problems=1000", cwd=folder)
    found = json.loads(done.stdout)
    return [f"{problem['ruleId']}: {problem['message']} {_places(problem)}" for problem in found["problems"]]


def _places(problem: dict[str, Any]) -> list[str]:
    return [place.get("pointer") for place in problem["location"]]


def asyncapi_problems(document: Any, folder: Path) -> list[str]:
    done = run_script(_PARSE, written(document, folder))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    problems = [one for one in found["diagnostics"] if one["severity"] <= _WARNING]
    assert found["parsed"] or problems
    return [f"{one['code']}: {one['message']} {one['path']}" for one in problems]


@on_sqlite
def test_openapi(service: Service, tmp_path: Path) -> None:
    document = service.anonymous().get("/openapi.json").json()
    assert redocly(document, tmp_path) == []
    document["paths"]["/v1/subscriptions"]["get"]["operationId"] = "listEvents"
    (broken,) = redocly(document, tmp_path)
    assert "operation-operationId-unique" in broken


@on_sqlite
def test_asyncapi(service: Service, tmp_path: Path) -> None:
    document = service.anonymous().get("/asyncapi.json").json()
    assert asyncapi_problems(document, tmp_path) == []
    document["operations"]["publishEvent"]["action"] = "take"
    assert any('"action"' in one for one in asyncapi_problems(document, tmp_path))
