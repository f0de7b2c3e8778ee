"""Schemathesis reads the OpenAPI document of a running service and asks all that it allows, and what it forbids."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.service.conftest import Service, on_sqlite

# A request of the right shape may still be refused for its meaning: a filter must parse, a name must exist. No JSON
# schema can say so, which this check expects.
_BEYOND_SCHEMAS = "positive_data_acceptance"
# Nobody should wait half a minute for notifications here, and no example should start a job on Spark. Of an array of
# events or subscriptions, those that are valid are accepted, whatever the others are; an import that is only checked
# answers 200.
_SETTINGS = """
hooks = "lines"

[parameters]
"query.wait" = 0.1
"header.Prefer" = "handling=strict"

[[operations]]
include-name = "POST /v1/events"
checks.negative_data_rejection.expected-statuses = ["202", "207", "4xx"]

[[operations]]
include-name = "POST /v1/subscriptions/import"
checks.negative_data_rejection.expected-statuses = ["200", "202", "207", "4xx"]
"""
# Lines of JSON are sent as they are.
_HOOKS = """
import schemathesis
schemathesis.serializer.alias(["application/x-ndjson", "application/jsonl", "application/ndjson"], "text/plain")
"""
_ENDLESS = "/v1/notifications/stream"  # tests/service/live/test_streams.py asks it
_NOT_READY = "/readyz"  # without a pipeline it answers 503 after a while: tests/service/test_readiness.py asks it
# They take away the token that the others are asked with.
_OWN_TOKEN = ("DELETE /v1/tokens/{id}", "DELETE /v1/tokens/current", "POST /v1/accounts/me/delete")

# Whoever is no operator is told that there is no such account: also of one that he has just made.
_OPERATORS = "PATCH /v1/accounts/{username}"


def _ask(service: Service, folder: Path, examples: int, *options: str) -> None:
    program = Path(sys.executable).parent / "st"
    settings = folder / "schemathesis.toml"
    settings.write_text(_SETTINGS)
    (folder / "lines.py").write_text(_HOOKS)
    command = [str(program), "--config-file", str(settings), "run", f"{service.address}/openapi.json", "--no-color"]
    command += ["--seed", "7", "--generation-database", "none"]
    command += ["-H", f"Authorization: {service.client.headers['Authorization']}", "--request-timeout", "60"]
    command += ["--exclude-path", _ENDLESS, "--exclude-path", _NOT_READY]
    command += ["--max-examples", str(examples), "--checks", "all", "--exclude-checks", _BEYOND_SCHEMAS, *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@on_sqlite
@pytest.mark.parametrize("examples", [20, 50])
def test_nothing_is_answered_that_the_document_does_not_say(service: Service, tmp_path: Path, examples: int) -> None:
    _ask(service, tmp_path, examples, *_each("--exclude-name", *_OWN_TOKEN, _OPERATORS))
    _ask(service, tmp_path, examples, "--include-name", _OPERATORS)
    _ask(service, tmp_path, examples, *_each("--include-name", *_OWN_TOKEN))


def _each(option: str, *names: str) -> list[str]:
    return [part for name in names for part in (option, name)]


@pytest.mark.slow
@on_sqlite
def test_no_generated_request_breaks_the_service(service: Service, tmp_path: Path) -> None:
    _ask(service, tmp_path, 3, *_each("--exclude-name", *_OWN_TOKEN), "--phases", "fuzzing")
