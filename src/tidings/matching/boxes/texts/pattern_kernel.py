"""Tests patterns on the words of a text: the compiled twin of `language.patterns.meaning`.

A text is a list of entries, one per term that some filter names and the text has, ascending, each with the places where
it occurs. A test takes steps in proportion to the places of the pattern's terms (times a logarithm), as long as these
are few; `place_bits` takes over where they are many."""

from __future__ import annotations

from typing import Any

import numpy as np

from tidings.kernels.compiled import inlined, kernel
from tidings.language.patterns.tree import DEEPEST, MOST_WORDS
from tidings.matching.boxes.texts.pattern_shape import (
    CLEAR,
    HAS_CHAIN,
    HAS_PHRASE,
    HAS_TERM,
    HEADER,
    IF_FALSE,
    IF_TRUE,
    NOT,
    TALLY,
)
from tidings.matching.boxes.texts.place_bits import has_chain_in_bits, has_run_in_bits, rows_for

MANY = 256  # places looked at one by one
NO, YES, OPEN = 0, 1, 2


@kernel
def some_text_fits(e: Any, d: Any, shape: Any, first: Any, pool: Any, patterns: Any) -> Any:
    """Whether one of event e's texts satisfies a pattern of dimension d whose terms begin at `pool[first]`."""
    shape_starts, steps, text_starts, text_stops, texts, entry_offsets, terms, place_offsets, places = patterns
    at = shape_starts[shape]
    for value in range(text_starts[e, d], text_stops[e, d]):
        begin, end = entry_offsets[texts[value]], entry_offsets[texts[value] + 1]
        possible = True
        for i in range(steps[at]):
            possible = possible and entry_of(pool[first + i], begin, end, terms) >= 0
        if possible and (steps[at + 1] == 0 or fits(pool, first, steps, at, begin, end, terms, place_offsets, places)):
            return True
    return False


@inlined
def entry_of(term: Any, begin: Any, end: Any, terms: Any) -> Any:
    """The entry of a term; -1 if the text does not have it."""
    left, right = begin, end
    while left < right:
        middle = (left + right) >> 1
        if terms[middle] < term:
            left = middle + 1
        else:
            right = middle
    return left if left < end and terms[left] == term else -1


@kernel
def fits(
    pool: Any, first: Any, steps: Any, at: Any, begin: Any, end: Any, terms: Any, place_offsets: Any, places: Any
) -> Any:
    """Runs the body of a shape on the entries [begin, end)."""
    tally = np.zeros(DEEPEST + 2, np.int64)
    rows, filled = np.empty((0, 0), np.uint64), np.empty(0, np.bool_)  # for `place_bits`, once for the whole pattern
    step, stop = at + HEADER, at + HEADER + steps[at + 1]
    holds = True
    while step < stop:
        kind = steps[step]
        if kind == HAS_TERM:
            holds = entry_of(pool[first + steps[step + 1]], begin, end, terms) >= 0
            step += 2
        elif kind == NOT:
            holds = not holds
            step += 1
        elif kind == IF_FALSE:
            step = step + 2 if holds else at + steps[step + 1]
        elif kind == IF_TRUE:
            step = at + steps[step + 1] if holds else step + 2
        elif kind == HAS_PHRASE or kind == HAS_CHAIN:
            if kind == HAS_PHRASE:
                verdict = has_run(pool, first, steps, step + 1, begin, end, terms, place_offsets, places)
                after = step + 2 + steps[step + 1]
            else:
                verdict, after = has_chain(pool, first, steps, step + 1, begin, end, terms, place_offsets, places)
            if verdict == OPEN:
                if len(filled) == 0:
                    rows, filled = rows_for(begin, end, place_offsets, places), np.zeros(MOST_WORDS, np.bool_)
                if kind == HAS_PHRASE:
                    verdict = has_run_in_bits(
                        rows, filled, pool, first, steps, step + 1, begin, end, terms, place_offsets, places
                    )
                else:
                    verdict, after = has_chain_in_bits(
                        rows, filled, pool, first, steps, step + 1, begin, end, terms, place_offsets, places
                    )
            holds, step = verdict == YES, after
        elif kind == CLEAR:
            tally[steps[step + 1]] = 0
            step += 2
        elif kind == TALLY:
            slot = steps[step + 1]
            tally[slot] += 1 if holds else 0
            step = at + steps[step + 3] if holds and tally[slot] == steps[step + 2] else step + 4
        else:
            holds = False
            step += 1
    return holds


@inlined
def rarest(pool: Any, first: Any, steps: Any, step: Any, begin: Any, end: Any, terms: Any, place_offsets: Any) -> Any:
    """Which word of a run occurs least often, and its entry; -1 if one does not occur at all."""
    best, chosen, fewest = np.int64(-1), np.int64(0), np.int64(0)
    for i in range(steps[step]):
        entry = np.int64(entry_of(pool[first + steps[step + 1 + i]], begin, end, terms))
        if entry < 0:
            return np.int64(-1), np.int64(0)
        count = place_offsets[entry + 1] - place_offsets[entry]
        if best < 0 or count < fewest:
            best, chosen, fewest = entry, np.int64(i), count
    return best, chosen


