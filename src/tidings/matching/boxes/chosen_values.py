"""What a box demands of an event's values one by one, and how two of them compare: the parts of a second look that need
no room of their own. Where a box compares one pair of attributes, they decide it.

A value is its place in `Choices`. Values of an attribute ascend, so `scale * value + offset`, as rounded, never
decreases from one to the next, or never increases.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tidings.kernels.compiled import bare_inlined, bare_kernel
from tidings.language.relations import GREATER, LESS, SAME
from tidings.matching.boxes.box_table import CIRCLE, HALF, IN_RANGES, LINEAR, RELATED, SHIFTED, SINGLE
from tidings.matching.boxes.choices import ROLES
from tidings.matching.boxes.dimension import OPEN
from tidings.matching.boxes.event_table import EXTREMES
from tidings.schema.region import distance, is_inside

IMPOSSIBLE, CERTAIN, PERHAPS = range(3)

compiled_distance, compiled_is_inside = bare_kernel(distance), bare_kernel(is_inside)


@bare_inlined
def in_region(kind: Any, negated: Any, row: Any, constants: Any, latitude: Any, longitude: Any) -> Any:
    """Whether a place satisfies a residual about a region."""
    if kind == CIRCLE:
        near = compiled_distance(constants[row, 0], constants[row, 1], latitude, longitude) <= constants[row, 2]
        return near != negated
    within = compiled_is_inside(
        latitude, longitude, constants[row, 0], constants[row, 1], constants[row, 2], constants[row, 3]
    )
    return within != negated


@bare_inlined
def restricts_neither(
    pair: Any, access: Any, key_from: Any, key_to: Any, side_dimension: Any, low: Any, high: Any, first: Any, last: Any,
    bounds: Any, attributes: Any, of_attribute: Any,
) -> Any:  # fmt: skip
    """Whether neither one of the keys nor one of the sides [first, last) is about an attribute of the pair, which are
    two; with `bounds`, sides without bounds do not count. The last two are fields of `Choices`."""
    if attributes[pair, 0] == attributes[pair, 1]:
        return False
    for s in range(2):
        for role in range(ROLES):
            d = of_attribute[attributes[pair, s], role]
            if d < 0:
                continue
            for a in range(key_from, key_to):
                if access[a] == d:
                    return False
            for side in range(first, last):
                if side_dimension[side] == d and not (bounds and low[side] == 0 and high[side] == OPEN):
                    return False
    return True


@bare_inlined
def by_extremes(
    kind: Any, e: Any, pair: Any, bits: Any, row: Any, constants: Any, numbers: Any, instants: Any
) -> Any:  # fmt: skip
    """Whether some values of a pair, of which one attribute has several, satisfy a residual that computes, by the least
    and the greatest of each."""
    at = EXTREMES * pair
    if kind == LINEAR:
        low = constants[row, 0] * numbers[e, at + 1] + constants[row, 1]
        high = constants[row, 0] * numbers[e, at + 3] + constants[row, 1]
        low, high = min(low, high), max(low, high)
        return judged(bits, standing(numbers[e, at], high), standing(numbers[e, at + 2], low))
    span = np.int64(constants[row, 0]) * HALF + np.int64(constants[row, 1])
    return judged(
        bits,
        standing(instants[e, at] - instants[e, at + 3], span),
        standing(instants[e, at + 2] - instants[e, at + 1], span),
    )


@bare_inlined
def standing(left: Any, right: Any) -> Any:
    return SAME if left == right else LESS if left < right else GREATER


@bare_inlined
def judged(bits: Any, least: Any, most: Any) -> Any:
    """Whether a comparison holds of some values, given how the least left one stands to the greatest right one, and the
    greatest left one to the least right one."""
    if (bits & LESS and least == LESS) or (bits & GREATER and most == GREATER):
        return CERTAIN
    if bits & SAME and (least == SAME or most == SAME):
        return CERTAIN
    return PERHAPS if bits & SAME and least == LESS and most == GREATER else IMPOSSIBLE


@bare_inlined
def descends(r: Any, residuals: Any, constants: Any) -> Any:
    """Whether the right side of residual r descends while its value ascends."""
    return residuals[r, 0] == LINEAR and constants[residuals[r, 3], 0] < 0


@bare_inlined
def comparison(
    r: Any, left: Any, right: Any, residuals: Any, constants: Any, shift: Any, ranks: Any, numbers: Any, instants: Any
) -> Any:  # fmt: skip
    """How one value stands to the right side of residual r for another, in a total order."""
    pair, c = residuals[r, 2], residuals[r, 3]
    if residuals[r, 0] == RELATED:
        return standing(ranks[left + shift[pair, 0]], ranks[right + shift[pair, 1]])
    if residuals[r, 0] == LINEAR:
        return standing(numbers[left, 0], constants[c, 0] * numbers[right, 0] + constants[c, 1])
    span = np.int64(constants[c, 0]) * HALF + np.int64(constants[c, 1])
    return standing(instants[left, 0] - instants[right, 0], span)


@bare_kernel
def first_that_fits(
    value: Any, step: Any, stop: Any, k: Any, keys: Any, key_dimension: Any, dimension: Any, low: Any, high: Any,
    first: Any, last: Any, residuals: Any, pool: Any, constants: Any, attributes: Any, of_attribute: Any, ordinals: Any,
    numbers: Any, instants: Any,
) -> Any:  # fmt: skip
    """The first value of attribute k from this one to `stop`, upwards or downwards, that satisfies what the box demands
    of it alone; -1 if there is none. From `attributes` on, these are fields of `Choices`."""
    while value != stop:
        fits = True
        for role in range(ROLES):
            d = of_attribute[k, role]
            if d < 0:
                continue
            ordinal = ordinals[value, role]
            for s in range(len(keys)):
                fits &= key_dimension[s] != d or ordinal == keys[s]
            for s in range(len(dimension)):
                if dimension[s] == d:
                    if low[s] <= high[s]:
                        fits &= low[s] <= ordinal < high[s]
                    else:  # all but [high, low)
                        fits &= ordinal < high[s] or low[s] <= ordinal
            for r in range(first, last):
                if residuals[r, 0] == IN_RANGES and residuals[r, 2] == d:
                    within = False
                    for j in range(residuals[r, 3], residuals[r, 4], 2):
                        within |= pool[j] <= ordinal < pool[j + 1]
                    fits &= within
        for r in range(first, last):
            kind, negated, pair, row = residuals[r, 0], residuals[r, 1], residuals[r, 2], residuals[r, 3]
            if not fits or kind < LINEAR or attributes[pair, 0] != k or attributes[pair, 1] != k:
                continue
            if kind == LINEAR:
                other = constants[row, 0] * numbers[value, 0] + constants[row, 1]
                fits = standing(numbers[value, 0], other) & negated != 0
            elif kind == SHIFTED:
                span = np.int64(constants[row, 0]) * HALF + np.int64(constants[row, 1])
                fits = standing(np.int64(0), span) & negated != 0
            elif kind != SINGLE:
                fits = in_region(kind, negated == 1, row, constants, numbers[value, 0], numbers[value, 1])
        if fits:
            return value
        value += step
    return -1


@bare_kernel
def one_comparison_holds(
    edge: Any, row: Any, keys: Any, key_dimension: Any, dimension: Any, low: Any, high: Any, first: Any, last: Any,
    residuals: Any, pool: Any, constants: Any, choices: Any,
) -> Any:  # fmt: skip
    """Whether two values that fit satisfy residual `edge`, the only comparison of two attributes: by the extremes, and
    `=` by going through both at once."""
    attributes, of_attribute, ordinals, shift = choices.attributes, choices.dimension, choices.ordinals, choices.shift
    ranks, numbers, instants = choices.ranks, choices.numbers, choices.instants
    one, other = attributes[residuals[edge, 2], 0], attributes[residuals[edge, 2], 1]
    begin, end = choices.starts[row, one], choices.stops[row, one]
    other_begin, other_end = choices.starts[row, other], choices.stops[row, other]
    left = first_that_fits(
        begin, 1, end, one, keys, key_dimension, dimension, low, high, first, last, residuals, pool, constants,
        attributes, of_attribute, ordinals, numbers, instants,
    )  # fmt: skip
    right = first_that_fits(
        other_begin, 1, other_end, other, keys, key_dimension, dimension, low, high, first,
        last, residuals, pool, constants, attributes, of_attribute, ordinals, numbers, instants,
    )  # fmt: skip
    if left < 0 or right < 0:
        return False
    most_left = first_that_fits(
        end - 1, -1, begin - 1, one, keys, key_dimension, dimension, low, high, first, last, residuals, pool,
        constants, attributes, of_attribute, ordinals, numbers, instants,
    )  # fmt: skip
    most_right = first_that_fits(
        other_end - 1, -1, other_begin - 1, other, keys, key_dimension, dimension, low, high, first,
        last, residuals, pool, constants, attributes, of_attribute, ordinals, numbers, instants,
    )  # fmt: skip
    bits = residuals[edge, 3] if residuals[edge, 0] == RELATED else residuals[edge, 1]
    step = -1 if descends(edge, residuals, constants) else 1
    if step < 0:
        right, most_right = most_right, right
    least = comparison(edge, left, most_right, residuals, constants, shift, ranks, numbers, instants)
    most = comparison(edge, most_left, right, residuals, constants, shift, ranks, numbers, instants)
    by_ends = judged(bits, least, most)
    if by_ends != PERHAPS:
        return by_ends == CERTAIN
    while left <= most_left and right != most_right + step:
        relation = comparison(edge, left, right, residuals, constants, shift, ranks, numbers, instants)
        if relation == SAME:
            left_fits = first_that_fits(
                left, 1, left + 1, one, keys, key_dimension, dimension, low, high, first, last, residuals, pool,
                constants, attributes, of_attribute, ordinals, numbers, instants,
            )  # fmt: skip
            right_fits = first_that_fits(
                right, 1, right + 1, other, keys, key_dimension, dimension, low, high, first, last, residuals, pool,
                constants, attributes, of_attribute, ordinals, numbers, instants,
            )  # fmt: skip
            if left_fits >= 0 and right_fits >= 0:
                return True
            relation = LESS if left_fits < 0 else GREATER
        if relation == LESS:
            left += 1
        else:
            right += step
    return False
