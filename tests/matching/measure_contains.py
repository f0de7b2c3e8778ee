"""How fast words are matched: `python -m tests.matching.measure_contains`; `scripts/compare-contains COMMIT` runs it on
an older commit, too.

10,000 filters of one word, on texts of 30 and of 200 words by Zipf's law, in batches and one by one. One thread,
processor time, the best of five rounds. A JSON object with all figures is the last line: texts a second."""

from __future__ import annotations

import json
from time import process_time

import numpy as np

from tidings.events import EventBatch, validate
from tidings.language import Filter, Subscription
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.schema import Catalog

FILTERS, WORDS, TEXTS, ALONE, ROUNDS = 10_000, 20_000, 2_000, 400, 5
CATALOG = Catalog.from_dict(
    {
        "domains": [{"name": "text", "kind": "text"}],
        "attributes": [{"name": "body", "domain": "text"}],
        "event_types": [{"name": "story", "attributes": [{"name": "body"}]}],
    }
)


def main() -> None:
    random = np.random.default_rng(19)
    chances = 1 / (np.arange(WORDS) + 2.7)
    chances /= chances.sum()
    matcher = BoxMatcher(CATALOG, 1)
    for number in range(FILTERS):
        filter = Filter.parse(f"body contains 'w{100 + number}'", CATALOG)
        matcher.add(Subscription(f"s{number}", filter))
    figures: dict[str, float] = {}
    for length in (30, 200):
        drawn = random.choice(WORDS, (TEXTS, length), p=chances).tolist()
        texts = [" ".join(f"w{word}" for word in row) for row in drawn]
        raw = [{"id": str(n), "event_type": "story", "attributes": {"body": one}} for n, one in enumerate(texts)]
        events = [validate(one, CATALOG) for one in raw]
        seconds = []
        for _ in range(ROUNDS + 1):  # the first compiles
            batch = EventBatch.of(events, CATALOG)
            started = process_time()
            found = len(matcher.match(batch))
            seconds.append(process_time() - started)
        figures[f"match, {length} words"] = TEXTS / min(seconds[1:])
        figures[f"matches, {length} words"] = found
        seconds = []
        for _ in range(ROUNDS + 1):
            started = process_time()
            for event in events[:ALONE]:
                matcher.match_one(event)
            seconds.append(process_time() - started)
        figures[f"match_one, {length} words"] = ALONE / min(seconds[1:])
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
