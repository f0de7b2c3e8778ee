"""Equality clusters, and the two algorithms on them: schemas, colliding hashes, and what is counted."""

import numpy as np
import pytest

from tests.matching.random_boxes import table_of
from tests.matching.test_paper_indexes import found
from tidings.matching.algorithm import Cost
from tidings.matching.boxes.dimension import OPEN
from tidings.matching.hash_table import group
from tidings.matching.papers.equality_clusters import NONE, cluster_of, equality_clusters

BOXES = [
    {0: (3, 4), 2: (5, 6), 1: (2, 9)},  # two equalities and a range
    {0: (3, 4), 2: (5, 6)},  # the same cluster
    {0: (3, 4), 2: (6, 7)},  # the same schema
    {0: (3, 4)},
    {1: (2, 9)},  # no equality: neqsub
    {2: (5, 6)},
]


def test_boxes_with_the_same_equalities_are_one_cluster() -> None:  # Le Subscribe 3, equality-preferred
    clusters = equality_clusters(table_of(BOXES, 3))
    members = [
        clusters.boxes[start:stop].tolist()
        for start, stop in zip(clusters.starts[:-1], clusters.starts[1:], strict=True)
    ]
    assert sorted(members) == [[0, 1], [2], [3], [5]]
    schemas = [
        clusters.schema_dimensions[start:stop].tolist()
        for start, stop in zip(clusters.schema_offsets[:-1], clusters.schema_offsets[1:], strict=True)
    ]
    assert sorted(schemas) == [[0], [0, 2], [2]]
    assert clusters.by_dimension.tolist() == [0, 2, 2, 3]


@pytest.mark.parametrize(
    ("point", "boxes"), [([3, -1, 5], [0, 3, 5]), ([3, -1, -1], [3]), ([4, 1, 6], []), ([-1, -1, 5], [5])]
)
def test_eqsubmatch(point: list[int], boxes: list[int]) -> None:
    clusters = equality_clusters(table_of(BOXES, 3))
    schemas = range(len(clusters.schema_offsets) - 1)
    hit = [cluster_of(clusters, schema, np.array(point, np.int32)) for schema in schemas]
    assert sorted(clusters.boxes[clusters.starts[cluster]] for cluster in hit if cluster != NONE) == boxes


def test_rows_that_collide_are_told_apart() -> None:
    """A table with hardly a free slot makes every row meet others on its way."""
    random = np.random.default_rng(5)
    items = random.integers(0, 4, 900)
    offsets = np.sort(np.append(random.integers(0, 900, 509), [0, 900])).astype(np.int64)
    seeds = random.integers(0, 2, 510)
    rows = [(int(seeds[r]), tuple(items[offsets[r] : offsets[r + 1]].tolist())) for r in range(510)]
    groups, first = np.empty(510, np.int64), np.empty(510, np.int64)
    capacity = 1 << len(set(rows)).bit_length()
    count = group(seeds, offsets, items, np.zeros(capacity, np.int64), groups, first)
    assert count == len(set(rows))
    assert [rows[first[g]] for g in groups.tolist()] == rows


POINT = np.array([[3, 4, 5]], np.int32)


def test_quarantine_counts_only_boxes_without_equality() -> None:  # Le Subscribe 3, figure 5
    boxes, cost = found("quarantine", table_of(BOXES, 3), POINT)
    assert boxes == [[0, 1, 3, 4, 5]]
    # Four boxes have their equalities satisfied; one has a side left to test; box 4 gets two hits.
    assert cost == Cost(candidates=4 + 2, predicates=1 + 2)


def test_equality_preferred_counts_all_that_is_no_equality() -> None:  # Le Subscribe 3, figure 4
    boxes, cost = found("equality-preferred", table_of(BOXES, 3), POINT)
    assert boxes == [[0, 1, 3, 4, 5]]
    assert cost == Cost(candidates=4 + 4, predicates=4)  # boxes 0 and 4 get two hits each


def test_equality_preferred_refuses_a_partially_satisfied_box() -> None:
    table = table_of([{0: (3, 4), 1: (5, int(OPEN))}], 2)
    points = np.array([[3, 4], [3, 5], [2, 5], [3, -1]], np.int32)
    assert found("equality-preferred", table, points)[0] == [[], [0], [], []]
