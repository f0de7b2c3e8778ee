"""`tidings journal`: files in, figures and copies out."""

import json
import stat
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.cli.conftest import EVENT, SCHEMA, Tidings, exit_code_when_nobody_reads, lines, process, subscriptions
from tests.store.batches import commit_batch
from tidings.schema import Instant
from tidings.store import SetProfile, Store, Subscribe
from tidings.store.clock.clock import now
from tidings.store.notifications.progress import COMPOSITES, Place, move

DATA = ("--data", "data")
LOAD = ("journal", "load", *DATA, *SCHEMA, "--subscriptions", "subscriptions.jsonl", "--events", "events.jsonl")


@pytest.fixture
def loaded(tidings: Tidings) -> Tidings:
    """18 schema changes, 6 subscriptions, 3 events; one event refused."""
    assert tidings(*LOAD).exit_code == 0
    return tidings


def show(tidings: Tidings, *where: str) -> dict[str, Any]:
    shown: dict[str, Any] = json.loads(tidings("journal", "show", *(where or DATA), "--json").stdout)
    return shown


def commit(last: int) -> None:
    none = pa.table({"position": pa.array([], pa.int64()), "subscriptions": pa.array([], pa.list_(pa.string()))})
    with Store.open("data/tidings.db") as store:
        commit_batch(store, 1, last, none)


def test_load_counts_and_tells_why(tidings: Tidings) -> None:
    done = tidings(*LOAD)
    assert done.exit_code == 0
    assert done.stdout == "18 schema changes, 6 subscriptions, 3 events, 1 event refused\n"
    assert "line 4: event 'e4' refused: domain: 'price': 'cheap'" in done.stderr


def test_an_attribute_has_only_so_many_values(tidings: Tidings, monkeypatch: pytest.MonkeyPatch) -> None:
    several = {"id": "several", "event_type": "car", "attributes": {"brand": "mini", "year": 1990, "paint": ["a", "b"]}}
    Path("several.jsonl").write_text(json.dumps(several))
    load = ("journal", "load", *DATA, *SCHEMA, "--events", "several.jsonl")
    refused = tidings(*load, "--values-per-attribute", "1")
    assert "'paint' has 2 different values; at most 1 are allowed" in refused.stderr
    monkeypatch.setenv("TIDINGS_VALUES_PER_ATTRIBUTE", "1")
    assert "1 event refused" in tidings(*load).stdout
    monkeypatch.delenv("TIDINGS_VALUES_PER_ATTRIBUTE")
    assert "1 event" in tidings(*load).stdout


def test_composites_of_a_file_inherit_the_journals_profiles(loaded: Tidings) -> None:
    with Store.open("data/tidings.db") as store:
        store.append([SetProfile("day", "within 1 day")])
    Path("composites.jsonl").write_text('{"id": "c", "composite": "[price < 1] before [price > 2] using day"}')
    done = loaded("journal", "load", *DATA, "--subscriptions", "composites.jsonl")
    assert done.exit_code == 0, done.stderr
    with Store.open("data/tidings.db") as store:
        assert store.subscription("c").filter == "[price < 1] before [price > 2] within 1 day"


def test_profiles_are_set_listed_and_removed(loaded: Tidings) -> None:
    assert loaded("journal", "profiles", *DATA, "--json").stdout == ""
    for name, options in (("shop", "within 1 h"), ("auctions", "within 10 min select last, first")):
        assert loaded("journal", "profile", name, options, *DATA).exit_code == 0
    _, first, _ = loaded("journal", "profiles", *DATA).stdout.splitlines()
    assert first.split(maxsplit=1) == ["auctions", "within 10 min select last, first"]
    wrong = loaded("journal", "profile", "shops", "", *DATA)
    assert wrong.exit_code == 2
    assert "no profile 'shops'" in wrong.stderr
    assert loaded("journal", "profile", "auctions", "", *DATA).exit_code == 0
    (line,) = lines(loaded("journal", "profiles", *DATA, "--json").stdout)
    assert line == {"name": "shop", "options": "within 1 h"}


def test_loaded_again_adds_nothing(loaded: Tidings) -> None:
    again = loaded(*LOAD, "--json")
    counts = json.loads(again.stdout)
    assert again.exit_code == 0
    assert {name: count for name, count in counts.items() if count and name != "reasons"} == {
        "subscriptions_there_already": 6,
        "duplicates": 3,
        "refused": 1,
    }
    assert show(loaded)["dead_letters"] == 1


