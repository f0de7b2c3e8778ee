"""Phrases and chains whose words occur often in a text, tested on sets of places as bits.

Bit p of a set is place p, and one step handles 64 places. So a test takes steps in proportion to the places of its
distinct terms, plus the pattern's words times the text's words over 64; `pattern_kernel` takes fewer where words are
rare."""

from __future__ import annotations

from typing import Any

import numpy as np

from tidings.kernels.compiled import kernel
from tidings.language.patterns.tree import MOST_WORDS

_NONE = np.uint64(0)


@kernel
def rows_for(begin: Any, end: Any, place_offsets: Any, places: Any) -> Any:
    """Room for the places of each term of a pattern in the text with the entries [begin, end): one row a term."""
    stop = 0
    for entry in range(begin, end):
        if place_offsets[entry] < place_offsets[entry + 1]:
            stop = max(stop, places[place_offsets[entry + 1] - 1] + 1)
    return np.empty((MOST_WORDS, (stop >> 6) + 1), np.uint64)  # memory that is never written costs nothing


@kernel
def has_chain_in_bits(
    rows: Any, filled: Any, pool: Any, first: Any, steps: Any, step: Any, begin: Any, end: Any, terms: Any,
    place_offsets: Any, places: Any,
) -> Any:  # fmt: skip
    """Whether each operand has an occurrence such that neighbours satisfy their links, and the step after the chain."""
    width = rows.shape[1]
    starts, stops, run = np.empty(width, np.uint64), np.empty(width, np.uint64), np.empty(width, np.uint64)
    may_start, may_stop, may = np.empty(width, np.uint64), np.empty(width, np.uint64), np.empty(width, np.uint64)
    after = step + 1
    for operand in range(steps[step]):
        near = False
        if operand > 0:
            near, least, most = steps[after] == 1, steps[after + 1], steps[after + 2]
            after += 3
            may_start[:], may_stop[:] = _NONE, starts
            add_raised(may_start, stops, least)
            add_all_raised(may_start, most - least)
            if near:
                add_all_lowered(may_stop, most)
        starts[:], stops[:] = _NONE, _NONE
        members = steps[after]
        after += 1
        for _ in range(members):
            find_run(run, rows, filled, pool, first, steps, after, begin, end, terms, place_offsets, places)
            if operand > 0:
                may[:] = may_start
                if near:
                    add_lowered(may, may_stop, steps[after])
                run &= may
            starts |= run
            add_raised(stops, run, steps[after])
            after += 1 + steps[after]
    return starts.any(), after


@kernel
def has_run_in_bits(
    rows: Any, filled: Any, pool: Any, first: Any, steps: Any, step: Any, begin: Any, end: Any, terms: Any,
    place_offsets: Any, places: Any,
) -> Any:  # fmt: skip
    run = np.empty(rows.shape[1], np.uint64)
    find_run(run, rows, filled, pool, first, steps, step, begin, end, terms, place_offsets, places)
    return run.any()


@kernel
def find_run(
    run: Any, rows: Any, filled: Any, pool: Any, first: Any, steps: Any, step: Any, begin: Any, end: Any, terms: Any,
    place_offsets: Any, places: Any,
) -> Any:  # fmt: skip
    """Writes where a run of words begins."""
    lowered = np.empty(len(run), np.uint64)
    run[:] = ~_NONE
    for i in range(steps[step]):
        place = steps[step + 1 + i]
        row = rows[place]
        if not filled[place]:
            fill(row, pool[first + place], begin, end, terms, place_offsets, places)
            filled[place] = True
        lowered[:] = _NONE
        add_lowered(lowered, row, i)
        run &= lowered


@kernel
def fill(row: Any, term: Any, begin: Any, end: Any, terms: Any, place_offsets: Any, places: Any) -> Any:
    """Writes the places of a term."""
    row[:] = _NONE
    entry = begin + np.searchsorted(terms[begin:end], term)
    if entry < end and terms[entry] == term:
        for p in range(place_offsets[entry], place_offsets[entry + 1]):
            row[places[p] >> 6] |= np.uint64(1) << np.uint64(places[p] & 63)


@kernel
def add_raised(to: Any, bits: Any, by: Any) -> Any:
    """Adds the places of `bits`, each moved up; also if both are the same set."""
    skipped, shift, rest = by >> 6, np.uint64(by & 63), np.uint64(64 - (by & 63))
    for k in range(len(to) - 1, skipped, -1):  # words below are still as they were
        to[k] |= bits[k - skipped] << shift
        if by & 63:
            to[k] |= bits[k - skipped - 1] >> rest
    if skipped < len(to):
        to[skipped] |= bits[0] << shift


@kernel
def add_lowered(to: Any, bits: Any, by: Any) -> Any:
    skipped, shift, rest = by >> 6, np.uint64(by & 63), np.uint64(64 - (by & 63))
    last = len(to) - 1 - skipped
    for k in range(last):
        to[k] |= bits[k + skipped] >> shift
        if by & 63:
            to[k] |= bits[k + skipped + 1] << rest
    if last >= 0:
        to[last] |= bits[last + skipped] >> shift


@kernel
def add_all_raised(bits: Any, most: Any) -> Any:
    """Adds each place moved up by 1, 2, … `most`: in each round, as many again as there are."""
    reached = 0
    while reached < most:
        more = min(reached + 1, most - reached)
        add_raised(bits, bits, more)
        reached += more


@kernel
def add_all_lowered(bits: Any, most: Any) -> Any:
    reached = 0
    while reached < most:
        more = min(reached + 1, most - reached)
        add_lowered(bits, bits, more)
        reached += more
