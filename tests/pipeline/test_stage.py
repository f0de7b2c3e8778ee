"""The match stage, in this process: whatever its limits and however often it stops, the sink stores the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
import pytest

from tests.pipeline.market import Market, opening
from tests.pipeline.oracle import notifications_of, stored
from tests.services.sqlite import new_store
from tests.store.samples import dropped_by_account
from tidings.language.dialects import core_text
from tidings.pipeline.batch.history import differences, replayed
from tidings.pipeline.plans.planner import Planner
from tidings.pipeline.plans.plans import Plans
from tidings.pipeline.stream.rounds import Round, cut
from tidings.pipeline.stream.stage import Limits, MatchStage
from tidings.pipeline.stream.staging import StagedFiles
from tidings.store import Edit, Publish, SetQuota, Store, Subscribe, Withdraw


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(new_store(tmp_path / "tidings.db")) as store:
        store.append(opening())
        yield store


def match_all(store: Store, folder: Path, limits: Limits, most_bytes: int | None = None) -> int:
    """Round after round, as the sink does; how many rounds."""
    plans, staging = Plans(folder / "plans"), StagedFiles(folder / "staged")
    staging.sweep("")
    published = Planner(store, plans, most_bytes).catch_up()
    stage = MatchStage(plans, store.url, staging, "batch", limits)
    rounds = 0
    while (first := store.committed() + 1) <= store.tail():
        stretches = cut(first, store.tail(), 2, published.version, published.shards)
        rows = [summary for one in stretches for summary in stage(iter([pa.RecordBatch.from_pylist([asdict(one)])]))]
        found = Round(pa.Table.from_batches(rows))
        store.commit(found.first, found.reached, found.chunks(staging), failed=found.failed())
        rounds += 1
    return rounds


LIMITS = {
    "as they are": Limits(),
    "small pages": Limits(rows=7, bytes=1_000),
    "few matches": Limits(matches=3),
    "stops early": Limits(rows=10, staged=40, matches=20),
    "no time": Limits(rows=10, seconds=0.0),
}


@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
@pytest.mark.parametrize("most_bytes", [None, 60_000], ids=["one shard", "shards"])
def test_any_limits_give_the_same(store: Store, tmp_path: Path, limits: Limits, most_bytes: int | None) -> None:
    market = Market(seed=31)
    store.append([market.subscribe() for _ in range(600 if most_bytes else 30)])
    store.append(list(market.drafts(100, changes=0.1)))
    rounds = match_all(store, tmp_path, limits, most_bytes)
    assert stored(store) == notifications_of(store)
    assert (rounds > 1) == (limits.staged < 1_000 or not limits.seconds)


def sale(number: float) -> Publish:
    return Publish({"id": f"e{number}", "event_type": "sale", "attributes": {"price": number}})


@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
def test_quotas_give_the_same_and_a_replay_agrees(store: Store, tmp_path: Path, limits: Limits) -> None:
    store.append([SetQuota(25), SetQuota(0, "cyd")])
    for owner in ("ann", "bob", "cyd", ""):
        store.append([Subscribe(f"{owner}-{number}", "price >= 0", owner) for number in range(3)])
    store.append([sale(number) for number in range(40)])
    store.append([SetQuota(60, "bob"), *(sale(number) for number in range(40, 60))])
    match_all(store, tmp_path, limits)
    kept = [one.subscription.partition("-")[0] for one in store.notifications(limit=10_000)]
    assert {owner: kept.count(owner) for owner in ("ann", "cyd", "")} == {"ann": 25, "cyd": 180, "": 180}
    assert kept.count("bob") == 25, "its quota rose after 120 of its matches in this minute"
    assert dropped_by_account(store) == {"ann": 155, "bob": 155}
    replay = list(replayed(store, 0, store.tail()))
    assert [len(part) for part in differences(store, 0, store.tail(), replay)] == [0, 0]


@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
@pytest.mark.parametrize("most_bytes", [None, 60_000], ids=["one shard", "shards"])
def test_errors_of_expressions_are_counted_the_same(
    store: Store, tmp_path: Path, limits: Limits, most_bytes: int | None
) -> None:
    market = Market(seed=32)
    store.append([market.subscribe() for _ in range(600 if most_bytes else 5)])
    fewer, never = (core_text("cesql", text) for text in ("price < 30", "LENGTH(nosuch) > 3"))
    store.append([Subscribe("a", fewer), Subscribe("b", never), Subscribe("c", fewer)])
    halves = [sale(number / 2) for number in range(80)]
    store.append(halves[:40])
    store.append([Edit("c", "price < 20"), Edit("c", fewer), *halves[40:], Withdraw("b")])
    match_all(store, tmp_path, limits, most_bytes)
    spans = {one.subscription: one.start for one in store.spans_opened(0, store.tail())}
    assert store.subscription("c").span == spans["c"]
    found = store.expression_errors(spans.values())
    last = store.tail() - 1
    assert {id: found[spans[id]] for id in "abc"} == {
        "a": (30, last - 20, "'29.5' is not an integer of 32 bits"),
        "b": (80, last, "the event has no 'nosuch'"),
        "c": (10, last - 20, "'29.5' is not an integer of 32 bits"),
    }
