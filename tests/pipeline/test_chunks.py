"""Matches on their way: each run in order, several merged into one order, what a quota leaves out."""

import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.services.postgresql import postgresql
from tidings.matching.algorithm import Matches
from tidings.pipeline.stream.chunks import merged
from tidings.pipeline.stream.quota_cut import LeftOut, QuotaCut
from tidings.pipeline.stream.staging import RunWriter, StagedFiles, StagedLost, StagedRows, Staging
from tidings.store import Store
from tidings.store.notifications.quotas import DEFAULT_QUOTA, Quotas


def chunk(pairs: list[tuple[int, str]]) -> Any:
    positions, ids = zip(*pairs, strict=True)
    return pa.RecordBatch.from_pydict({"position": pa.array(positions, pa.int64()), "subscription": pa.array(ids)})


def pairs(chunks: Iterator[Any]) -> list[tuple[int, str]]:
    return [(row["position"], row["subscription"]) for one in chunks for row in one.to_pylist()]


@pytest.mark.parametrize("seed", range(20))
def test_runs_are_merged_in_the_order_of_position_and_subscription(seed: int) -> None:
    draw = random.Random(seed)
    runs = []
    for shard in range(draw.randint(1, 4)):
        run = sorted({(draw.randint(1, 6), f"s{draw.randint(0, 40)}-{shard}") for _ in range(draw.randint(0, 60))})
        runs.append([run[at : at + 5] for at in range(0, len(run), 5)])
    found = pairs(merged([map(chunk, run) for run in runs]))
    assert found == sorted(pair for run in runs for part in run for pair in part)


@pytest.fixture(params=["files", "rows"])
def staging(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Staging]:
    if request.param == "files":
        yield StagedFiles(tmp_path / "staged")
        return
    with postgresql() as server, Store.open(server.database()) as store:
        yield StagedRows(store.url)


def test_staged_runs_are_read_back_and_swept(staging: Staging) -> None:
    staging.sweep("")
    large = [chunk([(at, f"s{number:06}") for number in range(2_000)]) for at in range(1, 9)]
    writers = [RunWriter(staging, "batch-a"), RunWriter(staging, "batch-a"), RunWriter(staging, "batch-b")]
    for one in large:
        writers[0].write(one)
        writers[2].write(one)
    writers[1].write(chunk([(1, "s")]))
    runs = [writer.close() for writer in writers]
    assert runs[1].body is not None, "what is small needs no file"
    assert runs[0].chunks > 1
    everything = [pair for one in large for pair in pairs(iter([one]))]
    assert pairs(runs[0].read(staging)) == everything
    assert pairs(runs[1].read(staging)) == [(1, "s")]
    staging.sweep("batch-a")
    with pytest.raises(StagedLost, match="batch-a"):
        pairs(runs[0].read(staging))
    assert pairs(runs[2].read(staging)) == everything
    assert pairs(RunWriter(staging, "batch-b").close().read(staging)) == []


def of_events(*each: str) -> tuple[Matches, Any, list[str]]:
    """For each event the owners of its matches, by letter."""
    names = ["", "a", "b"]
    codes = np.array([names.index(letter.strip()) for event in each for letter in event], np.int32)
    offsets = np.cumsum([0, *map(len, each)])
    return Matches(offsets, np.arange(len(codes), dtype=np.int32)), codes, names


def test_a_task_keeps_whole_events_until_the_quota_is_reached() -> None:
    quotas = Quotas([("a", 0, 3), ("b", 0, 0)])
    matches, codes, names = of_events("aabb", "aab ", "bbba", "a", "aa  ")
    asked: list[str] = []

    def quotas_of(accounts: Iterable[str]) -> Quotas:
        asked.extend(accounts)
        return quotas

    cut = QuotaCut(quotas_of, 1, 5)
    keep, left = cut.cut(matches, codes, names, np.array([7, 7, 7, 7, 8]))
    kept = "".join(names[code] or " " for code, stays in zip(codes, keep, strict=True) if stays)
    assert kept == "aabb" + "aab " + "bbb" + "aa  ", "the second event reaches the quota of 3, and stays whole"
    assert left == [LeftOut(2, "a", 1), LeftOut(3, "a", 1)]
    keep, left = cut.copy().cut(*of_events("aa", "a"), np.array([8, 9]))
    assert keep.all()
    assert left == []
    keep, left = cut.cut(*of_events("aa", "a", "a"), np.array([8, 8, 9]))
    assert left == [LeftOut(1, "a", 1)]
    assert sorted(asked) == ["", "a", "b"], "each once, and only those that have matches"


def test_quotas_by_position() -> None:
    quotas = Quotas([("", 10, 5), ("ann", 20, 7), ("ann", 30, 0)])
    assert [quotas.at("ann", at) for at in (9, 10, 20, 29)] == [DEFAULT_QUOTA, 5, 7, 7]
    assert quotas.at("ann", 30) > 10**12
    assert quotas.at("bob", 99) == 5
    assert quotas.at("", 99) > 10**12, "what nobody owns has no quota"
    assert quotas.steps("ann", 5, 25) == [(5, DEFAULT_QUOTA), (10, 5), (20, 7)]