def test_show(loaded: Tidings) -> None:
    loaded("journal", "pause", "bargain", *DATA)
    figures = show(loaded)
    assert figures.pop("journal")
    assert figures == {
        "schema_version": 19,
        "tail": 28,
        "subscriptions": 6,
        "paused": 1,
        "events": 3,
        "event_bytes": figures["event_bytes"],
        "complete_from": 1,
        "committed": 0,
        "lag": 28,
        "notifications": 0,
        "dead_letters": 1,
        "matches_dropped": 0,
        "late_events": 0,
    }
    shown = dict(line.rsplit(maxsplit=1) for line in loaded("journal", "show", *DATA).stdout.splitlines())
    assert shown["schema version"] == "19"
    assert shown["lag"] == "28"


def test_piece_by_piece(tidings: Tidings) -> None:
    assert tidings("journal", "load", *DATA, *SCHEMA).stdout == "18 schema changes\n"
    Path("one.csv").write_text("id,event_type,title,price,category,ends\nx,auction,Oak chair,10,chair,2026-05-08\n")
    assert tidings("journal", "load", *DATA, "--events", "one.csv").stdout == "1 event\n"
    assert tidings("journal", "load", *DATA, "--subscriptions", subscriptions("price > 3")).stdout == "1 subscription\n"
    assert tidings("journal", "load", *DATA, *SCHEMA).stdout == "nothing new\n"


def test_a_time_far_ahead_goes_to_the_dead_letters(loaded: Tidings) -> None:
    ahead = Instant(now() + 3_600_000_000)
    Path("ahead.jsonl").write_text(json.dumps(EVENT | {"time": str(ahead)}) + "\n" + json.dumps(EVENT) + "\n")
    done = loaded("journal", "load", *DATA, "--events", "ahead.jsonl")
    assert done.stdout == "1 event, 1 event refused\n"
    assert "more than 5 minutes after the time of acceptance" in done.stderr


def test_another_schema_is_refused(loaded: Tidings) -> None:
    Path("other.json").write_text(json.dumps({"domains": [{"name": "n", "kind": "numeric"}]}))
    done = loaded("journal", "load", *DATA, "--schema", "other.json")
    assert done.exit_code == 1
    assert "the journal has another schema already, at version 19" in done.stderr


def test_a_file_with_a_wrong_subscription_is_not_loaded(loaded: Tidings) -> None:
    done = loaded("journal", "load", *DATA, "--subscriptions", subscriptions("price > 3", "prise > 3"))
    assert done.exit_code == 1
    assert "1 subscription is wrong, so none was loaded:" in done.stderr
    assert "line 2: filter" in done.stderr
    assert show(loaded)["subscriptions"] == 6


def test_composites_are_loaded(loaded: Tidings) -> None:
    pair = {"id": "c", "composite": "[price > 3] before [price < 3] within 60 s"}
    Path("own.jsonl").write_text(json.dumps(pair) + '\n{"id": "p", "filter": "price > 3"}\n')
    load = ("journal", "load", *DATA, "--subscriptions", "own.jsonl")
    assert loaded(*load).stdout == "2 subscriptions\n"
    assert loaded(*load).stdout == "2 subscriptions there already\n"
    Path("own.jsonl").write_text(
        json.dumps(pair | {"filter": "price > 3"}) + '\n{"id": "d", "composite": "[price > 3"}\n'
    )
    done = loaded(*load)
    assert done.exit_code == 1
    assert "line 1: it has both 'filter' and 'composite'" in done.stderr
    assert "line 2: composite, line 1, column 11" in done.stderr


def test_the_id_of_another_subscription_is_told(loaded: Tidings) -> None:
    Path("own.jsonl").write_text('{"id": "bargain", "filter": "price > 3"}\n{"id": "new", "filter": "price > 3"}\n')
    done = loaded("journal", "load", *DATA, "--subscriptions", "own.jsonl")
    assert done.exit_code == 1
    assert done.stdout == "1 subscription, 1 subscription refused\n"
    assert "subscription 'bargain' exists already; edit or withdraw it" in done.stderr


def test_nothing_to_load_and_nowhere(tidings: Tidings) -> None:
    assert "name something to load" in tidings("journal", "load", *DATA).stderr
    for where in ((), (*DATA, "--store", "x.db")):
        done = tidings("journal", "show", *where)
        assert (done.exit_code, "say where the journal is" in done.stderr) == (2, True)


def test_dead_letters(loaded: Tidings) -> None:
    done = loaded("journal", "dead-letters", *DATA)
    header, row = done.stdout.splitlines()
    assert header.split() == ["number", "stored", "origin", "place", "id", "why"]
    assert "domain: 'price': 'cheap' is not in domain 'money'" in row
    (letter,) = lines(loaded("journal", "dead-letters", *DATA, "--json").stdout)
    assert (letter["number"], letter["place"], letter["id"]) == (1, "4", "e4")
    assert json.loads(str(letter["raw"]))["id"] == "e4"
    assert [error["rule"] for error in letter["errors"]] == ["domain", "mandatory"]  # type: ignore[attr-defined]
    assert loaded("journal", "dead-letters", *DATA, "--json", "--after", "1").stdout == ""


