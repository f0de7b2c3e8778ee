"""A fixed pool of filters and events over `RICH`, with what the specification says of every pair of them.

Filters come in families: one shape (attributes and forms of predicates), many constants, as real subscriptions do. So
a few dozen of them fill every access path of an index. Naive runs once; a test then compares any part of the pool with
its answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random

import numpy as np
import numpy.typing as npt

from tests.strategies.filters import RICH, name_text, pool, value_text
from tidings.events import Event
from tidings.language import Filter
from tidings.matching.index.thresholds import Thresholds
from tidings.matching.naive import matches
from tidings.schema import Instant, Kind
from tidings.schema.values import Value

# So low that a few dozen filters have keys, slices, bitmaps, blocks and several segments.
LOW = Thresholds(
    few=0, fewest_alike=2, large_cluster=1, longest_key=2, fewest_with_bitmaps=3, fewest_in_blocks=6, block=1,
    most_combinations=4, most_waiting=5, large_merge=20, alike=2, room=1, fewest_for_threads=2,
    largest_chunk=6,
)  # fmt: skip

# (attribute, form) of each family; a form is an operator, or the text with `_` for each constant.
_FAMILIES: tuple[tuple[tuple[str, str], ...], ...] = (
    (("price", "="), ("colour", "=")),
    (("paint", "="), ("kinds", "=")),
    (("paint", "contains _"), ("fits", "contains _")),
    (("prices", "="),),
    (("paint", "="), ("price", ">=")),
    (("kinds", "="), ("prices", ">")),
    (("prices", ">"),),
    (("fits", "="), ("prices", "<")),
    (("kinds", "under _"),),
    (("names", "="), ("price", "<"), ("budget", ">")),
    (("paint", "="), ("prices", "between _ and _")),
    (("paint", "="), ("prices", "not in (_, _)"), ("fits", ">=")),
    (("prices", ">="), ("fits", "<="), ("kinds", "not under _")),
    (("prices", "<"), ("sold", ">"), ("names", ">="), ("paint", "!=")),
    (("paint", "="), ("price", "<"), ("prices", "not between _ and _"), ("sold", ">=")),
    (("colour", "="), ("body", "contains any 'red blue'")),
    (("paint", "="), ("names", "contains all 'red mini'")),
    (("paint", "="), ("body", "not contains all 'a b'")),
    (("body", "contains all 'red mini'"), ("price", ">")),
    (("paint", "="), ("kinds", "not contains _")),
    (("paint", "contains _"), ("kinds", "contains _"), ("prices", "exists")),
    (("paint", "="), ("price", '< "budget"')),
    (("prices", '<= "price"'), ("fits", ">=")),
    (("names", '= "title"'), ("prices", ">")),
    (("category", '<= "kinds"'), ("paint", "=")),
    (("sold", '> "made"'), ("prices", "<=")),
    (("event_type", "contains _"), ("prices", "in (_, _)"), ("price", "<=")),
    (("event_type", "="), ("kinds", "in (_, _, _)")),
    (("event_type", "!="), ("fits", "between _ and _"), ("prices", "<=")),
    (("names", "contains any 'red b'"), ("prices", ">=")),
    (("kinds", "not contains _"), ("prices", "<"), ("fits", ">")),
    (("body", "not contains all 'a red'"), ("prices", ">"), ("fits", "<=")),
    (("size", "="), ("fits", "not between _ and _")),
)
# Five filters of each: clusters without a key that have bitmaps, but are too small for blocks.
_SMALL_FAMILIES: tuple[tuple[tuple[str, str], ...], ...] = (
    (("price", ">="), ("budget", "<"), ("fits", "!="), ("made", "<")),
    (("price", "<"), ("made", ">"), ("fits", ">="), ("names", ">=")),
    (("budget", ">"), ("sold", "<="), ("fits", "between _ and _"), ("names", "!=")),
)
_LONE_FORMS = (
    "=",
    "=",
    "<",
    "<=",
    ">",
    ">=",
    "!=",
    "between _ and _",
    "not between _ and _",
    "in (_, _)",
    "not in (_, _)",
)


def _constant(random: Random, name: str) -> Value:
    domain = RICH.domain_of(name)
    assert domain is not None
    return random.choice(pool(domain))


def _predicate(random: Random, name: str, form: str) -> str:
    form = form if "_" in form or form[-1].isalpha() or form[-1] in "\"'" else f"{form} _"
    while "_" in form:
        form = form.replace("_", value_text(_constant(random, name)), 1)
    return f"{name_text(name)} {form}"


def _lone(random: Random) -> str:
    """A filter of a shape that few others have."""
    parts = []
    for name in random.sample(("price", "prices", "names", "fits", "sold", "made", "budget"), random.randint(1, 4)):
        parts.append(_predicate(random, name, random.choice(_LONE_FORMS)))
        if random.random() < 0.15:
            parts[-1] = f"not ({parts[-1]})"
    if random.random() < 0.3:
        parts.append(random.choice(("not (unused exists)", "not (price exists)", "body exists", "paint exists")))
    return (" and " if random.random() < 0.8 else " or ").join(parts)


@cache
def filters() -> tuple[Filter, ...]:
    """Ten filters of each family, five of each small one, and 120 with shapes of their own; in no order that an index
    could profit by."""
    random = Random(7)
    families = [*_FAMILIES * 10, *_SMALL_FAMILIES * 5]
    texts = [" and ".join(_predicate(random, name, form) for name, form in family) for family in families]
    texts += [_lone(random) for _ in range(120)]
    random.shuffle(texts)
    return tuple(Filter.parse(text, RICH) for text in texts)


def computed_texts(each: int) -> list[str]:
    """So many filters of each family with arithmetic, times from now, places, parts of strings, or patterns; with a key
    and without, so that all ways of an index meet them."""
    random = Random(9)
    signs, spans = ("<", "<=", "=", "!=", ">", ">="), ("", " + 10 h", " - 1 day", " + 1 week")
    forms: tuple[Callable[[], str], ...] = (
        lambda: f"price {random.choice(signs)} {random.choice(('2 * ', '-1 * ', '0.5 * '))}budget + 1",
        lambda: f"prices {random.choice(signs)} price + {random.choice((0.5, 1, 3))}",
        lambda: f"sold {random.choice(signs)} made + {random.choice((1, 10, 30))} h",
        lambda: f"made {random.choice(signs)} now{random.choice(spans)}",
        lambda: f"sold {random.choice(signs)} now{random.choice(spans)}",
        lambda: f"spot {random.choice(('', 'not '))}near (37.8, -122.4) within {random.choice((1, 9, 20_016))} km",
        lambda: (
            f"spots {random.choice(('', 'not '))}inside ({random.choice(('37, -123, 38, -122.3', '0, 170, 0, 180'))})"
        ),
        lambda: f"title {random.choice(('starts', 'ends'))} with '{random.choice(('', 'a', 'red', 'i', 'b'))}'",
        lambda: f"names {random.choice(('', 'not '))}like '{random.choice(('%a%', 'M%d', '_', '%i%i%'))}'",
        lambda: f"body {random.choice(('', 'not '))}contains ({random.choice(('a or red', 'mini*', 'red and not a'))})",
    )
    keys: tuple[Callable[[], str], ...] = (
        lambda: f"paint = {value_text(_constant(random, 'paint'))} and ",
        lambda: f"fits >= {value_text(_constant(random, 'fits'))} and prices < {random.randint(0, 9)} and ",
        lambda: "",
    )
    return [key() + form() for form in forms for key in keys for _ in range(each)]


@cache
def events() -> tuple[Event, ...]:
    """Two thirds bind nearly everything; a multiple attribute often has several values, sometimes all there are."""
    random = Random(8)
    return tuple(_event(random, f"e{number}") for number in range(100))


def _event(random: Random, id: str) -> Event:
    types = random.choice(
        (("offer",), ("offer",), ("car",), ("car", "antique"), ("antique", "offer"), ("car", "offer"))
    )
    bound = random.choice((0.3, 0.9, 0.95))
    attributes: list[tuple[str, tuple[Value, ...]]] = []
    for name, use in sorted(RICH.view(types).uses.items()):
        domain = RICH.domain_of(name)
        assert domain is not None
        if random.random() < bound:
            values = list(pool(domain))
            most = 1 if use.unique else random.choice((1, 2, 3, len(values)))
            random.shuffle(values)
            attributes.append((name, tuple(values[: random.randint(1, min(most, len(values)))])))
    time = random.choice((None, *pool_of_times()))
    return Event(id, types, tuple(attributes), random.choice(("", "a")), time)


def pool_of_times() -> tuple[Instant, ...]:
    domain = next(domain for domain in RICH.domains if domain.kind is Kind.TIME)
    return tuple(value for value in pool(domain) if isinstance(value, Instant))


@cache
def truth() -> npt.NDArray[np.bool_]:
    """[event, filter]: what the specification says."""
    bindings = [event.bindings() for event in events()]
    return np.array([[matches(filter.tree, bound, RICH) for filter in filters()] for bound in bindings])
