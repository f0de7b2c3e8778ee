"""What the detector takes for an event of a trace: as `LeafPlan` makes it of an event of a stream."""

from __future__ import annotations

from tidings.composite.detector import Key, Match
from tidings.composite.program import Program
from tidings.composite.references import reference
from tidings.composite.trace import Occurrence, keys_of


def matches(program: Program, one: Occurrence) -> list[Match]:
    time = one.event.time
    if time < program.start or (program.end is not None and time >= program.end):
        return []
    parts = {
        name: {attribute: list(one.bound(attribute)) for attribute in wanted}
        for place, (name, wanted) in program.wanted.items()
        if place in one.leaves
    }
    places = tuple(sorted(one.leaves)) + ((program.opener,) if program.opens_early else ())
    keys, left_out = keys_of([one.values.get(name, ()) for name in program.by])
    found = [Match(reference(*one.event), Key("c", key), places, parts) for key in keys] if places else []
    return [*found[:-1], *(last._replace(left_out=left_out) for last in found[-1:])]
