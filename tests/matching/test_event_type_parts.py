"""Boxes apart by event type: only `contains` sets them apart."""

import numpy as np

from tests.matching.shop import EVENTS, SHOP, filled
from tidings.matching.papers.event_type_parts import COMMON, EventTypeParts
from tidings.matching.papers.scan import ScanMatcher


def parts_of(*texts: str) -> EventTypeParts:
    matcher = filled(ScanMatcher(SHOP), *texts)
    matcher.match(EVENTS)
    return EventTypeParts.of(matcher._table)


def test_boxes_without_an_event_type_are_common():
    parts = parts_of("a = 1", "b < 2")
    assert (parts.count, parts.part.tolist(), parts.dimension) == (1, [COMMON, COMMON], -1)
    assert parts.of_points(np.zeros((3, 2), np.int32)).tolist() == [COMMON] * 3


def test_each_event_type_that_is_asked_for_has_a_part():
    parts = parts_of("event_type contains pet and a = 1", "a = 1", "event_type contains car", "event_type contains pet")
    assert parts.count == 3
    assert parts.part.tolist() == [2, COMMON, 1, 2]
    assert parts.left.tolist() == [True, False, True, False, False]


def test_points_of_types_that_nobody_asks_for_are_common():
    parts = parts_of("event_type contains toy")  # the ordinals of car, toy and pet are 0, 1 and 2
    points = np.array([[-1], [0], [1], [2], [9]], np.int32)
    assert parts.of_points(points).tolist() == [COMMON, COMMON, 1, COMMON, COMMON]


def test_an_event_type_that_is_compared_is_a_side_like_others():
    parts = parts_of("event_type = toy")
    assert (parts.count, parts.left.tolist()) == (1, [True])
