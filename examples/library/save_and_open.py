"""A hundred thousand filters, saved as a plan and opened at once; single events as they come, also as JSON."""

import json
import random
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import tidings

FILTERS = 100_000
chance = random.Random(7)
brands = [f"brand {number}" for number in range(500)]
schema = tidings.Schema.infer(
    [{"price": 1, "brand": brand} for brand in brands], "offer", kinds={"brand": "enumerated"}
)

matcher = tidings.Matcher(schema)
began = time.perf_counter()
matcher.add_many(
    (f"s{number}", f"brand = '{chance.choice(brands)}' and price < {chance.randrange(1, 10_000)}")
    for number in range(FILTERS)
)
print(f"{matcher}, added in {time.perf_counter() - began:.1f} s")

offer = {"price": 9_000, "brand": "brand 7"}
told = matcher.match_one(offer)
with TemporaryDirectory() as folder:
    matcher.save(Path(folder, "plan"))
    began = time.perf_counter()
    again = tidings.Matcher.open(Path(folder, "plan"))
    print(f"opened in {time.perf_counter() - began:.2f} s")
    assert again.match_one(json.dumps(offer)) == told

    # What is opened goes on to change; another save needs another name, or `overwrite`.
    again.remove(told[0])
    again.add("all of it", "price >= 0")
    again.save(Path(folder, "plan"), overwrite=True)
    assert tidings.Matcher.open(Path(folder, "plan")).match_one(offer) == [*told[1:], "all of it"]

began = time.perf_counter()
for _ in range(1_000):
    matcher.match_one(offer)
print(f"one event by itself: {(time.perf_counter() - began) * 1_000:.0f} µs for {len(told)} matches")
