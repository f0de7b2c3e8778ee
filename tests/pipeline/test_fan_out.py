"""Whatever the fan-out, the pipeline goes on in bounded memory and stores exactly what the quota allows.

Small cases of `fan_out`, which measures the large ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pipeline.fan_out import composite_fan_out, fan_out

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("filters", "events", "quota"), [(10_000, 100, True), (2_000, 60, False)])
def test_many_filters_that_match_every_event(tmp_path: Path, filters: int, events: int, quota: bool) -> None:
    fan_out(tmp_path, filters, events, quota)


def test_many_composites_that_each_event_completes_at_once(tmp_path: Path) -> None:
    composite_fan_out(tmp_path, 400, 300)
