"""Many filters that match every event: what is stored, how long publishers and another account wait, how much memory.

    python -m tests.pipeline.fan_out [--whole] [--no-quota 10000x1000 ...] [--seconds 900]

prints a line for each case. `--whole` stores every match of the large cases, up to 200 million; `--no-quota` names
cases of its own. With `--seconds` no event is published after so long: what was published is stored whole all the same,
and the line says how many events that were. The driver's Java has 1 GB."""

from __future__ import annotations

import subprocess
import sys
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.pipeline.market import opening
from tidings.bench.process_memory import memory_of
from tidings.store import Publish, SetQuota, Store, Subscribe
from tidings.store.notifications.quotas import A_MINUTE, DEFAULT_QUOTA

MOST_MEMORY = 3 << 30  # bytes, of driver, Java and workers together
_AT_ONCE = 20  # events of one publish
_AHEAD = 20_000_000  # matches of events that are published and not matched
_LONGEST = 2 * 3_600  # seconds
# Without a quota every match is stored: fewer events, so that it takes minutes.
WITH_QUOTA = [(2_000, 20_000), (10_000, 1_000), (50_000, 150), (100_000, 2_000)]
WITHOUT = [(2_000, 2_000), (10_000, 300), (50_000, 60), (100_000, 30)]


def fan_out(tmp_path: Path, filters: int, events: int, quota: bool, seconds: float = _LONGEST) -> None:
    """Raises AssertionError if a notification is missing or too much, or memory grew too far."""
    with Store.open(tmp_path / "tidings.db") as store:
        store.append(opening())
        if not quota:
            store.append([SetQuota(0, "heavy")])
        for first in range(0, filters, 10_000):
            some = range(first, min(first + 10_000, filters))
            store.append([Subscribe(f"heavy-{number}", "price >= 0", "heavy") for number in some])
        store.append([Subscribe("quiet", "price >= 0", "quiet")])
        log = open(tmp_path / "pipeline.log", "wb")  # noqa: SIM115
        command = [sys.executable, "-m", "tidings.cli.main", "pipeline", "--data", str(tmp_path), "--json"]
        process = subprocess.Popen([*command, "--spark", "spark.driver.memory=1g"], stdout=log, stderr=log)
        try:
            told = observed(store, process, events, seconds, filters if not quota else 1)
            events = int(told["events"])
        except AssertionError as problem:
            raise AssertionError(f"{problem}\n{(tmp_path / 'pipeline.log').read_text()[-3000:]}") from None
        finally:
            process.terminate()
            process.wait(60)
            log.close()
        minutes = Counter(
            entry.accepted // A_MINUTE
            for entry in store.entries()
            if entry.kind == "event" and "warm" not in entry.body
        )
        allowed = DEFAULT_QUOTA if quota else 10**15
        heavy = sum(min(allowed, filters * count) for count in minutes.values())
        stored = store.figures().notifications - events
        print(
            f"\n{filters:,} filters x {events:,} events, {'default' if quota else 'no'} quota: {filters * events:,} "
            f"matches, {stored:,} stored in {told['seconds']:.0f} s; slowest publish {told['publish']:.2f} s, slowest "
            f"notification of another account {told['delay']:.1f} s; memory at most {told['memory'] / 2**20:,.0f} MB"
        )
        assert stored == heavy
        assert store.dropped_of("heavy").dropped == filters * events - heavy
        assert told["memory"] < MOST_MEMORY


def observed(
    store: Store, process: subprocess.Popen[bytes], events: int, seconds: float = _LONGEST, matches: int = 1
) -> dict[str, float]:
    """Publishes the events, not many more than are matched where each has that many matches, and looks until all is
    matched."""
    warm(store, process)
    begun, cursor = time.monotonic(), store.last_cursor()
    published: dict[int, float] = {}
    slowest = delay = memory = 0.0
    sent = 0
    while store.committed() < store.tail() or sent < events:
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
            slowest, sent = max(slowest, now - before), sent + len(drafts)
            published |= {outcome.position: now for outcome in outcomes}  # type: ignore[union-attr]
        for one in store.notifications(cursor, 100_000, "quiet", "quiet"):
            cursor = one.cursor
            delay = max(delay, time.monotonic() - published.pop(one.position))
        memory = max(memory, sum(memory_of(process.pid)))
        time.sleep(0.02)
    for one in store.notifications(cursor, 100_000, "quiet", "quiet"):
        published.pop(one.position)
    assert not published, "each event is the quiet account's, too"
    return {"events": sent, "seconds": time.monotonic() - begun, "publish": slowest, "delay": delay, "memory": memory}


def warm(store: Store, process: subprocess.Popen[bytes]) -> None:
    """Java has started, and the workers have loaded plan and kernels."""
    store.append([Publish({"id": "warm", "event_type": "sale", "attributes": {"price": -1}})])
    deadline = time.monotonic() + 300
    while store.committed() < store.tail():
        assert process.poll() is None, "the pipeline ended"
        assert time.monotonic() < deadline
        time.sleep(0.1)


def main() -> None:
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--no-quota", nargs="+", metavar="FILTERSxEVENTS", default=[])
    parser.add_argument("--seconds", type=float, default=_LONGEST)
    given = parser.parse_args()
    cases = [(*case, True) for case in WITH_QUOTA] + [(*case, False) for case in WITHOUT]
    if given.whole or given.no_quota:
        named = [(int(filters), int(events)) for filters, events in (one.split("x") for one in given.no_quota)]
        cases = [(*case, False) for case in named or WITH_QUOTA]
    for case in cases:
        with TemporaryDirectory(prefix="tidings-fan-out-") as folder:
            fan_out(Path(folder), *case, given.seconds)


if __name__ == "__main__":
    main()