def test_there_and_back(loaded: Tidings) -> None:
    assert "wrote 27 entries to copy.jsonl" in loaded("journal", "export", "copy.jsonl", *DATA).stderr
    assert "read 27 entries from copy.jsonl" in loaded("journal", "import", "copy.jsonl", "--data", "other").stderr
    here, there = show(loaded), show(loaded, "--store", "other/tidings.db")
    assert here | {"dead_letters": 0} == there
    again = loaded("journal", "import", "copy.jsonl", "--data", "other")
    assert (again.exit_code, "has 27 entries already" in again.stderr) == (1, True)


def test_import_of_something_else(tidings: Tidings) -> None:
    done = tidings("journal", "import", "events.jsonl", *DATA)
    assert done.exit_code == 1
    assert "events.jsonl, line 1: not a journal" in done.stderr


def test_trim(loaded: Tidings) -> None:
    assert loaded("journal", "trim", *DATA, "--at-most", "0").stdout == "removed 0 events; complete from position 1\n"
    commit(27)
    assert loaded("journal", "trim", *DATA, "--older-than", "30d").stdout.startswith("removed 0 events")
    done = loaded("journal", "trim", *DATA, "--older-than", "1.5h", "--at-most", "0MB", "--json")
    assert json.loads(done.stdout) == {"removed": 3, "complete_from": 28}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "say what to remove"),
        (("--older-than", "soon"), "'soon' is not an age; expected e.g. 30d"),
        (("--older-than", "3"), "'3' is not an age"),
        (("--at-most", "much"), "'much' is not a size"),
    ],
)
def test_what_trim_does_not_understand(loaded: Tidings, options: tuple[str, ...], message: str) -> None:
    done = loaded("journal", "trim", *DATA, *options)
    assert (done.exit_code, message in done.stderr) == (2, True)


def test_pause_resume_withdraw(loaded: Tidings) -> None:
    assert loaded("journal", "pause", "bargain", *DATA).stdout == "paused at position 28\n"
    refused = loaded("journal", "pause", "bargain", *DATA)
    assert (refused.exit_code, "'bargain' is paused already" in refused.stderr) == (1, True)
    assert loaded("journal", "resume", "bargain", *DATA).stdout == "resumed at position 29\n"
    assert json.loads(loaded("journal", "withdraw", "bargain", *DATA, "--json").stdout)["position"] == 30
    assert loaded("journal", "withdraw", "bargain", *DATA).exit_code == 1
    assert show(loaded)["subscriptions"] == 5


@pytest.mark.parametrize("where", [("--data", "none"), ("--store", "none.db"), ("--store", "sqlite:///none.db")])
def test_a_journal_that_is_not_there_is_not_made(tidings: Tidings, where: tuple[str, str], folder: Path) -> None:
    done = tidings("journal", "show", *where)
    assert (done.exit_code, "no journal at none" in done.stderr) == (1, True)
    assert not [path for path in folder.iterdir() if path.name.startswith("none")]


def test_the_data_folder_is_its_owners_alone(loaded: Tidings, folder: Path) -> None:
    assert stat.S_IMODE((folder / "data").stat().st_mode) == 0o700


def test_a_server_that_is_not_there(tidings: Tidings) -> None:
    done = tidings("journal", "show", "--store", "postgresql://me:secret@127.0.0.1:1/tidings")
    assert done.exit_code == 3
    assert "postgresql://me:***@127.0.0.1:1/tidings cannot be reached" in done.stderr


def test_no_bar_and_no_traceback_in_a_pipe() -> None:
    done = process(*LOAD)
    assert (done.returncode, done.stdout.count("\n")) == (0, 1)
    assert "Traceback" not in done.stderr
    assert exit_code_when_nobody_reads("journal", "show", *DATA)[0] == 0


def test_composites_are_read_again(loaded: Tidings) -> None:
    restart = ("journal", "restart-composites", *DATA)
    assert loaded(*restart).stdout == "there are no composites\n"
    with Store.open("data/tidings.db") as store:
        store.append([Subscribe("c", composite="[price > 5] before [price < 5] within 1 h")])
        first = store.tail()
        assert store.begin_composites()
        with store.database.writing("pipeline") as connection:
            move(connection, COMPOSITES, Place(first))
    assert loaded(*restart).stdout == f"composites are read again after position {first - 1}\n"
    assert json.loads(loaded(*restart, "--json").stdout) == {"after": first - 1}
