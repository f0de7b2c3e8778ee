"""A journal goes out as a file and comes back the same, or not at all."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.services.sqlite import new_store
from tests.store.batches import commit_batch
from tests.store.samples import AUDI, START, Clock, projections, publish, with_schema
from tidings.schema import Instant
from tidings.store import (
    Duplicate,
    Edit,
    JournalFile,
    Pause,
    Store,
    StoreNotEmpty,
    Subscribe,
    export_journal,
    import_journal,
)
from tidings.store.exchange import importer as importing_module

NONE = pa.table({"position": pa.array([], pa.int64()), "subscriptions": pa.array([], pa.list_(pa.string()))})


@pytest.fixture
def filled(store: Store, clock: Clock) -> Store:
    """Schema 1-5, subscriptions 6 and 7, an event 8, a schema change 9, events 10 and 12, a pause 11."""
    with_schema(store).append([Subscribe("a", "price < 3", "ann", delivery="sse"), Subscribe("b", "brand = mini")])
    clock.tick()
    store.append([publish("e8", source="ü"), AUDI, publish("e10", brand="audi"), Pause("a"), publish("\0\n")])
    return store


@pytest.fixture
def exported(filled: Store, tmp_path: Path) -> Path:
    path = tmp_path / "journal.jsonl"
    assert export_journal(filled, path) == 12
    return path


@pytest.fixture
def empty(tmp_path: Path) -> Any:
    with Store.open(new_store(tmp_path / "empty.db", id="another")) as opened:
        yield opened


def test_the_form_of_the_file(filled: Store, exported: Path) -> None:
    header, first, *rest = map(json.loads, exported.read_text().splitlines())
    assert header == {
        "form": "tidings journal",
        "format": 2,
        "journal": filled.id,
        "tail": 12,
        "complete_from": 1,
        "watermark": str(filled.watermark_at(12)),
    }
    assert first == {
        "position": 1,
        "accepted": "2026-05-01T10:00:00Z",
        "kind": "schema",
        "schema_version": 2,
        "body": {"change": "create_domain", "domain": {"name": "money", "kind": "numeric"}},
    }
    assert len(rest) == 11


def test_there_and_back(filled: Store, exported: Path, empty: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing_module, "ENTRIES_AT_ONCE", 5)
    assert empty.id != filled.id
    assert import_journal(exported, empty) == 12
    assert empty.id == filled.id
    assert list(empty.entries()) == list(filled.entries())
    assert projections(empty) == projections(filled)
    with Store.open(empty.url) as again:
        assert again.id == filled.id


def test_into_either_database(filled: Store, exported: Path, tmp_path: Path, server: Any) -> None:
    for url in (str(tmp_path / "other.db"), server.database()):
        with Store.open(url) as other:
            import_journal(exported, other)
            assert projections(other) == projections(filled)


def edited(store: Store, path: Path) -> Path:
    """An edit of everything at 13, of the expiry alone at 14."""
    soon = Instant(START + 60_000_000)
    store.append([Edit("b", "price < 4", soon, "post"), Edit("b", expiry=None)])
    export_journal(store, path)
    return path


def test_edits_of_all_members(filled: Store, empty: Store, tmp_path: Path) -> None:
    import_journal(edited(filled, tmp_path / "edited.jsonl"), empty)
    assert projections(empty) == projections(filled)
    assert empty.subscription("b").delivery == "post"


EDITS = {
    "nothing": ({"id": "b"}, "its edit must be of"),
    "expiry": ({"id": "b", "expiry": "noon"}, "'noon' is not an ISO 8601 time"),
    "number": ({"id": "b", "expiry": 7}, "its expiry must be an Instant"),
    "delivery": ({"id": "b", "delivery": None}, "its delivery must be"),
    "filter": ({"id": "b", "filter": None, "expiry": None}, "its filter must be text"),
    "both": ({"id": "b", "filter": "price < 3", "composite": "[price < 3]"}, "its filter must be left out"),
    "composite": ({"id": "b", "composite": 5}, "its composite must be text"),
    "frame": ({"id": "b", "composite": "[price < 3] before [price > 3]"}, "needs a frame of time"),
    "words": ({"id": "b", "filter": "prise < 3"}, "no attribute 'prise'"),
}


@pytest.mark.parametrize("name", EDITS)
def test_edits_that_are_not_believed(filled: Store, empty: Store, tmp_path: Path, name: str) -> None:
    path = edited(filled, tmp_path / "edited.jsonl")
    body, message = EDITS[name]
    lines = path.read_bytes().splitlines(keepends=True)
    line(14, lambda entry: entry.update(body=body))(lines)
    path.write_bytes(b"".join(lines))
    with pytest.raises(JournalFile, match=f"line 14: .*{message}"):
        import_journal(path, empty)
    assert empty.tail() == 0


def test_an_empty_journal(store: Store, empty: Store, tmp_path: Path) -> None:
    assert export_journal(store, tmp_path / "none.jsonl") == 0
    assert import_journal(tmp_path / "none.jsonl", empty) == 0
    assert (empty.id, empty.tail()) == (store.id, 0)


def test_removed_events_leave_their_keys(filled: Store, empty: Store, clock: Clock, tmp_path: Path) -> None:
    accepted = list(filled.entries())
    commit_batch(filled, 1, 10, NONE)
    assert filled.trim(most_bytes=0) == 2
    path = tmp_path / "journal.jsonl"
    assert export_journal(filled, path) == 12
    (eight,) = [entry for entry in accepted if entry.position == 8]
    told = {"position": 8, "accepted": str(eight.accepted), "removed": "1:üe8"}
    assert json.loads(path.read_text().splitlines()[8]) == told
    import_journal(path, empty)
    assert projections(empty) == projections(filled)
    assert empty.complete_from() == 11
    assert empty.append([publish("e8", source="ü"), publish("e10", brand="audi")]) == [Duplicate(8), Duplicate(10)]


def test_removed_events_whose_keys_went_leave_a_gap(filled: Store, empty: Store, clock: Clock, tmp_path: Path) -> None:
    commit_batch(filled, 1, 12, NONE)
    filled.trim(most_bytes=0)
    assert filled.forget_keys(Instant(2**60), 1) == 1
    path = tmp_path / "journal.jsonl"
    export_journal(filled, path)
    lines = path.read_text().splitlines()
    assert json.loads(lines[8]) == {"position": 8, "forgotten": 8}
    import_journal(path, empty)
    assert projections(empty) == projections(filled)
    again = tmp_path / "again.jsonl"
    export_journal(empty, again)
    assert again.read_text().splitlines()[1:] == lines[1:]
    assert not isinstance(empty.append([publish("e8", source="ü")])[0], Duplicate)


@pytest.mark.parametrize("upto", [7, 10, 99])
def test_a_gap_that_is_not_believed(filled: Store, empty: Store, tmp_path: Path, upto: int) -> None:
    commit_batch(filled, 1, 12, NONE)
    filled.trim(most_bytes=0, needed_from=10)
    path = tmp_path / "journal.jsonl"
    export_journal(filled, path)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[8] = json.dumps({"position": 8, "forgotten": upto}).encode() + b"\n"
    path.write_bytes(b"".join(lines))
    with pytest.raises(
        JournalFile, match="line 9: an event is missing, although the header says that all are there from 9 on"
    ):
        import_journal(path, empty)
    assert empty.tail() == 0


def test_a_store_that_is_not_empty(filled: Store, exported: Path) -> None:
    with pytest.raises(StoreNotEmpty, match="has 12 entries already"):
        import_journal(exported, filled)
    assert filled.tail() == 12


def line(number: int, change: Callable[[dict[str, Any]], object]) -> Callable[[list[bytes]], None]:
    """Damage to one line's members."""

    def damage(lines: list[bytes]) -> None:
        members = json.loads(lines[number - 1])
        change(members)
        lines[number - 1] = json.dumps(members).encode() + b"\n"

    return damage


