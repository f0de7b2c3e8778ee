"""Random trees, traces, arrival orders and cuts into batches, small enough that every case of the machine happens."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import time

from hypothesis import strategies as st

from tidings.composite.trace import SECOND, EventKey, Occurrence
from tidings.language.composites.tree import (
    Absent,
    Before,
    Both,
    Composite,
    Condition,
    Either,
    Every,
    EveryDay,
    Leaf,
    Nth,
    Part,
    Root,
    Select,
    Times,
    Unless,
    Without,
    leaves,
    visible,
)
from tidings.language.tree import AttributeComparison, Comparison, Exists, LinearComparison
from tidings.schema.catalog import Catalog
from tidings.schema.values import Instant, Span

DEPTH = 4
UNIT = 300_000  # of all times, in microseconds: a shard sorts by the second
LONGEST = 40  # units of a trace

SCHEMA = Catalog.from_dict(
    {
        "domains": [{"name": "number", "kind": "numeric"}],
        "attributes": [{"name": "v", "domain": "number"}, {"name": "k", "domain": "number"}],
        "event_types": [{"name": "t", "attributes": [{"name": "v"}, {"name": "k"}]}],
    }
)

_spans = st.sampled_from([20, 12, 30, 5, 1, 8]).map(lambda units: Span(units * UNIT))
_selections = st.sampled_from(["all", "all", "last", 1, 2])
_selects = st.builds(Select, _selections, _selections)
_numbers = st.integers(0, 3)
_rarely = st.sampled_from([False] * 5 + [True])


@st.composite
def composites(draw: st.DrawFn) -> Composite:
    counter = iter(range(1000))
    tree: Root = draw(_parts(draw(st.sampled_from([1, 2, 3, DEPTH])), counter, is_root=True))
    if draw(_rarely):
        tree = Absent(tree, draw(_spans))  # type: ignore[arg-type]
    return Composite(
        tree,
        by=draw(st.sampled_from([(), (), (), (), ("k",), ("k",), ("k", "v"), ("v", "k")])),
        start=Instant(draw(st.integers(-5, 15)) * UNIT) if draw(_rarely) else None,
        span=Span(draw(st.integers(10, LONGEST)) * UNIT) if draw(_rarely) else None,
        expired=draw(st.booleans()),
    )


@st.composite
def _parts(draw: st.DrawFn, depth: int, counter: object, is_root: bool = False) -> Part:
    name = f"p{next(counter)}"  # type: ignore[call-overload]
    forms = ["before", "and", "without", "or", "before", "and", "times", "unless", "nth"]
    form = draw(st.sampled_from(forms if is_root else [*forms, "leaf", "leaf", "leaf"])) if depth else "leaf"

    def part() -> Part:
        return draw(_parts(depth - 1, counter))

    match form:
        case "leaf":
            if draw(_rarely) and draw(st.booleans()):
                if draw(st.booleans()):
                    return EveryDay(time(0, 0, draw(st.integers(0, LONGEST * UNIT // SECOND))), "UTC", name)
                return Every(Span(draw(st.integers(2, 9)) * UNIT), name)
            return Leaf(Exists("v"), name)
        case "or":
            return Either(part(), part(), draw(st.none() | _spans))
        case "nth":
            return Nth(part(), draw(st.integers(1, 3)), draw(st.none() | _spans))
        case "times":
            return Times(part(), draw(st.integers(2, 3)), draw(_spans))
        case "unless":
            term, without = part(), part()
            against = draw(_conditions((*visible(term), *visible(without)), visible(without)))
            return Unless(term, Without(without, against), draw(_spans), draw(_conditions(visible(term))))
    left, right = part(), part()
    known = (*visible(left), *visible(right))
    options = draw(_spans), draw(_selects), draw(st.booleans()), draw(st.booleans()), draw(_conditions(known))
    if form == "and":
        return Both(left, right, *options)
    if form == "before":
        return Before(left, right, *options)
    term = part()
    against = draw(_conditions((*known, *visible(term)), visible(term)))
    return Before(left, right, *options, Without(term, against))


@st.composite
def _conditions(draw: st.DrawFn, names: tuple[str, ...], one_of: tuple[str, ...] = ()) -> tuple[Condition, ...]:
    if not names or not draw(_rarely):
        return ()
    first = draw(st.sampled_from(one_of or names))
    second = draw(st.sampled_from(names))
    operator = draw(st.sampled_from(["=", "!=", "<", "<=", ">", ">="]))
    match draw(st.integers(0, 3)):
        case 0:
            return (Condition(first, Comparison("v", operator, draw(_numbers))),)
        case 1:
            return (Condition(first, LinearComparison("v", operator, 2, "v", 1), second),)
        case _:
            return (Condition(first, AttributeComparison("v", operator, "v"), second),)


@dataclass(frozen=True)
class Scene:
    composite: Composite
    trace: list[Occurrence]  # in the order of arrival
    watermarks: list[int]  # after each
    cuts: list[bool]  # whether a batch ends after it
    until: int
    most_waiting: int


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    composite = draw(composites())
    count = len(list(leaves(composite.tree)))
    some = st.frozensets(st.integers(0, count - 1), min_size=1, max_size=3)
    rows = draw(
        st.lists(
            st.tuples(
                st.integers(0, LONGEST).map(lambda units: units * UNIT),
                st.sampled_from(["", "a", "b!", "b"]),
                some,
                st.sampled_from([(0,), (1,), (2,), (0, 3), ()]),
                st.sampled_from([(0,), (0,), (1,), (0, 1), ()]),
            ),
            min_size=draw(st.sampled_from([0, 10, 15, 20])),
            max_size=25,
        )
    )
    trace = []
    for number, (at, source, matched, v, k) in enumerate(rows):
        bound = {name: given for name, given in (("v", v), ("k", k)) if given}
        trace.append(Occurrence(EventKey(at, source, f"e{number}"), matched, bound))
    lateness = draw(st.sampled_from([0, 3 * UNIT, LONGEST * UNIT]))
    delays = draw(st.lists(st.integers(0, lateness), min_size=len(trace), max_size=len(trace)))
    arriving = sorted(zip(trace, delays, strict=True), key=lambda pair: pair[0].event.time + pair[1])
    trace = [one for one, _ in arriving]
    watermarks, greatest = [], -LONGEST * UNIT
    for one in trace:
        greatest = max(greatest, one.event.time)
        watermarks.append(greatest - lateness)
    return Scene(
        composite,
        trace,
        watermarks,
        draw(st.lists(st.booleans(), min_size=len(trace), max_size=len(trace))),
        max([one.event.time for one in trace], default=0) + draw(st.sampled_from([0, 0, 7, 30])) * UNIT,
        draw(st.sampled_from([1, 2, 3, 10_000, 10_000, 10_000])),
    )
