"""Cases of other systems' public test suites, transcribed as facts: the trace, the pattern in our language, and the
matches that they expect (where they mean something else, `differs` says what, and the expectation is ours).

Flink CEP: github.com/apache/flink. Siddhi: github.com/siddhi-io/siddhi. Esper: github.com/espertechinc/esper."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.composite.notation import detected, listed

CASES = [json.loads(line) for line in (Path(__file__).parent / "published_cases.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['source']}: {case['theirs']}")
def test_case(case: dict[str, str]) -> None:
    assert sorted(detected(case["pattern"], case["trace"], until=100)) == sorted(listed(case["detections"]))


def test_there_are_many_of_each_system() -> None:
    systems = Counter(case["source"].partition(",")[0] for case in CASES)
    assert sum(systems.values()) >= 60
    assert min(systems[name] for name in ("Flink CEP", "Siddhi", "Esper")) >= 10
