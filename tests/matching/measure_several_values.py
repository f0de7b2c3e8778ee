"""What one event with several values costs: `python -m tests.matching.measure_several_values [COMMIT]`; with a commit,
on that one, too, in turns (50d559d8 is the last on which such events tried all combinations).

Processor time in milliseconds, the least of three; the peak of memory in MB. A JSON object is the last line."""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Callable
from time import process_time
from typing import Any

from tidings.events import Event, EventBatch, validate
from tidings.language import Filter, Subscription
from tidings.matching.algorithms import make_matcher
from tidings.matching.explain import explain
from tidings.schema import Attribute, AttributeUse, Catalog, Domain, EventType, Kind

NAMES = tuple(f"a{number}" for number in range(6))
CATALOG = Catalog(
    (Domain("number", Kind.NUMERIC),),
    tuple(Attribute(name, "number") for name in NAMES),
    (EventType("any", tuple(AttributeUse(name, mandatory=False, unique=False) for name in NAMES)),),
)
EVENTS = SUBSCRIPTIONS = 2_450  # 6 million matches


def event(attributes: dict[str, Any]) -> Event:
    return validate({"id": "e", "event_type": ["any"], "attributes": attributes}, CATALOG)


def milliseconds(action: Callable[[], object]) -> float:
    spent = []
    for _ in range(3):
        started = process_time()
        action()
        spent.append(process_time() - started)
    return round(1000 * min(spent), 2)


def of_one(text: str, of: Event) -> tuple[float, float]:
    """Matching and explaining one filter."""
    matcher, filter = make_matcher("default", CATALOG), Filter.parse(text, CATALOG)
    matcher.add(Subscription("s", filter), 1)
    batch = EventBatch.of([of], CATALOG, positions=[2])
    return milliseconds(lambda: matcher.match(batch)), milliseconds(lambda: explain(filter, of, CATALOG))


def main() -> None:
    figures: dict[str, float] = {}
    six = event({"a0": list(range(50, 62)), **{name: list(range(12)) for name in NAMES[1:]}})
    text = "a0 < a1 and a2 >= 0 and a3 >= 0 and a4 >= 0 and a5 >= 0"
    figures["six attributes, match"], figures["six attributes, explain"] = of_one(text, six)
    two = event({"a0": list(range(2000, 3000)), "a1": list(range(1000))})
    figures["a0 < a1, match"], figures["a0 < a1, explain"] = of_one("a0 < a1", two)
    matcher = make_matcher("default", CATALOG)
    for number in range(SUBSCRIPTIONS):
        matcher.add(Subscription(f"s{number}", Filter.parse(f"a2 >= {-number}", CATALOG)), 1)
    matcher.add(Subscription("two", Filter.parse("a0 < a1", CATALOG)), 1)
    usual = [event({"a0": [1], "a1": [2], "a2": [number]}) for number in range(EVENTS)]
    for name, last in (("none", usual[-1]), ("one", event({"a0": [1, 2], "a1": [1, 0], "a2": [1]}))):
        batch = EventBatch.of([*usual[:-1], last], CATALOG, positions=[2] * EVENTS)
        figures[f"{name} among many, match"] = milliseconds(lambda batch=batch: matcher.match(batch))  # type: ignore[misc]
        figures[f"{name} among many, MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps(figures))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        from tests.services.older_commit import compare

        compare(sys.argv[1], "tests.matching.measure_several_values", rounds=1)
    else:
        main()
