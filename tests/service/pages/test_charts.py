"""Lines and bars: what is at the upper line, what is told of zero, and of more than was counted."""

import pytest

from tidings.service.pages.parts.charts import SPARK_HEIGHT, chart, spark
from tidings.store.pages.recent import BINS, MOST_IN_BIN


@pytest.mark.parametrize(
    ("most", "top"),
    [
        (0.2, "1"),
        (1.2, "1.5"),
        (1.8, "2"),
        (2.4, "2.5"),
        (5.5, "6"),
        (7, "8"),
        (11, "15"),
        (1_100, "1,500"),
        (10, "10"),
    ],
)
def test_the_upper_line_is_a_round_number_close_above(most: float, top: str) -> None:
    made = chart("Events", "a second", "3", [0, most], 600)
    assert made.top == top
    assert made.period == "10 min"


def test_bars_stand_where_something_was_found() -> None:
    counts = [0] * BINS
    assert spark(counts, "hour").bars == ()
    assert spark(counts, "hour").summary == "No matches in the last hour"
    counts[3], counts[4] = 2, 1
    made = spark(counts, "hour")
    assert len(made.bars) == 2
    assert made.bars[0].height > made.bars[1].height > 0
    assert all(bar.y + bar.height == pytest.approx(SPARK_HEIGHT) for bar in made.bars)
    assert (made.now, made.summary) == ("3", "3 matches in the last hour")
    assert spark([1], "hour").summary == "1 match in the last hour"


def test_what_was_counted_no_further_is_told_as_a_least_number() -> None:
    made = spark([5, MOST_IN_BIN], "hour")
    assert (made.now, made.summary) == ("2,005+", "2,005+ matches in the last hour")