@kernel
def has_run(
    pool: Any, first: Any, steps: Any, step: Any, begin: Any, end: Any, terms: Any, place_offsets: Any, places: Any
) -> Any:
    """Whether a run of words occurs; OPEN if the places looked at do not tell."""
    entry, chosen = rarest(pool, first, steps, step, begin, end, terms, place_offsets)
    if entry < 0:
        return NO
    last = min(place_offsets[entry + 1], place_offsets[entry] + MANY)
    for p in range(place_offsets[entry], last):
        if is_run(pool, first, steps, step, places[p] - chosen, chosen, begin, end, terms, place_offsets, places):
            return YES
    return NO if last == place_offsets[entry + 1] else OPEN


@inlined
def is_run(
    pool: Any, first: Any, steps: Any, step: Any, start: Any, known: Any, begin: Any, end: Any, terms: Any,
    place_offsets: Any, places: Any,
) -> Any:  # fmt: skip
    """Whether the words of a run, but for the one known to be there, occur from `start` on."""
    for i in range(steps[step]):
        if i != known:
            entry = entry_of(pool[first + steps[step + 1 + i]], begin, end, terms)
            if not has_between(places, place_offsets[entry], place_offsets[entry + 1], start + i, start + i):
                return False
    return True


@inlined
def has_between(ascending: Any, left: Any, right: Any, least: Any, most: Any) -> Any:
    """Whether `ascending[left:right]` has a number in [least, most]."""
    end = right
    while left < right:
        middle = (left + right) >> 1
        if ascending[middle] < least:
            left = middle + 1
        else:
            right = middle
    return left < end and ascending[left] <= most


@inlined
def places_of(
    pool: Any, first: Any, steps: Any, step: Any, begin: Any, end: Any, terms: Any, place_offsets: Any
) -> Any:
    """At how many places members of a group may occur, and the step after the group."""
    count, after = 0, step + 1
    for _ in range(steps[step]):
        entry, _ = rarest(pool, first, steps, after, begin, end, terms, place_offsets)
        if entry >= 0:
            count += place_offsets[entry + 1] - place_offsets[entry]
        after += 1 + steps[after]
    return count, after


@kernel
def group_of(
    pool: Any, first: Any, steps: Any, step: Any, begin: Any, end: Any, terms: Any, place_offsets: Any, places: Any
) -> Any:
    """Where the members of a group begin and end in the text, and the step after the group."""
    members = steps[step]
    room, after = places_of(pool, first, steps, step, begin, end, terms, place_offsets)
    starts, stops = np.empty(room, np.int64), np.empty(room, np.int64)
    n, member = 0, step + 1
    for _ in range(members):
        length = steps[member]
        entry, chosen = rarest(pool, first, steps, member, begin, end, terms, place_offsets)
        if entry >= 0:
            for p in range(place_offsets[entry], place_offsets[entry + 1]):
                start = places[p] - chosen
                if length == 1 or is_run(
                    pool, first, steps, member, start, chosen, begin, end, terms, place_offsets, places
                ):
                    starts[n], stops[n] = start, start + length
                    n += 1
        member += 1 + length
    return starts[:n], stops[:n], after


@kernel
def has_chain(
    pool: Any, first: Any, steps: Any, step: Any, begin: Any, end: Any, terms: Any, place_offsets: Any, places: Any
) -> Any:
    """Whether each operand has an occurrence such that neighbours satisfy their links, OPEN if there are too many
    places to look at; and the step after the chain."""
    operands = steps[step]
    if place_offsets[end] - place_offsets[begin] > MANY:
        count, after = places_of(pool, first, steps, step + 1, begin, end, terms, place_offsets)
        for _ in range(1, operands):
            more, after = places_of(pool, first, steps, after + 3, begin, end, terms, place_offsets)
            count += more
        if count > MANY:
            return OPEN, after
    mixed = steps[step + 1] > 1
    starts, stops, after = group_of(pool, first, steps, step + 1, begin, end, terms, place_offsets, places)
    for _ in range(1, operands):
        near, least, most = steps[after], steps[after + 1], steps[after + 2]
        if mixed:
            starts.sort()
            stops.sort()
        mixed = steps[after + 3] > 1
        next_starts, next_stops, after = group_of(
            pool, first, steps, after + 3, begin, end, terms, place_offsets, places
        )
        n = 0
        for i in range(len(next_starts)):
            start, stop = next_starts[i], next_stops[i]
            if has_between(stops, 0, len(stops), start - most, start - least) or (
                near == 1 and has_between(starts, 0, len(starts), stop, stop + most)
            ):
                next_starts[n], next_stops[n] = start, stop
                n += 1
        starts, stops = next_starts[:n], next_stops[:n]
    return YES if len(starts) > 0 else NO, after