def swapped(lines: list[bytes]) -> None:
    lines[7], lines[8] = lines[8], lines[7]


DAMAGE: dict[str, tuple[Callable[[list[bytes]], object], str]] = {
    "empty": (lambda lines: lines.clear(), "line 1: not a journal"),
    "foreign": (lambda lines: lines.insert(0, b'{"id": "s1", "filter": "x"}\n'), "line 1: not a journal"),
    "binary": (lambda lines: lines.insert(0, b"\x89PNG\r\n\xff\xfe"), "line 1: not a journal"),
    "other form": (line(1, lambda header: header.update(form="poem")), "line 1: not a journal but 'poem'"),
    "newer": (line(1, lambda header: header.update(format=3)), "line 1: it has format 3, this release knows 2"),
    "id": (line(1, lambda header: header.update(journal="x")), "line 1: the journal's id is not a UUID"),
    "missing line": (lambda lines: lines.pop(4), "line 5: expected position 4, found 5"),
    "repeated line": (lambda lines: lines.insert(4, lines[4]), "line 6: expected position 5, found 4"),
    "swapped": (swapped, "line 8: expected position 7, found 8"),
    "last line missing": (lambda lines: lines.pop(), "line 12: the file has 11 entries, its header says 12"),
    "broken off": (lambda lines: lines.append(lines.pop()[:-9]), "line 13: the file breaks off here"),
    "blank line": (lambda lines: lines.insert(3, b"\n"), "line 4: not a valid entry"),
    "member": (line(3, lambda entry: entry.update(colour="red")), "line 3: not a valid entry.*colour"),
    "time": (line(4, lambda entry: entry.update(accepted="noon")), "line 4: not a valid entry.*noon"),
    "time back": (line(9, lambda entry: entry.update(accepted="2026-04-01T00:00:00Z")), "line 9: it was accepted at"),
    "kind": (
        line(7, lambda entry: entry.update(kind="dance")),
        "line 7: this dance entry is incomplete or unknown: 'a'",
    ),
    "version": (line(9, lambda entry: entry.update(schema_version=3)), "line 9: it says schema version 3, but here"),
    "event": (line(9, lambda entry: entry["body"]["attributes"].update(price="x")), "line 9: event 'e8' is refused"),
    "twice": (line(11, lambda entry: entry["body"].update(id="e8", source="ü")), "line 11: the event at position 8"),
    "filter": (line(7, lambda entry: entry["body"].update(filter="prise < 3")), "line 7: .*no attribute 'prise'"),
    "subscription": (line(8, lambda entry: entry["body"].update(id="a")), "line 8: subscription 'a' exists already"),
    "no id": (
        line(8, lambda entry: entry["body"].pop("id")),
        "line 8: this subscribe entry is incomplete or unknown: 'id'",
    ),
    "zero id": (line(8, lambda entry: entry["body"].update(id="\0")), "line 8: .*its id must be"),
    "unknown": (line(12, lambda entry: entry["body"].update(id="zz")), "line 12: this pause entry .*'zz'"),
    "change": (line(10, lambda entry: entry["body"].update(domain="colour")), "line 10: .*no domain 'colour'"),
    "body": (line(10, lambda entry: entry.update(body=[1])), "line 10: its body is not a JSON object"),
    "removed": (line(9, lambda entry: (entry.clear(), entry.update(position=8, removed="0:x"))), "line 9: an event is"),
    "event too early": (line(1, lambda header: header.update(complete_from=11)), "line 9: an event comes before 11"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_file_changes_nothing(exported: Path, empty: Store, name: str) -> None:
    damage, message = DAMAGE[name]
    lines = exported.read_bytes().splitlines(keepends=True)
    damage(lines)
    exported.write_bytes(b"".join(lines))
    before, id = projections(empty), empty.id
    with pytest.raises(JournalFile, match=message) as problem:
        import_journal(exported, empty)
    assert str(problem.value).startswith(str(exported))
    assert str(problem.value).endswith("nothing was imported")
    assert (projections(empty), empty.id, list(empty.entries())) == (before, id, [])


def test_a_file_that_is_not_there(empty: Store, tmp_path: Path) -> None:
    with pytest.raises(JournalFile, match="No such file"):
        import_journal(tmp_path / "none.jsonl", empty)
    with pytest.raises(JournalFile, match="Is a directory"):
        import_journal(tmp_path, empty)


def test_a_file_that_cannot_be_written_leaves_nothing_behind(filled: Store, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        export_journal(filled, tmp_path / "none" / "journal.jsonl")
    assert not (tmp_path / "none").exists()
