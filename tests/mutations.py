"""Wrong inputs made from right ones, for fuzzing: the same seed gives the same inputs."""

import os
import random
from collections.abc import Callable, Iterator, Sequence

_UNITS = ("\0", "\x7f", "é", "\u2028", "𐍈", "\ufffe", "٣", "ﷺ", "\u0300", "'", '"', "\\", "\n")


def mutated(corpus: Sequence[str], words: Sequence[str], count: int, seed: int) -> Iterator[str]:
    """Each a text of the corpus with up to six changes, or now and then noise."""
    draw = random.Random(seed)
    for _ in range(count):
        if draw.random() < 0.03:
            yield "".join(
                chr(draw.choice((draw.randrange(128), draw.randrange(0xD800)))) for _ in range(draw.randrange(80))
            )
            continue
        text = draw.choice(corpus)
        for _ in range(draw.randrange(7)):
            text = draw.choice(_CHANGES)(text, corpus, words, draw)
        yield text[:20_000]


def _cut(text: str, corpus: Sequence[str], words: Sequence[str], draw: random.Random) -> str:
    start = draw.randrange(len(text) + 1)
    return text[:start] + text[start + draw.choice((1, 1, 2, 5, 30)) :]


def _insert(text: str, corpus: Sequence[str], words: Sequence[str], draw: random.Random) -> str:
    start = draw.randrange(len(text) + 1)
    return (
        text[:start] + draw.choice((draw.choice(words), draw.choice(_UNITS), chr(draw.randrange(128)))) + text[start:]
    )


def _replace(text: str, corpus: Sequence[str], words: Sequence[str], draw: random.Random) -> str:
    return text.replace(draw.choice(words), draw.choice(words), draw.choice((1, -1)))


def _repeat(text: str, corpus: Sequence[str], words: Sequence[str], draw: random.Random) -> str:
    start = draw.randrange(len(text) + 1)
    stop = start + draw.randrange(1, 40)
    return text[:stop] + text[start:stop] * draw.choice((1, 2, 3, 50)) + text[stop:]


def _splice(text: str, corpus: Sequence[str], words: Sequence[str], draw: random.Random) -> str:
    other = draw.choice(corpus)
    return text[: draw.randrange(len(text) + 1)] + other[draw.randrange(len(other)) :]


_CHANGES: tuple[Callable[[str, Sequence[str], Sequence[str], random.Random], str], ...] = (
    _cut, _insert, _replace, _repeat, _splice,
)  # fmt: skip


def resident() -> int:
    """Bytes of memory that this process holds."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
