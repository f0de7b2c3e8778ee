"""The conformance suite of CESQL 1.0, case by case, by the names that it gives them."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.feeds.real_files import SHARED, real_file
from tidings.errors import LanguageError
from tidings.language.cesql import evaluate, parse_cesql, print_cesql

FOLDER = SHARED / "suite-cesql-tck"
EVENT = {"specversion": "1.0", "id": "A234", "source": "http://localhost/source", "type": "com.example"}


class PlainTimes(yaml.SafeLoader):
    """Reads times as the texts that they are in a CloudEvent."""


PlainTimes.add_constructor("tag:yaml.org,2002:timestamp", lambda loader, node: loader.construct_scalar(node))


def cases() -> Iterator[Any]:
    for file in sorted(FOLDER.glob("*.yaml")):
        for case in yaml.load(file.read_text(), PlainTimes)["tests"]:
            yield pytest.param(case, id=f"{file.stem}: {case['name']}")


def test_all_275_cases_are_here() -> None:
    real_file("suite-cesql-tck")
    assert len(list(cases())) == 275


@pytest.mark.parametrize("case", list(cases()))
def test_case(case: dict[str, Any]) -> None:
    event = case.get("event") or {**EVENT, **case.get("eventOverrides", {})}
    text = str(case["expression"])
    if case.get("error") == "parse":
        with pytest.raises(LanguageError):
            parse_cesql(text)
        return
    expression = parse_cesql(text)
    value, errors = evaluate(expression, event)
    assert type(value) is type(case["result"])
    assert value == case["result"]
    assert {trouble.fault for trouble in errors} == ({case["error"]} if "error" in case else set())
    assert parse_cesql(print_cesql(expression)) == expression
