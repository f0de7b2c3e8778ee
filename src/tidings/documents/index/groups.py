"""Paths that are accepted by the same states of an automaton, taken together: a group is found or not found as a whole.

Without groups, a document with 20,000 matches would look at each path once for each of its states that accepts it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tidings.documents.index.trie import Integers, Numbers


class Groups(NamedTuple):
    states: int  # those that were grouped; newer ones list their paths one by one
    offsets: Integers  # the groups that state i accepts
    of_state: Numbers
    member_offsets: Integers  # the paths in group i
    members: Numbers
    of_slot: Numbers


def no_groups(slots: int) -> Groups:
    """All paths in one group, which no state accepts."""
    return Groups(
        0,
        np.zeros(1, np.int64),
        np.zeros(0, np.int32),
        np.array([0, slots]),
        np.arange(slots, dtype=np.int32),
        np.zeros(slots, np.int32),
    )


def grouped(accepted: Any, offsets: Any, slots: int) -> Groups:
    """`accepted[offsets[i, 0]:offsets[i, 1]]` are the paths that state i accepts, state by state.

    Paths are told apart by two sums of random numbers over their states, 38 bits each: exact as floats."""
    states = len(offsets)
    owners = np.repeat(np.arange(states), offsets[:, 1] - offsets[:, 0])
    drawn = np.random.default_rng().integers(1, 1 << 38, (2, states)).astype(np.float64)
    one, two = (np.bincount(accepted, weights=row[owners], minlength=slots) for row in drawn)
    members = np.lexsort((one, two)).astype(np.int32)
    new = np.ones(slots, np.bool_)
    new[1:] = (np.diff(one[members]) != 0) | (np.diff(two[members]) != 0)
    of_slot = np.empty(slots, np.int32)
    of_slot[members] = np.cumsum(new) - 1
    count = int(np.count_nonzero(new))
    pairs = np.unique(owners * count + of_slot[accepted])
    state_offsets = np.zeros(states + 1, np.int64)
    np.cumsum(np.bincount(pairs // count, minlength=states), out=state_offsets[1:])
    return Groups(
        states,
        state_offsets,
        (pairs % count).astype(np.int32),
        np.append(np.flatnonzero(new), slots),
        members,
        of_slot,
    )
