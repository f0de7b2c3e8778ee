"""What a comparison of two attributes costs: the same filters without one, with `price < estimate`, with
`price < 1.1 * estimate + 5`, with two such beside a range, and with one such alone, over the same events in one run, in
processor time of one thread. `python -m tidings.bench.attribute_pairs [tries]`."""

from __future__ import annotations

import random
import sys
from time import process_time

from tidings.events import Event, EventBatch
from tidings.language import Filter, Subscription
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.schema import Catalog

FILTERS, EVENTS, TRIES = 2_500, 18_704, 15
_NAMES = ("price", "estimate", "year")
_PLAIN = "{first} and price > {low}"
FORMS = {
    "plain": _PLAIN,
    "two attributes": _PLAIN + " and price < estimate",
    "linear": _PLAIN + " and price < {scale} * estimate + {offset}",
    "two linear": "price > {low} and price < {scale} * estimate + {offset} and price > {less} * estimate - {offset}",
    "linear alone": "price > {scale} * estimate + {low}",
}


def catalog() -> Catalog:
    return Catalog.from_dict(
        {
            "domains": [{"name": "n", "kind": "numeric"}, {"name": "s", "kind": "string"}],
            "attributes": [*({"name": name, "domain": "n"} for name in _NAMES), {"name": "brand", "domain": "s"}],
            "event_types": [{"name": "car", "attributes": [{"name": name} for name in (*_NAMES, "brand")]}],
        }
    )


def filters(chance: random.Random, form: str) -> list[str]:
    """Half with an equality that the index can look up, half with a range only, where the form has them."""
    made = []
    for number in range(FILTERS):
        brand, year, low = chance.randrange(40), chance.randrange(1990, 2020), chance.randrange(1000, 30_000)
        first = f"brand = 'b{brand}'" if number % 2 else f"year > {year}"
        scale, less = 1 + number % 50 / 100, 0.9 + number % 7 / 100
        made.append(form.format(first=first, low=low, scale=scale, less=less, offset=number % 97))
    return made


def main() -> None:
    chance, schema = random.Random(17), catalog()
    events = [
        Event(
            f"e{n}",
            ("car",),
            (
                ("brand", (f"b{chance.randrange(40)}",)),
                ("estimate", (chance.randrange(500, 30_000),)),
                ("price", (chance.randrange(500, 30_000),)),
                ("year", (chance.randrange(1980, 2026),)),
            ),
        )
        for n in range(EVENTS)
    ]
    batch = EventBatch.of(events, schema)
    first = 0.0
    for name, form in FORMS.items():
        matcher = BoxMatcher(schema, 1)
        for number, text in enumerate(filters(random.Random(7), form)):
            matcher.add(Subscription(str(number), Filter.parse(text, schema)))
        matcher.merge()
        matcher.match(batch.slice(0, 10))
        times = []
        for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else TRIES):
            began = process_time()
            found = matcher.match(batch)
            times.append(process_time() - began)
        first = first or min(times)
        print(f"{name:15} {min(times):6.3f} s  {min(times) / first:4.1f} times  {len(found):,} matches")


if __name__ == "__main__":
    main()
