"""Many filters that match every event: what is stored, how long publishers and another account wait, how much memory.

    python -m tests.pipeline.fan_out [--postgresql] [--whole] [--quota 10000x1000 ...] [--no-quota 10000x1000 ...]
                                     [--composites 1000x1000 ...] [--seconds 900]

prints a table with a row for each case: the slowest publish, the slowest notification of another account, the longest
time between two commits while something is left to do, the memory of all processes (on average over the first third
and the last third of the run, and at most) and whether all is stored that must be. `--whole` stores every match of the
large cases, up to 200 million; `--quota` and `--no-quota` name cases of their own. `--composites` names cases in which
one event completes all composites with all others. With `--seconds` no event is published after so long: what was
published is stored whole all the same, and the row says how many events that were. `--postgresql` runs on a server of
its own, with its usual durability, instead of SQLite. The driver's Java has 1 GB."""

from __future__ import annotations

import subprocess
import sys
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory

from tests.pipeline.market import opening
from tests.services.postgresql import postgresql
from tidings.bench.process_memory import memory_of
from tidings.store import Publish, SetQuota, Store, Subscribe
from tidings.store.notifications.progress import COMPOSITES, MATCHES, Place
from tidings.store.notifications.quotas import A_MINUTE, DEFAULT_QUOTA
from tidings.store.notifications.waiting import SHARDS

MOST_MEMORY = 3 << 30  # bytes, of driver, Java and workers together
_AT_ONCE = 20  # events of one publish
_AHEAD = 20_000_000  # matches of events that are published and not matched
_LONGEST = 2 * 3_600  # seconds
# Without a quota every match is stored: fewer events, so that it takes minutes.
WITH_QUOTA = [(2_000, 20_000), (10_000, 1_000), (50_000, 150), (100_000, 2_000)]
WITHOUT = [(2_000, 2_000), (10_000, 300), (50_000, 60), (100_000, 30)]


HEAD = (
    "| case | matches | stored | all | seconds | slowest publish, s | slowest notification of another account, s "
    "| longest between commits, s | memory, first third, MB | last third | at most |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|"
)


def fan_out(
    tmp_path: Path, filters: int, events: int, quota: bool, seconds: float = _LONGEST, url: str = ""
) -> None:  # fmt: skip
    """Raises AssertionError if a notification is missing or too much, or memory grew too far."""
    with Store.open(url or tmp_path / "tidings.db") as store:
        store.append(opening())
        if not quota:
            store.append([SetQuota(0, "heavy")])
        for first in range(0, filters, 10_000):
            some = range(first, min(first + 10_000, filters))
            store.append([Subscribe(f"heavy-{number}", "price >= 0", "heavy") for number in some])
        store.append([Subscribe("quiet", "price >= 0", "quiet")])
        with pipeline(tmp_path, url) as process:
            told = observed(store, process, events, seconds, filters if not quota else 1)
        events = told.events
        minutes = Counter(
            entry.accepted // A_MINUTE
            for entry in store.entries()
            if entry.kind == "event" and "warm" not in entry.body
        )
        allowed = DEFAULT_QUOTA if quota else 10**15
        heavy = sum(min(allowed, filters * count) for count in minutes.values())
        stored = store.figures().notifications - events
        case = f"{filters:,} filters x {events:,} events, {'default' if quota else 'no'} quota"
        print(told.row(case, filters * events, stored, stored == heavy), flush=True)
        assert stored == heavy
        assert store.dropped_of("heavy").dropped == filters * events - heavy
        assert max(told.memory) < MOST_MEMORY


def composite_fan_out(tmp_path: Path, composites: int, events: int, url: str = "") -> None:
    """Each event completes each composite with the last event: all detections become known at one position."""
    with Store.open(url or tmp_path / "tidings.db") as store:
        store.append(opening())
        store.append([SetQuota(0, "heavy")])
        for first in range(0, composites, 10_000):
            some = range(first, min(first + 10_000, composites))
            text = f"[price >= 0] before [price = {events}] within 1 h"
            store.append([Subscribe(f"heavy-{number}", owner="heavy", composite=text) for number in some])
        store.append([Subscribe("quiet", "price >= 0", "quiet")])
        with pipeline(tmp_path, url) as process:
            told = observed(store, process, events + 1)
        stored = store.figures().notifications - events - 1
        found = composites * events
        print(told.row(f"{composites:,} composites x {events:,} events", found, stored, stored == found), flush=True)
        assert stored == found
        assert max(told.memory) < MOST_MEMORY


@contextmanager
def pipeline(folder: Path, url: str) -> Iterator[subprocess.Popen[bytes]]:
    log = folder / "pipeline.log"
    command = [sys.executable, "-m", "tidings.cli.main", "pipeline", "--data", str(folder), "--json"]
    command += ["--lateness", "0.5", "--spark", "spark.driver.memory=1g"]
    command += ["--store", url] if url else []
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out)
        try:
            yield process
        except AssertionError as problem:
            raise AssertionError(f"{problem}\n{log.read_text()[-3000:]}") from None
        finally:
            process.terminate()
            process.wait(60)


