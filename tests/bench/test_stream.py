"""The pipeline measured as its users see it, and a run long enough to see whether memory grows."""

import time
from collections import Counter
from pathlib import Path

import pytest

from tidings.bench.plots import draw_stream
from tidings.bench.stream import StreamPlan, StreamResult, fill, run_stream
from tidings.store import Store
from tidings.store.notifications.quotas import DEFAULT_QUOTA


def test_the_rate_of_a_backlog_is_told_where_there_was_one() -> None:
    figures = (12.0, 4.0, 150, 900, 6.0, 0.1, 0.2, 0.3, 0.4, 30.0, ())
    told = StreamResult(StreamPlan(backlog=200_000), *figures).as_json()
    assert (told["backlog"], told["backlog_s"], told["backlog_events_per_s"]) == (200_000, 4.0, 50_000)
    assert (told["starting_s"], told["events_per_s"]) == (12.0, 5.0)
    assert not [name for name in StreamResult(StreamPlan(), *figures).as_json() if name.startswith("backlog")]


@pytest.mark.parametrize(("owners", "each"), [(0, {"": 30}), (3, {"owner0": 10, "owner1": 10, "owner2": 10})])
def test_subscriptions_are_owned_in_turns(tmp_path: Path, owners: int, each: dict[str, int]) -> None:
    with Store.open(tmp_path / "tidings.db") as store:
        fill(store, 30, owners)
        assert Counter(one.owner for one in store.subscriptions()) == each
        assert store.quotas().now("owner0") == (0 if owners else DEFAULT_QUOTA), "with owners nothing is dropped"


@pytest.mark.slow
def test_every_event_is_seen_and_timed(tmp_path: Path) -> None:
    plan = StreamPlan(subscriptions=20_000, rate=500, events=3_000, backlog=8_000)
    told: list[str] = []
    begun = time.monotonic()
    result = run_stream(plan, tmp_path, told.append)
    whole = time.monotonic() - begun
    with Store.open(tmp_path / "tidings.db") as store:
        assert store.committed() == store.tail()
        assert result.notifications == len(store.notification_table(store.tail() - 3_000)) > 100
        before = store.tail() - 3_000  # a quarter of the backlog, then all of it, each in one transaction
        times = [entry.accepted for entry in store.entries(before - 10_000, before)]
        assert [times.count(one) for one in dict.fromkeys(times)] == [2_000, 8_000]
    assert "working off 8,000 events" in told
    assert 0 < result.backlog_seconds < whole - result.starting - result.seconds
    assert 0 < result.p50 <= result.p90 <= result.p99 <= result.slowest
    assert [path.suffix for path in draw_stream(result, tmp_path / "plots")] == [".svg", ".png"]


@pytest.mark.slow
def test_memory_stays_flat_over_a_long_run(tmp_path: Path) -> None:
    result = run_stream(StreamPlan(subscriptions=5_000, rate=0, events=300_000), tmp_path, lambda _: None)
    for column, what in ((1, "driver"), (2, "workers")):
        early, late = parts(result, column)
        assert late < 1.2 * early, f"{what}: {early:,.0f} bytes after the first third, {late:,.0f} in the last"


def parts(result: StreamResult, column: int) -> tuple[float, float]:
    """What was held on average in the second third of the run, and in the last."""
    held = [look[column] for look in result.memory]
    third = len(held) // 3
    assert third > 2, "the run was too short to say anything"
    return sum(held[third : 2 * third]) / third, sum(held[-third:]) / third
