"""Where a planner's time goes: `python -m tests.pipeline.measure_planning [FILTERS]`, in seconds of processor time.

Flights' filters are stored in SQLite, read as spans, made into a matcher and saved (decision 29)."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from tidings.bench.stream import fill
from tidings.matching.boxes.filter_batch import FilterBatch
from tidings.matching.boxes.filter_texts import TextReader
from tidings.matching.plan.folder import save_plan
from tidings.pipeline.plans.plan_build import matcher_of
from tidings.store import Store


def main(filters: int) -> None:
    spent: dict[str, float] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        pytest.MonkeyPatch.context() as patch,
        Store.open(Path(folder) / "tidings.db") as store,
    ):
        fill(store, filters)
        catalog = store.catalog()
        matcher_of(catalog, islice(store.spans(), 1_000))  # loads kernels
        for kind, name in ((TextReader, "read"), (FilterBatch, "boxes")):
            patch.setattr(kind, name, _timed(getattr(kind, name), f"of these, {kind.__name__}.{name}", spent))
        spans = _timed(lambda: list(store.spans()), "spans are read", spent)()
        matcher = _timed(matcher_of, "a matcher is made", spent)(catalog, spans)
        _timed(save_plan, "it is saved", spent)(matcher, Path(folder) / "plan")
    for what, seconds in spent.items():
        print(f"{what:40} {seconds:6.2f} s")


def _timed(work: Callable[..., Any], what: str, spent: dict[str, float]) -> Callable[..., Any]:
    def timed(*given: Any) -> Any:
        begun = process_time()
        try:
            return work(*given)
        finally:
            spent[what] = spent.get(what, 0.0) + process_time() - begun

    return timed


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
