"""What a column of values most likely is."""

from __future__ import annotations

from dataclasses import dataclass

from tidings.feeds.mapping.mapping import Reading
from tidings.schema import Kind

# Numbers or times among junk: at least this share of the values must fit, in a column of at least this many.
MOST = 0.9
FEWEST = 20


@dataclass(frozen=True, slots=True)
class Guess:
    """`path` is what stands between the names of a category's path. `junk` are the values that cannot be read so: a few
    in a column of numbers or times."""

    kind: Kind
    reading: Reading
    path: str = ""
    junk: tuple[str, ...] = ()


def are_most(some: int, of: int) -> bool:
    """Whether the others may be junk."""
    return of >= FEWEST and MOST * of <= some
