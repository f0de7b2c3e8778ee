"""The pipeline measured as its users see it, and a run long enough to see whether memory grows."""

from pathlib import Path

import pytest

from tidings.bench.plots import draw_stream
from tidings.bench.stream import StreamPlan, StreamResult, run_stream
from tidings.store import Store

pytestmark = pytest.mark.slow


def test_every_event_is_seen_and_timed(tmp_path: Path) -> None:
    result = run_stream(StreamPlan(subscriptions=20_000, rate=500, events=3_000), tmp_path, lambda _: None)
    with Store.open(tmp_path / "tidings.db") as store:
        assert store.committed() == store.tail()
        assert result.notifications == len(store.notification_table(store.tail() - 3_000)) > 100
    assert 0 < result.p50 <= result.p90 <= result.p99 <= result.slowest
    assert [path.suffix for path in draw_stream(result, tmp_path / "plots")] == [".svg", ".png"]


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
