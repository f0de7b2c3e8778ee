"""`python -m tidings.bench.composite_memory [EVENTS] [COMPOSITES]`: the memory of a process through which a stream of
events goes, ten times on the way: the composites of `tidings.bench.composites` over 100,000 users, with all states in
memory. What can no longer matter is forgotten, so it stays flat once the first frames have passed."""

from __future__ import annotations

import gc
import resource
import sys
from pathlib import Path
from random import Random
from time import process_time

from tidings.bench.composites import BATCH, Stage, partial_matches
from tidings.bench.machine import Machine, commit
from tidings.composite.detector import Detector, Shard

_USERS = 100_000
_LOOKS = 10


def main() -> None:
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000_000
    composites = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000
    print(f"{Machine.here()}; commit {commit()}")
    stage, shard, random = Stage(composites, _USERS, stored=False), Shard(), Random(7)
    detector = Detector(stage.plan.programs)
    greatest, found, begun = 0, 0, process_time()
    for at in range(0, events, BATCH):
        batch = stage.batch(at, random)
        greatest = max(greatest, *(time for time, _, _, _ in batch))
        found += len(stage.advance(detector, shard, batch, greatest))
        if (at + BATCH) % max(BATCH, events // _LOOKS // BATCH * BATCH) == 0:
            gc.collect()
            print(
                f"{at + BATCH:,} events: {resident():,.0f} MB; {partial_matches(shard):,} partial matches, "
                f"{found:,} detections; {process_time() - begun:,.0f} s of processor time",
                flush=True,
            )


def resident() -> float:
    """In megabytes; on Linux now, elsewhere at most."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


if __name__ == "__main__":
    main()
