"""What two versions are compared by is measured of all workloads."""

from itertools import count

from tidings.bench.compared import compared


def test_every_figure_is_a_rate() -> None:
    ticks = count()
    found = compared(150, 0.0, lambda: float(next(ticks)))
    assert len(found) == 9
    assert {rate for name, rate in found.items() if "events/s" in name} == {2000.0}
    assert {rate for name, rate in found.items() if "filters/s" in name} == {150.0}
