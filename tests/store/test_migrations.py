"""A store that an older release made is brought up to date, and loses nothing."""

import json
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import MetaData, Table

from tests.store.batches import commit_batch
from tests.store.samples import Clock, positions, projections, publish
from tests.store.test_notifications import table
from tidings.schema import Instant
from tidings.store import DeliveryFigures, Duplicate, Item, Store, Subscribe, export_journal, rebuild
from tidings.store.databases import migration
from tidings.store.databases.database import Database

# Written by the code of that revision: a and x are ann's, n is nobody's, b is bob's, then ann's, then nobody's.
RECORDED: dict[str, list[list[Any]]] = json.loads(Path(__file__).with_name("revision_0001.json").read_text())


def make_0001(url: str, recorded: dict[str, list[list[Any]]]) -> None:
    """The tables as migration 0001 leaves them, with these rows."""
    config = Config()
    config.set_main_option("script_location", str(migration.SCRIPTS))
    database = Database(url)
    with database.writing() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        for name, rows in recorded.items():
            connection.exec_driver_sql(f"DELETE FROM {name}")
            then = Table(name, MetaData(), autoload_with=connection)
            for row in rows:
                values = [one["bytes"].encode() if isinstance(one, dict) else one for one in row]
                connection.execute(then.insert().values(dict(zip(then.columns.keys(), values, strict=True))))
    database.close()


def of(store: Store, owner: str) -> list[tuple[int, str]]:
    return [(one.position, one.subscription) for one in store.notifications(owner=owner)]


@pytest.fixture
def old(url: str) -> str:
    make_0001(url, RECORDED)
    return url


def test_nothing_is_lost(old: str, clock: Clock) -> None:
    with Store.open(old, clock) as store:
        ((_, id, tail, *_),) = RECORDED["about"]
        assert (store.id, store.tail(), store.committed()) == (id, tail, 19)
        entries = [[e.position, int(e.accepted), e.kind, e.schema_version, e.body] for e in store.entries()]
        assert entries == RECORDED["journal"]
        standing = [
            [s.id, s.owner, s.filter, s.state, s.expiry, s.delivery, s.since, s.span] for s in store.subscriptions()
        ]
        assert standing == sorted(RECORDED["subscriptions"])
        spans = [[span.start, span.stop, span.subscription, span.filter] for span in store.spans()]
        assert spans == RECORDED["spans"]
        notified = [[one.cursor, one.position, one.subscription, int(one.stored)] for one in store.notifications()]
        assert notified == RECORDED["notifications"]
        assert len(store.dead_letters()) == 1
        assert store.append([publish("e9")]) == [Duplicate(9)]


def test_the_owners_are_those_of_the_journal(old: str, clock: Clock) -> None:
    with Store.open(old, clock) as store:
        owners = [(span.start, span.owner) for span in store.spans()]
        assert owners == [(6, "ann"), (7, "bob"), (8, ""), (12, "ann"), (15, "ann"), (18, ""), (20, "ann")]
        assert of(store, "ann") == [(9, "a"), (13, "a"), (16, "a"), (16, "b"), (19, "a")]
        assert of(store, "bob") == [(9, "b"), (13, "b")]
        assert of(store, "") == [(9, "n"), (13, "n"), (16, "n"), (19, "b"), (19, "n")]
        before = projections(store)
        rebuild(store)
        assert projections(store) == before


def test_it_goes_on_as_a_new_one(old: str, clock: Clock) -> None:
    with Store.open(old, clock) as store:
        assert commit_batch(store, 20, 21, table((21, ["a", "n", "x"]))) == 3
        assert of(store, "ann")[-2:] == [(21, "a"), (21, "x")]
        assert positions(store.append([Subscribe("c", "price < 3", "cyd")])) == [22]
    with Store.open(old, clock) as again:
        assert again.count_subscriptions("cyd") == 1
        assert again.account("ann") is None


def test_where_nobody_owned_anything(url: str, clock: Clock) -> None:
    nobodys = RECORDED | {
        "journal": [
            [*row[:4], row[4].replace(',"owner":"ann"', "").replace(',"owner":"bob"', "")]
            for row in RECORDED["journal"]
        ],
        "subscriptions": [[row[0], "", *row[2:]] for row in RECORDED["subscriptions"]],
    }
    make_0001(url, nobodys)
    with Store.open(url, clock) as store:
        assert {span.owner for span in store.spans()} == {""}
        assert len(of(store, "")) == len(store.notifications()) == 12
        before = projections(store)
        rebuild(store)
        assert projections(store) == before


