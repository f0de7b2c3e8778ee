"""The short notation for traces and detections in docs/composites.md."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.composite.matches import matches as matches_of
from tidings.composite.detector import Detector, Shard
from tidings.composite.oracle import Oracle
from tidings.composite.program import Program
from tidings.composite.trace import MOST_WAITING, NOT_EXPIRED, Detection, EventKey, Occurrence
from tidings.language.composites.bound import BoundComposite
from tidings.language.composites.time_leaves import SOURCE
from tidings.language.composites.tree import Leaf, leaves
from tidings.matching.naive import matches
from tidings.schema.catalog import Catalog
from tidings.schema.values import Instant, Value

SECOND = 1_000_000
BASE = int(Instant.parse("2026-05-01T00:00:00Z"))
UNTIL = 60.0

LETTERS = "ABCDEFG"
SCHEMA = Catalog.from_dict(
    {
        "domains": [{"name": "number", "kind": "numeric"}, {"name": "name", "kind": "string"}],
        "attributes": [{"name": "price", "domain": "number"}, {"name": "user", "domain": "name"}],
        "event_types": [
            {
                "name": letter,
                "attributes": [
                    {"name": "price", "mandatory": False},
                    {"name": "user", "mandatory": False, "unique": False},
                ],
            }
            for letter in LETTERS
        ],
    }
)
_EVENT = re.compile(r"([A-G]+)([0-9.]+)(?:=([0-9.]+))?(?:/([a-z+]+))?")


@dataclass(frozen=True)
class Written:
    """A trace: the names, types, seconds, and values of its events."""

    name: str
    types: str
    second: float
    values: dict[str, tuple[Value, ...]]


def written(trace: str) -> list[Written]:
    found = []
    for token in trace.split():
        parsed = _EVENT.fullmatch(token)
        assert parsed, token
        types, second, price, users = parsed.groups()
        values: dict[str, tuple[Value, ...]] = {"event_type": tuple(types)}
        if price:
            values["price"] = (float(price),)
        if users:
            values["user"] = tuple(users.split("+"))
        found.append(Written(f"{types}{second}", types, float(second), values))
    return found


def composite_of(pattern: str) -> BoundComposite:
    """`[A]` stands for `[event_type contains A]`."""
    return BoundComposite.parse(re.sub(r"\[([A-G])\]", r"[event_type contains \1]", pattern), SCHEMA)


def trace_of(bound: BoundComposite, trace: str) -> list[Occurrence]:
    filters = [leaf.filter if isinstance(leaf, Leaf) else None for leaf in leaves(bound.composite.tree)]
    found = []
    for one in written(trace):
        matched = [place for place, tree in enumerate(filters) if tree and matches(tree, one.values, SCHEMA)]
        found.append(Occurrence(EventKey(at(one.second), "", one.name), frozenset(matched), one.values))
    return found


def at(second: float) -> int:
    return BASE + round(second * SECOND)


def split_until(cell: str) -> tuple[str, float]:
    trace, _, until = cell.partition(", until ")
    return trace, float(until) if until else UNTIL


def detected(pattern: str, trace: str, until: float = UNTIL, most_waiting: int = MOST_WAITING) -> list[str]:
    """The oracle's detections, in the notation, in order. The detector must give the same, event by event."""
    bound = composite_of(pattern)
    occurrences = trace_of(bound, trace)
    start = min((one.event.time for one in occurrences), default=BASE)
    oracle = Oracle(bound.composite, SCHEMA, start, at(until), most_waiting)
    found = oracle.detections(occurrences)
    assert sorted(
        _streamed(Program.of(bound.composite, start, SCHEMA), occurrences, at(until), most_waiting)
    ) == sorted(found)
    return [shown(one) for one in found]


def _streamed(program: Program, trace: list[Occurrence], until: int, most_waiting: int) -> list[Detection]:
    detector, shard = Detector({"c": program}, most_waiting), Shard()
    detector.open(shard, "c")
    found = []
    for one in sorted(trace, key=lambda one: one.event):
        if one.event.time <= until:
            shard, new = detector.advance(shard, matches_of(program, one), one.event.time)
            found += new
    shard, new = detector.finish(shard, [], until)
    return [one.detection for one in found + new]


def shown(detection: Detection) -> str:
    names = [f"t{_second(one.time)}" if one.source == SOURCE else one.id for one in detection.events]
    if detection.awaited != NOT_EXPIRED:
        return " ".join([*names, "expired", f"@{_second(detection.time)}"])
    if not detection.events or detection.events[-1].time != detection.time:
        names.append(f"@{_second(detection.time)}")
    return " ".join(names)


def _second(time: int) -> str:
    return f"{(time - BASE) / SECOND:g}"


def listed(cell: str) -> list[str]:
    """`A1 B2, A3 @9`"""
    return [] if cell == "none" else [one.strip() for one in cell.split(",")]
