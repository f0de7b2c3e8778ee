"""`tidings replay`, as it is typed."""

import json
import sqlite3
from pathlib import Path

import pytest

from tests.cli.conftest import Tidings, lines
from tests.cli.journals import BEGIN, HOUR, commit, first_event, make_journal
from tests.pipeline.oracle import notifications_of
from tidings.schema import Instant

DATA = ("--data", "data")


@pytest.fixture
def pairs(folder: Path) -> list[tuple[int, str]]:
    """A journal whose pipeline has done all; what came out."""
    with make_journal() as store:
        right = sorted(notifications_of(store))
        commit(store, right)
    assert len(right) == 10 + 12
    return right


@pytest.mark.parametrize("engine", ["auto", "spark"])
def test_notifications_again(tidings: Tidings, pairs: list[tuple[int, str]], engine: str) -> None:
    done = tidings("replay", *DATA, "--output", "again.jsonl", "--engine", engine)
    assert (done.exit_code, done.stdout) == (0, "")
    again = lines(Path("again.jsonl").read_text())
    assert [(line["position"], line["subscription"]) for line in again] == pairs
    first = pairs[0][0]
    assert again[0] == {"position": first, "event": "e0", "source": "", "subscription": "cheap"}
    assert "22 notifications of positions 1 to" in done.stderr
    assert tidings("replay", *DATA).stdout == Path("again.jsonl").read_text()


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_the_same_as_the_first_time(tidings: Tidings, pairs: list[tuple[int, str]], engine: str) -> None:
    done = tidings("replay", *DATA, "--check", "--engine", engine)
    assert (done.exit_code, done.stdout) == (0, "")
    assert "22 notifications" in done.stderr
    assert "the same as stored" in done.stderr


def test_differences(tidings: Tidings, pairs: list[tuple[int, str]]) -> None:
    with sqlite3.connect("data/tidings.db") as database:
        position, id = pairs[5]
        database.execute("delete from notifications where position = ? and subscription = ?", (position, id))
        database.execute("update notifications set subscription = 'nobody' where position = ?", (pairs[-1][0],))
    database.close()
    done = tidings("replay", *DATA, "--check")
    assert done.exit_code == 1
    assert lines(done.stdout) == [
        {"position": position, "subscription": id, "difference": "missing"},
        {"position": pairs[-1][0], "subscription": pairs[-1][1], "difference": "missing"},
        {"position": pairs[-1][0], "subscription": "nobody", "difference": "unexpected"},
    ]
    assert "missing from the store: 2, unexpected in the store: 1" in done.stderr
    summary = json.loads(tidings("replay", *DATA, "--check", "--json").stderr)
    assert (summary["missing"], summary["unexpected"], summary["notifications"]) == (2, 1, 22)


def test_where_events_were_removed(tidings: Tidings, pairs: list[tuple[int, str]]) -> None:
    from tidings.store import Store

    with Store.open("data/tidings.db") as store:
        store.confirm_clock()  # the journal is older than a month
        store.trim(before=Instant(BEGIN + 5 * HOUR))
        begin = first_event(store)
    done = tidings("replay", *DATA, "--check")
    assert done.exit_code == 0
    assert f"older events were removed: replayed from position {begin} on" in done.stderr
    assert f"{sum(position >= begin for position, _ in pairs)} notifications of positions {begin} to" in done.stderr


def test_an_event_that_cannot_be_read(tidings: Tidings, pairs: list[tuple[int, str]]) -> None:
    with sqlite3.connect("data/tidings.db") as database:
        database.execute("update journal set body = '{' where position = ?", (pairs[0][0],))
    database.close()
    done = tidings("replay", *DATA, "--check")
    assert f"position {pairs[0][0]} of the journal cannot be read" in done.stderr
    assert (done.exit_code, lines(done.stdout)[0]["difference"]) == (1, "unexpected")


def test_a_pipeline_that_has_not_begun(tidings: Tidings, folder: Path) -> None:
    make_journal().close()
    done = tidings("replay", *DATA, "--check")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "the pipeline has committed nothing yet" in done.stderr


def test_usage(tidings: Tidings) -> None:
    assert tidings("replay").exit_code == 2
    done = tidings("replay", "--data", "none")
    assert (done.exit_code, "no journal at none" in done.stderr) == (1, True)
