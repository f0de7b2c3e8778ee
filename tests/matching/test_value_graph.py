"""Attributes compared by arithmetic: the same answer as trying every combination, in a bounded number of steps."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.work import Work, work_of
from tidings.events.event import Bindings
from tidings.language import Filter
from tidings.language.normal_form import NO_LIMIT
from tidings.matching import choice, naive
from tidings.schema import Attribute, AttributeUse, Catalog, Domain, EventType, Hierarchy, Instant, Kind

TREE = Hierarchy.from_tree(
    {f"a{i}": {f"b{i}.{j}": {f"c{i}.{j}.{k}": {} for k in range(9)} for j in range(9)} for i in range(9)}
)
KINDS = {"n": Kind.NUMERIC, "t": Kind.TIME, "h": Kind.HIERARCHICAL, "s": Kind.STRING}
NAMES = [kind + name for kind in KINDS for name in "pqrs"]
CATALOG = Catalog(
    tuple(Domain(name, kind, hierarchy=TREE) if name == "h" else Domain(name, kind) for name, kind in KINDS.items()),
    tuple(Attribute(name, name[0]) for name in NAMES),
    (EventType("any", tuple(AttributeUse(name, mandatory=False, unique=False) for name in NAMES)),),
)
SIGNS = ("=", "!=", "<", "<=", ">", ">=")
NUMBERS = (-3, 0, 0.1, 0.2, 0.3, 0.1 + 0.2, 1, 2, 3, 5, 1e16, 2**53, 1e300, -1.7e308)
COMPUTED = ("", "2 * ", "-1 * ", "0.1 * ", "-0.5 * ", "0 * ", "1e300 * "), ("", " + 1", " - 0.2", " + 0.1", " + 1e16")
SPANS = ("", " + 1 day", " - 1 s", " + 500 ms", " - 0 s")
TIMES = tuple(map(Instant.parse, ("2026-05-01", "2026-05-02", "2026-05-03", "2026-05-02T23:59:59")))


@st.composite
def compared(draw: st.DrawFn, kind: str) -> str:
    """A tree of attributes, some pairs compared several times in either direction, with arithmetic or without."""
    names = [kind + name for name in "pqrs"]
    known, terms = names[:1], []
    for new in names[1 : draw(st.integers(2, 4))]:
        pair = (draw(st.sampled_from(known)), new)
        for _ in range(draw(st.integers(1, 3))):
            left, right = draw(st.permutations(pair))
            scale, summand = (draw(st.sampled_from(some)) for some in (COMPUTED if kind == "n" else (("",), SPANS)))
            terms.append(f"{left} {draw(st.sampled_from(SIGNS))} {scale}{right}{summand}")
        known.append(new)
    return " and ".join(terms)


@st.composite
def bindings(draw: st.DrawFn, kind: str) -> Bindings:
    values = st.sampled_from(NUMBERS if kind == "n" else TIMES)
    lists = st.lists(values, unique=True, min_size=1, max_size=4).map(tuple)
    return {kind + name: draw(lists) for name in "pqrs"}


@pytest.mark.parametrize("kind", ["n", "t"])
@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_arithmetic_in_trees_equals_naive(kind: str, data: st.DataObject) -> None:
    filter, event = Filter.parse(data.draw(compared(kind)), CATALOG), data.draw(bindings(kind))
    assert choice.matches(filter.conjunctions, event, CATALOG) == naive.matches(filter.tree, event, CATALOG)


@pytest.mark.parametrize(
    ("text", "event", "expected"),
    [
        ("np = 0.1 * nq + 0.2", {"np": (0.3, 0.1 + 0.2), "nq": (1,)}, True),  # as rounded: 0.30000000000000004
        ("np = 0.1 * nq + 0.2", {"np": (0.3,), "nq": (1, 2)}, False),
        ("np < -1 * nq and np > -1 * nq - 2", {"np": (4, 1), "nq": (-2, -5, 7)}, True),
        ("np < -1 * nq and np > -1 * nq - 2", {"np": (4, 2), "nq": (-2, -6, 7)}, False),
        ("np != nq + 1 and np != nq + 2", {"np": (3,), "nq": (1, 2)}, False),
        ("np != nq + 1 and np != nq + 2", {"np": (3,), "nq": (1, 2, 3)}, True),
        ("np >= nq and np != nq + 1", {"np": (3,), "nq": (2, 4)}, False),
        ("np > nq and np < 2 * nq and nq < nr - 1", {"np": (3, 9), "nq": (2, 5), "nr": (4, 6)}, True),
        ("np > nq and np < 2 * nq and nq < nr - 1", {"np": (3, 9), "nq": (2, 5), "nr": (3, 6)}, True),
        ("np > nq and np < 2 * nq and nq < nr - 1", {"np": (3, 9), "nq": (2, 5), "nr": (3,)}, False),
        ("np < -1 * nq and np > nr", {"np": (1, 4), "nq": (-5, -3, -2), "nr": (3,)}, True),
        ("np < -1 * nq and np > nr", {"np": (1, 4), "nq": (-4, -3, -2), "nr": (3,)}, False),
        ("hp < hq", {"hp": ("c1.1.1", "c2.2.2"), "hq": ("a0", "c2.2.1", "b1.1")}, True),
        ("hp < hq", {"hp": ("c1.1.1", "c2.2.2"), "hq": ("a0", "c2.2.1", "b1.2")}, False),
        ("hp > hq", {"hp": ("a0", "b1.1", "a2"), "hq": ("a0", "c1.2.1", "c2.2.2")}, True),
        ("hp > hq", {"hp": ("a0", "b1.1", "b2.1"), "hq": ("a0", "c1.2.1", "c2.2.2")}, False),
        ("hp > hq and hp < hr", {"hp": ("a0", "b0.1"), "hq": ("c0.1.5",), "hr": ("a0",)}, True),
        ("hp > hq and hp < hr", {"hp": ("a0", "b0.1"), "hq": ("c0.5.1",), "hr": ("a0",)}, False),
        ("sp > sq and sp < sr", {"sp": ("b", "b\0"), "sq": ("b",), "sr": ("b\0", "c")}, True),
        ("sp > sq and sp < sr", {"sp": ("b", "b\0"), "sq": ("b",), "sr": ("b\0",)}, False),
    ],
)
def test_worked_examples(text: str, event: Bindings, expected: bool) -> None:
    filter = Filter.parse(text, CATALOG)
    assert naive.matches(filter.tree, event, CATALOG) is expected
    assert choice.matches(filter.conjunctions, event, CATALOG) is expected


HOSTILE = {
    "one comparison": "np > 1.5 * nq + 90000",
    "two of one pair": "np < 1.5 * nq + 3 and np > 1.5 * nq + 3",
    "gaps": " and ".join(f"np != nq + {n}" for n in range(30)) + " and np < nq + 30 and np > nq - 1",
    "a chain": "np < nq - 90 and nq < nr - 90 and nr < ns - 99999",
    "times": "tp < tq + 1 s and tp > tq + 1 s and tq < tr - 1 week",
    "nodes": "hp < hq and hq > hr and hr != hs",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_the_most_values_take_no_more_steps_than_values(text: str) -> None:
    """A thousand values of each attribute have a million pairs. Twice as many may take little more than twice as
    much."""
    filter = Filter.parse(text, CATALOG)
    few, many = work(filter, 300), work(filter, 600)
    assert many.steps < 200 * 600
    assert many.steps < 2.2 * few.steps
    assert many.memory < 2.5 * few.memory


@pytest.mark.parametrize("kind", ["n", "h"])
def test_a_cycle_of_three_takes_values_times_steps(kind: str) -> None:
    text = f"{kind}p < {kind}q and {kind}q < {kind}r and {kind}r < {kind}p"
    filter = Filter.parse(text, CATALOG)
    few, many = work(filter, 20), work(filter, 40)
    assert many.steps < 4_000 * 40  # for each value of one attribute, a few arrays of the others
    assert many.steps < 2.2 * few.steps
    assert many.memory < 2.5 * few.memory


def test_cycles_with_arithmetic_that_were_accepted_once_are_still_decided() -> None:
    filter = Filter.parse("np < nq - 1 and nq < nr - 1 and nr < np + 9", CATALOG, NO_LIMIT)
    for event, expected in (
        ({"np": (1, 5), "nq": (4,), "nr": (6,)}, True),
        ({"np": (3, 5), "nq": (4,), "nr": (6,)}, False),
    ):
        assert naive.matches(filter.tree, event, CATALOG) is expected
        assert choice.matches(filter.conjunctions, event, CATALOG) is expected


def work(filter: Filter, count: int) -> Work:
    event = hostile(count)
    return work_of(lambda: choice.matches(filter.conjunctions, event, CATALOG))


def hostile(count: int) -> Bindings:
    """So many values of each attribute, in no order."""
    event: dict[str, tuple[object, ...]] = {}
    for shift, name in enumerate("pqrs"):
        event["n" + name] = tuple(n * 377 % count + 0.25 * shift for n in range(count))
        event["t" + name] = tuple(Instant(TIMES[0] + 1_000_000 * (n * 377 % count) + shift) for n in range(count))
        event["h" + name] = tuple(TREE.nodes[n * 7 % len(TREE.nodes)] for n in range(min(count, len(TREE.nodes))))
    return event  # type: ignore[return-value]
