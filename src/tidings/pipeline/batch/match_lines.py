"""Matches as the lines of a file: `{"event": "e1", "subscription": "s1"}`, in the order of the events, then of the
ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from tidings.events import Refused
from tidings.matching import Algorithm, Matches


@dataclass(frozen=True, slots=True)
class MatchOutput:
    """What a part of a file gave: lines of matches, how many and of how many events, and what was left out."""

    lines: bytes
    matches: int
    events: int
    refused: list[Refused]
    duplicates: int


class MatchLines(NamedTuple):
    """The lines of all events; those of event i end at the byte `ends[i]`, and it has `counts[i]` of them."""

    text: bytes
    ends: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]


def match_lines(ids: Any, matches: Matches, matcher: Algorithm) -> MatchLines:
    """`ids` are the events', as an Arrow array."""
    counts = np.diff(matches.offsets)
    used, places = np.unique(matches.numbers, return_inverse=True)
    names = [matcher.id(number) for number in used.tolist()]
    rank = np.empty(len(names), np.int64)
    rank[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    owners = matches.events()
    order = np.lexsort((rank[places], owners))
    encode = msgspec.json.encode
    tails = [b', "subscription": ' + encode(name) + b"}\n" for name in names]
    heads = [b'{"event": ' + encode(id) for id in ids.to_pylist()]
    lengths = np.array([len(head) for head in heads], np.int64) * counts
    if len(matches):
        long = np.array([len(tail) for tail in tails], np.int64)[places]
        lengths += np.bincount(owners, weights=long, minlength=len(counts)).astype(np.int64)
    pairs = zip(owners[order].tolist(), places[order].tolist(), strict=True)
    text = b"".join([heads[event] + tails[place] for event, place in pairs])
    return MatchLines(text, np.cumsum(lengths), counts)
