"""Large queries: one at a time in a process of its own, kept for their owner, gone when they should be."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.service.workers.test_inquiries import ended, is_running
from tests.services.sqlite import new_store
from tests.store.samples import Clock, publish, with_schema
from tidings.service.actions.filters import EVERYTHING
from tidings.service.workers.jobs import Jobs, QueryNotDone, TooManyQueries
from tidings.service.workers.query_files import NoSuchQuery, Query, QueryFiles, WrongPlace
from tidings.store import Store

DAY = 24 * 3600
_LOCAL = 1 << 40  # positions: never on Spark


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    with Store.open(new_store(tmp_path / "tidings.db"), Clock()) as store:
        with_schema(store)
        store.append([publish(f"e{number}", number % 100) for number in range(1000)])
        yield store.url


@contextmanager
def jobs_in(folder: Path, url: str, clock: Clock | None = None, **options: float) -> Iterator[Jobs]:
    settings = {"spark_from": _LOCAL} | options
    jobs = Jobs(folder / "queries", url, "local[2]", clock or Clock(), **settings)  # type: ignore[arg-type]
    try:
        yield jobs
    finally:
        jobs.close()


def finished(jobs: Jobs, query: Query) -> Query:
    until = time.monotonic() + 120
    while (found := jobs.query(query.owner, query.id)).ended is None:
        assert time.monotonic() < until
        time.sleep(0.05)
    return found


def events(jobs: Jobs, query: Query, limit: int = 1000) -> list[dict[str, object]]:
    """Page by page."""
    place: int | None = 0
    found = []
    while place is not None:
        lines, place = jobs.page(query.owner, query.id, place, limit)
        assert len(lines) <= limit
        found += [json.loads(line) for line in lines]
    return found


def test_it_finds_what_matches(tmp_path: Path, url: str) -> None:
    with jobs_in(tmp_path, url) as jobs:
        asked = jobs.submit("ann", "price < 3", 5, 1005)
        assert (asked.state, asked.ended) == ("waiting", None)
        done = finished(jobs, asked)
        assert (done.state, done.matched, done.complete, done.problem) == ("done", 30, True, "")
        found = events(jobs, done, limit=7)
        assert [one["position"] for one in found] == [6 + 100 * n + k for n in range(10) for k in range(3)]
        assert found[0]["event"] == {"id": "e0", "event_type": ["car"], "attributes": {"price": 0}}
        assert found[0]["accepted"] == str(Clock().time)


def test_only_the_positions_asked_for(tmp_path: Path, url: str) -> None:
    with jobs_in(tmp_path, url) as jobs:
        done = finished(jobs, jobs.submit("ann", EVERYTHING, 10, 20))
        assert [one["position"] for one in events(jobs, done)] == list(range(11, 21))


def test_it_belongs_to_its_owner(tmp_path: Path, url: str) -> None:
    with jobs_in(tmp_path, url) as jobs:
        query = jobs.submit("ann", "price < 3", 0, 1005)
        for ask in (jobs.query, jobs.remove, lambda owner, id: jobs.page(owner, id, 0, 1)):
            with pytest.raises(NoSuchQuery):
                ask("ben", query.id)
        assert jobs.queries("ben") == []
        assert [one.id for one in jobs.queries("ann")] == [query.id]


def test_nothing_can_be_read_before_it_is_done(tmp_path: Path, url: str) -> None:
    with jobs_in(tmp_path, url) as jobs:
        query = jobs.submit("ann", "price < 3", 0, 1005)
        with pytest.raises(QueryNotDone):
            jobs.page("ann", query.id, 0, 10)


def test_a_cursor_that_was_not_given_out(tmp_path: Path, url: str) -> None:
    with jobs_in(tmp_path, url) as jobs:
        done = finished(jobs, jobs.submit("ann", "price < 3", 0, 1005))
        for place in (1, 10**9):
            with pytest.raises(WrongPlace):
                jobs.page("ann", done.id, place, 10)


def test_what_is_too_large_is_cut_and_says_so(tmp_path: Path, url: str) -> None:
    with jobs_in(tmp_path, url, most_bytes=1000) as jobs:
        done = finished(jobs, jobs.submit("ann", EVERYTHING, 5, 1005))
        found = events(jobs, done)
        assert (done.state, done.complete, done.matched) == ("done", False, len(found))
        assert 0 < len(found) < 20
        assert done.reached == found[-1]["position"]
        assert (tmp_path / "queries" / f"{done.id}.jsonl").stat().st_size <= 1000


def test_a_query_that_fails_says_why(tmp_path: Path, url: str) -> None:
    with jobs_in(tmp_path, url) as jobs:
        failed = finished(jobs, jobs.submit("ann", "prize < 3", 0, 1005))
        assert failed.state == "failed"
        assert "did you mean 'price'" in failed.problem
    with jobs_in(tmp_path, f"sqlite:///{tmp_path}/none/tidings.db") as jobs:
        failed = finished(jobs, jobs.submit("ann", "price < 3", 0, 1005))
        assert failed.problem == "the store could not be read; ask again later"


def test_at_most_three_of_one_owner_and_ten_that_wait(tmp_path: Path, url: str) -> None:
    with jobs_in(tmp_path, url) as jobs:
        asked = [jobs.submit("ann", "price < 3", 0, 1005) for _ in range(3)]
        with pytest.raises(TooManyQueries):
            jobs.submit("ann", "price < 3", 0, 1005)
        for number in range(7):
            jobs.submit(f"b{number}", "price < 3", 0, 1005)
        while jobs.query("ann", asked[0].id).state == "waiting":
            time.sleep(0.01)
        jobs.submit("carl", "price < 3", 0, 1005)
        with pytest.raises(TooManyQueries):
            jobs.submit("dora", "price < 3", 0, 1005)
        for query in asked:
            assert finished(jobs, query).state == "done"
        jobs.remove("carl", jobs.queries("carl")[0].id)
        assert jobs.submit("ann", "price < 3", 0, 1005).state == "waiting"


def test_removing(tmp_path: Path, url: str) -> None:
    with jobs_in(tmp_path, url) as jobs:
        running, waiting = (jobs.submit("ann", "price < 3", 0, 1005) for _ in range(2))
        jobs.remove("ann", waiting.id)
        jobs.remove("ann", running.id)
        later = finished(jobs, jobs.submit("ann", "price < 3", 0, 1005))
        assert later.state == "done"
        assert {path.stem for path in (tmp_path / "queries").iterdir()} == {later.id}


def test_one_that_takes_too_long_is_ended(tmp_path: Path, url: str) -> None:
    with jobs_in(tmp_path, url, seconds=0.01) as jobs:
        failed = finished(jobs, jobs.submit("ann", "price < 3", 0, 1005))
        assert (failed.state, failed.problem) == ("failed", "it took longer than 0.01 s")


def test_what_was_found_outlives_the_service_for_a_day(tmp_path: Path, url: str) -> None:
    clock = Clock()
    with jobs_in(tmp_path, url, clock) as jobs:
        done = finished(jobs, jobs.submit("ann", "price < 3", 0, 1005))
        unfinished = jobs.submit("ann", "price < 4", 0, 1005)
    with jobs_in(tmp_path, url, clock) as jobs:
        assert jobs.query("ann", done.id) == done
        assert len(events(jobs, done)) == 30
        failed = jobs.query("ann", unfinished.id)
        assert (failed.state, failed.problem) == ("failed", "the service was stopped; start the query again")
        clock.tick(DAY)
        assert jobs.queries("ann") == []
        with pytest.raises(NoSuchQuery):
            jobs.page("ann", done.id, 0, 1)
        assert list((tmp_path / "queries").iterdir()) == []


def test_the_oldest_go_where_all_are_too_large(tmp_path: Path) -> None:
    files = QueryFiles(tmp_path)
    queries = [Query(f"q-{n}", "ann", "", 0, 0, asked=n, state="done", ended=n) for n in range(3)]
    for query in queries:
        files.keep(query)
        with files.events(query.id).open("wb") as file:
            file.truncate(1 << 30)  # which takes no room on the disk
    assert files.read() == queries
    assert files.superfluous(queries, now=10) == queries[:1]


def children_of(process: int) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process)], capture_output=True, text=True)
    return [int(line) for line in found.stdout.split()]


PROGRAM = """
import sys, time
from pathlib import Path
from tidings.service.workers.jobs import Jobs
jobs = Jobs(Path(sys.argv[1]), sys.argv[2], "local[2]", spark_from=int(sys.argv[3]))
jobs.submit("ann", "price < 3", 0, 1005)
print("asked", flush=True)
time.sleep(600)
"""


@contextmanager
def a_service(folder: Path, url: str, spark_from: int) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", PROGRAM, str(folder), url, str(spark_from)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as service:
        try:
            assert service.stdout is not None
            service.stdout.readline()
            yield service
        finally:
            service.kill()


@pytest.mark.slow
def test_on_spark(tmp_path: Path, url: str) -> None:
    with jobs_in(tmp_path, url, spark_from=0) as jobs:
        done = finished(jobs, jobs.submit("ann", "price < 3", 5, 1005))
        assert (done.state, done.problem) == ("done", "")
        assert [one["position"] for one in events(jobs, done)] == [6 + 100 * n + k for n in range(10) for k in range(3)]


def test_neither_child_nor_java_outlives_a_killed_service(tmp_path: Path, url: str) -> None:
    with a_service(tmp_path / "queries", url, spark_from=0) as service:
        java: list[int] = []
        until = time.monotonic() + 60
        while not java and time.monotonic() < until:
            time.sleep(0.05)
            child = children_of(service.pid)
            java = [below for one in child for below in children_of(one)]
        assert java
    for process in (*child, *java):
        assert ended(process)


def test_closing_ends_what_runs(tmp_path: Path, url: str) -> None:
    before = children_of(os.getpid())
    with jobs_in(tmp_path, url) as jobs:
        query = jobs.submit("ann", "price < 3", 0, 1005)
        while jobs.query("ann", query.id).state == "waiting":
            time.sleep(0.01)
    assert not any(thread.name == "tidings-queries" for thread in threading.enumerate())
    assert not [child for child in children_of(os.getpid()) if child not in before and is_running(child)]
