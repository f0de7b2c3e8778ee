"""References of a typed tree: arrays where boxes are few, bit lists where many, and always the right ones."""

import numpy as np
import pytest

from tidings.matching.boxes.dimension import OPEN
from tidings.matching.papers.references import ARRAY, BITS, KIND, WORD, AttributeNode, attribute_node, meet


def node_of(boxes: int, intervals: dict[int, tuple[int, int]]) -> AttributeNode:
    low, high = np.array(list(intervals.values()), np.int32).reshape(-1, 2).T
    return attribute_node(0, boxes, np.array(list(intervals), np.int32), low, high)


def boxes_at(node: AttributeNode, boxes: int, ordinal: int) -> set[int]:
    """The boxes that are left of all when the node has seen an ordinal."""
    words = -(-boxes // WORD)
    found = np.full(words, ~np.uint64(0))
    found[-1] >>= np.uint64(words * WORD - boxes)
    place = int(np.searchsorted(node.cuts, ordinal, side="right")) - 1
    assert place >= 0
    meet(
        node.references[place], node.arrays, node.bits, node.changed, node.indifferent, 0, words, found,
        np.empty_like(found), np.empty(words + 1, np.int32),
    )  # fmt: skip
    return set(np.flatnonzero(np.unpackbits(found.view(np.uint8), bitorder="little")).tolist())


def test_few_boxes_are_an_array_and_many_a_bit_list():  # A-MEDIAS 9.4
    many = dict.fromkeys(range(500), (10, 20))
    few = {box: (30 + box, 31 + box) for box in range(500, 600)}
    node = node_of(1000, many | few)
    kinds = dict(zip(node.cuts.tolist(), node.references[:, KIND].tolist(), strict=True))
    assert kinds[10] == BITS
    assert {kinds[30 + box] for box in range(500, 600)} == {ARRAY}
    assert kinds[20] == ARRAY  # nobody is in it


def test_the_kind_changes_with_the_number_of_boxes_alone():
    def kind(boxes: int, referring: int) -> int:
        return int(node_of(boxes, dict.fromkeys(range(referring), (1, 2))).references[0, KIND])

    assert [kind(6400, n) for n in (1, 100, 101, 6400)] == [ARRAY, ARRAY, BITS, BITS]
    assert kind(64_000, 101) == ARRAY


def test_boxes_without_a_side_are_in_every_reference():
    node = node_of(100, {3: (1, 2), 4: (2, int(OPEN))})
    others = set(range(100)) - {3, 4}
    assert [boxes_at(node, 100, ordinal) for ordinal in (1, 2, 9)] == [
        others | {3},
        others | {4},
        others | {4},
    ]


def test_a_box_with_an_empty_side_is_in_none():
    node = node_of(3, {0: (2, 2), 1: (1, 3)})
    assert boxes_at(node, 3, 2) == {1, 2}


@pytest.mark.parametrize("seed", range(5))
def test_references_hold_what_their_intervals_say(seed):
    random = np.random.default_rng(seed)
    boxes = int(random.integers(1, 700))
    chosen = random.permutation(boxes)[: int(random.integers(1, boxes + 1))]
    low = random.integers(0, 60, len(chosen))
    high = np.where(random.random(len(chosen)) < 0.3, int(OPEN), low + 1 + random.integers(0, 20, len(chosen)))
    node = attribute_node(0, boxes, chosen.astype(np.int32), low.astype(np.int32), high.astype(np.int32))
    others = set(range(boxes)) - set(chosen.tolist())
    for ordinal in range(int(low.min()), 90):
        holding = chosen[(low <= ordinal) & (ordinal < high)]
        assert boxes_at(node, boxes, ordinal) == others | set(holding.tolist())


def test_storage_grows_with_the_sides_not_with_intervals_times_boxes():
    boxes = 20_000
    places = np.arange(boxes, dtype=np.int32)
    node = attribute_node(0, boxes, places, places, np.full(boxes, OPEN))
    assert len(node.cuts) == boxes
    assert len(node.bits) + len(node.arrays) < 20 * boxes  # a bit list an interval would be 313 words each
