"""Rows in chunks: in order, few, and what is there is left alone."""

import pyarrow as pa

from tidings.matching.plan.chunks import Chunks

SCHEMA = pa.schema([("number", pa.int32()), ("text", pa.large_string())])


def filled(*sizes: int, largest: int = 1 << 18) -> Chunks:
    made = Chunks(SCHEMA, largest=largest)
    for size in sizes:
        first = len(made)
        made.append([list(range(first, first + size)), [f"row {first + n}" for n in range(size)]])
    return made


def test_rows_stay_in_order_however_they_are_joined() -> None:
    made = filled(3, 1, 20, 1, 1, 2)
    assert len(made) == 28
    assert made.column("number").to_pylist() == list(range(28))
    assert [made.cell(row, "text") for row in (0, 3, 27)] == ["row 0", "row 3", "row 27"]
    first = 0
    for chunk in made:
        assert chunk.first == first
        first += len(chunk)


def test_one_row_at_a_time_makes_few_chunks_and_leaves_large_ones_alone() -> None:
    made = filled(1000)
    (large,) = made
    for _ in range(200):
        made.append([[0], [None]])
    assert next(iter(made)) is large
    assert len(list(made)) <= 6
    assert made.cell(1100, "text") is None


def test_chunks_are_joined_up_to_a_limit() -> None:
    assert [len(chunk) for chunk in filled(*[4] * 10, largest=8)] == [8] * 5
    assert [len(chunk) for chunk in filled(25, largest=3)] == [12, 12, 1]


def test_a_column_of_a_chunk_may_be_replaced() -> None:
    made = filled(4)
    (before,) = made
    made.replace(before, "text", pa.array([None, "b", None, "d"], pa.large_string()))
    (after,) = made
    assert after is not before
    assert made.column("text").to_pylist() == [None, "b", None, "d"]
    assert before.rows.column("text").to_pylist() == ["row 0", "row 1", "row 2", "row 3"]


def test_without_rows_there_is_an_empty_column() -> None:
    made = filled(0)
    assert len(made) == 0
    assert list(made) == []
    assert made.column("number").to_pylist() == []
