"""`tidings query` and `tidings backtest`, as they are typed."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Tidings, lines
from tests.cli.journals import BEGIN, HOUR, auction, commit, first_event, make_journal
from tidings.schema import Instant
from tidings.store import Publish, SetProfile, Store

DATA = ("--data", "data")


@pytest.fixture(autouse=True)
def journal(folder: Path) -> None:
    make_journal().close()


def ids(text: str) -> list[str]:
    return [line["event"]["id"] for line in lines(text)]  # type: ignore[index]


def test_events_for_people(tidings: Tidings) -> None:
    done = tidings("query", "price between 2 and 3", *DATA)
    assert done.exit_code == 0
    first, second = done.stdout.splitlines()
    assert first.split(maxsplit=2)[1:] == [
        "2026-05-01T02:00:00Z",
        '{"id":"e2","event_type":["auction"],"attributes":'
        '{"category":"furniture > chair","ends":"2026-06-01T00:00:00Z","price":2,"title":"chair n2"}}',
    ]
    assert '"id":"e3"' in second
    assert "2 events of the journal's positions 1 to" in done.stderr


def test_what_an_event_says_is_shown_as_it_is(tidings: Tidings) -> None:
    said = {"title": "[bold] :car: :smile:", "price": 999, "category": "chair", "ends": "2026-06-01"}
    with Store.open("data/tidings.db", lambda: Instant(BEGIN + 72 * HOUR)) as store:
        store.append([Publish({"id": "odd", "event_type": "auction", "attributes": said})])
    assert '"title":"[bold] :car: :smile:"' in tidings("query", "price = 999", *DATA).stdout


def test_events_for_machines(tidings: Tidings) -> None:
    done = tidings("query", "price = 5", *DATA, "--json")
    (line,) = lines(done.stdout)
    assert (line["accepted"], line["event"]["id"]) == ("2026-05-01T05:00:00Z", "e5")  # type: ignore[index]
    again = tidings("query", "price = 5", "--store", "data/tidings.db", "--json")
    assert again.stdout == done.stdout


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--since", "2026-05-03T21:00:00Z"), ["e69", "e70", "e71"]),
        (("--since", "2026-05-01T23:00:00+02:00", "--until", "2026-05-01T23:00Z"), ["e21", "e22"]),
        (("--until", "2026-05-01T02:00:00Z"), ["e0", "e1"]),
        (("--limit", "2"), ["e0", "e1"]),
        (("--since", "2026-05-02", "--limit", "1"), ["e24"]),
        (("--since", "1d"), []),
        (("--since", "2026-05-02", "--until", "2026-05-01"), []),
    ],
)
@pytest.mark.parametrize("engine", ["local", "spark"])
def test_periods_and_limits(tidings: Tidings, options: tuple[str, ...], expected: list[str], engine: str) -> None:
    done = tidings("query", "price >= 0", *DATA, *options, "--json", "--engine", engine)
    assert done.exit_code == 0
    assert ids(done.stdout) == expected
    counted = tidings("query", "price >= 0", *DATA, *options, "--count")
    assert counted.stdout == f"{len(expected)}\n"


def test_both_engines_say_the_same(tidings: Tidings) -> None:
    for filter in ("title contains 'n1' and price > 7", "category under furniture and not (price in (1, 2))"):
        told = [tidings("query", filter, *DATA, "--engine", engine) for engine in ("local", "spark")]
        assert told[0].stdout == told[1].stdout
        assert told[0].stderr == told[1].stderr
        assert told[0].stdout.count("\n") > 20


def test_count_as_json(tidings: Tidings) -> None:
    assert tidings("query", "price < 5", *DATA, "--count", "--json").stdout == '{"events":5}\n'


def test_what_is_wrong(tidings: Tidings) -> None:
    done = tidings("query", "prise < 5", *DATA)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "no attribute 'prise'; did you mean 'price'?" in done.stderr
    warned = tidings("query", "price < 1 and price > 2", *DATA)
    assert (warned.exit_code, warned.stdout) == (0, "")
    assert "warning: this filter can never match" in warned.stderr


@pytest.mark.parametrize("command", ["query", "backtest"])
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((), 2, "say where the journal is"),
        (("--data", "none"), 1, "no journal at none"),
        ((*DATA, "--since", "yesterday"), 2, "'--since': 'yesterday' is not a time; write it like 2026-05-01"),
        ((*DATA, "--until", "7 parsecs"), 2, "'--until': '7 parsecs' is not a time"),
        ((*DATA, "--since", "99999999w"), 2, "'--since': '99999999w' is not a time"),
        ((*DATA, "--engine", "flink"), 2, "'flink' is not one of 'auto', 'local', 'spark'"),
    ],
)
def test_usage(tidings: Tidings, command: str, arguments: tuple[str, ...], code: int, message: str) -> None:
    done = tidings(command, "price < 5", *arguments)
    assert (done.exit_code, done.stdout) == (code, "")
    assert message in done.stderr


def test_backtest_for_people(tidings: Tidings) -> None:
    done = tidings("backtest", "price < 30", *DATA, "--since", "2026-05-01T12:00:00Z", "--until", "2026-05-04")
    assert done.exit_code == 0
    said = done.stdout.splitlines()
    assert said[0] == "18 events would have matched from 2026-05-01T12:00:00Z to 2026-05-04T00:00:00Z"
    assert [line.split() for line in said[1:4]] == [
        ["2026-05-01", "12", "█" * 40],
        ["2026-05-02", "6", "█" * 20],
        ["2026-05-03", "0"],
    ]
    assert said[4] == "the newest:"
    assert ['"id":"e29"' in said[5], '"id":"e28"' in said[6], len(said)] == [True, True, 8]


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_backtest_for_machines(tidings: Tidings, engine: str) -> None:
    options = ("--since", "2026-01-01", "--until", "2026-06-01", "--newest", "1", "--json", "--engine", engine)
    done = tidings("backtest", "title contains 'n1' and price < 30", *DATA, *options)
    found = json.loads(done.stdout)
    assert found["events"] == 10
    assert found["days"] == [{"day": "2026-05-01", "events": 8}, {"day": "2026-05-02", "events": 2}]
    assert [one["event"]["id"] for one in found["newest"]] == ["e28"]
    assert (found["complete_from"], found["filter"]) == (1, "title contains 'n1' and price < 30")


def test_imported_history_is_shown_by_when_it_happened(tidings: Tidings) -> None:
    months = [f"{1990 + month // 12}-{month % 12 + 1:02}-15T00:00:00Z" for month in range(120)]
    past = [auction(month) | {"id": f"p{month}", "time": time} for month, time in enumerate(months)]
    with make_journal(folder="past") as store:
        store.append([Publish(one) for one in past])
    done = tidings("backtest", "event.time < '2000-01-01'", "--data", "past", "--since", "2026-05-03")
    said = done.stdout.splitlines()
    assert said[0].startswith("120 events would have matched")
    assert [line.split()[:3] for line in said[1:3]] == [["from", "1990-01-01", "3"], ["from", "1990-04-01", "3"]]
    assert len([line for line in said if line.startswith("from ")]) == 40
    few = json.loads(
        tidings("backtest", "event.id in ('p1', 'p2')", "--data", "past", "--since", "2026-05-03", "--json").stdout
    )
    assert few["days"] == [{"day": "1990-02-15", "events": 1}, {"day": "1990-03-15", "events": 1}]


def test_nothing_would_have_matched(tidings: Tidings) -> None:
    done = tidings("backtest", "price > 1000", *DATA, "--since", "2026-05-01", "--until", "2026-05-03")
    assert done.stdout == "0 events would have matched from 2026-05-01T00:00:00Z to 2026-05-03T00:00:00Z\n"


def test_removed_events_are_told(tidings: Tidings, folder: Path) -> None:
    store = make_journal(folder="trimmed")
    commit(store, [])
    assert store.trim(before=Instant(BEGIN + 10 * HOUR)) == 10
    complete = first_event(store)
    store.close()
    for command in ("query", "backtest"):
        done = tidings(command, "price >= 0", "--data", "trimmed", "--since", "2026-05-01")
        assert f"older events were removed: the journal is complete from position {complete} on" in done.stderr
        later = tidings(command, "price >= 0", "--data", "trimmed", "--since", "2026-05-02")
        assert "removed" not in later.stderr


def test_backtest_of_a_composite(tidings: Tidings) -> None:
    """Event n is accepted at hour n and has the price n; without a time of its own that counts."""
    options = (*DATA, "--since", "2026-05-01", "--newest", "1")
    pair = "[price = 2] before [price in (4, 5, 40)] within 4 h"
    done = tidings("backtest", "--composite", pair, *options)
    assert done.exit_code == 0, done.stderr
    assert "2 detections in 72 events" in done.stdout
    assert "2026-05-01T05:00:00Z  e2, e5" in done.stdout
    found = json.loads(tidings("backtest", "--composite", pair, *options, "--json").stdout)
    assert (found["composite"], found["detected"]) == ("[price = 2] before [price in (4, 5, 40)] within 4 h", 2)
    assert found["per_day"] == [{"day": "2026-05-01", "count": 2}]
    assert [event["id"] for event in found["newest"][0]["events"]] == ["e2", "e5"]
    with Store.open("data/tidings.db", lambda: Instant(BEGIN + 72 * HOUR)) as store:
        store.append([SetProfile("day", "within 4 h")])
    inherited = tidings("backtest", "--composite", pair.replace("within 4 h", "using day"), *options, "--json")
    assert json.loads(inherited.stdout) == found
    unknown = tidings("backtest", "--composite", pair.replace("within 4 h", "using dya"), *options)
    assert "did you mean 'day'?" in unknown.stderr
    silence = json.loads(
        tidings("backtest", "--composite", "absent([price < 70]) within 1 h", *options, "--json").stdout
    )
    assert silence["detected"] > 0, "time runs on after the last event"
    assert tidings("backtest", *DATA).exit_code == 2
    assert tidings("backtest", "price < 5", "--composite", pair, *DATA).exit_code == 2