@dataclass
class Told:
    """Of a run. Times are in seconds; `delay`: of a notification of the other account; `memory`: of all processes, in
    bytes, about every second."""

    events: int = 0
    seconds: float = 0.0
    publish: float = 0.0
    delay: float = 0.0
    commit: float = 0.0
    memory: list[int] = field(default_factory=list)

    def row(self, case: str, matches: int, stored: int, is_all: bool) -> str:
        third = max(1, len(self.memory) // 3)
        early, late = mean(self.memory[:third]), mean(self.memory[-third:])
        cells = [case, f"{matches:,}", f"{stored:,}", "yes" if is_all else "NO", f"{self.seconds:.0f}"]
        cells += [f"{self.publish:.2f}", f"{self.delay:.1f}", f"{self.commit:.1f}"]
        cells += [f"{one / 2**20:,.0f}" for one in (early, late, max(self.memory))]
        return f"| {' | '.join(cells)} |"


def observed(
    store: Store, process: subprocess.Popen[bytes], events: int, seconds: float = _LONGEST, matches: int = 1
) -> Told:  # fmt: skip
    """Publishes the events, not many more than are matched where each has that many matches, and looks until all is
    matched, and detected."""
    warm(store, process)
    told, begun, cursor = Told(), time.monotonic(), store.last_cursor()
    published: dict[int, float] = {}
    places, moved, looked, sent = places_of(store), begun, 0.0, 0
    while sent < events or left(store):
        assert process.poll() is None, "the pipeline ended"
        assert time.monotonic() - begun < _LONGEST
        if time.monotonic() - begun > seconds:
            events = sent
        if sent < events and (store.tail() - store.committed()) * matches < _AHEAD:
            some = range(sent, min(sent + _AT_ONCE, events))
            drafts = [Publish({"id": f"e{n}", "event_type": "sale", "attributes": {"price": n}}) for n in some]
            before = time.monotonic()
            outcomes = store.append(drafts)
            now = time.monotonic()
            told.publish, sent = max(told.publish, now - before), sent + len(drafts)
            published |= {outcome.position: now for outcome in outcomes}  # type: ignore[union-attr]
        for one in store.notifications(cursor, 100_000, "quiet", "quiet"):
            cursor = one.cursor
            told.delay = max(told.delay, time.monotonic() - published.pop(one.position))
        now, before_this, places = time.monotonic(), places, places_of(store)
        told.commit = max(told.commit, now - moved)
        if places != before_this or not left(store):
            moved = now
        if now - looked > 1.0:
            told.memory.append(sum(memory_of(process.pid)))
            looked = now
        time.sleep(0.02)
    for one in store.notifications(cursor, 100_000, "quiet", "quiet"):
        told.delay = max(told.delay, time.monotonic() - published.pop(one.position))
    assert not published, "each event is the quiet account's, too"
    told.events, told.seconds = sent, time.monotonic() - begun
    return told


def places_of(store: Store) -> list[Place]:
    """How far both queries are."""
    return [store.place(query) for query in (MATCHES, COMPOSITES)]


def left(store: Store) -> bool:
    """Whether something is left to do. Matches of composites wait until a tick has told the time."""
    tail, progress = store.tail(), store.composite_progress()
    if progress is None:
        return store.committed() < tail
    early = any(store.early_size(shard, 2**50, tail) for shard in range(SHARDS))
    return early or min(store.committed(), progress.committed) < tail


def warm(store: Store, process: subprocess.Popen[bytes]) -> None:
    """Java has started, and the workers have loaded plan and kernels."""
    store.append([Publish({"id": "warm", "event_type": "sale", "attributes": {"price": -1}})])
    deadline = time.monotonic() + 300
    while store.committed() < store.tail():
        assert process.poll() is None, "the pipeline ended"
        assert time.monotonic() < deadline
        time.sleep(0.1)


def of_case(text: str) -> tuple[int, int]:
    wide, events = map(int, text.split("x"))
    return wide, events


def main() -> None:
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--whole", action="store_true")
    for option in ("--quota", "--no-quota"):
        parser.add_argument(option, nargs="+", metavar="FILTERSxEVENTS", default=[], type=of_case)
    parser.add_argument("--composites", nargs="+", metavar="COMPOSITESxEVENTS", default=[], type=of_case)
    parser.add_argument("--seconds", type=float, default=_LONGEST)
    parser.add_argument("--postgresql", action="store_true")
    given = parser.parse_args()
    limited, unlimited = given.quota, given.no_quota
    if given.whole:
        unlimited = WITH_QUOTA
    elif not limited and not unlimited:
        limited, unlimited = WITH_QUOTA, WITHOUT
    cases = [(*case, True) for case in limited] + [(*case, False) for case in unlimited]
    print(HEAD, flush=True)
    with ExitStack() as stack:
        server = stack.enter_context(postgresql(durable=True)) if given.postgresql else None
        for composites, events in given.composites:
            with TemporaryDirectory(prefix="tidings-fan-out-") as folder:
                composite_fan_out(Path(folder), composites, events, server.database() if server else "")
        for case in () if given.composites else cases:
            with TemporaryDirectory(prefix="tidings-fan-out-") as folder:
                fan_out(Path(folder), *case, given.seconds, server.database() if server else "")


if __name__ == "__main__":
    main()
