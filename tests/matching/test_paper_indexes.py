"""Counting, equality-preferred, quarantine and Hanson find the boxes that a scan finds, whatever they are."""

import os
import subprocess
import sys

import numpy as np
import pytest

from tests.matching.random_boxes import random_boxes, random_points, table_of
from tidings.language import Filter, Subscription
from tidings.matching.algorithm import Cost
from tidings.matching.algorithms import make_matcher
from tidings.matching.boxes.box_table import BoxTable
from tidings.matching.boxes.bulk import box_table
from tidings.matching.boxes.dimension import OPEN
from tidings.matching.papers.indexed import IndexedMatcher, Ordinals, StandingLoad
from tidings.schema import Catalog
from tidings.workloads import WORKLOADS

NAMES = ("counting", "equality-preferred", "quarantine", "hanson")
CATALOG = Catalog(domains=(), attributes=(), event_types=())


def found(name: str, table: BoxTable, points: Ordinals, room: int = 1 << 16) -> tuple[list[list[int]], Cost]:
    """By point the boxes, sorted; one that is reported twice stands here twice."""
    matcher = make_matcher(name, CATALOG)
    assert isinstance(matcher, IndexedMatcher)
    matcher.first_room = room
    matcher._build(table)
    offsets, boxes, cost = matcher._find(points)
    return [sorted(boxes[offsets[p] : offsets[p + 1]].tolist()) for p in range(len(points))], cost


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(12))
def test_equals_a_scan(name: str, seed: int) -> None:
    columns, ordinals = (1, 2, 4, 7)[seed % 4], (2, 9, 40)[seed % 3]
    table = random_boxes(seed, 300, columns, ordinals)
    points = random_points(seed, 50, columns, ordinals)
    assert found(name, table, points)[0] == found("scan", table, points)[0]


@pytest.mark.parametrize("name", NAMES)
def test_a_box_without_sides_is_found_for_every_point(name: str) -> None:
    points = np.array([[-1], [0], [7]], np.int32)
    assert found(name, table_of([{}, {0: (7, 8)}], 1), points)[0] == [[0], [0], [0, 1]]


@pytest.mark.parametrize("name", NAMES)
def test_no_boxes_no_points_no_dimensions(name: str) -> None:
    points = np.zeros((2, 0), np.int32)
    assert found(name, table_of([], 0), points)[0] == [[], []]
    assert found(name, table_of([{}], 0), points)[0] == [[0], [0]]
    assert found(name, table_of([{0: (1, 2)}], 1), np.zeros((0, 1), np.int32))[0] == []


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("room", [1, 7, 1000])
def test_a_full_output_is_doubled_and_neither_answer_nor_cost_changes(name: str, room: int) -> None:
    table, points = random_boxes(3, 400, 4, 6), random_points(3, 60, 4, 6)
    expected = found(name, table, points)
    assert found(name, table, points, room) == expected


@pytest.mark.parametrize("name", NAMES)
def test_more_sides_than_a_byte_counts(name: str) -> None:
    """150 sides with two bounds each are 300 predicates."""
    everything = dict.fromkeys(range(150), (2, 5))
    table = table_of([everything, everything | {149: (4, int(OPEN))}], 150)
    points = np.full((3, 150), 3, np.int32)
    points[1, 149] = 6
    points[2, 149] = 4
    assert found(name, table, points)[0] == [[0], [1], [0, 1]]


def test_the_kernels_run_uncompiled() -> None:
    script = (
        "from tests.matching.test_paper_indexes import *\n"
        "table, points = random_boxes(1, 60, 3, 9), random_points(1, 20, 3, 9)\n"
        "for name in NAMES: assert found(name, table, points)[0] == found('scan', table, points)[0], name\n"
    )
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    subprocess.run([sys.executable, "-W", "error", "-c", script], env=environment, check=True, timeout=120)


@pytest.mark.parametrize("name", ["counting", "scan"])
def test_what_was_loaded_as_arrays_stays_as_it_is(name):
    workload = WORKLOADS["le-subscribe"](equality=0.5)
    matcher = make_matcher(name, workload.catalog)
    matcher.load(box_table(workload.subscriptions(10)), [f"s{number}" for number in range(10)])
    attribute = workload.catalog.attributes[0].name
    with pytest.raises(StandingLoad, match="10 filters"):
        matcher.add(Subscription("more", Filter.parse(f"{attribute} exists", workload.catalog)))
    with pytest.raises(StandingLoad):
        matcher.adopt(workload.catalog)
    assert len(matcher.spans) == 10
