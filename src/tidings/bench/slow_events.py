"""A fuzz for slowness: is there an event that costs far more than others of its size?

Filters of every kind that makes an event look expensive, and events that are hostile on purpose: many values, values
that nearly fit, values that exclude each other. To each, there is an ordinary event of the same size: one value for
each attribute, and one long text that no filter tests. Each event is matched alone, as a batch of one and by
`match_one`; its time is compared with the median of the ordinary events of its size."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from statistics import median
from time import perf_counter
from typing import Any, Literal

import msgspec

from tidings.bench.matching import Say, quiet
from tidings.events import Event, EventBatch, validate
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.schema import Attribute, AttributeUse, Catalog, Domain, EventType, Hierarchy, Kind
from tidings.settings import Settings

Way = Literal["match", "match_one"]

_NUMBERS = tuple("abcdef")
_NODES = tuple("xyz")
_TIMES = ("starts", "ends")
_PLACES = ("spot", "other")
_PATHS = ("//b", '/a/b[@k="1"]', "//c[. < 5]", "/a//d[b]", '//b[c="red"]', "/a/*[b]")
_FIRST_DAY = datetime(2026, 5, 1, tzinfo=UTC)
_WORDS = ("red", "blue", "mini", "maxi", "old", "new", "one", "two")
_SIGNS = ("=", "!=", "<", "<=", ">", ">=")
_MOST_VALUES = 1000
_TRIES = 3  # the least of these is an event's time
_LONG = 0.02  # seconds: an event that took as long is not tried again
_MOST_USUAL = 100  # ordinary events of one size that are timed
_WAYS: tuple[Way, ...] = ("match", "match_one")
_FEWEST = 20  # events of one size that have a median worth comparing with


def catalog() -> Catalog:
    tree: dict[str, Any] = {
        f"n{i}": {f"n{i}.{j}": {f"n{i}.{j}.{k}": {} for k in range(10)} for j in range(10)} for i in range(10)
    }
    attributes = (
        *(Attribute(name, "number") for name in _NUMBERS),
        *(Attribute(name, "node") for name in _NODES),
        Attribute("text", "text"),
        Attribute("colour", "colour"),
        *(Attribute(name, "time") for name in _TIMES),
        *(Attribute(name, "place") for name in _PLACES),
        Attribute("document", "document"),
        Attribute("body", "body"),
        Attribute("padding", "text"),
    )
    domains = (
        Domain("number", Kind.NUMERIC),
        Domain("node", Kind.HIERARCHICAL, hierarchy=Hierarchy.from_tree(tree)),
        Domain("text", Kind.STRING),
        Domain("colour", Kind.ENUMERATED, values=tuple(f"c{i}" for i in range(300))),
        Domain("time", Kind.TIME),
        Domain("place", Kind.PLACE),
        Domain("document", Kind.DOCUMENT),
        Domain("body", Kind.TEXT),
    )
    uses = tuple(AttributeUse(one.name, mandatory=False, unique=False) for one in attributes)
    return Catalog(domains, attributes, (EventType("any", uses),))


def filters(count: int, seed: int) -> Iterator[str]:
    """Texts in the filter language."""
    chance = random.Random(seed)
    forms = (
        _range, _range, _related, _related, _triangle, _nodes, _words, _members, _avoided, _computed, _strings,
        _patterns, _times, _ahead, _places, _similar, _paths, _expressions,
    )  # fmt: skip
    for _ in range(count):
        parts = {chance.choice(forms)(chance) for _ in range(chance.randint(1, 4))}
        yield " and ".join(sorted(parts))


def _range(chance: random.Random) -> str:
    return f"{chance.choice(_NUMBERS)} {chance.choice(_SIGNS)} {chance.randint(0, 1000)}"


def _related(chance: random.Random) -> str:
    left, right = chance.choice((_NUMBERS[:2], _NUMBERS[1:3], _NODES[:2]))
    return f"{left} {chance.choice(_SIGNS)} {right}"


def _triangle(chance: random.Random) -> str:
    one, two, three = chance.choice((_NUMBERS[3:6], _NODES))
    signs = [chance.choice(_SIGNS) for _ in range(3)]
    return f"{one} {signs[0]} {two} and {two} {signs[1]} {three} and {three} {signs[2]} {one}"


def _nodes(chance: random.Random) -> str:
    node = f"n{chance.randint(0, 9)}.{chance.randint(0, 9)}"
    return f"{chance.choice(_NODES)} {chance.choice(('under', '>=', '!='))} '{node}'"


def _words(chance: random.Random) -> str:
    return f"text {chance.choice(('', 'not '))}contains all '{' '.join(chance.sample(_WORDS, 3))}'"


def _computed(chance: random.Random) -> str:
    """One comparison with arithmetic or two, of attributes that no cycle has: numbers d to f are in triangles."""
    left, right = chance.choice((_NUMBERS[:2], _NUMBERS[1:3]))
    parts = (
        f"{left} {chance.choice(_SIGNS)} {chance.choice((2, 0.5, -1))} * {right} + {chance.randint(0, 1000)}"
        for _ in range(chance.randint(1, 2))
    )
    return " and ".join(parts)


def _strings(chance: random.Random) -> str:
    form = chance.choice(("starts with 'red'", "ends with 'w99'", "like '%mini%old%'", "like '%w_1'"))
    return f"text {chance.choice(('', 'not '))}{form}"


def _patterns(chance: random.Random) -> str:
    one, two, three = chance.sample(_WORDS, 3)
    pattern = chance.choice((f'"{one} {two}"', f"{one} and not {two}", f"{one} or {two} and {three}", f"{one}*"))
    return f"text {chance.choice(('', 'not '))}contains ({pattern})"


def _members(chance: random.Random) -> str:
    colours = chance.sample(range(300), 3)
    return " and ".join(f"colour {chance.choice(('', 'not '))}contains c{colour}" for colour in colours)


def _avoided(chance: random.Random) -> str:
    return f"{chance.choice(_NUMBERS)} not in ({', '.join(str(chance.randint(0, 1000)) for _ in range(20))})"


def _times(chance: random.Random) -> str:
    return f"starts {chance.choice(_SIGNS)} ends {chance.choice('+-')} {chance.randint(0, 100)} h"


def _ahead(chance: random.Random) -> str:
    return f"{chance.choice(_TIMES)} {chance.choice(_SIGNS)} now {chance.choice('+-')} {chance.randint(0, 100)} h"


def _places(chance: random.Random) -> str:
    centre = f"({chance.uniform(-60, 60):.2f}, {chance.uniform(-180, 180):.2f})"
    name, near = chance.choice(_PLACES), chance.choice(("near", "not near"))
    return f"{name} {near} {centre} within {chance.choice((10, 500, 5000))} km"


def _similar(chance: random.Random) -> str:
    return f"body ~ '{' '.join(chance.sample(_WORDS, 3))}' at least {chance.choice((0.2, 0.5, 0.9))}"


def _paths(chance: random.Random) -> str:
    return f"document {chance.choice(('', 'not '))}xpath '{chance.choice(_PATHS)}'"


def _expressions(chance: random.Random) -> str:
    name, other = chance.sample(_NUMBERS, 2)
    return f"event_type cesql '{name} + {other} * 2 > {chance.randint(0, 1000)}'"


def ordinary(number: int, seed: int, size: int) -> dict[str, Any]:
    """An event of about as many bytes with one value for each attribute."""
    chance = random.Random(f"{seed} {number} ordinary")
    attributes: dict[str, Any] = {
        **{name: chance.randint(0, 1000) for name in _NUMBERS},
        **{name: f"n{chance.randint(0, 9)}.{chance.randint(0, 9)}" for name in _NODES},
        **{name: _time(chance.randint(0, 200)) for name in _TIMES},
        **{name: [chance.uniform(-60, 60), chance.uniform(-180, 180)] for name in _PLACES},
        **{name: " ".join(chance.choices(_WORDS, k=2)) for name in ("text", "body")},
        "colour": f"c{chance.randint(0, 299)}",
        "document": "<a><b k='1'>red</b></a>",
    }
    raw = {"id": f"o{number}", "event_type": ["any"], "time": _time(0), "attributes": attributes}
    missing = size - len(msgspec.json.encode(raw))
    if missing > 0:
        attributes["padding"] = " ".join(f"w{i}" for i in range(missing // 6))
    return raw


def _time(hours: int) -> str:
    return (_FIRST_DAY + timedelta(hours=hours)).isoformat()


def hostile(number: int, seed: int, schema: Catalog) -> dict[str, Any]:
    """An event of the JSON form; each attribute draws its own kind of hostility."""
    chance = random.Random(f"{seed} {number}")
    most = int(2 ** chance.uniform(0, 10))
    attributes: dict[str, list[Any]] = {}
    nodes = schema.domain_of("x").hierarchy.nodes  # type: ignore[union-attr]
    for name in schema.attribute_names:
        if chance.random() < 0.2:
            continue
        many = min(_MOST_VALUES, max(1, int(most * chance.choice((1, 1, 1, 0.5, 0)))))
        domain = schema.domain_of(name)
        if domain is None or name.startswith("event") or name == "padding":
            continue
        if name in _NUMBERS:
            start = chance.choice((0, 0, 500, 1000, 5000))
            step = chance.choice((1, 1, 2, 0.5))
            attributes[name] = [start + step * i for i in range(many)]
        elif name in _NODES:
            attributes[name] = chance.sample(nodes, min(many, len(nodes)))
        elif name in _TIMES:
            attributes[name] = [_time(i) for i in range(many)]
        elif name in _PLACES:
            first = chance.choice((0, 0, 40))
            attributes[name] = [[first + i / 50, i / 10] for i in range(many)]
        elif name == "document":
            depth = min(many, 50)
            attributes[name] = ["<a>" + "<b k='1'><c>7</c>" * depth + "</b>" * depth + "<d><b/></d>" * many + "</a>"]
        elif name in ("text", "body"):
            attributes[name] = [" ".join(chance.choices(_WORDS, k=2)) + f" w{i}" for i in range(many)]
        else:
            attributes[name] = chance.sample(domain.values, min(many, 300))
    return {"id": f"e{number}", "event_type": ["any"], "time": _time(50), "attributes": attributes}


@dataclass(frozen=True, slots=True)
class SizeResult:
    """Events of [size, 2 * size) bytes as JSON, matched in one way. Milliseconds; the median is of ordinary events."""

    way: Way
    size: int
    events: int
    median_ms: float
    worst_ms: float
    worst: str

    @property
    def ratio(self) -> float:
        return self.worst_ms / self.median_ms


def run_slow_events(
    events: int = 5_000, subscriptions: int = 1_000, seed: int = 1, say: Say = quiet, fewest: int = _FEWEST
) -> list[SizeResult]:
    """By way and size, the smallest first; sizes with few events are left out."""
    schema = catalog()
    matcher = BoxMatcher(schema, threads=1)
    texts = list(filters(subscriptions, seed))
    matcher.add_texts([f"s{n}" for n in range(len(texts))], texts)
    largest = Settings().largest_event
    timed: dict[tuple[Way, int], list[tuple[float, str]]] = {}
    usual: dict[tuple[Way, int], list[float]] = {}
    for way in _WAYS:
        match_alone(matcher, validate(hostile(0, seed, schema), schema), way)  # kernels are compiled
    for number in range(events):
        if number % 100 == 0:
            say(f"event {number:,} of {events:,}")
        raw = hostile(number, seed, schema)
        size = len(msgspec.json.encode(raw))
        if size > largest:
            continue
        power = size.bit_length() - 1
        event, plain = validate(raw, schema), validate(ordinary(number, seed, size), schema)
        for way in _WAYS:
            timed.setdefault((way, power), []).append((match_alone(matcher, event, way), raw["id"]))
            if len(usual.setdefault((way, power), [])) < _MOST_USUAL:
                usual[way, power].append(match_alone(matcher, plain, way))
    return [
        SizeResult(way, 2**power, len(found), median(usual[way, power]), *max(found))
        for (way, power), found in sorted(timed.items())
        if len(found) >= fewest
    ]


def match_alone(
    matcher: BoxMatcher, event: Event, way: Way = "match", clock: Callable[[], float] = perf_counter
) -> float:
    """Milliseconds, the least of a few tries; of what takes long, of fewer."""
    batch = EventBatch.of([event], matcher.catalog)
    times: list[float] = []
    while len(times) < _TRIES and sum(times) < _LONG:
        started = clock()
        if way == "match":
            matcher.match(batch)
        else:
            matcher.match_one(event)
        times.append(clock() - started)
    return 1000 * min(times)