def test_parcels_become_deliveries(url: str, clock: Clock) -> None:
    config = Config()
    config.set_main_option("script_location", str(migration.SCRIPTS))
    database = Database(url)
    channel = "'s', 'ann', 'webhook', '{}', 'active', '', '[]', 0, NULL, 2, NULL, 1, '[]', NULL, 0, 0.5, '', 3"
    binary = "BLOB" if database.engine.dialect.name == "sqlite" else "bytea"
    with database.writing() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0004")
        for statement in (
            f"INSERT INTO channels VALUES ({channel})",
            "INSERT INTO parcels VALUES (7, 's', 'ann', '[[1,9,5]]', 0, 0, 'delivered', 1, 1, 5, 5, 6, 9)",
            "INSERT INTO parcels VALUES (8, 's', 'ann', '[[2,10,5]]', 0, 0, 'due', 0, 0, 6, 5, NULL, 10)",
            "INSERT INTO attempts VALUES (7, 1, 5, 0.5, 1, 200, 'POST', 'ok', '')",
            "INSERT INTO deliveries VALUES ('webhook', 4, 1, 9, 5, 2.5)",
            f"INSERT INTO answers VALUES (CAST('k' AS {binary}), CAST('r' AS {binary}), 201, '{{}}', 9000000000000000)",
            "UPDATE outbox SET parcel = 8, cursor = 2",
        ):
            connection.exec_driver_sql(statement)
    database.close()
    with Store.open(url, clock) as store:
        done, due = store.deliveries_of("s", "ann", newest=False)
        assert (done.number, done.state, done.items) == (7, "delivered", (Item(1, 9, Instant(5)),))
        assert (due.number, due.state, due.due) == (8, "due", Instant(6))
        assert [(one.delivery, one.attempt, one.status) for one in store.attempts_of(7)] == [(7, 1, 200)]
        assert store.delivery_figures() == [DeliveryFigures("webhook", 1, 4, 1, 9, 5, 2.5)]
        assert [one.number for one in store.due(clock.time, 9)] == [8]
        kept = store.kept_response(b"k")
        assert kept is not None
        assert (kept.request, kept.status) == (b"r", 201)
        with store.database.reading() as connection:
            assert connection.exec_driver_sql("SELECT cursor, delivery FROM outbox").one() == (2, 8)


def test_what_is_there_is_counted(url: str, clock: Clock) -> None:
    first, *others = RECORDED["subscriptions"]
    make_0001(url, RECORDED | {"subscriptions": [[*first[:3], "paused", *first[4:]], *others]})
    with Store.open(url, clock) as store:
        found = store.figures()
        assert (found.active, found.paused, found.dead_letters) == (len(others), 1, 1)
        owned = [row[1] for row in RECORDED["subscriptions"]]
        assert store.count_subscriptions("ann") == owned.count("ann") > 1


def test_the_keys_of_events_that_were_removed_can_be_exported(url: str, clock: Clock, tmp_path: Path) -> None:
    about, journal = RECORDED["about"][0], RECORDED["journal"]
    removed = [row for row in journal if row[2] == "event" and row[0] < 16]
    kept = [row for row in journal if row not in removed]
    make_0001(url, RECORDED | {"journal": kept, "about": [[*about[:-1], 16]]})
    with Store.open(url, clock) as store:
        assert store.complete_from() == 16
        export_journal(store, tmp_path / "journal.jsonl")
        lines = [json.loads(line) for line in (tmp_path / "journal.jsonl").read_text().splitlines()[1:]]
        assert [line["position"] for line in lines] == [row[0] for row in journal]
        assert [line["position"] for line in lines if "removed" in line] == [row[0] for row in removed]
        assert store.forget_keys(Instant(about[3])) == 0  # the newest entry's time stands for theirs
        assert store.forget_keys(Instant(about[3] + 1)) == len(removed) > 1


def test_watermarks_are_filled_in(url: str, clock: Clock) -> None:
    """As if the events had been appended now: an event without a time counts by its acceptance."""
    rows = [list(row) for row in RECORDED["journal"]]
    times = ("1999-01-01T00:00:00Z", "1998-01-01T00:00:00Z", None, "2999-01-01T00:00:00Z")
    for row, time in zip([row for row in rows if row[2] == "event"], times, strict=False):
        if time is not None:
            row[4] = json.dumps(json.loads(row[4]) | {"time": time})
    make_0001(url, RECORDED | {"journal": rows})
    with Store.open(url, clock) as store:
        watermark, expected = None, []
        for row in rows:
            if row[2] == "event":
                time = json.loads(row[4]).get("time")
                occurred = row[1] if time is None else int(Instant.parse(time))
                watermark = occurred if watermark is None else max(watermark, occurred)
            expected.append(watermark)
        assert [store.watermark_at(row[0]) for row in rows] == expected
        assert len({mark for mark in expected if mark}) == 3
        assert store.incarnation()
        before = expected[-1]
        store.append([publish("later", time="1970-01-02T00:00:00Z")])
        assert store.watermark_at(store.tail()) == before


def test_old_tokens_keep_what_their_owners_meant_them_to_do(url: str, clock: Clock) -> None:
    """Scopes `read` and `account` are new: whoever had all scopes of the account has these, too."""
    config = Config()
    config.set_main_option("script_location", str(migration.SCRIPTS))
    database = Database(url)
    binary = "BLOB" if database.engine.dialect.name == "sqlite" else "bytea"
    tokens = {"all": '["publish","subscribe"]', "reader": '["subscribe"]', "sensor": '["publish"]', "none": "[]"}
    with database.writing() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0011")
        connection.exec_driver_sql("INSERT INTO accounts VALUES ('ann', 'x', '[\"publish\",\"subscribe\"]', 1)")
        for name, scopes in tokens.items():
            connection.exec_driver_sql(
                f"INSERT INTO tokens VALUES (CAST('{name}' AS {binary}), 'ann', 'token', '{name}', '{scopes}', 1, NULL)"
            )
    database.close()
    with Store.open(url, clock) as store:
        account = store.account("ann")
        assert account is not None
        assert account.scopes == {"publish", "subscribe", "read", "account"}
        assert {one.name: one.scopes for one in store.tokens_of("ann")} == {
            "all": account.scopes,
            "reader": {"subscribe", "read"},
            "sensor": {"publish"},
            "none": frozenset(),
        }
