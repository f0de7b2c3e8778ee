"""The benchmark of composites measures what it says."""

from tidings.bench.composites import Stage


def test_both_ways_of_keeping_states_detect_the_same() -> None:
    memory, text = (Stage(composites=2, keys=2, stored=stored).run(10_000) for stored in (False, True))
    assert (memory.detections, memory.live) == (text.detections, text.live)
    assert memory.detections > 0
    assert memory.live > 0
    assert text.bytes_each > 0
