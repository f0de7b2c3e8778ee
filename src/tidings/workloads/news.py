"""News-like texts and patterns over them: made-up words by Zipf's law, seeded."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tidings.events import EventBatch, validate
from tidings.language.patterns.tree import AllOf, Chain, Lacks, Link, Pattern, PatternWord
from tidings.schema.catalog import Catalog

VOCABULARY = 50_000
WORDS = 200  # in a text
STOP_WORDS = 100  # the most frequent ones, which nobody asks for
_FLATTENED = 2.7  # Mandelbrot's: the first words are not quite so frequent
_CONSONANTS, _VOWELS = "bcdfghjklmnprstvwz", "aeiou"


class NewsPattern(NamedTuple):
    """Three words and how they are joined: `and`, `near` and `before` (the first two within five words), `not`."""

    kind: str
    words: tuple[str, str, str]

    @property
    def tree(self) -> Pattern:
        first, second, third = map(PatternWord, self.words)
        match self.kind:
            case "near" | "before":
                link = Link("near", 0, 5) if self.kind == "near" else Link("<", 0, 5)
                return AllOf((Chain((first, second), (link,)), third))
            case "not":
                return AllOf((first, second, Lacks(third)))
            case _:
                return AllOf((first, second, third))


class News:
    def __init__(self, seed: int = 19) -> None:
        words, self._texts, self._patterns = (np.random.default_rng((seed, part)) for part in range(3))
        self.words = _made_up(words)
        ranks = np.arange(1, VOCABULARY + 1) + _FLATTENED
        self._sums = np.cumsum(1 / ranks)
        self.catalog = Catalog.from_dict(
            {
                "domains": [{"name": "text", "kind": "text", "language": "english"}],
                "attributes": [{"name": "body", "domain": "text"}],
                "event_types": [{"name": "story", "attributes": [{"name": "body"}]}],
            }
        )

    def texts(self, count: int, words: int = WORDS) -> list[str]:
        drawn = self._drawn(self._texts, (count, words), 0)
        return [" ".join(self.words[rank] for rank in row) + "." for row in drawn.tolist()]

    def batch(self, texts: list[str]) -> EventBatch:
        made = ({"id": str(n), "event_type": "story", "attributes": {"body": text}} for n, text in enumerate(texts))
        return EventBatch.of([validate(one, self.catalog) for one in made], self.catalog)

    def patterns(self, count: int) -> list[NewsPattern]:
        """A third with proximity, a tenth with `not`; words by Zipf's law without the stop-words."""
        drawn = self._drawn(self._patterns, (count, 3), STOP_WORDS)
        for place in (1, 2, 1):  # three different words
            again = (drawn[:, [place]] == np.delete(drawn, place, axis=1)).any(axis=1)
            drawn[again, place] = (drawn[again, place] + place) % VOCABULARY
        chance = self._patterns.random(count)
        kinds = np.select([chance < 1 / 6, chance < 1 / 3, chance < 1 / 3 + 0.1], ["near", "before", "not"], "and")
        return [
            NewsPattern(kind, (self.words[a], self.words[b], self.words[c]))
            for kind, (a, b, c) in zip(kinds.tolist(), drawn.tolist(), strict=True)
        ]

    def _drawn(self, random: np.random.Generator, shape: tuple[int, int], first: int) -> npt.NDArray[np.int64]:
        """Ranks by Zipf's law, from this one on."""
        before = self._sums[first - 1] if first else 0.0
        points = before + random.random(shape) * (self._sums[-1] - before)
        ranks: npt.NDArray[np.int64] = np.minimum(np.searchsorted(self._sums, points), VOCABULARY - 1)
        return ranks


def _made_up(random: np.random.Generator) -> list[str]:
    """Different words of syllables; frequent ones are short."""
    made: dict[str, None] = {}
    while len(made) < VOCABULARY:
        syllables = 1 + int(np.log(len(made) + 1) / 3.2) + int(random.integers(0, 2))
        letters = random.integers(0, (len(_CONSONANTS), len(_VOWELS)), (syllables, 2)).tolist()
        made["".join(_CONSONANTS[c] + _VOWELS[v] for c, v in letters)] = None
    return list(made)
