"""A fuzz for slowness: is there an event that costs far more than others of its size?

Filters of every kind that makes an event look expensive, and events that are hostile on purpose: many values, values
that nearly fit, values that exclude each other. Each event is matched alone; its time is compared with the median of
the events of its size."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

import msgspec

from tidings.bench.matching import Say, quiet
from tidings.events import Event, EventBatch, validate
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.schema import Attribute, AttributeUse, Catalog, Domain, EventType, Hierarchy, Kind
from tidings.settings import Settings

_NUMBERS = tuple("abcdef")
_NODES = tuple("xyz")
_WORDS = ("red", "blue", "mini", "maxi", "old", "new", "one", "two")
_SIGNS = ("=", "!=", "<", "<=", ">", ">=")
_MOST_VALUES = 1000
_TRIES = 3  # the least of these is an event's time
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
    )
    domains = (
        Domain("number", Kind.NUMERIC),
        Domain("node", Kind.HIERARCHICAL, hierarchy=Hierarchy.from_tree(tree)),
        Domain("text", Kind.STRING),
        Domain("colour", Kind.ENUMERATED, values=tuple(f"c{i}" for i in range(300))),
    )
    uses = tuple(AttributeUse(one.name, mandatory=False, unique=False) for one in attributes)
    return Catalog(domains, attributes, (EventType("any", uses),))


def filters(count: int, seed: int) -> Iterator[str]:
    """Texts in the filter language."""
    chance = random.Random(seed)
    forms = (
        _range, _range, _related, _related, _triangle, _nodes, _words, _members, _avoided, _computed, _strings,
        _patterns,
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
        if domain is None or name.startswith("event"):
            continue
        if name in _NUMBERS:
            start = chance.choice((0, 0, 500, 1000, 5000))
            step = chance.choice((1, 1, 2, 0.5))
            attributes[name] = [start + step * i for i in range(many)]
        elif name in _NODES:
            attributes[name] = chance.sample(nodes, min(many, len(nodes)))
        elif name == "text":
            attributes[name] = [" ".join(chance.choices(_WORDS, k=2)) + f" w{i}" for i in range(many)]
        else:
            attributes[name] = chance.sample(domain.values, min(many, 300))
    return {"id": f"e{number}", "event_type": ["any"], "attributes": attributes}


@dataclass(frozen=True, slots=True)
class SizeResult:
    """Events of [size, 2 * size) bytes as JSON; times in milliseconds."""

    size: int
    events: int
    median_ms: float
    worst_ms: float
    worst: str

    @property
    def ratio(self) -> float:
        return self.worst_ms / self.median_ms


def run_slow_events(
    events: int = 10_000, subscriptions: int = 1_000, seed: int = 1, say: Say = quiet
) -> list[SizeResult]:
    """By size, the smallest first; sizes with few events are left out."""
    schema = catalog()
    matcher = BoxMatcher(schema, threads=1)
    texts = list(filters(subscriptions, seed))
    matcher.add_texts([f"s{n}" for n in range(len(texts))], texts)
    largest = Settings().largest_event
    timed: dict[int, list[tuple[float, str]]] = {}
    match_alone(matcher, validate(hostile(0, seed, schema), schema))
    for number in range(events):
        if number % 100 == 0:
            say(f"event {number:,} of {events:,}")
        raw = hostile(number, seed, schema)
        size = len(msgspec.json.encode(raw))
        if size <= largest:
            ms = match_alone(matcher, validate(raw, schema))
            timed.setdefault(size.bit_length() - 1, []).append((ms, raw["id"]))
    return [
        SizeResult(2**power, len(found), median(ms for ms, _ in found), *max(found))
        for power, found in sorted(timed.items())
        if len(found) >= _FEWEST
    ]


def match_alone(matcher: BoxMatcher, event: Event, clock: Callable[[], float] = perf_counter) -> float:
    """Milliseconds, the least of a few tries."""
    batch = EventBatch.of([event], matcher.catalog)
    times = []
    for _ in range(_TRIES):
        started = clock()
        matcher.match(batch)
        times.append(clock() - started)
    return 1000 * min(times)
